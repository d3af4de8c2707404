"""SmoothECE against its oracle, its exact cases, and the parts it is made of."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import trueup as tu
from oracles import smooth as oracle
from support.samples import KINDS, Sample, binary_samples, draw_binary, matrix_samples
from trueup.engines import set_threads, using
from trueup.engines.select import engine
from trueup.estimators.bin_free.smooth import SmoothError, meeting_point

few = settings(max_examples=max(10, settings.default.max_examples // 3))
seeds = st.integers(0, 10**6)
kinds = st.sampled_from(KINDS)


def promised(value: float) -> float:
    """The accuracy that the docstring states, with room for the oracle's own 1e-12."""
    steps = ((0.01, 1e-10), (0.001, 1e-8), (0.0001, 1e-6))
    return next((error for least, error in steps if value >= least), 1e-5)


def value(sample: Sample) -> float:
    return SmoothError()(sample.probs, sample.labels, weights=sample.weights)


@pytest.mark.usefixtures("each_engine")
@few
@given(binary_samples)
def test_oracle(sample: Sample) -> None:
    expected = oracle.smooth_ece(sample.probs, sample.labels, sample.weights)
    assert value(sample) == pytest.approx(expected, abs=promised(expected))


@few
@given(binary_samples)
def test_float32_scores_are_taken_as_they_are(sample: Sample) -> None:
    narrow = Sample(sample.probs.astype(np.float32), sample.labels, sample.weights)
    wide = Sample(narrow.probs.astype(np.float64), sample.labels, sample.weights)
    assert value(narrow) == value(wide)


@pytest.mark.parametrize("size", [0.3, 0.01, 1e-3, 3e-4, 1e-4, 1e-5, 1e-7])
@given(seed=seeds, n=st.sampled_from([1, 2, 5, 40]))
@settings(max_examples=8)
def test_small_errors_of_soft_labels(size: float, seed: int, n: int) -> None:
    """What is left at the width found bounds its distance from the one width that fits."""
    rng = np.random.default_rng(seed)
    p = rng.random(n) if seed % 2 else np.clip(0.5 + 5 * size * rng.normal(size=n), 0, 1)
    y = np.clip(p + size * rng.normal(size=n), 0, 1)
    found = SmoothError()(tu.Forecasts.from_arrays(p, y, soft_labels=True))
    sums = oracle.residual_sums(p, y)
    if found > 0 and sums:
        assert abs(oracle.integrated_residual(sums, found) - found) <= 2 * promised(found)


@pytest.mark.usefixtures("each_engine")
@given(st.floats(0, 1), st.integers(0, 6), st.integers(1, 6))
def test_one_score(score: float, positive: int, negative: int) -> None:
    """Residuals of one sign cannot cancel, however wide the kernel: the mean gap is left."""
    labels = [1] * positive + [0] * negative
    gap = abs(score - positive / len(labels))
    assert SmoothError()([score] * len(labels), labels) == pytest.approx(gap, abs=1e-12)
    assert SmoothError()([score], [0]) == pytest.approx(score, abs=1e-13)
    assert SmoothError()([score], [1]) == pytest.approx(1 - score, abs=1e-13)


@pytest.mark.usefixtures("each_engine")
def test_residuals_that_cancel_give_zero() -> None:
    assert SmoothError()([0.5, 0.5, 0, 1, 0.5, 0.5], [0, 1, 0, 1, 1, 0]) == 0.0
    assert SmoothError()([0.25] * 4, [0, 1, 0, 0]) < 1e-16  # up to rounding
    estimate = SmoothError().measure([0.0, 1.0], [0, 1])
    assert (estimate.value, estimate.notes) == (0.0, {"bandwidth": 0.0})
    assert np.isfinite(estimate.table["density"]).all()


@pytest.mark.usefixtures("each_engine")
def test_scores_next_to_one() -> None:
    p = 1 - np.arange(5) * 1e-12
    assert SmoothError()(p, np.ones(5, int)) == pytest.approx(2e-12, abs=2e-13)
    assert SmoothError()(p, np.zeros(5, int)) == pytest.approx(1 - 2e-12, abs=1e-14)


@few
@given(binary_samples)
def test_turning_the_question_round_changes_nothing(sample: Sample) -> None:
    turned = Sample(1 - sample.probs, 1 - sample.labels, sample.weights)
    assert value(turned) == pytest.approx(value(sample), abs=1e-12)


@few
@given(seed=seeds, kind=kinds)
def test_whole_weights_are_repeated_rows(seed: int, kind: str) -> None:
    sample = draw_binary(seed, 25, kind, "whole")
    times = sample.weights.astype(int)
    repeated = Sample(np.repeat(sample.probs, times), np.repeat(sample.labels, times), None)
    assert value(sample) == pytest.approx(value(repeated), abs=1e-12)


