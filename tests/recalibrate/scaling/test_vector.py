"""Vector scaling: the least log loss by SciPy's word, and an answer where there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from support.samples import matrix_samples
from trueup.engines import set_threads, using
from trueup.errors import InputError
from trueup.recalibrate.scaling.temperature import TemperatureScaling
from trueup.recalibrate.scaling.vector import VectorScaling, _separated

seeds = st.integers(0, 10**6)


def draw(seed, n=500, k=4, dtype=np.float64):
    """Logits, and labels of softmax(w∘z + b) with w and b of their own for each class."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, k)) * 2
    w, b = rng.uniform(0.3, 1.5, k), rng.normal(0, 0.7, k)
    return z.astype(dtype), (z * w + b + rng.gumbel(size=z.shape)).argmax(axis=1)


def objective(flat, z, y, weights, strength=0.0):
    """Mean log loss and penalty with its gradient, from the definition."""
    n, k = z.shape
    w, b = flat[:k], flat[k:]
    logs = log_softmax(z * w + b, axis=1)
    share = weights / weights.sum()
    value = -share @ logs[np.arange(n), y] + strength / (2 * k) * (np.sum((w - 1) ** 2) + b @ b)
    residual = np.exp(logs)
    residual[np.arange(n), y] -= 1
    residual *= share[:, None]
    gradient = [
        (residual * z).sum(axis=0) + strength / k * (w - 1),
        residual.sum(axis=0) + strength / k * b,
    ]
    return value, np.concatenate(gradient)


def check_minimum(fitted, z, y, weights=None, strength=0.0):
    z, k = z.astype(float), z.shape[1]
    weights = np.ones(len(y)) if weights is None else weights
    flat = np.concatenate([fitted.coefficients_, fitted.intercept_])
    value, gradient = objective(flat, z, y, weights, strength)
    assert np.linalg.norm(gradient) <= 1e-8
    assert fitted.gradient_norm_ == pytest.approx(np.linalg.norm(gradient), abs=1e-10)
    start = np.concatenate([np.ones(k), np.zeros(k)])
    oracle = minimize(
        objective, start, (z, y, weights, strength), jac=True, method="BFGS", tol=1e-9
    )
    assert value <= oracle.fun + 1e-13
    return oracle.x


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [2, 3, 12])
@pytest.mark.parametrize("strength", [0.0, 0.5])
def test_is_the_least_log_loss(k, strength, dtype, each_engine):
    z, y = draw(k, 100 * k, k, dtype)
    w = np.random.default_rng(k).random(len(y)) + 0.5
    fitted = VectorScaling(strength=strength, logits=True).fit(z, y, w)
    best = check_minimum(fitted, z, y, w, strength)
    probs = softmax(z * best[:k] + best[k:], axis=1)
    np.testing.assert_allclose(fitted.predict_proba(z), probs, atol=1e-6)
    assert abs(fitted.intercept_.sum()) < 1e-12
    assert fitted.notes_ == []


@pytest.mark.parametrize("offset", [0.0, 1000.0])
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_logits_of_any_size(offset, unit):
    z, y = draw(1)
    here = VectorScaling(logits=True).fit(z, y)
    there = VectorScaling(logits=True).fit((z + offset) * unit, y)
    np.testing.assert_allclose(there.coefficients_ * unit, here.coefficients_, rtol=1e-6)
    assert there.gradient_norm_ <= 1e-8 * max(1, unit)


@given(seeds, st.integers(1, 60), st.integers(2, 5))
def test_whole_weights_are_repeated_rows(seed, n, k):
    z, y = draw(seed, n, k)
    w = np.random.default_rng(seed).integers(1, 4, n)
    weighted = VectorScaling(logits=True).fit(z, y, w)
    repeated = VectorScaling(logits=True).fit(np.repeat(z, w, axis=0), np.repeat(y, w))
    assert weighted.notes_ == repeated.notes_
    np.testing.assert_allclose(weighted.coefficients_, repeated.coefficients_, rtol=1e-4, atol=1e-5)


