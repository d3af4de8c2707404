"""False-positive rate and power of tests of rows in clusters, and of unconditional resampling.

``python -m studies.cluster_tests SETS WORKERS`` draws SETS datasets per configuration (default
4,000) in some processes (default 2) and writes docs/cluster-tests.md.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from scipy.special import expit, logit, ndtr

import trueup as tu
from studies.omnibus.columns import SCORES
from studies.omnibus.page import table
from trueup.atomic_write import write_atomically
from trueup.engines import set_threads
from trueup.forecasts import Forecasts
from trueup.inference import calibration_test

PAGE = Path(__file__).parents[1] / "docs" / "cluster-tests.md"
LEVEL = 0.05
DRAWS = 299
DRAWS_OF_ROWS = 39
PER_TASK = 200
NAMES = {"spread": "spread", "uniform": "uniform", "confident": "beta(4, 1)", "cifar100": "near 1"}
DEPENDENCE = {"none": 0.0, "moderate": 0.2, "strong": 0.6}
TESTS = ("cluster signs", "omnibus")

PAGE_TEXT = """# Tests of rows in clusters: false-positive rate and power

`python -m studies.cluster_tests {sets}` writes this page: {sets:,} datasets per number, {draws}
draws, level 5%. The standard error of a rate is {error:.2f} points at 5%.

The rows of a cluster share a normal variable `shared`, and each row has one of its own, `own`. The
label of a row is 1 if the normal distribution function of √ρ·shared + √(1 − ρ)·own is below its
score, so that P(label = 1 | score) is the score for any ρ. The dependence ρ is 0 (none), 0.2
(moderate) or 0.6 (strong). Scores are independent: logit-normal with standard deviation 1.5
(spread), uniform, beta(4, 1), and beta(1.18, 0.108), which is near 1. The sizes of "unequal"
clusters are lognormal; their logarithm has a standard deviation of 1.

## Calibrated models that are rejected

`method="cluster-signs"` with its default statistic, and `method="omnibus"`:

{size}

{summary}

`method="cluster-signs"` with `CumulativeError()` and strong dependence:

{cumulative}

The next table has few clusters with strong dependence, and scores so close to 1, beta(2.38, 0.038),
that few rows have a label of 0:

{hard}

## Power

Power if the logits are off by {shift}, with moderate dependence and uniform scores:

{power}

"Independent rows" is the omnibus test of the same rows without `clusters`, which is not valid here.

## Unconditional resampling

Fraction of calibrated models that `method="consistency-unconditional"` rejects, with {rows_draws}
draws:

