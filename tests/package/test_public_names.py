"""The public names are exactly these: adding or removing one is a decision, made here."""

from __future__ import annotations

import inspect

import pytest

import trueup
from laws.estimators import NAMED

PUBLIC = [
    # lenses
    "Binary",
    "Canonical",
    "ClassWise",
    "OneVsRest",
    "Partition",
    "Pooled",
    "TopK",
    "TopLabel",
    "TopLabelByClass",
    # bins
    "EqualMass",
    "FixedEdges",
    "SimplexGrid",
    "EqualWidth",
    "VarianceTree",
    # estimators
    "BinnedError",
    "Brier",
    "CumulativeError",
    "CurveError",
    "DensityError",
    "KernelError",
    "LogLoss",
    "MMCE",
    "PointwiseError",
    "SmoothError",
    "SweepError",
    # clinical measures, classes and training steps
    "Cox",
    "cox",
    "oe_ratio",
    "class_errors",
    "Trace",
    # metrics: those of the law list
    *NAMED,
    # data, tables and results
    "Forecasts",
    "BinTable",
    "CellTable",
    "ResultTable",
    "Curve",
    "FineBinTable",
    "BinTables",
    "Decomposition",
    "Estimate",
    # simulation
    "simulate",
    "recommend_estimator",
    "power",
    "sample_size",
    # local calibration and decisions
    "local",
    "LocalError",
    "lce",
    "mlce",
    "LocalCalibration",
    "decisions",
    # recalibration
    "recalibrate",
    "AutoCalibration",
    "BayesianBinning",
    "BetaCalibration",
    "CalibratedModel",
    "DirichletCalibration",
    "GroupwiseCalibration",
    "HistogramBinning",
    "IsotonicCalibration",
    "MMCEScaling",
    "MatrixScaling",
    "IdentityCalibration",
    "OneVsRestCalibration",
    "PlattScaling",
    "Recalibrator",
    "ScalingBinning",
    "TemperatureScaling",
    "TopLabelCalibration",
    "VectorScaling",
    "VennAbers",
    "load",
    "make_scorer",
    # inference
    "inference",
    "GroupErrors",
    "calibration_test",
    "certify",
    "compare",
    "group_errors",
    "interval",
    "Certificate",
    "Comparison",
    "CalibrationTestResult",
    "Interval",
    # one call, files and pictures
    "Evaluation",
    "evaluate",
    "read",
    "plotting",
    # the rest
    "CapabilityError",
    "InputError",
    "engines",
    "__version__",
]


def test_all_is_exactly_the_list() -> None:
    assert sorted(trueup.__all__) == sorted(PUBLIC)
    assert len(set(trueup.__all__)) == len(trueup.__all__)


@pytest.mark.parametrize("name", PUBLIC)
def test_name_is_there_and_explained(name: str) -> None:
    thing = getattr(trueup, name)
    if name == "__version__":
        assert thing[0].isdigit()
        return
    summary = (inspect.getdoc(thing) or "").partition("\n")[0].strip()
    assert summary, f"trueup.{name} has no docstring"
    # A dataclass without a docstring gets its signature for one.
    assert not summary.startswith(f"{name}("), f"trueup.{name} has no docstring of its own"


def test_dir_shows_them() -> None:
    assert set(PUBLIC) <= set(dir(trueup))


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        trueup.no_such_name  # noqa: B018


def test_no_public_name_starts_with_test() -> None:
    assert not [name for name in PUBLIC if name.startswith(("Test", "test"))]