@given(matrix_samples, st.sampled_from([0.0, 1e-3]))
def test_promises_on_any_probabilities(sample, strength):
    fitted = VectorScaling(strength=strength).fit(sample.probs, sample.labels, sample.weights)
    assert np.isfinite(fitted.coefficients_).all()
    assert np.isfinite(fitted.intercept_).all()
    assert fitted.gradient_norm_ <= 1e-8
    assert fitted.fit_["log_loss_after"] <= fitted.fit_["log_loss_before"] + 1e-12
    if strength == 0:
        temperature = TemperatureScaling().fit(sample.probs, sample.labels, sample.weights)
        after = temperature.fit_["log_loss_after"]
        assert fitted.fit_["log_loss_after"] <= after + 1e-12
    probs = fitted.predict_proba(sample.probs)
    assert np.abs(probs.sum(axis=1) - 1).max() <= 1e-12
    assert ((probs >= 0) & (probs <= 1)).all()
    assert (fitted.predict(sample.probs) == probs.argmax(axis=1)).all()


@given(seeds, st.sampled_from([np.float32, np.float64]), st.sampled_from(["probs", "logits"]))
def test_two_classes_in_three_forms(seed, dtype, kind):
    rng = np.random.default_rng(seed)
    x = rng.random(50).astype(dtype) if kind == "probs" else rng.normal(0, 3, 50).astype(dtype)
    x[:3] = [0, 1, 0.5] if kind == "probs" else [-100, 100, 0]
    y = rng.integers(0, 2, 50)
    first = 1 - x.astype(float) if kind == "probs" else np.zeros(50)
    forms = [x, x[:, None], np.column_stack([first, x])]
    fits = [VectorScaling(logits=kind == "logits").fit(form, y) for form in forms]
    for fitted, form in zip(fits, forms, strict=True):
        np.testing.assert_allclose(fitted.predict_proba(form), fits[0].predict_proba(x), atol=1e-9)


@pytest.mark.parametrize("strength", [0.0, 1e-6])
def test_a_missing_class_keeps_a_probability(strength, each_engine):
    z, y = draw(2, 400, 5)
    y[y == 3] = 0
    fitted = VectorScaling(strength=strength, logits=True).fit(z, y)
    probs = fitted.predict_proba(z)
    assert (probs > 0).all()
    assert fitted.gradient_norm_ <= 1e-8
    if strength == 0:
        assert "1 of 5 classes are not among the labels" in fitted.notes_[0]
        # like half a row, shared by all rows
        assert 0.1 < probs[:, 3].sum() < 2
    one = VectorScaling(logits=True).fit(z, np.full(400, 2))
    assert "4 of 5" in one.notes_[0]
    assert (one.predict_proba(z) > 0).all()


def test_a_class_separated_by_its_own_logits():
    z, y = draw(3, 300, 4)
    z[:, 2] = np.where(y == 2, 5.0, -1.0) + np.abs(z[:, 2]) / 10
    fitted = VectorScaling(logits=True).fit(z, y)
    assert "1 of 4 classes are perfectly separated by their own logits" in fitted.notes_[0]
    assert fitted.gradient_norm_ <= 1e-8
    assert (fitted.predict_proba(z) > 0).all()
    backwards = z.copy()
    backwards[:, 2] *= -1
    turned = VectorScaling(logits=True).fit(backwards, y)
    assert "1 of 4" in turned.notes_[0]


def test_separated_by_the_definition():
    rng = np.random.default_rng(4)
    for _ in range(300):
        n, k = rng.integers(1, 8), rng.integers(2, 4)
        z, y = rng.integers(0, 3, (n, k)).astype(float), rng.integers(0, k, n)
        for c, found in enumerate(_separated(z, y)):
            own, others = z[y == c, c], z[y != c, c]
            if len(own) == 0 or len(others) == 0:
                continue
            same = z[:, c].min() == z[:, c].max()
            apart = own.min() >= others.max() or own.max() <= others.min()
            assert found == (apart and not same)


