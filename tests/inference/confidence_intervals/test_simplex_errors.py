"""Intervals of errors on a simplex against naive sums, one cell after the other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import trueup as tu
from trueup.inference.confidence_intervals.interval import interval

Z = stats.norm.ppf(0.975)
HALF_NORMAL = math.sqrt(2 / math.pi)


def sample():
    rng = np.random.default_rng(0)
    g = rng.dirichlet([1, 2, 3], 400)
    truth = g**2 / np.sum(g**2, axis=1, keepdims=True)
    return g, (rng.random((400, 1)) > np.cumsum(truth, axis=1)).sum(axis=1)


@pytest.fixture
def cells():
    """Share, gap, variances and largest standard error of each cell, by definition."""
    g, labels = sample()
    found = []
    corners = np.minimum((g[:, :2] * 3).astype(int), 2)
    for corner in np.unique(corners, axis=0):
        rows = (corners == corner).all(axis=1)
        n = rows.sum()
        share_of = np.bincount(labels[rows], minlength=3) / n
        smoothed = (n * share_of + 2 / 3) / (n + 2)
        common = max(smoothed.max(), 0.5)
        found.append(
            (
                n / 400,
                g[rows].mean(axis=0) - share_of,
                smoothed * (1 - smoothed) / n,
                math.sqrt(common * (1 - common) / n),
            )
        )
    return found


def median(gap, variance, clear):
    """At most what chance adds to half the L1 distance, over outcomes whose sign is not clear."""
    error = np.sqrt(variance)
    return 0.5 * HALF_NORMAL * np.sum(error[np.abs(gap) <= clear * error])


def found(norm, distance="tv"):
    estimator = tu.BinnedError(tu.lens.Canonical(), tu.bins.SimplexGrid(3), norm, distance=distance)
    answer = interval(estimator, *sample())
    assert answer.method == "analytic"
    return answer.low, answer.high


def test_norm_1(cells):
    plugin = sum(s * np.abs(gap).sum() / 2 for s, gap, _, _ in cells)
    middle = sum(s * median(gap, v, 3.0) for s, gap, v, _ in cells)
    sd = math.sqrt(sum((s * e) ** 2 for s, _, _, e in cells))
    assert found(1) == pytest.approx((plugin - middle - Z * sd, plugin + Z * sd))


@pytest.mark.parametrize("norm", [2, 3])
def test_other_norms(cells, norm):
    plugin = sum(s * (np.abs(gap).sum() / 2) ** norm for s, gap, _, _ in cells) ** (1 / norm)
    middle = sum(s * median(gap, v, math.inf) ** norm for s, gap, v, _ in cells) ** (1 / norm)
    moment = stats.norm.expect(lambda x: abs(x) ** norm)
    beyond = (moment * sum(s * e**norm for s, _, _, e in cells)) ** (1 / norm)
    most = max(s ** (1 / norm) * e for s, _, _, e in cells)
    expected = (plugin - middle - beyond - Z * most, plugin + Z * most)
    assert found(norm) == pytest.approx((max(0.0, expected[0]), expected[1]))


def test_the_worst_cell(cells):
    away = [np.abs(gap).sum() / 2 for _, gap, _, _ in cells]
    surer = stats.norm.ppf(1 - 0.025 / len(cells))
    low = max(
        d - median(gap, v, math.inf) - surer * e
        for d, (_, gap, v, e) in zip(away, cells, strict=True)
    )
    high = max(d + Z * e for d, (*_, e) in zip(away, cells, strict=True))
    assert found(math.inf) == pytest.approx((max(0.0, low), min(1.0, high)))


def test_squared_distances(cells):
    plugin = math.sqrt(sum(s * np.sum(gap**2) for s, gap, _, _ in cells))
    middle = math.sqrt(sum(s * np.sum(v) for s, _, v, _ in cells))
    most = math.sqrt(max(2 * s * v.max() for s, _, v, _ in cells))
    low, high = max(0.0, plugin - middle - Z * most), plugin + Z * most
    assert found(1, "squared") == pytest.approx((low**2, high**2))
