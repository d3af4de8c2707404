"""A test for rows that come in clusters: the residuals of whole clusters change sign.

In a calibrated model score − label has mean 0, whatever else the rows of a cluster share. Signs
drawn for whole clusters keep what they share and the size of every residual (the wild bootstrap
of clusters), so they show how large a statistic of residuals gets by chance.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from trueup._typing import Floats
from trueup.engines.blocks import cut
from trueup.engines.draw_keys import keys_of
from trueup.engines.select import engine
from trueup.engines.threads import run
from trueup.errors import Argument, InputError, Verbatim, must_be
from trueup.estimators.base import Estimator, known_estimator
from trueup.forecasts import Forecasts
from trueup.inference.arguments import check_resamples
from trueup.inference.hypothesis_tests.null_distribution import refuse_soft_labels, resampled_pvalue
from trueup.metrics import rmsce_debiased
from trueup.results import CalibrationTestResult, Estimate
from trueup.seeds import Seed, seed_of

DEFAULT_STATISTIC = rmsce_debiased.estimator().plug_in()
CHUNK_ENTRIES = 1 << 16  # fewer entries than this are not worth a thread


def cluster_signs(
    forecasts: Forecasts, *, statistic: Estimator | None, n_resamples: int, rng: Seed
) -> CalibrationTestResult:
    """Test by signs of clusters: asymptotic in their number, and no test with a few of them."""
    estimator = DEFAULT_STATISTIC if statistic is None else statistic
    check_resamples(n_resamples)
    refuse_soft_labels(forecasts)
    known = known_estimator(estimator, "statistic")
    if known is None or not known.of_residuals:
        rule = "BinnedError() without correction, CumulativeError(), SmoothError() or None here"
        got = Verbatim("a statistic of more than score − label")
        raise must_be("statistic", rule, estimator if known is None else got)
    if forecasts.clusters is None:
        required = ("This test requires ", Argument("clusters"))
        hint = ("set ", Argument("clusters"), " in Forecasts.from_arrays, or use ")
        raise InputError("clusters", required, hint=(*hint, Argument("method", "consistency")))
    observed, *drawn = signed(
        estimator, forecasts, seed_of(rng), n_resamples, lambda e: e.pth_power
    )
    return CalibrationTestResult(
        observed,
        resampled_pvalue(observed, np.array(drawn)),
        "cluster-signs",
        "score − label has mean 0 given the scores, clusters independent of each other",
        {
            "estimator": repr(estimator),
            "n_resamples": n_resamples,
            "clusters": len(np.unique(forecasts.clusters)),
            "asymptotic": True,
        },
    )


def signed(
    statistic: Estimator,
    forecasts: Forecasts,
    seed: int,
    n_resamples: int,
    number_of: Callable[[Estimate], float],
) -> list[float]:
    """A number of the statistic of the data, then of data whose clusters changed sign."""
    assert forecasts.clusters is not None
    cluster = np.unique(forecasts.clusters, return_inverse=True)[1].reshape(-1)
    predicted, residual = _residuals(forecasts)
    even = np.full(int(cluster.max()) + 1, 1 << 63, np.uint64)

    def one(sign: Floats) -> float:
        signs = sign if residual.ndim == 1 else sign[:, None]
        turned = forecasts.with_labels(predicted - signs * residual)
        return number_of(statistic.measure_forecasts(turned))

    def some(first: int, last: int) -> list[float]:
        drawn = (engine.draws.draw_labels(even, key) for key in keys[first:last])
        return [one(np.where(up, 1.0, -1.0)[cluster]) for up in drawn]

    keys = keys_of(seed, n_resamples)
    parts = run(some, cut(n_resamples, -(-CHUNK_ENTRIES // residual.size)))
    return [one(np.ones(forecasts.n)), *(number for part in parts for number in part)]


def _residuals(forecasts: Forecasts) -> tuple[Floats, Floats]:
    """Predictions in float64, and what they are above the labels."""
    if not forecasts.is_matrix:
        p = forecasts.scores.astype(np.float64)
        return p, p - forecasts.labels
    rows = forecasts.rows(slice(None))
    return rows, rows - forecasts.one_hot(slice(None))
