"""Averaged p-th powers of bin tables: plug-in, label-binned and debiased."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.engines.blocks import row_blocks
from trueup.engines.types import Sums
from trueup.lens import Pairs
from trueup.tables import BinTable


def plugin_power(table: BinTable, norm: float, *, equal_shares: bool = False) -> float:
    """Return Σ s_b |f_b − y_b|^p over non-empty bins, or the largest |f_b − y_b|.

    The s_b are fractions of the weight, or 1 / (number of bins requested) if ``equal_shares``.
    """
    sums = table.sums
    full = np.flatnonzero(sums.count)
    weight = sums.weight[full]
    gaps = np.abs(sums.label[full] / weight - sums.score[full] / weight)
    if math.isinf(norm):
        return float(gaps.max())
    powers = gaps if norm == 1 else gaps**norm
    if equal_shares:
        return float(powers.sum() / table.n_bins_requested)
    return float(np.sum(weight / weight.sum() * powers))


def residual_power(weight: NDArray[Any], residual: Floats, norm: float) -> float:
    """Return `plugin_power` from the weight and Σ w (p − y) of each bin, none of them empty."""
    gaps = np.abs(residual) / weight
    if math.isinf(norm):
        return float(gaps.max())
    powers = gaps if norm == 1 else gaps**norm
    return float(np.sum(weight * powers) / weight.sum())


def plugin_powers(sums: Sums, norm: float, equal_shares_of: int | None = None) -> Floats:
    """Return plug-in powers of many tables at once, whose sums are the rows of (K, B) arrays.

    The s_b are fractions of the weight, or 1/``equal_shares_of`` for every bin that is not empty.
    """
    weight = sums.weight
    filled = np.where(weight > 0, weight, 1)
    gaps = np.abs(sums.score - sums.label) / filled
    if math.isinf(norm):
        return np.asarray(gaps.max(axis=1))
    powers = gaps if norm == 1 else gaps**norm
    if equal_shares_of is not None:
        return np.asarray(powers.sum(axis=1) / equal_shares_of)
    return np.asarray((weight * powers).sum(axis=1) / weight.sum(axis=1))


def label_binned_power(table: BinTable, pairs: Pairs, norm: float) -> float:
    """Return Σ_i w_i |f_i − y_b(i)|^p / Σ w, or the largest |f_i − y_b(i)|, both ≥ the plug-in."""
    total, largest = 0.0, 0.0
    inner = table.edges[1:-1]
    for part in row_blocks(len(pairs), 4):
        score = pairs.p[part].astype(np.float64)
        away = np.abs(score - table.mean_label[np.searchsorted(inner, score, side="left")])
        if math.isinf(norm):
            largest = max(largest, float(away.max()))
        else:
            terms = away**norm
            total += float(np.sum(terms if pairs.w is None else terms * pairs.w[part]))
    power = largest if math.isinf(norm) else total / float(table.weight.sum())
    return max(power, plugin_power(table, norm))  # by Jensen; rounding must not break it


def debiased_powers(sums: Sums, norm: float, *, residual: bool) -> Floats:
    """Compute the powers of tables, bins along the last axis, minus an estimate of their bias.

    They may be negative.

    L2 (Kumar et al. Def. 5.2, in the form of Lemma F.7): each squared gap minus
    v_b·q_b/(1 − q_b). L1 (Def. G.3): 2·plug-in − Σ s_b E|f_b − R_b| with
    R_b ~ N(y_b, v_b·q_b). Here v_b is the variance of the labels of a bin, y_b(1 − y_b) for
    labels 0 and 1, or, if ``residual``, that of score − label; q_b = Σw²/(Σw)², 1/n_b unweighted.
    Every bin holds at least two rows (`BinTable.without_singles`). A table of a single row gets no
    correction.
    """
    weight = sums.weight
    share = weight / weight.sum(axis=-1, keepdims=True)
    gap = sums.score / weight - sums.label / weight
    variance = _residual_variance(sums, gap) if residual else _label_variance(sums)
    with np.errstate(invalid="ignore"):  # squares of tiny weights next to others are 0
        q = sums.weight2 / (weight * weight)
    if norm == 2:
        with np.errstate(invalid="ignore", divide="ignore"):
            noise = np.where(q < 1, variance * q / (1 - q), 0.0)
        return np.asarray(np.sum(share * (gap**2 - noise), axis=-1))
    expected = folded_mean(gap, variance * q)
    return np.asarray(np.sum(share * (2 * np.abs(gap) - expected), axis=-1))


def folded_mean(mean: Floats, variance: Floats) -> Floats:
    """Return E|X| for X ~ N(mean, variance), in closed form; |mean| if the variance is 0."""
    from scipy.special import ndtr

    sd = np.sqrt(variance)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = mean / sd
        density = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
        folded = 2 * sd * density + mean * (1 - 2 * ndtr(-z))
    return np.where(sd > 0, folded, np.abs(mean))


def _label_variance(sums: Sums) -> Floats:
    return np.maximum(sums.label2 / sums.weight - (sums.label / sums.weight) ** 2, 0)


def _residual_variance(sums: Sums, gap: Floats) -> Floats:
    mean_square = (sums.score2 - 2 * sums.cross + sums.label2) / sums.weight
    return np.maximum(mean_square - gap**2, 0)
