"""What isotonic maps, Venn-Abers prediction and Bayesian binning all do with awkward data."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given

from support.samples import Sample, binary_samples, matrix_samples
from trueup.engines.threads import set_threads
from trueup.errors import InputError
from trueup.recalibrate.binning.bayesian import BayesianBinning
from trueup.recalibrate.isotonic import IsotonicCalibration
from trueup.recalibrate.venn_abers import VennAbers

MODELS = [
    IsotonicCalibration,
    partial(IsotonicCalibration, accuracy_preserving=True),
    VennAbers,
    partial(VennAbers, loss="squared"),
    BayesianBinning,
]
each_model = pytest.mark.parametrize(
    "model", MODELS, ids=["isotonic", "pooled", "venn_abers", "venn_abers squared", "bayesian"]
)


def check_rows(probs: np.ndarray) -> None:
    assert np.all((probs >= 0) & (probs <= 1))
    np.testing.assert_allclose(probs.sum(axis=1), 1, rtol=0, atol=1e-12)


@each_model
@given(matrix_samples)
def test_rows_sum_to_one_in_new_data_too(model, sample: Sample):
    fitted = model().fit(sample.probs, sample.labels, sample.weights)
    check_rows(fitted.predict_proba(sample.probs))
    k = sample.probs.shape[1]
    corners = np.vstack([np.eye(k), np.full((1, k), 1 / k), np.roll(sample.probs, 1, axis=1)])
    check_rows(fitted.predict_proba(corners))


@each_model
@given(binary_samples)
def test_two_classes_are_the_same_in_every_form(model, sample: Sample):
    p, y, w = sample.probs, sample.labels, sample.weights
    forms = [p, p[:, None], np.column_stack([1 - p, p])]
    want, *others = (model().fit(form, y, w).predict_proba(form) for form in forms)
    for found in others:
        np.testing.assert_array_equal(found, want)


@each_model
@given(matrix_samples)
def test_a_weight_of_three_is_three_rows(model, sample: Sample):
    rng = np.random.default_rng(len(sample.labels))
    times = rng.integers(0, 4, len(sample.labels))
    times[0] = 2
    repeated = np.repeat(np.arange(len(times)), times)
    weighted = model().fit(sample.probs, sample.labels, times)
    plain = model().fit(sample.probs[repeated], sample.labels[repeated])
    found, want = (fitted.predict_proba(sample.probs) for fitted in (weighted, plain))
    np.testing.assert_allclose(found, want, rtol=0, atol=1e-12)


@each_model
@given(matrix_samples)
def test_the_order_of_rows_is_nothing(model, sample: Sample):
    order = np.random.default_rng(3).permutation(len(sample.labels))
    w = None if sample.weights is None else sample.weights[order]
    shuffled = model().fit(sample.probs[order], sample.labels[order], w)
    straight = model().fit(sample.probs, sample.labels, sample.weights)
    found, want = (fitted.predict_proba(sample.probs) for fitted in (shuffled, straight))
    np.testing.assert_array_equal(found, want)


@each_model
@pytest.mark.parametrize(
    ("scores", "labels"),
    [
        ([0.3], [0]),
        ([0.3], [1]),
        ([0.2, 0.4, 0.9], [0, 0, 0]),
        ([0.2, 0.4, 0.9], [1, 1, 1]),
        ([0.4] * 6, [0, 1, 1, 0, 1, 1]),
        ([0.0, 0.0, 1.0, 1.0], [0, 1, 0, 1]),
        ([0.0, 0.0, 1.0, 1.0], [1, 1, 0, 0]),
        ([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1]),
    ],
)
def test_little_to_learn_from(model, scores: list[float], labels: list[int]):
    fitted = model().fit(scores, labels)
    check_rows(fitted.predict_proba([0.0, 1e-300, 0.5, 1 - 1e-16, 1.0]))
    assert fitted.classes_.tolist() == [0, 1]


@each_model
def test_logits_of_any_size(model):
    logits = np.array([[1000.0, -1000, 0], [-1000, 1000, 0], [0, 0, 0], [1e90, -1e90, 3]])
    fitted = model(logits=True).fit(logits, [0, 1, 2, 2])
    check_rows(fitted.predict_proba(logits * 1e9))
    single = model(logits=True).fit([-1000.0, -40, 40, 1000], [0, 1, 0, 1])
    check_rows(single.predict_proba([-1e99, 0.0, 1e99]))


@each_model
def test_logits_are_their_probabilities(model):
    rng = np.random.default_rng(12)
    logits, labels = rng.normal(size=(300, 4)), rng.integers(0, 4, 300)
    probs = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    found = model(logits=True).fit(logits, labels).predict_proba(logits)
    want = model().fit(probs, labels).predict_proba(probs)
    np.testing.assert_allclose(found, want, rtol=0, atol=1e-9)


@each_model
def test_more_classes_than_rows_and_classes_that_never_occur(model):
    rng = np.random.default_rng(1)
    probs = rng.dirichlet(np.full(1000, 0.05), 30)
    labels = rng.integers(0, 12, 30)
    fitted = model().fit(probs, labels)
    check_rows(fitted.predict_proba(rng.dirichlet(np.full(1000, 0.05), 30)))
    assert len(fitted.classes_) == 1000


@each_model
def test_single_precision_is_read_as_it_is(model):
    rng = np.random.default_rng(2)
    probs = rng.dirichlet(np.ones(3), 200).astype(np.float32)
    labels = rng.integers(0, 3, 200)
    narrow, wide = (model().fit(x, labels) for x in (probs, probs.astype(np.float64)))
    found, want = narrow.predict_proba(probs), wide.predict_proba(probs.astype(np.float64))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, want, rtol=0, atol=1e-6)


@each_model
@pytest.mark.parametrize("unit", [1e-200, 1e-20, 1e5])
def test_weights_of_any_size(model, unit: float):
    rng = np.random.default_rng(7)
    p, y = rng.random(40), rng.integers(0, 2, 40)
    fitted = model().fit(p, y, unit * rng.random(40))
    check_rows(fitted.predict_proba(p))
    mixed = model().fit(p, y, np.where(np.arange(40) % 2, unit, 1.0))
    check_rows(mixed.predict_proba(p))


@pytest.mark.parametrize("model", [VennAbers, BayesianBinning])
def test_weights_that_cannot_be_counts_are_refused(model):
    rule = "`sample_weight` must sum to at most 1e\\+12; got 2000000000000.0. Hint: a weight"
    with pytest.raises(InputError, match=rule):
        model().fit([0.1, 0.9], [0, 1], [1e12, 1e12])


@each_model
def test_the_number_of_threads_changes_no_bit(model):
    rng = np.random.default_rng(3)
    probs, labels = rng.dirichlet(np.ones(5), 20_000), rng.integers(0, 5, 20_000)
    answers = []
    for threads in (1, 2):
        set_threads(threads)
        try:
            answers.append(model().fit(probs, labels).predict_proba(probs))
        finally:
            set_threads(None)
    np.testing.assert_array_equal(*answers)
