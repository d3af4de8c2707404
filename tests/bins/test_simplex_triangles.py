"""Equal triangles on the simplex of three outcomes: against geometry, in every order of classes."""

from __future__ import annotations

import re
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import trueup as tu
from oracles import bins as oracle, classes
from trueup.bins import SimplexTriangles
from trueup.engines import using
from trueup.lens import Cells
from trueup.simulate import DirichletWorld
from trueup.tables import CellTable

DOCS = Path(__file__).parents[2] / "docs" / "measures.md"
SEEDS = st.integers(0, 2**32 - 1)
SIDES = st.integers(1, 7)
ORDERS = list(permutations(range(3)))
CENTER = np.full((1, 3), 1 / 3)


def grid_points(per_side: int) -> np.ndarray:
    """All corners of the triangles, each coordinate the float64 nearest to i/n."""
    n = per_side
    return np.array([(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)]) / n


def sample_of(seed: int, n: int, per_side: int, kind: str) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(3, rng.choice([0.2, 1.0, 5.0])), n)
    if kind == "corners":
        corners = grid_points(per_side)
        rows = np.concatenate([rows, corners[rng.integers(0, len(corners), n)], CENTER])
    if kind == "sides":  # one coordinate on an edge, the others anywhere
        j = rng.integers(0, per_side + 1, n) / per_side
        u = rng.random(n)
        rows = np.column_stack([j, (1 - j) * u, (1 - j) * (1 - u)])
        rows = rng.permuted(rows, axis=1)
    if kind == "rounded":  # three digits, which need not sum to 1
        rows = np.maximum(rows.round(3), 0)
    if kind == "float32":
        rows = np.concatenate([rows, grid_points(per_side)]).astype(np.float32)
    if kind == "certain":
        rows = np.eye(3)[rng.integers(0, 3, n)]
    return rows


KINDS = st.sampled_from(["smooth", "corners", "sides", "rounded", "float32", "certain"])


def forecasts_of(probs: np.ndarray, labels: np.ndarray, w: np.ndarray | None = None):
    soft = labels.ndim == 2
    return tu.Forecasts.from_arrays(probs, labels, weights=w, normalize=True, soft_labels=soft)


def cells_of(probs: np.ndarray) -> Cells:
    return tu.lens.Canonical().cells(forecasts_of(probs, np.zeros(len(probs), int)))


def error(per_side: int, **options: object) -> tu.BinnedError:
    return tu.BinnedError(tu.lens.Canonical(), SimplexTriangles(per_side), **options)


def rows_of(probs: np.ndarray, per_side: int) -> list[list[int]]:
    leaves = SimplexTriangles(per_side).leaves(cells_of(probs))
    return sorted(sorted(leaf.rows.tolist()) for leaf in leaves)


@given(SEEDS, st.integers(1, 15), SIDES, KINDS)
def test_against_geometry(seed: int, n: int, per_side: int, kind: str) -> None:
    probs = sample_of(seed, n, per_side, kind)
    normalized = cells_of(probs).rows(np.arange(len(probs)))
    found = rows_of(probs, per_side)
    assert found == sorted(oracle.simplex_triangles(normalized, per_side))
    assert sorted(row for rows in found for row in rows) == list(range(len(probs)))


@given(SEEDS, st.integers(1, 15), SIDES, KINDS, st.sampled_from(["none", "eighths", "soft"]))
def test_the_order_of_classes_changes_nothing(
    seed: int, n: int, per_side: int, kind: str, more: str
) -> None:
    probs = sample_of(seed, n, per_side, kind)
    rng = np.random.default_rng([seed, 1])
    labels = rng.integers(0, 3, len(probs))
    w = rng.integers(1, 40, len(probs)) / 8 if more == "eighths" else None
    soft = rng.dirichlet(np.ones(3), len(probs)) if more == "soft" else None
    cells, values = rows_of(probs, per_side), []
    for order in ORDERS:
        new = np.argsort(order)[labels] if soft is None else soft[:, order]
        data = forecasts_of(probs[:, order], new, w)
        values.append([error(per_side, distance=d)(data) for d in ("tv", "squared")])
        assert rows_of(probs[:, order], per_side) == cells
    assert np.ptp(values, axis=0).max() <= 1e-12


