"""The error of every class by itself, for any estimator."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from trueup.calls.hints import hinted
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
    """Measure every class by itself: which probabilities are wrong, and in which direction?

    Each class is the binary question "is it this class?" (Nixon et al. 2019, Figs. 2 and 11),
    or, for an estimator that looks through `TopLabelByClass`, the top-label question for rows
    with that prediction.

    Parameters
    ----------
    estimator
        Any estimator, such as ``tu.SweepError()``, or a named metric, such as ``tu.ece``. Its
        ``where=`` is kept.
    probs, labels, weights
        As for every metric; a `Forecasts` in place of the first two.
    logits
        Whether the predictions are logits.

    Returns
    -------
    ResultTable
        ``class``, ``share`` (of the class in an average), ``mean_score``, ``mean_label``,
        ``gap`` (mean label − mean score: negative where the class is predicted too often) and
        ``error``; NaN where a region ``where=`` holds no prediction.

    Notes
    -----
    Rare classes have noisy errors, biased upwards for plug-in estimators: a long tail of small
    classes with large errors is what chance alone gives. Cost: that of the estimator on n rows,
    for each class.

    Examples
    --------
    >>> import trueup as tu
    >>> table = class_errors(tu.ece, [[0.7, 0.2, 0.1], [0.6, 0.3, 0.1]], [0, 1])
    >>> table["error"].round(3).tolist()
    [0.45, 0.45, 0.1]
    """
    if not callable(estimator) or isinstance(estimator, type):
        rule = "an estimator, such as SweepError(), or a named metric"
        raise must_be("estimator", rule, estimator)
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
