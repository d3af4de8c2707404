"""Isotonic recalibration against scikit-learn's fit and against what it promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression

from support.samples import Sample, binary_samples, matrix_samples
from trueup.engines import reference
from trueup.engines.select import engine
from trueup.errors import InputError
from trueup.recalibrate.isotonic import IsotonicCalibration

SETTINGS = [False, True]
distinct_to_sklearn = binary_samples.filter(
    # scikit-learn takes scores less than 1e-15 apart for the same.
    lambda sample: np.all(np.diff(np.unique(sample.probs)) > 1e-14)
)


def expected(p, y, weights, new):
    return IsotonicRegression(out_of_bounds="clip").fit(p, y, weights).predict(new)


def places(p: np.ndarray) -> np.ndarray:
    """The scores, the middles between them, and the ends."""
    value = np.unique(p)
    return np.concatenate([p, (value[1:] + value[:-1]) / 2, [0.0, 1.0]])


@given(distinct_to_sklearn)
def test_two_classes_are_the_fit_of_scikit_learn(sample: Sample):
    new = places(sample.probs)
    model = IsotonicCalibration().fit(sample.probs, sample.labels, sample.weights)
    want = expected(sample.probs, sample.labels, sample.weights, new)
    np.testing.assert_allclose(model.predict_proba(new)[:, 1], want, rtol=0, atol=1e-12)


@pytest.mark.usefixtures("each_engine")
def test_classes_are_fitted_one_by_one_and_rows_divided_by_their_sum():
    rng = np.random.default_rng(5)
    probs, labels = rng.dirichlet(np.ones(4), 3000), rng.integers(0, 4, 3000)
    new = rng.dirichlet(np.ones(4), 2500)
    found = IsotonicCalibration().fit(probs, labels).predict_proba(new)
    want = np.column_stack([expected(probs[:, k], labels == k, None, new[:, k]) for k in range(4)])
    want /= want.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, want, rtol=0, atol=1e-12)


def test_one_map_for_all_classes_is_that_of_its_authors():
    rng = np.random.default_rng(6)
    probs, labels = rng.dirichlet(np.ones(5), 400), rng.integers(0, 5, 400)
    new = rng.dirichlet(np.ones(5), 300)
    model = IsotonicCalibration(accuracy_preserving=True).fit(probs, labels)
    hits = (labels[:, None] == np.arange(5)).ravel()
    want = expected(probs.ravel(), hits, None, new.ravel()).reshape(new.shape) + 1e-9 * new
    want /= want.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(new), want, rtol=0, atol=1e-12)
    assert len(model.maps_) == 1


@pytest.mark.parametrize("accuracy_preserving", SETTINGS)
@given(matrix_samples)
def test_log_loss_on_the_fit_data_never_rises(accuracy_preserving: bool, sample: Sample):
    model = IsotonicCalibration(accuracy_preserving=accuracy_preserving)
    fit = model.fit(sample.probs, sample.labels, sample.weights).fit_
    slack = 1e-9 * fit["n_classes"] if accuracy_preserving else 1e-11
    assert fit["log_loss_after"] <= fit["log_loss_before"] + slack


def near_ties(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    """Rows whose largest two entries differ by very little, or by nothing."""
    probs = rng.dirichlet(np.ones(k), n)
    first, second = rng.integers(0, k, n), rng.integers(0, k, n)
    rows = np.arange(n)
    probs[rows, first] = probs.max(axis=1)
    by = rng.choice([0.0, 1e-16, 1e-13, 1e-10, 1e-7], n)
    probs[rows, second] = probs.max(axis=1) * (1 + by)
    return probs / probs.sum(axis=1, keepdims=True)


@given(matrix_samples, st.integers(0, 10**6))
def test_the_most_probable_class_stays_where_promised(sample: Sample, seed: int):
    model = IsotonicCalibration(accuracy_preserving=True)
    model.fit(sample.probs, sample.labels, sample.weights)
    k = sample.probs.shape[1]
    new = np.vstack([sample.probs, near_ties(np.random.default_rng(seed), 50, k)])
    probs = model.predict_proba(new)
    np.testing.assert_array_equal(probs.argmax(axis=1), new.argmax(axis=1))
    np.testing.assert_array_equal(model.predict(new), new.argmax(axis=1))
    np.testing.assert_allclose(probs.sum(axis=1), 1, rtol=0, atol=1e-12)
    order = np.argsort(new, axis=1, kind="stable")
    assert np.all(np.diff(np.take_along_axis(probs, order, axis=1)[:, :-1], axis=1) >= 0)


@pytest.mark.parametrize("accuracy_preserving", SETTINGS)
def test_the_most_probable_of_two_stays_for_scores_and_logits(accuracy_preserving: bool):
    rng = np.random.default_rng(3)
    logits = np.concatenate([rng.normal(size=500), [0.0, 1e-17, -1e-17, 1000.0, -1000.0]])
    labels = rng.random(505) < 0.2
    model = IsotonicCalibration(accuracy_preserving=accuracy_preserving, logits=True)
    probs = model.fit(logits, labels).predict_proba(logits)
    assert model.preserves_argmax is accuracy_preserving
    assert np.array_equal(probs.argmax(axis=1), logits > 0) is accuracy_preserving


@pytest.mark.parametrize("accuracy_preserving", SETTINGS)
@given(binary_samples)
def test_a_larger_score_never_gets_less(accuracy_preserving: bool, sample: Sample):
    model = IsotonicCalibration(accuracy_preserving=accuracy_preserving)
    model.fit(sample.probs, sample.labels, sample.weights)
    edges = np.nextafter(sample.probs, np.stack([np.zeros(len(sample.probs)), sample.probs * 2]))
    new = np.sort(np.clip(np.concatenate([places(sample.probs), edges.ravel()]), 0, 1))
    probs = model.predict_proba(new)[:, 1]
    assert np.all(np.diff(probs) >= 0)
    assert probs[0] >= 0
    assert probs[-1] <= 1


def test_what_the_attributes_say():
    assert IsotonicCalibration.preserves_argmax is False
    assert IsotonicCalibration().preserves_argmax is False
    assert clone(IsotonicCalibration(accuracy_preserving=True)).preserves_argmax is True
    assert IsotonicCalibration.monotone is True


def test_blocks_are_kept_by_their_two_ends():
    model = IsotonicCalibration().fit([0.1, 0.2, 0.3, 0.4, 0.9], [0, 1, 0, 1, 1])
    assert model.maps_[0]["score"].tolist() == [0.1, 0.2, 0.3, 0.4, 0.9]
    assert model.maps_[0]["answer"].tolist() == [0.0, 0.5, 0.5, 1.0, 1.0]


def test_a_row_of_zeros_keeps_its_probabilities():
    probs = [[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]]
    model = IsotonicCalibration().fit(probs, [0, 1, 2])
    assert model.predict_proba([[0.02, 0.03, 0.95], [0.05, 0.05, 0.9]]).tolist() == [[0, 0, 1]] * 2
    flat = IsotonicCalibration().fit([[0.6, 0.2, 0.2]] * 2 + [[0.2, 0.2, 0.6]], [0, 0, 2])
    rare = [[0.2, 0.6, 0.2]]
    np.testing.assert_allclose(flat.predict_proba(rare), rare, rtol=0, atol=1e-15)


def test_scores_that_almost_tie_make_no_infinite_slope():
    tiny = np.array([0.0, 5e-324, 1e-323, 1.0])
    model = IsotonicCalibration().fit(tiny, [0, 1, 1, 1])
    assert model.predict_proba(tiny)[:, 1].tolist() == [0, 1, 1, 1]


@given(binary_samples, st.integers(0, 40))
def test_the_engine_finds_the_bin_of_every_score(sample: Sample, n_edges: int):
    rng = np.random.default_rng(n_edges)
    p = np.tile(sample.probs, 2000 // len(sample.probs) + 1)
    edges = np.unique(np.concatenate([rng.choice(sample.probs, n_edges), rng.random(n_edges)]))
    for scores in (p, p.astype(np.float32), p[::2]):
        want = np.searchsorted(edges, scores.astype(float), side="left")
        for answering in (engine.bins, reference.bins):
            np.testing.assert_array_equal(answering.find_bins(scores, edges), want)


def test_a_bad_setting_is_one_sentence():
    with pytest.raises(InputError, match="`accuracy_preserving` must be True or False; got 'yes'"):
        IsotonicCalibration(accuracy_preserving="yes").fit([0.1, 0.2], [0, 1])
