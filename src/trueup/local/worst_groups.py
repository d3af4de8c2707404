"""Comparison of local errors with the errors of the worst group."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trueup._typing import Floats
from trueup.bins import EqualWidth
from trueup.checks import check_whole
from trueup.errors import Argument, InputError, must_be
from trueup.estimators import BinnedError
from trueup.forecasts import Forecasts
from trueup.forecasts.arrays import as_floats, as_numpy
from trueup.forecasts.policy import Policy
from trueup.forecasts.sample_data import rows_of_groups, same_length, weights_of
from trueup.lens import Lens
from trueup.local.bandwidth import checked_bandwidths
from trueup.local.device import device_of
from trueup.local.local_error import LocalError
from trueup.tables import ResultTable


def max_group_mce(
    probs: object,
    labels: object = None,
    groups: object = None,
    *,
    n_bins: int = 15,
    min_rows: int = 1,
    lens: Lens | None = None,
    weights: object = None,
    logits: bool = False,
) -> float:
    """Maximum over groups of the maximum calibration error: the worst bin of the worst group.

    It is the fairness metric of Luo et al. 2022, §5.3. It is mostly sampling noise if a bin of a
    small group holds few rows: a bin with one row has an error of up to 1. `group_errors` has
    intervals and tests for each group.

    Parameters
    ----------
    probs : array_like or Forecasts
        Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` made with ``groups``.
    labels : array_like, optional
        Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
    groups : array_like, optional
        Group of each row: names or numbers.
    n_bins : int, default 15
        Number of equal-width bins of the confidence, for each group separately.
    min_rows : int, default 1
        Groups with fewer rows are skipped.
    lens : Lens, optional
        Lens, as for `BinnedError`.
    weights : array_like, optional
        Weight of each row (default: all rows count the same).
    logits : bool, default False
        Whether `probs` holds logits instead of probabilities.

    Returns
    -------
    float
        The largest error.

    Examples
    --------
    >>> round(max_group_mce([0.7, 0.7, 0.6, 0.6], [1, 1, 0, 1], ["a", "a", "b", "b"]), 3)
    0.3
    """
    check_whole("min_rows", min_rows, 1)
    forecasts = Forecasts.from_arrays(probs, labels, weights=weights, groups=groups, logits=logits)
    worst = BinnedError(lens, EqualWidth(n_bins), math.inf)
    found = [
        worst(forecasts.take(rows))
        for _, rows in rows_of_groups(forecasts.groups)
        if len(rows) >= min_rows
    ]
    if not found:
        raise must_be("min_rows", "at most the number of rows of the largest group", min_rows)
    return max(found)


def with_local_errors(
    table: ResultTable, groups: object, gaps: object, *, weights: object = None
) -> ResultTable:
    """Add local errors to a table of group errors, such as ``group_errors(...).table``.

    Use it to find groups in which errors cancel: the mean gap is near 0, but the local errors are
    not.

    Parameters
    ----------
    table : ResultTable
        A table with a column ``group``.
    groups : array_like
        Group of each row.
    gaps : array_like
        Local gaps of the same rows, such as ``LocalError().gaps(probs, labels, features)``; NaN
        rows are dropped.
    weights : array_like, optional
        Weights of the same rows, for means and fractions; rows of weight 0 are dropped.

    Returns
    -------
    ResultTable
        The table with the columns ``mean_local_gap``, ``mean_lce`` and ``max_lce`` of the absolute
        gaps, and ``over`` and ``under``: the fractions of rows in whose neighborhood the model is
        overconfident or underconfident.

    Examples
    --------
    >>> table = ResultTable({"group": np.array(["a", "b"])})
    >>> joined = with_local_errors(table, ["a", "a", "b"], [0.2, -0.2, 0.1])
    >>> joined["mean_lce"], joined["mean_local_gap"]
    (array([0.2, 0.1]), array([0. , 0.1]))
    """
    names = as_numpy("groups", groups)
    errors = as_floats("gaps", as_numpy("gaps", gaps)).astype(np.float64)
    same_length("gaps", errors, len(names), "groups")
    given = weights_of(weights, len(names), Policy(probs="groups"))
    weight = np.ones(len(names)) if given is None else given
    rows = dict(rows_of_groups(names))
    found = []
    for name in table["group"].tolist():
        if name not in rows:
            rule = ("must contain the groups of ", Argument("table"), f"; {name!r} is missing")
            raise InputError("groups", rule)
        part, w = errors[rows[name]], weight[rows[name]]
        used = ~np.isnan(part) & (w > 0)
        part, w = part[used], w[used]
        if len(part) == 0:
            raise InputError("gaps", f"must have a value in a row of group {name!r}")
        found.append(
            {
                "mean_local_gap": float(np.average(part, weights=w)),
                "mean_lce": float(np.average(np.abs(part), weights=w)),
                "max_lce": float(np.abs(part).max()),
                "over": float(np.average(part < 0, weights=w)),
                "under": float(np.average(part > 0, weights=w)),
            }
        )
    return ResultTable(table.columns() | ResultTable.from_rows(found).columns())


def mlce_group_correlation(
    models: Mapping[str, object],
    labels: object,
    groups: object,
    features: object,
    *,
    bandwidths: Sequence[float | None] = (None,),
    estimator: LocalError | None = None,
    n_bins: int = 15,
    min_rows: int = 1,
    weights: object = None,
    logits: bool = False,
) -> ResultTable:
    """Correlate MLCE with `max_group_mce` over several models (Luo et al. 2022, Table 2).

    If the correlation is high, the local error shows which models treat groups equally, without
    information about the groups.

    Parameters
    ----------
    models : dict of str to array_like
        Probabilities of each model for the same rows, by name: recalibrators, seeds, or both.
    labels : array_like
        Observed labels, shape (n,).
    groups : array_like
        Group of each row.
    features : array_like
        Features of each row, shape (n, d).
    bandwidths : sequence of float or None
        Bandwidths, one per row of the result; None is the rule of thumb.
    estimator : LocalError, optional
        The local error (default ``LocalError()``). ``bandwidths`` replace its bandwidth, and its
        lens is used for the errors of groups too.
    n_bins : int, default 15
        Number of bins of `max_group_mce`.
    min_rows : int, default 1
        Groups with fewer rows are skipped.
    weights : array_like, optional
        Weight of each row.
    logits : bool, default False
        Whether the models give logits.

    Returns
    -------
    ResultTable
        ``bandwidth`` as used, Pearson's ``correlation`` over the models (NaN for fewer than 3
        models, or if one of the two errors is constant), and ``n`` models.

    Examples
    --------
    >>> models = {"a": [0.9, 0.8, 0.7, 0.6], "b": [0.8, 0.7, 0.6, 0.5], "c": [0.7, 0.6, 0.6, 0.5]}
    >>> groups, features = ["a", "a", "b", "b"], [0.0, 1.0, 2.0, 3.0]
    >>> table = mlce_group_correlation(models, [1, 1, 1, 0], groups, features)
    >>> table["n"].tolist()
    [3]
    """
    measure = LocalError() if estimator is None else estimator
    if not isinstance(measure, LocalError) or measure.kernel == "group":
        raise must_be("estimator", 'a LocalError with a kernel other than "group"', estimator)
    gammas = checked_bandwidths(bandwidths, or_none=True)
    if not isinstance(models, Mapping) or len(models) == 0:
        raise must_be("models", "a dictionary of probabilities by name", models)
    same: dict[str, Any] = {"weights": weights, "logits": logits}
    options = {"n_bins": n_bins, "min_rows": min_rows, "lens": measure.lens, **same}
    worst, local, used = [], [], []
    for probs in models.values():
        worst.append(max_group_mce(probs, labels, groups, **options))
        data = Forecasts.from_arrays(probs, labels, features=features, **same)
        problem = measure.problem(data, device_of(features))
        sums = [problem.sums(measure.kernel, gamma) for gamma in gammas]
        local.append([float(np.abs(found.gap).max()) for found in sums])
        used = [found.bandwidth for found in sums]
    columns = np.array(local).T
    return ResultTable(
        {
            "bandwidth": np.array(used, np.float64),
            "correlation": np.array([_correlation(column, np.array(worst)) for column in columns]),
            "n": np.full(len(columns), len(models)),
        }
    )


def _correlation(x: Floats, y: Floats) -> float:
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    return float(np.corrcoef(x, y)[0, 1])
