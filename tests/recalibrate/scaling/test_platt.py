"""Platt scaling against its definition, minimized by SciPy and fitted by scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from trueup.errors import InputError
from trueup.recalibrate.scaling.platt import PlattScaling

LOSSES = ("log", "squared")


def draw(n: int, seed: int = 0, slope: float = 0.5, shift: float = 0.3):
    """Scores whose true curve is σ(slope · logit(p) + shift)."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.6, 0.6, n).clip(1e-9, 1 - 1e-9)
    truth = 1 / (1 + np.exp(-slope * np.log(p / (1 - p)) - shift))
    return p, (rng.random(n) < truth).astype(int)


def literal_loss(point, z, target, weight, loss: str) -> float:
    """The mean loss of σ(a z + b), from the definition."""
    eta = point[0] * z + point[1]
    if loss == "log":
        each = target * np.logaddexp(0, -eta) + (1 - target) * np.logaddexp(0, eta)
    else:
        each = (target - 1 / (1 + np.exp(-eta))) ** 2
    return float(np.average(each, weights=weight))


def logit(p):
    return np.log(p) - np.log1p(-p)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("target", ["labels", "platt"])
@pytest.mark.parametrize("weighted", [False, True])
def test_minimises_the_definition(loss: str, target: str, weighted: bool) -> None:
    p, y = draw(400)
    w = np.random.default_rng(5).integers(1, 4, 400).astype(float) if weighted else np.ones(400)
    found = PlattScaling(target=target, loss=loss).fit(p, y, w)
    positive, negative = w[y == 1].sum(), w[y == 0].sum()
    goal = y.astype(float)
    if target == "platt":
        goal = np.where(y == 1, (positive + 1) / (positive + 2), 1 / (negative + 2))
    # From the truth: squares have other valleys.
    best = minimize(literal_loss, [0.5, 0.3], (logit(p), goal, w, loss), method="BFGS", tol=1e-10)
    assert [found.slope_[0], found.intercept_[0]] == pytest.approx(best.x, abs=2e-5)
    point = np.array([found.slope_[0], found.intercept_[0]])
    assert literal_loss(point, logit(p), goal, w, loss) <= best.fun + 1e-14
    assert found.maps_[0]["gradient"] < 1e-10


