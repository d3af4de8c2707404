"""The fixed grid of the omnibus test, and its sums, against plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oracles.inference.omnibus import N_FINE, fine_cell
from trueup.tables.score_cells import N_CELLS, CellMoments, cell_edges, cell_of, closed_edges

SEEDS = st.integers(0, 2**32 - 1)


def scores_near_edges() -> np.ndarray:
    edges = cell_edges()[:: 37 if len(cell_edges()) > 300 else 1]
    powers = np.ldexp(1.0, -np.arange(1, 60))
    p = np.concatenate([edges, powers, 1 - powers, [0, 1, 5e-324, 15 / 16, 1 / 16, 0.5]])
    around = np.concatenate([p, np.nextafter(p, -1), np.nextafter(p, 2)])
    return np.clip(around, 0, 1)


def test_the_edges_increase_from_0_to_1() -> None:
    edges = cell_edges()
    assert len(edges) == N_CELLS + 1 == N_FINE + 1
    assert np.all(np.diff(edges) > 0)
    assert (edges[0], edges[-1]) == (0, 1)


def test_cells_at_edges_and_next_to_them() -> None:
    p = scores_near_edges()
    assert cell_of(p).tolist() == [fine_cell(v) for v in p]


@given(SEEDS)
def test_cells_of_random_scores_of_both_precisions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = np.concatenate([rng.random(20), rng.beta(0.05, 0.05, 40), rng.random(5).round(2)])
    assert cell_of(p).tolist() == [fine_cell(v) for v in p]
    single = p.astype(np.float32)
    assert cell_of(single).tolist() == [fine_cell(v) for v in single]


def test_a_score_lies_between_the_edges_of_its_cell() -> None:
    p = np.random.default_rng(1).beta(0.1, 0.1, 5000)
    edges, cell = cell_edges(), cell_of(p)
    assert np.all((edges[cell] <= p) & (p <= edges[cell + 1]))


@pytest.mark.parametrize("decimals", [1, 2, 3])
def test_rounded_scores_have_a_cell_each(decimals: int) -> None:
    p = np.arange(10**decimals + 1) / 10**decimals
    assert len(set(cell_of(p).tolist())) == len(p)


@pytest.mark.parametrize("weighted", [False, True])
@given(seed=SEEDS)
def test_sums_are_those_of_loops(seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    p = np.where(rng.random(60) < 0.5, rng.random(60).round(1), rng.beta(0.03, 0.03, 60))
    y = rng.integers(0, 2, 60).astype(bool)
    w = rng.random(60) + 0.1 if weighted else None
    moments = CellMoments.from_rows(cell_of(p), p, y, w)
    number = [fine_cell(v) for v in p]
    weight = np.ones(60) if w is None else w
    assert moments.cell.tolist() == sorted(set(number))
    for b, cell in enumerate(moments.cell):
        rows = [i for i in range(60) if number[i] == cell]
        q = [min(p[i], 1 - p[i]) for i in rows]
        u = [weight[i] for i in rows]
        hits = [float(y[i]) for i in rows]
        assert moments.count[b] == len(rows)
        each = {
            "w": math.fsum(u),
            "wq": math.fsum(a * v for a, v in zip(u, q, strict=True)),
            "wy": math.fsum(a * v for a, v in zip(u, hits, strict=True)),
            "w2q": math.fsum(a * a * v for a, v in zip(u, q, strict=True)),
            "w2q2": math.fsum(a * a * v * v for a, v in zip(u, q, strict=True)),
            "wp": math.fsum(a * p[i] for a, i in zip(u, rows, strict=True)),
            "variance": math.fsum(a * a * v * (1 - v) for a, v in zip(u, q, strict=True)),
        }
        for name, value in each.items():
            assert getattr(moments, name)[b] == pytest.approx(value, rel=1e-12, abs=1e-300), name
        residual = math.fsum(weight[i] * (float(y[i]) - p[i]) for i in rows)
        assert moments.wy[b] - moments.wp[b] == pytest.approx(residual, rel=1e-9, abs=1e-13)


def test_closed_edges_find_the_same_cells() -> None:
    rng = np.random.default_rng(0)
    on_edges = cell_edges()[rng.integers(0, N_CELLS + 1, 3000)]
    near = np.nextafter(on_edges, rng.integers(0, 2, 3000))
    for p in (rng.random(3000), rng.beta(0.1, 0.1, 3000), on_edges, near, np.array([0, 0.5, 1.0])):
        for scores in (p, p.astype(np.float32)):
            found = np.searchsorted(closed_edges()[1:-1], scores.astype(np.float64), side="left")
            assert (found == cell_of(scores)).all()
