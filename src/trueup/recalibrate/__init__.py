"""Fixing it: recalibrators, scikit-learn estimators that map predictions to truer ones."""

from trueup.recalibrate.auto import AutoCalibration
from trueup.recalibrate.base import Recalibrator
from trueup.recalibrate.bayesian_binning import BayesianBinning
from trueup.recalibrate.beta import BetaCalibration
from trueup.recalibrate.dirichlet import DirichletCalibration
from trueup.recalibrate.group_wise import GroupWise
from trueup.recalibrate.histogram import HistogramBinning
from trueup.recalibrate.isotonic import IsotonicCalibration
from trueup.recalibrate.local_recalibration import LocalRecalibration
from trueup.recalibrate.matrix import MatrixScaling
from trueup.recalibrate.mmce_scaling import MMCEScaling
from trueup.recalibrate.model import CalibratedModel
from trueup.recalibrate.no_recalibration import NoRecalibration
from trueup.recalibrate.onnx import to_onnx
from trueup.recalibrate.persist import load, save
from trueup.recalibrate.platt import PlattScaling
from trueup.recalibrate.scaling_binning import ScalingBinning
from trueup.recalibrate.scorers import SCORERS, scorer
from trueup.recalibrate.temperature import TemperatureScaling
from trueup.recalibrate.vector import VectorScaling
from trueup.recalibrate.venn_abers import VennAbers
from trueup.recalibrate.wrappers import PerClass, TopLabelOnly

__all__ = [
    "SCORERS",
    "AutoCalibration",
    "BayesianBinning",
    "BetaCalibration",
    "CalibratedModel",
    "DirichletCalibration",
    "GroupWise",
    "HistogramBinning",
    "IsotonicCalibration",
    "LocalRecalibration",
    "MMCEScaling",
    "MatrixScaling",
    "NoRecalibration",
    "PerClass",
    "PlattScaling",
    "Recalibrator",
    "ScalingBinning",
    "TemperatureScaling",
    "TopLabelOnly",
    "VectorScaling",
    "VennAbers",
    "load",
    "save",
    "scorer",
    "to_onnx",
]
