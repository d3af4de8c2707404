"""Which estimator a named metric is, so that inference can ask more of it than its value."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from trueup import metrics
from trueup.bins import EqualMass, UniformWidth
from trueup.errors import Words, must_be
from trueup.estimators import (
    MMCE,
    BinnedError,
    Brier,
    CumulativeError,
    CurveError,
    DensityError,
    Estimator,
    KernelError,
    LogLoss,
    PointwiseError,
    SmoothError,
    SweepError,
)
from trueup.lens import ClassWise

__all__ = ["Metric", "composition_of", "estimator_of"]

Metric = Estimator | Callable[..., float]
"""An estimator, a named metric such as `ece`, or a `functools.partial` of one with keywords."""


def _width(n_bins: Any = 15, **fields: Any) -> BinnedError:
    return BinnedError(binning=UniformWidth(n_bins), **fields)


def _mass(n_bins: Any = 15, **fields: Any) -> BinnedError:
    return BinnedError(binning=EqualMass(n_bins), **fields)


def _tace(n_bins: Any = 15, threshold: float = 0.01, literal: bool = False) -> BinnedError:
    lens = ClassWise(where=(threshold, 1.0))
    return BinnedError(lens, EqualMass(n_bins), equal_shares=literal)


_COMPOSITIONS: dict[Callable[..., float], Callable[..., Estimator]] = {
    metrics.ece: _width,
    metrics.rmsce: partial(_width, norm=2),
    metrics.mce: partial(_width, norm=math.inf),
    metrics.sce: partial(_width, lens=ClassWise()),
    metrics.ace: partial(_mass, lens=ClassWise()),
    metrics.tace: _tace,
    metrics.ece_debiased: partial(_mass, debias=True),
    metrics.rmsce_debiased: partial(_mass, norm=2, debias=True),
    metrics.marginal_error: partial(_mass, lens=ClassWise(), norm=2),
    metrics.marginal_error_debiased: partial(_mass, lens=ClassWise(), norm=2, debias=True),
    metrics.ece_sweep: SweepError,
    metrics.rmsce_sweep: partial(SweepError, norm=2),
    metrics.ece_kde: DensityError,
    metrics.smooth_ece: SmoothError,
    metrics.skce: KernelError,
    metrics.mmce: MMCE,
    metrics.ks_error: CumulativeError,
    metrics.kuiper: partial(CumulativeError, statistic="kuiper"),
    metrics.psce: PointwiseError,
    metrics.ici: CurveError,
    metrics.e50: partial(CurveError, quantile=0.5),
    metrics.e90: partial(CurveError, quantile=0.9),
    metrics.brier: Brier,
    metrics.log_loss: LogLoss,
}


def composition_of(metric: Any, name: str = "estimator") -> Estimator | None:
    """Return the estimator that a metric is, or None for a function that is none of trueup's.

    A `functools.partial` with keywords is looked through. ``name`` is that of the argument.

    >>> from trueup import ece
    >>> composition_of(partial(ece, n_bins=10))
    BinnedError(lens=None, binning=UniformWidth(n_bins=10), norm=1)
    """
    if isinstance(metric, Estimator):
        return metric
    inner, options = metric, {}
    if isinstance(metric, partial) and not metric.args:
        inner, options = metric.func, metric.keywords
    try:
        compose = _COMPOSITIONS.get(inner)
    except TypeError:  # what cannot be hashed is no metric
        return None
    if compose is None:
        return None
    try:
        return compose(**options)
    except TypeError:
        given = Words(f"a partial with {', '.join(options)}")
        hint = "weights and rng stand beside the data"
        raise must_be(name, "a metric with options that it has", given, hint=hint) from None


def estimator_of(name: str, metric: object) -> Estimator:
    """Return the estimator that a metric, the argument ``name``, is; refuse what is none."""
    known = composition_of(metric, name)
    if known is None:
        rule = "an estimator, such as BinnedError(), or a metric, such as ece"
        raise must_be(name, rule, metric)
    return known
