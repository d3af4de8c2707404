"""False-positive rate and power of tests of rows in clusters, and of unconditional resampling.

``python -m studies.cluster_tests SETS WORKERS`` draws SETS datasets per configuration (default
4,000) in some processes (default 2) and writes docs/cluster-tests.md. Finished batches are kept in
out/cluster-tests.jsonl, so that a run that was stopped goes on where it was; what was found with
other code is not used.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

import trueup as tu
from studies.cluster_tests_page import page
from studies.cluster_worlds import NAMES, World, scores_of
from studies.finished_batches import FinishedBatches
from trueup.atomic_write import write_atomically
from trueup.engines import set_threads
from trueup.forecasts import Forecasts
from trueup.inference import calibration_test

ROOT = Path(__file__).parents[1]
LEVEL = 0.05
DRAWS = 199
DEFAULT_DRAWS = 999
DRAWS_OF_ROWS = 39
SHIFT = 0.5
PER_BATCH = 200

DEPENDENCE = {"none": 0.0, "moderate": 0.2, "strong": 0.6}
NONE, MODERATE, STRONG = (("normal", amount) for amount in DEPENDENCE.values())
KINDS = [
    *((5, "equal", form) for form in (NONE, MODERATE, STRONG)),
    *((50, "equal", form) for form in (NONE, STRONG)),
    (5, "unequal", STRONG),
]
SIZE = [
    World(scores, n_clusters, rows, sizes, *form)
    for n_clusters in (20, 100)
    for rows, sizes, form in KINDS
    for scores in NAMES
]
OTHER = [
    World("uniform", 20, 5, "equal", "logit", 1.5),
    World("spread", 20, 50, "equal", "logit", 1.0),
    World("confident", 20, 20, "equal", "beta", 0.3),
    World("cifar100", 20, 30, "equal", "beta", 0.1),
    World("spread", 20, 40, "equal", "some", 0.2),
    World("uniform", 20, 50, "unequal", *STRONG),
    World("spread", 20, 20, "equal", *STRONG),
    World("cifar100", 20, 20, "equal", *STRONG),
    World("uniform", 20, 20, "one score", *STRONG),
    World("uniform", 30, 5, "unequal", *STRONG),
    World("cifar100", 30, 5, "equal", *STRONG),
    World("spread", 50, 20, "equal", *STRONG),
    World("confident", 50, 10, "unequal", "logit", 1.5),
    World("cifar100", 50, 5, "equal", *MODERATE),
]
MORE_DRAWS = [World("uniform", 20, 5, "equal", *NONE), World("cifar100", 20, 5, "equal", *STRONG)]
CUMULATIVE = [
    World(scores, n_clusters, 5, "equal", *STRONG)
    for n_clusters, scores in ((20, "spread"), (20, "cifar100"), (100, "cifar100"))
]
HARD = [
    World(scores, n_clusters, 5, "equal", *STRONG)
    for scores, n_clusters in (
        ("nearest 1", 20),
        ("nearest 1", 100),
        ("uniform", 5),
        ("uniform", 10),
    )
]
POWER = [World("uniform", n, rows, "equal", *MODERATE) for n, rows in ((20, 20), (100, 5))]
ROWS = [
    World(scores, 0, n, "rows", *NONE)
    for scores in ("spread", "uniform", "confident")
    for n in (30, 100, 1000)
]
PARTS = {
    "size": SIZE,
    "other": OTHER,
    "more draws": MORE_DRAWS,
    "cumulative": CUMULATIVE,
    "hard": HARD,
    "power": POWER,
    "rows": ROWS,
}
FEWER = {"other": 2, "more draws": 2, "hard": 2, "cumulative": 4, "power": 4, "rows": 4}
"""Parts of the page with a half or a fourth of the datasets."""


class Batch(NamedTuple):
    """Some datasets of one world: the part of the page, the place of the world, the datasets."""

    part: str
    place: int
    first: int
    last: int


def both(data: Forecasts, number: int, draws: int = DRAWS) -> list[float]:
    """Return the p-values of the two tests of rows in clusters."""
    options = {"n_resamples": draws, "rng": number}
    methods = ("cluster-signs", "omnibus")
    return [calibration_test(data, method=method, **options).pvalue for method in methods]


def with_more_draws(data: Forecasts, number: int) -> list[float]:
    """Return the p-values of the two tests, by few draws and by as many as is the default."""
    return both(data, number) + both(data, number, DEFAULT_DRAWS)


def cumulative(data: Forecasts, number: int) -> list[float]:
    """Return the p-value of signs of clusters for the cumulative error."""
    options = {"statistic": tu.CumulativeError(), "n_resamples": DRAWS, "rng": number}
    return [calibration_test(data, method="cluster-signs", **options).pvalue]


def shifted(data: Forecasts, number: int) -> list[float]:
    """Return the p-values of all tests if logits are off, and of one that ignores clusters."""
    scores = expit(logit(data.scores) + SHIFT)
    off = Forecasts.from_arrays(scores, data.labels, clusters=data.clusters)
    alone = Forecasts.from_arrays(scores, data.labels)
    test = calibration_test(alone, method="omnibus", n_resamples=DRAWS, rng=number)
    return [*both(off, number), test.pvalue]


TESTS: dict[str, Callable[[Forecasts, int], list[float]]] = {
    "size": both,
    "other": both,
    "hard": both,
    "more draws": with_more_draws,
    "cumulative": cumulative,
    "power": shifted,
}


def of_rows(world: World, number: int) -> list[float]:
    """Return the p-value of unconditional resampling of independent rows."""
    rng = np.random.default_rng([number, world.rows, 2])
    p = scores_of(world.scores, rng, world.rows)
    options = {"method": "consistency-unconditional", "n_resamples": DRAWS_OF_ROWS}
    return [calibration_test(p, rng.random(len(p)) < p, **options, rng=number).pvalue]


def measure(batch: Batch) -> list[int]:
    """Count the datasets of a batch that each test rejects."""
    set_threads(1)
    world = PARTS[batch.part][batch.place]
    found = [
        of_rows(world, number)
        if batch.part == "rows"
        else TESTS[batch.part](world.sample(number), number)
        for number in range(batch.first, batch.last)
    ]
    return [int(count) for count in (np.array(found) <= LEVEL).sum(axis=0)]


def sets_of(part: str, sets: int) -> int:
    """Return the number of datasets per world of a part of the page."""
    return max(1, sets // FEWER.get(part, 1))


def batches(sets: int) -> Iterator[Batch]:
    """All batches; each but the last of a world has PER_BATCH datasets."""
    for part, worlds in PARTS.items():
        of_part = sets_of(part, sets)
        for place in range(len(worlds)):
            for first in range(0, of_part, PER_BATCH):
                yield Batch(part, place, first, min(first + PER_BATCH, of_part))


def rates(sets: int, workers: int) -> dict[str, np.ndarray]:
    """Return the share of datasets that each test rejects, (worlds, tests), by part."""
    for part in PARTS:
        measure(Batch(part, 0, 0, 1))  # loads all that the batches will
    kept = FinishedBatches(ROOT / "out" / "cluster-tests.jsonl")
    keys = list(batches(sets))
    todo = [key for key in keys if key not in kept.found]
    start = time.monotonic()
    with ProcessPoolExecutor(workers) as pool:
        running = {pool.submit(measure, key): key for key in todo}
        for done, future in enumerate(as_completed(running), start=1):
            kept.add(running[future], future.result())
            spent = time.monotonic() - start
            sys.stderr.write(f"\r{done} of {len(todo)} batches, {spent:.0f} s ")
    sys.stderr.write("\n" if todo else "")
    found = {}
    for part, worlds in PARTS.items():
        of_part = [[key for key in keys if key[:2] == (part, k)] for k in range(len(worlds))]
        counts = np.array([np.sum([kept.found[key] for key in each], axis=0) for each in of_part])
        found[part] = counts / sets_of(part, sets)
    return found


def main(sets: int, workers: int) -> None:
    """Run the study, or the rest of it, write the page and print the time."""
    start = time.monotonic()
    found = rates(sets, workers)
    settings = {
        "draws": DRAWS,
        "default_draws": DEFAULT_DRAWS,
        "rows_draws": DRAWS_OF_ROWS,
        "shift": SHIFT,
        "level": LEVEL,
    }
    text = page({part: sets_of(part, sets) for part in PARTS}, PARTS, found, settings)
    write_atomically(ROOT / "docs" / "cluster-tests.md", text.encode())
    print(f"{time.monotonic() - start:.0f} s with {workers} processes")


if __name__ == "__main__":
    given = [int(number) for number in sys.argv[1:]]
    main(*given, *(4000, 2)[len(given) :])
