"""MMCE against its oracle and by hand."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import trueup as tu
from oracles import kernels, lenses
from support.samples import Sample, binary_samples, draw_binary, matrix_samples
from trueup.engines import set_threads
from trueup.estimators.kernel_errors.kernel_error import KernelError
from trueup.estimators.kernel_errors.mmce import MMCE

pytestmark = pytest.mark.usefixtures("each_engine")


def close_squares(a: float, b: float) -> bool:
    """Squares, since the root turns a rounding error of 1e-16 into 1e-8."""
    return a * a == pytest.approx(b * b, rel=1e-11, abs=1e-15)


@given(binary_samples, st.sampled_from([0.4, 0.05, 1e-12]))
def test_oracle(sample: Sample, bandwidth: float):
    p, y, w = sample.probs, sample.labels, sample.weights
    ours = MMCE(bandwidth=bandwidth).measure(p, y, weights=w)
    assert close_squares(ours.value, kernels.mmce(p, y, w, bandwidth))
    assert ours.value == ours.pth_power**0.5
    ours = MMCE(None, bandwidth, weighted=True)(p, y, weights=w)
    assert close_squares(ours, kernels.mmce_weighted(p, y, w, bandwidth))


@given(matrix_samples, st.booleans())
def test_lenses(sample: Sample, weighted: bool):
    probs, y, w = sample.probs, sample.labels, sample.weights
    oracle = kernels.mmce_weighted if weighted else kernels.mmce
    top = oracle(*lenses.top_label(probs, y), w)
    assert close_squares(MMCE(weighted=weighted)(probs, y, weights=w), top)
    k = probs.shape[1]
    squares = [oracle(*lenses.one_vs_rest(probs, y, c), w) ** 2 for c in range(k)]
    ours = MMCE(tu.lens.ClassWise(), weighted=weighted)(probs, y, weights=w)
    assert close_squares(ours, math.sqrt(math.fsum(squares) / k))


@given(binary_samples)
def test_it_is_the_root_of_the_biased_kernel_error(sample: Sample):
    p, y, w = sample.probs, sample.labels, sample.weights
    square = KernelError(bandwidth=0.4, form="biased")(p, y, weights=w)
    assert MMCE()(p, y, weights=w) == square**0.5


def test_by_hand():
    """Two scores with k = 1/e between them, and all rows at one score: the gap itself."""
    p, y = np.array([0.2, 0.6]), np.array([1, 0])
    k = math.exp(-1)
    both = math.sqrt(0.8**2 + 0.6**2 - 2 * 0.8 * 0.6 * k)
    assert MMCE()(p, y) == pytest.approx(both / 2, rel=1e-13)
    assert MMCE(weighted=True)(p, y) == pytest.approx(both, rel=1e-13)  # one right, one wrong
    assert MMCE()(np.full(10, 0.8), [1] * 7 + [0] * 3) == pytest.approx(0.1, rel=1e-13)


def test_all_right_and_all_wrong():
    p = np.array([0.9, 0.9, 0.5])
    k = math.exp(-1)
    right = math.sqrt((4 * 0.01 + 0.25 + 4 * 0.1 * 0.5 * k) / 9)
    wrong = math.sqrt((4 * 0.81 + 0.25 + 4 * 0.9 * 0.5 * k) / 9)
    for weighted in (False, True):
        assert MMCE(weighted=weighted)(p, [1, 1, 1]) == pytest.approx(right, rel=1e-13)
        assert MMCE(weighted=weighted)(p, [0, 0, 0]) == pytest.approx(wrong, rel=1e-13)


def test_the_weighted_form_is_not_zero_at_the_truth():
    """At 0.8 with four of five right: 0.8 of the wrong less 0.2 of the right rows."""
    p, y = np.full(5, 0.8), np.array([1, 1, 1, 1, 0])
    assert MMCE()(p, y) == pytest.approx(0, abs=1e-15)
    assert MMCE(weighted=True)(p, y) == pytest.approx(0.6, rel=1e-13)


@given(binary_samples, st.integers(0, 10**6), st.booleans())
def test_soft_labels_are_weights_of_right_and_wrong(sample: Sample, seed: int, weighted: bool):
    p, n = sample.probs, len(sample.probs)
    w = np.ones(n) if sample.weights is None else sample.weights
    soft = np.random.default_rng(seed).random(n)
    data = tu.Forecasts.from_arrays(p, soft, weights=sample.weights, soft_labels=True)
    if weighted:
        split = np.r_[w * soft, w * (1 - soft)]
        labels = np.r_[np.ones(n), np.zeros(n)]
        expected = kernels.mmce_weighted(np.r_[p, p], labels, split)
    else:
        expected = math.sqrt(max(0, kernels.skce_biased(p, soft, bandwidth=0.4, weights=w)))
    assert close_squares(MMCE(weighted=weighted)(data), expected)


def test_threads_change_no_bit():
    sample = draw_binary(3, 200_000, "smooth")
    for estimator in (MMCE(), MMCE(weighted=True)):
        values = []
        for threads in (1, 2, 3):
            set_threads(threads)
            try:
                values.append(estimator(sample.probs, sample.labels))
            finally:
                set_threads(None)
        assert values[0] == values[1] == values[2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bandwidth": 0}, "`bandwidth` must be a finite number above 0"),
        ({"bandwidth": None}, "`bandwidth` must be a finite number above 0"),
        ({"weighted": 1}, "`weighted` must be True or False"),
        ({"lens": tu.lens.TopLabel}, "`lens` must be a lens"),
    ],
)
def test_refusals(change, message):
    with pytest.raises(tu.InputError, match=message):
        MMCE(**change)


def test_a_simplex_is_refused():
    with pytest.raises(tu.InputError, match="not points on the simplex"):
        MMCE(tu.lens.Canonical())([[0.2, 0.3, 0.5]], [1])
