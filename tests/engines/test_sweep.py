"""Counted rows: residuals, running sums, and a sweep that stops where the published one does."""

from __future__ import annotations

import time
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from support.counted_rows import counted_rows, decimals, seeds, sizes
from support.engine_under_test import compiled_module, module_under_test, native_only
from trueup.engines.memory import FRESH, Scratch
from trueup.engines.reference import sweep as reference
from trueup.engines.reference.order import tied_scores
from trueup.engines.sums import running_sums

tested = module_under_test("sweep")


def naive_sweep(count, positive):
    """The sweep as published, in exact fractions: b = 2, 3, … until a mean label falls."""
    boundary = [sum(count[:g]) for g in range(1, len(count))]
    n = sum(count)
    for b in range(2, n + 1):
        targets = [Fraction(i * n, b) for i in range(1, b)] if boundary else []
        cuts = {min(boundary, key=lambda c, t=t: (abs(c - t), c)) for t in targets}
        means, start = [], 0
        for stop in [*sorted(cuts), n]:
            inside = [g for g in range(len(count)) if start < sum(count[: g + 1]) <= stop]
            hits = sum(positive[g] for g in inside)
            means.append(Fraction(hits, sum(count[g] for g in inside)))
            start = stop
        if any(low > high for low, high in pairwise(means)):
            return b - 1
    return n


def swept(count, positive):
    return tested.sweep_bins(np.array(count, np.int64), np.array(positive, np.int64), sum(count))


def groups_of(labels, tied):
    """Counts and positives of groups; ``tied[i]`` ties row i + 1 to row i."""
    count, positive = [1], [int(labels[0])]
    for label, tie in zip(labels[1:], tied, strict=True):
        if tie:
            count[-1] += 1
            positive[-1] += int(label)
        else:
            count.append(1)
            positive.append(int(label))
    return count, positive


def near_separable(rng, n):
    """Labels 0 … 0 1 … 1 with a mixed stretch: alternating, ramp, swaps or chance."""
    y = (np.arange(n) >= rng.integers(0, n + 1)).astype(np.int64)
    width = int(rng.integers(1, n + 1))
    start = int(rng.integers(0, n - width + 1))
    inside = slice(start, start + width)
    t = np.arange(width + 1)
    kind = rng.integers(4)
    if kind == 0:
        y[inside] = t[:-1] % 2
    elif kind == 1:
        y[inside] = np.diff(np.round(t * t / (2 * width)).astype(np.int64))
    elif kind == 2:
        i = int(rng.integers(0, n))
        y[i : i + 2] = y[i : i + 2][::-1].copy()
    else:
        y[inside] = rng.random(width) < np.sort(rng.random(width))
    return y


@pytest.mark.parametrize("n", range(1, 8))
def test_every_small_case(n):
    seen = set()
    for labels in product((0, 1), repeat=n):
        for tied in product((False, True), repeat=n - 1):
            count, positive = groups_of(labels, tied)
            if (case := (tuple(count), tuple(positive))) not in seen:
                seen.add(case)
                assert swept(count, positive) == naive_sweep(count, positive), case


@pytest.mark.parametrize("tie_rate", [0, 0.1, 0.5, 0.9])
def test_near_separable_against_fractions(tie_rate):
    rng = np.random.default_rng(round(10 * tie_rate))
    for _ in range(500):
        n = int(rng.integers(1, 61)) if rng.random() < 0.1 else int(rng.integers(1, 25))
        count, positive = groups_of(near_separable(rng, n), rng.random(n - 1) < tie_rate)
        assert swept(count, positive) == naive_sweep(count, positive), (count, positive)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=8))
@settings(deadline=None)
def test_any_groups_against_fractions(groups):
    count = [size for size, _ in groups]
    positive = [min(size, hits) for size, hits in groups]
    assert swept(count, positive) == naive_sweep(count, positive)


@pytest.mark.parametrize("tie_rate", [0, 0.02, 0.3, 0.8, 0.98])
def test_near_separable_against_reference(tie_rate):
    rng = np.random.default_rng(round(100 * tie_rate))
    for _ in range(150):
        n = int(rng.integers(1, 400))
        groups = groups_of(near_separable(rng, n), rng.random(n - 1) < tie_rate)
        count, positive = (np.array(part, np.int64) for part in groups)
        for most in (int(count.sum()), len(count), 3):
            ours = tested.sweep_bins(count, positive, most)
            assert ours == reference.sweep_bins(count, positive, most)


def test_groups_of_very_different_sizes():
    rng = np.random.default_rng(5)
    for _ in range(300):
        size = int(rng.integers(2, 30))
        count = np.where(rng.random(size) < 0.3, rng.integers(50, 900, size), 1)
        positive = rng.binomial(count, np.sort(rng.random(size)))
        for most in (int(count.sum()), len(count), 3):
            ours = tested.sweep_bins(count, positive, most)
            assert ours == reference.sweep_bins(count, positive, most)


