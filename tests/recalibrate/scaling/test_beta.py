"""Beta calibration against its definition, minimized by SciPy under its bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize

from trueup.errors import InputError
from trueup.recalibrate.scaling.beta import BetaCalibration
from trueup.recalibrate.scaling.platt import PlattScaling

KINDS = ("abm", "ab", "am")


def draw(n: int, a: float, b: float, c: float, seed: int = 0):
    rng = np.random.default_rng(seed)
    p = rng.beta(0.8, 0.8, n).clip(1e-9, 1 - 1e-9)
    truth = 1 / (1 + np.exp(-a * np.log(p) + b * np.log1p(-p) - c))
    return p, (rng.random(n) < truth).astype(int)


def literal_loss(point, p, y, kind: str) -> float:
    """Kull et al. 2017: log-odds a ln p − b ln(1 − p) + c."""
    if kind == "abm":
        a, b, c = point
    elif kind == "ab":
        (a, b), c = point, (point[0] - point[1]) * np.log(2)
    else:
        a, b, c = point[0], point[0], point[1]
    eta = a * np.log(p) - b * np.log1p(-p) + c
    return float(np.mean(np.where(y == 1, np.logaddexp(0, -eta), np.logaddexp(0, eta))))


BOUNDS = {
    "abm": [(0, None), (0, None), (None, None)],
    "ab": [(0, None), (0, None)],
    "am": [(0, None), (None, None)],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "truth", [(0.4, 1.5, 0.2), (2.0, 0.3, -0.5), (0.0, 1.0, 0.3), (1.2, -0.6, 0), (-0.5, -0.5, 0)]
)
def test_minimises_the_definition_without_negative_slopes(kind: str, truth) -> None:
    p, y = draw(600, *truth)
    found = BetaCalibration(parameters=kind).fit(p, y)
    start = [1.0, 1.0, 0.0] if kind == "abm" else [1.0, 1.0] if kind == "ab" else [1.0, 0.0]
    best = minimize(
        literal_loss, start, (p, y, kind), method="L-BFGS-B", bounds=BOUNDS[kind], tol=1e-14
    )
    a, b, c = found.coefficients_[0]
    point = {"abm": [a, b, c], "ab": [a, b], "am": [a, c]}[kind]
    assert literal_loss(point, p, y, kind) <= best.fun + 1e-10
    assert point == pytest.approx(best.x, abs=5e-3)
    assert min(a, b) >= 0
    assert found.maps_[0]["gradient"] < 1e-10
    eta = a * np.log(p) - b * np.log1p(-p) + c
    assert found.predict_proba(p)[:, 1] == pytest.approx(1 / (1 + np.exp(-eta)), abs=1e-12)


def test_the_best_fit_on_every_edge() -> None:
    """Of small samples of noise most have negative slopes, one or both."""
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(30):
        p, y = rng.random(12), rng.integers(0, 2, 12)
        found = BetaCalibration().fit(p, y)
        if "kept" in " ".join(found.notes_) or "perfectly" in " ".join(found.notes_):
            continue
        best = minimize(
            literal_loss, [0.5, 0.5, 0], (p, y, "abm"), method="L-BFGS-B", bounds=BOUNDS["abm"]
        )
        a, b, c = found.coefficients_[0]
        assert literal_loss([a, b, c], p, y, "abm") <= best.fun + 1e-9
        seen.add((a > 0, b > 0))
    assert seen >= {(False, False), (False, True), (True, False)}


def test_am_is_platt_scaling() -> None:
    p, y = draw(500, 0.7, 0.7, 0.4)
    beta, platt = BetaCalibration(parameters="am").fit(p, y), PlattScaling().fit(p, y)
    assert np.array_equal(beta.predict_proba(p), platt.predict_proba(p))


def test_ab_holds_one_half() -> None:
    p, y = draw(500, 0.4, 1.5, 0.0)
    assert BetaCalibration(parameters="ab").fit(p, y).predict_proba([0.5])[0, 1] == 0.5


@pytest.mark.parametrize("kind", ["abm", "am"])
def test_two_distinct_scores_get_their_rates(kind: str) -> None:
    """Three parameters for two points: any of the best fits, without trouble."""
    p, y = np.repeat([0.3, 0.8], 10), np.r_[[1] * 2 + [0] * 8, [1] * 7 + [0] * 3]
    found = BetaCalibration(parameters=kind).fit(p, y).predict_proba([0.3, 0.8])[:, 1]
    assert found == pytest.approx([0.2, 0.7], abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_that_are_all_the_same(kind: str) -> None:
    found = BetaCalibration(parameters=kind).fit(np.full(4, 0.8), [1, 0, 0, 0])
    expected = 0.5 if kind == "ab" else 0.25  # no slope below 0 without an intercept
    assert found.predict_proba([0.8])[0, 1] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_separated_outcomes(kind: str) -> None:
    p, y = np.r_[np.linspace(0.3, 0.49, 20), np.linspace(0.51, 0.7, 20)], np.repeat([0, 1], 20)
    found = BetaCalibration(parameters=kind).fit(p, y)
    assert (found.coefficients_ < 100).all()
    assert "perfectly" in found.notes_[0]
    assert found.fit_["log_loss_after"] < found.fit_["log_loss_before"]


def test_without_intercept_only_one_half_separates() -> None:
    """A threshold of 0.8 tells the outcomes apart, but no curve that is 1/2 at 1/2 has it."""
    p, y = np.array([0.6, 0.7, 0.75, 0.85, 0.9]), [0, 0, 0, 1, 1]
    assert BetaCalibration(parameters="ab").fit(p, y).notes_ == []
    assert "perfectly" in BetaCalibration(parameters="abm").fit(p, y).notes_[0]


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30),
    st.sampled_from(KINDS),
)
def test_answers_never_fall_as_scores_rise(rows, kind: str) -> None:
    p, y = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    found = BetaCalibration(parameters=kind).fit(p, y)
    answers = found.predict_proba(np.linspace(0, 1, 101))[:, 1]
    assert np.isfinite(answers).all()
    assert (np.diff(answers) >= -1e-14).all()
    assert found.fit_["log_loss_after"] <= found.fit_["log_loss_before"] + 1e-9


def test_refuses_other_words() -> None:
    with pytest.raises(InputError, match='`parameters` must be "abm", "ab" or "am"'):
        BetaCalibration(parameters="bm").fit([0.1, 0.9], [0, 1])