@pytest.mark.parametrize("per_side", [1, 2, 3, 5, 6, 7, 10, 12])
def test_corners_in_every_order(per_side: int) -> None:
    probs = grid_points(per_side)
    cells = rows_of(probs, per_side)
    assert cells == sorted(oracle.simplex_triangles(probs, per_side))
    for order in ORDERS:
        assert rows_of(probs[:, order], per_side) == cells


@pytest.mark.parametrize(("per_side", "n_cells"), [(1, 1), (2, 4), (5, 25), (6, 36), (10, 100)])
def test_number_and_size_of_the_cells(per_side: int, n_cells: int) -> None:
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(3), 40_000)  # uniform on the simplex
    found = error(per_side).measure(probs, rng.integers(0, 3, len(probs)))
    assert found.notes == {"n_bins_requested": n_cells, "n_bins": n_cells}
    expected = len(probs) / n_cells
    assert np.all(np.abs(found.table.count - expected) <= 5 * np.sqrt(expected))


@given(SEEDS, st.integers(1, 15), SIDES)
def test_rows_lie_in_their_cell(seed: int, n: int, per_side: int) -> None:
    probs = sample_of(seed, n, per_side, "corners")
    for leaf in SimplexTriangles(per_side).leaves(cells_of(probs)):
        assert np.all(probs[leaf.rows] >= leaf.low - 1e-12)
        assert np.all(probs[leaf.rows] <= leaf.high + 1e-12)
        below = round(per_side * leaf.low.sum())
        assert below in (per_side - 1, per_side - 2) or np.allclose(leaf.high, 1 / 3)
        np.testing.assert_allclose(leaf.high - leaf.low, 1 / per_side, rtol=1e-9)


@pytest.mark.parametrize("per_side", [3, 6, 9, 30])
def test_the_center_is_a_cell_of_its_own_where_it_is_a_corner(per_side: int) -> None:
    around = CENTER + 1e-6 * np.array([[2, -1, -1], [-2, 1, 1], [1, 1, -2], [-1, -1, 2]])
    rounded = np.array([[1 / 3, 1 / 3, 1 - 2 / 3], [0.3333, 0.3333, 0.3333]])
    probs = np.concatenate([CENTER, around, rounded])
    assert [0, 5, 6] in rows_of(probs, per_side)
    assert len(rows_of(probs, per_side)) == 5
    assert rows_of(probs, per_side + 1) == [list(range(7))]


@pytest.mark.parametrize("scale", [1.0, 1.001, 0.9997])
def test_rows_that_are_scaled_to_sum_to_1_stay_on_their_corner(scale: float) -> None:
    for per_side in (5, 10, 15):
        probs = grid_points(per_side) * scale
        probs[probs > 1] = 1.0
        assert rows_of(probs, per_side) == rows_of(grid_points(per_side), per_side)


@given(SEEDS, st.integers(1, 15), SIDES, st.sampled_from(["none", "eighths"]))
def test_errors_against_the_oracle(seed: int, n: int, per_side: int, weighting: str) -> None:
    probs = sample_of(seed, n, per_side, "corners")
    rng = np.random.default_rng([seed, 1])
    labels = rng.integers(0, 3, len(probs))
    w = rng.integers(1, 40, len(probs)) / 8 if weighting == "eighths" else None
    cells = oracle.simplex_triangles(probs, per_side)
    for distance, literal in (
        ("tv", classes.total_variation),
        ("squared", classes.squared_euclidean),
    ):
        expected = classes.simplex_error(probs, labels, cells, literal, w)
        for name in ("native", "reference"):
            with using(name):
                found = error(per_side, distance=distance)(probs, labels, weights=w)
            assert found == pytest.approx(expected, abs=1e-13)


