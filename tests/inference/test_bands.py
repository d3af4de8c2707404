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


def given_rows(
    weighted: bool, n: int = 400
) -> tuple[np.ndarray, np.ndarray | None, tu.tables.BinTable]:
    rng = np.random.default_rng(7)
    p = rng.random(n)
    w = rng.random(n) + 0.2 if weighted else None
    return p, w, BinnedError(binning=tu.EqualWidth(5)).table(p, rng.random(n) < p, weights=w)


@pytest.mark.parametrize("weighted", [False, True])
def test_resampled_bands_are_quantiles_of_a_plain_loop(weighted: bool) -> None:
    """A loop over NumPy's draws: its 5th and 95th percentiles, up to Monte Carlo error."""
    p, w, table = given_rows(weighted)
    band = consistency_band(
        table, method="resampling", scores=p, weights=w, confidence_level=0.9, n_resamples=9999
    )
    rng = np.random.default_rng(8)
    weight = np.ones(len(p)) if w is None else w
    for b in range(table.n_bins):
        inside = (p > table.edges[b]) & (p <= table.edges[b + 1])
        means = []
        for _ in range(4000):
            labels = rng.random(inside.sum()) < p[inside]
            means.append(np.sum(weight[inside] * labels) / np.sum(weight[inside]))
        for end, q in (("low", 0.05), ("high", 0.95)):
            below = np.mean(np.array(means) < band[end][b] - 1e-9)
            upto = np.mean(np.array(means) <= band[end][b] + 1e-9)
            error = 4.5 * np.sqrt(q * (1 - q) * (1 / 4000 + 1 / 9999))
            assert below - error <= q <= upto + error
    assert band["mean_score"] is table.mean_score


@pytest.mark.parametrize("level", [0.8, 0.9, 0.99])
def test_resampled_bands_agree_with_binomial_ones_for_tied_scores(level: float) -> None:
    """If all scores of a bin are equal, the sum of its labels is binomial."""
    p = np.repeat([0.05, 0.3, 0.5, 0.9], [40, 200, 75, 500])
    table = BinnedError(binning=tu.EqualWidth(10)).table(p, np.zeros(len(p), int))
    draws = 20_000
    band = consistency_band(
        table, method="resampling", scores=p, confidence_level=level, n_resamples=draws
    )
    full = table.count > 0
    n, f = table.count[full], table.mean_score[full]
    for end, q in (("low", (1 - level) / 2), ("high", (1 + level) / 2)):
        error = 4.5 * np.sqrt(q * (1 - q) / draws)
        k = np.rint(band[end][full] * n)
        assert (stats.binom.ppf(q - error, n, f) <= k).all()
        assert (k <= stats.binom.ppf(q + error, n, f)).all()
    binomial = consistency_band(table, confidence_level=level)
    np.testing.assert_allclose(band["low"], binomial["low"], atol=1.01 / n.min())
    np.testing.assert_array_equal(np.isnan(band["low"]), np.isnan(binomial["low"]))


def test_resampled_bands_agree_with_binomial_ones_for_untied_scores_in_narrow_bins() -> None:
    rng = np.random.default_rng(9)
    p = rng.random(20_000)
    table = BinnedError(binning=tu.EqualWidth(20)).table(p, p > 0.5)
    band = consistency_band(table, method="resampling", scores=p, n_resamples=20_000)
    binomial = consistency_band(table)
    for end in ("low", "high"):  # of about 1,000 rows: a whole count and the error of the quantile
        np.testing.assert_allclose(band[end], binomial[end], atol=3 / table.count.min())


@pytest.mark.parametrize("weighted", [False, True])
def test_resampled_bands_cover_calibrated_models(weighted: bool) -> None:
    p, w, table = given_rows(weighted, 150)
    weight = np.ones(len(p)) if w is None else w
    index = np.searchsorted(table.edges[1:-1], p, side="left")
    total = np.bincount(index, weight)
    rng, level, sets = np.random.default_rng(10), 0.9, 600
    for simultaneous in (False, True):
        inside = []
        for seed in range(sets):
            band = consistency_band(
                table,
                method="resampling",
                scores=p,
                weights=w,
                confidence_level=level,
                simultaneous=simultaneous,
                n_resamples=99,
                rng=seed,
            )
            mean = np.bincount(index, weight * (rng.random(150) < p)) / total
            inside.append((band["low"] <= mean + 1e-12) & (mean <= band["high"] + 1e-12))
        hits = np.all(inside, axis=1) if simultaneous else np.array(inside)
        error = 4.5 * np.sqrt(level * (1 - level) / sets)
        assert (hits.mean(axis=0) >= level - error).all()
        if weighted and not simultaneous:  # labels of different weights hardly tie
            assert (hits.mean(axis=0) <= level + error).all()


def test_resampled_bands_do_not_depend_on_the_order_of_rows() -> None:
    p, w, table = given_rows(True)
    order = np.random.default_rng(0).permutation(len(p))
    options = {"method": "resampling", "n_resamples": 199, "rng": 3}
    band = consistency_band(table, scores=p, weights=w, **options)
    again = consistency_band(table, scores=p[order], weights=w[order], **options)
    other = consistency_band(table, scores=p, weights=w, **(options | {"rng": 4}))
    np.testing.assert_allclose(band["low"], again["low"], rtol=1e-12)
    assert (band["low"] != other["low"]).any()


def test_what_resampled_bands_refuse() -> None:
    p, w, table = given_rows(False)
    refused = [
        ({}, "`scores` is required"),
        ({"scores": p[1:]}, "`scores` must be those of the table, which has"),
        ({"scores": p, "weights": np.arange(1, 401)}, "must be those of the table, with mean"),
        ({"scores": np.column_stack([1 - p, p])}, r"`scores` must have shape \(n,\)"),
        ({"scores": p + 1}, "`scores` must be between 0 and 1"),
        ({"scores": p, "n_resamples": 38}, "`n_resamples` must be a whole number of at least 39"),
        ({"scores": p, "n_resamples": 198, "simultaneous": True}, "at least 199"),
        ({"scores": p, "method": "binomial"}, "cannot be used with the binomial band"),
        ({"weights": w, "scores": p, "method": "bootstrap"}, '"binomial" or "resampling"'),
    ]
    for options, words in refused:
        with pytest.raises(InputError, match=words):
            consistency_band(table, **({"method": "resampling"} | options))
