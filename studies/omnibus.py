"""Power and false-positive rate of the omnibus test: ``python -m studies.omnibus`` writes a page.

``python -m studies.omnibus SETS`` draws so many datasets per configuration (default 2,000 for
power, twice as many for the false-positive rate) and writes docs/omnibus.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from scipy.special import expit, logit

from trueup.engines import set_threads
from trueup.forecasts import Forecasts
from trueup.inference import calibration_test
from trueup.inference.omnibus.statistics import NAMES

PAGE = Path(__file__).parents[1] / "docs" / "omnibus.md"
ROWS, DRAWS, LEVEL = 1000, 999, 0.05
TUNED_ON = 300
TARGET = 0.9  # power of the best single statistic, for which the size of an error is chosen

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


def main(sets: int) -> None:
    """Write the page."""
    lines = ["| scores | error | size | " + " | ".join(NAMES) + " | omnibus | ratio to the best |"]
    lines.append("|" + "---|" * (len(NAMES) + 5))
    with ProcessPoolExecutor(2) as pool:
        for world in OF_POWER:
            for error in ERRORS:
                size = tuned(pool, world, error.__name__)
                rejects = many(pool, sets, world, error.__name__, size, ROWS) <= LEVEL
                power = rejects.mean(axis=0)
                best = power[1:].max()
                shown = " | ".join(f"{x:.3f}" for x in power[1:])
                line = f"| {world} | {error.__name__} | {size:.3f} | {shown} | {power[0]:.3f} |"
                lines.append(f"{line} {power[0] / best:.3f} |")
                print(lines[-1], flush=True)
        for world in SCORES:
            for n in (30, 100, ROWS):
                p = many(pool, 2 * sets, world, "", 0.0, n)
                print(world, n, np.mean(p <= LEVEL, axis=0).round(4), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
