"""Cells of scores and of the simplex: the variance tree and the grid, against the literal ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import trueup as tu
from oracles import bins as oracle, classes
from trueup.lens import Cells, Pairs
from trueup.variance_tree import Leaf

SEEDS = st.integers(0, 2**32 - 1)


def points_of(seed: int, n: int, k: int, steps: int) -> np.ndarray:
    """Rows that are multiples of 1/steps, a power of two: they sum to 1 exactly, and tie."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(steps, rng.dirichlet(np.ones(k)), n) / steps


def weights_of(seed: int, n: int, kind: str) -> np.ndarray | None:
    rng = np.random.default_rng([seed, 1])
    if kind == "none":
        return None
    return rng.integers(1, 6, n).astype(float) if kind == "whole" else rng.integers(1, 40, n) / 8


def cells_of(probs: np.ndarray, w: np.ndarray | None = None) -> Cells:
    labels = np.zeros(len(probs), int)
    return tu.lens.Canonical().cells(tu.Forecasts.from_arrays(probs, labels, weights=w))


def rows_of(leaves: list[Leaf]) -> list[list[int]]:
    return [sorted(leaf.rows.tolist()) for leaf in leaves]


def corners_of(leaves: list[Leaf]) -> list[list[float]]:
    return [[*leaf.low, *leaf.high] for leaf in leaves]


def tree_bins(
    tree: tu.bins.VarianceTree, p: np.ndarray, w: np.ndarray | None = None
) -> list[list[int]]:
    edges = tree.inner_edges(Pairs(p, np.zeros(len(p), int), w))
    assert np.all(np.diff(edges) > 0)
    return oracle.split_at(p, edges)


@given(
    SEEDS,
    st.integers(1, 40),
    st.integers(1, 10),
    st.integers(1, 4),
    st.sampled_from(["none", "whole", "dyadic"]),
    st.sampled_from([4, 64, 0]),
)
def test_tree_of_scores_against_the_oracle(
    seed: int, n: int, min_samples: int, min_leaf: int, weighting: str, steps: int
) -> None:
    rng = np.random.default_rng(seed)
    p = rng.integers(0, steps + 1, n) / steps if steps else rng.random(n)
    w = weights_of(seed, n, weighting)
    expected = oracle.variance_tree(p, min_samples, min_leaf, w)
    assert tree_bins(tu.bins.VarianceTree(min_samples, min_leaf), p, w) == expected


@given(
    SEEDS,
    st.integers(1, 40),
    st.integers(2, 5),
    st.integers(1, 8),
    st.integers(1, 3),
    st.sampled_from(["none", "whole", "dyadic"]),
    st.sampled_from([4, 64]),
)
def test_tree_of_a_simplex_against_the_oracle(
    seed: int, n: int, k: int, min_samples: int, min_leaf: int, weighting: str, steps: int
) -> None:
    probs, w = points_of(seed, n, k, steps), weights_of(seed, n, weighting)
    leaves = tu.bins.VarianceTree(min_samples, min_leaf).leaves(cells_of(probs, w))
    assert rows_of(leaves) == oracle.variance_tree(probs, min_samples, min_leaf, w)
    for leaf in leaves:
        inside = probs[leaf.rows]
        assert np.all((inside > leaf.low) | (leaf.low == 0))
        assert np.all(inside <= leaf.high)


@given(SEEDS, st.integers(2, 200), st.integers(2, 5), st.booleans())
def test_tree_does_not_depend_on_the_order_of_rows(
    seed: int, n: int, k: int, weighted: bool
) -> None:
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.full(k, 0.5), n)
    w = rng.exponential(size=n) if weighted else None
    order = rng.permutation(n)
    tree = tu.bins.VarianceTree(min_samples=5)
    leaves = tree.leaves(cells_of(probs, w))
    moved = tree.leaves(cells_of(probs[order], None if w is None else w[order]))
    assert corners_of(moved) == corners_of(leaves)
    assert [sorted(order[leaf.rows].tolist()) for leaf in moved] == rows_of(leaves)
    p = probs[:, 0]
    labels = np.zeros(n, int)
    edges = tree.inner_edges(Pairs(p, labels, w))
    again = tree.inner_edges(Pairs(p[order], labels, None if w is None else w[order]))
    assert again.tolist() == edges.tolist()


@given(SEEDS, st.integers(1, 30), st.integers(2, 4))
def test_a_weighted_row_counts_as_so_many_in_means_and_variances(seed: int, n: int, k: int) -> None:
    probs, w = points_of(seed, n, k, 16), weights_of(seed, n, "whole")
    times = w.astype(int)
    tree = tu.bins.VarianceTree(min_samples=1)
    repeated = np.repeat(np.arange(n), times)
    expected = [
        sorted({int(repeated[i]) for i in leaf.rows})
        for leaf in tree.leaves(cells_of(probs[repeated]))
    ]
    assert rows_of(tree.leaves(cells_of(probs, w))) == expected


def test_a_row_on_the_mean_goes_left() -> None:
    p = np.array([0.25, 0.5, 0.75])
    tree = tu.bins.VarianceTree(min_samples=2)
    assert tree.inner_edges(Pairs(p, np.zeros(3, int), None)).tolist() == [0.5]


