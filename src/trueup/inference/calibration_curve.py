"""The smooth calibration curve with a confidence band: loess, made monotone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trueup._typing import Floats, Ints
from trueup.checks import check_flag, is_number
from trueup.engines.select import engine
from trueup.errors import InputError, must_be
from trueup.estimators.bin_free.loess import widths
from trueup.estimators.ties import TiedScores
from trueup.forecasts import Forecasts
from trueup.inference.arguments import check_level
from trueup.lens import Lens, check_lens, chosen_lens
from trueup.tables import Curve

SPAN, ROWS_OF_SPAN = 0.75, 500  # the window gets smaller from that many balanced rows on
BY_RANK, BY_SCORE = 101, 61  # places of the curve: percentiles of the rows, and steps of the score
TAIL = 0.005  # of the rows at either end, where a fit has neighbors on one side only
FEW_SCORES = 20  # distinct ones: of no more, the tails are shown as well
SCORES = 2000  # of more than twice as many distinct scores, the nearest are put together
CELLS = 300  # scores are put together in twice as many cells at most, for the variance alone
STEPS = 40  # of a bisection: shifts are exact to 1e-10
FLAT_SHARE = 1e-24  # of the weight of a window: what is bent less is a line
FARTHEST = 40.0  # shift of the logit


def calibration_curve(
    probs: object,
    labels: object = None,
    *,
    lens: Lens | None = None,
    span: float | None = None,
    monotone: bool = True,
    confidence_level: float = 0.95,
    weights: object = None,
    logits: bool = False,
) -> Curve:
    r"""Fit the observed rate as a smooth function of the predicted probability.

    The curve is the loess fit of `CurveError` (degree 2, tricube weights) at about 160 scores from
    the 0.5th to the 99.5th percentile. More than 4,000 distinct scores are first combined into at
    most 4,000 groups of close scores. The fit is clipped to [0, 1]. With ``monotone``, the closest
    non-decreasing curve replaces it.

    The band is pointwise: at one score chosen beforehand it covers the true rate, as far as the
    curve can follow it, in about ``confidence_level`` of all samples. In simulations
    (``python -m studies.curve_coverage``) with 500 to 12,000 rows, a 95% band covered smooth true
    rates at 94% to 99.8% of the rows, and a rate that jumps from 0.2 to 0.8 at 77% to 88% of them.
    The whole true curve is inside the band less often than each of its points.

    Parameters
    ----------
    probs : array_like or Forecasts
        Predicted probabilities, (n,) or (n, K).
    labels : array_like, optional
        Labels; not needed with `Forecasts`.
    lens : Lens, optional
        Which part of the prediction is used; by default `Binary` for 1-D probabilities and
        `TopLabel` for a matrix.
    span : float, optional
        Fraction of the rows in the window of each local fit. By default 0.75 up to m = 250 rows of
        the rarer outcome and 0.75 (250/m)^(1/4) for more: a fixed span would smooth away errors
        that many rows show. R's ``loess`` and `CurveError` use 0.75.
    monotone : bool
        Whether the curve and both ends of the band are made non-decreasing.
    confidence_level : float
        Confidence level of the band at each score.
    weights : array_like, optional
        Importance weights.
    logits : bool
        Whether the predictions are logits.

    Returns
    -------
    Curve
        ``score``, ``mean_label``, ``low``, ``high``, and ``weight``, the rows nearest to each
        score. ``low`` and ``high`` are NaN for soft labels and for rows in clusters, because the
        band needs independent outcomes.

    Notes
    -----
    A local fit is a weighted sum :math:`\sum_i l_i y_i` of the labels. The band holds the values
    θ that a score test does not reject. The test shifts the curve on the logit scale until its
    smoothed value is θ, which gives rates :math:`m_i`. It does not reject θ if
    :math:`|\sum_i l_i y_i - θ|` is at most z times the standard deviation
    :math:`(\sum_i l_i^2 m_i (1 - m_i))^{1/2}`. If the curve without the shift has a larger standard
    deviation, that one is used. Such a band stays inside [0, 1] and does not collapse where no
    outcome was observed. Cost: less than a second for 10⁶ rows.

    References
    ----------
    Austin & Steyerberg 2019, "The Integrated Calibration Index (ICI) and related metrics for
    quantifying the calibration of logistic regression models"; Van Calster et al. 2016, "A
    calibration hierarchy for risk models was defined".

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> probs = rng.random(2000)
    >>> curve = calibration_curve(probs, rng.random(2000) < probs**2)
    >>> middle = np.argmin(abs(curve["score"] - 0.5))
    >>> print(round(curve["low"][middle], 2), round(curve["high"][middle], 2))
    0.21 0.29
    """
    if span is not None and (not is_number(span) or not 0 < span <= 1):
        raise must_be("span", "a number above 0 and up to 1, or None", span)
    level = check_level(confidence_level)
    check_flag("monotone", monotone)
    forecasts = Forecasts.from_arrays(probs, labels, weights=weights, logits=logits)
    chosen = chosen_lens(lens, forecasts)
    check_lens(chosen)
    if chosen.induces != "pairs":
        rule = "must yield one score per row, as TopLabel() or OneVsRest(0) does"
        raise InputError("lens", rule, chosen)
    pairs = chosen.problem(forecasts)
    groups = _coarser(TiedScores.of(pairs))
    if span is None:
        rate = float(pairs.means[1])
        rarer = max(1.0, len(pairs) * min(rate, 1 - rate))
        span = SPAN * min(1.0, (ROWS_OF_SPAN / (2 * rarer)) ** 0.25)
    at = _places(groups)
    value, sums = groups.value, groups.sums
    width = np.maximum(widths(groups, at, span), np.finfo(np.float64).tiny)
    height = engine.loess.local_quadratics(value, sums.weight, sums.label, value[at], width)
    height = np.clip(height, 0, 1)
    weight = _nearest_weight(groups, at)
    independent = not forecasts.soft and forecasts.clusters is None
    low = high = np.full(len(at), np.nan)
    shown = _non_decreasing(height, weight) if monotone else height
    if independent:
        smoother = Smoother.of(groups, at, width)
        low, high = smoother.ends(height, shown, (1 - level) / 2)
        if monotone:
            low, high = _non_decreasing(low, weight), _non_decreasing(high, weight)
        low, high = np.minimum(low, shown), np.maximum(high, shown)
    columns = {"mean_label": shown, "low": low, "high": high, "weight": weight}
    return Curve({"score": value[at], **columns})


class Smoother(NamedTuple):
    """The local fits as weighted sums of labels: a row for each place, a column for each cell."""

    at: Floats  # scores of the places
    score: Floats  # mean score of each cell of rows
    share: Floats  # weight that a fit gives to a cell; they add up to 1
    variance: Floats  # what the variance of a label in a cell adds to that of the fit

    @classmethod
    def of(cls, groups: TiedScores, at: Ints, width: Floats) -> Smoother:
        """Derive the weights of fits at some places, with scores put together in cells."""
        sums = groups.merged(_cells(groups, CELLS))
        score, x = sums.score / sums.weight, groups.value[at]
        with np.errstate(over="ignore"):  # a window without a width holds the score itself alone
            t = np.clip((score - x[:, None]) / width[:, None], -1, 1)
        kernel = (1 - np.abs(t) ** 3) ** 3
        inside = kernel * sums.weight
        total = inside.sum(axis=1, keepdims=True)
        mean = (inside * t).sum(axis=1, keepdims=True) / total
        u = t - mean
        square = (inside * u * u).sum(axis=1, keepdims=True)
        skew, spread = _over((inside * u**3).sum(axis=1, keepdims=True), square), square / total
        bend = u * u - skew * u - spread
        left = (inside * bend * bend).sum(axis=1, keepdims=True)
        left = np.where(left > FLAT_SHARE * total, left, 0.0)
        line = -_over(mean, square) * u
        curve = _over(mean * mean + skew * mean - spread, left) * bend
        each = kernel * (1 / total + line + curve)
        return cls(x, score, each * sums.weight, each * each * sums.weight2)

    def ends(self, height: Floats, curve: Floats, miss: float) -> tuple[Floats, Floats]:
        """Return both ends of the band around fits, each with the chance ``miss`` beyond it.

        Labels are taken to have the rates of ``curve``, shifted to where a fit would be.
        """
        from scipy.special import logit, ndtri

        z = -float(ndtri(miss))
        rows = 1 / self.variance.sum(axis=1)  # that a mean of the same variance would rest on
        rate = (rows * curve + 0.5) / (rows + 1)  # never 0 or 1
        base = logit(np.interp(self.score, self.at, rate))
        return self._end(height, base, z, -1), self._end(height, base, z, 1)

    def _end(self, height: Floats, base: Floats, z: float, side: int) -> Floats:
        """Return the smoothed rate from which the fit is ``z`` standard deviations away."""
        from scipy.special import expit

        def smoothed(shift: Floats) -> tuple[Floats, Floats]:
            rate = expit(base + shift[:, None])
            variance = (self.variance * rate * (1 - rate)).sum(axis=1)
            return (self.share * rate).sum(axis=1), np.sqrt(variance)

        lowest, highest = np.full(len(height), -FARTHEST), np.full(len(height), FARTHEST)
        least = smoothed(np.zeros(len(height)))[1]
        for _ in range(STEPS):
            shift = (lowest + highest) / 2
            value, spread = smoothed(shift)
            # Shifted to a rate near 0 or 1, the whole window would seem to vary too little.
            below = value - side * z * np.maximum(spread, least) <= height
            lowest, highest = np.where(below, shift, lowest), np.where(below, highest, shift)
        return np.clip(smoothed(lowest)[0], 0, 1)


def _places(groups: TiedScores) -> Ints:
    """Return the distinct scores at which the curve is fitted, spaced by rank and by score."""
    value, end = groups.value, np.cumsum(groups.weight)
    tails = (TAIL, 1 - TAIL) if len(value) > FEW_SCORES else (0.0, 1.0)
    by_rank = np.searchsorted(end, np.linspace(tails[0], tails[1], BY_RANK) * end[-1])
    by_rank = np.minimum(by_rank, len(value) - 1)
    by_score = np.searchsorted(value, np.linspace(value[by_rank[0]], value[by_rank[-1]], BY_SCORE))
    return np.unique(np.concatenate([by_rank, by_score]))


def _nearest_weight(groups: TiedScores, at: Ints) -> Floats:
    """Weight of the rows that are nearer to each place than to another."""
    value = groups.value
    start = np.searchsorted(value, (value[at][1:] + value[at][:-1]) / 2, side="right")
    return np.add.reduceat(np.asarray(groups.weight, np.float64), np.r_[0, start])


def _coarser(groups: TiedScores) -> TiedScores:
    """Put the nearest of very many distinct scores together, at their mean; others are kept."""
    starts = _cells(groups, SCORES)
    if len(starts) == len(groups):
        return groups
    sums = groups.merged(starts)
    rank, hits = (np.add.reduceat(each, starts) for each in (groups.rank, groups.hits))
    weighted = None if groups.weighted is None else sums
    return TiedScores(sums.score / sums.weight, rank, hits, weighted)


def _cells(groups: TiedScores, many: int) -> Ints:
    """Return the first score of each of at most 2 ``many`` cells of few rows or close scores."""
    value = groups.value
    if len(value) <= 2 * many:
        return np.arange(len(value))
    before = np.cumsum(groups.weight) - groups.weight
    by_rank = np.floor(before / before[-1] * many)
    by_score = np.floor((value - value[0]) / (value[-1] - value[0]) * many)
    return np.flatnonzero(np.r_[True, (np.diff(by_rank) > 0) | (np.diff(by_score) > 0)])


def _non_decreasing(height: Floats, weight: Floats) -> Floats:
    """Return the closest non-decreasing curve."""
    start = engine.isotonic.pool_rising(weight, weight * height)
    size = np.diff(np.r_[start, len(height)])
    mean = np.add.reduceat(weight * height, start) / np.add.reduceat(weight, start)
    return np.maximum.accumulate(np.repeat(mean, size))


def _over(top: Floats, bottom: Floats) -> Floats:
    """Divide; 0 where there is nothing to divide by."""
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)
