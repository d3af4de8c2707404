"""Resamples without a sort: they are what sorting each resample would have given."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import trueup as tu
from trueup.engines import using
from trueup.engines.memory import Scratch
from trueup.inference.hypothesis_tests.sorted_resamples import (
    SortedPairs,
    powers_of,
    sorted_problem,
)
from trueup.inference.many_metrics import estimate_many
from trueup.lens import Pairs

ESTIMATORS = [
    tu.CumulativeError(),
    tu.CumulativeError(statistic="kuiper"),
    tu.SweepError(),
    tu.SweepError(norm=2, binning="equal-width"),
    tu.SmoothError(),
    tu.KernelError(),
    tu.KernelError(form="biased", kernel="gaussian"),
    tu.MMCE(),
    tu.MMCE(weighted=True),
]


def problem(n, decimals, seed):
    rng = np.random.default_rng(seed)
    p = rng.random(n).round(decimals)
    return p, (rng.random(n) < p**1.3).astype(np.int64)


def rows_of(groups):
    """The rows that groups stand for."""
    pairs = zip(groups.hits, groups.rank, strict=True)
    labels = [np.r_[np.ones(h), np.zeros(c - h)] for h, c in pairs]
    return np.repeat(groups.value, groups.rank), np.concatenate(labels).astype(np.int64)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
@pytest.mark.parametrize(("n", "decimals"), [(1, 6), (2, 1), (60, 1), (60, 6), (900, 2)])
def test_power_of_ties_is_the_power_of_their_rows(estimator, n, decimals):
    p, y = problem(n, decimals, n)
    ready = sorted_problem(estimator, tu.Forecasts.from_arrays(p, y))
    assert estimator.power_of_ties(ready.groups) == pytest.approx(
        estimator.measure(p, y).pth_power, rel=1e-6, abs=1e-12
    )
    for key in (np.uint64(1), np.uint64(77)):
        drawn = ready.with_drawn_rows(key)
        again = estimator.measure(*rows_of(drawn)).pth_power
        assert estimator.power_of_ties(drawn) == pytest.approx(again, rel=1e-6, abs=1e-12)


@given(st.integers(1, 80), st.integers(1, 4), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_resamples_are_of_these_rows(n, decimals, seed):
    p, y = problem(n, decimals, seed)
    ready = SortedPairs.of(Pairs(p, y, None))
    key = np.uint64(seed)
    rows = ready.with_drawn_rows(key)
    value, label = rows_of(rows)
    assert len(value) == n
    assert np.all(np.diff(rows.value) > 0)
    assert {*zip(value, label, strict=True)} <= {*zip(p, y, strict=True)}
    labels = ready.with_drawn_labels(key)
    assert np.array_equal(labels.value, np.unique(p))
    assert labels.rank.sum() == n
    assert np.all((labels.hits >= 0) & (labels.hits <= labels.rank))
    with using("reference"):
        same = ready.with_drawn_rows(key)
    for name in ("value", "rank", "hits"):
        assert np.array_equal(getattr(same, name), getattr(rows, name))


def test_draws_have_the_right_distribution():
    p = np.repeat([0.1, 0.5, 0.9, 1.0], [5, 1, 3, 2])
    y = np.array([0, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1])
    ready = SortedPairs.of(Pairs(p, y, None))
    keys = np.arange(1, 4001, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    hits = np.mean([ready.with_drawn_labels(key).hits for key in keys], axis=0)
    spread = np.sqrt(np.array([5 * 0.09, 0.25, 3 * 0.09, 0]) / len(keys))
    assert np.all(np.abs(hits - [0.5, 0.5, 2.7, 2]) <= 4.5 * spread)
    drawn = [dict(zip(g.value, g.rank, strict=True)) for g in map(ready.with_drawn_rows, keys)]
    share = np.mean([[d.get(v, 0) / len(p) for v in (0.1, 0.5, 0.9, 1.0)] for d in drawn], axis=0)
    assert share == pytest.approx(np.array([5, 1, 3, 2]) / 11, abs=0.02)


def test_the_order_of_rows_and_the_threads_change_nothing():
    p, y = problem(300, 2, 4)
    turned = np.random.default_rng(0).permutation(300)
    found = []
    for rows in (slice(None), turned):
        ready = SortedPairs.of(Pairs(p[rows], y[rows], None))
        found += [powers_of([tu.SweepError()], ready.with_drawn_rows, 3, 40)]
    tu.engines.set_threads(1)
    found += [powers_of([tu.SweepError()], ready.with_drawn_rows, 3, 40)]
    tu.engines.set_threads(None)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_other_problems_are_left_to_others():
    p, y = problem(30, 2, 4)
    matrix = np.column_stack([1 - p, p])
    assert sorted_problem(tu.BinnedError(), tu.Forecasts.from_arrays(p, y)) is None
    assert sorted_problem(tu.SweepError(), tu.Forecasts.from_arrays(p, y, weights=p + 0.1)) is None
    assert sorted_problem(tu.SweepError(), tu.Forecasts.from_arrays(p, y, clusters=y)) is None
    assert (
        sorted_problem(tu.SweepError(tu.lens.ClassWise()), tu.Forecasts.from_arrays(matrix, y))
        is None
    )
    assert sorted_problem(tu.KernelError(form="block"), tu.Forecasts.from_arrays(p, y)) is None
    assert sorted_problem(tu.SweepError(), tu.Forecasts.from_arrays(matrix, y)) is not None


def test_metrics_taken_together_are_those_taken_alone():
    p, y = problem(400, 3, 9)
    metrics = [tu.ece, tu.ks_error, tu.SmoothError(), tu.ece_sweep, tu.brier, tu.mmce]
    together = estimate_many(metrics, p, y, rng=5, n_resamples=59)
    for metric, found in zip(metrics, together, strict=True):
        assert found.interval == tu.interval(metric, p, y, rng=5, n_resamples=59)
        alone = tu.calibration_test(p, y, statistic=metric, rng=5, n_resamples=59)
        assert found.test == alone


@pytest.mark.parametrize(
    ("p", "y"), [([0.3], [1]), ([0.0, 1.0, 1.0], [0, 1, 0]), ([0.5] * 8, [0, 1] * 4)]
)
def test_few_and_certain_rows_taken_together(p, y):
    for found in estimate_many([tu.ks_error, tu.smooth_ece], p, y, rng=5, n_resamples=59):
        assert found.interval == tu.interval(found.estimator, p, y, rng=5, n_resamples=59)
        assert found.test == tu.calibration_test(
            p, y, statistic=found.estimator, rng=5, n_resamples=59
        )


@pytest.mark.parametrize(("n", "decimals"), [(2, 1), (40, 1), (300, 2), (700, 17)])
def test_engines_and_threads_give_the_same_pvalues(n, decimals):
    p, y = problem(n, decimals, n)
    p = np.clip(p, 0.01, 0.99)  # all certain is another matter
    found = []
    for engine in ("native", "reference"):
        try:
            block = using(engine)
            block.__enter__()
        except tu.CapabilityError as missing:
            pytest.skip(str(missing))
        for threads in (1, 2):
            tu.engines.set_threads(threads)
            found.append(estimate_many(ESTIMATORS, p, y, rng=3, n_resamples=39))
            tu.engines.set_threads(None)
        block.__exit__(None, None, None)
    for one, two, three, four in zip(*found, strict=True):
        assert one == two
        assert three == four
        assert one.test.pvalue == three.test.pvalue
        assert one.interval.low == pytest.approx(three.interval.low, rel=1e-9, abs=1e-12)
        assert one.interval.high == pytest.approx(three.interval.high, rel=1e-9, abs=1e-12)


def test_a_room_that_is_used_again_changes_nothing():
    p, y = problem(500, 2, 6)
    ready, room = SortedPairs.of(Pairs(p, y, None)), Scratch()
    for key in map(np.uint64, range(1, 9)):
        for draw in (ready.with_drawn_rows, ready.with_drawn_labels):
            for estimator in ESTIMATORS:
                fresh = estimator.power_of_ties(draw(key))
                assert estimator.power_of_ties(draw(key, room)) == fresh
