"""Coverage without bins, with weights, with clusters: `python -m studies.bin_free_coverage`.

Bootstrap intervals (the default for errors without bins) are held against the value of the same
estimator on a million rows of the same world, which is what they say they cover. Intervals of
binned errors with weights are held against the weighted error of the same scores and bins with
true probabilities as labels. With clusters, rows come in fives whose labels depend on each other
(a Gaussian copula of correlation 0.5), and the bootstrap draws whole clusters.

Writes docs/bin-free-coverage.md. The numbers depend on the arguments and the seed alone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

import trueup as tu
from trueup.engines.select import engine
from trueup.engines.threads import set_threads
from trueup.estimators.base import root_of
from trueup.estimators.binned_errors.bias_correction import plugin_power
from trueup.inference import estimate_many
from trueup.simulate.worlds.published import PUBLISHED

ROOT = Path(__file__).parents[1]
WORLDS = ["resnet110_c10", "densenet40_c100", "resnet152_imgnet"]
WORLDS = [name + twin for name in WORLDS for twin in ("", "_calibrated")]
SIZES = (200, 1000)
SETS, RESAMPLES, SEED = 100, 199, 11
MILLION = 1_000_000
OF_FIVE, CORRELATION = 5, 0.5
BIN_FREE = [tu.SmoothError(), tu.CumulativeError(), tu.MMCE(), tu.KernelError(bandwidth=0.2)]
BINNED = [
    tu.BinnedError(),
    tu.BinnedError(norm=2),
    tu.BinnedError(binning=tu.EqualMass(15), debias=True),
    tu.BinnedError(binning=tu.EqualMass(15), norm=2, debias=True),
]
CLUSTERED = [tu.BinnedError(), tu.CumulativeError()]


class Cell(NamedTuple):
    """A world and the rows of a dataset."""

    world: str
    n: int


def bin_free(cell: Cell) -> dict[str, list[float]]:
    """Share of intervals without bins that hold the value on a million rows, and mean width."""
    world: Any = PUBLISHED[cell.world]
    truth = [estimator(world.sample(MILLION, rng=SEED)) for estimator in BIN_FREE]
    found = np.zeros((len(BIN_FREE), 2))
    for r in range(SETS):
        data = world.sample(cell.n, rng=1000 + r)
        each = estimate_many(BIN_FREE, data, n_resamples=RESAMPLES, rng=r)
        found += [_held(t, e.interval) for t, e in zip(truth, each, strict=True)]
    return _named(BIN_FREE, found)


def weighted(cell: Cell) -> dict[str, list[float]]:
    """Share of binned intervals that hold the error of their scores, bins and weights."""
    world: Any = PUBLISHED[cell.world]
    found = np.zeros((len(BINNED), 2))
    for r in range(SETS):
        chance = np.random.default_rng([SEED, cell.n, r])
        score, complement = world.scores.sample((cell.n,), chance)
        truth = world.curve(score, complement)
        label, weight = chance.random(cell.n) < truth, chance.exponential(size=cell.n) + 0.05
        for i, estimator in enumerate(BINNED):
            held = tu.interval(estimator, score, label, weights=weight)
            found[i] += _held(_weighted_truth(estimator, score, truth, label, weight), held)
    return _named(BINNED, found)


def clustered(cell: Cell) -> dict[str, list[float]]:
    """Share of cluster bootstraps that hold the value on a million rows."""
    world: Any = PUBLISHED[cell.world]
    truth = [estimator(world.sample(MILLION, rng=SEED)) for estimator in CLUSTERED]
    found = np.zeros((len(CLUSTERED), 2))
    number = np.arange(cell.n) // OF_FIVE
    for r in range(SETS // 2):
        chance = np.random.default_rng([SEED, cell.n, r])
        score, complement = world.scores.sample((cell.n,), chance)
        shared = np.repeat(chance.normal(size=cell.n // OF_FIVE), OF_FIVE)
        own = chance.normal(size=cell.n)
        u = ndtr(np.sqrt(CORRELATION) * shared + np.sqrt(1 - CORRELATION) * own)
        data = tu.Forecasts.from_arrays(score, u < world.curve(score, complement), clusters=number)
        for i, estimator in enumerate(CLUSTERED):
            held = tu.interval(estimator, data, n_resamples=RESAMPLES, rng=r)
            found[i] += _held(truth[i], held)
    return _named(CLUSTERED, 2 * found)


def _weighted_truth(estimator: Any, score: Any, truth: Any, label: Any, weight: Any) -> float:
    table = estimator.measure(score, label, weights=weight).table
    if estimator.norm == 2 or estimator.debias:
        table = table.without_singles()[0]
    edges = table.edges[1:-1]
    soft = tu.tables.BinTable.from_sums(edges, engine.bins.bin_sums(score, truth, weight, edges))
    return root_of(plugin_power(soft, estimator.norm), estimator.norm)


def _held(truth: float, interval: tu.results.Interval) -> list[float]:
    inside = interval.low - 1e-12 <= truth <= interval.high + 1e-12
    return [float(inside), interval.high - interval.low]


def _named(estimators: list[Any], found: np.ndarray) -> dict[str, list[float]]:
    return {repr(e): row for e, row in zip(estimators, (found / SETS).tolist(), strict=True)}


PARTS: dict[str, Callable[[Cell], dict[str, list[float]]]] = {
    "Without bins": bin_free,
    "With weights": weighted,
    "With clusters of five": clustered,
}


def _one(task: tuple[str, Cell]) -> dict[str, list[float]]:
    set_threads(1)
    return PARTS[task[0]](task[1])


def main() -> None:
    """Run all cells and write the page."""
    cells = [Cell(world, n) for world in WORLDS for n in SIZES]
    tasks = [(part, cell) for part in PARTS for cell in cells]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(tasks, pool.map(_one, tasks), strict=True))
    text = [
        "# Coverage of bin-free intervals, and with weights or clusters",
        "",
        f"`python -m studies.bin_free_coverage` writes this page: 95% intervals for {SETS} "
        f"datasets per setting ({SETS // 2} with clusters),",
        f"with {RESAMPLES} resamples for bootstrap intervals. Each entry is the coverage and the "
        "mean width. The standard error of a coverage of 95% is "
        f"{100 * np.sqrt(0.0475 / SETS):.1f} points.",
    ]
    for part in PARTS:
        columns = list(found[part, cells[0]])
        text += ["", f"## {part}", "", f"| world | n | {' | '.join(f'`{c}`' for c in columns)} |"]
        text += ["|---" * (2 + len(columns)) + "|"]
        for cell in cells:
            row = [f"{held:.3f}, {width:.4f}" for held, width in found[part, cell].values()]
            text += [f"| {cell.world} | {cell.n} | {' | '.join(row)} |"]
    target = ROOT / "docs" / "bin-free-coverage.md"
    target.write_text("\n".join(text) + "\n")
    sys.stdout.write(target.read_text())


if __name__ == "__main__":
    main()
