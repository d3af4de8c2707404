"""Errors group by group, tests class by class and bin by bin."""

from __future__ import annotations

import json

import numpy as np
import pytest

import trueup as tu
from trueup.errors import InputError
from trueup.estimators import BinnedError
from trueup.forecasts import Forecasts
from trueup.inference.confidence_intervals.interval import interval
from trueup.inference.hypothesis_tests.calibration_test import calibration_test
from trueup.inference.multiple_tests.adjusted_pvalues import benjamini_hochberg, holm
from trueup.inference.multiple_tests.classes_and_bins import bin_tests, class_tests
from trueup.inference.multiple_tests.group_errors import group_errors
from trueup.lens import OneVsRest, TopLabel


def grouped(n: int = 900, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores and labels, calibrated except for group "b"."""
    rng = np.random.default_rng(seed)
    p, groups = rng.random(n), rng.choice(["a", "b", "alone"], n, p=[0.5, 0.499, 0.001])
    groups[groups == "alone"] = "a"
    groups[7] = "alone"
    return p, rng.random(n) < np.where(groups == "b", p**2, p), groups


def matrix(n: int = 600, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    g = rng.dirichlet(np.ones(3), n)
    return g, (rng.random(n)[:, None] > np.cumsum(g, axis=1)).sum(axis=1)


def test_group_errors() -> None:
    p, y, groups = grouped()
    found = group_errors(p, y, groups, rng=0)
    table = found.table
    assert table["group"].tolist() == ["a", "alone", "b"]
    assert table["n"].sum() == 900
    assert table["share"].sum() == pytest.approx(1)
    b = groups == "b"
    assert table["mean_score"][2] == pytest.approx(p[b].mean())
    assert table["mean_label"][2] == pytest.approx(y[b].mean())
    assert table["gap"][2] == pytest.approx(y[b].mean() - p[b].mean())
    assert table["error"][2] == tu.rmsce_debiased(p[b], y[b])
    within = interval(tu.rmsce_debiased, p[b], y[b])
    assert (table["low"][2], table["high"][2]) == (within.low, within.high)
    assert table["pvalue"][2] == 0.001
    assert table["pvalue"][0] > 0.01
    assert table["adjusted_pvalue"] == pytest.approx(holm(table["pvalue"]))
    assert table["pvalue_bh"] == pytest.approx(benjamini_hochberg(table["pvalue"]))
    assert found.largest == table["error"].max()
    assert found.group == table["group"][np.argmax(table["error"])]
    json.dumps(found.to_dict(), allow_nan=False)


def test_a_group_of_one_row() -> None:
    p, y, groups = grouped()
    table = group_errors(p, y, groups, rng=0).table
    assert table["error"][1] == abs(p[7] - y[7])
    assert 0 <= table["low"][1] <= table["high"][1] <= 1
    assert 0 < table["pvalue"][1] <= 1
    bootstrap = group_errors(p, y, groups, rng=0, estimator=tu.ks_error, n_resamples=99)
    assert (bootstrap.table["low"][1], bootstrap.table["high"][1]) == (0, 1)


def test_the_same_seed_gives_the_same_table() -> None:
    p, y, groups = grouped(300)
    first = group_errors(p, y, groups, rng=3, n_resamples=99)
    again = group_errors(Forecasts.from_arrays(p, y, groups=groups), rng=3, n_resamples=99)
    assert first.to_dict() == again.to_dict()


def test_names_of_groups_stay_what_they_are() -> None:
    p, y, _ = grouped(60)
    for names in ([3, 1], [True, False], ["x", 1]):
        groups = np.array(names * 30, object)
        found = group_errors(p, y, groups, rng=0, n_resamples=99).table["group"].tolist()
        assert sorted(map(str, found)) == sorted(map(str, names))
        assert {type(name) for name in found} == {type(name) for name in names}
    numbers = group_errors(p, y, np.repeat([10, 9, 8], 20), rng=0, n_resamples=99)
    assert numbers.table["group"].tolist() == [8, 9, 10]


def test_weights_and_classes() -> None:
    g, y = matrix(200)
    w = np.random.default_rng(1).random(200) + 0.1
    groups = np.repeat([0, 1], 100)
    table = group_errors(g, y, groups, weights=w, rng=0, n_resamples=99).table
    assert table["share"] == pytest.approx([w[:100].sum() / w.sum(), w[100:].sum() / w.sum()])
    pairs = TopLabel().pairs(Forecasts.from_arrays(g[:100], y[:100], weights=w[:100]))
    assert table["mean_score"][0] == pytest.approx(np.average(pairs.p, weights=pairs.w))
    assert table["mean_label"][0] == pytest.approx(np.average(pairs.y, weights=pairs.w))
    by_class = group_errors(g, y, groups, estimator=tu.sce, rng=0, n_resamples=99).table
    assert by_class["error"][0] == pytest.approx(tu.sce(g[:100], y[:100]))


def test_class_tests() -> None:
    g, y = matrix()
    y = np.where((g[:, 2] > 0.4) & (y == 2), 0, y)  # class 2 is rarer than it says
    table = class_tests(g, y, rng=0)
    assert table["class"].tolist() == [0, 1, 2]
    for k in range(3):
        expected = BinnedError(OneVsRest(k), tu.EqualMass(15), 2, debias=True)(g, y)
        assert table["error"][k] == pytest.approx(expected)
        assert table["mean_score"][k] == pytest.approx(g[:, k].mean())
        assert table["mean_label"][k] == np.mean(y == k)
    assert table["pvalue"][2] == 0.001
    assert table["adjusted_pvalue"] == pytest.approx(holm(table["pvalue"]))
    w = np.random.default_rng(1).random(len(y)) + 0.1
    weighted = class_tests(g, y, weights=w, rng=0, n_resamples=99)
    for k in range(3):
        expected = BinnedError(OneVsRest(k), tu.EqualMass(15), 2, debias=True)(g, y, weights=w)
        assert weighted["error"][k] == pytest.approx(expected)
        assert weighted["mean_score"][k] == pytest.approx(np.average(g[:, k], weights=w))
    names = class_tests(
        Forecasts.from_arrays(g, y, classes=None), rng=0, statistic=tu.sce, n_resamples=99
    )
    assert len(names) == 3
    binary = class_tests(g[:, 2], y == 2, rng=0)
    assert binary["class"].tolist() == [1]
    assert binary["pvalue"][0] == 0.001


def test_bin_tests() -> None:
    p, y, _ = grouped(2000)
    estimator = BinnedError(binning=tu.EqualWidth(12))
    table = bin_tests(p, y, statistic=estimator, rng=0)
    bins = estimator.table(p, y)
    for name in ("low", "high", "count", "mean_score", "mean_label", "gap"):
        assert table[name] == pytest.approx(bins.columns()[name])
    spread = np.array([np.sum(p[i] * (1 - p[i])) for i in _rows(p, bins.edges)])
    z = bins.count * np.abs(bins.gap) / np.sqrt(spread)
    from scipy.stats import norm

    assert table["pvalue"] == pytest.approx(2 * norm.sf(z), abs=0.1)
    assert table["pvalue_bh"] == pytest.approx(benjamini_hochberg(table["pvalue"]))


def _rows(p: np.ndarray, edges: np.ndarray) -> list[np.ndarray]:
    index = np.searchsorted(edges[1:-1], p)
    return [np.flatnonzero(index == b) for b in range(len(edges) - 1)]


def test_bins_of_one_row_and_empty_ones() -> None:
    table = bin_tests([0.05, 0.95, 0.95], [1, 1, 1], statistic=BinnedError(), rng=0)
    assert table["count"].tolist() == [1, 2]
    assert table["pvalue"] == pytest.approx([0.05, 1], abs=0.03)
    assert bin_tests([0.0, 1.0], [1, 1], rng=0)["pvalue"].tolist() == [0.001, 1]


def test_false_alarms_over_bins_are_as_rare_as_promised() -> None:
    any_at_all = small = 0
    for seed in range(300):
        rng = np.random.default_rng([seed, 1])
        p = rng.random(150)
        y = rng.random(150) < p
        table = bin_tests(p, y, rng=seed, n_resamples=399)
        any_at_all += table["adjusted_pvalue"].min() <= 0.05
        small += np.mean(table["pvalue"] <= 0.05)
    assert any_at_all / 300 <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / 300)
    assert small / 300 <= 0.06


def test_refusals() -> None:
    p, y, groups = grouped(50)
    with pytest.raises(InputError, match="`groups` is required"):
        group_errors(p, y)
    with pytest.raises(InputError, match="`groups` must have a value in every row"):
        group_errors(p, y, [None, *groups[1:]])
    with pytest.raises(InputError, match="`groups` must be one name"):
        group_errors(p, y, np.column_stack([groups, groups]))
    with pytest.raises(InputError, match="`estimator` must be"):
        group_errors(p, y, groups, estimator="ece")
    with pytest.raises(InputError, match="`statistic` must be an estimator whose lens"):
        class_tests(p, y, statistic=BinnedError(TopLabel()))
    with pytest.raises(InputError, match="`statistic` must be an estimator whose lens"):
        class_tests(p, y, statistic=tu.Brier())
    with pytest.raises(InputError, match="`statistic` must be a BinnedError"):
        bin_tests(p, y, statistic=tu.SweepError())
    with pytest.raises(InputError, match="`lens` must yield"):
        bin_tests(*matrix(50), statistic=BinnedError(tu.lens.ClassWise()))


def test_calibration_test_knows_the_tests_by_name() -> None:
    p, y, _ = grouped(200)
    found = calibration_test(p, y, method="ks", rng=0)
    assert found.statistic == tu.ks_error(p, y)
