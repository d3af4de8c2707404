"""Cells, statistics and pooled p-values of the omnibus test, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import multivariate_normal

from oracles.inference import omnibus as oracle
from trueup.inference.omnibus.pooled_pvalues import (
    harmonic,
    pooled_pvalues,
    pvalues_of_each,
)
from trueup.inference.omnibus.statistics import OmnibusCells, scan, strongest_run
from trueup.tables.score_cells import CellMoments, cell_of

SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.sampled_from([1, 2, 30, 47, 48, 200])
KINDS = st.sampled_from(["smooth", "ties", "two decimals", "ends", "impossible", "near one"])
WEIGHTS = st.sampled_from(["no", "integer", "real"])


def data_of(
    n: int, kind: str, weights: str, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    if kind == "ties":
        p = rng.choice([0.1, 0.5, 0.9], n)
    if kind == "two decimals":
        p = p.round(2)
    if kind in ("ends", "impossible"):
        p = rng.choice([0.0, 0.0, 1.0, 0.2, 0.97], n)
    if kind == "near one":
        p = 1 - p * 1e-13
    y = (rng.random(n) < p).astype(np.int64)
    if kind == "impossible":
        y[p == 0] = rng.random((p == 0).sum()) < 0.1
    w = {"no": None, "integer": rng.integers(1, 5, n).astype(float), "real": rng.random(n) + 0.1}
    return p, y, w[weights]


def cells_of_library(p: np.ndarray, y: np.ndarray, w: np.ndarray | None) -> OmnibusCells:
    return OmnibusCells.from_moments(CellMoments.from_rows(cell_of(p), p, y, w))[0]


def check(p: np.ndarray, y: np.ndarray, w: np.ndarray | None) -> None:
    cells, slow = cells_of_library(p, y, w), oracle.cells_of(p, w)
    assert cells.place.tolist() == [c.number for c in slow]
    assert cells.variance == pytest.approx([c.variance for c in slow], rel=1e-11)
    assert cells.score == pytest.approx([c.mean_score for c in slow], rel=1e-12)
    assert cells.logit == pytest.approx([c.logit for c in slow], rel=1e-9, abs=1e-12)
    residual = oracle.residuals(slow, p, y, w)
    assert cells.residual == pytest.approx(residual, rel=1e-9, abs=1e-12)
    # The residuals of the oracle for both, since cancellation is not what is compared here.
    table = np.array([residual, [-v for v in residual]])
    values = cells.statistics(table)
    expected = oracle.six_statistics(slow, residual)
    assert values[0] == pytest.approx(expected, rel=1e-7, abs=1e-12)
    assert values[1] == pytest.approx(expected, rel=1e-7, abs=1e-12)  # none of them has a sign


@given(SIZES, KINDS, WEIGHTS, SEEDS)
@settings(max_examples=60)
def test_cells_and_statistics_are_those_of_loops(
    n: int, kind: str, weights: str, seed: int
) -> None:
    check(*data_of(n, kind, weights, seed))


@pytest.mark.parametrize("n", [359, 360, 383, 1000])
@pytest.mark.parametrize("weights", ["no", "real"])
def test_many_rows(n: int, weights: str) -> None:
    p, y, w = data_of(n, "smooth", weights, n)
    check(p, y, w)
    assert len(cells_of_library(p, y, None).place) == (45 if n >= 360 else 42)


def test_single_precision() -> None:
    p = np.random.default_rng(3).random(300).astype(np.float32)
    check(p, np.random.default_rng(4).integers(0, 2, 300), None)


def test_fine_cells_stay_whole() -> None:
    p, y = np.repeat([0.3, 0.7], [300, 60]), np.zeros(360, np.int64)
    assert cells_of_library(p, y, None).place.tolist() == [18, 41]
    check(p, y, None)


@given(SEEDS, st.integers(1, 15))
def test_scan_looks_at_every_run(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    r, v = rng.normal(size=n), rng.random(n) + 0.1
    cells = [oracle.Cell(3 * k, [], v[k], k / n, 0.0) for k in range(n)]
    best, where = oracle.scan(cells, r)
    assert scan(r[:, None], v) == pytest.approx([best])
    first, after = strongest_run(r, v)
    assert (first, after - 1) == where


@given(SEEDS, st.integers(1, 40), st.sampled_from([6, 12]), st.booleans())
def test_pooled_pvalues_are_shares_as_large(seed: int, n: int, k: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    values = rng.random((n, k)) * 10.0 ** rng.integers(-5, 5, k)
    if ties:
        values = rng.integers(0, 3, (n, k)) * (1 + rng.random((n, k)) * 1e-12)
        values[rng.random((n, k)) < 0.1] = np.inf
    expected = np.array([[float(v) for v in oracle.pooled(c)] for c in values.T]).T
    assert np.array_equal(pooled_pvalues(values), expected)
    assert harmonic(expected) == pytest.approx([float(v) for v in oracle.combined(values)])


def test_equal_labels_give_equal_residuals_whatever_their_order() -> None:
    rng = np.random.default_rng(5)
    p = 1 - rng.random(500) * 1e-13
    w = rng.random(500) + 0.1
    cells, group = OmnibusCells.from_moments(CellMoments.from_rows(cell_of(p), p, np.ones(500), w))
    number = np.zeros(cell_of(p).max() + 1, np.int64)
    number[np.unique(cell_of(p))] = group
    order = rng.permutation(500)
    again = np.bincount(number[cell_of(p)][order], w[order], len(cells.place))
    assert not np.array_equal(again, cells.label)
    assert np.array_equal(cells.residuals(again), cells.residual)


@given(KINDS, WEIGHTS, SEEDS)
@settings(max_examples=20)
def test_equal_labels_have_equal_pvalues_wherever_they_stand(
    kind: str, weights: str, seed: int
) -> None:
    p, y, w = data_of(200, kind, weights, seed)
    cells = cells_of_library(p, y, w)
    rng = np.random.default_rng(seed)
    share = cells.variance / (1 + cells.variance)
    drawn = np.floor(cells.upper) + rng.binomial(4, share, (20, len(share)))
    rows = rng.permutation(np.repeat(np.arange(20), 17))
    pvalues = pooled_pvalues(cells.statistics(cells.residuals(drawn[rows])))
    for row in range(20):
        assert len(np.unique(pvalues[rows == row], axis=0)) == 1


@given(SEEDS, st.integers(2, 45), st.booleans())
@settings(max_examples=50)
def test_the_kernel_is_that_of_a_likelihood_ratio(seed: int, n: int, rare: bool) -> None:
    rng = np.random.default_rng(seed)
    variance = rng.random(n) * (10.0 ** rng.uniform(-6, 0, n) if rare else 10)
    place = np.sort(rng.choice(45, n, replace=False))
    zero = np.zeros(n)
    cells = OmnibusCells(place, zero, zero, variance, zero, zero, zero, 45)
    shape = np.exp(-((place[:, None] - place) ** 2) / (2 * (0.05 * 45) ** 2))
    # The densities are those of R/√V: the matrix of R is nearly singular if variances differ much.
    sd = np.sqrt(variance)
    still, moved = np.eye(n), np.outer(sd, sd) * shape * 40 / variance.sum()
    z = rng.normal(size=(2, n))
    log_ratio = [
        multivariate_normal(cov=still + moved).logpdf(x) - multivariate_normal(cov=still).logpdf(x)
        for x in z
    ]
    found = [(x * sd) @ cells.kernel @ (x * sd) / 2 for x in z]
    assert found[0] - found[1] == pytest.approx(log_ratio[0] - log_ratio[1], rel=1e-6, abs=1e-6)


def test_the_kernel_of_cells_whose_labels_do_not_vary() -> None:
    zero = np.zeros(2)
    cells = OmnibusCells(np.array([0, 2]), zero, zero, zero, zero, zero, zero, 3)
    assert not cells.kernel.any()


@given(
    st.sampled_from([1, 9, 99]),
    st.integers(1, 8),
    st.sampled_from(["smooth", "ties", "far", "constant", "infinite"]),
    SEEDS,
)
def test_pvalues_of_several_rows_are_those_of_each_alone(draws, rows, kind, seed) -> None:
    rng = np.random.default_rng(seed)
    drawn, values = rng.normal(size=(draws, 6)) ** 2, 2 * rng.normal(size=(rows, 6)) ** 2
    if kind == "ties":
        drawn, values = drawn.round(), values.round()
    if kind == "far":
        values[0] *= 10.0 ** rng.integers(1, 13)
    if kind == "constant":
        drawn[:, 2] = values[::2, 2] = 0
    if kind == "infinite":
        drawn[0, 1] = values[0, 1] = values[-1, 3] = np.inf
    alone = []
    for row in values:
        combined = harmonic(pooled_pvalues(np.concatenate([row[None], drawn])))
        alone.append(pooled_pvalues(combined[:, None])[0, 0])
    assert pvalues_of_each(values, drawn).tolist() == alone
