"""Sums over pairs: the formulas, and those of the reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from support.engine_under_test import module_under_test, native_only
from support.samples import KINDS, scores
from trueup.engines.reference import pairs as reference

tested = module_under_test("pairs")

sorted_scores = st.builds(
    lambda seed, n, kind: np.sort(scores(np.random.default_rng(seed), n, kind)),
    st.integers(0, 10**6),
    st.integers(1, 200),
    st.sampled_from(KINDS),
)
bandwidths = st.sampled_from([5e-324, 1e-12, 1e-3, 0.4, 1e9])


def naive_cross(value, residual, bandwidth):
    with np.errstate(over="ignore"):
        kernel = np.exp(-np.abs(np.subtract.outer(value, value)) / bandwidth)
    return residual @ np.triu(kernel, 1) @ residual


@given(sorted_scores, bandwidths, st.integers(0, 10**6))
def test_laplace_cross(value, bandwidth, seed):
    residual = np.random.default_rng(seed).standard_normal(len(value))
    expected = naive_cross(value, residual, bandwidth)
    for engine in (tested, reference):
        found = engine.laplace_cross(value, residual, bandwidth)
        assert abs(found - expected) <= 1e-13 * (residual @ residual + abs(expected))


@given(sorted_scores, bandwidths, st.integers(0, 10**6))
def test_laplace_total(value, bandwidth, seed):
    residual = np.random.default_rng(seed).standard_normal(len(value))
    squares = residual @ residual
    expected = squares + 2 * naive_cross(value, residual, bandwidth)
    for engine in (tested, reference):
        found = engine.laplace_total(value, residual, bandwidth)
        assert abs(found - expected) <= 2e-13 * (squares + abs(expected))


@pytest.mark.parametrize("bandwidth", [1e-12, 1e-5, 0.02, 0.4, 1e6])
def test_laplace_cross_over_chunks(bandwidth):
    """Chunks carry what stands before them, also where it has decayed to nothing."""
    rng = np.random.default_rng(0)
    value = np.sort(rng.random(300_000))
    value[100_000:200_000] = value[100_000]
    residual = rng.standard_normal(300_000)
    found = tested.laplace_cross(value, residual, bandwidth)
    expected = reference.laplace_cross(value, residual, bandwidth)
    assert abs(found - expected) <= 1e-11 * (residual @ residual)


@given(sorted_scores)
def test_median_gap_has_the_same_bits(value):
    assert tested.median_gap(value) == reference.median_gap(value)


@given(st.lists(st.integers(0, 12), min_size=1, max_size=9))
def test_median_gap_of_few_whole_numbers(whole):
    value = np.sort(np.array(whole, float))
    assert tested.median_gap(value) == reference.median_gap(value)


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 40), st.integers(1, 30))
def test_distances_and_products(seed, rows, others, m):
    rng = np.random.default_rng(seed)
    a, b = rng.random((rows, m)), rng.random((others, m))
    b[: min(rows, others)] = a[: min(rows, others)]
    for total_variation in (False, True):
        found = tested.pair_distances(a, b, total_variation)
        expected = reference.pair_distances(a, b, total_variation)
        np.testing.assert_allclose(found, expected, rtol=1e-14)
        assert (np.diag(found) == 0).all()
    products = tested.pair_products(a, b)
    np.testing.assert_allclose(products, reference.pair_products(a, b), rtol=1e-14)


@native_only
def test_a_pair_has_the_same_bits_in_any_block():
    """Coordinates are added in order, one pair a lane, whatever the other rows are."""
    rng = np.random.default_rng(1)
    a, b = rng.random((50, 37)), rng.random((45, 37))
    for call in (
        tested.pair_products,
        lambda x, y: tested.pair_distances(x, y, False),
        lambda x, y: tested.pair_distances(x, y, True),
    ):
        whole = call(a, b)
        for i, j in ((0, 0), (49, 44), (17, 16), (3, 31)):
            assert call(a[i : i + 1], b[j : j + 1]).item() == whole[i, j]
        np.testing.assert_array_equal(call(a[::2], b[:, ::-1][:, ::-1]), whole[::2])
