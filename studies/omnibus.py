"""Power and false-positive rate of the omnibus test: ``python -m studies.omnibus`` writes a page.

``python -m studies.omnibus SETS`` draws SETS datasets per configuration for power (default 2,000),
twice as many for the false-positive rate, and writes docs/omnibus.md.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from scipy.special import expit, logit

from trueup.atomic_write import write_atomically
from trueup.engines import set_threads
from trueup.forecasts import Forecasts
from trueup.inference import calibration_test
from trueup.inference.omnibus.statistics import NAMES

PAGE = Path(__file__).parents[1] / "docs" / "omnibus.md"
ROWS, DRAWS, LEVEL = 1000, 999, 0.05
SIZES = (30, 100, ROWS)
TUNED_ON = 300
TARGET = 0.9  # power of the best single statistic, for which the size of an error is chosen

PAGE_TEXT = """# The omnibus test: power and false-positive rate

`python -m studies.omnibus {sets}` writes this page.

## Power

{sets:,} datasets per row, n = {rows:,}, {draws} draws, level 5%. The size of each error is chosen
so that the best of the six statistics detects it in about 90% of other datasets; a standard error
is at most {error:.3f}. An error moves logits (shift, temperature) or the probability of an outcome
(the others) by its size, by the functions in `studies/omnibus.py`.

{power}

The power of the omnibus test is {mean:.3f} of that of the best statistic on average, and at least
{least:.3f} of it.

## False-positive rate

Calibrated models that are rejected at 5%, of {null_sets:,} datasets per number (standard error
{one:.2f} points):

{size}

On average {means} (standard error {pooled:.2f} points).
"""

Scores = Callable[[np.random.Generator, int], np.ndarray]

SCORES: dict[str, Scores] = {
    "spread": lambda rng, n: expit(rng.normal(0, 1.5, n)),
    "confident": lambda rng, n: rng.beta(4, 1, n),
    "cifar100": lambda rng, n: rng.beta(1.18, 0.108, n),
    "uniform": lambda rng, n: rng.random(n),
    "1% prevalence": lambda rng, n: expit(rng.normal(-5, 1, n)),
    "five values": lambda rng, n: rng.choice([0.1, 0.3, 0.5, 0.7, 0.9], n),
}
OF_POWER = ("spread", "confident", "cifar100")


def shift(s: np.ndarray, a: float) -> np.ndarray:
    """Logits off by a constant."""
    return expit(logit(s) + a)


def temperature(s: np.ndarray, a: float) -> np.ndarray:
    """Logits divided by a constant."""
    return expit(logit(s) * np.exp(-a))


def decile(s: np.ndarray, a: float) -> np.ndarray:
    """One tenth of the rows, next to each other by score, is off."""
    rank = ranks(s)
    return moved(s, a * ((rank >= 0.2) & (rank < 0.3)))


def group(s: np.ndarray, a: float) -> np.ndarray:
    """A tenth of the rows is off, most of them with scores near each other."""
    rank = ranks(s)
    share = np.exp(-0.5 * ((rank - 0.4) / 0.08) ** 2)
    return moved(s, a * share)


def wiggle(s: np.ndarray, a: float) -> np.ndarray:
    """Four waves over the rows in the order of their scores."""
    return moved(s, a * np.sin(8 * np.pi * ranks(s)))


ERRORS = (shift, temperature, decile, group, wiggle)


def ranks(s: np.ndarray) -> np.ndarray:
    """Return the place of each score among all, from 0 to 1."""
    return np.argsort(np.argsort(s)) / len(s)


def moved(s: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Move scores towards ½ where there is no room on the other side."""
    return np.clip(s + np.where(s > 0.5, -by, by), 0, 1)


def pvalues(world: str, error: str, size: float, n: int, sets: tuple[int, int]) -> np.ndarray:
    """Return p-values of the omnibus test and of its parts, a row per dataset."""
    set_threads(1)
    found = []
    for number in range(*sets):
        rng = np.random.default_rng([number, n])
        s = SCORES[world](rng, n)
        true = s if not error else globals()[error](s, size)
        data = Forecasts.from_arrays(s, (rng.random(n) < true).astype(np.int64))
        test = calibration_test(data, method="omnibus", n_resamples=DRAWS, rng=number)
        found.append([test.pvalue, *test.notes["parts"].values()])
    return np.array(found)


def many(pool: ProcessPoolExecutor, sets: int, *configuration: object) -> np.ndarray:
    """Return the p-values of many datasets, in parts."""
    parts = [(first, min(first + 100, sets)) for first in range(0, sets, 100)]
    return np.concatenate(list(pool.map(partial(pvalues, *configuration), parts)))  # type: ignore[arg-type]


def tuned(pool: ProcessPoolExecutor, world: str, error: str) -> float:
    """Return the size of an error that the best single statistic finds as often as asked."""
    low, high = 0.0, 2.0 if error in ("shift", "temperature") else 0.6
    for _ in range(7):
        middle = (low + high) / 2
        power = np.mean(many(pool, TUNED_ON, world, error, middle, ROWS) <= LEVEL, axis=0)
        low, high = (middle, high) if power[1:].max() < TARGET else (low, middle)
    return (low + high) / 2


def power_rows(pool: ProcessPoolExecutor, sets: int) -> tuple[list[str], list[float]]:
    """Return a line of the table for every kind of error, and how near the best the test comes."""
    lines, ratios = [], []
    for world in OF_POWER:
        for error in ERRORS:
            size = tuned(pool, world, error.__name__)
            power = (many(pool, sets, world, error.__name__, size, ROWS) <= LEVEL).mean(axis=0)
            ratios.append(float(power[0] / power[1:].max()))
            cells = [world, error.__name__, f"{size:.3f}", *(f"{x:.3f}" for x in power[1:])]
            lines.append(line([*cells, f"{power[0]:.3f}", f"{ratios[-1]:.3f}"]))
    return lines, ratios


def size_rows(pool: ProcessPoolExecutor, sets: int) -> tuple[list[str], dict[int, float]]:
    """Return a line for all scores with calibrated labels, and the mean over them."""
    found = {
        world: [np.mean(many(pool, sets, world, "", 0.0, n)[:, 0] <= LEVEL) for n in SIZES]
        for world in SCORES
    }
    lines = [line([world, *(f"{x:.4f}" for x in rates)]) for world, rates in found.items()]
    means = np.mean(list(found.values()), axis=0)
    return lines, dict(zip(SIZES, map(float, means), strict=True))


def line(cells: Sequence[str]) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(cells)} |"


def main(sets: int) -> None:
    """Write the page."""
    with ProcessPoolExecutor(2) as pool:
        power, ratios = power_rows(pool, sets)
        size, means = size_rows(pool, 2 * sets)
    heads = ["scores", "error", "its size", *NAMES, "omnibus", "ratio to the best"]
    pooled = math.sqrt(LEVEL * (1 - LEVEL) / (2 * sets))
    page = PAGE_TEXT.format(
        sets=sets,
        null_sets=2 * sets,
        rows=ROWS,
        draws=DRAWS,
        power="\n".join([line(heads), line(["---"] * len(heads)), *power]),
        mean=np.mean(ratios),
        least=min(ratios),
        error=math.sqrt(0.25 / sets),
        size="\n".join(
            [line(["scores", *(f"n = {n:,}" for n in SIZES)]), line(["---"] * 4), *size]
        ),
        means=", ".join(f"{100 * rate:.2f}% at n = {n:,}" for n, rate in means.items()),
        pooled=100 * pooled / math.sqrt(len(SCORES)),
        one=100 * pooled,
    )
    write_atomically(PAGE, page.encode())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
