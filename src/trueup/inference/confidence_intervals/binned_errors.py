r"""Intervals of binned errors from their tables, without resampling.

Conditional on scores and bins, :math:`y_b = E[y_b] + \varepsilon_b` with independent noise whose
variance is at most :math:`v_b q_b`, v the variance of a label and :math:`q_b = 1/n_b`. Each
function documents how it derives its ends. Classes of one row depend on each other: for any numbers
c, the variance of :math:`\sum c_{kb}\,\varepsilon_{kb}` is at most twice what independent classes
would give, because for a row's label l it is :math:`\frac12\sum_{kl}\pi_k\pi_l(c_k - c_l)^2 \le
2\sum_k c_k^2\,\pi_k(1 - \pi_k)`.
"""

from __future__ import annotations

import math

import numpy as np

from trueup._typing import Floats
from trueup.estimators.base import Ends
from trueup.inference.confidence_intervals.bin_noise import Bins

CLEAR = 3.0  # standard errors from which on the sign of a gap is taken as known
HALF_NORMAL = math.sqrt(2 / math.pi)  # mean of |N(0, 1)|
HALF_NORMAL_VARIANCE = 1 - 2 / math.pi
HALF_NORMAL_THIRD = HALF_NORMAL * (4 / math.pi - 1)  # third central moment


def binned_ends(bins: Bins, norm: float, level: float) -> Ends:
    """Return the interval of the error in a norm; a population has the norms 1 and 2."""
    from scipy.special import ndtri

    miss = (1 - level) / 2
    z = float(ndtri(1 - miss))
    if math.isinf(norm):
        low, high = _worst(bins, miss)
    elif norm == 1:
        low, high = _mean(bins, z)
    elif norm == 2 and bins.debiasable:
        low, high = (math.sqrt(max(0.0, end)) for end in _square(bins, z))
    else:
        low, high = _any_norm(bins, norm, z)
    if not math.isinf(norm):
        alone_low, alone_high = _one_bin_exact(bins, norm, miss)
        low, high = min(low, alone_low), max(high, alone_high)
    return Ends(max(0.0, low), min(high, _farthest(bins, norm)))


def _farthest(bins: Bins, norm: float) -> float:
    """Return the largest possible error: labels all 0 or all 1 in every bin."""
    if bins.population:
        return 1.0
    farthest = np.maximum(bins.score, 1 - bins.score)
    if math.isinf(norm):
        return float(farthest.max())
    return float(np.sum(bins.share * farthest**norm) ** (1 / norm))


def _square(bins: Bins, z: float) -> tuple[float, float]:
    """Return ends for Σ s_b δ_b².

    The debiased sum has the variance Σ s²(4 δ² v q + 2 v² q²/(1 − q)). For the lower end, δ² is
    estimated (Wald). For the upper end, the variance must grow with the end, as in Wilson's
    interval. For an error t it is A·t + C, and the end is the larger root of (t − estimate)² =
    z²(At + C).
    """
    share, q, spread = bins.share, bins.q, bins.spread
    square = bins.gap**2
    estimate = float(np.sum(share * (square - bins.noise)))
    real = np.maximum(square - bins.noise, 0)
    pairs = np.minimum(q * q / np.maximum(1 - q, 1e-300), 1.0)
    constant = bins.dependence * float(np.sum(2 * share**2 * spread**2 * pairs))
    linear = 4 * share * spread * q
    total = float(np.sum(share * real))
    at_estimate = bins.dependence * float(np.sum(share * linear * real))
    least = bins.dependence * float(np.sum(share * linear))
    if bins.population:
        whole = float(np.sum(share**2 * q))
        between = float(np.sum(share**2 * q * real**2)) - whole * total**2
        at_estimate += bins.dependence * max(0.0, between)
        least += bins.dependence * whole * bins.unseen
    slope = max(at_estimate / total if total > 0 else 0.0, least)
    low = estimate - z * math.sqrt(at_estimate + constant)
    half = estimate + z * z * slope / 2
    high = half + math.sqrt(max(half**2 - estimate**2 + z * z * constant, 0.0))
    return low, high


def _mean(bins: Bins, z: float) -> tuple[float, float]:
    """Return ends for Σ s_b |δ_b|.

    Lower end: |δ| ≥ ±δ, so the plug-in exceeds the error by at most Σ s σ ε over bins of clear sign
    σ plus Σ s |ε| over the others. The quantile of this sum is subtracted (Cornish-Fisher). Upper
    end: the plug-in is larger than the error with probability at least one half, and its standard
    deviation is at most that of Σ s ε. The L2 error is also an upper bound.
    """
    gap, error = bins.gap, bins.share * bins.error
    plugin = float(np.sum(bins.share * np.abs(gap)))
    # In bins of a few rows, labels that happen to be alike hide the noise that scores tell of.
    most = np.sqrt(np.maximum(bins.spread, bins.score * (1 - bins.score)) * bins.q)
    clear = np.abs(gap) > CLEAR * most
    between = _between(bins, plugin) if bins.population else 0.0
    unclear = (bins.share * most)[~clear]
    variance = float(np.sum(error[clear] ** 2)) + between
    variance += HALF_NORMAL_VARIANCE * float(np.sum(unclear**2))
    third = HALF_NORMAL_THIRD * float(np.sum(unclear**3))
    # In units of its sd E|ε| of n labels of rate 1/2 is that of a normal times 1 + 1/(4n).
    excess = HALF_NORMAL * float(np.sum(unclear * (1 + bins.q[~clear] / 4)))
    if variance > 0:
        sd = math.sqrt(bins.dependence * variance)
        excess += sd * (z + (z * z - 1) / 6 * third / variance**1.5)
    high = plugin + z * math.sqrt(bins.dependence * (float(np.sum(error**2)) + between))
    if bins.debiasable:
        high = min(high, math.sqrt(max(0.0, _square(bins, z)[1])))
    return plugin - excess, high


