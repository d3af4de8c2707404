"""Measures of many datasets: in one kernel call if bins are fixed, else one by one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.engines.select import engine
from trueup.engines.types import Sums
from trueup.errors import must_be
from trueup.estimators.base import known_estimator
from trueup.forecasts import Forecasts
from trueup.lens import Binary
from trueup.simulate.worlds.world import DataSets

Measure = Callable[..., Any]
Numbers = dict[str, Floats]
"""The numbers of every measure, by name: one per dataset."""

SAME_NAMES = "functions that return uniquely named numbers, with the same names for every dataset"
SHORT_ROWS = 1000
# Calls so short are mostly Python. Threads that pass its lock to and fro at every kernel take
# twice the time of one, so one calls while the others draw.
_short_calls = threading.Lock()
TINY = float(np.finfo(np.float64).tiny)


def draw_sets(
    world: Any, n_datasets: int, n: int, rng: np.random.Generator
) -> Iterator[Forecasts] | DataSets:
    """Draw datasets as arrays, or one by one if the world cannot draw many."""
    if not hasattr(world, "sample_many"):
        return (world.sample(n, rng) for _ in range(n_datasets))
    probs, labels = world.sample_many(n_datasets, n, rng)
    return DataSets(np.asarray(probs), np.asarray(labels))


def score_sets(sets: Iterator[Forecasts] | DataSets, measures: Mapping[str, Measure]) -> Numbers:
    """Return the numbers of every measure for every dataset; all measures use the same draws."""
    if not isinstance(sets, DataSets):
        return _one_by_one(((f, *_arrays(f)) for f in sets), measures)
    sets = DataSets(sets.probs.view(), sets.labels.view())
    for array in sets:
        array.flags.writeable = False  # what one measure changed, the next would see
    if not _are_plain(sets):
        each = ((Forecasts.from_arrays(p, y), p, y) for p, y in zip(*sets, strict=True))
        return _one_by_one(each, measures)
    known = {name: known_estimator(measure) for name, measure in measures.items()}
    n = sets.probs.shape[1]
    # Bins that are known before the data, and whose sums are enough.
    edges = {
        name: each.edges_before_data(n)
        for name, each in known.items()
        if each is not None and each.own_lens in (None, Binary())
    }
    fast = {name: inner for name, inner in edges.items() if inner is not None}
    slow = {name: m for name, m in measures.items() if name not in fast}
    scored = _in_fixed_bins(sets, known, fast)
    if slow:
        both = zip(*sets, strict=True)
        each = ((Forecasts.from_pairs(p, y, None, TINY), p, y) for p, y in both)
        short = n <= SHORT_ROWS and all(map(_takes_forecasts, slow.values()))
        with _short_calls if short else nullcontext():
            others = _one_by_one(each, slow)
        if not scored.keys().isdisjoint(others):
            raise must_be("measures", SAME_NAMES, sorted([*scored, *others]))
        scored |= others
    return scored


def _in_fixed_bins(
    sets: DataSets, measures: Mapping[str, Any], edges: Mapping[str, Floats]
) -> Numbers:
    sums_of: dict[bytes, Sums] = {}
    scored = {}
    for name, inner in edges.items():
        key = inner.tobytes()
        if key not in sums_of:
            sums_of[key] = engine.bins.batch_bin_sums(sets.probs, sets.labels, inner)
        scored[name] = measures[name].values_of_sums(sums_of[key], sets.probs.shape[1])
    return scored


def _one_by_one(
    each: Iterator[tuple[Forecasts, NDArray[Any], NDArray[Any]]], measures: Mapping[str, Measure]
) -> Numbers:
    takes = {name: _takes_forecasts(measure) for name, measure in measures.items()}
    columns: dict[str, list[float]] = {}
    for r, (forecasts, probs, labels) in enumerate(each):
        for name, measure in measures.items():
            answer = measure(forecasts) if takes[name] else measure(probs, labels)
            found = _numbers_of(name, answer)
            for key, number in found.items():
                columns.setdefault(key, []).append(number)
        if any(len(column) != r + 1 for column in columns.values()):
            raise must_be("measures", SAME_NAMES, sorted(columns))
    return {name: np.array(column) for name, column in columns.items()}


def _takes_forecasts(measure: Any) -> bool:
    """Return whether a measure belongs to trueup and takes checked data."""
    inner = measure.func if isinstance(measure, partial) else measure
    return known_estimator(getattr(inner, "__self__", inner)) is not None


def _numbers_of(name: str, answer: Any) -> dict[str, float]:
    """Yield a number under its measure's name, or the entries of a mapping as ``name.key``."""
    if _is_number(answer):
        return {name: float(answer)}
    found: dict[str, Any] = {}
    if isinstance(answer, Mapping):
        found = dict(answer)
    elif hasattr(answer, "_asdict"):
        found = {key: value for key, value in answer._asdict().items() if _is_number(value)}
    elif is_dataclass(answer) and not isinstance(answer, type):
        every = {field.name: getattr(answer, field.name) for field in fields(answer)}
        found = {key: value for key, value in every.items() if _is_number(value)}
    if not found or not all(map(_is_number, found.values())):
        rule = "functions that return a number, or a mapping or record of numbers"
        raise must_be("measures", rule, answer, hint=f"check the function {name!r}")
    return {f"{name}.{key}": float(value) for key, value in found.items()}


def _is_number(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "biuf"
    return isinstance(value, bool | int | float | np.bool_ | np.integer | np.floating)


def _are_plain(sets: DataSets) -> bool:
    """Return whether all sets are scores in [0, 1] with labels 0 and 1."""
    probs, labels = sets
    return (
        probs.ndim == 2
        and probs.shape == labels.shape
        and probs.size > 0
        and probs.dtype == np.float64
        and labels.dtype in (np.uint8, np.bool_, np.int64)
        and probs.flags.c_contiguous
        and labels.flags.c_contiguous
        and engine.rows.all_pairs_good(probs.reshape(-1), labels.reshape(-1))
    )


def _arrays(forecasts: Forecasts) -> tuple[NDArray[Any], NDArray[Any]]:
    probs = forecasts.rows(slice(None)) if forecasts.is_matrix else forecasts.scores
    return probs, forecasts.labels
