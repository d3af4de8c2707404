"""Simulation studies: datasets drawn and scored per second, compared with a loop over NumPy."""

from __future__ import annotations

import time

import numpy as np

import trueup as tu
from benchmarks.timing import Task
from trueup.simulate.studies.batch_scoring import score_sets
from trueup.simulate.studies.run_study import study
from trueup.simulate.worlds.published import PUBLISHED
from trueup.simulate.worlds.world import DataSets

WORLD = PUBLISHED["resnet110_c10"]
ROWS = (200, 400, 800, 1600, 3200, 6400)
BINS = (2, 4, 8, 16, 32, 64)
MEASURES = {f"{bins} bins": tu.BinnedError(binning=tu.EqualWidth(bins), norm=2) for bins in BINS}
SETS = 300
SECONDS_FOR_ALL = 20  # what Figure 4 of Roelofs et al. with 1,000 repetitions may take


def tasks() -> list[Task]:
    """Figure 4 of Roelofs et al. with 300 repetitions: scores alone, and with their draws."""
    drawn = [WORLD.sample_many(SETS, n, rng=n) for n in ROWS]
    return [
        Task(
            "study: score 1,800 datasets in 6 bin counts",
            lambda: [score_sets(sets, MEASURES) for sets in drawn],
            "NumPy loop",
            lambda: [_numpy_scores(p, y) for sets in drawn for p, y in zip(*sets, strict=True)],
            1 / 8,
            rounds=3,
        ),
        Task(
            "study: draw and score 1,800 datasets",
            lambda: study(WORLD, MEASURES, ROWS, n_datasets=SETS, truth=lambda world: 0.0),
            "NumPy loop",
            _numpy_study,
            1 / 8,
            rounds=3,
        ),
    ]


def report_study() -> None:
    """Print scored samples per second, and the seconds of the whole figure."""
    samples = len(BINS) * sum(ROWS)
    start = time.perf_counter()
    study(WORLD, MEASURES, ROWS, n_datasets=1000)
    ours = time.perf_counter() - start
    start = time.perf_counter()
    _numpy_study()
    theirs = (time.perf_counter() - start) * 1000 / SETS
    mark = "" if ours <= SECONDS_FOR_ALL else "!"
    print(f"\nRoelofs Fig. 4, 1,000 repetitions, {1000 * sum(ROWS):,} draws in 6 bin counts:")
    print(f"  {ours:.2f} s, at most {SECONDS_FOR_ALL} s {mark}")
    print(
        f"  {1e-6 * 1000 * samples / ours:.0f} million scored samples per second, drawing included"
    )
    print(f"  {1e-6 * 1000 * samples / theirs:.0f} million by the NumPy loop")


def _numpy_study() -> list[list[float]]:
    rng = np.random.default_rng(0)
    return [_numpy_scores(*_numpy_draw(n, rng)) for n in ROWS for _ in range(SETS)]


def _numpy_draw(n: int, rng: np.random.Generator) -> DataSets:
    score = rng.beta(2.7752, 0.0478, n)
    with np.errstate(divide="ignore"):
        truth = 1 - np.exp(-0.24 + 0.30 * np.log(1 - score))
    return DataSets(score, rng.random(n) < truth)


def _numpy_scores(p: np.ndarray, y: np.ndarray) -> list[float]:
    """What one would write: digitize, three counts, and the formula."""
    found = []
    for bins in BINS:
        index = np.digitize(p, np.arange(1, bins) / bins, right=True)
        count = np.bincount(index, minlength=bins)
        score = np.bincount(index, weights=p, minlength=bins)
        hits = np.bincount(index, weights=y, minlength=bins)
        full = count > 0
        gaps = (score[full] - hits[full]) / count[full]
        found.append(float(np.sqrt(np.sum(count[full] / len(p) * gaps**2))))
    return found
