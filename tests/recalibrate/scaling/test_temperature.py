"""Temperature scaling: the least log loss by SciPy's word, and an answer in every odd case."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy.optimize import brentq
from scipy.special import log_softmax, softmax

from support.samples import draw_matrix, matrix_samples
from trueup.engines import set_threads, using
from trueup.errors import InputError
from trueup.recalibrate.scaling import temperature
from trueup.recalibrate.scaling.temperature import (
    ALL_RIGHT,
    ALL_RIGHT_AS_IT_IS,
    NOT_BETTER,
    SAME_SCORES,
    TemperatureScaling,
)

seeds = st.integers(0, 10**6)


def draw(seed, n=300, k=5, sharpness=3.0, dtype=np.float64):
    """Logits that are ``sharpness`` times too large, and labels of the right ones."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, k)) * 2
    y = (z + rng.gumbel(size=z.shape)).argmax(axis=1)
    return (z * sharpness).astype(dtype), y


def mean_loss(z, y, inverse, w=None):
    losses = -log_softmax(z.astype(float) * inverse, axis=1)[np.arange(len(y)), y]
    return np.average(losses, weights=w)


def oracle(z, y, w=None):
    """T by bisection of the derivative of the mean log loss, written from the definition."""
    z = z.astype(float)

    def slope(inverse):
        p = softmax(z * inverse, axis=1)
        return np.average((p * z).sum(axis=1) - z[np.arange(len(y)), y], weights=w)

    return 1 / brentq(slope, 1e-6, 1e4, xtol=1e-300, rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [2, 3, 10, 40])
@pytest.mark.parametrize("sharpness", [0.02, 1.0, 50.0])
def test_is_the_least_log_loss(k, sharpness, dtype, each_engine):
    z, y = draw(k, 400, k, sharpness, dtype)
    fitted = TemperatureScaling(logits=True).fit(z, y)
    assert fitted.temperature_ == pytest.approx(oracle(z, y), rel=1e-9)
    assert fitted.gradient_norm_ <= 1e-10
    assert fitted.notes_ == []
    assert fitted.fit_["log_loss_before"] == pytest.approx(mean_loss(z, y, 1.0), rel=1e-12)
    after = mean_loss(z, y, 1 / fitted.temperature_)
    assert fitted.fit_["log_loss_after"] == pytest.approx(after, rel=1e-12)


def test_a_large_matrix_starts_from_some_rows(monkeypatch):
    z, y = draw(0, 3000, 20, 5.0)
    w = np.random.default_rng(0).integers(1, 4, 3000)
    expected = TemperatureScaling(logits=True).fit(z, y, w)
    monkeypatch.setattr(temperature, "STARTING_ENTRIES", 4000)
    found = TemperatureScaling(logits=True).fit(z, y, w)
    assert found.temperature_ == pytest.approx(expected.temperature_, rel=1e-9)
    # the rows to start from are all right: they say nothing
    z[::15, 0], y[::15] = 100, 0
    found = TemperatureScaling(logits=True).fit(z, y)
    assert found.temperature_ == pytest.approx(oracle(z, y), rel=1e-9)


@given(seeds, st.integers(2, 60), st.integers(2, 6))
def test_whole_weights_are_repeated_rows(seed, n, k):
    z, y = draw(seed, n, k)
    w = np.random.default_rng(seed).integers(0, 4, n)
    assume(w.any())
    weighted = TemperatureScaling(logits=True).fit(z, y, w)
    repeated = TemperatureScaling(logits=True).fit(np.repeat(z, w, axis=0), np.repeat(y, w))
    assert weighted.temperature_ == pytest.approx(repeated.temperature_, rel=1e-6)
    assert weighted.notes_ == repeated.notes_


@given(matrix_samples)
def test_promises_on_any_probabilities(sample):
    fitted = TemperatureScaling().fit(sample.probs, sample.labels, sample.weights)
    assert 0 < fitted.temperature_ < math.inf
    assert fitted.gradient_norm_ <= 1e-10 or fitted.notes_
    assert fitted.fit_["log_loss_after"] <= fitted.fit_["log_loss_before"] + 1e-12
    probs = fitted.predict_proba(sample.probs)
    assert probs.dtype == np.float64
    assert np.abs(probs.sum(axis=1) - 1).max() <= 1e-12
    assert ((probs >= 0) & (probs <= 1)).all()
    top = sample.probs.argmax(axis=1)
    assert (fitted.predict(sample.probs) == top).all()
    assert (probs[np.arange(len(top)), top] == probs.max(axis=1)).all()


