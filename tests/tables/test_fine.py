"""The dyadic grid: every score in its cell, and bins made of cells within the bound they state."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import trueup as tu
from oracles import bins as oracle
from trueup.lens import Pairs
from trueup.tables.fine import N_CELLS, cell_of, fine_edges

SEEDS = st.integers(0, 2**32 - 1)


def cells_by_edges(p: np.ndarray) -> np.ndarray:
    """A score's cell is the number of inner edges below it."""
    return np.searchsorted(fine_edges(), p, side="left")


def neighbours(p: np.ndarray) -> np.ndarray:
    """The scores, the float below and the float above each, within [0, 1]."""
    around = np.concatenate([p, np.nextafter(p, -1), np.nextafter(p, 2)])
    return np.clip(around, 0, 1)


def error_of(table: tu.tables.BinTable) -> float:
    full = table.count > 0
    return float(np.sum(table.share[full] * np.abs(table.gap[full])))


def scores_of(rng: np.random.Generator, n: int, kind: str) -> np.ndarray:
    if kind == "near one":
        return rng.beta(2.78, 0.048, n)
    if kind == "near zero":
        return rng.beta(0.05, 3.0, n)
    if kind == "ties":
        return rng.choice([0.0, 0.1, 0.5, 0.9, 0.95, 1.0], n)
    if kind == "one cell":
        return 0.7 + rng.random(n) * 1e-4
    if kind == "mixed":
        return np.where(rng.random(n) < 0.4, 0.9, rng.random(n))
    return rng.random(n)


KINDS = st.sampled_from(["smooth", "near one", "near zero", "ties", "one cell", "mixed"])


def test_the_edges_are_increasing_and_inside() -> None:
    edges = fine_edges()
    assert len(edges) == N_CELLS - 1 == 10_239
    assert np.all(np.diff(edges) > 0)
    assert edges[0] > 0
    assert edges[-1] < 1


def test_every_boundary_and_its_neighbours_are_in_the_right_cell() -> None:
    p = neighbours(neighbours(fine_edges()))
    assert cell_of(p).tolist() == cells_by_edges(p).tolist()


def test_special_scores_are_in_the_right_cell() -> None:
    powers = np.ldexp(1.0, -np.arange(1, 1075))
    special = np.concatenate([[0.0, 0.5, 1.0, 5e-324, 2.2e-308, 1e-310], powers, 1 - powers])
    p = neighbours(special)
    assert cell_of(p).tolist() == cells_by_edges(p).tolist()
    assert cell_of(np.array([0.0, 1.0])).tolist() == [0, N_CELLS - 1]
    float32 = np.float32(special)
    assert cell_of(float32).tolist() == cells_by_edges(float32.astype(float)).tolist()


@given(st.lists(st.floats(0, 1), min_size=1), st.integers(1, 52))
def test_random_and_dyadic_scores_are_in_the_right_cell(values: list[float], bits: int) -> None:
    p = np.array(values)
    dyadic = np.floor(p * 2.0**bits) / 2.0**bits
    for scores in (p, dyadic, 1 - p, neighbours(dyadic)):
        assert cell_of(scores).tolist() == cells_by_edges(scores).tolist()


def test_cells_are_narrow() -> None:
    """Less than 1/128 of min(p, 1 − p), outside the last octaves at both ends."""
    edges = fine_edges()
    low, high = edges[:-1], edges[1:]
    middle = (low > 2.0**-40) & (high < 1 - 2.0**-40)
    near = np.minimum(low, 1 - high)[middle]
    assert np.all((high - low)[middle] <= near / 128 * (1 + 1e-9))


@given(SEEDS, KINDS, st.integers(1, 300), st.integers(1, 40), st.booleans())
def test_equal_mass_is_within_its_bound(
    seed: int, kind: str, n: int, n_bins: int, weighted: bool
) -> None:
    rng = np.random.default_rng(seed)
    p = scores_of(rng, n, kind)
    y = rng.integers(0, 2, n)
    w = rng.integers(1, 9, n) / 4 if weighted else None
    table, bound = tu.tables.FineBinTable.from_arrays(p, y, w).equal_mass(n_bins)
    exact = tu.BinnedError(binning=tu.EqualMass(n_bins))(p, y, weights=w)
    assert 0 <= bound <= 1
    assert abs(error_of(table) - exact) <= bound + 1e-13
    assert table.count.sum() == n
    assert table.n_bins_requested == n_bins
    assert table.n_bins <= n_bins


@given(SEEDS, KINDS, st.integers(1, 300), st.integers(1, 40))
def test_rebin_is_within_its_bound(seed: int, kind: str, n: int, n_bins: int) -> None:
    rng = np.random.default_rng(seed)
    p = scores_of(rng, n, kind)
    y = rng.integers(0, 2, n)
    fine = tu.tables.FineBinTable.from_arrays(p, y)
    on_data = oracle.equal_mass_edges(p, min(n_bins, 8))
    on_cells = np.sort(rng.choice(fine_edges(), n_bins, replace=False))
    for inner in (np.arange(1, n_bins) / n_bins, np.array(on_data), on_cells):
        edges = inner[(inner > 0) & (inner < 1)]
        table, bound = fine.rebin(edges)
        exact = tu.BinnedError(binning=tu.bins.FixedEdges(tuple(edges)))(p, y)
        assert abs(error_of(table) - exact) <= bound + 1e-13
        assert table.count.sum() == n


@pytest.mark.parametrize("n_bins", [2, 15, 100])
def test_bound_is_small_for_many_smooth_scores(n_bins: int) -> None:
    rng = np.random.default_rng(8)
    p = rng.random(200_000)
    y = (rng.random(len(p)) < p).astype(int)
    table, bound = tu.tables.FineBinTable.from_arrays(p, y).equal_mass(n_bins)
    exact = tu.BinnedError(binning=tu.EqualMass(n_bins)).table(p, y)
    assert bound < 0.03 * n_bins
    assert np.abs(table.edges - exact.edges).max() < 1 / 128


@pytest.mark.parametrize("edge", [0.75, 1 - 2.0**-20, float.fromhex("0x1.fffffffffed40p-1")])
@pytest.mark.parametrize("n", [1, 7, 191, 4097])
def test_scores_just_above_an_edge_stay_above_it(edge: float, n: int) -> None:
    """The mean of equal scores, one float above an edge, must not be rounded to the edge."""
    p, y = np.repeat([0.2, np.nextafter(edge, 2)], n), np.repeat([1, 0], n)
    table, bound = tu.tables.FineBinTable.from_arrays(p, y).rebin(np.array([edge]))
    assert table.count.tolist() == [n, n]
    exact = tu.BinnedError(binning=tu.bins.FixedEdges((edge,)))(p, y)
    assert abs(error_of(table) - exact) <= bound + 1e-13


def test_equal_mass_of_ties_is_exact() -> None:
    """Every cell holds one value, so bins of cells are bins of scores."""
    p = np.random.default_rng(3).choice([0.05, 0.3, 0.62, 0.9, 0.95], 500)
    y = (p > 0.5).astype(int)
    for n_bins in (2, 3, 5, 15):
        table, _ = tu.tables.FineBinTable.from_arrays(p, y).equal_mass(n_bins)
        exact = tu.BinnedError(binning=tu.EqualMass(n_bins)).table(p, y)
        assert table.count.tolist() == exact.count.tolist()
        pairs = Pairs(p, y, None)
        assert len(tu.EqualMass(n_bins).inner_edges(pairs)) == table.n_bins - 1
