"""Tests by name: their statistics against naive sums, and the p-values of formulas."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import trueup as tu
from support.null_samples import calibrated, run, simplex
from trueup.estimators import BinnedError, CumulativeError, KernelError
from trueup.lens import Canonical


def test_spiegelhalter_is_the_standardised_brier_score() -> None:
    p, y = calibrated("uniform", 400, 1)
    expected = np.sum((y - p) * (1 - 2 * p)) / np.sqrt(np.sum((1 - 2 * p) ** 2 * p * (1 - p)))
    found = run("spiegelhalter", p, y)
    assert found.statistic == pytest.approx(expected, rel=1e-12)
    assert run("spiegelhalter", np.tile(p, 5), np.tile(y, 5)).notes["reference"] == "normal"
    two = run("spiegelhalter", np.column_stack([1 - p, p]), y.astype(int))
    assert two.statistic == pytest.approx(found.statistic, rel=1e-12)


def test_spiegelhalter_of_classes_has_the_mean_and_variance_of_all_outcomes() -> None:
    g, y = simplex(4, 3, 2)
    w = np.array([1.0, 2.0, 0.5, 1.5])
    brier = lambda labels: float(np.sum(w * np.sum((g - np.eye(3)[labels]) ** 2, axis=1)))  # noqa: E731
    every = [np.array(labels) for labels in itertools.product(range(3), repeat=4)]
    chance = np.array([np.prod(g[np.arange(4), labels]) for labels in every])
    values = np.array([brier(labels) for labels in every])
    mean = chance @ values
    sd = math.sqrt(chance @ (values - mean) ** 2)
    found = run("spiegelhalter", g, y, weights=w)
    assert found.statistic == pytest.approx((brier(y) - mean) / sd, rel=1e-10)


def test_spiegelhalter_p_value_is_normal_and_two_sided() -> None:
    p, y = calibrated("uniform", 3000, 3)
    found = run("spiegelhalter", p, y)
    assert found.notes["reference"] == "normal"
    assert found.pvalue == pytest.approx(2 * stats.norm.sf(abs(found.statistic)), rel=1e-9)


def test_spiegelhalter_draws_each_block_of_rows_anew() -> None:
    """Two uncertain rows in different blocks: the score is as extreme unless the two differ."""
    p = np.zeros((1 << 17) + 1)
    p[[0, -1]] = 0.3
    found = run("spiegelhalter", p, np.zeros(len(p), bool), n_resamples=199)
    assert found.notes["reference"] == "resampling"
    assert found.pvalue == pytest.approx(0.7**2 + 0.3**2, abs=4.5 * math.sqrt(0.25 / 199))


def test_hosmer_lemeshow_by_hand() -> None:
    p = np.repeat(np.linspace(0.1, 0.9, 10), 100)
    y = np.random.default_rng(4).random(1000) < p
    found = run("hosmer-lemeshow", p, y)
    expected = sum(
        (y[p == value].sum() - 100 * value) ** 2 / (100 * value * (1 - value))
        for value in np.unique(p)
    )
    assert found.statistic == pytest.approx(expected, rel=1e-10)
    assert found.notes == {"df": 10, "bins_of_small_variance": 0, "reference": "chi-square"}
    assert 0.01 < found.pvalue == pytest.approx(stats.chi2.sf(expected, 10), rel=1e-9)
    few = run("hosmer-lemeshow", p[::20], y[::20])
    assert few.notes["reference"] == "resampling"
    assert few.notes["bins_of_small_variance"] == 10
    five = run("hosmer-lemeshow", p, y, statistic=BinnedError(binning=tu.EqualMass(5)))
    assert five.notes["df"] == 5


@pytest.mark.parametrize("form", ["ks", "kuiper"])
def test_ks_reports_the_metric(form: str) -> None:
    p, y = calibrated("few", 200, 5)
    estimator = CumulativeError(statistic=form)
    found = run("ks", p, y, statistic=estimator)
    assert found.statistic == estimator(p, y)
    assert found.method == form


@pytest.mark.parametrize("weighted", [False, True])
def test_tcal_is_a_sum_over_pairs_of_rows_in_a_bin(weighted: bool) -> None:
    p, y = calibrated("uniform", 40, 6)
    p[:3] = [0.0, 0.5, 1.0]
    w = np.random.default_rng(0).random(40) + 0.5 if weighted else np.ones(40)
    found = run("tcal", p, y, weights=w if weighted else None)
    for bins, ratio in found.notes["ratios"].items():
        cell = np.maximum(np.ceil(p * bins) - 1, 0)
        total = variance = 0.0
        for c in np.unique(cell):
            rows = np.flatnonzero(cell == c)
            for i, j in itertools.permutations(rows, 2):
                mass = w[rows].sum()
                total += w[i] * w[j] * (p[i] - y[i]) * (p[j] - y[j]) / mass
                product = p[i] * (1 - p[i]) * p[j] * (1 - p[j])
                variance += 2 * (w[i] * w[j] / mass) ** 2 * product
        assert ratio == pytest.approx(total / math.sqrt(variance), rel=1e-8)
    assert found.statistic == max(found.notes["ratios"].values())
    assert list(found.notes["ratios"]) == [32, 16, 8, 4, 2]


def test_tcal_on_a_simplex_is_a_sum_over_pairs_of_rows_in_a_cube() -> None:
    g, y = simplex(40, 3, 7)
    w = np.random.default_rng(0).random(40) + 0.5
    found = run("tcal", g, y, weights=w, statistic=Canonical())
    residual = g - np.eye(3)[y]
    for bins, ratio in found.notes["ratios"].items():
        corner = np.maximum(np.ceil(g[:, :2] * bins) - 1, 0)
        total = variance = 0.0
        for i, j in itertools.permutations(range(40), 2):
            if (corner[i] == corner[j]).all():
                mass = w[(corner == corner[i]).all(axis=1)].sum()
                total += w[i] * w[j] * residual[i] @ residual[j] / mass
                spread = [np.diag(g[r]) - np.outer(g[r], g[r]) for r in (i, j)]
                variance += 2 * (w[i] * w[j] / mass) ** 2 * np.trace(spread[0] @ spread[1])
        assert ratio == pytest.approx(total / math.sqrt(variance), rel=1e-8)
    assert list(found.notes["ratios"]) == [4, 2]


def test_skce_reports_the_metric() -> None:
    p, y = calibrated("uniform", 100, 8)
    g, labels = simplex(60, 3, 8)
    assert run("skce", p, y).statistic == tu.skce(p, y)
    assert run("skce", g, labels).statistic == tu.skce(g, labels)
    block = KernelError(form="block", block_size=3)
    assert run("skce-block", p, y, statistic=block).statistic == block(p, y)
    assert run("skce-distribution-free", g, labels).statistic == tu.skce(g, labels)


def test_the_distribution_free_bound() -> None:
    y = np.zeros(11, bool)
    p = np.full(11, 0.9)
    found = run("skce-distribution-free", p, y)
    assert found.statistic == pytest.approx(0.81)
    assert found.pvalue == pytest.approx(math.exp(-5 * 0.81**2 / 2))
    assert found.notes["conservative"] is True
    two = run("skce-distribution-free", np.column_stack([1 - p, p]), y.astype(int))
    assert two.pvalue == pytest.approx(found.pvalue)
    assert run("skce-distribution-free", p[:1], y[:1]).pvalue == 1


def test_normal_p_values_of_blocks() -> None:
    p, y = calibrated("uniform", 20_000, 9)
    found = run("skce-block", p, y)
    assert found.notes["reference"] == "normal"
    kernel = np.exp(-np.abs(p[::2] - p[1::2]) / found.notes["bandwidth"])
    total = np.sum(kernel * (p - y)[::2] * (p - y)[1::2])
    spread = p * (1 - p)
    sd = math.sqrt(np.sum(kernel**2 * spread[::2] * spread[1::2]))
    assert found.pvalue == pytest.approx(stats.norm.sf(total / sd), rel=1e-9)
    g, labels = simplex(20_000, 3, 9)
    found = run("skce-block", g, labels)
    away = np.linalg.norm(g[::2] - g[1::2], axis=1)
    residual = g - np.eye(3)[labels]
    kernel = np.exp(-away / found.notes["bandwidth"])
    total = np.sum(kernel * np.sum(residual[::2] * residual[1::2], axis=1))
    covariance = np.einsum("ij,jk->ijk", g, np.eye(3)) - np.einsum("ij,ik->ijk", g, g)
    traces = np.einsum("ijk,ikj->i", covariance[::2], covariance[1::2])
    assert found.notes["reference"] == "normal"
    z = total / math.sqrt(np.sum(kernel**2 * traces))
    assert found.pvalue == pytest.approx(stats.norm.sf(z), rel=1e-9)
