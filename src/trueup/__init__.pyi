# What `import trueup` offers: `__init__.py` reads these lines and imports on first use.

from trueup import (
    bins as bins,
    datasets as datasets,
    decisions as decisions,
    engines as engines,
    estimators as estimators,
    inference as inference,
    lens as lens,
    local as local,
    plotting as plotting,
    recalibrate as recalibrate,
    results as results,
    simulate as simulate,
    tables as tables,
)
from trueup.bins import (
    EqualMass as EqualMass,
    EqualWidth as EqualWidth,
)
from trueup.calls.progress import show_progress as show_progress
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
    oe_ratio as oe_ratio,
)
from trueup.evaluation import Evaluation as Evaluation, evaluate as evaluate
from trueup.explanation import explain as explain
from trueup.forecasts import Forecasts as Forecasts
from trueup.inference import (
    calibration_test as calibration_test,
    certify as certify,
    compare as compare,
    group_errors as group_errors,
    interval as interval,
    oe_ratio_interval as oe_ratio_interval,
)
from trueup.io import read as read
from trueup.local import LocalError as LocalError, lce as lce, mlce as mlce
from trueup.metrics import *
from trueup.plotting import lineup as lineup, reliability_diagram as reliability_diagram
from trueup.recalibrate import (
    AutoCalibration as AutoCalibration,
    BayesianBinning as BayesianBinning,
    BetaCalibration as BetaCalibration,
    CalibratedModel as CalibratedModel,
    DirichletCalibration as DirichletCalibration,
    GroupwiseCalibration as GroupwiseCalibration,
    HistogramBinning as HistogramBinning,
    IdentityCalibration as IdentityCalibration,
    IsotonicCalibration as IsotonicCalibration,
    LocalCalibration as LocalCalibration,
    MatrixScaling as MatrixScaling,
    MMCEScaling as MMCEScaling,
    OneVsRestCalibration as OneVsRestCalibration,
    PlattScaling as PlattScaling,
    Recalibrator as Recalibrator,
    ScalingBinning as ScalingBinning,
    TemperatureScaling as TemperatureScaling,
    TopLabelCalibration as TopLabelCalibration,
    VectorScaling as VectorScaling,
    VennAbers as VennAbers,
    load_recalibrator as load_recalibrator,
    make_scorer as make_scorer,
)
from trueup.simulate import (
    power as power,
    recommend_estimator as recommend_estimator,
    sample_size as sample_size,
)
from trueup.trace import Trace as Trace

__version__: str
