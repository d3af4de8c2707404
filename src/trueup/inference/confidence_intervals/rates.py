"""Confidence interval of a rate, with weights and clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.estimators.base import Ends
from trueup.inference.confidence_intervals.oe_ratio import (
    by_unit,
    effective_count,
    quantile_of,
    wilson_ends,
)


def rate_interval(
    y: NDArray[Any], w: Floats | None, clusters: NDArray[Any] | None, confidence_level: float
) -> Ends:
    """Return Wilson's interval of the rate of an outcome y.

    With weights and clusters, the number of rows is that of independent rows for which the rate
    would be as uncertain, as in `oe_ratio_interval`.
    """
    outcome = y.astype(np.float64)
    weight = np.ones(len(outcome)) if w is None else w / w.mean()
    units = None
    if clusters is not None:
        units = np.unique(clusters, return_inverse=True)[1].reshape(-1)
    rate = min(1.0, float(np.average(outcome, weights=weight)))
    if w is None and units is None:
        return wilson_ends(rate, len(outcome), quantile_of(confidence_level, None))
    own, size = by_unit(weight * (outcome - rate), units), by_unit(weight, units)
    if len(own) == 1:  # it says nothing of others
        return Ends(0.0, 1.0)
    count = effective_count(rate, own, size)
    quantile = quantile_of(confidence_level, None if units is None else len(own))
    return wilson_ends(rate, count, quantile)
