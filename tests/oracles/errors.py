"""Binned errors of one-dimensional pairs.

Functions named `_power` or `_squared` return the p-th power before its root (negative where
a debiased estimate is); `rooted` is the one place a root is taken. For norm = inf a "power"
is the maximum itself.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

from .arithmetic import Floats, float_weights, same_shape
from .bins import Bins, merge_single_rows

Weights = Floats | None


class Bin(NamedTuple):
    """Share, mean score, mean label and q = sum w^2 / (sum w)^2 of one bin."""

    share: float
    f: float
    y: float
    q: float


def bin_means(p: Floats, y: Floats, bins: Bins, weights: Weights) -> list[Bin]:
    """One entry per non-empty bin; shares are of the rows that are in some bin."""
    same_shape(p, y)
    w = float_weights(weights, len(p))
    total = math.fsum(w[i] for rows in bins for i in rows)
    out = []
    for rows in bins:
        if not rows:
            continue
        mass = math.fsum(w[i] for i in rows)
        f = math.fsum(w[i] * float(p[i]) for i in rows) / mass
        rate = math.fsum(w[i] * float(y[i]) for i in rows) / mass
        q = 1.0 if len(rows) == 1 else math.fsum(w[i] ** 2 for i in rows) / mass**2
        out.append(Bin(mass / total, f, rate, q))
    return out


def rooted(power: float, norm: float) -> float:
    """The p-th root of max(0, power); the maximum itself for norm = inf."""
    if norm == math.inf:
        return power
    return max(0.0, power) ** (1.0 / norm)


def combine(powers: Floats, class_weights: Weights, norm: float) -> float:
    """Weighted average of p-th powers, not yet rooted; norm = inf: max over weights > 0."""
    w = float_weights(class_weights, len(powers))
    if norm == math.inf:
        return max(e for e, v in zip(powers, w, strict=True) if v > 0)
    return math.fsum(e * v for e, v in zip(powers, w, strict=True)) / math.fsum(w)


def plug_in_power(
    p: Floats, y: Floats, bins: Bins, norm: float = 1, weights: Weights = None
) -> float:
    """Roelofs eq. 4 before the root: sum of share * |f - y|^p, or the worst bin."""
    found = bin_means(p, y, bins, weights)
    if norm == math.inf:
        return max(abs(b.f - b.y) for b in found)
    return math.fsum(b.share * abs(b.f - b.y) ** norm for b in found)


def plug_in(p: Floats, y: Floats, bins: Bins, norm: float = 1, weights: Weights = None) -> float:
    """Roelofs eq. 4."""
    return rooted(plug_in_power(p, y, bins, norm, weights), norm)


def label_binned_power(
    p: Floats, y: Floats, bins: Bins, norm: float = 1, weights: Weights = None
) -> float:
    """Roelofs eq. 3 before the root; norm = inf: the largest |f_i - y_b| of any row."""
    w = float_weights(weights, len(p))
    total = math.fsum(w[i] for rows in bins for i in rows)
    filled = [rows for rows in bins if rows]
    terms = []
    for rows, means in zip(filled, bin_means(p, y, bins, weights), strict=True):
        for i in rows:
            gap = abs(float(p[i]) - means.y)
            terms.append(gap if norm == math.inf else w[i] * gap**norm)
    return max(terms) if norm == math.inf else math.fsum(terms) / total


def label_binned(
    p: Floats, y: Floats, bins: Bins, norm: float = 1, weights: Weights = None
) -> float:
    """Roelofs eq. 3."""
    return rooted(label_binned_power(p, y, bins, norm, weights), norm)


def debiased_squared(
    p: Floats,
    y: Floats,
    bins: Bins,
    weights: Weights = None,
    residual: bool = False,
) -> float:
    """Kumar Def. 5.2 with Lemma F.7's y(1-y): the squared estimate, which may be negative.

    `residual`: the variance of y in the bin gives way to that of p - y, which is unbiased
    for the squared mean residual also where scores vary inside the bin.
    """
    w = float_weights(weights, len(p))
    merged = merge_single_rows(p, bins, weights)
    terms = []
    for rows, b in zip(merged, bin_means(p, y, merged, weights), strict=True):
        if residual:
            mass = math.fsum(w[i] for i in rows)
            gaps = {i: float(p[i]) - float(y[i]) for i in rows}
            mean = math.fsum(w[i] * gaps[i] for i in rows) / mass
            variance = math.fsum(w[i] * (gaps[i] - mean) ** 2 for i in rows) / mass
        else:
            variance = b.y * (1.0 - b.y)
        correction = 0.0 if len(rows) == 1 else variance * b.q / (1.0 - b.q)
        terms.append(b.share * ((b.f - b.y) ** 2 - correction))
    return math.fsum(terms)


def debiased_l1(p: Floats, y: Floats, bins: Bins, weights: Weights = None) -> float:
    """Kumar Def. G.3 on the merged bins: 2 * plug-in - expected plug-in; may be negative."""
    merged = merge_single_rows(p, bins, weights)
    terms = []
    for b in bin_means(p, y, merged, weights):
        expected = folded_normal_mean(b.f - b.y, b.y * (1.0 - b.y) * b.q)
        terms.append(b.share * (2.0 * abs(b.f - b.y) - expected))
    return math.fsum(terms)


def debiased_power(p: Floats, y: Floats, bins: Bins, norm: float, weights: Weights = None) -> float:
    """The debiased estimate of the norms that have one."""
    if norm == 1:
        return debiased_l1(p, y, bins, weights)
    if norm == 2:
        return debiased_squared(p, y, bins, weights)
    raise ValueError("only norms 1 and 2 can be debiased")


def folded_normal_mean(mean: float, variance: float) -> float:
    """E|X| for X ~ N(mean, variance)."""
    if variance <= 0:
        return abs(mean)
    s = math.sqrt(variance)
    peak = s * math.sqrt(2.0 / math.pi) * math.exp(-(mean**2) / (2.0 * variance))
    return peak + mean * math.erf(mean / (s * math.sqrt(2.0)))


def folded_normal_mean_by_integration(mean: float, variance: float, steps: int = 4000) -> float:
    """The same by Simpson's rule on both sides of the kink, out to 12 standard deviations."""
    if variance <= 0:
        return abs(mean)
    s = math.sqrt(variance)

    def height(x: float) -> float:
        z = (x - mean) / s
        return abs(x) * math.exp(-0.5 * z * z) / (s * math.sqrt(2.0 * math.pi))

    total = 0.0
    ends = sorted({mean - 12 * s, min(max(0.0, mean - 12 * s), mean + 12 * s), mean + 12 * s})
    for low, high in itertools.pairwise(ends):
        h = (high - low) / steps
        inner = [(4 if j % 2 else 2) * height(low + j * h) for j in range(1, steps)]
        total += h / 3.0 * math.fsum([height(low), height(high), *inner])
    return total
