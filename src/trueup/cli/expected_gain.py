"""The gain from a recalibrator on rows that it was not fitted on."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from trueup.calls.progress import told
from trueup.forecasts import Forecasts
from trueup.inference import interval
from trueup.metrics import brier, log_loss, rmsce_debiased
from trueup.readable import percent
from trueup.recalibrate.auto.auto_calibration import stratified_folds
from trueup.seeds import seed_of

if TYPE_CHECKING:
    from trueup.recalibrate import Recalibrator
    from trueup.results import Interval

__all__ = ["Gain", "cross_fitted"]

FOLDS = 5
TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Gain:
    """Scores and debiased calibration error before and after recalibration, out of fold.

    ``lowered`` is the decrease of the log loss, and ``lowered_se`` its standard error.
    """

    log_loss: tuple[float, float]
    brier: tuple[float, float]
    error: tuple[Interval, Interval]
    lowered: float
    lowered_se: float
    n_folds: int

    @property
    def text(self) -> str:
        """Return the result as a sentence."""
        by = f"{abs(self.lowered):.4f} ± {self.lowered_se:.4f}"
        if self.lowered > 2 * self.lowered_se:
            start = f"On held-out rows, it lowers the log loss by {by}"
        elif self.lowered < -2 * self.lowered_se:
            start = f"On held-out rows, it raises the log loss by {by}"
        else:
            start = f"On held-out rows, it does not clearly change the log loss ({by})"
        before, after = map(_known_error, self.error)
        return f"{start}; the debiased calibration error goes from {before} to {after}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON."""
        return {**asdict(self), "text": self.text}


def _known_error(found: Interval) -> str:
    """Return an estimate as text; an estimate of 0 as an upper limit, the end of its interval."""
    if found.estimate == 0:
        return f"below {found.high:.4f} ({percent(found.confidence_level)} confidence)"
    return f"{found.estimate:.4f}"


def cross_fitted(recalibrator: Recalibrator, forecasts: Forecasts, seed: int = 0) -> Gain | None:
    """Fit copies on all folds except one and score each on that fold; None if rows are too few.

    Groups, features and weights of the forecasts stay with their rows. The folds are those that
    `AutoCalibration` uses to choose.
    """
    folds = stratified_folds(forecasts.labels.astype(np.int64), FOLDS, seed_of(seed))
    if not folds:
        return None
    probs = np.empty((forecasts.n, forecasts.n_classes))
    for train, test in told(folds):
        copy = clone(recalibrator).fit(forecasts.take(train))
        probs[test] = copy.predict_proba(forecasts.take(test))
    if forecasts.is_matrix:
        both = (forecasts.rows(slice(0, forecasts.n)), probs)
    else:
        both = (forecasts.scores, probs[:, 1])
    labels, weights = forecasts.labels, forecasts.weights
    before, after = (Forecasts.from_arrays(each, labels, weights=weights) for each in both)
    losses = _losses(before) - _losses(after)
    lowered, se = _mean(losses, forecasts.weights)
    return Gain(
        (log_loss(forecasts), log_loss(after)),
        (brier(forecasts), brier(after)),
        (interval(rmsce_debiased, before), interval(rmsce_debiased, after)),
        lowered,
        se,
        len(folds),
    )


def _losses(forecasts: Forecasts) -> Any:
    rows = np.arange(forecasts.n)
    chosen = forecasts.rows(slice(0, forecasts.n))[rows, forecasts.labels.astype(np.int64)]
    return -np.log(np.maximum(chosen, TINY))


def _mean(values: Any, weights: Any) -> tuple[float, float]:
    """Return a weighted mean and its standard error."""
    n = len(values)
    share = np.full(n, 1 / n) if weights is None else weights / weights.sum()
    mean = float(share @ values)
    return mean, math.sqrt(n / max(1, n - 1) * float(np.sum((share * (values - mean)) ** 2)))
