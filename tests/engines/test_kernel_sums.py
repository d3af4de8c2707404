"""Kernel sums over sets of points: the formula, by brute force and by divide and conquer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from support.engine_under_test import module_under_test
from trueup.engines import set_threads
from trueup.engines.reference import kernel_sums as reference
from trueup.engines.types import KernelSet

tested = module_under_test("kernel_sums")


def draw(seed: int, n: int, d: int, queries: int | None, tied: bool) -> KernelSet:
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((n, d))
    points = np.round(points * 2) / 2 if tied else points
    others = None if queries is None else rng.standard_normal((queries, d))
    return KernelSet(points, rng.standard_normal((n, 3)), others)


sets = st.lists(
    st.builds(
        draw,
        st.integers(0, 10**6),
        st.integers(1, 150),
        st.just(2),
        st.none() | st.integers(0, 70),
        st.booleans(),
    ),
    min_size=1,
    max_size=3,
)
steepness = st.sampled_from([1e-9, 0.5, 4.0, 1e3])


def assert_close(found: np.ndarray, expected: np.ndarray, one: KernelSet) -> None:
    """Up to rounding of the sum of absolute values, which is at most that of all values."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(one.values).sum())


@given(sets, steepness, st.booleans(), st.booleans())
def test_brute_force(many: list[KernelSet], steep: float, gaussian: bool, relative: bool) -> None:
    expected = reference.block_sums(many, steep, gaussian, relative)
    found = tested.block_sums(many, steep, gaussian, relative)
    for one, ours, theirs in zip(many, found, expected, strict=True):
        assert_close(ours.sums, theirs.sums, one)
        if relative:
            np.testing.assert_allclose(ours.nearest, theirs.nearest, rtol=1e-14)
        else:
            assert ours.nearest is None


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@given(seed=st.integers(0, 10**6), n=st.integers(1, 150), tied=st.booleans(), steep=steepness)
def test_divide_and_conquer(d: int, seed: int, n: int, tied: bool, steep: float) -> None:
    one = draw(seed, n, d, seed % 50, tied)
    (found,), (expected,) = (module.divided_sums([one], steep) for module in (tested, reference))
    assert_close(found, expected, one)


def test_points_too_far_away_may_be_left_out() -> None:
    one = draw(1, 400, 2, 90, False)
    near = one._replace(within=np.full(90, 1.5))
    (all_points,), (near_points,) = (
        tested.block_sums([some], 30.0, gaussian=False, relative=False) for some in (one, near)
    )
    size = np.abs(one.values).sum()
    np.testing.assert_allclose(near_points.sums, all_points.sums, atol=size * np.exp(-30 * 1.5))


def test_threads_change_no_bit() -> None:
    one, found = draw(3, 20_000, 2, 300, False), []
    for threads in (1, 2, 3):
        set_threads(threads)
        try:
            (plain,) = tested.block_sums([one], 2.0, gaussian=True, relative=False)
            (divided,) = tested.divided_sums([one], 2.0)
        finally:
            set_threads(None)
        found.append((plain.sums.tobytes(), divided.tobytes()))
    assert found[0] == found[1] == found[2]
