"""Prediction-specific errors against brute-force weights, at decays that underflow and ties."""

from __future__ import annotations

import json

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import trueup as tu
from oracles import pointwise as oracle
from support.samples import Sample, binary_samples, draw_binary, draw_matrix, matrix_samples
from trueup.engines import set_threads
from trueup.estimators.bin_free import pointwise
from trueup.estimators.bin_free.pointwise import PointwiseError

DECAYS = [0.9, 0.01, 0.999, 0.5, 1e-4, 1e-100, 1.0]

pytestmark = pytest.mark.usefixtures("each_engine")


def assert_close(ours, expected):
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-11)


def agrees_with_oracle(p, y, decay=0.9, w=None, exact=None):
    """Compare curve, errors and value; ``exact`` are the scores as the oracle sees them."""
    estimator, exact = PointwiseError(decay=decay), p if exact is None else exact
    estimate = estimator.measure(p, y, weights=w)
    assert_close(estimate.table["mean_label"], oracle.psce_curve(exact, y, decay, w))
    assert_close(estimator.errors(p, y, weights=w), oracle.pointwise_errors(exact, y, decay, w))
    assert_close(estimate.value, oracle.psce(exact, y, decay, w))


@given(binary_samples, st.sampled_from(DECAYS))
def test_one_set_of_pairs(sample: Sample, decay: float):
    agrees_with_oracle(sample.probs, sample.labels, decay, sample.weights)


@settings(max_examples=20)
@given(matrix_samples, st.sampled_from(DECAYS))
def test_every_class_of_a_matrix(sample: Sample, decay: float):
    probs, y, w = sample.probs, sample.labels, sample.weights
    estimator = PointwiseError(decay=decay)
    assert_close(estimator(probs, y, weights=w), oracle.psce(probs, y, decay, w))
    errors = estimator.errors(probs, y, weights=w)
    assert errors.shape == probs.shape
    for k in range(probs.shape[1]):
        expected = oracle.pointwise_errors(probs[:, k], (y == k).astype(int), decay, w)
        assert_close(errors[:, k], expected)


@pytest.mark.parametrize("k", [2, 1000])
def test_two_classes_and_a_thousand(k: int):
    sample = draw_matrix(5, 6, k, "smooth")
    ours = PointwiseError()(sample.probs, sample.labels)
    assert_close(ours, oracle.psce(sample.probs, sample.labels))


@pytest.mark.parametrize("towards", [-1.0, 2.0, None])
def test_scores_on_the_points_and_one_float_beside_them(towards: float | None):
    points = np.arange(101) / 100
    p = points if towards is None else np.clip(np.nextafter(points, towards), 0, 1)
    y = np.random.default_rng(0).integers(0, 2, 101)
    for decay in (0.9, 0.01, 0.999):
        agrees_with_oracle(p, y, decay)


@pytest.mark.parametrize("decay", [0.01, 1e-4, 1e-100])
def test_a_side_whose_weight_underflows_still_counts_half(decay: float):
    p, y = np.array([0.0, 0.0, 0.0, 1.0]), np.array([1, 0, 0, 1])
    curve = PointwiseError(decay=decay).table(p, y)
    assert_close(curve["mean_label"][1:100], np.full(99, 0.5 * (1 / 3) + 0.5 * 1))
    assert np.isfinite(curve["weight"]).all()
    agrees_with_oracle(p, y, decay)
    agrees_with_oracle(np.full(3, 0.37), np.array([1, 0, 1]), decay)


@pytest.mark.parametrize("weights", [[1e-150, 1.0, 1.0], [1e-150, 2e-150, 1e-150]])
def test_very_small_weights(weights: list[float]):
    p, y = np.array([0.005, 0.5, 0.995]), np.array([1, 0, 1])
    agrees_with_oracle(p, y, 1e-50, np.array(weights))


def test_the_weight_of_a_point_is_that_of_all_rows():
    sample = draw_binary(3, 60, "rounded", "eighths")
    for decay in (0.9, 0.999):
        table = PointwiseError(decay=decay).table(
            sample.probs, sample.labels, weights=sample.weights
        )
        away = np.abs(sample.probs[:, None] - np.arange(101) / 100)
        expected = (sample.weights[:, None] * decay ** (away / 0.01)).sum(axis=0)
        np.testing.assert_allclose(table["weight"], expected, rtol=1e-10)


@given(binary_samples, st.sampled_from(DECAYS))
def test_weights_are_repeated_rows(sample: Sample, decay: float):
    times = 1 + np.arange(len(sample.labels)) % 3
    estimator = PointwiseError(decay=decay)
    weighted = estimator(sample.probs, sample.labels, weights=times)
    repeated = estimator(np.repeat(sample.probs, times), np.repeat(sample.labels, times))
    assert_close(weighted, repeated)
    assert_close(estimator(sample.probs, sample.labels, weights=times / 7), weighted)


