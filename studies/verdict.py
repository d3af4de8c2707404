"""Error rates of the status of `evaluate`: `python -m studies.verdict [datasets per world]`.

Calibrated models of ten worlds: how often each status is given. A clinical example: how often it is
called miscalibrated. Only the tests are run, on which the status rests; for the first datasets of
each world the study checks that `evaluate` gives the same status. Writes docs/verdict.md; the
numbers depend on the arguments and the seed.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

import trueup as tu
from trueup.atomic_write import write_atomically
from trueup.engines.threads import set_threads
from trueup.evaluation.findings import further_tests, named, usual_metrics
from trueup.evaluation.on_demand import OnDemand
from trueup.evaluation.settings import Settings
from trueup.evaluation.verdict.evidence import (
    MISCALIBRATED,
    NO_EVIDENCE,
    TESTS_DISAGREE,
    Evidence,
)
from trueup.inference import calibration_test

PAGE = Path(__file__).parents[1] / "docs" / "verdict.md"
SEED = 8
SETS, CLINICAL_SETS = 400, 100
CHECKED = 3  # datasets of each world that are evaluated in whole
STATUSES = (MISCALIBRATED, TESTS_DISAGREE, NO_EVIDENCE)
PATIENTS = 12_000
ABOUT = """# Error rates of the verdict

`python -m studies.verdict {sets}` writes this page.

## Calibrated models

{sets:,} datasets per world: the fraction of datasets with each `Evaluation.status`. The standard
error of a fraction near 5% is {small:.1f} points per world and {pooled:.2f} points for all.

| world | rows | miscalibrated | tests disagree | no evidence |
| --- | --- | --- | --- | --- |
{rows}
| all | | {all_rows} |

The omnibus test of a matrix draws {draws} labels per row, as many as `n_resamples` by default;
docs/omnibus.md has its power at that number.

## A clinical example

Each dataset has {patients:,} rows, logit scores with mean −4.05 and standard deviation 1.1, and
outcomes with logit −0.61 + 0.76 × logit score. Of {clinical} datasets, {found} are called
miscalibrated.
"""

Data = tuple[Any, Any, dict[str, Any]]


class World(NamedTuple):
    """Rows, and a function that draws predictions with everything but labels."""

    n: int
    draw: Callable[[np.random.Generator, int], tuple[Any, dict[str, Any]]]


def _scores(draw: Callable[[np.random.Generator, int], Any], n: int) -> World:
    return World(n, lambda rng, n: (draw(rng, n), {}))


def _weighted(rng: np.random.Generator, n: int) -> tuple[Any, dict[str, Any]]:
    return rng.random(n), {"weights": rng.lognormal(0, 0.7, n)}


def _grouped(rng: np.random.Generator, n: int) -> tuple[Any, dict[str, Any]]:
    return rng.random(n), {"groups": rng.choice(["a", "b", "c", "d"], n, p=[0.1, 0.2, 0.3, 0.4])}


def _classes(n_classes: int) -> Callable[[np.random.Generator, int], Any]:
    return lambda rng, n: rng.dirichlet(np.full(n_classes, 0.5), n)


WORLDS = {
    "logit-normal, standard deviation 1.5": _scores(lambda g, n: expit(g.normal(0, 1.5, n)), 1000),
    "confident: beta(4, 1)": _scores(lambda g, n: g.beta(4, 1, n), 1000),
    "network: beta(1.18, 0.108)": _scores(lambda g, n: g.beta(1.18, 0.108, n), 1000),
    "rare: 1% prevalence": _scores(lambda g, n: g.beta(1, 99, n), 2000),
    "five values": _scores(lambda g, n: g.choice([0.1, 0.3, 0.5, 0.8, 0.95], n), 500),
    "few rows, uniform": _scores(lambda g, n: g.random(n), 30),
    "weights, uniform": World(500, _weighted),
    "four groups, uniform": World(1000, _grouped),
    "three classes": _scores(_classes(3), 500),
    "ten classes": _scores(_classes(10), 1000),
}


def calibrated(name: str, number: int) -> str:
    """Return the status of one dataset of a calibrated world."""
    rng = np.random.default_rng([SEED, list(WORLDS).index(name), number])
    n, draw = WORLDS[name]
    probs, beside = draw(rng, n)
    if probs.ndim == 1:
        labels = rng.random(n) < probs
    else:
        above = rng.random(n)[:, None] > np.cumsum(probs, axis=1)
        labels = np.minimum(above.sum(axis=1), probs.shape[1] - 1)
    return _status(probs, labels, beside, number)


def clinical(number: int) -> str:
    """Return the status of one dataset of the clinical example."""
    rng = np.random.default_rng([SEED, len(WORLDS), number])
    logit = rng.normal(-4.05, 1.1, PATIENTS)
    labels = rng.random(PATIENTS) < expit(-0.61 + 0.76 * logit)
    return _status(expit(logit), labels, {}, number)


def _status(probs: Any, labels: Any, beside: dict[str, Any], seed: int) -> str:
    set_threads(1)
    forecasts = tu.Forecasts.from_arrays(probs, labels, **beside)
    found = _of_tests(forecasts, Settings.checked(rng=seed))
    if seed < CHECKED:
        whole = tu.evaluate(forecasts, recalibrate=False, advice=False, rng=seed)
        assert whole.status == found
    return found


def _of_tests(forecasts: tu.Forecasts, asked: Settings) -> str:
    """Return the status, from the tests alone."""
    parts = OnDemand(forecasts, asked)
    names = usual_metrics(forecasts)
    tests = {
        name: calibration_test(forecasts, statistic=named(name, asked.n_bins), **asked.of_tests)
        for name in names
    }
    others = {name: test.pvalue for name, test in (tests | further_tests(forecasts, asked)).items()}
    evidence = Evidence(**dict.fromkeys(Evidence._fields))._replace(
        overview=parts.get("overview"),
        test=parts.get("omnibus"),
        classes=parts.get("classes"),
        groups=parts.get("groups"),
        alpha=1 - asked.confidence_level,
        others=others,
    )
    return evidence.status


def page(found: dict[str, Counter[str]], sets: int, found_clinical: int, clinical_sets: int) -> str:
    """Return the whole page."""

    def shares(counts: Counter[str]) -> str:
        return " | ".join(f"{counts[status] / counts.total():.1%}" for status in STATUSES)

    rows = [f"| {name} | {WORLDS[name].n:,} | {shares(counts)} |" for name, counts in found.items()]
    noise = 100 * np.sqrt(0.05 * 0.95 / sets)
    return ABOUT.format(
        sets=sets,
        small=noise,
        pooled=noise / np.sqrt(len(found)),
        rows="\n".join(rows),
        all_rows=shares(sum(found.values(), Counter())),
        draws=Settings.checked().n_resamples,
        patients=PATIENTS,
        clinical=clinical_sets,
        found=found_clinical,
    )


def main() -> None:
    """Run the study and write the page."""
    sets = int(sys.argv[1]) if len(sys.argv) > 1 else SETS
    clinical_sets = min(CLINICAL_SETS, sets)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = {
            name: Counter(pool.map(calibrated, [name] * sets, range(sets), chunksize=10))
            for name in WORLDS
        }
        statuses = Counter(pool.map(clinical, range(clinical_sets), chunksize=5))
    text = page(found, sets, statuses[MISCALIBRATED], clinical_sets)
    write_atomically(PAGE, text.encode())
    print(text)


if __name__ == "__main__":
    main()
