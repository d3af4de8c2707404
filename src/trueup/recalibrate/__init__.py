"""Recalibrators: scikit-learn estimators that map predictions to calibrated probabilities."""

from trueup.recalibrate.auto.auto_calibration import AutoCalibration
from trueup.recalibrate.base import Recalibrator
from trueup.recalibrate.binning.bayesian import BayesianBinning
from trueup.recalibrate.binning.histogram import HistogramBinning
from trueup.recalibrate.binning.scaling_binning import ScalingBinning
from trueup.recalibrate.compose.groupwise import GroupwiseCalibration
from trueup.recalibrate.compose.wrappers import OneVsRestCalibration, TopLabelCalibration
from trueup.recalibrate.files.onnx import to_onnx
from trueup.recalibrate.files.save_and_load import load_recalibrator, save
from trueup.recalibrate.identity import IdentityCalibration
from trueup.recalibrate.isotonic import IsotonicCalibration
from trueup.recalibrate.local_calibration import LocalCalibration
from trueup.recalibrate.model.calibrated_model import CalibratedModel
from trueup.recalibrate.model.scorers import SCORERS, make_scorer
from trueup.recalibrate.scaling.beta import BetaCalibration
from trueup.recalibrate.scaling.matrix import DirichletCalibration, MatrixScaling
from trueup.recalibrate.scaling.mmce import MMCEScaling
from trueup.recalibrate.scaling.platt import PlattScaling
from trueup.recalibrate.scaling.temperature import TemperatureScaling
from trueup.recalibrate.scaling.vector import VectorScaling
from trueup.recalibrate.venn_abers import VennAbers

__all__ = [
    "SCORERS",
    "AutoCalibration",
    "BayesianBinning",
    "BetaCalibration",
    "CalibratedModel",
    "DirichletCalibration",
    "GroupwiseCalibration",
    "HistogramBinning",
    "IdentityCalibration",
    "IsotonicCalibration",
    "LocalCalibration",
    "MMCEScaling",
    "MatrixScaling",
    "OneVsRestCalibration",
    "PlattScaling",
    "Recalibrator",
    "ScalingBinning",
    "TemperatureScaling",
    "TopLabelCalibration",
    "VectorScaling",
    "VennAbers",
    "load_recalibrator",
    "make_scorer",
    "save",
    "to_onnx",
]
