"""Distance of predictions from a smooth calibration curve: ICI, E50, E90 and Emax."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.checks import is_number
from trueup.errors import must_be
from trueup.estimators.base import Ends
from trueup.estimators.bin_free.loess import ROUNDING, Loess, in_largest_unit
from trueup.estimators.clinical import clinical_lens
from trueup.estimators.pairs_estimator import PairsEstimator, Part
from trueup.estimators.ties import TiedScores
from trueup.forecasts import Forecasts
from trueup.lens import Lens, Pairs
from trueup.tables import Curve


@dataclass(frozen=True, repr=False)
class CurveError(PairsEstimator):
    """Distance between predictions and a loess calibration curve (Austin & Steyerberg 2019).

    Let :math:`c(p)` be the loess fit of the labels at p (degree 2, tricube weights, not limited to
    [0, 1]). The error is the mean, or a quantile, of :math:`|p_i - c(p_i)|` over the rows: the
    integrated calibration index ICI (``quantile=None``), E50 (0.5), E90 (0.9) and Emax (1.0).

    Parameters
    ----------
    lens : Lens, optional
        The part of a prediction to measure. The default is `Binary` for 1-D probabilities
        and two columns. More columns need a lens, such as ``OneVsRest(c)``.
    quantile : float, optional
        Quantile of the distances, from 0 to 1 (default: their mean).
    span : float, default 0.75
        Fraction of the rows in the window of each local fit, as in R and in the paper.

    Notes
    -----
    Use it if clinicians will read the result: it is on the scale of probabilities and has no bins.
    It is not 0 for a calibrated model, because the curve follows sampling noise, to about the
    standard error of a local mean. Emax is affected most, by the ends of the curve, which can leave
    [0, 1]. A span of 0.75 also smooths away local errors. If most rows share one score, windows
    next to it hold few rows and the curve there is ragged.

    The curve is that of R's ``loess(y ~ p)`` with ``surface = "direct"``; `Loess.of` documents
    ties, weights and more than 2048 distinct scores. R's default surface interpolates from a
    few fits: in one published example of 1,000 rows its ICI differs by 0.6% and its Emax by 6%.
    Quantiles are of R's type 7 (NumPy's "linear"). Rows are counted in the largest unit that
    divides the weights of all scores, so that a weight of 3 counts as three rows, and scaling all
    weights changes nothing. For weights without a common unit, a quantile is the smallest error
    that the fraction ``quantile`` of the weight does not exceed.

    The table is the curve: ``score`` and ``mean_label`` at the fitted points. Cost: a sort, then
    one fit to 75% of the rows at each of up to 2048 distinct scores. With more scores, about 400 to
    900 points are fitted (never more than 6144). A fit adds up sums that are kept for blocks of
    scores, so its work grows with the logarithm of the rows: a bootstrap interval of 12,000 rows
    takes a few seconds.

    References
    ----------
    Austin & Steyerberg 2019, "The Integrated Calibration Index (ICI) and related metrics for
    quantifying the calibration of logistic regression models"; Cleveland & Devlin 1988.

    Examples
    --------
    >>> probs = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    >>> labels = [0, 1, 0, 0, 1, 0, 1, 1]
    >>> round(CurveError()(probs, labels), 4), round(CurveError(quantile=0.9)(probs, labels), 4)
    (0.1135, 0.1995)
    """

    quantile: float | None = None
    span: float = 0.75

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.quantile is not None and not (is_number(self.quantile) and 0 <= self.quantile <= 1):
            raise must_be("quantile", "a number from 0 to 1, or None for the mean", self.quantile)
        if not is_number(self.span) or not 0 < self.span <= 1:
            raise must_be("span", "a number above 0 and up to 1", self.span)

    def default_lens(self, forecasts: Forecasts) -> Lens:
        """Return `Binary`; raise InputError for more than two columns."""
        return clinical_lens(None, forecasts)

    def bounds(self, forecasts: Forecasts) -> Ends:
        """Return 0 and no upper bound: a smoothed curve may leave [0, 1]."""
        return Ends(0.0, math.inf)

    def measure_pairs(self, pairs: Pairs) -> Part:
        """Fit the curve of one set of pairs and measure the distances from it."""
        groups = TiedScores.of(pairs)
        curve = Loess.of(groups, self.span)
        errors = np.abs(groups.value - curve.everywhere)
        if self.quantile is None:
            weight = groups.sums.weight
            value = float(np.sum(weight * errors) / np.sum(weight))
        else:
            value = quantile_of(errors, groups.rank, float(self.quantile))
        table = Curve({"score": curve.score, "mean_label": curve.height})
        return Part(value, table, {"fitted": len(curve.score), "distinct": len(groups)})


def quantile_of(errors: Floats, rank: NDArray[Any], level: float) -> float:
    """Return the quantile of errors that each count as ``rank`` rows, or as that much weight."""
    order = np.argsort(errors, kind="stable")
    errors, end = errors[order], np.cumsum(in_largest_unit(rank)[order])
    if end.dtype != np.int64:
        where = np.searchsorted(end, level * end[-1] * (1 - ROUNDING))
        return float(errors[min(int(where), len(errors) - 1)])
    place = level * (int(end[-1]) - 1)
    around = (int(place), math.ceil(place))
    below, above = (errors[np.searchsorted(end, whole, side="right")] for whole in around)
    return float(below + (place - int(place)) * (above - below))
