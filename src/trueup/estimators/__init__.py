"""Estimators: frozen values that you call with predictions and labels."""

from trueup.estimators.base import Estimator
from trueup.estimators.binned import BinnedError
from trueup.estimators.scores import Brier, LogLoss
from trueup.estimators.sweep import SweepError

__all__ = ["BinnedError", "Brier", "Estimator", "LogLoss", "SweepError"]
