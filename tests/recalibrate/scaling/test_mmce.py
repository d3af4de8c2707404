"""MMCE scaling: no temperature on a fine grid has a smaller sum of log loss and MMCE."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.special import log_softmax, softmax

from oracles import kernels
from support.samples import matrix_samples
from trueup.engines import set_threads
from trueup.errors import InputError
from trueup.recalibrate.scaling.mmce import MMCEScaling
from trueup.recalibrate.scaling.temperature import ALL_RIGHT, NOT_BETTER, TemperatureScaling

seeds = st.integers(0, 10**6)


def draw(seed, n=150, k=3):
    """Overconfident logits, with errors that no single temperature can correct."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, k)) * 2
    y = (0.5 * z + np.tanh(z) + rng.gumbel(size=z.shape)).argmax(axis=1)
    return z * 2, y


def terms(z, y, inverse, w=None, bandwidth=0.4):
    """Mean log loss and MMCE of the predicted class, both written from the definition."""
    rows = np.arange(len(y))
    loss = np.average(-log_softmax(z * inverse, axis=1)[rows, y], weights=w)
    r = softmax(z * inverse, axis=1).max(axis=1)
    residual = (r - (z.argmax(axis=1) == y)) * (np.ones(len(y)) if w is None else w)
    kernel = np.exp(-np.abs(r - r[:, None]) / bandwidth)
    total = len(y) if w is None else w.sum()
    return loss, math.sqrt(max(0.0, residual @ kernel @ residual)) / total


def test_the_oracle_is_that_of_the_measure():
    z, y = draw(0, 40)
    r = softmax(z, axis=1).max(axis=1)
    expected = kernels.mmce(r, (z.argmax(axis=1) == y).astype(float), bandwidth=0.4)
    assert terms(z, y, 1.0)[1] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("weight", [0.3, 1.0, 20.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_other_temperature_is_better(weight, weighted, each_engine):
    z, y = draw(1)
    w = np.random.default_rng(1).random(len(y)) + 0.5 if weighted else None
    fitted = MMCEScaling(mmce_weight=weight, bandwidth=0.2, logits=True).fit(z, y, w)
    loss, mmce = terms(z, y, 1 / fitted.temperature_, w, 0.2)
    assert fitted.mmce_ == pytest.approx(mmce, rel=1e-8)
    assert fitted.fit_["log_loss_after"] == pytest.approx(loss, rel=1e-12)
    before = fitted.fit_["log_loss_before"]
    for inverse in np.geomspace(1e-3, 1e3, 400):
        other_loss, other_mmce = terms(z, y, inverse, w, 0.2)
        if other_loss <= before:
            assert loss + weight * mmce <= other_loss + weight * other_mmce + 1e-9


def test_between_log_loss_and_mmce():
    z, y = draw(2, 600)
    plain = TemperatureScaling(logits=True).fit(z, y)
    mmce = [MMCEScaling(mmce_weight=weight, logits=True).fit(z, y).mmce_ for weight in (0, 0.5, 5)]
    assert mmce[0] >= mmce[1] >= mmce[2]
    same = MMCEScaling(mmce_weight=0, logits=True).fit(z, y)
    assert same.temperature_ == plain.temperature_


@settings(max_examples=25)
@given(matrix_samples, st.sampled_from([0.5, 3.0]))
def test_promises_on_any_probabilities(sample, weight):
    fitted = MMCEScaling(mmce_weight=weight).fit(sample.probs, sample.labels, sample.weights)
    assert 0 < fitted.temperature_ < math.inf
    assert fitted.fit_["log_loss_after"] <= fitted.fit_["log_loss_before"] + 1e-12
    probs = fitted.predict_proba(sample.probs)
    assert np.abs(probs.sum(axis=1) - 1).max() <= 1e-12
    assert ((probs >= 0) & (probs <= 1)).all()
    top = sample.probs.argmax(axis=1)
    assert (fitted.predict(sample.probs) == top).all()
    assert (probs[np.arange(len(top)), top] == probs.max(axis=1)).all()


@settings(max_examples=10)
@given(seeds)
def test_two_classes_in_three_forms_and_repeated_rows(seed):
    rng = np.random.default_rng(seed)
    p = rng.random(40)
    y, w = (rng.random(40) < p**2).astype(int), rng.integers(1, 4, 40)
    first = MMCEScaling().fit(p, y, w)
    for form in (p[:, None], np.column_stack([1 - p, p])):
        other = MMCEScaling().fit(form, y, w)
        assert other.temperature_ == pytest.approx(first.temperature_, rel=1e-6)
    repeated = MMCEScaling().fit(np.repeat(p, w), np.repeat(y, w))
    assert repeated.temperature_ == pytest.approx(first.temperature_, rel=1e-6)


def test_where_log_loss_has_no_minimum():
    z, _ = draw(3, 60)
    right = MMCEScaling(logits=True).fit(z * 0.1, z.argmax(axis=1))
    assert right.notes_ == [ALL_RIGHT]
    wrong = MMCEScaling(logits=True).fit(z, z.argmin(axis=1))
    assert wrong.notes_ == [NOT_BETTER]
    assert wrong.temperature_ == pytest.approx(
        TemperatureScaling(logits=True).fit(z, z.argmin(axis=1)).temperature_, rel=0.5
    )
    same = MMCEScaling(logits=True).fit(np.zeros((4, 3)), [0, 1, 2, 0])
    assert same.temperature_ == 1
    saturated = np.where(np.eye(3)[[0, 1, 2, 0]] > 0, 1000.0, -1000.0)
    fitted = MMCEScaling(logits=True).fit(saturated, [0, 1, 2, 1])
    assert fitted.predict_proba(saturated)[0, 0] == pytest.approx(0.75, abs=0.01)


def test_threads_change_no_bit():
    z, y = draw(4, 3000, 40)
    found = []
    for threads in (1, 2):
        set_threads(threads)
        try:
            found.append(MMCEScaling(logits=True).fit(z, y).temperature_)
        finally:
            set_threads(None)
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("name", "value"),
    [("mmce_weight", -1), ("mmce_weight", math.nan), ("bandwidth", 0), ("bandwidth", "wide")],
)
def test_refuses(name, value):
    with pytest.raises(InputError, match=f"`{name}` must be"):
        MMCEScaling(**{name: value}).fit([[0.5, 0.5]], [0])
