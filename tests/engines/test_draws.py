"""Drawn labels: their probabilities; identical on every engine and number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from support.counted_rows import codes, counted_rows, decimals, seeds, sizes
from support.engine_under_test import compiled_module, module_under_test
from trueup.engines import set_threads
from trueup.engines.draw_keys import STEP, binned_limits, class_limits, keys_of, limits_of, mixed
from trueup.engines.memory import FRESH, Scratch
from trueup.engines.reference import draws as reference

tested = module_under_test("draws")

engines = pytest.mark.parametrize("engine", [reference, tested], ids=["reference", "tested"])


@pytest.fixture(params=[1, 3])
def threads(request):
    set_threads(request.param)
    yield request.param
    set_threads(None)


def scores(rng: np.random.Generator, n: int) -> np.ndarray:
    p = rng.random(n)
    p[rng.random(n) < 0.2] = 0
    p[rng.random(n) < 0.2] = 1
    return p


@given(seed=seeds, n=st.integers(1, 400), n_bins=st.integers(1, 9))
def test_counts_are_those_of_the_labels(seed: int, n: int, n_bins: int) -> None:
    rng = np.random.default_rng(seed)
    p, index, keys = scores(rng, n), rng.integers(0, n_bins, n), keys_of(seed, 5)
    rows, place = binned_limits(p, index, n_bins)
    for engine in (reference, tested):
        counts = engine.count_labels(rows, keys)
        for found, key in zip(counts, keys, strict=True):
            labels = engine.draw_labels(rows.limit, key)[place]
            assert np.array_equal(found, np.bincount(index, labels, minlength=n_bins))
            assert labels[p == 1].all()
            assert not labels[p == 0].any()
    assert np.array_equal(reference.count_labels(rows, keys), counts)


@given(seed=seeds, n=st.integers(1, 400), n_keys=st.integers(0, 5))
def test_labels_of_many_keys_are_those_of_each(seed: int, n: int, n_keys: int) -> None:
    limit = limits_of(scores(np.random.default_rng(seed), n))
    keys = keys_of(seed, n_keys)
    expected = np.array([reference.draw_labels(limit, key) for key in keys]).reshape(n_keys, n)
    for engine in (reference, tested):
        found = engine.draw_label_rows(limit, keys)
        assert found.dtype == bool
        assert np.array_equal(found, expected)


@given(seed=seeds, n=st.integers(1, 200), k=st.sampled_from([2, 3, 13, 14, 15, 40, 257]))
def test_classes_are_the_same(seed: int, n: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    g = rng.dirichlet(np.full(k, 0.05), n)
    limit, keys, first = class_limits(g), keys_of(seed, 4), int(rng.integers(0, 10**10))
    place = rng.integers(0, 7, (n, k)).astype(np.int32)
    labels = [reference.draw_classes(limit, key, first) for key in keys]
    for found, key in zip(labels, keys, strict=True):
        assert np.array_equal(found, tested.draw_classes(limit, key, first))
        assert (g[np.arange(n), found] > 0).all()
    for w in (None, rng.random(n)):
        totals = np.zeros((2, 4, 7), np.int64 if w is None else np.float64)
        reference.add_classes(limit, place, w, keys, first, totals[0])
        tested.add_classes(limit, place, w, keys, first, totals[1])
        assert np.array_equal(totals[0], totals[1])
        at = place[np.arange(n), labels[0]]
        np.testing.assert_allclose(totals[0, 0], np.bincount(at, w, minlength=7), rtol=1e-13)


@given(seed=seeds, n=st.integers(1, 300))
def test_rows_are_the_same(seed: int, n: int) -> None:
    (key,) = keys_of(seed, 1)
    rows = reference.draw_rows(n, key)
    assert np.array_equal(rows, tested.draw_rows(n, key))
    assert rows.min() >= 0
    assert rows.max() < n


def test_rows_by_exact_arithmetic() -> None:
    (key,) = keys_of(3, 1)
    hashes = mixed(key + np.arange(1000, dtype=np.uint64) * STEP)
    exact = [1000 * int(h) >> 64 for h in hashes]
    assert reference.draw_rows(1000, key).tolist() == exact


@engines
def test_a_row_of_equal_bits_looks_further(engine) -> None:
    """Where the first 32 bits of hash and limit agree, the next 32 decide."""
    (key,) = keys_of(0, 1)
    pairs = 3000  # more than one run of the kernel
    hashes = mixed(key + np.arange(pairs, dtype=np.uint64) * STEP)
    again = mixed(hashes + STEP)
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    part = np.column_stack([hashes >> half, hashes & low]).ravel()
    rest = np.column_stack([again >> half, again & low]).ravel()
    above = np.arange(2 * pairs) % 3 == 0
    limit = (part << half) + rest + above.astype(np.uint64)
    assert np.array_equal(engine.draw_labels(limit, key), above)
    assert np.array_equal(engine.draw_label_rows(limit, np.array([key]))[0], above)
    few = engine.draw_label_rows(limit[:9], np.array([key]))
    assert np.array_equal(few[0], above[:9])
    rows = binned_limits(np.zeros(2 * pairs), np.zeros(2 * pairs, np.int64), 1)[0]
    counts = engine.count_labels(rows._replace(limit=limit), np.array([key]))
    assert counts.tolist() == [[above.sum()]]


def test_threads_change_nothing(threads) -> None:
    rng = np.random.default_rng(0)
    p = rng.random(50_001)
    rows, _ = binned_limits(p, np.searchsorted(np.arange(1, 15) / 15, p), 15)
    keys = keys_of(7, 40)
    assert np.array_equal(tested.count_labels(rows, keys), reference.count_labels(rows, keys))
    limit = limits_of(p)[:, None]
    place = rng.integers(0, 4, (len(p), 2)).astype(np.int32)
    found = np.zeros((2, 40, 4))
    tested.add_classes(limit, place, p, keys, 0, found[0])
    reference.add_classes(limit, place, p, keys, 0, found[1])
    assert np.array_equal(found[0], found[1])


@pytest.mark.parametrize("p", [0.5, 0.1, 1e-3, 0.999])
def test_labels_are_as_probable_as_asked(p: float) -> None:
    """Counts are binomial: their mean and variance over many resamples, to five deviations."""
    n, resamples = 1000, 20_000
    rows, _ = binned_limits(np.full(n, p), np.zeros(n, np.int64), 1)
    counts = tested.count_labels(rows, keys_of(11, resamples))[:, 0]
    variance = n * p * (1 - p)
    assert abs(counts.mean() - n * p) < 5 * np.sqrt(variance / resamples)
    fourth = 3 * variance**2 + variance * (1 - 6 * p * (1 - p))
    assert abs(counts.var() - variance) < 5 * np.sqrt((fourth - variance**2) / resamples)


def test_neighbours_do_not_know_each_other() -> None:
    """Rows of a pair, rows next to it and the same row of the next resample are uncorrelated."""
    n = 200_000
    limit = limits_of(np.full(n, 0.5))
    first, second = (tested.draw_labels(limit, key) - 0.5 for key in keys_of(2, 2))
    for shift in (1, 2, 3, 64):
        assert abs(np.mean(first[shift:] * first[:-shift])) < 5 * 0.25 / np.sqrt(n)
    assert abs(np.mean(first[::2] * first[1::2])) < 5 * 0.25 / np.sqrt(n / 2)
    assert abs(np.mean(first * second)) < 5 * 0.25 / np.sqrt(n)


def test_classes_are_as_probable_as_asked() -> None:
    g = np.array([0.5, 0.0, 0.2, 0.3, 0.0])
    limit = class_limits(np.tile(g, (100_000, 1)))
    share = np.bincount(tested.draw_classes(limit, keys_of(1, 1)[0]), minlength=5) / 100_000
    assert np.all(np.abs(share - g) <= 5 * np.sqrt(g * (1 - g) / 100_000))


@given(seeds, sizes, decimals)
def test_drawn_labels_and_rows(seed, n, digits):
    p, y, _ = counted_rows(seed, n, digits)
    p, value, code = codes(p, y)
    limit, scratch = limits_of(p), Scratch()
    for key in keys_of(seed, 3):
        hits = reference.draw_hits(limit, code, len(value), key)
        labels = reference.draw_labels(limit, key)
        assert hits.tolist() == [int(labels[p == v].sum()) for v in value]
        rows = reference.resample_scores(value, code, key)
        for where in (FRESH, scratch):
            assert np.array_equal(hits, tested.draw_hits(limit, code, len(value), key, where))
            found = tested.resample_scores(value, code, key, where)
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
    assert np.array_equal(tested.draw_hits(limit, code, len(value), key), expected)
    pairs = zip(
        tested.resample_scores(value, code, key),
        reference.resample_scores(value, code, key),
        strict=True,
    )
    assert all(np.array_equal(ours, theirs) for ours, theirs in pairs)


def test_scratch_gives_no_memory_away_and_fresh_memory_stays():
    scratch = Scratch()
    first = scratch.empty("a", 10, np.int64)
    assert np.shares_memory(first, scratch.empty("a", 4, np.int64))
    assert not np.shares_memory(first, scratch.empty("b", 4, np.int64))
    assert len(scratch.empty("a", 20, np.int64)) == 20
    assert scratch.empty("a", 4, np.float64).dtype == np.float64
    assert not np.shares_memory(FRESH.empty("a", 4, np.int64), FRESH.empty("a", 4, np.int64))


def test_the_kernels_refuse_what_does_not_fit():
    kernel = compiled_module("draws")
    three, ones = np.zeros(3), np.ones(3, np.int64)
    with pytest.raises(ValueError, match="one code"):
        kernel.draw_hits(np.zeros(3, np.uint64), np.zeros(2, np.int32), 0, ones)
    with pytest.raises(ValueError, match="one to spare"):
        kernel.resample_scores(
            three, np.zeros(3, np.int32), 0, np.zeros(3, np.uint32), three, ones, ones
        )