def test_two_classes_separated_only_together():
    """No class is separated by its own logit, but w∘z + b has the label on top in every row."""
    rng = np.random.default_rng(5)
    z = rng.standard_normal((200, 3)) * 3
    y = z.argmax(axis=1)
    assert not _separated(z, y).any()
    fitted = VectorScaling(logits=True).fit(z, y)
    assert "perfectly separated" in fitted.notes_[0]
    assert fitted.fit_["log_loss_after"] < 0.1
    assert np.abs(fitted.coefficients_).max() < 1000


@pytest.mark.parametrize("n", [1, 2, 5])
def test_fewer_rows_than_classes(n):
    z, y = draw(6, n, 50)
    fitted = VectorScaling(logits=True).fit(z, y)
    assert fitted.notes_
    assert (fitted.predict_proba(z) > 0).all()


def test_scores_that_say_nothing():
    """Only intercepts can help: they give the share of every class."""
    y = np.repeat([0, 1, 2], [5, 3, 2])
    for z in (np.zeros((10, 3)), np.tile([3.0, -1.0, 2.0], (10, 1))):
        fitted = VectorScaling(logits=True).fit(z, y)
        np.testing.assert_allclose(fitted.predict_proba(z[:1])[0], [0.5, 0.3, 0.2], atol=1e-7)


def test_saturated():
    z = np.full((30, 3), -1000.0)
    z[np.arange(30), np.arange(30) % 3] = 1000.0
    y = (np.arange(30) + (np.arange(30) < 6)) % 3
    fitted = VectorScaling(logits=True).fit(z, y)
    probs = fitted.predict_proba(z)
    assert np.isfinite(probs).all()
    assert probs[np.arange(30), np.arange(30) % 3] == pytest.approx(0.8, abs=1e-6)


def test_worse_than_chance_is_turned_round():
    rng = np.random.default_rng(7)
    z = rng.standard_normal((500, 3))
    y = (-2 * z + rng.gumbel(size=z.shape)).argmax(axis=1)
    fitted = VectorScaling(logits=True).fit(z, y)
    assert (fitted.coefficients_ < 0).all()
    check_minimum(fitted, z, y)


def test_the_order_of_classes_can_change():
    z, y = draw(8, 2000, 3)
    fitted = VectorScaling(logits=True).fit(z, y)
    assert not VectorScaling.preserves_argmax
    assert (fitted.predict(z) != z.argmax(axis=1)).any()


def test_a_thousand_classes():
    z, y = draw(9, 1500, 1000, np.float32)
    fitted = VectorScaling(logits=True, strength=0.01).fit(z, y)
    assert fitted.gradient_norm_ <= 1e-8
    assert fitted.fit_["log_loss_after"] < fitted.fit_["log_loss_before"]


def test_threads_and_engines():
    z, y = draw(10, 6000, 20, dtype=np.float32)
    found = []
    for threads in (1, 2):
        set_threads(threads)
        try:
            fitted = VectorScaling(logits=True).fit(z, y)
            found.append((fitted.coefficients_.tobytes(), fitted.predict_proba(z).tobytes()))
        finally:
            set_threads(None)
    assert found[0] == found[1]
    with using("reference"):
        plain = VectorScaling(logits=True).fit(z, y)
        np.testing.assert_allclose(plain.coefficients_, fitted.coefficients_, rtol=1e-9)


@pytest.mark.parametrize("strength", [-1, math.inf, math.nan, "much", None, True])
def test_refuses(strength):
    with pytest.raises(InputError, match="`strength` must be"):
        VectorScaling(strength=strength).fit([[0.5, 0.5]], [0])
