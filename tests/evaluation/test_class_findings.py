"""Tests class by class: exact or conservative, with power for rare classes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import trueup as tu
from trueup.evaluation.class_findings import (
    class_findings,
    frequency_pvalue,
    test_of_classes as choice,
)
from trueup.evaluation.settings import Settings

ASKED = Settings(15, 0.95, 99, 0)


def uneven(rng: np.random.Generator, n: int, mean: float) -> np.ndarray:
    return np.minimum(rng.gamma(0.05, mean / 0.05, n), 1.0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("mean", [0.0005, 0.01, 0.2, 0.9])
def test_frequency_is_never_too_sure(mean, weighted) -> None:
    rng = np.random.default_rng(0)
    p = uneven(rng, 500, mean) if mean < 0.5 else 1 - uneven(rng, 500, 1 - mean)
    w = rng.exponential(size=500) if weighted else None
    pvalues = np.array(
        [frequency_pvalue(p, (rng.random(500) < p).astype(float), w) for _ in range(1500)]
    )
    for level in (0.2, 0.05, 0.01):
        most = binom.ppf(0.999, 1500, level)
        assert np.sum(pvalues <= level) <= most
    assert pvalues.min() > 0
    assert pvalues.max() <= 1


def test_frequency_of_one_row_that_holds_all_the_probability() -> None:
    """The binomial of the mean score would be too extreme here: 1 − (1 − 0.3/9)^9 < 0.3."""
    p = np.r_[0.3, np.zeros(8)]
    y = np.r_[1.0, np.zeros(8)]
    assert frequency_pvalue(p, y, None) >= 2 * 0.3
    assert frequency_pvalue(1 - p, 1 - y, None) >= 2 * 0.3


def test_frequency_finds_rare_classes() -> None:
    rng = np.random.default_rng(1)
    p = uneven(rng, 5000, 0.002)  # ten expected
    thirty = (np.arange(5000) < 30).astype(float)
    assert frequency_pvalue(p, thirty, None) < 1e-3
    assert frequency_pvalue(p, np.zeros(5000), None) < 0.02
    certain = np.r_[np.ones(500), np.full(4500, 1e-4)]  # far less spread than a binomial
    wrong = np.r_[np.ones(490), np.zeros(4510)]
    assert frequency_pvalue(certain, wrong, None) < 1e-4
    assert binom.cdf(490, 5000, certain.mean()) > 0.3
    assert frequency_pvalue(certain, wrong, np.full(5000, 2.0)) < 1e-4


def test_which_test_and_how_fine() -> None:
    def of(n: int, k: int, **beside) -> tu.Forecasts:
        g = np.full((n, k), 1 / k)
        return tu.Forecasts.from_arrays(g, np.arange(n) % k, **beside)

    assert choice(of(50, 3), 99) == ("consistency", 299)
    assert choice(of(50, 3), 999) == ("consistency", 999)
    method, many = choice(of(60, 40), 999)
    assert (method, 40 / (1 + many)) == ("consistency", 0.01)  # the smallest p-value after Holm
    assert choice(of(300, 1000), 999) == ("frequency", 0)
    assert choice(of(30, 3, clusters=np.arange(30) // 2), 99) == ("none", 0)


def test_one_bad_class_of_many_is_found() -> None:
    rng = np.random.default_rng(0)
    g = rng.dirichlet(np.full(30, 0.3), 1500)
    y = np.minimum((rng.random(1500)[:, None] > np.cumsum(g, axis=1)).sum(axis=1), 29)
    y = np.where(y == 7, 8, y)
    table = class_findings(tu.Forecasts.from_arrays(g, y), ASKED)
    assert table["adjusted_pvalue"][7] <= 0.05
    assert np.sum(table["adjusted_pvalue"] <= 0.05) <= 3


def test_many_classes_by_frequency(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trueup.evaluation.class_findings.MOST_LABELS_DRAWN", 1)
    rng = np.random.default_rng(0)
    g = rng.dirichlet(np.ones(3), 200)
    y = (rng.random(200)[:, None] > np.cumsum(g, axis=1)).sum(axis=1)
    for weights in (None, rng.random(200)):
        table = class_findings(tu.Forecasts.from_arrays(g, y, weights=weights), ASKED)
        for k in range(3):
            by_hand = frequency_pvalue(g[:, k], (y == k).astype(float), weights)
            assert table["pvalue"][k] == pytest.approx(by_hand)
        assert (table["adjusted_pvalue"] >= table["pvalue"]).all()


def test_names_stay_what_they_are(found) -> None:
    assert found("names").tables["classes"]["class"].tolist() == ["<a>", "b", "c"]
    assert found("mixed").tables["classes"]["class"].tolist() == ["a", 1, 7]
    assert found("floats").tables["classes"]["class"].tolist() == [1.0, 2.0, 3.5]
    assert "pvalue" in found("three").tables["classes"]
    soft = found("soft").tables["classes"]
    assert np.isnan(soft["pvalue"]).all()
    assert "adjusted_pvalue" not in soft
