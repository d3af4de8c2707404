"""What values an estimator can have: all that is known where resampling tells nothing."""

from __future__ import annotations

import math

from trueup.estimators import (
    MMCE,
    BinnedError,
    Brier,
    CumulativeError,
    CurveError,
    DensityError,
    KernelError,
    LogLoss,
    PointwiseError,
    SmoothError,
    SweepError,
)
from trueup.forecasts import Forecasts
from trueup.inference.binned_intervals import Ends
from trueup.lens import SimplexLens

__all__ = ["possible_values"]

UP_TO_ONE = (CumulativeError, DensityError, PointwiseError, SmoothError, SweepError)


def possible_values(estimator: object, forecasts: Forecasts) -> Ends:
    """Return the lowest and the highest value; no bounds for what is not an estimator of ours.

    >>> possible_values(Brier(), Forecasts.of([[0.2, 0.3, 0.5]], [0]))
    Ends(low=0.0, high=2.0)
    """
    if isinstance(estimator, KernelError):
        lens = estimator.lens_for(forecasts)
        most = 2.0 if isinstance(lens, SimplexLens) else 1.0  # of a product of two residuals
        return Ends(-most, most)
    if isinstance(estimator, Brier):
        return Ends(0.0, 1.0 if forecasts.n_classes == 2 else 2.0)
    if isinstance(estimator, BinnedError) and not callable(estimator.distance):
        return Ends(0.0, 2.0 if estimator.distance == "squared" else 1.0)
    if isinstance(estimator, MMCE):
        return Ends(0.0, math.sqrt(2) if estimator.weighted else 1.0)
    if isinstance(estimator, UP_TO_ONE):
        return Ends(0.0, 1.0)
    if isinstance(estimator, LogLoss | CurveError):  # a smoothed curve may leave [0, 1]
        return Ends(0.0, math.inf)
    return Ends(-math.inf, math.inf)
