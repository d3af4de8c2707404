"""What every one-score recalibrator owes: all shapes of input, hard cases, weights, threads."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from trueup.engines.threads import set_threads
from trueup.recalibrate.binning.histogram import HistogramBinning
from trueup.recalibrate.binning.scaling_binning import ScalingBinning
from trueup.recalibrate.identity import IdentityCalibration
from trueup.recalibrate.scaling.beta import BetaCalibration
from trueup.recalibrate.scaling.platt import PlattScaling

ALL = [
    PlattScaling(),
    PlattScaling(target="platt"),
    PlattScaling(loss="squared"),
    BetaCalibration(),
    BetaCalibration(parameters="ab"),
    BetaCalibration(parameters="am"),
    HistogramBinning(n_bins=4),
    HistogramBinning(n_bins=4, binning="equal-width"),
    HistogramBinning(n_bins=4, lens="top-label"),
    ScalingBinning(n_bins=4),
    ScalingBinning(n_bins=4, lens="top-label"),
    ScalingBinning(n_bins=4, scaling=PlattScaling(loss="squared")),
]
each = pytest.mark.parametrize("model", ALL, ids=repr)


def rows(n: int, n_classes: int, seed: int = 0):
    """Rows of a model that is too bold, with labels."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, n_classes)) * 2
    y = (z / 2 + rng.gumbel(size=z.shape)).argmax(axis=1)
    return z, np.exp(z) / np.exp(z).sum(axis=1, keepdims=True), y


def check_rows(model, X) -> np.ndarray:
    found = model.predict_proba(X)
    assert np.isfinite(found).all()
    assert found.min() >= 0
    assert found.max() <= 1
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert len(model.predict(X)) == len(found)
    return found


@each
def test_two_classes_in_three_shapes(model) -> None:
    z, p, y = rows(300, 2)
    one, column = p[:, 1], p[:, 1:]
    first = check_rows(clone(model).fit(one, y), one)
    assert np.array_equal(first, check_rows(clone(model).fit(column, y), column))
    assert check_rows(clone(model).fit(p, y), p) == pytest.approx(first, abs=1e-9)
    logits = clone(model).set_params(logits=True)
    assert check_rows(logits.fit(z, y), z) == pytest.approx(first, abs=1e-9)
    odds = z[:, 1] - z[:, 0]
    assert check_rows(clone(logits).fit(odds, y), odds) == pytest.approx(first, abs=1e-9)


@each
def test_float32_is_read_as_it_is(model) -> None:
    _, p, y = rows(300, 3)
    half = p.astype(np.float32)
    half = half / half.sum(axis=1, keepdims=True)
    model = clone(model).fit(half, y)
    assert check_rows(model, half).dtype == np.float64


@each
def test_weights_are_repeated_rows(model) -> None:
    _, p, y = rows(120, 3)
    w = np.random.default_rng(1).integers(0, 4, 120)
    weighted = clone(model).fit(p, y, sample_weight=w)
    repeated = clone(model).fit(np.repeat(p, w, axis=0), np.repeat(y, w))
    assert weighted.predict_proba(p) == pytest.approx(repeated.predict_proba(p), abs=1e-7)


@each
def test_order_of_rows_and_threads_change_nothing(model) -> None:
    _, p, y = rows(9_000, 5)  # above 8,192 fits start from some of the rows
    order = np.random.default_rng(2).permutation(len(y))
    found = clone(model).fit(p, y).predict_proba(p[:50])
    shuffled = clone(model).fit(p[order], y[order]).predict_proba(p[:50])
    assert shuffled == pytest.approx(found, abs=1e-9)
    try:
        set_threads(1)
        alone = clone(model).fit(p, y).predict_proba(p[:50])
    finally:
        set_threads(None)
    assert np.array_equal(alone, found)


@each
def test_saturated_scores(model) -> None:
    p = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]], float)
    check_rows(clone(model).fit(p, [0, 1, 2, 1, 1]), p)
    check_rows(clone(model).fit(p, [0, 1, 2, 0, 1]), p)  # all right
    z = np.where(p == 1, 1000.0, -1000.0)
    check_rows(clone(model).set_params(logits=True).fit(z, [0, 1, 2, 1, 1]), z)
    ends = np.array([0.0, 1.0, 0.0, 1.0, 0.5])
    check_rows(clone(model).fit(ends, [0, 1, 1, 0, 1]), np.linspace(0, 1, 11))


@each
@pytest.mark.parametrize(
    ("n", "n_classes", "labels"),
    [(1, 2, [1]), (1, 3, [2]), (2, 3, [0, 0]), (4, 10, [9, 9, 1, 0]), (6, 3, [0, 1] * 3)],
)
def test_few_rows_and_missing_classes(model, n: int, n_classes: int, labels) -> None:
    z, p, _ = rows(n, n_classes)
    found = clone(model).fit(p, labels)
    new_z, new, _ = rows(50, n_classes, seed=9)
    check_rows(found, new)
    check_rows(clone(model).set_params(logits=True).fit(z, labels), new_z)


@each
def test_constant_scores_and_one_class(model) -> None:
    p = np.tile([0.2, 0.5, 0.3], (30, 1))
    new = rows(20, 3)[1]
    check_rows(clone(model).fit(p, np.arange(30) % 3), new)
    check_rows(clone(model).fit(p, np.zeros(30, int)), new)
    check_rows(clone(model).fit(rows(30, 3)[1], np.full(30, 2)), new)


@pytest.mark.parametrize("model", ALL[::3], ids=repr)  # one of each kind
def test_a_thousand_classes(model) -> None:
    _, p, y = rows(60, 1000)
    check_rows(clone(model).fit(p, y % 20), p)


@each
def test_log_loss_on_the_fit_data(model) -> None:
    """It never rises where the loss is log loss of labels; where bins raise it, a note says so."""
    for seed in range(5):
        _, p, y = rows(200, 4, seed)
        found = clone(model).fit(p, y)
        before, after = found.fit_["log_loss_before"], found.fit_["log_loss_after"]
        by_likelihood = isinstance(model, BetaCalibration) or repr(model) == "PlattScaling()"
        if by_likelihood:
            assert after <= before + 1e-9
        elif after > before and hasattr(model, "n_bins"):
            assert any("log loss on the fit data increased" in note for note in found.notes_)


def test_what_it_claims() -> None:
    assert PlattScaling.monotone
    assert BetaCalibration.monotone
    assert not HistogramBinning.monotone
    assert not ScalingBinning.monotone  # nor is a top label of two classes, however it is mapped
    assert not any(type(model).preserves_argmax for model in ALL)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@each
def test_scikit_learn_agrees(model) -> None:
    """But where the checks bring features that are no scores of classes: none can pass there."""

    def failed(estimator) -> set[str]:
        found = check_estimator(estimator, on_fail=None)
        return {result["check_name"] for result in found if result["status"] == "failed"}

    assert failed(clone(model).set_params(logits=True)) <= failed(IdentityCalibration(logits=True))
