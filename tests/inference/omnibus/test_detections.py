"""Draws with moved rates: their law, and the test that judges them, against plain versions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from trueup.forecasts import Forecasts
from trueup.inference.omnibus.binomial_quantiles import Quantiles
from trueup.inference.omnibus.columns import Column
from trueup.inference.omnibus.detections import (
    NullPool,
    OmnibusDetections,
    ScaledCells,
    WeightedCells,
)
from trueup.inference.omnibus.pooled_pvalues import harmonic, pooled_pvalues
from trueup.lens import Binary


@pytest.mark.parametrize(
    ("size", "rate"),
    [(1, 0.5), (5, 0.3), (30, 1e-9), (1000, 0.005), (1000, 0.999), (20, 1.0), (20, 0.0)],
)
def test_quantiles_of_few_counts_are_exact(size, rate) -> None:
    drawn = Quantiles.drawn((1, 20_000), np.random.default_rng(0))
    found = drawn.of_binomial(np.array([float(size)]), np.array([rate]))
    assert (found[0] == binom.ppf(drawn.uniform[0], size, rate)).all()


@pytest.mark.parametrize(("size", "rate"), [(60, 0.3), (500, 0.03), (10_000, 0.997)])
def test_quantiles_of_many_counts_are_within_one(size, rate) -> None:
    drawn = Quantiles.drawn((1, 20_000), np.random.default_rng(0))
    found = drawn.of_binomial(np.array([float(size)]), np.array([rate]))[0]
    exact = binom.ppf(drawn.uniform[0], size, rate)
    assert np.abs(found - exact).max() < 1.05
    assert abs(np.mean(found - exact)) < 0.02
    assert found.std() == pytest.approx(exact.std(), rel=0.01)


def cells_of(p: np.ndarray, w: np.ndarray | None) -> tuple[Column, WeightedCells]:
    data = Forecasts.from_arrays(p, np.zeros(len(p), int), weights=w)
    pairs = Binary().problem(data)
    column = Column.from_pairs(pairs)
    return column, WeightedCells.from_pairs(column.fine, pairs)


def residuals(fine: WeightedCells, gap: np.ndarray, times: float, n_draws: int) -> np.ndarray:
    """The residuals that are drawn, times √times, before they become statistics."""
    cells = ScaledCells.from_moments(fine, fine.moments.count.sum() * times)
    kept: list[np.ndarray] = []
    object.__setattr__(cells, "cells", _Kept(cells.cells, kept))
    quantiles = Quantiles.drawn((len(cells.size), n_draws), np.random.default_rng(1))
    cells.statistics(gap, times, quantiles)
    return kept[0] * np.sqrt(times)


class _Kept:
    def __init__(self, cells, kept) -> None:
        self.score, self.statistics = cells.score, kept.append


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_residuals_have_the_moments_of_rows(weighted, temperature) -> None:
    rng = np.random.default_rng(0)
    p = rng.beta(4, 1, 1000)
    w = rng.exponential(size=1000) + 0.05 if weighted else None
    column, fine = cells_of(p, w)
    score = fine.moments.wp / fine.moments.w
    gap = (score**temperature - score) / 3
    found = residuals(fine, gap, 1.0, 20_000)
    rate, weight = p + (p**temperature - p) / 3, np.ones(1000) if w is None else w

    def total(terms: np.ndarray) -> np.ndarray:
        return np.bincount(column.index, terms)

    variance = total(weight**2 * rate * (1 - rate))
    off = found.mean(axis=0) - total(weight * (rate - p))
    assert np.abs(off / np.sqrt(variance)).max() < 0.05
    assert found.var(axis=0) == pytest.approx(variance, rel=0.12)
    third = total(weight**3 * rate * (1 - rate) * (1 - 2 * rate))
    skewness = (found - found.mean(axis=0)) ** 3 / variance**1.5
    assert skewness.mean(axis=0) == pytest.approx(third / variance**1.5, abs=0.25)


@pytest.mark.parametrize("times", [0.25, 1.0, 3.0])
def test_residuals_grow_with_the_rows(times) -> None:
    p = np.random.default_rng(0).random(1000)
    _, fine = cells_of(p, None)
    gap = np.full(len(fine.moments.w), 0.02)
    found = residuals(fine, gap, times, 4000).sum(axis=1)
    rate = p + 0.02
    assert found.mean() == pytest.approx(20 * times, abs=1.5 * np.sqrt(times))
    assert found.var() == pytest.approx(times * (rate * (1 - rate)).sum(), rel=0.1)


def test_ranks_in_the_pool_are_those_of_the_test() -> None:
    rng = np.random.default_rng(2)
    values = np.round(rng.normal(size=(100, 6)) ** 2, 1)
    pool = NullPool.from_values(values, 99, 0.05)
    expected = harmonic(pooled_pvalues(values))
    assert pool.combined(values, itself=True) == pytest.approx(expected)
    as_large = (expected[:, None] >= expected[None, :] * (1 - 1e-9)).mean(axis=0)
    rejected = expected > pool.threshold * (1 + 1e-9)
    assert (as_large[rejected] <= 0.05).all()
    assert as_large[~rejected].min() > 0.04


def test_the_level_is_kept_and_few_draws_never_reject() -> None:
    p = np.random.default_rng(0).random(500)
    _, fine = cells_of(p, None)
    still = np.zeros(len(fine.moments.w))
    for alpha in (0.05, 0.2):
        test = OmnibusDetections(fine, 500.0, 999, alpha)
        for rows in (100, 500, 5000):
            found = np.concatenate(list(test.detections(still, rows, 6000)))
            error = np.sqrt(alpha * (1 - alpha) * (1 / 6000 + 1 / 4000))  # of draws and null draws
            assert abs(found.mean() - alpha) < 3.5 * error
    never = OmnibusDetections(fine, 500.0, 10, 0.05)
    assert not np.concatenate(list(never.detections(still + 0.4, 500, 100))).any()
