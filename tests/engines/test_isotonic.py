"""Blocks of isotonic fits: against exact fractions, on both engines."""

from __future__ import annotations

from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from support.engine_under_test import module_under_test, native_only
from trueup.engines.reference import isotonic as reference
from trueup.engines.select import engine

tested = module_under_test("isotonic")

counts = st.lists(
    st.tuples(st.integers(1, 9), st.integers(0, 9)).map(lambda g: (g[0], min(g))),
    min_size=1,
    max_size=40,
)


def starts_by_fractions(weight: list, label: list) -> list[int]:
    """Pool until no neighboring pair of blocks fails to rise, in any order that comes."""
    blocks = [
        (i, Fraction(w), Fraction(y)) for i, (w, y) in enumerate(zip(weight, label, strict=True))
    ]
    i = 0
    while i + 1 < len(blocks):
        (start, w, y), (_, next_w, next_y) = blocks[i : i + 2]
        if y / w >= next_y / next_w:
            blocks[i : i + 2] = [(start, w + next_w, y + next_y)]
            i = max(i - 1, 0)
        else:
            i += 1
    return [start for start, _, _ in blocks]


@pytest.mark.usefixtures("each_engine")
@given(counts)
def test_blocks_of_whole_numbers(groups: list[tuple[int, int]]):
    weight, label = map(list, zip(*groups, strict=True))
    found = engine.isotonic.pool_rising(np.array(weight), np.array(label))
    assert found.dtype == np.int64
    assert found.tolist() == starts_by_fractions(weight, label)


@pytest.mark.usefixtures("each_engine")
@given(counts, st.sampled_from([2**20, 2**28, 2**40, 2**57]))
def test_blocks_of_very_large_totals_are_exact(groups: list[tuple[int, int]], unit: int):
    """Neighboring means may differ by less than float64 tells: one row in 2^57."""
    weight = [w * unit + i % 2 for i, (w, _) in enumerate(groups)]
    label = [
        min(y * unit + i % 3, w) for i, ((_, y), w) in enumerate(zip(groups, weight, strict=True))
    ]
    found = engine.isotonic.pool_rising(np.array(weight), np.array(label))
    assert found.tolist() == starts_by_fractions(weight, label)


@native_only
@given(counts, st.integers(1, 7))
def test_blocks_pooled_part_by_part(groups: list[tuple[int, int]], at_once: int):
    weight, label = map(list, zip(*groups, strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tested, "POOLED_AT_ONCE", at_once)
        found = tested.pool_rising(np.array(weight), np.array(label))
    assert found.dtype == np.int64
    assert found.tolist() == starts_by_fractions(weight, label)


@given(st.integers(0, 10**6), st.integers(1, 200), st.sampled_from([1e-140, 1.0, 1e140]))
def test_engines_give_the_same_blocks_of_floats(seed: int, n: int, scale: float):
    rng = np.random.default_rng(seed)
    weight = rng.random(n) * scale + scale / 10
    label = weight * rng.choice([0.0, 0.1, 0.3, 0.7, rng.random()], n)
    found = tested.pool_rising(weight, label)
    np.testing.assert_array_equal(found, reference.pool_rising(weight, label))
    mean = np.add.reduceat(label, found) / np.add.reduceat(weight, found)
    assert np.all(np.diff(mean) > -1e-15)
    one_type = tested.pool_rising(np.ones(n, np.int64), label / weight)
    np.testing.assert_array_equal(one_type, tested.pool_rising(np.ones(n), label / weight))


@pytest.mark.usefixtures("each_engine")
def test_one_group_and_only_ties_of_means():
    assert engine.isotonic.pool_rising(np.array([3]), np.array([1])).tolist() == [0]
    thirds = np.array([3, 6, 9, 300])
    assert engine.isotonic.pool_rising(thirds, thirds // 3).tolist() == [0]
    assert engine.isotonic.pool_rising(np.ones(5), np.arange(5.0)).tolist() == [0, 1, 2, 3, 4]
    assert engine.isotonic.pool_rising(np.ones(5), np.arange(5.0)[::-1]).tolist() == [0]


@given(counts)
def test_blocks_with_one_more_row(groups: list[tuple[int, int]]):
    """The number of each item once a positive row joined it; floats of whole numbers agree."""
    weight, label = (np.array(part) for part in zip(*groups, strict=True))
    expected = reference.pool_added(weight, label)
    for i in range(len(weight)):
        one = np.eye(len(weight), dtype=np.int64)[i]
        start = reference.pool_rising(weight + one, label + one)
        block = np.searchsorted(start, i, side="right") - 1
        totals = [np.add.reduceat(part + one, start)[block] for part in (weight, label)]
        mass, hits = (part[i] for part in expected)  # of a block of the same mean label
        assert totals[1] * mass == totals[0] * hits
    for found in (tested.pool_added(weight, label), tested.pool_added(weight * 1.0, label)):
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)
