"""A test for rows in clusters, which flips the signs of the residuals of whole clusters.

For a calibrated model, score − label has mean 0, even if the rows of a cluster depend on each
other. Random signs for whole clusters preserve this dependence and the size of every residual (the
wild cluster bootstrap). They show how large a statistic of residuals becomes by chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from trueup._typing import Floats, Ints
from trueup.engines.blocks import ENTRIES, cut, steps
from trueup.engines.draw_keys import keys_of
from trueup.engines.select import engine
from trueup.engines.threads import run
from trueup.errors import Argument, InputError, Verbatim, must_be
from trueup.estimators.base import Estimator, known_estimator
from trueup.forecasts import Forecasts
from trueup.inference.arguments import check_resamples
from trueup.inference.cluster_tests.cluster_draws import (
    AT_ONCE,
    SharedDraws,
    about_clusters,
    drawn_signs,
    few_clusters,
    joint_pvalue,
    relative,
)
from trueup.inference.hypothesis_tests.binned_resamples import can_fuse
from trueup.inference.hypothesis_tests.null_distribution import refuse_soft_labels, resampled_pvalue
from trueup.metrics import rmsce_debiased
from trueup.results import CalibrationTestResult, Estimate
from trueup.seeds import Seed, seed_of

DEFAULT_STATISTIC = rmsce_debiased.estimator().plug_in()
CELLS = 15  # of equal mass, in which the spread of residuals is taken
CHUNK_ENTRIES = 1 << 16  # fewer entries than this are not worth a thread


def cluster_signs(
    forecasts: Forecasts, *, statistic: Estimator | None, n_resamples: int, rng: Seed
) -> CalibrationTestResult:
    """Test by cluster signs: asymptotic in the number of clusters, and rough with few of them.

    With fewer than 100 clusters, labels are drawn too, and the p-values are combined: see
    `cluster_draws`. The statistics of drawn labels are divided by their scale under signs. It is Σ
    R²/n over clusters and 15 cells of scores, with R the sum of residuals, raised to the power with
    which the statistic grows if all residuals are multiplied by a factor.
    """
    estimator = DEFAULT_STATISTIC if statistic is None else statistic
    check_resamples(n_resamples)
    refuse_soft_labels(forecasts)
    known = known_estimator(estimator, "statistic")
    if known is None or not known.of_residuals:
        rule = "BinnedError() without correction, CumulativeError(), SmoothError() or None here"
        got = Verbatim("a statistic that needs more than residuals")
        raise must_be("statistic", rule, estimator if known is None else got)
    if forecasts.clusters is None:
        required = ("This test requires ", Argument("clusters"))
        hint = ("set ", Argument("clusters"), " in Forecasts.from_arrays, or use ")
        raise InputError("clusters", required, hint=(*hint, Argument("method", "consistency")))
    seed = seed_of(rng)
    if can_fuse(estimator, forecasts) and not forecasts.is_matrix:
        observed, *drawn = _fused(estimator, forecasts, seed, n_resamples)
    else:
        observed, *drawn = signed(estimator, forecasts, seed, n_resamples, lambda e: e.pth_power)
    by_signs = np.array(drawn)
    pvalue = resampled_pvalue(observed, by_signs)
    about = about_clusters(len(np.unique(forecasts.clusters)))
    if few_clusters(forecasts):
        shared = SharedDraws.from_forecasts(forecasts)
        first, *others = _of_drawn_labels(estimator, forecasts, shared, seed, n_resamples)
        pvalue = joint_pvalue(pvalue, resampled_pvalue(first, np.array(others)), shared)
    return CalibrationTestResult(
        observed,
        pvalue,
        "cluster-signs",
        "score − label has mean 0 given the scores, clusters independent of each other",
        {"estimator": repr(estimator), "n_resamples": n_resamples} | about,
        by_signs,
    )


def _fused(statistic: Estimator, forecasts: Forecasts, seed: int, n_resamples: int) -> list[float]:
    """Return the powers of a binned error, as `signed` does, from residuals by cluster and bin."""
    index, powers = _powers_of_residuals(statistic, forecasts)
    residual = _residuals(forecasts)[1]
    if forecasts.weights is not None:
        residual = residual * forecasts.weights
    assert forecasts.clusters is not None
    cluster = np.unique(forecasts.clusters, return_inverse=True)[1].reshape(-1)
    n_clusters, n_bins = int(cluster.max()) + 1, int(index.max()) + 1
    sums = np.bincount(cluster * n_bins + index, residual, n_clusters * n_bins)
    table = sums.reshape(n_clusters, n_bins)
    keys = keys_of(seed, n_resamples)
    found = [powers(table.sum(axis=0)[None])]
    for first, last in steps(n_resamples, max(1, ENTRIES // n_clusters)):
        found.append(powers(drawn_signs(n_clusters, keys[first:last]) @ table))
    return [float(power) for some in found for power in some]


def _powers_of_residuals(
    statistic: Any, forecasts: Forecasts
) -> tuple[Ints, Callable[[Floats], Floats]]:
    """Return the bin of each row, and the function from Σ w(p − y) by bin to powers."""
    table = statistic.table_for_labels(statistic.measure_forecasts(forecasts).table)
    index = np.searchsorted(table.edges[1:-1], forecasts.scores.astype(np.float64), side="left")

    def powers(residual: Floats) -> Floats:
        found: Floats = statistic.powers_for_labels(table, table.sums.score - residual)
        return found[1:]  # the first is that of the labels of the table

    return index, powers


def _of_drawn_labels(
    statistic: Estimator, forecasts: Forecasts, shared: SharedDraws, seed: int, n_resamples: int
) -> list[float]:
    """Return a statistic of the data, then of drawn labels, relative to its scale under signs."""
    keys = keys_of(seed, 4 * n_resamples)[n_resamples:].reshape(-1, 3)
    spread = _spread(forecasts, shared)
    degree = _degree(statistic, forecasts)
    powers = _powers_of_labels(statistic, forecasts, shared)

    def some(first: int, last: int) -> list[float]:
        return [float(value) for value in values(shared.labels(keys[first:last]))]

    def values(labels: Ints) -> Floats:
        return relative(powers(labels), spread(labels) ** (degree / 2))

    observed = values(forecasts.labels[shared.order][None])
    parts = run(some, steps(n_resamples, max(1, AT_ONCE // _entries(forecasts))), tell=True)
    return [float(observed[0]), *(number for part in parts for number in part)]


def _entries(forecasts: Forecasts) -> int:
    """Return the number of predicted probabilities."""
    return forecasts.n * (forecasts.n_classes if forecasts.is_matrix else 1)


def _powers_of_labels(
    statistic: Estimator, forecasts: Forecasts, shared: SharedDraws
) -> Callable[[Ints], Floats]:
    """Return a function from drawn labels, one row per draw, to the powers of a statistic."""
    if can_fuse(statistic, forecasts) and not forecasts.is_matrix:
        index, powers = _powers_of_residuals(statistic, forecasts)
        n_bins = int(index.max()) + 1
        place = index[shared.order]
        p = forecasts.scores.astype(np.float64)[shared.order]
        w = 1.0 if forecasts.weights is None else forecasts.weights[shared.order]

        def summed(labels: Ints) -> Floats:
            here = place + n_bins * np.arange(len(labels))[:, None]
            sums = np.bincount(here.reshape(-1), ((p - labels) * w).reshape(-1))
            return powers(sums.astype(np.float64).reshape(len(labels), n_bins))

        return summed

    def measured(labels: Ints) -> Floats:
        as_given = np.empty_like(labels)
        as_given[:, shared.order] = labels
        found = [statistic.measure_forecasts(forecasts.with_labels(each)) for each in as_given]
        return np.array([each.pth_power for each in found])

    return measured


def _degree(statistic: Estimator, forecasts: Forecasts) -> float:
    """Return the exponent with which a statistic grows if all residuals are scaled."""
    predicted, residual = _residuals(forecasts)
    whole, half = (
        statistic.measure_forecasts(forecasts.with_labels(predicted - residual / by)).pth_power
        for by in (1, 2)
    )
    return math.log2(whole / half) if half > 0 else 1.0


def _spread(forecasts: Forecasts, shared: SharedDraws) -> Callable[[Ints], Floats]:
    """Return a function from labels, one row per draw, to Σ R²/n over clusters and cells."""
    score = (forecasts.top[0] if forecasts.is_matrix else forecasts.scores)[shared.order]
    cell = np.searchsorted(np.sort(score), score) * CELLS // len(score)
    weight = np.ones(len(score)) if forecasts.weights is None else forecasts.weights[shared.order]
    place = shared.cluster * CELLS + cell
    by_place = np.argsort(place, kind="stable")
    ordered = place[by_place]
    start = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    of_cell = np.bincount(cell, weight, CELLS)[ordered[start] % CELLS]
    predicted = _residuals(forecasts)[0][shared.order]

    def of(labels: Ints) -> Floats:
        if forecasts.is_matrix:
            terms = np.repeat(predicted[None], len(labels), axis=0)
            draw, row = np.indices(labels.shape)
            terms[draw, row, labels] -= 1
        else:
            terms = (predicted - labels)[:, :, None]
        terms = terms * weight[:, None]
        sums = np.add.reduceat(terms[:, by_place], start, axis=1)
        return np.asarray(((sums**2).sum(axis=2) / of_cell).sum(axis=1))

    return of


def signed(
    statistic: Estimator,
    forecasts: Forecasts,
    seed: int,
    n_resamples: int,
    number_of: Callable[[Estimate], float],
) -> list[float]:
    """Return the statistic of the data, then of data whose clusters change sign."""
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
    parts = run(some, cut(n_resamples, -(-CHUNK_ENTRIES // residual.size)), tell=True)
    return [one(np.ones(forecasts.n)), *(number for part in parts for number in part)]


def _residuals(forecasts: Forecasts) -> tuple[Floats, Floats]:
    """Return predictions in float64, and predictions minus labels."""
    if not forecasts.is_matrix:
        p = forecasts.scores.astype(np.float64)
        return p, p - forecasts.labels
    rows = forecasts.rows(slice(None))
    return rows, rows - forecasts.one_hot(slice(None))