@given(seeds, st.sampled_from([1.0, 1e-9, 1e9, 1e90]), st.booleans())
def test_the_unit_of_logits_is_the_unit_of_temperature(seed, unit, shifted):
    z, y = draw(seed, 40, 4)
    shift = np.random.default_rng(seed).standard_normal((40, 1)) if shifted else 0
    here = TemperatureScaling(logits=True).fit(z, y)
    there = TemperatureScaling(logits=True).fit((z + shift) * unit, y)
    assume(not here.notes_)
    assert there.temperature_ == pytest.approx(here.temperature_ * unit, rel=1e-6)


@given(seeds)
def test_larger_scores_get_larger_answers(seed):
    rng = np.random.default_rng(seed)
    p = np.sort(np.concatenate([rng.random(30), [0, 1, 0.5, np.nextafter(0.5, 1)]]))
    y = (rng.random(len(p)) < p**2).astype(int)
    answers = TemperatureScaling().fit(p, y).predict_proba(p)[:, 1]
    assert (np.diff(answers) >= -4e-16).all()


@given(seeds, st.sampled_from([np.float32, np.float64]), st.sampled_from(["probs", "logits"]))
def test_two_classes_in_three_forms(seed, dtype, kind):
    rng = np.random.default_rng(seed)
    x = rng.random(50).astype(dtype) if kind == "probs" else rng.normal(0, 3, 50).astype(dtype)
    x[:4] = [0, 1, 0.5, 0.25] if kind == "probs" else [-1000, 1000, 0, 1]
    y = rng.integers(0, 2, 50)
    first = 1 - x.astype(float) if kind == "probs" else np.zeros(50)
    forms = [x, x[:, None], np.column_stack([first, x])]
    fits = [TemperatureScaling(logits=kind == "logits").fit(form, y) for form in forms]
    for fitted, form in zip(fits, forms, strict=True):
        assert fitted.temperature_ == pytest.approx(fits[0].temperature_, rel=1e-12)
        assert fitted.notes_ == fits[0].notes_
        np.testing.assert_allclose(
            fitted.predict_proba(form), fits[0].predict_proba(x), rtol=1e-12, atol=1e-300
        )
        assert (fitted.predict(form) == fits[0].predict(x)).all()


@pytest.mark.parametrize("weight", [1, 5])
@pytest.mark.parametrize("k", [2, 7])
def test_all_right(k, weight, each_engine):
    """No wrong prediction: mean log loss log((n + 2)/(n + 1)), as if one more row were wrong."""
    z, _ = draw(1, 30, k, 0.1)
    y = z.argmax(axis=1)
    fitted = TemperatureScaling(logits=True).fit(z, y, np.full(30, weight))
    n = 30 * weight
    after = mean_loss(z, y, 1 / fitted.temperature_)
    assert after == pytest.approx(math.log((n + 2) / (n + 1)), rel=1e-9)
    assert fitted.notes_ == [ALL_RIGHT]
    sure = TemperatureScaling(logits=True).fit(z * 1e5, y)
    assert sure.temperature_ == 1
    assert sure.notes_ == [ALL_RIGHT_AS_IT_IS]


def test_all_right_with_ties():
    """The log loss of tied tops cannot fall below the logarithm of their number."""
    z = np.array([[0.1, 0.1, 0.0], [0.2, 0.0, 0.0], [0.0, 0.1, 0.1]])
    fitted = TemperatureScaling(logits=True).fit(z, [0, 0, 2])
    after = mean_loss(z, np.array([0, 0, 2]), 1 / fitted.temperature_)
    assert after == pytest.approx(2 / 3 * math.log(2) + math.log(5 / 4), rel=1e-9)
    assert fitted.predict(z).tolist() == [0, 0, 1]


