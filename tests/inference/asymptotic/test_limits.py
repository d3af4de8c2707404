"""Limit distributions against dual series, quadrature, Imhof's integral and exact sums."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.stats import binom, chi2, norm

from oracles.inference import tails as oracle
from trueup.engines import using
from trueup.estimators.kernel_errors.pair_sums import Kernel
from trueup.inference.asymptotic.brownian_motion import tail_of_distance, tail_of_range
from trueup.inference.asymptotic.kernel_spectrum import spectrum_of_rows, spectrum_of_scores
from trueup.inference.asymptotic.quadratic_forms import leading_distance, tail_of_form
from trueup.inference.asymptotic.skewed_sums import heavier_tails
from trueup.inference.hypothesis_tests.null_distribution import NullPairs, NullRows
from trueup.lens import Pairs


@given(st.floats(0.05, 6))
def test_distance_of_brownian_motion(x: float) -> None:
    assert tail_of_distance(x) == pytest.approx(1 - oracle.distance_below(x), rel=1e-7, abs=1e-13)


@settings(max_examples=15)
@given(st.floats(0.35, 6))
def test_range_of_brownian_motion(x: float) -> None:
    assert tail_of_range(x) == pytest.approx(oracle.range_above(x), rel=1e-7, abs=1e-12)


def test_quantiles_and_order_of_both() -> None:
    assert tail_of_distance(2.241) == pytest.approx(0.05, rel=2e-3)
    assert tail_of_range(2.498) == pytest.approx(0.05, rel=2e-3)
    for x in np.linspace(0, 40, 200):
        assert 0 <= tail_of_distance(x) <= tail_of_range(x) <= 1
        assert tail_of_distance(x) >= tail_of_distance(x + 0.2)
        assert tail_of_range(x) >= tail_of_range(x + 0.2)


def test_a_walk_of_many_steps_is_brownian() -> None:
    rng = np.random.default_rng(0)
    path = np.cumsum(rng.choice([-1.0, 1.0], (4_000, 2_000)), axis=1) / np.sqrt(2_000)
    high, low = np.maximum(path.max(axis=1), 0), np.minimum(path.min(axis=1), 0)
    for x in (1.0, 1.8, 2.4):
        for found, tail in (
            (np.maximum(high, -low), tail_of_distance),
            (high - low, tail_of_range),
        ):
            assert np.mean(found >= x) == pytest.approx(tail(x), abs=0.035)


@pytest.mark.parametrize("count", [1, 2, 3, 10, 500])
@pytest.mark.parametrize("pvalue", [0.99, 0.5, 0.1, 1e-3, 1e-6, 1e-30])
def test_equal_weights_are_chi_square(count: int, pvalue: float) -> None:
    t = chi2.isf(pvalue, count) - count
    assert tail_of_form(np.ones(count), t) == pytest.approx(pvalue, rel=1e-8)
    assert tail_of_form(7 * np.ones(count), 7 * t) == pytest.approx(pvalue, rel=1e-8)
    assert tail_of_form(-np.ones(count), -t) == pytest.approx(1 - pvalue, rel=1e-8, abs=1e-12)


@pytest.mark.parametrize(
    ("values", "variance"),
    [
        (1 / np.arange(1, 60) ** 2.0, 0.0),
        (np.r_[1, 0.5, 0.3, -0.2 * np.ones(9)], 0.0),
        (1 / np.arange(1, 20) ** 2.0, 0.3),
        (np.r_[3, 1, -0.1, -1, -2.9], 0.0),
        (-np.ones(4), 0.5),
    ],
)
@pytest.mark.parametrize("deviations", [-2.0, -0.5, 0.0, 0.5, 2.0, 5.0])
def test_any_weights_by_imhof(values, variance: float, deviations: float) -> None:
    t = deviations * np.sqrt(2 * np.sum(values**2) + variance)
    expected = oracle.form_above(values, t, variance)
    assert tail_of_form(values, t, variance) == pytest.approx(expected, abs=1e-7)


def test_forms_at_their_ends() -> None:
    none = np.zeros(3)
    assert tail_of_form(none, 0.0) == 1
    assert tail_of_form(none, 0.1) == 0
    assert tail_of_form(none, 1.0, 2.0) == pytest.approx(norm.sf(1 / np.sqrt(2)), rel=1e-10)
    assert tail_of_form(np.ones(2), -2.0) == 1
    assert tail_of_form(-np.ones(2), 2.1) == 0
    assert leading_distance(np.ones(3), -1.0) == 0
    far = chi2.isf(1e-9, 1)
    assert leading_distance(np.ones(1), far - 1) == pytest.approx(np.sqrt(far), rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_heavier_tails_over_all_outcomes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, factor = rng.uniform(0.1, 0.6, 12), rng.normal(1, 0.3, 12)
    deviation = np.sqrt(np.sum(factor**2 * p * (1 - p)))
    for z in (1.5, 2.0, 2.5, 3.0):
        exact = oracle.sum_above(p, factor, z * deviation)
        assert heavier_tails(p, factor, z) * 2 * norm.sf(z) == pytest.approx(exact, rel=0.3)


@pytest.mark.parametrize("z", [2.0, 4.0, 6.0])
def test_heavier_tails_of_rare_outcomes(z: float) -> None:
    """With z at half steps of the count, where the discrete and the smooth tail agree."""
    n, rate = 4_000, 0.01
    deviation = np.sqrt(n * rate * (1 - rate))
    count = np.ceil(n * rate + z * deviation)
    at = (count - 0.5 - n * rate) / deviation
    exact = binom.sf(count - 1, n, rate) + binom.cdf(np.floor(n * rate - at * deviation), n, rate)
    p, factor = np.full(n, rate), np.full(n, 3.0)
    assert heavier_tails(p, factor, at) * 2 * norm.sf(at) == pytest.approx(exact, rel=0.05)
    assert heavier_tails(p, factor, 0.1) == 1
    assert heavier_tails(p[:2], factor[:2], 90.0) in (0, 1)


def pairs_of(p, y, w) -> NullPairs:
    return NullPairs.in_order(Pairs(p, y, w))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["laplacian", "gaussian"])
def test_the_spectrum_has_the_moments_of_the_pair_sum(name: str, weighted: bool) -> None:
    rng = np.random.default_rng(1)
    p = np.r_[rng.random(60), 0.25, 0.25, 0.0, 1.0]
    w = rng.random(64) + 0.1 if weighted else np.ones(64)
    rows = pairs_of(p, rng.random(64) < p, w if weighted else None)
    found = spectrum_of_scores(rows, Kernel(name, 0.2))
    kernel = Kernel(name, 0.2).of(np.abs(p[:, None] - p))
    assert 2 * np.sum(found.values**2) == pytest.approx(oracle.pair_variance(p, kernel, w))
    assert np.sum(found.values) == pytest.approx(0, abs=1e-10)


def test_cells_of_scores_change_little() -> None:
    rng = np.random.default_rng(2)
    p = rng.beta(0.5, 2.0, 2_000)
    rows, kernel = pairs_of(p, rng.random(2_000) < p, None), Kernel("laplacian", 0.1)
    v, distance = rows.variance, np.abs(rows.p[:, None] - rows.p)
    matrix = kernel.of(distance) * np.sqrt(v[:, None] * v)
    np.fill_diagonal(matrix, 0)
    cells = spectrum_of_scores(rows, kernel)
    assert len(cells.values) <= 1_000
    assert np.sum(cells.values**2) == pytest.approx(np.sum(matrix**2), rel=3e-3)
    largest = np.linalg.norm(matrix @ np.linalg.eigh(matrix)[1][:, -1])
    assert cells.values[-1] == pytest.approx(largest, rel=1e-3)


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_simplex_of_two_outcomes_is_a_score(engine: str) -> None:
    rng = np.random.default_rng(3)
    p, y = rng.random(80), rng.random(80) < 0.5
    g, w = np.column_stack([1 - p, p]), rng.random(80) + 0.1
    with using(engine):
        two = spectrum_of_rows(NullRows(g, y.astype(int), w), Kernel("laplacian", 0.3), True)
    one = spectrum_of_scores(pairs_of(p, y, w / w.max()), Kernel("laplacian", 0.3))
    largest = np.sort(np.sort(np.abs(two.values))[-80:])
    assert largest == pytest.approx(np.sort(2 * np.abs(one.values)), rel=1e-9)


def test_few_and_many_eigenvalues_of_a_simplex_agree() -> None:
    rng = np.random.default_rng(4)
    g = rng.dirichlet(np.ones(4), 500)
    labels = np.zeros(500, int)
    kernel = Kernel("laplacian", 0.4)
    dense = spectrum_of_rows(NullRows(g[:375], labels[:375], None), kernel, False)
    assert len(dense.values) == 1_500
    few = spectrum_of_rows(NullRows(np.r_[g[:375], g[:1]], labels[:376], None), kernel, False)
    assert len(few.values) < 200
    t = 3 * np.sqrt(2 * np.sum(dense.values**2))
    assert few.tail(t) == pytest.approx(dense.tail(t), rel=0.05)