def test_one_dent_between_large_and_small_groups():
    """Several targets share a boundary here, so that cuts are not one target apart."""
    rng = np.random.default_rng(0)
    for _ in range(2000):
        size = int(rng.integers(3, 9))
        large = rng.random(size) < 0.5
        count = np.where(large, rng.integers(20, 200, size), rng.integers(1, 4, size))
        positive = np.round(count * np.sort(rng.integers(0, 5, size)) / 4).astype(np.int64)
        dent = int(rng.integers(size))
        positive[dent] = rng.integers(0, count[dent] + 1)
        for most in (int(count.sum()), len(count), 3):
            ours = tested.sweep_bins(count, positive, most)
            assert ours == reference.sweep_bins(count, positive, most)


@pytest.mark.parametrize("decimals", [1, 2, 3, 17])
def test_calibrated_scores(decimals):
    rng = np.random.default_rng(decimals)
    for n in (10, 100, 1000, 20_000):
        p = np.round(rng.beta(2.78, 0.5, n), decimals)
        groups = tied_scores(p, rng.random(n) < p)
        n = int(groups.count.sum())
        ours = tested.sweep_bins(groups.count, groups.positive, n)
        assert ours == reference.sweep_bins(groups.count, groups.positive, n)


def test_read_only_and_strided():
    pairs = np.array([[3, 1], [2, 1], [4, 1], [5, 4], [1, 0]], np.int64)
    pairs.flags.writeable = False
    right = naive_sweep(pairs[:, 0].tolist(), pairs[:, 1].tolist())
    assert tested.sweep_bins(pairs[:, 0], pairs[:, 1], int(pairs[:, 0].sum())) == right


def test_constant_and_separable_have_no_end_but_n():
    assert swept([10**6], [4]) == 10**6
    assert swept([1] * 1000, [0] * 400 + [1] * 600) == 1000


@native_only
@pytest.mark.parametrize("width", [2, 100, 10_000])
def test_a_million_rows_in_no_time(width):
    """The published algorithm takes minutes to hours here: its time is quadratic in b."""
    n = 1_000_000
    y = (np.arange(n) >= n // 2).astype(np.int64)
    y[n // 2 - width // 2 : n // 2 + width // 2] = 1 - np.arange(width) % 2
    begin = time.process_time()
    tested.sweep_bins(np.ones(n, np.int64), y, n)
    assert time.process_time() - begin < 2


@given(seeds, sizes, decimals)
def test_residuals_have_the_same_bits(seed, n, digits):
    _, _, groups = counted_rows(seed, n, digits)
    found = tested.count_residuals(*groups)
    assert np.array_equal(found, reference.count_residuals(*groups))
    expected = groups.count * groups.value - groups.positive
    np.testing.assert_allclose(found, expected, atol=1e-13 * n)


def test_residuals_next_to_1_do_not_cancel():
    value, count = np.array([np.nextafter(1, 0)]), np.array([1000])
    for engine in (reference, tested):
        (found,) = engine.count_residuals(value, count, count)
        assert found == -1000 * 2.0**-53


@given(seeds, st.integers(0, 500))
def test_extreme_sums_have_the_same_bits(seed, n):
    terms = np.random.default_rng(seed).standard_normal(n)
    expected = reference.extreme_sums(terms)
    assert tested.extreme_sums(terms) == expected
    sums = running_sums(terms)
    assert expected == (sums.min(), sums.max())
    assert tested.extreme_sums(np.abs(terms))[0] == 0
    assert tested.extreme_sums(-np.abs(terms))[1] == 0


@given(seeds, sizes, decimals)
def test_bins_of_the_sweep(seed, n, digits):
    _, _, groups = counted_rows(seed, n, digits)
    residual, room = reference.count_residuals(*groups), Scratch()
    rows, sums = reference.swept_residuals(residual, groups.count, groups.positive)
    assert rows.sum() == n
    for where in (FRESH, room, room):
        found = tested.swept_residuals(residual, groups.count, groups.positive, where)
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
    found = tested.swept_residuals(residual, count, positive)
    assert np.array_equal(found[0], expected[0])
    assert len(found[0]) > 64
    np.testing.assert_allclose(found[1], expected[1], atol=1e-11)


def test_the_kernels_refuse_what_does_not_fit():
    kernel = compiled_module("sweep")
    three, two, ones = np.zeros(3), np.zeros(2), np.ones(3, np.int64)
    with pytest.raises(ValueError, match="one count"):
        kernel.residuals(three, ones, ones, two)
    with pytest.raises(ValueError, match="at least 1"):
        kernel.extreme_sums(three, 0)
