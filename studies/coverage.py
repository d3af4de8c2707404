"""Coverage of the intervals: `python -m studies.coverage [repetitions]`.

In the ten worlds of Roelofs et al. 2022 and their calibrated twins, for every dataset the truth
for its own scores and bins is known: the binned error with true probabilities as labels. Each
interval is compared with the naive one, a percentile bootstrap of the plug-in error in these bins.

Writes docs/coverage.md. Finished batches are kept in out/coverage.jsonl, so that a run that was
stopped goes on where it was; what was found with other code is not used. The numbers depend on the
repetitions and the seed alone.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import trueup as tu
from studies.coverage_page import page
from studies.finished_batches import FinishedBatches
from trueup.engines.select import engine
from trueup.engines.threads import set_threads
from trueup.estimators.base import root_of
from trueup.estimators.binned_errors.bias_correction import plugin_power, plugin_powers
from trueup.inference.confidence_intervals import interval
from trueup.simulate.studies.random_streams import stream, world_identity
from trueup.simulate.worlds.published import PUBLISHED, ROELOFS

ROOT = Path(__file__).parents[1]
WORLDS = [name + twin for name in ROELOFS for twin in ("", "_calibrated")]
SIZES = (200, 1000, 5000)
LEVEL = 0.95
SEED = 5
BATCH = 100
NAIVE_SHARE = 10  # every tenth dataset also has a naive bootstrap, which takes far longer
NAIVE_RESAMPLES = 199
ESTIMATORS: dict[str, tu.BinnedError | tu.SweepError] = {
    "ece": tu.BinnedError(),
    "rmsce": tu.BinnedError(norm=2),
    "ece_debiased": tu.BinnedError(binning=tu.EqualMass(15), debias=True),
    "rmsce_debiased": tu.BinnedError(binning=tu.EqualMass(15), norm=2, debias=True),
    "ece_sweep": tu.SweepError(),
}
COLUMNS = ("sets", "low", "high", "width", "naive_sets", "naive_low", "naive_high", "naive_width")


class Key(NamedTuple):
    """Which batch: the world, the rows of a dataset, the batch's number and its datasets."""

    world: str
    n: int
    batch: int
    sets: int


def batches(repetitions: int) -> Iterator[Key]:
    """All batches, the longest first; each but the last has BATCH datasets."""
    for n in sorted(SIZES, reverse=True):
        for world in WORLDS:
            for batch in range(-(-repetitions // BATCH)):
                yield Key(world, n, batch, min(BATCH, repetitions - BATCH * batch))


def measure(key: Key) -> dict[str, list[float]]:
    """Sums over the datasets of one batch, for every estimator, in the order of COLUMNS."""
    set_threads(1)
    world: Any = PUBLISHED[key.world]
    chance = stream(SEED, world_identity(world), key.n, key.batch)
    score, complement = world.scores.sample((key.sets, key.n), chance)
    truth = world.curve(score, complement)
    label = chance.random(score.shape) < truth
    totals = {name: np.zeros(len(COLUMNS)) for name in ESTIMATORS}
    for r in range(key.sets):
        forecasts = tu.Forecasts.from_arrays(score[r], label[r])
        drawn = None
        if r % NAIVE_SHARE == 0:
            rows = chance.integers(key.n, size=(NAIVE_RESAMPLES, key.n))
            drawn = score[r][rows], label[r][rows].view(np.uint8)
        for name, estimator in ESTIMATORS.items():
            found = interval.interval(estimator, forecasts, confidence_level=LEVEL)
            edges = estimator.measure(forecasts).table.edges[1:-1]
            true = true_error(estimator, edges, score[r], truth[r], label[r])
            totals[name][:4] += _held(true, found.low, found.high)
            if drawn is not None:
                low, high = naive(estimator, edges, *drawn)
                totals[name][4:] += _held(true, low, high)
    return {name: total.tolist() for name, total in totals.items()}


def true_error(estimator: Any, edges: Any, score: Any, truth: Any, label: Any) -> float:
    """The error of these scores and bins with true probabilities as labels.

    Where the interval merges bins of one row, so does its target.
    """
    inner = edges
    if estimator.norm == 2 or getattr(estimator, "debias", False):
        table = tu.tables.BinTable.from_sums(edges, engine.bins.bin_sums(score, label, None, edges))
        inner = table.without_singles()[0].edges[1:-1]
    soft = engine.bins.bin_sums(score, truth, None, inner)
    return root_of(
        plugin_power(tu.tables.BinTable.from_sums(inner, soft), estimator.norm), estimator.norm
    )


def naive(estimator: Any, edges: Any, score: Any, label: Any) -> tuple[float, float]:
    """Percentile interval of the plug-in error in the same bins over resampled rows."""
    powers = plugin_powers(engine.bins.batch_bin_sums(score, label, edges), estimator.norm)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(powers ** (1 / estimator.norm), [tail, 1 - tail], method="weibull")
    return float(low), float(high)


def _held(true: float, low: float, high: float) -> list[float]:
    rounding = 1e-12
    return [1, float(true < low - rounding), float(true > high + rounding), high - low]


def run(repetitions: int, workers: int) -> dict[str, dict[str, dict[int, list[float]]]]:
    """Sums by estimator, world and n."""
    measure(Key(WORLDS[0], SIZES[0], 0, 1))  # loads all that the batches will
    kept = FinishedBatches(ROOT / "out" / "coverage.jsonl")
    keys = list(batches(repetitions))
    todo = [key for key in keys if key not in kept.found]
    start = time.monotonic()
    with ProcessPoolExecutor(workers) as pool:
        running = {pool.submit(measure, key): key for key in todo}
        for done, future in enumerate(as_completed(running), start=1):
            kept.add(running[future], future.result())
            spent = time.monotonic() - start
            sys.stderr.write(f"\r{done} of {len(todo)} batches, {spent:.0f} s ")
    sys.stderr.write("\n" if todo else "")
    totals: dict[str, dict[str, dict[int, list[float]]]] = {}
    for name in ESTIMATORS:
        for key in keys:  # in one order, so that sums are identical in every run
            cell = totals.setdefault(name, {}).setdefault(key.world, {})
            sums = zip(cell.get(key.n, [0.0] * len(COLUMNS)), kept.found[key][name], strict=True)
            cell[key.n] = [a + b for a, b in sums]
    return totals


def main() -> None:
    """Run the study, or the rest of it, and write the page."""
    parser = argparse.ArgumentParser(description="Coverage of intervals in worlds of known truth.")
    parser.add_argument("repetitions", nargs="?", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    if arguments.repetitions < 1 or arguments.workers < 1:
        parser.error("repetitions and workers must be at least 1")
    totals = run(arguments.repetitions, arguments.workers)
    target = ROOT / "docs" / "coverage.md"
    text = page(totals, arguments.repetitions, LEVEL, NAIVE_RESAMPLES)
    unfinished = target.with_suffix(".md.new")
    unfinished.write_text(text)
    unfinished.replace(target)
    print(text.split("\n## ")[0])


if __name__ == "__main__":
    main()