def test_agrees_with_logistic_regression() -> None:
    p, y = draw(3000, seed=1)
    peer = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(logit(p)[:, None], y)
    found = PlattScaling().fit(p, y)
    assert found.slope_[0] == pytest.approx(peer.coef_[0, 0], abs=1e-5)
    assert found.predict_proba(p) == pytest.approx(peer.predict_proba(logit(p)[:, None]), abs=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_starting_from_some_of_the_rows_changes_nothing(loss: str) -> None:
    p, y = draw(20_000, seed=2)
    found = PlattScaling(loss=loss).fit(p, y)
    best = minimize(literal_loss, [0.5, 0.3], (logit(p), y, None, loss), method="BFGS", tol=1e-10)
    assert [found.slope_[0], found.intercept_[0]] == pytest.approx(best.x, abs=1e-5)
    assert found.maps_[0]["gradient"] < 1e-10


def test_margins_of_any_scale_are_scores_too() -> None:
    p, y = draw(500, seed=3)
    plain = PlattScaling(logits=True).fit(logit(p), y)
    scaled = PlattScaling(logits=True).fit(1e6 * logit(p) + 3e6, y)
    assert scaled.slope_[0] * 1e6 == pytest.approx(plain.slope_[0], rel=1e-8)
    assert scaled.predict_proba(1e6 * logit(p) + 3e6) == pytest.approx(
        plain.predict_proba(logit(p)), abs=1e-9
    )


def test_an_order_is_never_turned_round() -> None:
    p, y = draw(300)
    found = PlattScaling().fit(p, 1 - y)
    assert found.slope_[0] == 0
    assert found.predict_proba(p)[:, 1] == pytest.approx(np.mean(1 - y), abs=1e-12)
    assert "the output is constant" in found.notes_[0]


@pytest.mark.parametrize("loss", LOSSES)
def test_separated_shy_scores_get_smoothed_labels(loss: str) -> None:
    p, y = np.r_[np.linspace(0.3, 0.49, 20), np.linspace(0.51, 0.7, 20)], np.repeat([0, 1], 20)
    found = PlattScaling(loss=loss).fit(p, y)
    smoothed = PlattScaling(loss=loss, target="platt").fit(p, y)
    assert found.slope_[0] == smoothed.slope_[0]
    assert 1 < found.slope_[0] < 100
    assert "separate the outcomes perfectly" in found.notes_[0]
    assert smoothed.notes_ == []


def test_scores_on_the_wrong_side_by_rounding_alone_are_separated() -> None:
    p = np.array([0.2, 0.3, 0.6, np.nextafter(0.6, 1), 0.8, 0.9])
    found = PlattScaling().fit(p, [0, 0, 1, 0, 1, 1])
    assert found.slope_[0] < 100
    assert "separate the outcomes perfectly" in found.notes_[0]


def test_separated_bold_scores_are_kept() -> None:
    p, y = np.array([1e-6, 1e-5, 1 - 1e-5, 1 - 1e-6]), [0, 0, 1, 1]
    found = PlattScaling().fit(p, y)
    assert found.predict_proba(p)[:, 1] == pytest.approx(p, abs=1e-15)
    assert "kept" in found.notes_[0]


def test_a_step_that_squares_would_choose_is_bounded() -> None:
    """One row far on the wrong side: squares still fall as the slope grows; log loss does not."""
    z = np.r_[np.linspace(-3, -1, 30), np.linspace(1, 3, 30), 9.0]
    y = np.r_[np.zeros(30), np.ones(30), 0].astype(int)
    found = PlattScaling(loss="squared", logits=True).fit(z, y)
    assert np.isfinite(found.slope_).all()
    assert found.slope_[0] < 50
    assert "slope grows" in found.notes_[0]


def test_squares_are_no_worse_than_the_fit_by_log_loss_or_a_constant() -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        n = int(rng.integers(5, 60))
        z, y = rng.standard_t(1, n) * 3, rng.integers(0, 2, n)
        squared = PlattScaling(loss="squared", logits=True).fit(z, y)
        if squared.notes_:
            continue
        mean = np.mean((squared.predict_proba(z)[:, 1] - y) ** 2)
        by_log = np.mean((PlattScaling(logits=True).fit(z, y).predict_proba(z)[:, 1] - y) ** 2)
        assert mean <= min(by_log, y.mean() * (1 - y.mean())) + 1e-12


def test_one_class_and_one_row() -> None:
    p = np.array([0.2, 0.4, 0.9])
    found = PlattScaling().fit(p, [1, 1, 1]).predict_proba(p)[:, 1]
    assert found == pytest.approx(4 / 5, abs=1e-9)  # (N + 1) / (N + 2)
    alone = PlattScaling().fit([0.4], [1])
    assert alone.predict_proba([0.4])[0, 1] == pytest.approx(2 / 3)
    assert alone.slope_[0] == 1
    assert "all scores are the same" in alone.notes_[0]


def test_constant_scores_get_the_mean_label() -> None:
    found = PlattScaling().fit(np.full(10, 0.7), [1, 0, 0, 0, 1, 0, 0, 0, 0, 1])
    assert found.predict_proba([0.7])[0, 1] == pytest.approx(0.3, abs=1e-12)


def test_rows_that_would_get_worse_are_kept() -> None:
    """One-vs-rest fits, divided by their sum, need not beat a perfect softmax."""
    rng = np.random.default_rng(4)
    kept = 0
    for _ in range(20):
        z = rng.normal(size=(3000, 3)) * 2
        p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        y = (p.cumsum(axis=1) > rng.random((3000, 1))).argmax(axis=1)
        found = PlattScaling().fit(p, y)
        assert found.fit_["log_loss_after"] <= found.fit_["log_loss_before"] + 1e-9
        if found.notes_:
            kept += 1
            assert found.predict_proba(p) == pytest.approx(p, abs=1e-12)
    assert kept > 0


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30),
    st.sampled_from(LOSSES),
    st.sampled_from(["labels", "platt"]),
)
def test_answers_never_fall_as_scores_rise(rows, loss: str, target: str) -> None:
    p, y = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    found = PlattScaling(loss=loss, target=target).fit(p, y)
    answers = found.predict_proba(np.linspace(0, 1, 101))[:, 1]
    assert np.isfinite(answers).all()
    assert (np.diff(answers) >= -1e-15).all()
    if (loss, target) == ("log", "labels"):
        assert found.fit_["log_loss_after"] <= found.fit_["log_loss_before"] + 1e-9


def test_refuses_other_words() -> None:
    with pytest.raises(InputError, match='`target` must be "labels" or "platt"; got \'smooth\''):
        PlattScaling(target="smooth").fit([0.1, 0.9], [0, 1])
    with pytest.raises(InputError, match='`loss` must be "log" or "squared"'):
        PlattScaling(loss="brier").fit([0.1, 0.9], [0, 1])
