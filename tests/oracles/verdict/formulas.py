"""Plain formulas of NumPy and SciPy for the numbers in sentences; nothing here is of trueup."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.stats import binom, norm, t

Array = np.ndarray


class Bins(NamedTuple):
    """Bins of scores in rising order: means, shares, effective rows, and the rows in each."""

    edges: Array
    rows: list[Array]
    share: Array
    score: Array
    label: Array
    effective: Array


def equal_mass_bins(p: Array, y: Array, w: Array, n_bins: int) -> Bins:
    """Cut at the boundary between two scores nearest to each i/B of the weight; ties go lower."""
    value, place = np.unique(p, return_inverse=True)
    upto = np.cumsum(np.bincount(place, w))
    inner = []
    for i in range(1, n_bins):
        if len(value) > 1:
            distance = np.abs(n_bins * upto[:-1] - i * upto[-1])
            inner.append(value[int(np.argmin(distance > distance.min() + 1e-9 * upto[-1]))])
    inner = np.unique(inner)
    which = np.searchsorted(inner, p, side="left")
    return bins_of(
        np.r_[0.0, inner, 1.0], [np.flatnonzero(which == b) for b in range(len(inner) + 1)], p, y, w
    )


def bins_of(edges: Array, rows: list[Array], p: Array, y: Array, w: Array) -> Bins:
    """Average scores and labels of the rows of each bin."""
    mass = np.array([w[each].sum() for each in rows])
    score = np.array([w[each] @ p[each] for each in rows]) / mass
    label = np.array([w[each] @ y[each] for each in rows]) / mass
    effective = mass**2 / np.array([(w[each] ** 2).sum() for each in rows])
    return Bins(edges, rows, mass / mass.sum(), score, label, effective)


def debiased_square(p: Array, y: Array, w: Array, n_bins: int) -> float:
    """Mean squared gap of equal-mass bins minus what sampling noise adds; may be negative."""
    bins = equal_mass_bins(p, y, w, n_bins)
    rows = list(bins.rows)
    while len(rows) > 1 and any(len(each) == 1 for each in rows):
        alone = next(b for b, each in enumerate(rows) if len(each) == 1)
        means = [float(w[each] @ p[each] / w[each].sum()) for each in rows]
        below = means[alone] - means[alone - 1] if alone else math.inf
        above = means[alone + 1] - means[alone] if alone + 1 < len(rows) else math.inf
        lower = alone - 1 if below <= above * (1 + 1e-9) + 1e-14 else alone
        rows[lower : lower + 2] = [np.r_[rows[lower], rows[lower + 1]]]
    merged = bins_of(bins.edges, rows, p, y, w)
    squares = np.array([w[each] @ y[each] ** 2 / w[each].sum() for each in rows])
    variance = np.maximum(squares - merged.label**2, 0)
    q = 1 / merged.effective
    noise = np.array(
        [v * c / (1 - c) if c < 1 - 1e-12 else 0.0 for v, c in zip(variance, q, strict=True)]
    )
    return float(merged.share @ ((merged.score - merged.label) ** 2 - noise))


def rms(square: float) -> float:
    """Root of a debiased square, 0 where that is negative."""
    return math.sqrt(max(0.0, square))


def simultaneous_band(bins: Bins, alpha: float) -> tuple[Array, Array]:
    """Where rates of calibrated bins lie, all at once: binomial quantiles that hold the mean."""
    miss = alpha / len(bins.rows)
    n = np.floor(np.maximum(bins.effective, 1) + 1e-9)
    low = np.minimum(
        np.maximum(binom.ppf(miss / 2, n, bins.score), 0), np.floor(n * bins.score + 1e-9)
    )
    high = np.maximum(binom.ppf(1 - miss / 2, n, bins.score), np.ceil(n * bins.score - 1e-9))
    return low / n, high / n


def holm(pvalues: list[float]) -> list[float]:
    """The k-th smallest times the number left, made increasing, at most 1."""
    order = np.argsort(pvalues, kind="stable")
    found, largest = [0.0] * len(pvalues), 0.0
    for k, i in enumerate(order):
        largest = max(largest, min(1.0, (len(pvalues) - k) * pvalues[i]))
        found[i] = largest
    return found


def quantile(level: float, n_units: int | None) -> float:
    """Normal, or Student's with one degree less than there are clusters."""
    middle = (1 + level) / 2
    return float(norm.ppf(middle) if n_units is None else t.ppf(middle, max(1, n_units - 1)))


def ratio_ends(
    y: Array, expected: Array | None, w: Array, clusters: Array | None, weighted: bool, level: float
) -> tuple[float, float]:
    """Wilson's interval of a mean label or, given expected values, of the ratio to their mean.

    The number of rows is that at which a rate would be as uncertain: Σ (w (y − R p))² over rows or
    clusters, to which one more unit of average size is added.
    """
    w = w / w.mean()
    rate = min(1.0, float(w @ y / w.sum()))
    base = 1.0 if expected is None else float(w @ expected / w.sum())
    fitted = np.full(len(y), rate) if expected is None else rate / base * expected
    own, size = w * (y - fitted), w
    if clusters is not None:
        unit = np.unique(clusters, return_inverse=True)[1]
        own, size = np.bincount(unit, own), np.bincount(unit, size)
    plain = expected is None and not weighted and clusters is None
    if len(own) == 1 and not plain:
        return 0.0, 1.0 / base
    count = size.sum() ** 2 / (size**2).sum()
    spread = rate * (1 - rate)
    if plain:
        count = float(len(y))
    elif spread > 0:
        one_more = spread * (size**2).sum() / len(size)
        count = spread * size.sum() ** 2 / ((own**2).sum() + one_more)
    z = quantile(level, None if clusters is None else len(own))
    middle = (rate + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(spread / count + (z / (2 * count)) ** 2)
    low = 0.0 if rate == 0 else max(0.0, middle - half)
    high = 1.0 if rate == 1 else min(1.0, middle + half)
    return low / base, high / base


def gap_of(p: Array, y: Array, w: Array, weighted: bool) -> tuple[float, float, float]:
    """Mean of label − score, its standard error if calibrated, and its two-sided p-value."""
    w = w / w.max()
    gap, spread = float(w @ (y - p)), float((w * w) @ (p * (1 - p)))
    se = math.sqrt(spread) / w.sum()
    if spread >= 25:
        return gap / w.sum(), se, float(2 * norm.sf(abs(gap) / math.sqrt(spread)))
    far = abs(gap) / spread if spread else math.inf
    tail = 1.0 if abs(gap) <= 1e-9 else math.exp(-spread * ((1 + far) * math.log1p(far) - far))
    if not weighted:
        tail = min(tail, _binomial_tail(round(y.sum()), float(p.sum()), len(p)))
    return gap / w.sum(), se, min(1.0, 2 * tail)


def _binomial_tail(ones: int, mean: float, n: int) -> float:
    if ones > mean:
        ones, mean = n - ones, n - mean
    if ones > mean - 1:
        return min(1.0, (n - mean) / (n - ones)) if ones < n else 1.0
    return float(binom.cdf(ones, n, mean / n))
