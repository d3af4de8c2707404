"""Errors without bins: running sums of label − score in the order of the score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from trueup._typing import Floats, Ints
from trueup.checks import check_choice
from trueup.engines.select import engine
from trueup.engines.sums import running_sums
from trueup.estimators.pairs_estimator import PairsEstimator, Part
from trueup.estimators.ties import TiedScores
from trueup.lens import Pairs
from trueup.tables import Curve

MOST_POINTS = 2001


@dataclass(frozen=True, repr=False)
class CumulativeError(PairsEstimator):
    r"""Largest cumulative sum of label − score, or the range of the sums: an error without bins.

    With :math:`D_t = \frac{1}{\sum_i w_i}\sum_{p_i \le t} w_i (p_i - y_i)`, ``"ks"`` is
    :math:`\max_t |D_t|` and ``"kuiper"`` is :math:`\max_t D_t - \min_t D_t`, with the empty sum 0
    included. Sums are taken at the ends of groups of tied scores, so that the order of rows does
    not matter.

    Parameters
    ----------
    lens : Lens, optional
        The part of a prediction to measure. The default is `Binary` for 1-D probabilities
        and `TopLabel` for a matrix. With `ClassWise` every class has its own error.
    statistic : {"ks", "kuiper"}, default "ks"
        ``"ks"`` is the worst error from the lowest score up (Kolmogorov and Smirnov); ``"kuiper"``
        is the worst error of any range of scores, never below ``"ks"``.

    Notes
    -----
    Use it if no choice of bins should matter. If scores are too high everywhere, or too low
    everywhere, both statistics equal the difference between the mean score and the mean label.
    Errors that change sign cancel in part: both are then below the mean absolute error of the
    scores. For a calibrated model, sampling noise gives about :math:`0.5\,n^{-1/2}`, not 0. Cost:
    one sort.

    `measure` notes the location: the ``score`` up to which the largest sum runs or, for
    ``"kuiper"``, the range of scores from ``low`` to ``high``, both included. The table is the
    curve to plot: ``share`` (fraction of the weight up to each score), ``score``, and
    ``difference`` :math:`-D_t`, which is positive if predictions up to this score are too low in
    total. Where the curve increases, predictions are too low by the slope of the curve. The curve
    starts at (0, 0, 0).

    References
    ----------
    Gupta, Rahimi, Ajanthan, Mensink, Sminchisescu & Hartley 2020, "Calibration of neural networks
    using splines"; Arrieta-Ibarra, Gujral, Tannen, Tygert & Xu 2022, "Metrics of calibration for
    probabilistic predictions".

    Examples
    --------
    >>> CumulativeError()([0.25, 0.5, 0.75, 0.75], [0, 1, 0, 0])
    0.3125
    >>> CumulativeError(statistic="kuiper").measure([0.25, 0.5, 0.75, 0.75], [0, 1, 0, 0]).notes
    {'low': 0.75, 'high': 0.75}
    """

    statistic: str = "ks"
    of_residuals: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("statistic", self.statistic, "ks", "kuiper")

    def measure_pairs(self, pairs: Pairs) -> Part:
        """Compute the cumulative sums of one set of pairs."""
        groups = TiedScores.of(pairs)
        weight = running_sums(groups.weight)
        difference = running_sums(-groups.residual) / weight[-1]
        shown = _points_to_show(difference)
        columns = {
            "share": weight / weight[-1],
            "score": np.concatenate([[0.0], groups.value]),
            "difference": difference,
        }
        curve = Curve({name: column[shown] for name, column in columns.items()})
        if self.statistic == "ks":
            worst = int(np.argmax(np.abs(difference[1:])))
            at: dict[str, Any] = {"score": float(groups.value[worst])}
            return Part(float(abs(difference[1 + worst])), curve, at)
        first, last = sorted((int(np.argmin(difference)), int(np.argmax(difference))))
        low, high = groups.value[min(first, len(groups) - 1)], groups.value[max(last - 1, 0)]
        at = {"low": float(low), "high": float(high)}
        return Part(float(abs(difference[last] - difference[first])), curve, at)

    def power_of_ties(self, ties: TiedScores) -> float:
        """Compute the largest sum, or the range of sums, alone."""
        lowest, highest = engine.sweep.extreme_sums(ties.count_residual)
        largest = max(highest, -lowest) if self.statistic == "ks" else highest - lowest
        return largest / float(ties.total)


def _points_to_show(difference: Floats) -> Ints:
    """Return all points, or points at even ranks with the two extremes if there are many."""
    n = len(difference)
    if n <= MOST_POINTS:
        return np.arange(n)
    even = np.arange(MOST_POINTS) * (n - 1) // (MOST_POINTS - 1)
    return np.unique(np.r_[even, np.argmin(difference), np.argmax(difference)])
