"""Worst groups, group errors with local ones, and how the two are related."""

from __future__ import annotations

import math

import numpy as np
import pytest

import trueup as tu
from trueup.local.local_error import LocalError
from trueup.local.worst_groups import max_group_mce, mlce_group_correlation, with_local_errors


def draw(n: int = 400, seed: int = 0):
    rng = np.random.default_rng(seed)
    groups = np.array(["a", "b", "c"])[rng.choice(3, n, p=[0.6, 0.38, 0.02])]
    p = rng.random(n)
    return p, (rng.random(n) < p).astype(int), groups, rng


def test_the_worst_bin_of_the_worst_group() -> None:
    p, y, groups, _ = draw()
    each = {g: tu.mce(p[groups == g], y[groups == g]) for g in "abc"}
    assert max_group_mce(p, y, groups) == max(each.values())
    assert max_group_mce(p, y, groups, min_rows=50) == max(each["a"], each["b"])
    size = int((groups == "c").sum())
    assert each["c"] > max(each["a"], each["b"])
    assert max_group_mce(p, y, groups, min_rows=size) == each["c"]
    assert max_group_mce(p, y, groups, min_rows=size + 1) == max(each["a"], each["b"])
    forecasts = tu.Forecasts.from_arrays(p, y, groups=groups)
    assert max_group_mce(forecasts) == max(each.values())
    found = LocalError(kernel="group")(p, y, groups)
    assert found == pytest.approx(max(each.values()), abs=1e-12)
    with pytest.raises(tu.InputError, match="`min_rows` must be at most"):
        max_group_mce(p, y, groups, min_rows=1000)
    with pytest.raises(tu.InputError, match=r"have a value in every row; got None in row 1"):
        max_group_mce([0.1, 0.2], [0, 1], np.array(["a", None], object))
    with pytest.raises(tu.InputError, match="`groups` is required"):
        max_group_mce(p, y)


def test_local_errors_beside_those_of_groups() -> None:
    p, y, groups, rng = draw(600)
    x = rng.normal(size=(600, 2))
    table = tu.group_errors(p, y, groups, n_resamples=99, rng=0).table
    gaps = LocalError().gaps(p, y, x)
    joined = with_local_errors(table, groups, gaps)
    assert set(table) < set(joined)
    for row, name in enumerate(joined["group"]):
        part = gaps[groups == name]
        assert joined["mean_lce"][row] == pytest.approx(np.abs(part).mean())
        assert joined["max_lce"][row] == pytest.approx(np.abs(part).max())
        assert joined["over"][row] == pytest.approx((part < 0).mean())
    gaps[groups == "a"] = np.nan
    with pytest.raises(tu.InputError, match="must have a value in a row of group 'a'"):
        with_local_errors(table, groups, gaps)
    with pytest.raises(tu.InputError, match="'a' is missing"):
        with_local_errors(table, ["b"] * 600, gaps)


def test_weights_are_repeated_rows_beside_groups_too() -> None:
    p, y, groups, rng = draw(300)
    x, weights = rng.normal(size=(300, 2)), rng.integers(0, 4, 300)
    weights[[0, -1]] = 0
    rows = np.repeat(np.arange(300), weights)
    table = tu.group_errors(p, y, groups, n_resamples=99, rng=0).table
    once = LocalError().gaps(p, y, x, weights=weights)
    weighted = with_local_errors(table, groups, once, weights=weights)
    every = LocalError().gaps(p[rows], y[rows], x[rows])
    repeated = with_local_errors(table, groups[rows], every)
    for name in ("mean_local_gap", "mean_lce", "max_lce", "over", "under"):
        np.testing.assert_allclose(weighted[name], repeated[name], atol=1e-12)


def test_correlation_over_models() -> None:
    p, y, _, rng = draw(1000)
    x = rng.normal(size=(1000, 1))
    groups = np.where(x[:, 0] > 0, "right", "left")
    models = {}
    for by in (0, 0.05, 0.1, 0.2, 0.3):
        models[str(by)] = np.clip(p + np.where(x[:, 0] > 0, by, -by), 0, 1)
    found = mlce_group_correlation(models, y, groups, x, bandwidths=[None, 100, math.inf])
    assert found["n"].tolist() == [5, 5, 5]
    assert found["bandwidth"][0] == 0.2
    worst = [max_group_mce(each, y, groups) for each in models.values()]
    local = [LocalError()(each, y, x) for each in models.values()]
    assert found["correlation"][0] == pytest.approx(np.corrcoef(worst, local)[0, 1])
    two = {name: models[name] for name in ("0", "0.3")}
    assert math.isnan(mlce_group_correlation(two, y, groups, x)["correlation"][0])
    with pytest.raises(tu.InputError, match="a dictionary of probabilities by name"):
        mlce_group_correlation({}, y, groups, x)


def test_correlations_and_joins_refuse_what_they_cannot_read() -> None:
    p, y, groups, rng = draw(50)
    x = rng.normal(size=(50, 2))
    for bandwidths in (0.2, [], [0], ["x"], "wide"):
        with pytest.raises(tu.InputError, match="`bandwidths` must be a list of numbers above 0"):
            mlce_group_correlation({"m": p}, y, groups, x, bandwidths=bandwidths)  # type: ignore[arg-type]
    for estimator in ("mlce", LocalError(kernel="group")):
        with pytest.raises(tu.InputError, match="`estimator` must be a LocalError with a kernel"):
            mlce_group_correlation({"m": p}, y, groups, x, estimator=estimator)  # type: ignore[arg-type]
    table = tu.group_errors(p, y, groups, n_resamples=99, rng=0).table
    with pytest.raises(tu.InputError, match="`gaps` must hold real numbers; got 'x' in row 0"):
        with_local_errors(table, groups, ["x"] * 50)
