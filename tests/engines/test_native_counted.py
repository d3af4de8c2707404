"""Kernels on counted rows, those of one resample after the other: equal to the reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from trueup.engines import reference
from trueup.engines.counted_reference import running_sums
from trueup.engines.draws import keys_of, limits_of
from trueup.engines.rooms import FRESH, Room

native = pytest.importorskip("trueup.engines.native", reason="not built", exc_type=ImportError)
counted = pytest.importorskip("trueup.native.counted", reason="not built", exc_type=ImportError)

seeds = st.integers(0, 10**6)
sizes = st.one_of(st.integers(1, 5), st.integers(6, 300))
decimals = st.sampled_from([0, 1, 2, 17])
GRID = 1 << 8


def counted_rows(seed: int, n: int, digits: int):
    """Scores with and without ties, 0 and 1 among them, and how many rows have each."""
    rng = np.random.default_rng(seed)
    p = rng.random(n).round(digits)
    p[rng.random(n) < 0.1] = 0
    p[rng.random(n) < 0.1] = 1
    y = rng.random(n) < p ** rng.choice([0.5, 1, 2])
    return p, y, reference.group_pairs(p, y)


def codes(p, y):
    """Rows in order, each with twice the number of its score, plus 1 for a label of 1."""
    order = np.lexsort((y, p))
    value, number = np.unique(p[order], return_inverse=True)
    return p[order], value, (2 * number.reshape(-1) + y[order]).astype(np.int32)


@given(seeds, sizes, decimals)
def test_drawn_labels_and_rows(seed, n, digits):
    p, y, _ = counted_rows(seed, n, digits)
    p, value, code = codes(p, y)
    limit, room = limits_of(p), Room()
    for key in keys_of(seed, 3):
        hits = reference.draw_hits(limit, code, len(value), key)
        labels = reference.draw_labels(limit, key)
        assert hits.tolist() == [int(labels[p == v].sum()) for v in value]
        rows = reference.regroup_rows(value, code, key)
        for where in (FRESH, room):
            assert np.array_equal(hits, native.draw_hits(limit, code, len(value), key, where))
            found = native.regroup_rows(value, code, key, where)
            for ours, theirs in zip(found, rows, strict=True):
                assert np.array_equal(ours, theirs)
                assert ours.dtype == theirs.dtype


@pytest.mark.parametrize("n", [1023, 1024, 1025, 4099])
@pytest.mark.parametrize("digits", [2, 17])
def test_draws_of_more_than_one_block(n, digits):
    p, y, _ = counted_rows(n, n, digits)
    p, value, code = codes(p, y)
    limit, (key,) = limits_of(p), keys_of(n, 1)
    expected = reference.draw_hits(limit, code, len(value), key)
    assert np.array_equal(native.draw_hits(limit, code, len(value), key), expected)
    pairs = zip(
        native.regroup_rows(value, code, key),
        reference.regroup_rows(value, code, key),
        strict=True,
    )
    assert all(np.array_equal(ours, theirs) for ours, theirs in pairs)


def test_a_room_gives_no_memory_away_and_fresh_memory_stays():
    room = Room()
    first = room.empty("a", 10, np.int64)
    assert np.shares_memory(first, room.empty("a", 4, np.int64))
    assert not np.shares_memory(first, room.empty("b", 4, np.int64))
    assert len(room.empty("a", 20, np.int64)) == 20
    assert room.empty("a", 4, np.float64).dtype == np.float64
    assert not np.shares_memory(FRESH.empty("a", 4, np.int64), FRESH.empty("a", 4, np.int64))


@given(seeds, sizes, decimals)
def test_residuals_have_the_same_bits(seed, n, digits):
    _, _, groups = counted_rows(seed, n, digits)
    found = native.count_residuals(*groups)
    assert np.array_equal(found, reference.count_residuals(*groups))
    expected = groups.count * groups.value - groups.positive
    np.testing.assert_allclose(found, expected, atol=1e-13 * n)


def test_residuals_next_to_1_do_not_cancel():
    value, count = np.array([np.nextafter(1, 0)]), np.array([1000])
    for engine in (reference, native):
        (found,) = engine.count_residuals(value, count, count)
        assert found == -1000 * 2.0**-53


@given(seeds, st.integers(0, 500))
def test_extreme_sums_have_the_same_bits(seed, n):
    terms = np.random.default_rng(seed).standard_normal(n)
    expected = reference.extreme_sums(terms)
    assert native.extreme_sums(terms) == expected
    sums = running_sums(terms)
    assert expected == (sums.min(), sums.max())
    assert native.extreme_sums(np.abs(terms))[0] == 0
    assert native.extreme_sums(-np.abs(terms))[1] == 0


@given(seeds, sizes, decimals)
def test_bins_of_the_sweep(seed, n, digits):
    _, _, groups = counted_rows(seed, n, digits)
    residual, room = reference.count_residuals(*groups), Room()
    rows, sums = reference.swept_residuals(residual, groups.count, groups.positive)
    assert rows.sum() == n
    for where in (FRESH, room, room):
        found = native.swept_residuals(residual, groups.count, groups.positive, where)
        assert np.array_equal(found[0], rows)
        np.testing.assert_allclose(found[1], sums, atol=1e-13 * n)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("swapped", [0, 1, 3, 40])
def test_bins_of_a_long_sweep(ties, swapped):
    """Labels that nearly rise let the sweep go on beyond the few bins that are tried one by one."""
    n = 3000
    rng = np.random.default_rng(swapped)
    count = rng.integers(1, 4, n) if ties else np.ones(n, np.int64)
    positive = np.where(np.arange(n) < n // 2, 0, count)
    for i in rng.integers(n // 2 - 60, n // 2 + 60, swapped):
        positive[i] = count[i] - positive[i]
    residual = rng.standard_normal(n)
    expected = reference.swept_residuals(residual, count, positive)
    found = native.swept_residuals(residual, count, positive)
    assert np.array_equal(found[0], expected[0])
    assert len(found[0]) > 64
    np.testing.assert_allclose(found[1], expected[1], atol=1e-11)


@given(seeds, sizes, decimals)
def test_terms_on_a_grid(seed, n, digits):
    _, _, groups = counted_rows(seed, n, digits)
    residual, room = reference.count_residuals(*groups), Room()
    expected = reference.spread_terms(groups.value, residual, GRID)
    largest = np.abs(residual).sum()
    for where in (FRESH, room, room):
        found = native.spread_terms(groups.value, residual, GRID, where)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15 + 2e-15 * largest)
    mean = groups.positive / groups.count
    rows = reference.spread_residual(groups.value, mean, groups.count.astype(float), GRID)
    np.testing.assert_allclose(expected, rows, rtol=0, atol=1e-15 + 2e-15 * largest)


def test_the_kernels_refuse_what_does_not_fit():
    from trueup.native import areas, draws, spread

    three, two = np.zeros(3), np.zeros(2)
    with pytest.raises(ValueError, match="one term"):
        spread.add_terms(three, two, np.zeros((23, 4)), np.zeros(20))
    for moments, totals in (((22, 4), 20), ((23, 3), 20), ((8, 4), 5)):
        with pytest.raises(ValueError, match="moments"):
            spread.add_terms(three, three, np.zeros(moments), np.zeros(totals))
    spread.add_terms(np.array([-3.0, 7.0, np.nan]), three, np.zeros((23, 4)), np.zeros(20))
    with pytest.raises(ValueError, match="three points"):
        areas.absolute_area(two)
    ones = np.ones(3, np.int64)
    with pytest.raises(ValueError, match="one count"):
        counted.residuals(three, ones, ones, two)
    with pytest.raises(ValueError, match="at least 1"):
        counted.extreme_sums(three, 0)
    with pytest.raises(ValueError, match="one code"):
        draws.draw_hits(np.zeros(3, np.uint64), np.zeros(2, np.int32), 0, ones)
    with pytest.raises(ValueError, match="one to spare"):
        draws.regroup_rows(
            three, np.zeros(3, np.int32), 0, np.zeros(3, np.uint32), three, ones, ones
        )
