"""Tables of sufficient statistics: they add, travel as JSON and frames, and say what they are."""

from __future__ import annotations

import dataclasses
import json
import math
import re

import numpy as np
import pytest
from hypothesis import given, strategies as st

import trueup as tu
from oracles import bins as oracle
from oracles.errors import bin_means
from trueup.lens import Pairs

SEEDS = st.integers(0, 2**32 - 1)
LIBRARIES = ("pandas", "polars", "pyarrow")
PARTS = [slice(0, 70), slice(70, 71), slice(71, 200)]


def binary(seed: int = 0, n: int = 200, ties: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.integers(0, 11, n) / 10 if ties else rng.random(n)
    return p, (rng.random(n) < p).astype(int)


def matrix(seed: int = 0, n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.multinomial(32, [0.5, 0.3, 0.2], n) / 32, rng.integers(0, 3, n)


def whole_and_sum(error: tu.BinnedError, probs: np.ndarray, labels: np.ndarray) -> tuple:
    first, *others = [error.table(probs[part], labels[part]) for part in PARTS]
    for other in others:
        first = first + other
    return error.table(probs, labels), first


def assert_same_sums(a: tu.tables.BinTable, b: tu.tables.BinTable) -> None:
    assert a.edges.tolist() == b.edges.tolist()
    assert a.count.tolist() == b.count.tolist()
    for x, y in zip(a.sums, b.sums, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-13, atol=0)


@pytest.mark.parametrize("binning", [tu.EqualWidth(15), tu.bins.FixedEdges((0.2, 0.21, 0.9))])
def test_bin_tables_add(binning: object) -> None:
    whole, total = whole_and_sum(tu.BinnedError(binning=binning), *binary())
    assert_same_sums(whole, total)
    assert total.n_bins_requested == whole.n_bins_requested


def test_families_and_cells_add() -> None:
    whole, total = whole_and_sum(tu.BinnedError(tu.lens.ClassWise()), *matrix())
    assert total.names == whole.names
    for a, b in zip(whole.tables, total.tables, strict=True):
        assert_same_sums(a, b)
    whole, total = whole_and_sum(
        tu.BinnedError(tu.lens.Canonical(), tu.bins.SimplexGrid(4)), *matrix()
    )
    for name in ("low", "high", "count"):
        assert getattr(total, name).tolist() == getattr(whole, name).tolist()
    for name in ("weight", "score", "label"):
        np.testing.assert_allclose(getattr(total, name), getattr(whole, name), rtol=1e-13)


def test_members_without_rows_add() -> None:
    error = tu.BinnedError(tu.lens.ClassWise(where=(0.6, 1.0)), tu.bins.FixedEdges((0.5, 0.8)))
    probs, labels = np.array([[0.7, 0.2, 0.1], [0.1, 0.9, 0.0], [0.9, 0.1, 0.0]]), [0, 1, 1]
    first, second = error.table(probs[:1], labels[:1]), error.table(probs[1:], labels[1:])
    assert first[1] is None
    total = first + second
    assert total[0].count.tolist() == [0, 1, 1]
    assert total[1].count.tolist() == [0, 0, 1]
    assert total[2] is None
    assert len(total) == 3


def test_fine_tables_add() -> None:
    p, y = binary()
    parts = [tu.tables.FineBinTable.from_arrays(p[part], y[part]) for part in PARTS]
    total, whole = parts[0] + parts[1] + parts[2], tu.tables.FineBinTable.from_arrays(p, y)
    assert total.sums.count.tolist() == whole.sums.count.tolist()
    np.testing.assert_allclose(total.sums.score, whole.sums.score, rtol=1e-13)


def test_tables_over_different_bins_are_refused() -> None:
    p, y = binary()
    thirds = tu.BinnedError(binning=tu.EqualWidth(3)).table(p, y)
    quarters = tu.BinnedError(binning=tu.EqualWidth(4)).table(p, y)
    with pytest.raises(tu.InputError, match=r"^`other` must be a table over the same edges; got "):
        thirds + quarters
    probs, labels = matrix()
    grids = [
        tu.BinnedError(tu.lens.Canonical(), tu.bins.SimplexGrid(b)).table(probs, labels)
        for b in (2, 3)
    ]
    with pytest.raises(tu.InputError, match=r"^`other` must be a table over the same cells; got "):
        grids[0] + grids[1]
    pair = tu.lens.Partition(groups=((0,), (1, 2)))
    smaller = tu.BinnedError(pair, tu.bins.SimplexGrid(2)).table(probs, labels)
    message = r"^`other` must be a table over cells of the same simplex; got "
    with pytest.raises(tu.InputError, match=message):
        grids[0] + smaller
    family = tu.BinnedError(tu.lens.ClassWise()).table(probs, labels)
    weighted = tu.BinnedError(tu.lens.ClassWise(class_weights=(1, 1, 2))).table(probs, labels)
    message = r"^`other` must be a family with the same members and shares; got "
    with pytest.raises(tu.InputError, match=message):
        family + weighted
    for table in (thirds, grids[0], family, tu.tables.FineBinTable.from_arrays(p, y)):
        with pytest.raises(TypeError):
            table + 1


def tables() -> list[object]:
    """One of each that has columns, an empty bin and an empty member among them."""
    p, y = binary()
    probs, labels = matrix()
    return [
        tu.BinnedError(binning=tu.EqualWidth(5)).table(p * 0.5, y),
        tu.BinnedError(tu.lens.ClassWise(where=(0.6, 1.0)), tu.EqualMass(3)).table(probs, labels),
        tu.BinnedError(tu.lens.Canonical(), tu.bins.VarianceTree(50)).table(probs, labels),
    ]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("which", [0, 1, 2])
def test_data_frames(library: str, which: int) -> None:
    pytest.importorskip(library)
    table = tables()[which]
    frame = table.to_frame(library)
    assert type(frame).__module__.partition(".")[0] == library
    expected = table.columns()
    names = frame.column_names if library == "pyarrow" else list(frame.columns)
    assert names == list(expected)
    for name, column in expected.items():
        found = np.asarray(frame[name])
        np.testing.assert_array_equal(found, np.asarray(column))


def test_data_frames_of_other_libraries_are_refused() -> None:
    message = "`library` must be one of pandas, polars, pyarrow; got 'dask'."
    with pytest.raises(tu.InputError, match=f"^{re.escape(message)}$"):
        tables()[0].to_frame("dask")


def fields_of(table: object) -> list[object]:
    """Every number of a table, to compare those that have no equality of their own."""
    if isinstance(table, tu.tables.FineBinTable):
        return [moment.tolist() for moment in table.sums]
    return [getattr(table, name).tolist() for name in (f.name for f in dataclasses.fields(table))]


@pytest.mark.parametrize("which", [0, 1, 2, 3])
def test_tables_survive_json(which: int) -> None:
    table = [*tables(), tu.tables.FineBinTable.from_arrays(*binary())][which]
    again = type(table).from_dict(json.loads(json.dumps(table.to_dict(), allow_nan=False)))
    if which < 2:
        assert again == table
    else:
        assert fields_of(again) == fields_of(table)
    assert repr(again) == repr(table)


def test_class_names_that_are_numpy_numbers_survive_json() -> None:
    probs, labels = matrix()
    names = np.array([3, 5, 7])
    forecasts = tu.Forecasts.from_arrays(probs, names[labels], classes=names)
    family = tu.BinnedError(tu.lens.ClassWise()).table(forecasts)
    assert tu.tables.BinTables.from_dict(json.loads(json.dumps(family.to_dict()))) == family


def test_fine_tables_of_another_grid_are_refused() -> None:
    data = tu.tables.FineBinTable.from_arrays(*binary()).to_dict() | {"cells": 100}
    message = "`data` must be a table of 10240 cells; got 100."
    with pytest.raises(tu.InputError, match=f"^{re.escape(message)}$"):
        tu.tables.FineBinTable.from_dict(data)


def test_reprs() -> None:
    bins, family, cells = tables()
    lines = repr(bins).splitlines()
    assert lines[0] == "BinTable of 200 rows in 5 bins:"
    assert len(lines) == 7
    assert len({len(line) for line in lines[2:]}) == 1
    assert lines[-1].split() == ["(0.8000,", "1.0000]", "0", "-", "-", "-"]
    assert repr(family).splitlines()[0] == "BinTables of 3 classes:"
    assert repr(cells) == f"CellTable(200 rows in {cells.n_bins} cells of 3 outcomes)"
    fine = tu.tables.FineBinTable.from_arrays(*binary(ties=True))
    assert repr(fine) == "FineBinTable(200 rows in 11 of 10240 cells)"


@given(SEEDS, st.integers(1, 40), st.integers(1, 30), st.booleans(), st.booleans())
def test_single_rows_are_merged_as_the_oracle_does(
    seed: int, n: int, n_bins: int, mass: bool, weighted: bool
) -> None:
    rng = np.random.default_rng(seed)
    p = rng.integers(0, 65, n) / 64
    y = rng.integers(0, 2, n)
    w = rng.integers(1, 5, n).astype(float) if weighted else None
    binning = tu.EqualMass(n_bins) if mass else tu.EqualWidth(n_bins)
    edges = binning.inner_edges(Pairs(p, y, w))
    before = tu.BinnedError(binning=binning).table(p, y, weights=w)
    table, merged = before.without_singles()
    expected = oracle.merge_single_rows(p, oracle.split_at(p, edges), w)
    assert table.count.tolist() == [len(rows) for rows in expected]
    assert merged == np.count_nonzero(before.count) - len(expected)
    means = bin_means(p, y, expected, w)
    np.testing.assert_allclose(table.mean_score, [b.f for b in means], rtol=1e-13)
    np.testing.assert_allclose(table.mean_label, [b.y for b in means], rtol=1e-13, atol=1e-16)
    assert (table.edges[0], table.edges[-1]) == (0, 1)
    assert [len(rows) for rows in oracle.split_at(p, table.edges[1:-1])] == table.count.tolist()
    assert table.weight.sum() == pytest.approx(n if w is None else math.fsum(w), abs=1e-12)