@few
@given(seed=seeds, kind=kinds)
def test_engines_agree(seed: int, kind: str) -> None:
    sample = draw_binary(seed, 60, kind, "eighths")
    with using("reference"):
        reference = value(sample)
    assert value(sample) == pytest.approx(reference, abs=1e-12)


def test_any_number_of_threads_gives_the_same_bits() -> None:
    sample = draw_binary(1, 300_000, "smooth")
    found = []
    for threads in (1, 2, 3):
        set_threads(threads)
        try:
            found.append(value(sample))
        finally:
            set_threads(None)
    assert found[0] == found[1] == found[2]


@few
@given(seed=seeds, move=st.sampled_from([1e-3, 1e-5, 1e-7]))
def test_moving_scores_a_little_changes_little(seed: int, move: float) -> None:
    sample = draw_binary(seed, 40, "rounded")
    rng = np.random.default_rng(seed)
    probs = np.clip(sample.probs + rng.uniform(-move, move, 40), 0, 1)
    moved = Sample(probs, sample.labels, None)
    assert abs(value(moved) - value(sample)) <= 4 * move


@few
@given(binary_samples)
def test_the_curve(sample: Sample) -> None:
    estimate = SmoothError().measure(sample.probs, sample.labels, weights=sample.weights)
    table, width = estimate.table, estimate.notes["bandwidth"]
    assert width == estimate.value == estimate.pth_power
    assert list(table.columns()) == ["score", "density", "mean_label", "gap"]
    assert len(table) >= 201
    assert (table["score"][0], table["score"][-1]) == (0, 1)
    assert table["density"].min() >= 0
    known = np.isfinite(table["mean_label"])
    assert known.any()
    assert np.all((table["mean_label"][known] >= 0) & (table["mean_label"][known] <= 1))
    if width > 0.02:  # the points shown are close enough to be added up
        assert area_under(table["density"]) == pytest.approx(1, abs=1e-9)
        assert area_under(np.abs(table["gap"])) == pytest.approx(width, abs=1e-3)
        args = (sample.probs, sample.labels, width, sample.weights)
        for row in (0, len(table) // 3, -1):
            expected = oracle.smoothed_residual(table["score"][row], *args)
            assert table["gap"][row] == pytest.approx(-expected, abs=1e-8)


def area_under(heights: np.ndarray) -> float:
    return float(np.mean(0.5 * (heights[1:] + heights[:-1])))


@few
@given(matrix_samples)
def test_class_wise_is_the_mean_over_classes(sample: Sample) -> None:
    args, k = (sample.probs, sample.labels), sample.probs.shape[1]
    each = [SmoothError(tu.lens.OneVsRest(c))(*args, weights=sample.weights) for c in range(k)]
    estimate = SmoothError(tu.lens.ClassWise()).measure(*args, weights=sample.weights)
    assert estimate.value == pytest.approx(np.mean(each), abs=1e-12)
    np.testing.assert_allclose(estimate.notes["bandwidth"], each, atol=1e-12)
    assert sorted(set(estimate.table["class"].tolist())) == list(range(k))


@pytest.mark.parametrize("waves", [1, 2, 7])
@pytest.mark.parametrize("lift", [0.0, 0.3, 0.99, 0.9999, 0.99999, 1.0, 1.5])
def test_area_of_waves(waves: int, lift: float) -> None:
    """|lift + cos 2πkx| is known; just below 1 it is negative for less than a step."""
    size = 128 * waves
    height = lift + np.cos(2 * np.pi * waves * np.arange(size + 1) / size)
    zero = math.acos(-min(lift, 1)) / (2 * math.pi)
    up_to = lift * zero + math.sin(2 * math.pi * zero) / (2 * math.pi)
    expected = 4 * up_to - lift if lift < 1 else lift
    assert engine.grid.absolute_area(height) == pytest.approx(expected, abs=1e-6)
    assert engine.grid.absolute_area(-height) == engine.grid.absolute_area(height)


@pytest.mark.parametrize(
    ("falling", "meets"),
    [
        (lambda x: 0.25, 0.25),
        (lambda x: 0.9 if x < 0.3 else 0.1, 0.3),
        (lambda x: 1 / (1 + 1e6 * x), 0.0009995001249375),
        (lambda x: max(0.8 - 1e4 * x, 1e-3), 1e-3),
        (lambda x: 1.0, 1.0),
        (lambda x: 0.0, 0.0),
    ],
)
def test_where_a_falling_function_meets_its_argument(falling, meets: float) -> None:
    calls = []

    def counted(x: float) -> float:
        calls.append(x)
        return falling(x)

    for start in (0.0, 0.4, 1.0):
        calls.clear()
        assert meeting_point(counted, start, 0.0, 1.0) == pytest.approx(meets, abs=1e-12)
        assert len(calls) <= 95