@pytest.mark.parametrize("weights", [(1, 3, 1), (2, 5, 2), (2, 7, 2), (7, 3, 7)])
def test_a_row_on_the_weighted_mean_goes_left(weights: tuple[int, ...]) -> None:
    """The weighted mean is 1/16 exactly; rounded below it, the row would go right."""
    p = np.array([0.0, 0.0625, 0.125])
    assert tree_bins(tu.bins.VarianceTree(min_samples=2), p, np.array(weights, float)) == [
        [0, 1],
        [2],
    ]


def test_min_samples_is_the_most_a_cell_may_keep() -> None:
    p = np.arange(8) / 8
    assert len(tree_bins(tu.bins.VarianceTree(min_samples=8), p)) == 1
    assert len(tree_bins(tu.bins.VarianceTree(min_samples=7), p)) == 2


def test_constant_columns_are_never_split() -> None:
    probs = np.array([[0.5, 0.25, 0.25], [0.5, 0.125, 0.375], [0.5, 0.25, 0.25]])
    leaves = tu.bins.VarianceTree(min_samples=1).leaves(cells_of(probs))
    assert rows_of(leaves) == [[1], [0, 2]]
    assert all(leaf.low[0] == 0 and leaf.high[0] == 1 for leaf in leaves)
    same = np.full((50, 3), 1 / 3)
    assert len(tu.bins.VarianceTree(min_samples=1).leaves(cells_of(same))) == 1
    assert len(tree_bins(tu.bins.VarianceTree(min_samples=1), np.full(50, 0.1))) == 1


@pytest.mark.parametrize("low", [0.1, 0.3, 0.5, 1 / 3, 1e-300, 5e-324, 0.0, 1 - 2**-53])
@pytest.mark.parametrize("times", [(1, 1), (1, 9), (9, 1)])
def test_two_neighbouring_floats_are_told_apart(low: float, times: tuple[int, int]) -> None:
    """Their mean rounds to one of the two; the smaller must still go left, the larger right."""
    p = np.repeat([low, np.nextafter(low, 2)], times)
    expected = [list(range(times[0])), list(range(times[0], 10 if 9 in times else 2))]
    assert tree_bins(tu.bins.VarianceTree(min_samples=1), p) == expected


def test_equal_variances_split_the_lowest_coordinate() -> None:
    probs = np.array([[0.75, 0.25, 0.0], [0.25, 0.75, 0.0]])
    leaves = tu.bins.VarianceTree(min_samples=1).leaves(cells_of(probs))
    assert rows_of(leaves) == [[1], [0]]
    assert leaves[0].high.tolist() == [0.5, 1, 1]


def test_min_leaf_ends_a_cell_rather_than_make_a_small_one() -> None:
    p = np.array([0.0, 0.0, 0.0, 0.0, 1.0])
    assert len(tree_bins(tu.bins.VarianceTree(min_samples=1, min_leaf=1), p)) == 2
    assert len(tree_bins(tu.bins.VarianceTree(min_samples=1, min_leaf=2), p)) == 1


@given(SEEDS, st.integers(1, 60), st.integers(2, 5), st.integers(1, 20), st.sampled_from([8, 64]))
def test_grid_against_the_oracle(seed: int, n: int, k: int, n_bins: int, steps: int) -> None:
    probs = points_of(seed, n, k, steps)
    leaves = tu.bins.SimplexGrid(n_bins).leaves(cells_of(probs))
    assert rows_of(leaves) == oracle.simplex_grid(probs, n_bins)
    for leaf in leaves:
        inside = probs[leaf.rows][:, :-1]
        assert np.all((inside > leaf.low) | (leaf.low == 0))
        assert np.all(inside <= leaf.high)
        np.testing.assert_allclose(leaf.high - leaf.low, 1 / n_bins, rtol=1e-9)


@pytest.mark.parametrize("n_bins", [255, 256, 257, 1000])
def test_grid_with_many_cells(n_bins: int) -> None:
    probs = points_of(3, 300, 3, 1 << 20)
    leaves = tu.bins.SimplexGrid(n_bins).leaves(cells_of(probs))
    assert rows_of(leaves) == oracle.simplex_grid(probs, n_bins)


@given(SEEDS, st.integers(1, 40), st.integers(2, 4), st.sampled_from(["none", "whole", "dyadic"]))
def test_errors_on_cells_against_the_oracle(seed: int, n: int, k: int, weighting: str) -> None:
    probs, w = points_of(seed, n, k, 32), weights_of(seed, n, weighting)
    labels = np.random.default_rng([seed, 2]).integers(0, k, n)
    for binning, cells in (
        (tu.bins.VarianceTree(min_samples=4), oracle.variance_tree(probs, 4, 1, w)),
        (tu.bins.SimplexGrid(3), oracle.simplex_grid(probs, 3)),
    ):
        for distance, literal in (
            ("tv", classes.total_variation),
            ("squared", classes.squared_euclidean),
        ):
            error = tu.BinnedError(tu.lens.Canonical(), binning, distance=distance)
            expected = classes.simplex_error(probs, labels, cells, literal, w)
            assert error(probs, labels, weights=w) == pytest.approx(expected, abs=1e-14)
