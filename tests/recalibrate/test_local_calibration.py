"""LoRe: against loops, at the ends of the bandwidth, in pipelines, on disk."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import trueup as tu
from oracles import local
from trueup.recalibrate.binning.histogram import HistogramBinning
from trueup.recalibrate.files.save_and_load import load_recalibrator
from trueup.recalibrate.local_calibration import LocalCalibration


def draw(n: int, k: int = 3, d: int = 2, seed: int = 0):
    rng = np.random.default_rng([seed, n, k, d])
    logits = 2 * rng.normal(size=(n, k))
    probs = np.exp(logits)
    probs /= probs.sum(axis=1, keepdims=True)
    labels = np.where(rng.random(n) < 0.7, probs.argmax(axis=1), rng.integers(0, k, n))
    return probs, labels, rng.normal(size=(n, d)) * [10.0**j for j in range(d)]


def on_scale(x: np.ndarray, new: np.ndarray) -> tuple[list, list]:
    return (x / x.std(axis=0)).tolist(), (new / x.std(axis=0)).tolist()


@given(
    st.integers(0, 10**6),
    st.integers(2, 60),
    st.integers(2, 4),
    st.integers(1, 5),
    st.sampled_from(["laplacian", "gaussian"]),
    st.sampled_from([0.2, 1.0, 20.0]),
)
def test_against_loops(seed, n, k, d, kernel, gamma) -> None:
    probs, labels, x = draw(n, k, d, seed)
    new_probs, _, new_x = draw(20, k, d, seed + 1)
    weights = np.random.default_rng(seed).integers(1, 4, n).astype(float)
    lore = LocalCalibration(bandwidth=gamma, kernel=kernel)
    lore.fit(probs, labels, weights, features=x)
    spread = np.sqrt(np.cov(x.T, aweights=weights, bias=True).reshape(d, d).diagonal())
    expected = (
        local.recalibrated(
            probs.max(axis=1),
            probs.argmax(axis=1) == labels,
            (x / spread).tolist(),
            new_probs.max(axis=1),
            (new_x / spread).tolist(),
            gamma,
            kernel,
            weights=weights,
        )
        if _near(x / spread, new_x / spread, gamma, kernel, d)
        else None
    )
    found = lore.predict_confidence(new_probs, features=new_x)
    if expected is not None:
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    rows = lore.predict_proba(new_probs, features=new_x)
    top = new_probs.argmax(axis=1)
    assert np.array_equal(rows[np.arange(20), top], found)
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert ((rows >= 0) & (rows <= 1)).all()
    assert np.array_equal(lore.predict(new_probs), top)
    # the other classes keep their proportions
    others = np.arange(k)[None, :] != top[:, None]
    shares = new_probs * others / (1 - new_probs.max(axis=1))[:, None]
    np.testing.assert_allclose(rows * others, shares * (1 - found)[:, None], atol=1e-9)


def _near(x, new_x, gamma, kernel, d) -> bool:
    """Whether the plain sums of the loops are not lost in underflow."""
    l1 = np.abs(x[:, None] - new_x[None]).sum(axis=2)
    l2 = ((x[:, None] - new_x[None]) ** 2).sum(axis=2)
    return (l1 / (d * gamma) if kernel == "laplacian" else l2 / (2 * gamma**2)).max() < 600


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(1, 80), st.sampled_from([2, 3]))
def test_wide_bandwidths_are_histogram_binning(seed, n, k) -> None:
    probs, labels, x = draw(n, k, 3, seed)
    histogram = HistogramBinning(lens="top-label", binning="equal-width").fit(probs, labels)
    expected = histogram.predict_proba(probs)
    for gamma in (1e12, 1e300, math.inf):
        for kernel in ("laplacian", "gaussian"):
            lore = LocalCalibration(bandwidth=gamma, kernel=kernel)
            found = lore.fit(probs, labels, features=x).predict_proba(probs, features=x)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 80), st.integers(1, 6))
def test_narrow_bandwidths_are_the_nearest_neighbour(seed, n, d) -> None:
    probs, labels, x = draw(n, 3, d, seed)
    new_probs, _, new_x = draw(30, 3, d, seed + 1)
    new_x[:3] *= 1e6  # far from everything
    right = probs.argmax(axis=1) == labels
    bins = [local.bin_of(c, 15) for c in probs.max(axis=1)]
    old, new = on_scale(x, new_x) if n > 1 else (x.tolist(), new_x.tolist())
    for gamma in (1e-6, 1e-200):
        lore = LocalCalibration(bandwidth=gamma).fit(probs, labels, features=x)
        found = lore.predict_confidence(new_probs, features=new_x)
        for row, (c, q) in enumerate(zip(new_probs.max(axis=1), new, strict=True)):
            rows = [i for i in range(n) if bins[i] == local.bin_of(c, 15)]
            apart = {i: sum(abs(s - t) for s, t in zip(q, old[i], strict=True)) for i in rows}
            if not rows:
                assert found[row] == c
                continue
            nearest, *others = sorted(apart.values())
            if all(other > nearest * (1 + 1e-4) + 1e-3 for other in others):
                wanted = right[min(apart, key=apart.__getitem__)]
                assert found[row] == pytest.approx(float(wanted), abs=1e-9)


def test_ties_at_the_nearest_distance_are_averaged() -> None:
    probs, labels = [0.7, 0.7, 0.7, 0.7], [1, 0, 1, 1]
    x = [[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 5.0]]
    lore = LocalCalibration(bandwidth=1e-9, standardize=False).fit(probs, labels, features=x)
    found = lore.predict_confidence([0.7, 0.7], features=[[0.0, 0.0], [0.0, 4.0]])
    np.testing.assert_allclose(found, [2 / 3, 1], atol=1e-12)


def test_a_confidence_on_an_edge_belongs_to_the_bin_below() -> None:
    probs, labels, x = [0.8, 0.8, 0.85, 0.85], [1, 1, 0, 0], [0.0, 1.0, 0.0, 1.0]
    lore = LocalCalibration(n_bins=5, bandwidth=math.inf).fit(probs, labels, features=x)
    assert lore.predict_confidence([0.8, 0.81], features=[0.5, 0.5]).tolist() == [1, 0]
    assert lore.neighbours([0.8, 0.81], features=[0.5, 0.5])["bin"].tolist() == [3, 4]


def test_an_empty_bin_keeps_the_confidence_and_far_rows_are_counted() -> None:
    probs, labels, x = draw(300, 2, 2)
    sure = probs[:, 1] > 0.9
    lore = LocalCalibration().fit(probs[sure], labels[sure], features=x[sure])
    new = np.array([0.95, 0.95, 0.55])
    where = np.array([[0.0, 0.0], [1e9, 1e9], [0.0, 0.0]])
    new = np.column_stack([1 - new, new])
    table = lore.neighbours(new, features=where)
    assert table["far"].tolist() == [False, True, True]
    assert table["weight"][2] == 0
    assert math.isinf(table["nearest"][2])
    assert (table["similarity"] <= 1).all()
    answers = lore.predict_proba(new, features=where)
    assert answers[2, 1] == 0.55
    assert np.isfinite(answers).all()
    # far away the nearest rows still answer, as relative weights do not vanish
    assert 0 <= answers[1, 1] <= 1
    assert answers[1, 1] != 0.95


def test_two_classes_in_three_shapes_logits_and_forecasts() -> None:
    probs, labels, x = draw(200, 2, 2)
    p = probs[:, 1]
    rows = LocalCalibration().fit(probs, labels, features=x).predict_proba(probs, features=x)
    flat = LocalCalibration().fit(p, labels, features=x).predict_proba(p, features=x)
    column = p[:, None]
    same = LocalCalibration().fit(column, labels, features=x).predict_proba(column, features=x)
    np.testing.assert_allclose(flat, rows, rtol=0, atol=1e-12)
    np.testing.assert_allclose(same, rows, rtol=0, atol=1e-12)
    z = np.log(p) - np.log1p(-p)
    logits = LocalCalibration(logits=True).fit(z, labels, features=x)
    np.testing.assert_allclose(logits.predict_proba(z, features=x), rows, rtol=0, atol=1e-9)
    forecasts = tu.Forecasts.from_arrays(probs, labels, features=x)
    whole = LocalCalibration().fit(forecasts)
    assert np.array_equal(whole.predict_proba(forecasts), rows)
    with pytest.raises(tu.InputError, match="`features` cannot be used if `X` is a Forecasts"):
        whole.predict_proba(forecasts, features=x)
    short = LocalCalibration().fit(p.astype(np.float32), labels, features=x.astype(np.float32))
    assert np.isfinite(short.predict_proba(p.astype(np.float32), features=x)).all()


def test_weights_are_repeated_rows() -> None:
    probs, labels, x = draw(150, 3, 2)
    weights = np.random.default_rng(0).integers(0, 4, 150)
    rows = np.repeat(np.arange(150), weights)
    for reduce in (None, ("pca", 1)):
        weighted = LocalCalibration(reduce=reduce).fit(probs, labels, weights, features=x)
        repeated = LocalCalibration(reduce=reduce).fit(probs[rows], labels[rows], features=x[rows])
        np.testing.assert_allclose(
            weighted.predict_proba(probs, features=x),
            repeated.predict_proba(probs, features=x),
            rtol=0,
            atol=1e-9,
        )
        assert len(weighted.points_) == (weights > 0).sum()


def test_features_in_the_columns_of_x() -> None:
    probs, labels, x = draw(300, 3, 2)
    stacked = np.hstack([probs, x])
    beside = LocalCalibration().fit(probs, labels, features=x)
    inside = LocalCalibration(n_score_columns=3).fit(stacked, labels)
    rows = beside.predict_proba(probs, features=x)
    assert np.array_equal(inside.predict_proba(stacked), rows)
    assert np.array_equal(inside.predict(stacked), beside.predict(probs))
    assert np.array_equal(inside.transform(stacked), rows)
    assert inside.score(stacked, labels) == beside.score(probs, labels)
    assert inside.n_features_in_ == 3
    frame = pd.DataFrame(stacked)
    assert np.array_equal(clone(inside).fit(frame, labels).predict_proba(frame), rows)
    one = np.hstack([probs[:, :1], x])
    assert LocalCalibration(n_score_columns=1).fit(one, labels == 0).predict_proba(one).shape == (
        300,
        2,
    )
    out_of_fold = cross_val_predict(inside, stacked, labels, cv=3, method="predict_proba")
    np.testing.assert_allclose(out_of_fold.sum(axis=1), 1, atol=1e-12)
    search = GridSearchCV(inside, {"bandwidth": [0.2, 1.0, 100.0]}, scoring="neg_brier_score", cv=3)
    assert search.fit(stacked, labels).best_params_["bandwidth"] in (0.2, 1.0, 100.0)
    pipeline = make_pipeline(
        ColumnTransformer([("scores", "passthrough", [0, 1, 2]), ("features", PCA(1), [3, 4])]),
        LocalCalibration(n_score_columns=3),
    )
    assert pipeline.fit(stacked, labels).predict_proba(stacked).shape == (300, 3)
    with pytest.raises(tu.InputError, match="with features in the columns after the first 3"):
        inside.predict_proba(probs)
    with pytest.raises(
        tu.InputError, match="Pass either `features` or `n_score_columns`, not both"
    ):
        inside.predict_proba(stacked, features=x)


def test_features_by_metadata_routing() -> None:
    probs, labels, x = draw(100, 3, 2)
    direct = LocalCalibration().fit(probs, labels, features=x).predict_proba(probs, features=x)
    with sklearn.config_context(enable_metadata_routing=True):
        asks = LocalCalibration().set_fit_request(features=True)
        asks.set_predict_proba_request(features=True)
        pipeline = make_pipeline(FunctionTransformer(), asks).fit(probs, labels, features=x)
        assert np.array_equal(pipeline.predict_proba(probs, features=x), direct)


def test_without_features_it_is_histogram_binning_and_says_so() -> None:
    probs, labels, _ = draw(200, 3, 2)
    lore = LocalCalibration().fit(probs, labels)
    assert "no features" in lore.notes_[0]
    expected = HistogramBinning(lens="top-label", binning="equal-width").fit(probs, labels)
    np.testing.assert_allclose(lore.predict_proba(probs), expected.predict_proba(probs), atol=1e-12)


@pytest.mark.parametrize("reduce", [None, "pca", ("pca", 2)])
@pytest.mark.parametrize("kernel", ["laplacian", "gaussian"])
@pytest.mark.parametrize("n", [30, 3000])
def test_saved_and_loaded(reduce, kernel, n, tmp_path: Path) -> None:
    probs, labels, x = draw(n, 3, 4)
    lore = LocalCalibration(reduce=reduce, kernel=kernel, classes=["a", "b", "c"])
    lore.fit(probs, np.array(["a", "b", "c"])[labels], features=x)
    lore.save(tmp_path / "lore")
    back = load_recalibrator(tmp_path / "lore")
    new_probs, _, new_x = draw(50, 3, 4, 1)
    expected = lore.predict_proba(new_probs, features=new_x)
    assert np.array_equal(back.predict_proba(new_probs, features=new_x), expected)
    assert np.array_equal(back.predict(new_probs), lore.predict(new_probs))
    assert back.fit_ == lore.fit_
    again = pickle.loads(pickle.dumps(lore))
    assert np.array_equal(again.predict_proba(new_probs, features=new_x), expected)


def test_a_transformer_works_and_cannot_be_saved(tmp_path: Path) -> None:
    probs, labels, x = draw(100, 3, 4)
    lore = LocalCalibration(reduce=PCA(2)).fit(probs, labels, features=x)
    by_hand = PCA(2).fit(x)
    expected = LocalCalibration().fit(probs, labels, features=by_hand.transform(x))
    np.testing.assert_allclose(
        lore.predict_proba(probs, features=x),
        expected.predict_proba(probs, features=by_hand.transform(x)),
        atol=1e-9,
    )
    with pytest.raises(tu.InputError, match="`reduce` must contain only"):
        lore.save(tmp_path / "lore")


@pytest.mark.parametrize("attribute", ["points_", "bins_", "weights_", "right_", "bandwidth_"])
def test_broken_files_are_refused(attribute: str, tmp_path: Path) -> None:
    probs, labels, x = draw(30, 3, 2)
    for value in (None, np.full((29, 2), np.nan), "text", -1.0):
        lore = LocalCalibration().fit(probs, labels, features=x)
        setattr(lore, attribute, value)
        with pytest.raises(tu.InputError, match="cannot be saved"):
            lore.save(tmp_path / "lore")


def test_same_bits_on_any_number_of_threads() -> None:
    probs, labels, x = draw(3000, 3, 3)
    found = []
    before = tu.engines.get_threads()
    try:
        for threads in (1, 2):
            tu.engines.set_threads(threads)
            lore = LocalCalibration(reduce=("pca", 2)).fit(probs, labels, features=x)
            found.append(lore.predict_proba(probs, features=x))
    finally:
        tu.engines.set_threads(before)
    assert np.array_equal(*found)


def test_refusals() -> None:
    probs, labels, x = draw(50, 3, 2)
    lore = LocalCalibration().fit(probs, labels, features=x)
    with pytest.raises(tu.InputError, match="`features` is required"):
        lore.predict_proba(probs)
    with pytest.raises(tu.InputError, match="`features` must have 2 columns, as in `fit`; got 1"):
        lore.predict_proba(probs, features=x[:, :1])
    with pytest.raises(tu.InputError, match="as long as `X`"):
        lore.predict_proba(probs, features=x[:5])
    broken = x.copy()
    broken[7, 1] = np.nan
    with pytest.raises(tu.InputError, match=r"`features` must be finite; got nan in row 7"):
        lore.predict_proba(probs, features=broken)
    with pytest.raises(tu.InputError, match=r"`features` must be finite; got nan in row 7"):
        LocalCalibration().fit(probs, labels, features=broken)
    weights = np.ones(50)
    weights[3] = 0
    with pytest.raises(tu.InputError, match="as long as"):
        LocalCalibration().fit(probs, labels, weights, features=x[:20])
    with pytest.raises(tu.InputError, match="as long as `X`, which has 50 rows; got 100 rows"):
        LocalCalibration().fit(probs, labels, weights, features=np.r_[x, x])
    with pytest.raises(tu.InputError, match="a map for new rows"):
        LocalCalibration(reduce="tsne").fit(probs, labels, features=x)
    for parameters, message in (
        ({"bandwidth": 0}, "`bandwidth`"),
        ({"kernel": "group"}, "`kernel`"),
        ({"n_bins": 0}, "`n_bins`"),
        ({"standardize": 1}, "`standardize`"),
        ({"reduce": "umap"}, "`reduce`"),
        ({"n_score_columns": 0}, "`n_score_columns`"),
        ({"logits": "odds"}, "`logits`"),
        ({"normalize": 1}, "`normalize`"),
    ):
        with pytest.raises(tu.InputError, match=message):
            LocalCalibration(**parameters).fit(probs, labels, features=x)


@pytest.mark.parametrize("case", ["saturated", "one class", "one row", "constant", "coincident"])
def test_awkward_data(case: str) -> None:
    probs, labels, x = draw(60, 3, 2)
    if case == "saturated":
        probs = np.eye(3)[probs.argmax(axis=1)]
    if case == "one class":
        labels = np.ones_like(labels)
    if case == "one row":
        probs, labels, x = probs[:1], labels[:1], x[:1]
    if case == "constant":
        probs = np.full_like(probs, 1 / 3)
    if case == "coincident":
        x = np.zeros_like(x)
    lore = LocalCalibration(classes=[0, 1, 2]).fit(probs, labels, features=x)
    rows = lore.predict_proba(probs, features=x)
    assert ((rows >= 0) & (rows <= 1)).all()
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-12)
    z = np.array([[1000.0, -1000.0, 0.0], [0.0, 0.0, 0.0]])
    big = LocalCalibration(logits=True).fit(z, [0, 1], features=[0.0, 1.0])
    assert np.isfinite(big.predict_proba(z, features=[0.0, 1.0])).all()


@pytest.mark.parametrize("kernel", ["laplacian", "gaussian"])
def test_the_nearest_row_is_known_without_a_bandwidth(kernel: str) -> None:
    model = LocalCalibration(bandwidth=np.inf, kernel=kernel, standardize=False)
    found = model.fit([0.7] * 3, [1, 0, 0], features=[0.0, 2.0, 9.0])
    near = found.neighbours([0.7, 0.1], features=[5.0, 3.0])
    np.testing.assert_array_equal(near["nearest"], [3.0, np.inf])
    np.testing.assert_array_equal(near["similarity"], [1.0, 0.0])
