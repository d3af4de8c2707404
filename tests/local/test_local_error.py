"""LCE and MLCE: against loops, at the ends of the bandwidth, and the laws they keep."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given

import trueup as tu
from oracles import local
from support.samples import KINDS, draw_binary, draw_matrix
from trueup.local.bandwidth import default_bandwidth
from trueup.local.local_error import LocalError, summary_of
from trueup.local.named_metrics import lce, mlce, mlce_over_bandwidths


def points(seed: int, n: int, d: int, kind: str) -> np.ndarray:
    rng = np.random.default_rng([seed, n, d])
    x = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, d)
    if kind == "coincident":
        x = x[rng.integers(0, max(1, n // 5), n)]
    if kind == "lattice":
        x = np.round(rng.normal(size=(n, d)))
    if kind == "constant column":
        x[:, 0] = 0.1
    return x


shapes = st.sampled_from(["smooth", "coincident", "lattice", "constant column"])
cases = st.tuples(
    st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 6), shapes, st.sampled_from(KINDS)
)


@pytest.mark.usefixtures("each_engine")
@given(
    cases,
    st.sampled_from(["laplacian", "gaussian"]),
    st.sampled_from([0.05, 0.4, 3.0]),
    st.sampled_from(["none", "whole", "eighths"]),
    st.sampled_from([1, 4, 15]),
)
def test_against_loops(case, kernel, gamma, weighting, n_bins) -> None:
    seed, n, d, shape, kind = case
    sample = draw_binary(seed, n, kind, weighting)
    x = points(seed, n, d, shape)
    p, y, w = sample.probs, sample.labels, sample.weights
    standard = local.standardised(x.tolist(), w)
    expected = local.local_gaps(p, y, standard, gamma, kernel, n_bins, w)
    estimator = LocalError(None, tu.EqualWidth(n_bins), kernel, gamma)
    found = estimator.measure(p, y, x, weights=w)
    np.testing.assert_allclose(found.table["gap"], expected, rtol=0, atol=1e-10)
    assert found.value == pytest.approx(np.abs(expected).max(), abs=1e-10)
    assert found.notes["mean"] == pytest.approx(np.average(np.abs(expected), weights=w), abs=1e-10)
    options = {"bandwidth": gamma, "kernel": kernel, "n_bins": n_bins, "weights": w}
    np.testing.assert_allclose(lce(p, y, x, **options), np.abs(expected), rtol=0, atol=1e-10)
    assert mlce(p, y, x, **options) == found.value
    plain = local.local_gaps(p, y, x.tolist(), gamma, kernel, n_bins, w)
    as_given = lce(p, y, x, standardize=False, **options)
    np.testing.assert_allclose(as_given, np.abs(plain), rtol=0, atol=1e-10)


@given(cases)
def test_groups_recover_the_errors_of_bins_group_by_group(case) -> None:
    seed, n, _, _, kind = case
    sample = draw_binary(seed, n, kind)
    groups = np.array(["a", "b", "c"])[np.random.default_rng(seed).integers(0, 3, n)]
    p, y = sample.probs, sample.labels
    found = LocalError(kernel="group").gaps(p, y, groups)
    expected = local.group_gaps(p, y, groups)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    worst = max(tu.mce(p[groups == g], y[groups == g]) for g in np.unique(groups))
    assert mlce(p, y, groups, kernel="group") == pytest.approx(worst, abs=1e-12)
    forecasts = tu.Forecasts.from_arrays(p, y, groups=groups)
    assert np.array_equal(LocalError(kernel="group").gaps(forecasts), found)


@given(cases, st.sampled_from(["laplacian", "gaussian"]), st.sampled_from(["none", "whole"]))
def test_wide_bandwidths_give_the_errors_of_bins(case, kernel, weighting) -> None:
    seed, n, d, shape, kind = case
    sample = draw_binary(seed, n, kind, weighting)
    x = points(seed, n, d, shape)
    p, y, w = sample.probs, sample.labels, sample.weights
    for gamma in (1e12, 1e300, math.inf):
        found = mlce(p, y, x, bandwidth=gamma, kernel=kernel, weights=w)
        assert found == pytest.approx(tu.mce(p, y, weights=w), abs=1e-9)
    # the mean of local errors is then that of bins
    mean = LocalError(bandwidth=math.inf, summary="mean")(p, y, x, weights=w)
    assert mean == pytest.approx(tu.ece(p, y, weights=w), abs=1e-9)


@given(cases, st.sampled_from(["laplacian", "gaussian"]))
def test_narrow_bandwidths_give_the_errors_of_single_rows(case, kernel) -> None:
    seed, n, d, _, kind = case
    sample = draw_binary(seed, n, kind)
    p, y = sample.probs, sample.labels
    x = np.random.default_rng(seed).permutation(n)[:, None] * np.ones(d)  # no two coincide
    for gamma in (1e-6, 1e-100, 1e-300):
        found = lce(p, y, x, bandwidth=gamma, kernel=kernel)
        np.testing.assert_allclose(found, np.abs(p - y), rtol=0, atol=1e-9)


def test_the_landscape_counts_rows_as_given() -> None:
    p, y, x = [0.7, 0.6, 0.9, 0.65], [1, 0, 1, 1], [0.0, 1.0, 2.0, 3.0]
    weights = [0, 1, 0, 2]
    table = LocalError().table(p, y, x, weights=weights)
    assert table["row"].tolist() == [1, 3]
    gaps = LocalError().gaps(p, y, x, weights=weights)
    np.testing.assert_array_equal(table["gap"], gaps[table["row"]])


@given(cases, st.sampled_from(["laplacian", "gaussian"]))
def test_order_and_repetition(case, kernel) -> None:
    seed, n, d, shape, kind = case
    sample, x = draw_binary(seed, n, kind), points(seed, n, d, shape)
    p, y = sample.probs, sample.labels
    rng = np.random.default_rng(seed)
    found = lce(p, y, x, kernel=kernel)
    order = rng.permutation(n)
    turned = lce(p[order], y[order], x[order], kernel=kernel)
    np.testing.assert_allclose(turned, found[order], rtol=0, atol=1e-9)
    weights = rng.integers(0, 4, n)
    weights[0] = 1
    rows = np.repeat(np.arange(n), weights)
    weighted = lce(p, y, x, kernel=kernel, weights=weights)
    assert np.array_equal(np.isnan(weighted), weights == 0)
    repeated = lce(p[rows], y[rows], x[rows], kernel=kernel)
    np.testing.assert_allclose(repeated, weighted[rows], rtol=0, atol=1e-9)
    for summary in ("max", "mean", 0.25, 0.9):
        measure = LocalError(kernel=kernel, summary=summary)
        one, other = measure(p, y, x, weights=weights), measure(p[rows], y[rows], x[rows])
        assert one == pytest.approx(other, abs=1e-9)


@given(cases)
def test_units_do_not_matter(case) -> None:
    seed, n, d, shape, kind = case
    sample, x = draw_binary(seed, n, kind), points(seed, n, d, shape)
    rng = np.random.default_rng(seed)
    other = x * 2.0 ** rng.integers(-20, 20, d) * rng.choice([-1, 1], d)
    one, two = (lce(sample.probs, sample.labels, each) for each in (x, other))
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-9)


def test_lenses() -> None:
    sample = draw_matrix(0, 300, 4, "smooth", "whole")
    probs, labels, w = sample.probs, sample.labels, sample.weights
    x = points(0, 300, 2, "smooth")
    top, right = probs.max(axis=1), probs.argmax(axis=1) == labels
    expected = LocalError().gaps(top, right, x, weights=w)
    np.testing.assert_allclose(LocalError().gaps(probs, labels, x, weights=w), expected)
    second = LocalError(tu.lens.OneVsRest(2)).gaps(probs, labels, x, weights=w)
    np.testing.assert_allclose(second, LocalError().gaps(probs[:, 2], labels == 2, x, weights=w))
    flat = LocalError(tu.lens.TopLabel()).gaps(probs[:, 1], labels == 1, x)
    two = np.column_stack([1 - probs[:, 1], probs[:, 1]])
    np.testing.assert_allclose(flat, LocalError().gaps(two, labels == 1, x), atol=1e-12)
    for lens in (tu.lens.Pooled(), tu.lens.ClassWise(), tu.lens.Canonical()):
        with pytest.raises(tu.InputError, match="yield one score per row"):
            LocalError(lens)(probs, labels, x)


def test_a_region_looks_at_its_rows_and_keeps_the_scale_of_all() -> None:
    sample, x = draw_binary(1, 200, "smooth"), points(1, 200, 2, "smooth")
    p, y = sample.probs, sample.labels
    found = LocalError(tu.lens.Binary(where=(0.4, 0.8))).gaps(p, y, x)
    inside = (p > 0.4) & (p <= 0.8)
    assert np.array_equal(~np.isnan(found), inside)
    standard = (x / x.std(axis=0))[inside].tolist()
    expected = local.local_gaps(p[inside], y[inside], standard, 0.2)
    np.testing.assert_allclose(found[inside], expected, atol=1e-10)
    table = LocalError(tu.lens.Binary(where=(0.4, 0.8))).table(p, y, x)
    assert table["row"].tolist() == np.flatnonzero(inside).tolist()
    with pytest.raises(tu.InputError, match="`where` selects no predictions"):
        LocalError(tu.lens.Binary(where=(2, 3)))(p, y, x)


def test_forecasts_bring_their_features_and_rows_left_out() -> None:
    sample, x = draw_binary(2, 100, "smooth"), points(2, 100, 3, "smooth")
    p, y = sample.probs, sample.labels.copy()
    forecasts = tu.Forecasts.from_arrays(p, y, features=x)
    assert mlce(forecasts) == mlce(p, y, x)
    assert np.array_equal(lce(forecasts), lce(p, y, x))
    with pytest.raises(tu.InputError, match="is a Forecasts, pass no other data"):
        lce(forecasts, None, x)
    with pytest.raises(tu.InputError, match=r"`features` is required.*in Forecasts.from_arrays"):
        mlce(p, y)
    soft = tu.Forecasts.from_arrays(p, 0.3 + 0.4 * y, features=x, soft_labels=True)
    expected = local.local_gaps(p, 0.3 + 0.4 * y, (x / x.std(axis=0)).tolist(), 0.2)
    np.testing.assert_allclose(LocalError().gaps(soft), expected, atol=1e-10)
    for frame in (pd.DataFrame(x), pl.DataFrame(x)):
        assert np.array_equal(lce(p, y, frame), lce(p, y, x))
    one = lce(p, y, x[:, 0])
    assert np.array_equal(one, lce(p, y, x[:, :1]))
    short = lce(p.astype(np.float32), y, x.astype(np.float32))
    np.testing.assert_allclose(short, lce(p, y, x), atol=0.1)


def test_refusals() -> None:
    p, y = [0.2, 0.8, 0.6], [0, 1, 1]
    bad = np.array([[0.0, 1.0], [1.0, np.nan], [2.0, 3.0]])
    with pytest.raises(tu.InputError, match=r"`features` must be finite; got nan in row 1"):
        lce(p, y, bad)
    with pytest.raises(tu.InputError, match=r"`features` must be as long as `probs`"):
        lce(p, y, [1.0])
    with pytest.raises(tu.InputError, match=r"`features` must hold real numbers; got 'b' in row 1"):
        lce(p, y, np.array([1.0, "b", None], object))
    with pytest.raises(tu.InputError, match="at least one column"):
        lce(p, y, np.empty((3, 0)))
    with pytest.raises(tu.InputError, match=r"have a group in every row; got None in row 2"):
        lce(p, y, np.array(["a", "b", None], object), kernel="group")
    for gamma in (0, -1, math.nan, "wide", True):
        with pytest.raises(tu.InputError, match="`bandwidth` must be a number above 0"):
            LocalError(bandwidth=gamma)  # type: ignore[arg-type]
    with pytest.raises(tu.InputError, match='None with kernel="group"'):
        LocalError(kernel="group", bandwidth=1)
    with pytest.raises(tu.InputError, match=r'`kernel` must be "laplacian", "gaussian" or "group"'):
        lce(p, y, [1, 2, 3], kernel="box")
    for summary in ("least", 0, 1, 1.5, None):
        with pytest.raises(tu.InputError, match="`summary` must be"):
            LocalError(summary=summary)  # type: ignore[arg-type]
    for reduce in ("umap", ("pca", 0), ("pca", 2, 3), 7, int):
        with pytest.raises(tu.InputError, match="`reduce` must be"):
            LocalError(reduce=reduce)
    for bandwidths in ([], 0.2, "wide", [0.2, 0], [None], [0.2, "x"]):
        with pytest.raises(tu.InputError, match="`bandwidths` must be a list of numbers above 0"):
            mlce_over_bandwidths(p, y, [1, 2, 3], bandwidths=bandwidths)  # type: ignore[arg-type]


def test_extreme_features() -> None:
    """Spread-out, tiny, huge and constant features give errors between 0 and 1."""
    p, y = np.array([0.7, 0.72, 0.68, 0.71]), np.array([1, 0, 1, 0])
    for column in (
        [0, 1e-320, 1, 2],
        [1e308, -1e308, 0, 5e307],
        [0, 1e-310, 2e-310, 5e-310],
        [1e16, 1e16, 1e16, 1e16],
        [0, 0, 0, 1e300],
    ):
        for gamma in (1e-300, 0.2, 1e300):
            found = lce(p, y, np.array(column), bandwidth=gamma)
            assert np.isfinite(found).all(), (column, gamma)
            assert ((found >= 0) & (found <= 1)).all()
    constant = lce(p, y, np.full((4, 2), 0.1))
    np.testing.assert_allclose(constant, abs((p - y).mean()), atol=1e-12)
    assert lce([0.7], [1], [3.0]) == pytest.approx([0.3])


def test_constant_columns_are_dropped_and_not_counted() -> None:
    sample, x = draw_binary(3, 150, "smooth"), points(3, 150, 2, "smooth")
    p, y = sample.probs, sample.labels
    padded = np.column_stack([np.full(150, 0.1), x, np.full(150, -7.0)])
    np.testing.assert_allclose(lce(p, y, padded), lce(p, y, x), atol=1e-12)
    assert LocalError().measure(p, y, padded).notes["n_dims"] == 2


def test_specification_and_notes() -> None:
    text = "LocalError(lens=None, binning=EqualWidth(n_bins=15), kernel='laplacian', bandwidth=0.3)"
    assert repr(LocalError(bandwidth=0.3)) == text
    sample, x = draw_binary(4, 400, "smooth"), points(4, 400, 3, "smooth")
    found = LocalError().measure(sample.probs, sample.labels, x)
    assert found.notes["bandwidth"] == 0.2
    assert found.notes["n_dims"] == 3
    assert found.value == found.pth_power == found.notes["max"]
    quantiles = found.notes["quantiles"]
    assert quantiles[0.5] <= quantiles[0.9] <= quantiles[0.99] <= found.value
    assert {"row", "bin", "p", "y", "gap", "absolute", "mass", "x1", "x2", "x3"} == set(found.table)
    assert (found.table["mass"] >= 1).all()
    assert found.to_dict()["notes"]["max"] == found.value


def test_quantiles_are_the_least_value_that_enough_rows_do_not_exceed() -> None:
    values = np.array([0.4, 0.1, 0.3, 0.2])
    assert [summary_of(values, None, q) for q in (0.25, 0.26, 0.5, 0.99)] == [0.1, 0.2, 0.2, 0.4]
    assert summary_of(np.arange(1.0, 101), None, 0.07) == 7  # though 0.07 * 100 is above 7
    weights = np.array([1.0, 7.0, 1.0, 1.0])
    assert [summary_of(values, weights, q) for q in (0.7, 0.71, 0.9)] == [0.1, 0.2, 0.3]


def test_sweep_goes_from_individual_to_global() -> None:
    rng = np.random.default_rng(5)
    p, x = rng.random(2000), rng.normal(size=(2000, 2))
    y = rng.random(2000) < p
    table = mlce_over_bandwidths(p, y, x)
    assert len(table) == 15
    assert table["max"][0] > 0.9
    assert table["max"][-1] == pytest.approx(tu.mce(p, y), abs=0.02)
    assert (np.diff(table["mean"]) <= 1e-3).all()
    assert (np.diff(table["mass"]) >= 0).all()
    assert default_bandwidth(2) in table["bandwidth"]
    for row, gamma in enumerate(table["bandwidth"]):
        assert table["max"][row] == mlce(p, y, x, bandwidth=gamma)
    few = mlce_over_bandwidths(p, y, x, bandwidths=[0.1, math.inf], kernel="gaussian")
    assert few["max"][1] == pytest.approx(tu.mce(p, y), abs=1e-12)


def test_bandwidth_rule() -> None:
    assert [default_bandwidth(d) for d in (1, 2, 3)] == [0.2] * 3
    assert default_bandwidth(50) == pytest.approx(0.4)
    assert default_bandwidth(5000) == pytest.approx(0.4)
    between = [default_bandwidth(d) for d in range(3, 51)]
    assert np.all(np.diff(between) > 0)
    assert default_bandwidth(4, "gaussian") == pytest.approx(2 * default_bandwidth(4))


def test_intervals_resample_rows_with_their_features() -> None:
    sample, x = draw_binary(6, 300, "smooth"), points(6, 300, 2, "smooth")
    forecasts = tu.Forecasts.from_arrays(sample.probs, sample.labels, features=x)
    measure = LocalError(summary="mean")
    found = tu.interval(measure, forecasts, n_resamples=50, rng=0)
    assert found.low <= found.high
    assert found.estimate == measure(forecasts)


@pytest.mark.usefixtures("each_engine")
@pytest.mark.parametrize("unit", [1e-300, 1e-160, 1e160, 1e300])
def test_gaussian_kernels_of_any_unit(unit: float) -> None:
    """Squares of such distances leave float64; the errors do not."""
    p, y, x = [0.7] * 3, [1, 0, 0], np.array([0.0, 2.0, 9.0])
    how = {"kernel": "gaussian", "standardize": False, "n_bins": 1}
    expected = tu.lce(p, y, x, bandwidth=1.0, **how)
    found = tu.lce(p, y, x * unit, bandwidth=unit, **how)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_row_of_many_classes_stays_on_its_edge() -> None:
    """What adding up a thousand numbers rounds off is no reason to change them."""
    row = np.full((1, 1000), 0.4 / 999)
    row[0, 0] = 0.6  # 9/15, the upper edge of the ninth bin
    assert tu.LocalError().measure(row, [0], [[0.0]]).table["bin"].tolist() == [8]


def test_groups_are_called_what_they_were_given_as() -> None:
    with pytest.raises(tu.InputError, match="`features` must be as long as `probs`"):
        tu.lce([0.3, 0.4, 0.3], [0, 1, 1], features=[1, 2], kernel="group")
