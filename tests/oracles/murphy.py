"""Murphy's decomposition over given bins, with the within-bin terms that make it exact."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .arithmetic import Floats, Ints, float_weights
from .bins import Bins
from .errors import bin_means
from .scores import brier, log_loss


class BrierParts(NamedTuple):
    """score = reliability - resolution + uncertainty + within variance - within covariance."""

    score: float
    reliability: float
    resolution: float
    uncertainty: float
    within_bin_variance: float
    within_bin_covariance: float


class LogLossParts(NamedTuple):
    """score = reliability - resolution + uncertainty + within_bin."""

    score: float
    reliability: float
    resolution: float
    uncertainty: float
    within_bin: float


def murphy_brier(p: Floats, y: Floats, bins: Bins, weights: Floats | None = None) -> BrierParts:
    """Stephenson et al. 2008. Every row is in one bin; the covariance term holds its factor 2."""
    w = float_weights(weights, len(p))
    total = math.fsum(w)
    mean = math.fsum(w[i] * float(y[i]) for i in range(len(y))) / total
    filled = [rows for rows in bins if rows]
    means = bin_means(p, y, bins, weights)
    variance, covariance = [], []
    for rows, b in zip(filled, means, strict=True):
        for i in rows:
            variance.append(w[i] * (float(p[i]) - b.f) ** 2)
            covariance.append(w[i] * (float(p[i]) - b.f) * (float(y[i]) - b.y))
    return BrierParts(
        score=brier(p, y, weights),
        reliability=math.fsum(b.share * (b.f - b.y) ** 2 for b in means),
        resolution=math.fsum(b.share * (b.y - mean) ** 2 for b in means),
        uncertainty=math.fsum(w[i] * (float(y[i]) - mean) ** 2 for i in range(len(y))) / total,
        within_bin_variance=math.fsum(variance) / total,
        within_bin_covariance=2.0 * math.fsum(covariance) / total,
    )


def divergence(rate: float, forecast: float, floor: float) -> float:
    """KL of two Bernoulli distributions in nats; the forecast's side is clipped from below."""
    terms = []
    for a, b in ((rate, forecast), (1.0 - rate, 1.0 - forecast)):
        if a > 0.0:
            terms.append(a * (math.log(a) - math.log(max(b, floor))))
    return math.fsum(terms)


def murphy_log_loss(
    p: ArrayLike, y: Ints, bins: Bins, weights: Floats | None = None
) -> LogLossParts:
    """Divergences of bin means; what the bins hide is one term. Clips where log loss does."""
    given = np.asarray(p)
    floor = float(np.finfo(given.dtype if given.dtype.kind == "f" else np.float64).tiny)
    w = float_weights(weights, len(given))
    mean = math.fsum(w[i] * float(y[i]) for i in range(len(y))) / math.fsum(w)
    means = bin_means(given, y, bins, weights)
    score = log_loss(given, y, weights)[0]
    reliability = math.fsum(b.share * divergence(b.y, b.f, floor) for b in means)
    resolution = math.fsum(b.share * divergence(b.y, mean, 0.0) for b in means)
    uncertainty = -math.fsum(v * math.log(v) for v in (mean, 1.0 - mean) if v > 0.0)
    within = math.fsum([score, -reliability, resolution, -uncertainty])
    return LogLossParts(score, reliability, resolution, uncertainty, within)