def _between(bins: Bins, plugin: float) -> float:
    """Return the variance of Σ s_b |δ_b| that comes from random fractions."""
    each = bins.share**2 * bins.q
    return max(0.0, float(np.sum(each * bins.gap**2)) - float(np.sum(each)) * plugin**2)


def _any_norm(bins: Bins, norm: float, z: float) -> tuple[float, float]:
    """Return wide ends for (Σ s_b |δ_b|^p)^(1/p), valid for every p (proved for normal noise).

    The plug-in is a norm of δ + ε. By symmetry its median is at least the norm of δ. It is at most
    that plus the norm of ε, whose median is at most (E Σ s |ε|^p)^(1/p). Let L be the Lipschitz
    constant of the norm in units of the noise. Both norms are within z·L of their medians with at
    least the probability that a normal variable is within z standard deviations. Errors increase
    with p, so the ends of the L1 and L2 errors are used too if they are sharper.
    """
    plugin = float(np.sum(bins.share * np.abs(bins.gap) ** norm) ** (1 / norm))
    lipschitz, middle = norm_noise(bins.share, bins.error, norm)
    lipschitz *= math.sqrt(bins.dependence)
    low, high = plugin - middle - z * lipschitz, plugin + z * lipschitz
    if not bins.debiasable:
        return low, high
    square_low, square_high = (math.sqrt(max(0.0, end)) for end in _square(bins, z))
    if norm < 2:
        return max(low, _mean(bins, z)[0]), min(high, square_high)
    return max(low, square_low), high


def norm_noise(share: Floats, error: Floats, norm: float) -> tuple[float, float]:
    """Return the Lipschitz constant of (Σ s |e·u|^p)^(1/p) in u, and the root of its mean power."""
    scaled = share ** (1 / norm) * error
    if norm >= 2:
        lipschitz = float(scaled.max())
    else:
        power = 2 * norm / (2 - norm)
        lipschitz = float(np.sum(scaled**power) ** (1 / power))
    moment = 2 ** (norm / 2) * math.gamma((norm + 1) / 2) / math.sqrt(math.pi)
    return lipschitz, float((moment * np.sum(scaled**norm)) ** (1 / norm))


def _worst(bins: Bins, miss: float) -> tuple[float, float]:
    """Return ends for max |δ_b|, from exact (Clopper-Pearson) bounds of the rates.

    Lower end: at least one bin has a gap this large; the error probability of each bound is divided
    by the number of bins. Upper end: which bin is the worst, and on which side, is fixed, so each
    bound only needs the level of a single bound.
    """
    alone_low, alone_high = _rate_bounds(bins, miss)
    high = float(np.maximum(bins.score - alone_low, alone_high - bins.score).max())
    all_low, all_high = _rate_bounds(bins, miss / (2 * len(bins.rate)))
    low = float(np.maximum(all_low - bins.score, bins.score - all_high).max())
    return low, high


def _one_bin_exact(bins: Bins, norm: float, miss: float) -> tuple[float, float]:
    """Return ends with one bin at a time at the exact bound of its rate, the others as estimated.

    The ends above assume normal noise. If one bin holds nearly all rows, and nearly all of them
    have the same label, noise is not normal: if two rows with a label are expected, 14% of samples
    have none. The interval must then contain what the exact bound of the bin allows.
    """
    rate_low, rate_high = _rate_bounds(bins, miss)
    near = np.maximum(np.maximum(rate_low - bins.score, bins.score - rate_high), 0)
    far = np.maximum(bins.score - rate_low, rate_high - bins.score)
    term = np.abs(bins.gap) ** norm
    if norm == 2 and bins.debiasable:
        term = term - bins.noise
    total = float(np.sum(bins.share * term))
    low = float(np.min(total + bins.share * (near**norm - term)))
    high = float(np.max(total + bins.share * (far**norm - term)))
    return max(low, 0.0) ** (1 / norm), max(high, 0.0) ** (1 / norm)


def _rate_bounds(bins: Bins, miss: float) -> tuple[Floats, Floats]:
    return clopper_pearson(bins.rate / bins.q, (1 - bins.rate) / bins.q, miss)


def clopper_pearson(ones: Floats, zeros: Floats, miss: float) -> tuple[Floats, Floats]:
    """Return bounds of binomial rates, each wrong with probability at most ``miss``."""
    from scipy.special import betaincinv

    with np.errstate(invalid="ignore"):
        low = np.where(ones > 0, betaincinv(ones, zeros + 1, miss), 0.0)
        high = np.where(zeros > 0, betaincinv(ones + 1, zeros, 1 - miss), 1.0)
    return low, high
