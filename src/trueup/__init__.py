"""trueup: are your model's probabilities true? Measure it, prove it, fix it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trueup import (
        decisions as decisions,
        engines as engines,
        inference as inference,
        local as local,
        recalibrate as recalibrate,
        simulate as simulate,
        views as views,
    )
    from trueup.bins import (
        EqualMass as EqualMass,
        FixedEdges as FixedEdges,
        SimplexGrid as SimplexGrid,
        UniformWidth as UniformWidth,
        VarianceTree as VarianceTree,
    )
    from trueup.errors import CapabilityError as CapabilityError, InputError as InputError
    from trueup.estimators import (
        MMCE as MMCE,
        BinnedError as BinnedError,
        Brier as Brier,
        Cox as Cox,
        CumulativeError as CumulativeError,
        CurveError as CurveError,
        DensityError as DensityError,
        KernelError as KernelError,
        LogLoss as LogLoss,
        PointwiseError as PointwiseError,
        SmoothError as SmoothError,
        SweepError as SweepError,
        class_errors as class_errors,
        cox as cox,
        observed_expected as observed_expected,
    )
    from trueup.evaluation import Evaluation as Evaluation, evaluate as evaluate
    from trueup.forecasts import Forecasts as Forecasts
    from trueup.inference import (
        GroupErrors as GroupErrors,
        calibration_test as calibration_test,
        certify as certify,
        compare as compare,
        group_errors as group_errors,
        interval as interval,
    )
    from trueup.io import read as read
    from trueup.lens import (
        Binary as Binary,
        Canonical as Canonical,
        ClassWise as ClassWise,
        OneVsRest as OneVsRest,
        Partition as Partition,
        Pooled as Pooled,
        TopK as TopK,
        TopLabel as TopLabel,
        TopLabelGiven as TopLabelGiven,
    )
    from trueup.local import LocalError as LocalError, lce as lce, mlce as mlce
    from trueup.metrics import (
        ace as ace,
        brier as brier,
        e50 as e50,
        e90 as e90,
        ece as ece,
        ece_debiased as ece_debiased,
        ece_kde as ece_kde,
        ece_sweep as ece_sweep,
        ici as ici,
        ks_error as ks_error,
        kuiper as kuiper,
        log_loss as log_loss,
        marginal_error as marginal_error,
        marginal_error_debiased as marginal_error_debiased,
        mce as mce,
        mmce as mmce,
        psce as psce,
        rmsce as rmsce,
        rmsce_debiased as rmsce_debiased,
        rmsce_sweep as rmsce_sweep,
        sce as sce,
        skce as skce,
        smooth_ece as smooth_ece,
        tace as tace,
    )
    from trueup.recalibrate import (
        AutoCalibration as AutoCalibration,
        BayesianBinning as BayesianBinning,
        BetaCalibration as BetaCalibration,
        CalibratedModel as CalibratedModel,
        DirichletCalibration as DirichletCalibration,
        GroupWise as GroupWise,
        HistogramBinning as HistogramBinning,
        IsotonicCalibration as IsotonicCalibration,
        LocalRecalibration as LocalRecalibration,
        MatrixScaling as MatrixScaling,
        MMCEScaling as MMCEScaling,
        NoRecalibration as NoRecalibration,
        PerClass as PerClass,
        PlattScaling as PlattScaling,
        Recalibrator as Recalibrator,
        ScalingBinning as ScalingBinning,
        TemperatureScaling as TemperatureScaling,
        TopLabelOnly as TopLabelOnly,
        VectorScaling as VectorScaling,
        VennAbers as VennAbers,
        load as load,
        scorer as scorer,
    )
    from trueup.results import (
        Certificate as Certificate,
        Comparison as Comparison,
        Decomposition as Decomposition,
        Estimate as Estimate,
        HypothesisResult as HypothesisResult,
        Interval as Interval,
    )
    from trueup.simulate import (
        power as power,
        sample_size as sample_size,
        which_estimator as which_estimator,
    )
    from trueup.stream import Trace as Trace
    from trueup.tables import (
        BinTable as BinTable,
        CellTable as CellTable,
        Columns as Columns,
        Curve as Curve,
        FineTable as FineTable,
        TableFamily as TableFamily,
    )

_HOME = {
    "trueup.bins": "EqualMass FixedEdges SimplexGrid UniformWidth VarianceTree",
    "trueup.errors": "CapabilityError InputError",
    "trueup.estimators": (
        "BinnedError Brier Cox CumulativeError CurveError DensityError KernelError LogLoss MMCE "
        "PointwiseError SmoothError SweepError class_errors cox observed_expected"
    ),
    "trueup.evaluation": "Evaluation evaluate",
    "trueup.forecasts": "Forecasts",
    "trueup.inference": ("GroupErrors calibration_test certify compare group_errors interval"),
    "trueup.io": "read",
    "trueup.lens": (
        "Binary Canonical ClassWise OneVsRest Partition Pooled TopK TopLabel TopLabelGiven"
    ),
    "trueup.local": "LocalError lce mlce",
    "trueup.metrics": (
        "ace brier e50 e90 ece ece_debiased ece_kde ece_sweep ici ks_error kuiper log_loss "
        "marginal_error marginal_error_debiased mce mmce psce rmsce rmsce_debiased rmsce_sweep "
        "sce skce smooth_ece tace"
    ),
    "trueup.recalibrate": (
        "AutoCalibration BayesianBinning BetaCalibration CalibratedModel DirichletCalibration "
        "GroupWise HistogramBinning IsotonicCalibration LocalRecalibration MMCEScaling "
        "MatrixScaling NoRecalibration PerClass PlattScaling Recalibrator ScalingBinning "
        "TemperatureScaling TopLabelOnly VectorScaling VennAbers load scorer"
    ),
    "trueup.results": "Certificate Comparison Decomposition Estimate HypothesisResult Interval",
    "trueup.simulate": "power sample_size which_estimator",
    "trueup.stream": "Trace",
    "trueup.tables": "BinTable CellTable Columns Curve FineTable TableFamily",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}

_PACKAGES = ("decisions", "engines", "inference", "local", "recalibrate", "simulate", "views")

__all__ = sorted([*_MODULE_OF, *_PACKAGES, "__version__"])


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("trueup")
    if name in _PACKAGES:
        return import_module(f"trueup.{name}")
    if name in _MODULE_OF:
        value = getattr(import_module(_MODULE_OF[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'trueup' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
