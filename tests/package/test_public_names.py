"""The public names are exactly these: adding or removing one is a decision, made here."""

from __future__ import annotations

import inspect
import operator

import pytest

import trueup
from laws.estimators import CLASSES, NAMED

PUBLIC = [
    # bins
    "EqualMass",
    "EqualWidth",
    # estimators: those of the law list
    *CLASSES,
    # clinical measures, classes and training steps
    "Cox",
    "cox",
    "oe_ratio",
    "oe_ratio_interval",
    "class_errors",
    "Trace",
    # metrics: those of the law list
    *NAMED,
    # data
    "Forecasts",
    "datasets",
    # simulation
    "simulate",
    "recommend_estimator",
    "power",
    "sample_size",
    # long work
    "show_progress",
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
    "load_recalibrator",
    "make_scorer",
    # inference
    "inference",
    "calibration_test",
    "certify",
    "compare",
    "group_errors",
    "interval",
    # one call, files and figures
    "explain",
    "Evaluation",
    "evaluate",
    "read",
    "plotting",
    "reliability_diagram",
    "lineup",
    # the rest
    "CapabilityError",
    "InputError",
    "bins",
    "engines",
    "estimators",
    "lens",
    "results",
    "tables",
    "__version__",
]

# What is one step further in, where names would be in the way of those above.
IN_MODULES = {
    "bins": [
        "Binning",
        "EqualMass",
        "EqualWidth",
        "FixedEdges",
        "SimplexGrid",
        "SimplexTriangles",
        "VarianceTree",
    ],
    "lens": [
        "Binary",
        "Canonical",
        "ClassWise",
        "Lens",
        "OneVsRest",
        "Partition",
        "Pooled",
        "TopK",
        "TopLabel",
        "TopLabelByClass",
    ],
    "datasets": ["Dataset", "clinic", "language_models", "network", "tumors"],
    "results": [
        "CalibrationTestResult",
        "Certificate",
        "Comparison",
        "Decomposition",
        "Estimate",
        "Interval",
    ],
    "tables": ["BinTable", "BinTables", "CellTable", "Curve", "FineBinTable", "ResultTable"],
}


def test_all_is_exactly_the_list() -> None:
    assert sorted(trueup.__all__) == sorted(PUBLIC)
    assert len(set(trueup.__all__)) == len(trueup.__all__)


@pytest.mark.parametrize("module", IN_MODULES)
def test_modules_offer_these(module: str) -> None:
    assert set(IN_MODULES[module]) <= set(getattr(trueup, module).__all__)


@pytest.mark.parametrize(
    "name", [*PUBLIC, *(f"{module}.{name}" for module in IN_MODULES for name in IN_MODULES[module])]
)
def test_name_is_there_and_explained(name: str) -> None:
    thing = operator.attrgetter(name)(trueup)
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
