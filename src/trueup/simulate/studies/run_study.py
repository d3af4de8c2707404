"""Simulation studies of worlds × measures × n, over many datasets."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from trueup.calls.hints import hinted
from trueup.calls.progress import Progress, stage, with_progress
from trueup.checks import check_whole, is_whole
from trueup.engines.select import in_use
from trueup.engines.threads import get_threads, run, set_threads
from trueup.errors import must_be
from trueup.seeds import seed_of
from trueup.simulate.studies.batch_scoring import Measure, Numbers, draw_sets, score_sets
from trueup.simulate.studies.checkpoint import BatchKey, Checkpoint
from trueup.simulate.studies.random_streams import (
    BATCH_ROWS,
    BATCH_SETS,
    batches,
    identity,
    stream,
    world_identity,
)
from trueup.simulate.studies.study_result import Study, StudyRow
from trueup.simulate.studies.true_values import Truth, check_truth, truths_of

DRAWS = 2  # to be raised when a world comes to draw other numbers from the same seed


@hinted
@with_progress("study")
def study(
    worlds: Any,
    measures: Mapping[str, Measure],
    n: int | Sequence[int],
    *,
    n_datasets: int = 1000,
    rng: int | np.random.Generator | None = 0,
    truth: Truth = None,
    path: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: Progress = None,
) -> Study:
    """Compare estimators on simulated datasets with a known true error.

    The rows depend only on the arguments: not on the number of workers, the order of the work,
    interruptions, or the other parts of the study. All measures use the same datasets.

    Parameters
    ----------
    worlds : World, TableWorld or dict
        A simulated model, or several by name: anything with the `sample` methods of `World` or
        `TableWorld`.
    measures : dict of str to Estimator, named metric or callable
        Measures by name. A function of (probs, labels) returns a number, or a mapping or record of
        numbers, which get rows ``name.key``; other entries of a record are skipped. A `BinnedError`
        without correction over `EqualWidth` or `FixedEdges` is computed for many datasets at once.
        Functions may run on several threads at a time.
    n : int or sequence of int
        Number of rows of a dataset, one or several.
    n_datasets : int, default 1000
        Number of datasets per world and n.
    rng : int, Generator or None, default 0
        Random seed. A study with a Generator or None cannot be resumed.
    truth : dict or callable, optional
        True values of the measures: a number or a function of the world per name, or one function
        of the world for all. An estimator without an entry is compared with the true error of the
        world in its norm.
    path : str or path-like, optional
        File of finished batches. If it exists, the study continues from it; it must have the same
        rng, n_datasets, worlds and measures. A function is identified by its name: delete the file
        if you change the function.
    workers : int, optional
        Number of threads (default: all cores).
    progress : bool or callable, optional
        Whether to show progress: True, False, or a function that gets each report. The default is
        the setting of `show_progress`.

    Returns
    -------
    Study
        One row per world, measure and n.

    Examples
    --------
    >>> from trueup import BinnedError
    >>> from trueup.simulate import Identity, Uniform, World
    >>> world = World(Uniform(), Identity())
    >>> result = study({"calibrated": world}, {"ece": BinnedError()}, [100, 1000], n_datasets=200)
    >>> [(row.n, round(row.bias, 2)) for row in result.rows]
    [(100, 0.12), (1000, 0.04)]
    """
    named = _worlds_by_name(worlds)
    _check_measures(measures)
    sizes = _sizes_of(n)
    check_whole("n_datasets", n_datasets, 1)
    check_truth(truth)
    if workers is not None:
        check_whole("workers", workers, 1)
    threads = get_threads()
    truths = {
        (name, key): value
        for name, world in named.items()
        for key, value in truths_of(world, measures, truth).items()
    }
    seed = _resumable_seed(rng, path)
    keys = [
        BatchKey(name, size, batch)
        for name in named
        for size in sizes
        for batch in range(len(batches(size, n_datasets)))
    ]
    saved = None
    if path is not None:
        saved = Checkpoint(path, _settings_of(named, measures, int(n_datasets), seed))
    finished = {} if saved is None else saved.finished
    identities = {name: world_identity(world) for name, world in named.items()}

    def score(key: BatchKey) -> Numbers:
        start, stop = batches(key.n, n_datasets)[key.batch]
        chance = stream(seed, identities[key.world], key.n, key.batch)
        sets = draw_sets(named[key.world], stop - start, key.n, chance)
        numbers = score_sets(sets, measures)
        if saved is not None:
            saved.add(key, numbers)
        return numbers

    todo = [key for key in keys if key not in finished]
    try:
        if workers is not None:
            set_threads(int(workers))
        with stage(f"{len(todo):,} batches of datasets"):
            fresh = _all_scored(score, todo)
    finally:
        if workers is not None:
            set_threads(threads)
        if saved is not None:
            saved.close()
    found = _collected(named, measures, sizes, {**finished, **fresh}, truths, truth)
    check_truth(truth, {row.measure for row in found.rows})
    return found


def _worlds_by_name(worlds: Any) -> dict[str, Any]:
    """Return worlds by name; one alone is named by its repr."""
    named = dict(worlds) if isinstance(worlds, Mapping) else {repr(worlds): worlds}
    if not named:
        raise must_be("worlds", "a world, or worlds by name", worlds)
    for name, world in named.items():
        draws = hasattr(world, "sample_many") or hasattr(world, "sample")
        if not isinstance(name, str) or not draws or not hasattr(world, "true_error"):
            raise must_be("worlds", "a world, or worlds by name", world)
    return named


def _check_measures(measures: Any) -> None:
    """Raise InputError unless these are functions by name."""
    good = isinstance(measures, Mapping) and len(measures) > 0
    if not good or not all(isinstance(k, str) and callable(m) for k, m in measures.items()):
        hint = 'such as {"ece": tu.BinnedError()}'
        raise must_be("measures", "a mapping of names to functions", measures, hint=hint)
    for name, measure in measures.items():
        if isinstance(measure, type):
            hint = f"call the class of {name!r}"
            raise must_be("measures", "contain instances, not classes", measure, hint=hint)


def _sizes_of(n: Any) -> list[int]:
    """Return the numbers of rows, one or several."""
    several = isinstance(n, Sequence | np.ndarray) and not isinstance(n, str)
    sizes = list(n) if several else [n]
    if not sizes or not all(is_whole(size, 1) for size in sizes) or len(set(sizes)) < len(sizes):
        raise must_be("n", "a whole number of at least 1, or several that are distinct", n)
    return [int(size) for size in sizes]


def _resumable_seed(rng: Any, path: Any) -> int:
    """Return the seed, or draw one from the generator."""
    if is_whole(rng, 0):
        return int(rng)
    if path is not None:
        raise must_be("rng", "a whole number if a path is given, to resume the study", rng)
    return seed_of(rng)


def _settings_of(
    worlds: Mapping[str, Any], measures: Mapping[str, Measure], n_datasets: int, seed: int
) -> dict[str, Any]:
    """Return everything that the numbers of a batch depend on."""
    return {
        "rng": seed,
        "n_datasets": n_datasets,
        "worlds": {name: world_identity(world) for name, world in worlds.items()},
        "measures": {name: identity(measure) for name, measure in measures.items()},
        "versions": {"trueup": version("trueup"), "numpy": np.__version__, "engine": in_use()},
        "draws": DRAWS,
        "batches": [BATCH_ROWS, BATCH_SETS],
    }


def _all_scored(score: Any, todo: list[BatchKey]) -> dict[BatchKey, Numbers]:
    """Compute batches on threads; the first failure, or an interrupt, stops all of them."""
    stopped = threading.Event()

    def work(first: int, last: int) -> list[Numbers]:
        if stopped.is_set():
            return []
        try:
            scored = [score(key) for key in todo[first:last]]
        except BaseException:
            stopped.set()
            raise
        return scored

    parts = run(work, [(i, i + 1) for i in range(len(todo))], tell=True)
    return dict(zip(todo, (numbers for part in parts for numbers in part), strict=True))


def _collected(
    worlds: Mapping[str, Any],
    measures: Mapping[str, Measure],
    sizes: list[int],
    scored: Mapping[BatchKey, Numbers],
    truths: dict[tuple[str, str], float],
    truth: Truth,
) -> Study:
    rows, values = [], {}
    for world in worlds:
        for n in sizes:
            mine = sorted(key for key in scored if (key.world, key.n) == (world, n))
            parts = [scored[key] for key in mine]
            for name in _names(parts, measures):
                column = np.concatenate([part[name] for part in parts])
                column.flags.writeable = False
                if (world, name) not in truths:
                    truths[world, name] = truths_of(worlds[world], {name: None}, truth)[name]
                values[world, name, n] = column
                rows.append(StudyRow.of(world, name, n, column, truths[world, name]))
    return Study(tuple(rows), values)


def _names(parts: list[Numbers], measures: Mapping[str, Measure]) -> list[str]:
    """Return the names of the numbers of a configuration, in the order of the measures."""
    names = list(parts[0])
    if any(list(part) != names for part in parts):
        rule = "functions that return numbers with the same names for every dataset"
        raise must_be("measures", rule, sorted({name for part in parts for name in part}))
    order = list(measures)
    return sorted(names, key=lambda name: order.index(_measure_of(name, order)))


def _measure_of(name: str, measures: list[str]) -> str:
    if name in measures:
        return name
    return max((m for m in measures if name.startswith(f"{m}.")), key=len)
