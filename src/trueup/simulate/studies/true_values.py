"""The true values of measures in a world, if they are known."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any

import numpy as np

from trueup.checks import is_number
from trueup.errors import must_be
from trueup.estimators.base import known_estimator
from trueup.lens import Binary, Canonical, TopLabel

Truth = Mapping[str, float | Callable[[Any], float]] | Callable[[Any], float] | None
"""A number or a function of the world for each measure, or one function for all of them."""


def check_truth(truth: Any, names: Collection[str] | None = None) -> None:
    """Raise InputError for a measure without numbers, or for a true value of an unknown number."""
    values = truth.values() if isinstance(truth, Mapping) else [truth]
    if not all(value is None or callable(value) or is_number(value) for value in values) or (
        is_number(truth)
    ):
        rule = "a function of the world, or a number or such a function for each measure"
        raise must_be("truth", rule, truth)
    if names is not None and isinstance(truth, Mapping) and not set(truth) <= set(names):
        raise must_be("truth", f"name {', '.join(sorted(names))}", sorted(set(truth) - set(names)))


def truths_of(world: Any, measures: Mapping[str, Any], truth: Truth) -> dict[str, float]:
    """Return the true value of each measure by ``truth``, else its true error, else NaN."""
    true_error = cache(world.true_error)  # an integral is worked out once for all that share it
    found = {}
    for name, measure in measures.items():
        given = truth.get(name) if isinstance(truth, Mapping) else truth
        known = known_estimator(measure, "measures")
        if is_number(given):
            found[name] = float(given)  # type: ignore[arg-type]
        elif given is not None:
            found[name] = float(given(world))  # type: ignore[operator]
        elif known is not None and known.own_norm is not None and known.of_true_error:
            found[name] = _true_error(world, known, true_error)
        else:
            found[name] = math.nan
    return found


def _true_error(world: Any, estimator: Any, true_error: Callable[..., Any]) -> float:
    """Return the world's true error for the estimator's lens, or NaN if it is unknown."""
    lens, norm = estimator.own_lens, estimator.own_norm
    if not _draws_matrices(world):
        return float(true_error(norm)) if lens in (None, Binary()) else math.nan
    lens = TopLabel() if lens is None else lens
    options: dict[str, Any] = {}
    takes = inspect.signature(world.true_error).parameters
    if "distance" in takes and lens.induces == "simplex":
        options["distance"] = estimator.distance
    if "lens" in takes:
        return float(true_error(norm, lens=lens, **options))
    return float(true_error(norm, **options)) if lens == Canonical() else math.nan


def _draws_matrices(world: Any) -> bool:
    chance = np.random.default_rng(0)
    if hasattr(world, "sample_many"):
        return np.ndim(world.sample_many(1, 1, chance)[0]) == 3
    return bool(world.sample(1, chance).is_matrix)
