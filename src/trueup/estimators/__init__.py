"""Estimators: frozen values that you call with predictions and labels."""

from trueup.estimators.base import Estimator
from trueup.estimators.binned import BinnedError
from trueup.estimators.clinical import Cox, cox, observed_expected
from trueup.estimators.cumulative import CumulativeError
from trueup.estimators.curve_error import CurveError
from trueup.estimators.density import DensityError
from trueup.estimators.kernel import KernelError
from trueup.estimators.mmce import MMCE
from trueup.estimators.per_class import class_errors
from trueup.estimators.pointwise import PointwiseError
from trueup.estimators.scores import Brier, LogLoss
from trueup.estimators.smooth import SmoothError
from trueup.estimators.sweep import SweepError

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
    "observed_expected",
]
