"""Kernel sums against the formula, by every method, on every kind of data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from trueup.engines import set_threads, using
from trueup.engines.select import in_use
from trueup.engines.types import KernelSet
from trueup.errors import CapabilityError, InputError
from trueup.local.bandwidth import steepness
from trueup.local.sums import _divided, kernel_sums, kernel_sums_by_bin

HUGE, TINY = 1e12, 1e-9


def distances(points, queries, kernel):
    """Coordinates are added in order, so that equal distances are equal in every bit."""
    away = np.zeros((len(queries), len(points)))
    for k in range(points.shape[1]):
        step = np.subtract.outer(queries[:, k], points[:, k])
        away += np.abs(step) if kernel == "laplacian" else step**2
    return away


def naive(points, values, queries, kernel, scale, relative=False):
    """The formula; returns sums, sums of absolute values (what errors are measured by), nearest."""
    away = distances(points, points if queries is None else queries, kernel)
    nearest = away.min(axis=1)
    if relative:
        away -= nearest[:, None]
    with np.errstate(over="ignore", under="ignore"):
        k = np.exp(-away / scale if kernel == "laplacian" else -away / scale / scale / 2)
        return (
            k @ values,
            k @ np.abs(values),
            nearest if kernel == "laplacian" else np.sqrt(nearest),
        )


def check(points, values, queries, kernel, scale, relative=False, within=1e-10):
    found = kernel_sums(points, values, queries, kernel=kernel, scale=scale, relative=relative)
    sums, size, nearest = naive(points, values, queries, kernel, scale, relative)
    assert found.sums.shape == sums.shape
    assert (np.abs(found.sums - sums) <= within * size + 1e-280).all()
    if relative:
        np.testing.assert_allclose(found.nearest, nearest, rtol=1e-14)
    else:
        assert found.nearest is None
    return found


@st.composite
def samples(draw, most=400, dimensions=(1, 2, 3, 4, 5, 6)):
    """Points, values and queries: plain, tied, doubled, constant, on a line, in two far heaps."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, d, m = draw(st.integers(1, most)), draw(st.sampled_from(dimensions)), draw(st.integers(1, 5))
    kind = draw(st.sampled_from(["plain", "tied", "doubled", "constant", "same", "heaps", "heavy"]))
    points = rng.standard_normal((n, d))
    if kind == "tied":
        points = np.round(points)
    if kind == "doubled":
        points = points[rng.integers(0, max(1, n // 5), n)]
    if kind == "constant":
        points[:, rng.integers(d)] = 3.7
    if kind == "same":
        points[:] = points[0]
    if kind == "heaps":
        points[: n // 2] += 1000
    if kind == "heavy":
        points = rng.standard_cauchy((n, d))
    values = rng.standard_normal((n, m)) * (rng.random((n, 1)) < 0.8)
    queries = None
    if draw(st.booleans()):
        queries = rng.standard_normal((draw(st.integers(0, most)), d)) * draw(
            st.sampled_from([1, 30, 3000])
        )
        if n <= len(queries):
            queries[:n] = points
    return points, values, queries


kernels = st.sampled_from(["laplacian", "gaussian"])
scales = st.sampled_from([5e-324, 1e-200, TINY, 1e-3, 0.02, 0.2, 0.6, 3.0, 1e3, HUGE, 1e300])


@pytest.fixture(params=["reference", "native"])
def engine_name(request):
    try:
        with using(request.param):
            return request.param
    except CapabilityError as missing:
        pytest.skip(str(missing))


NO_FIXTURE_CHECK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(samples(), kernels, scales, st.booleans())
@settings(NO_FIXTURE_CHECK, max_examples=150)
def test_kernel_sums(engine_name, data, kernel, scale, relative):
    with using(engine_name):
        check(*data, kernel, scale, relative)


def divided(points, values, queries, scale):
    """Divide and conquer, whatever the rule would say."""
    laplacian = pytest.importorskip("trueup.engines.native.kernel_sums", exc_type=ImportError)
    one = KernelSet(points, values, queries)
    return laplacian.divided_sums([one], steepness(scale, "laplacian"))[0]


@given(samples(dimensions=(1, 2, 3, 4)), scales)
@settings(max_examples=200)
def test_divide_and_conquer(data, scale):
    points, values, queries = data
    found = divided(points, values, queries, scale)
    sums, size, _ = naive(points, values, queries, "laplacian", scale)
    assert (np.abs(found - sums) <= 1e-11 * size + 1e-280).all()


@given(samples(dimensions=(1, 2, 3, 4), most=150), scales)
@settings(max_examples=150)
def test_relative_by_divide_and_conquer(data, scale):
    """Also where no plain sum is left, and where points tie for the nearest."""
    pytest.importorskip("trueup.engines.native.kernel_sums", exc_type=ImportError)
    points, values, queries = data
    found = _divided([KernelSet(points, values, queries)], steepness(scale, "laplacian"), True)[0]
    sums, size, nearest = naive(points, values, queries, "laplacian", scale, True)
    # Plain sums know nothing below 1e-280, and the nearest point may be 460 scales away: where it
    # has the value 0, what is left of the others is known to e^460 times that.
    assert (np.abs(found.sums - sums) <= 1e-10 * size + 1e-79).all()
    assert (found.nearest == nearest).all()


@pytest.mark.parametrize(("n", "d"), [(1, 2), (31, 2), (32, 3), (95, 3), (97, 4), (5000, 2)])
@pytest.mark.parametrize("order", [1, -1])
def test_sorted_points_and_sizes_of_leaves(n, d, order):
    points = np.sort(np.random.default_rng(n).standard_normal((n, d)), axis=0)[::order]
    values = np.ones((n, 1))
    sums, size, _ = naive(points, values, None, "laplacian", 0.2 * d)
    assert (np.abs(divided(points, values, None, 0.2 * d) - sums) <= 1e-12 * size).all()


def test_values_of_any_size():
    """Values are scaled by powers of two: the smallest are not taken for nothing."""
    rng = np.random.default_rng(0)
    points, values = rng.standard_normal((2000, 2)), rng.standard_normal((2000, 3))
    plain = divided(points, values, None, 0.4)
    found = divided(points, values * [2.0**-1000, 1, 2.0**1000], None, 0.4)
    np.testing.assert_array_equal(found, plain * [2.0**-1000, 1, 2.0**1000])


@pytest.mark.parametrize("d", [1, 2, 3])
def test_what_is_left_of_far_points_keeps_its_digits(d):
    """Queries 600 scales away: running sums of e^{-600} are small, and not nothing."""
    rng = np.random.default_rng(0)
    points, queries, values = rng.random((200, d)), rng.random((200, d)), np.ones((200, 1))
    queries[:, -1] += 600
    found = divided(points, values, queries, 1.0)
    np.testing.assert_allclose(
        found, naive(points, values, queries, "laplacian", 1.0)[0], rtol=1e-11
    )


def test_points_that_nearly_agree():
    """A difference is taken before it is scaled."""
    rng = np.random.default_rng(0)
    points = 1 + 2.0**-52 * rng.integers(0, 50, (800, 2))
    values = rng.standard_normal((800, 2))
    sums, size, _ = naive(points, values, None, "laplacian", 1e-15)
    assert (np.abs(divided(points, values, None, 1e-15) - sums) <= 1e-12 * size).all()


def binned(n, d, seed=0):
    rng = np.random.default_rng(seed)
    confidence = rng.beta(2.8, 0.3, n)
    values = np.c_[rng.random(n), confidence - (rng.random(n) < confidence)]
    return rng.standard_normal((n, d)), values, (confidence * 15).astype(np.int64)


@pytest.mark.parametrize("d", [1, 2, 3, 6])
@pytest.mark.parametrize("relative", [False, True])
def test_bins_are_problems_of_their_own(d, relative):
    points, values, bins = binned(3000, d)
    queries, _, query_bins = binned(2000, d, seed=1)
    query_bins[:5] = 99
    inside = kernel_sums_by_bin(points, values, bins, scale=0.3 * d, relative=relative)
    across = kernel_sums_by_bin(
        points, values, bins, queries, query_bins, scale=0.3 * d, relative=relative
    )
    assert (across.sums[:5] == 0).all()
    assert not relative or np.isinf(across.nearest[:5]).all()
    for b in np.unique(bins):
        here, there = bins == b, query_bins == b
        for found, at in ((inside.sums[here], None), (across.sums[there], queries[there])):
            alone = kernel_sums(points[here], values[here], at, scale=0.3 * d, relative=relative)
            np.testing.assert_array_equal(found, alone.sums)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 7])
def test_threads_do_not_change_a_bit(d):
    points, values, bins = binned(40_000 if d < 4 else 4000, d)
    queries = points[::7] + 0.01
    found = []
    try:
        for threads in (1, 2, 5):
            set_threads(threads)
            plain = kernel_sums_by_bin(points, values, bins, scale=0.2 * d)
            near = kernel_sums_by_bin(
                points, values, bins, queries, bins[::7], scale=1e-3 * d, relative=True
            )
            found.append((plain.sums.tobytes(), near.sums.tobytes(), near.nearest.tobytes()))
    finally:
        set_threads(None)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("d", [2, 3])
def test_large_sets_equal_brute_force(d):
    """Cut into tasks; at some rows, in float64, to 1e-12."""
    points, values, _ = binned(50_000, d)
    found = kernel_sums(points, values, scale=0.2 * d)
    rows = np.arange(0, 50_000, 250)
    sums, size, _ = naive(points, values, points[rows], "laplacian", 0.2 * d)
    assert (np.abs(found.sums[rows] - sums) <= 1e-12 * size).all()
    assert found.method == ("divide and conquer" if in_use() == "native" else "brute force")


def test_the_rule_says_what_it_did():
    points, values, _ = binned(20_000, 3)
    expected = "divide and conquer" if in_use() == "native" else "brute force"
    assert kernel_sums(points, values, scale=0.6).method == expected
    assert kernel_sums(points, values, points[:20], scale=0.6).method == "brute force"
    few = points[:300], values[:300]
    assert kernel_sums(*few, scale=0.6).method == "brute force"
    assert kernel_sums(*few, scale=0.6, kernel="gaussian").method == "brute force"


def test_wide_scales_add_all_and_narrow_ones_the_nearest():
    rng = np.random.default_rng(0)
    points = np.round(rng.standard_normal((4000, 2)) * 8) / 8  # ties are exact
    points = np.r_[points, points[:500]]
    values = np.c_[np.ones(4500), rng.random(4500)]
    queries = np.round(rng.standard_normal((1000, 2)) * 16) / 8
    wide = kernel_sums(points, values, queries, scale=1e14, relative=True)
    np.testing.assert_allclose(wide.sums, np.tile(values.sum(axis=0), (1000, 1)), rtol=1e-9)
    narrow = kernel_sums(points, values, queries, scale=1e-16, relative=True)
    away = distances(points, queries, "laplacian")
    nearest = (away == away.min(axis=1)[:, None]) @ values
    np.testing.assert_allclose(narrow.sums, nearest, rtol=1e-12)


def test_many_points_in_one_place_and_queries_far_away():
    points = np.zeros((30_000, 2))
    queries = np.r_[np.zeros((10, 2)), np.full((10, 2), 1e6)]
    queries = np.tile(queries, (200, 1))
    found = kernel_sums(points, np.ones((30_000, 1)), queries, scale=0.1, relative=True)
    np.testing.assert_allclose(found.sums, 30_000, rtol=1e-12)
    np.testing.assert_array_equal(found.nearest, np.abs(queries).sum(axis=1))


def test_nothing_to_sum():
    empty = np.empty((0, 2))
    assert kernel_sums(empty, empty, scale=1.0).sums.shape == (0, 2)
    found = kernel_sums(empty, np.empty((0, 3)), np.ones((4, 2)), scale=1.0, relative=True)
    assert found.sums.tolist() == [[0.0] * 3] * 4
    assert np.isinf(found.nearest).all()
    assert kernel_sums(np.ones((4, 2)), np.ones((4, 1)), empty, scale=1.0).sums.shape == (0, 1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scale": 0.0}, "`scale` must be a positive finite number; got 0.0"),
        ({"scale": "1"}, "`scale` must be a positive finite number; got '1'"),
        ({"points": [[1.0]]}, "`points` must be an array"),
        ({"scale": np.nan}, "`scale` must be a positive finite number; got nan"),
        ({"kernel": "box"}, '`kernel` must be "laplacian" or "gaussian"; got \'box\''),
        ({"points": np.ones(3)}, "`points` must be a matrix with a column for each feature"),
        ({"values": np.ones((2, 1))}, "`values` must be a matrix with a row for each point"),
        ({"queries": np.ones((3, 5))}, "`queries` must be a matrix with as many columns"),
    ],
)
def test_refuses(change, words):
    arguments = {"points": np.ones((3, 2)), "values": np.ones((3, 1)), "scale": 1.0} | change
    with pytest.raises(InputError) as refused:
        kernel_sums(**arguments)
    assert words in str(refused.value)


def test_refuses_bins_of_another_length():
    """They would leave points out without a word."""
    points, short = np.ones((3, 2)), np.zeros(2, np.int64)
    with pytest.raises(InputError, match=r"`bins` must be 3 whole numbers; got shape \(2,\)"):
        kernel_sums_by_bin(points, points, short, scale=1.0)
    with pytest.raises(InputError, match="`query_bins` must be 3 whole numbers"):
        kernel_sums_by_bin(points, points, np.zeros(3, np.int64), points, short, scale=1.0)
