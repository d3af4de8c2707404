"""Prediction-specific calibration error: every prediction compared with the labels near it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from trueup._typing import Floats, Ints
from trueup.checks import is_number
from trueup.engines.blocks import steps
from trueup.engines.threads import run
from trueup.errors import must_be
from trueup.estimators.pairs_estimator import PairsEstimator, Part
from trueup.forecasts import Forecasts
from trueup.lens import Binary, ClassWise, Lens, Pairs
from trueup.tables import Curve

STEP = 0.01
POINTS = np.arange(101) / 100
BEFORE = np.r_[-1.0, POINTS[:-1]]  # the point below each, one below 0 for the first
LEAST_DECAY = 1e-100  # no weight inside one step underflows
BLOCK_ROWS = 1 << 16  # they fit a cache, and their sums do not drift


@dataclass(frozen=True, repr=False)
class PointwiseError(PairsEstimator):
    r"""Mean distance of predictions from the local accuracy (PSCE of Nixon et al. 2019).

    The local accuracy at the 101 points :math:`c_j = j/100` is a mean of labels with weights
    :math:`d^{|p_i - c_j|/0.01}`, taken on each side and then averaged,

    .. math:: a_j = \frac12 \frac{\sum_{p_i \le c_j} d^{|p_i - c_j|/0.01} y_i}
              {\sum_{p_i \le c_j} d^{|p_i - c_j|/0.01}} + \frac12 \frac{\sum_{p_i \ge c_j} \dots}
              {\sum_{p_i \ge c_j} \dots},

    where a side without rows is ignored. It is linear between points. The value is the mean of
    :math:`|p - a(p)|` over all rows (and classes); `errors` returns every single one.

    Parameters
    ----------
    lens : Lens, optional
        The part of a prediction to measure. The default is `Binary` for 1-D probabilities
        and `ClassWise` for a matrix.
    decay : float, default 0.9
        Weight of a row 0.01 away, relative to a row at the point. The paper does not give a value.

    Notes
    -----
    Use it for single predictions. As one number it is hard to interpret: it is **not 0 for a
    calibrated model** near 0 and 1, where all neighbors of a score lie on one side. The local
    accuracy near 0 is too high, near 1 too low, and in small samples sampling noise adds to the
    error. Compare values of one decay only.

    Each side counts half, however distant its rows are. A score on a point k/100 counts on both
    sides, a score next to it on one side only. If many scores are 1, or round numbers, a change in
    the last digit can change single errors by a lot.

    The table is the curve: ``score``, ``mean_label``, and ``weight``, the sum of all decayed
    weights, which shows how much data a point has. Cost: two passes over the data.

    References
    ----------
    Nixon, Dusenberry, Zhang, Jerfel & Tran 2019, "Measuring calibration in deep learning", §5.4 and
    App. A.2.

    Examples
    --------
    >>> round(PointwiseError()([0.5, 0.5, 0.5, 0.5], [0, 1, 1, 1]), 6)
    0.25
    >>> PointwiseError().errors([0.2, 0.5, 0.5, 0.9], [0, 1, 0, 1]).round(3).tolist()
    [0.18, 0.003, 0.003, 0.093]
    """

    decay: float = 0.9

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_number(self.decay) or not LEAST_DECAY <= self.decay <= 1:
            raise must_be("decay", f"a number from {LEAST_DECAY} to 1", self.decay)

    def default_lens(self, forecasts: Forecasts) -> Lens:
        """Return `ClassWise` for a matrix, `Binary` for 1-D probabilities."""
        return ClassWise() if forecasts.is_matrix else Binary()

    def measure_pairs(self, pairs: Pairs) -> Part:
        """Compute the curve of one set of pairs and the mean distance from it."""
        curve = self._curve(pairs)

        def total(start: int, stop: int) -> float:
            away = _distances(pairs, curve["mean_label"], start, stop)
            return float(np.sum(away if pairs.w is None else away * pairs.w[start:stop]))

        weight = len(pairs) if pairs.w is None else float(pairs.w.sum())
        return Part(math.fsum(run(total, steps(len(pairs), BLOCK_ROWS))) / weight, curve)

    def errors(
        self, probs: object, labels: object = None, *, weights: object = None, logits: bool = False
    ) -> Floats:
        """Compute the error |p − a(p)| of every prediction.

        Parameters
        ----------
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
        ndarray
            One number per row or, for `ClassWise`, per row and class, shape (n, K). Rows of weight
            0 are dropped.
        """
        forecasts = Forecasts.from_arrays(probs, labels, weights=weights, logits=logits)
        lens: Any = self.lens_for(forecasts)
        if lens.induces == "pairs":
            return self._errors(lens.problem(forecasts))
        if lens.induces != "family" or lens.divides_rows or lens.where is not None:
            rule = "yield scores, or be ClassWise() without a region"
            raise must_be("lens", rule, lens)
        columns = lens.map_members(forecasts, lambda member: self._errors(member.pairs))
        return np.stack(columns, axis=1)

    def _errors(self, pairs: Pairs) -> Floats:
        accuracy = self._curve(pairs)["mean_label"]
        some = partial(_distances, pairs, accuracy)
        return np.concatenate(run(some, steps(len(pairs), BLOCK_ROWS)))

    def _curve(self, pairs: Pairs) -> Curve:
        # Weights of at most 1: the heaviest row's cannot underflow, so some side has a mean.
        unit = 1.0 if pairs.w is None else float(pairs.w.max())
        sums = run(partial(self._sums, pairs, unit), steps(len(pairs), BLOCK_ROWS))
        below, hits_below, above, hits_above, at = np.sum(sums, axis=0)
        decay = float(self.decay)
        left = _carried(below, hits_below, decay)
        right = _carried(above[::-1], hits_above[::-1], decay)
        right = Side(right.weight[::-1], right.mean[::-1])
        both = 0.5 * left.mean + 0.5 * right.mean
        accuracy = np.where(np.isnan(both), np.fmax(left.mean, right.mean), both)
        weight = np.maximum(left.weight + right.weight - at, 0) * unit
        return Curve({"score": POINTS.copy(), "mean_label": accuracy, "weight": weight})

    def _sums(self, pairs: Pairs, unit: float, start: int, stop: int) -> Floats:
        """Return weight and hits of rows between points, decayed to the next point on each side.

        The result has five rows of 101 numbers: weight and hits of the rows up to one step below
        each point (the point included), the same above, and the weight of rows on the point.
        """
        p = pairs.p[start:stop].astype(np.float64)
        y = pairs.y[start:stop].astype(np.float64)
        upper = _point_above(p)
        on_point = POINTS[upper] == p
        lower = upper - ~on_point
        slope = math.log(self.decay) / STEP
        below, above = np.exp(slope * (POINTS[upper] - p)), np.exp(slope * (p - POINTS[lower]))
        at = on_point.astype(np.float64)
        if pairs.w is not None:
            w = pairs.w[start:stop] / unit
            below, above, at = below * w, above * w, at * w
        terms = ((upper, below), (upper, below * y), (lower, above), (lower, above * y))
        sums = [np.bincount(where, term, len(POINTS)) for where, term in (*terms, (upper, at))]
        return np.stack(sums)


class Side(NamedTuple):
    """Return the decayed weight and mean label of one side at every point; NaN if it is empty."""

    weight: Floats
    mean: Floats


def _carried(weight: Floats, hits: Floats, decay: float) -> Side:
    """Carry decayed sums from point to point: the dynamic program of the paper.

    Sums stay unchanged over steps that add nothing, and are decayed when a row is added. The mean
    of a distant side therefore stays correct even if its weight underflows.
    """
    weights, means = [], []
    total, positive, steps = 0.0, 0.0, 0
    for more, more_hits in zip(weight.tolist(), hits.tolist(), strict=True):
        steps += 1
        if more > 0:
            kept = decay**steps
            total, positive, steps = more + kept * total, more_hits + kept * positive, 0
        weights.append(total * decay**steps)
        means.append(positive / total if total > 0 else math.nan)
    return Side(np.array(weights), np.array(means))


def _point_above(p: Floats) -> Ints:
    """Return the first point at or above each score, without the rounding of 100·p."""
    index: Ints = np.ceil(p * 100).astype(np.int64)
    index -= BEFORE[index] >= p
    index += POINTS[index] < p
    return index


def _distances(pairs: Pairs, accuracy: Floats, start: int, stop: int) -> Floats:
    """Return |p − a(p)| of some rows, with a(p) interpolated between the two nearest points."""
    p = pairs.p[start:stop].astype(np.float64)
    upper = _point_above(p)
    slope = np.diff(accuracy, prepend=accuracy[0]) / (POINTS - BEFORE)
    distances: Floats = np.abs(p - (accuracy[upper] - slope[upper] * (POINTS[upper] - p)))
    return distances
