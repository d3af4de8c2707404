"""Data that once went wrong: found by reviewers, kept so that it stays right."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import KFold

import trueup as tu


@pytest.mark.parametrize("seed", [47, 55, 190])
def test_rows_told_apart_by_a_line_are_not_followed_without_end(seed: int) -> None:
    logits = 2 * np.random.default_rng(seed).normal(size=(200, 3))
    vector = tu.VectorScaling(logits=True).fit(logits, logits.argmax(axis=1))
    assert "no finite optimum" in vector.notes_[0]
    near_tie = vector.predict_proba([[0.01, 0.0, -1.0]])[0]
    assert near_tie[:2].min() > 0.01


@pytest.mark.parametrize("seed", [130, 198, 364, 577])
@pytest.mark.parametrize("kind", [tu.PlattScaling, tu.BetaCalibration])
def test_a_row_of_nearly_all_the_weight(kind: type, seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = rng.random(50)
    y = (rng.random(50) < p).astype(int)
    weights = np.exp(rng.normal(size=50) * rng.choice([1, 3, 6]))
    fitted = kind().fit(p, y, sample_weight=weights)
    assert fitted.maps_[0]["gradient"] < 1e-10


@pytest.mark.parametrize(("score", "rate"), [(0.9, 0.7), (0.1, 0.3), (0.9, 0.2)])
def test_one_score_without_an_intercept(score: float, rate: float) -> None:
    labels = np.arange(100) < 100 * rate
    fitted = tu.BetaCalibration(parameters="ab").fit(np.full(100, score), labels.astype(int))
    # no slope below 0: a rate on the other side of 1/2 is out of reach
    reached = rate if (score > 0.5) == (rate > 0.5) else 0.5
    assert fitted.predict_proba([score])[0, 1] == pytest.approx(reached)


def test_splits_of_rows_that_are_not_there() -> None:
    p = np.random.default_rng(0).random(60)
    weights = np.r_[np.zeros(20), np.ones(40)]
    data = tu.Forecasts.from_arrays(p, p > 0.5, weights=weights)
    with pytest.raises(tu.InputError, match=r"`cv` must use row numbers below 40"):
        tu.AutoCalibration(cv=list(KFold(3).split(p))).fit(data)


def test_log_loss_before_is_the_same_whoever_asks() -> None:
    logits, labels = [[1000.0, 0], [1000, 0], [0, 1000]], [0, 1, 1]
    kinds = [tu.TemperatureScaling, tu.PlattScaling, tu.IdentityCalibration, tu.VectorScaling]
    before = [kind(logits=True).fit(logits, labels).fit_["log_loss_before"] for kind in kinds]
    assert before == pytest.approx([1000 / 3] * 4)


def test_no_recalibration_is_what_others_are_compared_with() -> None:
    rng = np.random.default_rng(3)
    p = rng.random(600)
    y = (rng.random(600) < p**2).astype(int)
    given = [tu.BetaCalibration(), tu.IdentityCalibration()]
    auto = tu.AutoCalibration(given).fit(p, y)
    assert auto.table_["candidate"][auto.table_["simplicity"] == 0] == "IdentityCalibration"
    with pytest.raises(tu.InputError, match="not use the reserved name"):
        tu.AutoCalibration({"IdentityCalibration": tu.TemperatureScaling()}).fit(p, y)


def test_groups_of_the_same_rows_keep_their_copies() -> None:
    rng = np.random.default_rng(4)
    probs = rng.dirichlet([1, 1, 1], 300)
    labels = np.array([rng.choice(3, p=row) for row in probs**0.5 / (probs**0.5).sum(1)[:, None]])
    twice = np.concatenate([probs, probs])
    fitted = tu.GroupwiseCalibration(tu.VectorScaling()).fit(
        twice, np.tile(labels, 2), groups=np.repeat(["a", "b"], 300)
    )
    assert fitted.notes_ == []


def test_near_ties_keep_their_class_without_recalibration() -> None:
    logits = np.array([[1.0, np.nextafter(1.0, 2), 0.0]])
    fitted = tu.IdentityCalibration(logits=True).fit(logits, [1])
    assert fitted.predict(logits) == [1]
