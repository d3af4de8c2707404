"""Bands on diagrams: their ends compared with SciPy's, and their coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import trueup as tu
from trueup.errors import InputError
from trueup.estimators import BinnedError
from trueup.inference.bands import _binomial_quantile, confidence_band, consistency_band


def table_of(n: int = 500, seed: int = 0, weights: object = None, power: float = 1.0):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    y = rng.random(n) < p**power
    return BinnedError(binning=tu.EqualWidth(10)).table(p, y, weights=weights)


@pytest.mark.parametrize("method", ["wilson", "clopper-pearson"])
@pytest.mark.parametrize("simultaneous", [False, True])
def test_confidence_bands_are_those_of_scipy(method: str, simultaneous: bool) -> None:
    table = table_of()
    level = 1 - 0.1 / 10 if simultaneous else 0.9
    band = confidence_band(table, confidence_level=0.9, method=method, simultaneous=simultaneous)
    for b in range(table.n_bins):
        test = stats.binomtest(int(table.sums.label[b]), int(table.count[b]))
        name = "wilson" if method == "wilson" else "exact"
        expected = test.proportion_ci(level, method=name)
        assert (band["low"][b], band["high"][b]) == pytest.approx(tuple(expected), abs=1e-9)
    assert band["mean_label"] is table.mean_label


def test_consistency_bands_are_binomial_and_hold_the_diagonal() -> None:
    table = table_of()
    band = consistency_band(table)
    assert (band["low"] <= table.mean_score).all()
    assert (band["high"] >= table.mean_score).all()
    n, f = table.count, table.mean_score
    assert band["low"] == pytest.approx(stats.binom.ppf(0.025, n, f) / n)
    assert band["high"] == pytest.approx(stats.binom.ppf(0.975, n, f) / n)
    wide = consistency_band(table, simultaneous=True)
    assert (wide["low"] <= band["low"]).all()
    assert (wide["high"] >= band["high"]).all()
    rare = BinnedError().table([0.001] * 10, [0] * 10)
    assert consistency_band(rare)["high"][0] == pytest.approx(0.1)


@pytest.mark.parametrize("most", [3.0, 1e3, 1e6, 1e9])
def test_binomial_quantiles_are_those_of_scipy(most: float) -> None:
    rng = np.random.default_rng(0)
    n = np.floor(most ** rng.random(2000))
    p = rng.random(2000).round(3)
    p[:20] = np.repeat([0.0, 1.0, 1e-30, 1 - 1e-16], 5)
    for q in (0.0005, 0.025, 0.5, 0.975, 0.9995):
        assert _binomial_quantile(q, n, p).tolist() == stats.binom.ppf(q, n, p).tolist()


def test_bins_of_few_rows_and_of_none() -> None:
    table = BinnedError(binning=tu.EqualWidth(4)).table([0.0, 0.3, 0.3, 1.0], [0, 1, 1, 1])
    for band in (consistency_band(table), confidence_band(table)):
        assert np.isnan(band["low"]).tolist() == [False, False, True, False]
        assert np.isnan(band["high"]).tolist() == [False, False, True, False]
    assert consistency_band(table)["high"][0] == 0
    assert consistency_band(table)["low"][3] == 1
    for method in ("wilson", "clopper-pearson"):
        band = confidence_band(table, method=method)
        assert band["low"][0] == 0
        assert band["high"][[1, 3]].tolist() == [1, 1]


def test_equal_weights_change_nothing_and_unequal_ones_widen() -> None:
    plain = table_of()
    equal = table_of(weights=np.full(500, 3.0))
    uneven = table_of(weights=np.random.default_rng(1).pareto(1.5, 500) + 0.1)
    for band in (consistency_band, confidence_band):
        assert band(equal)["low"] == pytest.approx(band(plain)["low"], abs=1e-9)
        assert band(equal)["high"] == pytest.approx(band(plain)["high"], abs=1e-9)
        width = band(uneven)["high"] - band(uneven)["low"]
        assert (width > band(plain)["high"] - band(plain)["low"]).all()


def test_they_hold_what_they_should() -> None:
    held_null = np.zeros(10)
    held_truth = {"wilson": np.zeros(10), "clopper-pearson": np.zeros(10)}
    together = 0
    sets = 1000
    p = np.random.default_rng(5).random(400)
    index = np.minimum((p * 10).astype(int), 9)
    truth = np.bincount(index, p**2) / np.bincount(index)
    for seed in range(sets):
        rng = np.random.default_rng([seed, 6])
        make = BinnedError(binning=tu.EqualWidth(10)).table
        null = make(p, rng.random(400) < p)
        for simultaneous in (False, True):
            band = consistency_band(null, simultaneous=simultaneous)
            inside = (null.mean_label >= band["low"] - 1e-12) & (
                null.mean_label <= band["high"] + 1e-12
            )
            if simultaneous:
                together += inside.all()
            else:
                held_null += inside
        wrong = make(p, rng.random(400) < p**2)
        for method, held in held_truth.items():
            band = confidence_band(wrong, method=method)
            held += (truth >= band["low"]) & (truth <= band["high"])
    error = 4 * np.sqrt(0.05 * 0.95 / sets)
    assert (held_null / sets >= 0.95 - error).all()
    assert together / sets >= 0.95 - error
    assert (held_truth["clopper-pearson"] / sets >= 0.95 - error).all()
    assert held_truth["wilson"].mean() / sets == pytest.approx(0.955, abs=0.015)


def test_refusals() -> None:
    table = table_of()
    with pytest.raises(InputError, match="`table` must be a BinTable"):
        consistency_band([0.1])
    with pytest.raises(InputError, match="`confidence_level` must be"):
        confidence_band(table, confidence_level=95)
    with pytest.raises(InputError, match="`method` must be"):
        confidence_band(table, method="exact")
    with pytest.raises(InputError, match="`simultaneous` must be"):
        consistency_band(table, simultaneous="yes")
