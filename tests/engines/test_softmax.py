"""Softmax sums: equal to the reference, and identical on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from support.engine_under_test import module_under_test, native_only
from trueup.engines import set_threads
from trueup.engines.reference import softmax as reference

tested = module_under_test("softmax")

KINDS = ("normal", "large", "tied", "saturated", "offset", "float32")


def draw(seed: int, n: int, k: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, k)) * 3
    if kind == "large":
        z *= 1e100 / np.abs(z).max()
    elif kind == "tied":
        z = np.round(z)
    elif kind == "saturated":
        z = rng.choice([-1000.0, 0.0, 1000.0], (n, k))
    elif kind == "offset":
        z += 1e6
    elif kind == "float32":
        z = z.astype(np.float32)
    return z, rng.integers(0, k, n)


samples = st.builds(
    draw,
    st.integers(0, 10**6),
    st.integers(1, 60),
    st.sampled_from([1, 2, 3, 10, 15, 16, 17, 31, 33, 100]),
    st.sampled_from(KINDS),
)


@given(samples, st.sampled_from([1e-3, 0.3, 1.0, 7.0]))
def test_tempered(sample, inverse):
    z, y = sample
    inverse /= max(1.0, float(np.abs(z).max()) / 1e3)
    size = 2 * max(1.0, float(np.abs(z).max()))
    both = zip(tested.temper(z, y, inverse), reference.temper(z, y, inverse), strict=True)
    for (found, expected), power in zip(both, (0, 1, 2, 0), strict=True):
        tiny = 1e-305 * size**power  # exponentials below e^−708 are 0
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=tiny)
    probs = tested.tempered_probs(z, inverse)
    np.testing.assert_allclose(probs, reference.tempered_probs(z, inverse), rtol=1e-12, atol=1e-300)
    assert np.abs(probs.sum(axis=1) - 1).max() <= 1e-13
    assert (probs >= 0).all()
    assert (probs.max(axis=1) == probs[np.arange(len(z)), z.argmax(axis=1)]).all()


@given(samples, st.booleans(), st.integers(0, 10**6))
def test_scaled(sample, weighted, seed):
    z, y = sample
    rng = np.random.default_rng(seed)
    n, k = z.shape
    w = rng.random(n) + 0.1 if weighted else None
    size = max(1.0, float(np.abs(z).max()))
    scale, shift = rng.standard_normal(k) / size * 4, rng.standard_normal(k)
    probs = tested.scaled_probs(z, scale, shift)
    np.testing.assert_allclose(probs, reference.scaled_probs(z, scale, shift), rtol=1e-12)
    assert np.abs(probs.sum(axis=1) - 1).max() <= 1e-13
    found = tested.scaled_sums(z, y, w, scale, shift)
    expected = reference.scaled_sums(z, y, w, scale, shift)
    for part, other, power in zip(found, expected, (0, 0, 1, 2), strict=True):
        for i, (a, b) in enumerate(zip(np.atleast_2d(part), np.atleast_2d(other), strict=True)):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13 * n * size ** min(i, power))
    along = rng.standard_normal((2, k)) / [[1.0], [size]]
    product = tested.scaled_product(z, w, found.log_total, scale, shift, along)
    other = reference.scaled_product(z, w, found.log_total, scale, shift, along)
    for i in range(2):
        np.testing.assert_allclose(product[i], other[i], rtol=1e-10, atol=1e-13 * n * size**i)


def test_derivatives_are_those_of_the_loss():
    rng = np.random.default_rng(0)
    z, y, w = rng.standard_normal((50, 5)) * 2, rng.integers(0, 5, 50), rng.random(50)
    point, along = rng.standard_normal((2, 5)), rng.standard_normal((2, 5))

    def sums(at: np.ndarray):
        return tested.scaled_sums(z, y, w, at[1], at[0])

    step = 1e-5
    here, above, below = sums(point), sums(point + step * along), sums(point - step * along)
    slope = (w @ above.loss - w @ below.loss) / (2 * step)
    assert abs(slope - np.sum(here.gradient * along)) < 1e-7
    bend = (above.gradient - below.gradient) / (2 * step)
    product = tested.scaled_product(z, w, here.log_total, point[1], point[0], along)
    np.testing.assert_allclose(product, bend, atol=1e-7)
    for row, (i, j) in enumerate(((0, 0), (0, 1), (1, 1))):
        for k in range(5):
            unit = np.zeros((2, 5))
            unit[j, k] = 1
            own = tested.scaled_product(z, w, here.log_total, point[1], point[0], unit)[i, k]
            assert abs(own - here.curvature[row, k]) < 1e-12


@native_only
def test_exponentials_to_one_unit_in_the_last_place():
    """Two classes: the sum of a row is 1 + e^{−x}, and e^{−x} is its first moment over −x."""
    x = np.concatenate([np.random.default_rng(1).uniform(0, 708, 20_000), np.geomspace(1e-300, 1)])
    z = np.column_stack([np.zeros(len(x)), -x])
    found = tested.temper(z, np.zeros(len(x), np.int64), 1.0).first / -x
    expected = np.exp(-x.astype(np.longdouble)).astype(np.float64)
    assert np.abs(found / expected - 1).max() < 4 * np.finfo(float).eps  # two roundings more
    far = tested.temper(np.array([[0.0, -708.5], [0.0, -1e100]]), np.zeros(2, np.int64), 1.0)
    assert far.total.tolist() == [1.0, 1.0]
    assert far.second.tolist() == [0.0, 0.0]


@native_only
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_and_layout_change_no_bit(dtype):
    rng = np.random.default_rng(2)
    z, y, w = rng.standard_normal((4000, 70)).astype(dtype), rng.integers(0, 70, 4000), None
    scale, shift, along = rng.random(70), rng.random(70), rng.random((2, 70))
    answers = []
    for threads, logits in ((1, z), (2, z), (3, np.asfortranarray(z))):
        set_threads(threads)
        try:
            sums = tested.scaled_sums(logits, y, w, scale, shift)
            parts = [
                *tested.temper(logits, y, 0.7),
                tested.tempered_probs(logits, 0.7),
                tested.scaled_probs(logits, scale, shift),
                *sums,
                tested.scaled_product(logits, w, sums.log_total, scale, shift, along),
            ]
        finally:
            set_threads(None)
        answers.append([part.tobytes() for part in parts])
    assert answers[0] == answers[1] == answers[2]


def test_no_rows():
    z, y = np.empty((0, 3)), np.empty(0, np.int64)
    assert tested.tempered_probs(z, 1.0).shape == (0, 3)
    assert tested.scaled_probs(z, np.ones(3), np.zeros(3)).shape == (0, 3)
    assert tested.temper(z, y, 1.0).total.shape == (0,)
