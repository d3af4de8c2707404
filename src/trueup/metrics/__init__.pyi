# The signatures of all named metrics for editors and mypy; a test compares them with the metrics.

from typing import Protocol

from trueup.bins.scores import NumberOfBins
from trueup.estimators import (
    MMCE,
    BinnedError,
    Brier,
    CumulativeError,
    CurveError,
    DensityError,
    KernelError,
    LogLoss,
    PointwiseError,
    SmoothError,
    SweepError,
)
from trueup.lens import Lens

class _Named(Protocol):
    __name__: str

class _Binned(_Named, Protocol):
    def __call__(
        self,
        probs: object,
        labels: object = None,
        *,
        n_bins: NumberOfBins = 15,
        weights: object = None,
        logits: bool = False,
    ) -> float: ...
    def estimator(self, *, n_bins: NumberOfBins = 15) -> BinnedError: ...

class _Tace(_Named, Protocol):
    def __call__(
        self,
        probs: object,
        labels: object = None,
        *,
        n_bins: NumberOfBins = 15,
        threshold: float = 0.01,
        literal: bool = False,
        weights: object = None,
        logits: bool = False,
    ) -> float: ...
    def estimator(
        self, *, n_bins: NumberOfBins = 15, threshold: float = 0.01, literal: bool = False
    ) -> BinnedError: ...

class _Skce(_Named, Protocol):
    def __call__(
        self,
        probs: object,
        labels: object = None,
        *,
        bandwidth: float | None = None,
        weights: object = None,
        logits: bool = False,
    ) -> float: ...
    def estimator(self, *, bandwidth: float | None = None) -> KernelError: ...

class _Mmce(_Named, Protocol):
    def __call__(
        self,
        probs: object,
        labels: object = None,
        *,
        bandwidth: float = 0.4,
        weighted: bool = False,
        weights: object = None,
        logits: bool = False,
    ) -> float: ...
    def estimator(self, *, bandwidth: float = 0.4, weighted: bool = False) -> MMCE: ...

class _Psce(_Named, Protocol):
    def __call__(
        self,
        probs: object,
        labels: object = None,
        *,
        decay: float = 0.9,
        weights: object = None,
        logits: bool = False,
    ) -> float: ...
    def estimator(self, *, decay: float = 0.9) -> PointwiseError: ...

class _Clinical(_Named, Protocol):
    def __call__(
        self,
        probs: object,
        labels: object = None,
        *,
        lens: Lens | None = None,
        weights: object = None,
        logits: bool = False,
    ) -> float: ...
    def estimator(self, *, lens: Lens | None = None) -> CurveError: ...

class _Plain(_Named, Protocol):
    def __call__(
        self, probs: object, labels: object = None, *, weights: object = None, logits: bool = False
    ) -> float: ...

class _Sweep(_Plain, Protocol):
    def estimator(self) -> SweepError: ...

class _Density(_Plain, Protocol):
    def estimator(self) -> DensityError: ...

class _Smooth(_Plain, Protocol):
    def estimator(self) -> SmoothError: ...

class _Cumulative(_Plain, Protocol):
    def estimator(self) -> CumulativeError: ...

class _Brier(_Plain, Protocol):
    def estimator(self) -> Brier: ...

class _LogLoss(_Plain, Protocol):
    def estimator(self) -> LogLoss: ...

ace: _Binned
brier: _Brier
e50: _Clinical
e90: _Clinical
ece: _Binned
ece_debiased: _Binned
ece_kde: _Density
ece_sweep: _Sweep
ici: _Clinical
ks_error: _Cumulative
kuiper: _Cumulative
log_loss: _LogLoss
marginal_error: _Binned
marginal_error_debiased: _Binned
mce: _Binned
mmce: _Mmce
psce: _Psce
rmsce: _Binned
rmsce_debiased: _Binned
rmsce_sweep: _Sweep
sce: _Binned
skce: _Skce
smooth_ece: _Smooth
tace: _Tace