def test_no_better_than_chance(each_engine):
    z, _ = draw(2, 50, 4)
    y = z.argmin(axis=1)
    fitted = TemperatureScaling(logits=True).fit(z, y)
    assert fitted.notes_ == [NOT_BETTER]
    assert np.sqrt(np.mean(np.var(z / fitted.temperature_, axis=1))) == pytest.approx(1e-3)
    assert (fitted.predict_proba(z).argsort(axis=1) == z.argsort(axis=1)).all()
    assert fitted.fit_["log_loss_after"] == pytest.approx(math.log(4), abs=5e-3)
    flat = TemperatureScaling(logits=True).fit(z * 1e-5, y)  # T = 1 is flatter than the bound
    assert flat.temperature_ == 1
    assert flat.fit_["log_loss_after"] == flat.fit_["log_loss_before"]


def test_scores_that_say_nothing():
    fitted = TemperatureScaling(logits=True).fit(np.full((5, 3), 7.0), [0, 1, 2, 0, 0])
    assert (fitted.temperature_, fitted.notes_) == (1, [SAME_SCORES])
    y = [0] * 5 + [1] * 3 + [2] * 2
    same_rows = TemperatureScaling().fit(np.tile([0.5, 0.3, 0.2], (10, 1)), y)
    assert same_rows.temperature_ == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("label", [0, 1])
def test_one_row(label):
    fitted = TemperatureScaling(logits=True).fit([[0.1, 0.0]], [label])
    assert fitted.notes_
    assert 0 < fitted.predict_proba([[0.1, 0.0]])[0, 1] < 0.5


@pytest.mark.parametrize("right", [0, 1, 5])
def test_saturated(right):
    """Peers give NaN, a negative T or 1e7 here."""
    z = np.full((6, 3), -1000.0)
    z[:, 0] = 1000.0
    y = np.array([0] * right + [1] * (6 - right))
    fitted = TemperatureScaling(logits=True).fit(z, y)
    probs = fitted.predict_proba(z)
    assert np.isfinite(probs).all()
    assert fitted.fit_["log_loss_after"] <= fitted.fit_["log_loss_before"]
    if right == 5:  # each of the two others gets half of a sixth
        assert probs[0, 0] == pytest.approx(5 / 6)
    certain = TemperatureScaling().fit(np.eye(3)[[0, 1, 2, 0]], [0, 1, 2, 1])
    assert certain.predict_proba(np.eye(3))[0, 0] == pytest.approx(0.75)


def test_more_classes_than_rows_and_missing_classes():
    z, y = draw(3, 20, 1000)
    fitted = TemperatureScaling(logits=True).fit(z, y % 7)
    probs = fitted.predict_proba(z)
    assert fitted.classes_.tolist() == list(range(1000))
    assert (probs > 0).all()


def test_threads_and_engines():
    z, y = draw(4, 6000, 60, dtype=np.float32)
    found = []
    for threads in (1, 2):
        set_threads(threads)
        try:
            fitted = TemperatureScaling(logits=True).fit(z, y)
            found.append((fitted.temperature_, fitted.predict_proba(z).tobytes()))
        finally:
            set_threads(None)
    assert found[0] == found[1]
    with using("reference"):
        plain = TemperatureScaling(logits=True).fit(z, y)
        assert plain.temperature_ == pytest.approx(found[0][0], rel=1e-12)


def test_rounded_ties_do_not_move_the_prediction():
    z = np.array([[0.0, 1e-17, -1.0], [5.0, 5.0, 0.0], [0.0, 0.0, 1e-300]])
    fitted = TemperatureScaling(logits=True).fit(*draw(5, k=3))
    assert fitted.predict(z).tolist() == [1, 0, 2]


def test_refuses_and_leaves_nothing_behind():
    with pytest.raises(InputError, match="`logits` must be"):
        TemperatureScaling(logits="scores").fit([[0.5, 0.5]], [0])
    for bad in (np.nan, np.inf, -np.inf):
        for dtype in (np.float32, np.float64):
            with pytest.raises(InputError, match="`X` must be finite"):
                TemperatureScaling(logits=True).fit(np.array([[0, 1], [0, bad]], dtype), [0, 1])
    sample = draw_matrix(0, 20, 3, "smooth")
    fitted = TemperatureScaling().fit(sample.probs, sample.labels)
    assert set(vars(fitted)) == {
        *("logits", "normalize", "classes", "classes_", "n_features_in_", "notes_", "fit_"),
        *("temperature_", "gradient_norm_"),
    }
