"""Logits next to nothing, and enormous weights: an answer or one clear sentence."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import trueup as tu
from trueup.errors import InputError

MODELS = [
    tu.TemperatureScaling(),
    tu.PlattScaling(),
    tu.BetaCalibration(),
    tu.VectorScaling(),
    tu.MatrixScaling(),
    tu.DirichletCalibration(strength=1.0, intercept_strength=1.0),
    tu.IsotonicCalibration(),
    tu.HistogramBinning(n_bins=3),
    tu.ScalingBinning(n_bins=3),
    tu.OneVsRestCalibration(tu.PlattScaling()),
    tu.TopLabelCalibration(tu.BetaCalibration()),
]
SCORES = np.random.default_rng(0).normal(size=(12, 3)).round(1)
PROBS = np.exp(SCORES) / np.exp(SCORES).sum(axis=1, keepdims=True)
LABELS = {"mixed": np.arange(12) % 3, "one class": np.ones(12, int)}


def names(model):
    return type(model).__name__


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("model", MODELS, ids=names)
def test_logits_that_are_next_to_nothing_say_nothing(model, labels):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for unit in (1e-310, 1e-298, 1e-161, 1e-120):
            fitted = clone(model).set_params(logits=True).fit(unit * SCORES, labels)
            probs = fitted.predict_proba(unit * SCORES)
            assert np.abs(probs.sum(axis=1) - 1).max() < 1e-12
            binary = clone(model).set_params(logits=True)
            binary.fit(unit * SCORES[:, 0], labels == 1)
            assert np.isfinite(binary.predict_proba(unit * SCORES[:, 0])).all()


@pytest.mark.parametrize("model", [tu.VectorScaling(), tu.MatrixScaling()], ids=names)
def test_of_logits_that_say_nothing_frequencies_are_left(model):
    labels = np.repeat([0, 1, 2], [6, 4, 2])
    fitted = clone(model).set_params(logits=True).fit(1e-298 * SCORES, labels)
    rates = np.tile([1 / 2, 1 / 3, 1 / 6], (12, 1))
    assert fitted.predict_proba(1e-298 * SCORES) == pytest.approx(rates, abs=1e-6)


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("model", MODELS, ids=names)
@pytest.mark.parametrize("weight", [1e-300, 1e16, 1e100])
def test_weights_of_any_size_that_can_be_squared(model, labels, weight):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        for weights in (np.full(12, weight), np.where(np.arange(12) < 4, weight, 1.0)):
            fitted = clone(model).fit(PROBS, labels, weights)
            assert np.isfinite(fitted.predict_proba(PROBS)).all()


@pytest.mark.parametrize("model", MODELS, ids=names)
@pytest.mark.parametrize("weight", [1e155, 1e200, 1e308])
def test_weights_that_cannot_be_squared_are_named(model, weight):
    with pytest.raises(InputError, match="`sample_weight` are too large or too small to square"):
        clone(model).fit(PROBS, LABELS["mixed"], np.full(12, weight))


def test_one_class_with_enormous_weights_is_all_but_certain():
    fitted = tu.PlattScaling().fit([0.3, 0.7], [1, 1], sample_weight=[1e16, 1e16])
    other = tu.PlattScaling().fit([0.3, 0.7], [0, 0], sample_weight=[1e16, 1e16])
    assert fitted.predict_proba([0.5])[0, 1] > 1 - 1e-12
    assert other.predict_proba([0.5])[0, 1] < 1e-12


def test_steps_that_cannot_be_squared():
    """Weights and logits of hundreds of orders of magnitude, found by random trials."""
    logits = 1e83 * np.array([0.667697367, 0.579673636, 0, 0, -1.24644321, -0.628868859])
    weights = [1e-16, 1e-1, 1e60, 1e-146, 1e-13, 1e32]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = tu.VectorScaling(logits=True).fit(logits, [1, 1, 0, 0, 1, 1], weights)
        assert np.isfinite(fitted.predict_proba(logits)).all()
