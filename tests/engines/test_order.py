"""Equal-mass edges and tied scores: those of the reference, bit for bit."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from support.engine_under_test import compiled_module, module_under_test
from trueup.engines import set_threads
from trueup.engines.reference import order as reference

tested = module_under_test("order")

# Small pieces take every path (grid, gathering, parts, many chunks) with little data.
in_small_pieces = mock.patch.multiple(tested, create=True, FEW_ROWS=16, CHUNK_ROWS=64, PART_ROWS=32)

LABEL_TYPES = [np.bool_, np.uint8, np.int8, np.int32, np.int64]


def _step(rng, n):
    return np.where(rng.random(n) < 0.5, 0.3, 0.7)


KINDS = {
    "uniform": lambda rng, n: rng.random(n),
    "confident": lambda rng, n: rng.beta(2.78, 0.048, n),
    "one decimal": lambda rng, n: np.round(rng.random(n), 1),
    "two decimals": lambda rng, n: np.round(rng.random(n), 2),
    "three decimals": lambda rng, n: np.round(rng.random(n), 3),
    "constant": lambda rng, n: np.full(n, 0.95),
    "all zero": lambda rng, n: np.zeros(n),
    "all one": lambda rng, n: np.ones(n),
    "both zeros": lambda rng, n: rng.choice([0.0, -0.0, 0.5], n),
    "mostly zero": lambda rng, n: np.where(rng.random(n) < 0.9, 0.0, rng.random(n)),
    "half at one": lambda rng, n: np.where(rng.random(n) < 0.5, 1.0, rng.random(n)),
    "half at an inner atom": lambda rng, n: np.where(rng.random(n) < 0.5, 0.7, rng.random(n)),
    "two atoms in a cell": lambda rng, n: rng.choice([0.7, np.nextafter(0.7, 1), 0.2], n),
    "close to one": lambda rng, n: 1 - 1e-12 * rng.random(n),
    "steps below one": lambda rng, n: 1 - rng.integers(0, 9, n) * 2.0**-53,
    "denormal": lambda rng, n: rng.integers(0, 2000, n) * 5e-324,
    "denormal or one": lambda rng, n: np.where(rng.random(n) < 0.5, 5e-324, 1.0),
    "every magnitude": lambda rng, n: 10.0 ** rng.uniform(-320, 0, n),
    "narrow": lambda rng, n: 0.3 + 1e-9 * rng.random(n),
    "narrow with outliers": lambda rng, n: np.where(
        np.arange(n) % 97 == 1, rng.random(n), 0.3 + 1e-9 * rng.random(n)
    ),
    "two heaps": lambda rng, n: _step(rng, n) + 1e-9 * rng.random(n),
    "around one half": lambda rng, n: 0.5 + rng.integers(-3, 4, n) * 2.0**-54,
    "same high bits": lambda rng, n: (
        np.where(rng.random(n) < 0.01, rng.random(n), 0.25) + rng.integers(0, 1000, n) * 2.0**-54
    ),
}


def draw(kind, dtype, n, seed):
    rng = np.random.default_rng(seed)
    p = np.clip(KINDS[kind](rng, n), 0, 1).astype(dtype)
    return p, rng.random(n) < p


def assert_same_edges(p, n_bins):
    ours, right = tested.equal_mass_edges(p, n_bins), reference.equal_mass_edges(p, n_bins)
    assert ours.dtype == np.float64
    np.testing.assert_array_equal(ours, right)
    assert not np.signbit(ours).any()


def assert_same_ties(p, y):
    ours, right = tested.tied_scores(p, y), reference.tied_scores(p, y)
    for name in ("value", "count", "positive"):
        mine, theirs = getattr(ours, name), getattr(right, name)
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)
    assert not np.signbit(ours.value).any()


def tie_bytes(p, y):
    return [part.tobytes() for part in tested.tied_scores(p, y)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_edges(kind, dtype):
    for seed, n in enumerate([1, 2, 3, 4, 15, 16, 17, 100, 4095, 4096, 10_000, 50_000]):
        p, _ = draw(kind, dtype, n, seed)
        for n_bins in {1, 2, 3, 15, n // 17 + 1, n, n + 1, 3 * n}:
            assert_same_edges(p, n_bins)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_edges_of_one_column(kind, dtype):
    """The kernel for moderate columns gives the edges, or reports that it would take long."""
    native, one_column = compiled_module("order", "native"), compiled_module("equal_mass")
    taken = 0
    for seed in range(40):
        p, _ = draw(kind, dtype, 40 + 199 * seed, seed)
        for n_bins in {1, 2, 3, 7, 15, len(p) // 16}:
            edges = np.full(n_bins, np.nan)
            made = one_column.equal_mass_edges(p, *native.Grid.of(p), n_bins, edges)
            if made >= 0:
                taken += n_bins > 1
                np.testing.assert_array_equal(edges[:made], reference.equal_mass_edges(p, n_bins))
                assert np.isnan(edges[made:]).all()
    if kind == "uniform":
        assert taken > 40


@in_small_pieces
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_edges_in_small_pieces(kind, dtype):
    for seed in range(40):
        n = 32 + 37 * seed
        p, _ = draw(kind, dtype, n, seed)
        for n_bins in {2, 3, 7, 15, n // 16}:
            assert_same_edges(p, n_bins)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_ties(kind, dtype):
    for seed, n in enumerate([1, 2, 3, 4, 15, 100, 5000, 40_000]):
        p, y = draw(kind, dtype, n, seed)
        assert_same_ties(p, y)


@in_small_pieces
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_ties_in_small_pieces(kind, dtype):
    for seed in range(40):
        assert_same_ties(*draw(kind, dtype, 33 + 37 * seed, seed))


@pytest.mark.parametrize("n", [300, 40_000])
@pytest.mark.parametrize("label_type", LABEL_TYPES)
def test_every_type_of_label(label_type, n):
    p, y = draw("three decimals", np.float64, n, 1)
    assert_same_ties(p, y.astype(label_type))


@pytest.mark.parametrize("n", [300, 40_000])
def test_read_only_and_strided(n):
    p, y = draw("two decimals", np.float64, n, 2)
    p.flags.writeable = y.flags.writeable = False
    for scores, labels in ((p, y), (p[::3], y[::3]), (p[::-2], y[::-2])):
        assert_same_edges(scores, 15)
        assert_same_ties(scores, labels)


unit = st.floats(0, 1, width=64, allow_subnormal=True) | st.sampled_from(
    [0.0, -0.0, 1.0, 0.5, np.nextafter(0.5, 0), np.nextafter(1, 0), 5e-324, 2.0**-54]
)


@in_small_pieces
@given(st.lists(unit, min_size=1, max_size=20), st.integers(1, 400), st.integers(1, 40), st.data())
@settings(deadline=None)
def test_any_scores(values, n, n_bins, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    p = rng.choice(values, n)
    if data.draw(st.booleans()):
        p = p.astype(np.float32)
    assert_same_edges(p, n_bins)
    assert_same_ties(p, rng.random(n) < 0.5)


@in_small_pieces
@pytest.mark.parametrize("kind", ["uniform", "two decimals", "half at one"])
def test_threads_change_nothing(kind):
    p, y = draw(kind, np.float64, 20_000, 3)
    found = []
    try:
        for threads in (1, 2, 3, 5):
            set_threads(threads)
            found.append([tested.equal_mass_edges(p, 15).tobytes(), *tie_bytes(p, y)])
    finally:
        set_threads(None)
    assert all(one == found[0] for one in found)


def test_many_callers_at_once():
    columns = [draw(kind, np.float64, 20_000, 4)[0] for kind in KINDS]
    right = [reference.equal_mass_edges(p, 15) for p in columns]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            ours = pool.map(lambda p: tested.equal_mass_edges(p, 15), columns)
            for mine, theirs in zip(ours, right, strict=True):
                np.testing.assert_array_equal(mine, theirs)


def test_order_of_rows_is_nothing():
    p, y = draw("both zeros", np.float64, 5000, 5)
    shuffled = np.random.default_rng(6).permutation(len(p))
    assert tie_bytes(p, y) == tie_bytes(p[shuffled], y[shuffled])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_million_rows(kind):
    p, y = draw(kind, np.float64, 1_000_000, 7)
    assert_same_edges(p, 15)
    assert_same_edges(p, 1000)
    assert_same_ties(p, y)
