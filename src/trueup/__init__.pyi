# What `import trueup` offers: `__init__.py` reads these lines and imports on first use.

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
from trueup.metrics import *
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
from trueup.tables import (
    BinTable as BinTable,
    CellTable as CellTable,
    Columns as Columns,
    Curve as Curve,
    FineTable as FineTable,
    TableFamily as TableFamily,
)
from trueup.trace import Trace as Trace

__version__: str