def test_soft_labels_are_shares_of_a_row():
    sample = draw_binary(11, 40, "smooth")
    soft = np.random.default_rng(1).random(40)
    forecasts = tu.Forecasts.from_arrays(sample.probs, soft, soft_labels=True)
    p, y = np.tile(sample.probs, 2), np.repeat([1, 0], 40)
    assert_close(PointwiseError()(forecasts), oracle.psce(p, y, weights=np.r_[soft, 1 - soft]))


def test_float32_scores_are_compared_as_float64():
    p = (np.arange(101, dtype=np.float32) / np.float32(100)).astype(np.float32)
    y = np.arange(101) % 3 == 0
    agrees_with_oracle(p, y.astype(int), exact=p.astype(np.float64))


def test_mirrored_data_have_the_same_errors():
    rng = np.random.default_rng(2)
    p, y = rng.integers(0, 65, 200) / 64, rng.integers(0, 2, 200)
    errors = PointwiseError().errors(p, y)
    assert_close(PointwiseError().errors(1 - p, 1 - y), errors)
    assert errors.mean() == pytest.approx(PointwiseError()(p, y), rel=1e-12)


def test_blocks_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch):
    sample = draw_binary(7, 2_000, "smooth", "eighths")
    args = (sample.probs, sample.labels)
    whole = PointwiseError()(*args, weights=sample.weights)
    monkeypatch.setattr(pointwise, "BLOCK_ROWS", 7)
    values = []
    for threads in (1, 2, 3):
        set_threads(threads)
        try:
            values.append(PointwiseError()(*args, weights=sample.weights))
        finally:
            set_threads(None)
    assert values[0] == values[1] == values[2] == pytest.approx(whole, rel=1e-12)


def test_many_equal_scores_do_not_drift():
    n = 3_000_000
    y = np.zeros(n, np.int64)
    y[: n // 4] = 1
    assert PointwiseError()(np.full(n, 0.3), y) == pytest.approx(0.05, abs=1e-12)


@pytest.mark.parametrize("p", [0.0, 1.0, 0.5, 0.123])
def test_one_row(p: float):
    assert PointwiseError()([p], [1]) == pytest.approx(1 - p, abs=1e-15)
    assert PointwiseError().errors([p], [0]).tolist() == pytest.approx([p], abs=1e-15)


def test_not_zero_at_the_truth_near_the_ends():
    """Ten rows of each k/10, k of them positive: a warning of the docstring, held to its word."""
    p, y = np.repeat(np.arange(11) / 10, 10), np.concatenate([np.arange(10) < k for k in range(11)])
    curve = PointwiseError().table(p, y)
    assert curve["mean_label"][0] > 0.02
    assert curve["mean_label"][100] < 0.98
    assert curve["mean_label"][50] == pytest.approx(0.5, abs=1e-12)


def test_a_curve_for_every_class():
    table = PointwiseError().table([[0.7, 0.2, 0.1], [0.6, 0.3, 0.1]], [0, 1])
    assert list(table.columns()) == ["class", "score", "mean_label", "weight"]
    assert len(table) == 303
    json.dumps(table.to_dict())


def test_lenses_other_than_the_default():
    sample = draw_matrix(1, 30, 3, "smooth")
    probs, y = sample.probs, sample.labels
    confidence, right = probs.max(axis=1), (probs.argmax(axis=1) == y).astype(int)
    assert_close(PointwiseError(tu.lens.TopLabel())(probs, y), oracle.psce(confidence, right))
    assert PointwiseError(tu.lens.TopLabel()).errors(probs, y).shape == (30,)
    assert PointwiseError(tu.lens.ClassWise()).errors(probs[:, 1] / 2, y == 1).shape == (30, 1)
    assert np.isfinite(PointwiseError(tu.lens.ClassWise(where=(0.4, 1.0)))(probs, y))


NO_ERRORS = "`lens` must yield scores, or be ClassWise() without a region; got "


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PointwiseError(decay=0), "`decay` must be a number from 1e-100 to 1; got 0."),
        (lambda: PointwiseError(decay=1.1), "`decay` must be a number from 1e-100 to 1; got 1.1."),
        (
            lambda: PointwiseError(decay=float("nan")),
            "`decay` must be a number from 1e-100 to 1; got nan.",
        ),
        (
            lambda: PointwiseError(tu.lens.TopLabelByClass()).errors([[0.5, 0.5]], [1]),
            NO_ERRORS + "TopLabelByClass().",
        ),
        (
            lambda: PointwiseError(tu.lens.ClassWise(where=(0, 0.5))).errors([[0.5, 0.5]], [1]),
            NO_ERRORS + "ClassWise(where=(0, 0.5), class_weights=None).",
        ),
        (
            lambda: PointwiseError(tu.lens.Canonical())([[0.5, 0.5]], [1]),
            "`lens` must yield scores, not points on the simplex; got Canonical().",
        ),
    ],
)
def test_refused(make, message: str):
    with pytest.raises(tu.InputError) as refused:
        make()
    assert str(refused.value) == message
