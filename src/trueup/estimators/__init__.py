"""Estimators: frozen values that you call with predictions and labels."""

from trueup.estimators.base import Estimator
from trueup.estimators.bin_free.cumulative import CumulativeError
from trueup.estimators.bin_free.curve_error import CurveError
from trueup.estimators.bin_free.density import DensityError
from trueup.estimators.bin_free.pointwise import PointwiseError
from trueup.estimators.bin_free.smooth import SmoothError
from trueup.estimators.binned_errors.binned_error import BinnedError
from trueup.estimators.binned_errors.sweep import SweepError
from trueup.estimators.clinical import Cox, cox, oe_ratio
from trueup.estimators.kernel_errors.kernel_error import KernelError
from trueup.estimators.kernel_errors.mmce import MMCE
from trueup.estimators.per_class import class_errors
from trueup.estimators.proper_scores import Brier, LogLoss

__all__ = [
    "MMCE",
    "BinnedError",
    "Brier",
    "Cox",
    "CumulativeError",
    "CurveError",
    "DensityError",
    "Estimator",
    "KernelError",
    "LogLoss",
    "PointwiseError",
    "SmoothError",
    "SweepError",
    "class_errors",
    "cox",
    "oe_ratio",
]
