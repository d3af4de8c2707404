"""A test for rows that come in clusters: the residuals of whole clusters change sign.

In a calibrated model score − label has mean 0, whatever else the rows of a cluster share. Signs
drawn for whole clusters keep what they share and the size of every residual (the wild bootstrap
of clusters), so they show how large a statistic of residuals gets by chance.
"""

from __future__ import annotations

import numpy as np

from trueup.bins import EqualMass
from trueup.engines.base import Floats, engine
from trueup.engines.draws import keys_of
from trueup.engines.threads import cut, run
from trueup.errors import Words, must_be
from trueup.estimators import BinnedError, CumulativeError, SmoothError
from trueup.estimators.base import Estimator
from trueup.forecasts import Forecasts
from trueup.inference.null_labels import resampled_pvalue
from trueup.inference.seeds import Seed, seed_of
from trueup.results import HypothesisResult
from trueup.specification import check_whole

DEFAULT_STATISTIC = BinnedError(binning=EqualMass(15), norm=2)
CHUNK_ENTRIES = 1 << 16  # fewer entries than this are not worth a thread


def cluster_signs(
    forecasts: Forecasts, *, statistic: Estimator | None, n_resamples: int, rng: Seed
) -> HypothesisResult:
    """Test by signs of clusters: asymptotic in their number, and no test with a few of them."""
    estimator = DEFAULT_STATISTIC if statistic is None else statistic
    check_whole("n_resamples", n_resamples, 1)
    if forecasts.soft:
        raise must_be("labels", "classes for a test of calibration", Words("probabilities"))
    _check_statistic(estimator)
    if forecasts.clusters is None:
        hint = "for independent rows use the method 'consistency', which is exact"
        raise must_be("clusters", "given to Forecasts.of for this test", None, hint=hint)
    _, number = np.unique(forecasts.clusters, return_inverse=True)
    n_clusters = int(number.max()) + 1
    predicted, residual = _residuals(forecasts)
    keys, even = keys_of(seed_of(rng), n_resamples), np.full(n_clusters, 1 << 63, np.uint64)

    def power(sign: Floats) -> float:
        signs = sign if residual.ndim == 1 else sign[:, None]
        return estimator.measure_forecasts(
            forecasts.with_labels(predicted - signs * residual)
        ).power

    def some(first: int, last: int) -> list[float]:
        drawn = (engine().draw_labels(even, key) for key in keys[first:last])
        return [power(np.where(up, 1.0, -1.0)[number]) for up in drawn]

    observed = power(np.ones(forecasts.n))
    parts = run(some, cut(n_resamples, -(-CHUNK_ENTRIES // residual.size)))
    return HypothesisResult(
        observed,
        resampled_pvalue(observed, np.concatenate(parts)),
        "cluster_signs",
        "score − label has mean 0 given the scores, clusters independent of each other",
        {
            "estimator": repr(estimator),
            "n_resamples": n_resamples,
            "clusters": n_clusters,
            "asymptotic": True,
        },
    )


def _residuals(forecasts: Forecasts) -> tuple[Floats, Floats]:
    """Predictions in float64, and what they are above the labels."""
    if not forecasts.is_matrix:
        p = forecasts.scores.astype(np.float64)
        return p, p - forecasts.labels
    rows = forecasts.rows(slice(None))
    return rows, rows - forecasts.one_hot(slice(None))


def _check_statistic(statistic: object) -> None:
    """Refuse what is not a function of score − label alone."""
    linear = isinstance(statistic, CumulativeError | SmoothError)
    if isinstance(statistic, BinnedError):
        linear = not (statistic.debias or statistic.label_binned)
    if not linear:
        rule = "BinnedError() without correction, CumulativeError(), SmoothError() or None here"
        got = Words("a statistic of more than score − label")
        raise must_be("statistic", rule, got if isinstance(statistic, Estimator) else statistic)
