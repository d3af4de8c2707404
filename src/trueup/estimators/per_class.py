"""The error of each class separately, for any estimator."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from trueup.calls.hints import hinted, no_metric
from trueup.errors import must_be
from trueup.estimators.base import known_estimator
from trueup.forecasts import Forecasts
from trueup.lens import Binary, ClassWise, Member, TopLabel, forecasts_of
from trueup.tables.columns import Part, ResultTable

ANY_CLASS = (Binary(), TopLabel())  # lenses that say nothing of a class


@hinted
def class_errors(
    estimator: Callable[..., float],
    probs: object,
    labels: object = None,
    *,
    weights: object = None,
    logits: bool = False,
) -> ResultTable:
    """Compute the calibration error of each class, with its direction.

    For each class, the outcome is "the label is this class" (Nixon et al. 2019, Figs. 2 and 11).
    With the lens `TopLabelByClass`, it is the top-label outcome in the rows with that predicted
    class. Use it to find the classes whose probabilities are wrong. Errors of rare classes are
    noisy, and biased upward for plug-in estimators: sampling noise alone gives a long tail of small
    classes with large errors. Cost: that of the estimator on n rows, for each class.

    Parameters
    ----------
    estimator : Estimator or named metric
        Any estimator, such as ``tu.SweepError()``, or a named metric, such as ``tu.ece``. Its
        ``where=`` is kept.
    probs : array_like or Forecasts
        Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data.
    labels : array_like, optional
        Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
    weights : array_like, optional
        Weight of each row (default: all rows count the same).
    logits : bool, default False
        Whether `probs` holds logits instead of probabilities.

    Returns
    -------
    ResultTable
        One row per class: ``class``, ``share`` (weight of the class in an average), ``mean_score``,
        ``mean_label``, ``gap`` (mean label − mean score: negative if the class is overpredicted)
        and ``error``. A value is NaN if the region ``where=`` holds no prediction.

    Examples
    --------
    >>> import trueup as tu
    >>> table = class_errors(tu.ece, [[0.7, 0.2, 0.1], [0.6, 0.3, 0.1]], [0, 1])
    >>> table["error"].round(3).tolist()
    [0.45, 0.45, 0.1]
    """
    if not callable(estimator) or isinstance(estimator, type):
        rule = "an estimator, such as SweepError(), or a named metric"
        raise no_metric("estimator", rule, estimator)
    forecasts = Forecasts.from_arrays(probs, labels, weights=weights, logits=logits)
    given = known_estimator(estimator)
    lens = None if given is None else given.own_lens
    if lens is not None and lens.induces != "family" and lens.everywhere not in ANY_CLASS:
        rule = "have no lens, or Binary(), TopLabel(), ClassWise() or TopLabelByClass()"
        raise must_be("estimator", rule, estimator)
    if lens is None or lens.induces != "family":
        lens = ClassWise(where=None if lens is None else lens.where)
    one: Callable[..., float] = estimator if given is None else given
    if given is not None and given.takes_lens:
        one = given.through(Binary())  # the pairs of a class, as they are
    family: Any = lens
    found = family.map_members(forecasts, lambda member: _measure(one, member, forecasts.tiny))
    return ResultTable.from_parts(found)


def _measure(estimator: Callable[..., float], member: Member, tiny: float) -> Part:
    pairs, about = member.pairs, {"class": member.name, "share": member.share}
    if len(pairs) == 0:
        return about, (math.nan, math.nan), {"error": math.nan}
    return about, pairs.means, {"error": float(estimator(forecasts_of(pairs, tiny)))}