def test_grid_depends_on_the_order_of_classes_as_the_docs_say_and_triangles_do_not() -> None:
    data = DirichletWorld((1.0, 1.0, 1.0), 2.0).sample(1000, rng=0)
    probs = data.rows(slice(None))

    def values(binning: tu.bins.Binning) -> list[float]:
        measure = tu.BinnedError(tu.lens.Canonical(), binning)
        return [measure(probs[:, order], np.argsort(order)[data.labels]) for order in ORDERS]

    by_last: dict[int, set[str]] = {0: set(), 1: set(), 2: set()}
    for order, found in zip(ORDERS, values(tu.bins.SimplexGrid(5)), strict=True):
        by_last[order[-1]].add(f"{found:.4f}")
    first, second, third = (each for last in range(3) for each in by_last[last])
    (same,) = {f"{found:.4f}" for found in values(SimplexTriangles(5))}
    text = " ".join(DOCS.read_text(encoding="utf-8").split())
    said = f"`SimplexGrid(5)` is {first} if class 0 is last, {second} if class 1 is, and {third} if"
    assert f"{said} class 2 is. With `SimplexTriangles(5)` it is {same} in all six orders" in text


def test_tables_add_and_are_read_back() -> None:
    rng = np.random.default_rng(0)
    probs, labels = sample_of(0, 200, 6, "corners"), rng.integers(0, 3, 401)
    whole = error(6).table(probs, labels)
    total = error(6).table(probs[:150], labels[:150]) + error(6).table(probs[150:], labels[150:])
    for name in ("low", "high", "count"):
        assert getattr(total, name).tolist() == getattr(whole, name).tolist()
    np.testing.assert_allclose(total.label, whole.label, rtol=1e-13)
    again = CellTable.from_dict(whole.to_dict())
    assert again.low.tolist() == whole.low.tolist()
    assert error(6).from_table(again).value == error(6)(probs, labels)
    with pytest.raises(tu.InputError, match=r"^`other` must be a table over the same cells; got "):
        whole + error(5).table(probs, labels)


def test_other_lenses_of_three_outcomes() -> None:
    rng = np.random.default_rng(0)
    probs, labels = rng.dirichlet(np.ones(5), 300), rng.integers(0, 5, 300)
    groups = ((0, 1), (2, 4), (3,))
    summed = np.column_stack([probs[:, list(group)].sum(axis=1) for group in groups])
    of_group = np.array([0, 0, 1, 2, 1])[labels]
    found = tu.BinnedError(tu.lens.Partition(groups), SimplexTriangles(4))(probs, labels)
    assert found == pytest.approx(error(4)(summed, of_group), abs=1e-12)
    assert tu.BinnedError(tu.lens.TopK(2), SimplexTriangles(4)).table(probs, labels).n_bins <= 16


@pytest.mark.parametrize("bad", [0, -3, 2.5, 3.0, True, None, "15", float("nan")])
def test_bad_sides_are_refused(bad: object) -> None:
    message = f"`per_side` must be a whole number of at least 1; got {bad!r}."
    with pytest.raises(tu.InputError, match=f"^{re.escape(message)}$"):
        SimplexTriangles(bad)


@pytest.mark.parametrize(
    ("m", "hint"),
    [
        (2, "two outcomes have a single score; use the lens Binary() and EqualWidth"),
        (4, "regular tetrahedra of one size do not fill the simplex of four outcomes"),
        (7, "group the classes in three with the lens Partition"),
    ],
)
def test_other_numbers_of_outcomes_are_refused(m: int, hint: str) -> None:
    message = (
        f"`binning` must be a binning of {m} outcomes, such as SimplexGrid(5); "
        f"got SimplexTriangles(per_side=5). Hint: {hint}."
    )
    with pytest.raises(tu.InputError, match=f"^{re.escape(message)}$"):
        error(5)(np.full((4, m), 1 / m), [0, 1, 0, 1])


def test_scores_are_refused() -> None:
    message = (
        "`binning` must be a binning of scores, such as EqualWidth(15); "
        "got SimplexTriangles(per_side=5)."
    )
    with pytest.raises(tu.InputError, match=f"^{re.escape(message)}$"):
        tu.BinnedError(binning=SimplexTriangles(5))([0.5], [1])
