"""ICI, E50, E90 and Emax against their oracle, NumPy's quantiles and repeated rows."""

from __future__ import annotations

import json
import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given

import trueup as tu
from oracles import clinical as oracle
from support.samples import Sample, binary_samples, draw_binary, draw_matrix
from trueup.estimators.bin_free.curve_error import CurveError, quantile_of
from trueup.estimators.bin_free.loess import in_largest_unit

LEVELS = [0.0, 0.5, 0.9, 1.0]

pytestmark = pytest.mark.usefixtures("each_engine")


@given(binary_samples, st.sampled_from([0.75, 0.4, 1.0]))
def test_curve_errors(sample: Sample, span: float):
    p, y = sample.probs, sample.labels
    assume(np.gcd.reduce(np.unique(p, return_counts=True)[1]) == 1)
    assert CurveError(span=span)(p, y) == pytest.approx(oracle.ici(p, y, span), abs=1e-10)
    for level in LEVELS:
        expected = oracle.curve_error_quantile(p, y, level, span)
        assert CurveError(quantile=level, span=span)(p, y) == pytest.approx(expected, abs=1e-10)


@given(binary_samples)
def test_curve_errors_of_weights_are_those_of_repeated_rows(sample: Sample):
    p, y = sample.probs, sample.labels
    times = 1 + np.arange(len(y)) % 3
    for level in (None, *LEVELS):
        estimator = CurveError(quantile=level)
        repeated = estimator(np.repeat(p, times), np.repeat(y, times))
        assert estimator(p, y, weights=times) == pytest.approx(repeated, abs=1e-11)
        assert estimator(p, y, weights=times / 7) == pytest.approx(repeated, abs=1e-11)
        again = estimator(np.repeat(p, 2 * times), np.repeat(y, 2 * times))
        assert again == pytest.approx(repeated, abs=1e-11)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=12), st.floats(0, 1))
def test_quantiles_are_those_of_numpy(times: list[int], level: float):
    errors = np.random.default_rng(len(times)).random(len(times))
    counts = np.array(times, np.int64)
    expected = np.quantile(np.repeat(errors, in_largest_unit(counts)), level)
    assert quantile_of(errors, counts, level) == pytest.approx(expected, abs=1e-12)


def test_quantiles_of_weights_without_a_common_unit():
    errors, weights = np.array([0.3, 0.1, 0.2]), np.array([0.5, math.pi / 10, 0.2])
    total = weights.sum()
    assert quantile_of(errors, weights, 0.0) == 0.1
    assert quantile_of(errors, weights, weights[1] / total) == 0.1
    assert quantile_of(errors, weights, (weights[1] + 0.1) / total) == 0.2
    assert quantile_of(errors, weights, 0.9) == 0.3
    assert quantile_of(errors, weights, 1.0) == 0.3


def test_a_curve_that_is_the_truth_has_no_error():
    p, y = np.repeat(np.arange(11) / 10, 10), np.concatenate([np.arange(10) < k for k in range(11)])
    for level in (None, *LEVELS):
        assert CurveError(quantile=level)(p, y) == pytest.approx(0, abs=1e-12)


def test_the_table_is_the_curve():
    rng = np.random.default_rng(0)
    z = rng.normal(0, 2, 5_000)
    p, rate = 1 / (1 + np.exp(-z)), 1 / (1 + np.exp(0.5 - 0.7 * z))
    y = (rng.random(5_000) < rate).astype(int)
    estimate = CurveError().measure(p, y)
    assert list(estimate.table.columns()) == ["score", "mean_label"]
    assert estimate.notes == {"fitted": len(estimate.table), "distinct": 5_000}
    assert 300 < len(estimate.table) < 1_000
    assert estimate.table["score"][[0, -1]].tolist() == [p.min(), p.max()]
    json.dumps(estimate.to_dict())
    assert estimate.value == pytest.approx(np.abs(p - rate).mean(), abs=0.02)


def test_every_class_by_itself():
    sample = draw_matrix(8, 60, 4, "smooth")
    each = [CurveError(tu.lens.OneVsRest(k))(sample.probs, sample.labels) for k in range(4)]
    found = CurveError(tu.lens.ClassWise()).measure(sample.probs, sample.labels)
    assert found.value == pytest.approx(np.mean(each), rel=1e-12)
    assert set(found.table["class"]) == {0, 1, 2, 3}


def test_two_columns_are_the_binary_problem():
    sample = draw_binary(9, 50, "coarse")
    two = np.column_stack([1 - sample.probs, sample.probs])
    assert CurveError()(two, sample.labels) == CurveError()(sample.probs, sample.labels)


A_QUANTILE = "`quantile` must be a number from 0 to 1, or None for the mean; got "
A_SPAN = "`span` must be a number above 0 and up to 1; got "


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: CurveError()([[0.2, 0.3, 0.5]], [2]),
            "`lens` is required if `probs` has more than two columns. "
            "Hint: pass OneVsRest(c) for class c.",
        ),
        (lambda: CurveError(quantile=90), A_QUANTILE + "90."),
        (lambda: CurveError(quantile="max"), A_QUANTILE + "'max'."),
        (lambda: CurveError(span=0), A_SPAN + "0."),
        (lambda: CurveError(span=1.5), A_SPAN + "1.5."),
    ],
)
def test_refused(make, message: str):
    with pytest.raises(tu.InputError) as refused:
        make()
    assert str(refused.value) == message
