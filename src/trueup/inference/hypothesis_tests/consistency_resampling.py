"""Consistency resampling: the distribution of a statistic for a calibrated model.

Labels are drawn from the predictions, one per row from its whole distribution, and the statistic is
recomputed (Bröcker & Smith 2007; Vaicenavicius et al. 2019, §4.2 and 4.3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Bits, Floats, Ints
from trueup.calls.hints import no_metric
from trueup.engines.blocks import cut, row_blocks
from trueup.engines.draw_keys import class_limits, keys_of, limits_of
from trueup.engines.select import engine
from trueup.engines.threads import run
from trueup.errors import InputError
from trueup.estimators.base import Estimator, known_estimator
from trueup.forecasts import Forecasts
from trueup.inference.hypothesis_tests.binned_resamples import can_fuse, fused_powers
from trueup.inference.hypothesis_tests.calibration_functions import (
    NAME,
    CalibrationFunction,
    followed,
    name_of,
    of_outcomes,
)
from trueup.inference.hypothesis_tests.null_distribution import (
    certain_pvalue,
    check_test,
    resampled_pvalue,
    resampling_notes,
)
from trueup.inference.hypothesis_tests.sorted_resamples import null_powers, sorted_problem
from trueup.lens import Binary, binary_problem
from trueup.metrics import rmsce_debiased
from trueup.results import CalibrationTestResult
from trueup.seeds import Seed, seed_of

CHUNK_ROWS = 1 << 16  # fewer rows than this, over all resamples of a chunk, are not worth a thread
AT_ONCE = 16  # resamples whose labels are drawn in one pass over a matrix
APART = 2.0**-30  # by how much two copies of a drawn row differ, as a share of p(1 − p)


def consistency(
    forecasts: Forecasts,
    *,
    statistic: Estimator | None,
    n_resamples: int,
    rng: Seed,
    fixed: bool = True,
    calibration_function: CalibrationFunction | None = None,
) -> CalibrationTestResult:
    """Test with fixed predictions, which is exact for any number of rows.

    Without ``fixed``, rows are drawn with replacement before their labels, and the test is
    asymptotic. Copies of a row are then separated by about 1e-9, unless the data have such ties
    themselves. New rows would not tie, and equal-mass bins of tied rows differ in size from those
    of the data.

    With a calibration function ρ, labels are drawn from ρ(predictions), and the statistic compares
    them with the predictions.
    """
    estimator = rmsce_debiased.estimator() if statistic is None else statistic
    check_test(forecasts, n_resamples)
    if known_estimator(estimator, "statistic") is None:
        rule = "an estimator, such as BinnedError(), a metric, such as ece, or None"
        raise no_metric("statistic", rule, estimator)
    seed = seed_of(rng)
    law = None if calibration_function is None else followed(forecasts, calibration_function)
    induced, problem = induced_problem(estimator, forecasts)
    if law is not None and problem is not forecasts:
        probs = of_outcomes(estimator.lens_for(forecasts), forecasts, law)
        law = problem.with_probs(probs)
    agree = all_certain(problem if law is None else law)
    if agree is not None:
        pvalue = certain_pvalue(agree, n_resamples)
        found = _result(estimator, forecasts, pvalue, n_resamples, fixed, {}, None)
    else:
        resample = resampled_powers if fixed else _unconditional_powers
        powers = resample(induced, problem, seed, n_resamples, law)
        found = conclude(estimator, forecasts, powers, fixed=fixed)
    if calibration_function is None:
        return found
    name = name_of(calibration_function)
    null = _null(forecasts, fixed, f"{NAME} of its prediction ({name})")
    return replace(found, null=null, notes=found.notes | {NAME: name})


def conclude(
    statistic: Estimator,
    forecasts: Forecasts,
    powers: Floats,
    *,
    fixed: bool = True,
) -> CalibrationTestResult:
    """Return the result of a test from the power of the data and those of its resamples."""
    if not np.isfinite(powers).all():
        raise InputError("statistic", "returned NaN or infinity on a resample")
    drawn = powers[1:]
    pvalue = resampled_pvalue(powers[0], drawn)
    return _result(statistic, forecasts, pvalue, len(drawn), fixed, resampling_notes(drawn), drawn)


def _result(
    statistic: Estimator,
    forecasts: Forecasts,
    pvalue: float,
    n_resamples: int,
    fixed: bool,
    notes: dict[str, Any],
    drawn: Floats | None,
) -> CalibrationTestResult:
    found = statistic.measure_forecasts(forecasts)
    if clipped := found.notes.get("clipped", 0):
        notes = notes | {"clipped": clipped}
    method = "consistency" if fixed else "consistency-unconditional"
    about = {"estimator": repr(statistic), "n_resamples": n_resamples, "asymptotic": not fixed}
    null = _null(forecasts, fixed)
    return CalibrationTestResult(found.pth_power, pvalue, method, null, about | notes, drawn)


def resampled_powers(
    statistic: Estimator,
    forecasts: Forecasts,
    seed: int,
    n_resamples: int,
    law: Forecasts | None = None,
) -> Floats:
    """Return the power of a statistic for the data, then for resamples of the labels.

    Labels are drawn from the predictions of ``law``, by default the forecasts themselves.
    """
    keys = keys_of(seed, n_resamples)
    in_family = statistic.lens_for(forecasts).induces == "family"
    if can_fuse(statistic, forecasts) and (law is None or not in_family):
        return fused_powers(statistic, forecasts, keys, law)
    ready = sorted_problem(statistic, forecasts, law)
    if ready is not None:
        return null_powers([statistic], ready, seed, n_resamples)[0]
    draw = label_drawer(forecasts if law is None else law)

    def some(first: int, last: int) -> list[float]:
        return [
            statistic.measure_forecasts(forecasts.with_labels(labels)).pth_power
            for start in range(first, last, AT_ONCE)
            for labels in draw(keys[start : min(start + AT_ONCE, last)])
        ]

    return _together(some, statistic, forecasts, n_resamples)


def _unconditional_powers(
    statistic: Estimator,
    forecasts: Forecasts,
    seed: int,
    n_resamples: int,
    law: Forecasts | None = None,
) -> Floats:
    """Return the power of a statistic for the data, then for resampled rows with drawn labels."""
    keys = keys_of(seed, 2 * n_resamples)  # for each resample one for its rows, one for labels
    alone = _alone(forecasts)

    def one(r: int) -> float:
        drawn = engine.draws.draw_rows(forecasts.n, keys[2 * r])
        rows = _apart(forecasts.take(drawn), drawn, alone)
        drawn_from = rows if law is None else law.take(drawn)
        (labels,) = label_drawer(drawn_from)(keys[2 * r + 1 : 2 * r + 2])
        return statistic.measure_forecasts(rows.with_labels(labels)).pth_power

    def some(first: int, last: int) -> list[float]:
        return [one(r) for r in range(first, last)]

    return _together(some, statistic, forecasts, n_resamples)


def _alone(forecasts: Forecasts) -> NDArray[np.bool_]:
    """Return which rows have unique predictions."""
    rows = forecasts.rows(slice(None)) if forecasts.is_matrix else forecasts.scores
    _, number, count = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(count[number.reshape(-1)] == 1)


def _apart(rows: Forecasts, drawn: Ints, alone: NDArray[np.bool_]) -> Forecasts:
    """Separate copies of a drawn row, unless the row has ties in the data."""
    order = np.argsort(drawn, kind="stable")
    ordered = drawn[order]
    first = np.searchsorted(ordered, ordered)
    copy = np.empty(len(drawn), np.float64)
    copy[order] = np.arange(len(drawn)) - first
    step = APART * np.where(alone[drawn], copy, 0.0)
    if not rows.is_matrix:
        p = rows.scores.astype(np.float64)
        return rows.with_probs(p - step * p * (1 - p))
    g = rows.rows(slice(None))
    g **= 1 + step[:, None]  # zeros and the order of classes stay
    g /= g.sum(axis=1, keepdims=True)
    return rows.with_probs(g)


def _together(
    some: Callable[[int, int], list[float]],
    statistic: Estimator,
    forecasts: Forecasts,
    n_resamples: int,
) -> Floats:
    """Return the power of the data, and the powers of all resamples, computed by threads."""
    parts = run(some, cut(n_resamples, -(-CHUNK_ROWS // forecasts.n)), tell=True)
    observed = statistic.measure_forecasts(forecasts).pth_power
    return np.array([observed, *(power for part in parts for power in part)])


def label_drawer(forecasts: Forecasts) -> Callable[[Bits], list[NDArray[Any]]]:
    """Return a function that draws labels for all rows, with one array per key."""
    if not forecasts.is_matrix:
        limit = limits_of(forecasts.scores)
        return lambda keys: [engine.draws.draw_labels(limit, key) for key in keys]

    def draw(keys: Bits) -> list[NDArray[Any]]:
        labels = np.empty((len(keys), forecasts.n), np.int64)
        for block in row_blocks(forecasts.n, forecasts.n_classes):
            limits = class_limits(forecasts.rows(block))
            for drawn, key in zip(labels, keys, strict=True):
                drawn[block] = engine.draws.draw_classes(limits, key, block.start)
        return list(labels)

    return draw


def induced_problem(statistic: Estimator, forecasts: Forecasts) -> tuple[Estimator, Forecasts]:
    """Return the binary problem of a statistic that uses one outcome per row, else None.

    If labels follow the predicted distributions, the probability of such an outcome is its score,
    and rows stay independent. Drawing the outcome alone gives the same distribution without reading
    the matrix.
    """
    lens = statistic.lens_for(forecasts)
    if not (statistic.draws_outcomes and lens.one_outcome):
        return statistic, forecasts
    return statistic.through(Binary()), binary_problem(lens, forecasts)


def all_certain(forecasts: Forecasts) -> bool | None:
    """Return whether all predictions of 0 or 1 are correct; None if one is neither 0 nor 1."""
    if forecasts.is_matrix:
        top, predicted = forecasts.top
        return bool((predicted == forecasts.labels).all()) if (top == 1).all() else None
    p = forecasts.scores
    if not ((p == 0) | (p == 1)).all():
        return None
    return bool((p == forecasts.labels).all())


def _null(forecasts: Forecasts, fixed: bool, law: str = "") -> str:
    drawn = (
        "every label follows its whole predicted distribution (canonical calibration)"
        if forecasts.is_matrix
        else "every label is 1 with its predicted probability"
    )
    if law:
        drawn = f"every label follows {law}"
    if fixed:
        return f"conditional on the predictions, {drawn}, independently across rows"
    return f"{drawn}, independently across rows; predictions are resampled"