{unconditional}
"""
SHIFT = 0.5


def scores_of(name: str, rng: np.random.Generator, n: int) -> np.ndarray:
    """Draw scores, none of them 0 or 1."""
    p = rng.beta(2.38, 0.038, n) if name == "nearest 1" else SCORES[name](rng, n)
    return np.clip(p, 1e-12, 1 - 1e-12)


def clustered(seed: Sequence[int], scores: str, cluster: np.ndarray, rho: float) -> Forecasts:
    """Draw labels whose rows of a cluster share a normal number, calibrated whatever ρ is."""
    rng = np.random.default_rng(seed)
    p = scores_of(scores, rng, len(cluster))
    shared = rng.standard_normal(int(cluster.max()) + 1)[cluster]
    own = rng.standard_normal(len(cluster))
    y = ndtr(math.sqrt(rho) * shared + math.sqrt(1 - rho) * own) < p
    return Forecasts.from_arrays(p, y.astype(np.int64), clusters=cluster)


def sizes_of(n_clusters: int, rows: int, unequal: bool, rng: np.random.Generator) -> np.ndarray:
    """Draw the number of the cluster of every row."""
    sizes = np.full(n_clusters, rows)
    if unequal:
        drawn = rng.lognormal(0, 1, n_clusters)
        sizes = np.maximum(1, np.round(drawn / drawn.mean() * rows)).astype(np.int64)
    return np.repeat(np.arange(n_clusters), sizes)


def pvalues(
    scores: str,
    n_clusters: int,
    rows: int,
    rho: float,
    kind: str,
    shift: float,
    numbers: tuple[int, int],
) -> np.ndarray:
    """Return the p-values of the tests of a kind, a row per dataset."""
    set_threads(1)
    found = []
    for number in range(*numbers):
        rng = np.random.default_rng([number, n_clusters, rows, 1])
        cluster = sizes_of(n_clusters, rows, kind == "unequal", rng)
        data = clustered([number, n_clusters, rows], scores, cluster, rho)
        if shift:
            off = expit(logit(data.scores) + shift)
            data = Forecasts.from_arrays(off, data.labels, clusters=cluster)
        draws = {"n_resamples": DRAWS, "rng": number}
        if kind == "cumulative":
            signs = calibration_test(
                data, statistic=tu.CumulativeError(), method="cluster-signs", **draws
            )
            found.append([signs.pvalue])
            continue
        tests = [calibration_test(data, method=m, **draws) for m in ("cluster-signs", "omnibus")]
        if shift:
            alone = Forecasts.from_arrays(data.scores, data.labels)
            tests.append(calibration_test(alone, method="omnibus", **draws))
        found.append([test.pvalue for test in tests])
    return np.array(found)


def unconditional(scores: str, n: int, numbers: tuple[int, int]) -> np.ndarray:
    """Return the p-values of unconditional resampling, a row per dataset."""
    set_threads(1)
    found = []
    for number in range(*numbers):
        rng = np.random.default_rng([number, n, 2])
        p = scores_of(scores, rng, n)
        test = calibration_test(
            p,
            rng.random(n) < p,
            method="consistency-unconditional",
            n_resamples=DRAWS_OF_ROWS,
            rng=number,
        )
        found.append([test.pvalue])
    return np.array(found)


def rejected(pool: ProcessPoolExecutor, sets: int, function: object, *what: object) -> np.ndarray:
    """Return the share of datasets that each test rejects."""
    parts = [(first, min(first + PER_TASK, sets)) for first in range(0, sets, PER_TASK)]
    found = np.concatenate(list(pool.map(partial(function, *what), parts)))  # type: ignore[arg-type]
    return np.asarray((found <= LEVEL).mean(axis=0))


def sizes_table(pool: ProcessPoolExecutor, sets: int) -> tuple[str, str]:
    """Return the rates of all worlds, and a sentence on their mean and extremes."""
    kinds = [(5, "equal", dependence) for dependence in DEPENDENCE]
    kinds += [(50, "equal", "none"), (50, "equal", "strong"), (5, "unequal", "strong")]
    worlds = [(n_clusters, *kind) for n_clusters in (20, 100) for kind in kinds]
    lines = []
    found: dict[int, list[np.ndarray]] = {20: [], 100: []}
    for n_clusters, rows, kind, dependence in worlds:
        about = (n_clusters, rows, DEPENDENCE[dependence], kind, 0.0)
        rates = np.array([rejected(pool, sets, pvalues, name, *about) for name in NAMES])
        found[n_clusters].append(rates)
        words = [str(n_clusters), f"{rows}, {kind}", dependence]
        cells = [f"{rate:.4f}" for test in rates.T for rate in test]
        lines.append([*words, *cells])
    heads = ["clusters", "rows in each", "dependence"]
    heads += [f"{test}, {name}" for test in TESTS for name in NAMES.values()]
    sentences = []
    for n_clusters, rates in found.items():
        for test, of_test in zip(TESTS, np.array(rates).transpose(2, 0, 1), strict=True):
            mean, least, most = (100 * x for x in (of_test.mean(), of_test.min(), of_test.max()))
            sentences.append(
                f"With {n_clusters} clusters, {test}: {mean:.1f}% on average, "
                f"{least:.1f}% to {most:.1f}%."
            )
    return table(heads, lines), "\n".join(sentences)


def main(sets: int, workers: int) -> None:
    """Write the page."""
    with ProcessPoolExecutor(workers) as pool:
        size, summary = sizes_table(pool, sets)
        cumulative = [
            [str(n), NAMES[name], f"{rate:.4f}"]
            for n, name in ((20, "spread"), (20, "cifar100"), (100, "cifar100"))
            for rate in rejected(
                pool, sets, pvalues, name, n, 5, DEPENDENCE["strong"], "cumulative", 0.0
            )
        ]
        hard = []
        for name, n in (("nearest 1", 20), ("nearest 1", 100), ("uniform", 5), ("uniform", 10)):
            rates = rejected(pool, sets, pvalues, name, n, 5, DEPENDENCE["strong"], "equal", 0.0)
            hard.append([name, str(n), *(f"{rate:.4f}" for rate in rates)])
        power = []
        for n, rows in ((20, 20), (100, 5)):
            about = (n, rows, DEPENDENCE["moderate"], "equal", SHIFT)
            rates = rejected(pool, sets // 4, pvalues, "uniform", *about)
            power.append([str(n), str(rows), *(f"{rate:.3f}" for rate in rates)])
        rows_drawn = []
        for key, name in list(NAMES.items())[:3]:
            rates = [rejected(pool, sets, unconditional, key, n)[0] for n in (30, 100, 1000)]
            rows_drawn.append([name, *(f"{rate:.4f}" for rate in rates)])
    heads = ["clusters", "rows in each", *TESTS, "independent rows"]
    page = PAGE_TEXT.format(
        sets=sets,
        draws=DRAWS,
        rows_draws=DRAWS_OF_ROWS,
        error=100 * math.sqrt(LEVEL * (1 - LEVEL) / sets),
        shift=SHIFT,
        size=size,
        summary=summary,
        cumulative=table(["clusters of 5", "scores", "rejected"], cumulative),
        hard=table(["scores", "clusters of 5", *TESTS], hard),
        power=table(heads, power),
        unconditional=table(["scores", "n = 30", "n = 100", "n = 1,000"], rows_drawn),
    )
    write_atomically(PAGE, page.encode())


if __name__ == "__main__":
    given = [int(number) for number in sys.argv[1:]]
    main(*given, *(4000, 2)[len(given) :])
