"""How strong a penalty: the search by cross-validated log loss."""

from __future__ import annotations

import numpy as np
import pytest

from support.samples import theta_of, world
from trueup.errors import InputError
from trueup.recalibrate.scaling.affine.penalty_search import folds_of
from trueup.recalibrate.scaling.matrix import DirichletCalibration, MatrixScaling


def test_the_search_takes_the_best_it_has_tried():
    z, y = world(400, 5, noise=0.3)
    model = DirichletCalibration(logits=True).fit(z, y)
    losses = {(row["lambda"], row["mu"]): row["log_loss"] for row in model.cross_validation_}
    assert len(losses) >= 4
    assert losses[model.lambda_, model.mu_] <= min(losses.values()) + 1e-5
    fixed = DirichletCalibration(
        strength=model.lambda_, intercept_strength=model.mu_, logits=True
    ).fit(z, y)
    assert theta_of(fixed) == pytest.approx(theta_of(model), abs=1e-12)
    assert fixed.cross_validation_ == []


def test_cross_validated_losses_are_those_of_fits_without_the_fold():
    z, y = world(200, 3)
    model = MatrixScaling(penalty="odir", n_folds=4, logits=True).fit(z, y)
    fold = folds_of(z, y, 4)
    for row in model.cross_validation_[:3]:
        total = 0.0
        for number in range(4):
            out = fold == number
            fit = MatrixScaling(
                penalty="odir",
                strength=row["lambda"],
                intercept_strength=row["mu"],
                logits=True,
            ).fit(z[~out], y[~out])
            probs = fit.predict_proba(z[out])
            total -= np.log(probs[np.arange(out.sum()), y[out]]).sum()
        assert row["log_loss"] == pytest.approx(total / 200, abs=1e-4)


def test_the_penalty_helps_where_rows_are_few():
    z, y = world(2400, 10, noise=0.02)
    x, new, few = z[:300], z[300:], y[:300]

    def loss(**parameters):
        probs = MatrixScaling(logits=True, **parameters).fit(x, few).predict_proba(new)
        return -np.log(probs[np.arange(len(new)), y[300:]]).mean()

    assert loss(penalty="odir") < loss() - 0.05
    assert loss(penalty="l2") < loss() - 0.05


def test_folds_spread_classes_and_keep_equal_rows_together():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 3)).round(0), rng.integers(4, size=200)
    fold = folds_of(x, y, 5)
    for label in range(4):
        different = {
            (tuple(row), f) for row, f in zip(x[y == label], fold[y == label], strict=True)
        }
        assert len(different) == len({row for row, _ in different})
        sizes = np.bincount([f for _, f in different], minlength=5)
        assert np.ptp(sizes) <= 1
    order = rng.permutation(200)
    assert (folds_of(x[order], y[order], 5) == fold[order]).all()


def test_a_search_that_would_take_too_long_is_refused(monkeypatch):
    monkeypatch.setattr("trueup.recalibrate.scaling.matrix.MOST_TO_SEARCH", 100)
    z, y = world(50, 3)
    with pytest.raises(InputError, match="`strength` must be a number for 50 rows of 3 classes"):
        DirichletCalibration(logits=True).fit(z, y)
    DirichletCalibration(strength=1, intercept_strength=1, logits=True).fit(z, y)
