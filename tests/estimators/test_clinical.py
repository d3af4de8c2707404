"""Slope, intercept and O:E against oracles, scikit-learn and plain algebra."""

from __future__ import annotations

import json
import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given

import trueup as tu
from oracles import clinical as oracle
from support.samples import KINDS, Sample, binary_samples, draw_binary, draw_matrix
from trueup.estimators.clinical import Cox, cox, oe_ratio

EPS = 2.0**-52

pytestmark = pytest.mark.usefixtures("each_engine")


def draw(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Predictions that are too extreme and too high."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 2, n)
    return 1 / (1 + np.exp(-z)), (rng.random(n) < 1 / (1 + np.exp(0.5 - 0.7 * z))).astype(int)


@given(binary_samples)
def test_cox_is_the_maximum_likelihood(sample: Sample):
    p, y, w = np.clip(sample.probs, EPS, 1 - EPS), sample.labels, sample.weights
    found = cox(sample.probs, y, weights=w)
    assert found.clipped == np.sum(p != sample.probs)
    try:
        expected = oracle.cox(p, y, w)
    except ValueError:
        assert not found.converged
        assert found.note
        assert not math.isfinite(found.slope)
        return
    assume(found.converged)  # else nearly flat, which the note says
    assert found.slope == pytest.approx(expected.slope, rel=1e-10, abs=1e-10)
    assert found.intercept == pytest.approx(expected.intercept, rel=1e-10, abs=1e-10)


@given(binary_samples)
def test_calibration_in_the_large_balances_the_labels(sample: Sample):
    """Its score equation, in logs where p is near 1; the oracle's Newton gives up far from 0."""
    p, y = np.clip(sample.probs, EPS, 1 - EPS), sample.labels
    w = np.ones(len(y)) if sample.weights is None else sample.weights
    found = cox(sample.probs, y, weights=sample.weights)
    if y.min() == y.max():
        assert found.in_the_large == (math.inf if y[0] else -math.inf)
        return
    eta = found.in_the_large + np.array(oracle.logits(p))
    missed = np.sum(w * np.where(y == 1, 1, 0) / (1 + np.exp(eta)))
    false = np.sum(w * np.where(y == 0, 1, 0) / (1 + np.exp(-eta)))
    assert missed == pytest.approx(false, rel=1e-9)


@given(st.integers(0, 10**6), st.integers(5, 60))
def test_calibration_in_the_large_as_the_oracle_finds_it(seed: int, n: int):
    sample = draw_binary(seed, n, "smooth", "eighths")
    assume(sample.labels.min() < sample.labels.max())
    expected = oracle.intercept_at_slope_one(sample.probs, sample.labels, sample.weights)
    found = cox(sample.probs, sample.labels, weights=sample.weights)
    assert found.in_the_large == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_cox_against_scikit_learn():
    from sklearn.linear_model import LogisticRegression

    p, y = draw(3_000)
    z = np.log(p / (1 - p))[:, None]
    w = np.random.default_rng(1).random(len(y)) + 0.1
    for weights in (None, w):
        fit = LogisticRegression(C=np.inf, tol=1e-12, solver="newton-cholesky", max_iter=500)
        fit.fit(z, y, sample_weight=weights)
        found = cox(p, y, weights=weights)
        assert found.slope == pytest.approx(fit.coef_[0, 0], rel=1e-7)
        assert found.intercept == pytest.approx(fit.intercept_[0], rel=1e-7)
        assert found.converged


def algebra(p, y, w, robust):
    """Standard errors by matrices: inverse information, or the sandwich."""
    z = np.log(p / (1 - p))
    found = cox(p, y, weights=w if robust else None)
    design = np.stack([np.ones(len(z)), z], axis=1)
    fitted = 1 / (1 + np.exp(-(found.intercept + found.slope * z)))
    inverse = np.linalg.inv(design.T @ (design * (w * fitted * (1 - fitted))[:, None]))
    if robust:
        scores = design * (w * (y - fitted))[:, None]
        inverse = inverse @ (scores.T @ scores) @ inverse
    return found, np.sqrt(np.diag(inverse))


@pytest.mark.parametrize("robust", [False, True])
def test_standard_errors(robust: bool):
    p, y = draw(500)
    w = np.random.default_rng(2).random(500) + 0.1 if robust else np.ones(500)
    found, expected = algebra(p, y, w, robust)
    assert [found.intercept_error, found.slope_error] == pytest.approx(expected, rel=1e-9)
    shifted = 1 / (1 + np.exp(-(found.in_the_large + np.log(p / (1 - p)))))
    information = np.sum(w * shifted * (1 - shifted))
    meat = np.sum((w * (y - shifted)) ** 2) if robust else information
    assert found.in_the_large_error == pytest.approx(math.sqrt(meat) / information, rel=1e-9)


def test_standard_errors_are_those_of_repeated_samples():
    found = [cox(*draw(400, seed)) for seed in range(300)]
    for name in ("slope", "intercept", "in_the_large"):
        spread = np.std([getattr(each, name) for each in found])
        told = np.mean([getattr(each, f"{name}_error") for each in found])
        assert told == pytest.approx(spread, rel=0.15)
    assert np.mean([each.slope for each in found]) == pytest.approx(0.7, abs=0.03)
    assert np.mean([each.intercept for each in found]) == pytest.approx(-0.5, abs=0.03)


def test_weights_are_repeated_rows_but_no_new_data():
    p, y = draw(60)
    times = 1 + np.arange(60) % 4
    weighted, repeated = cox(p, y, weights=times), cox(np.repeat(p, times), np.repeat(y, times))
    for name in ("slope", "intercept", "in_the_large"):
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), rel=1e-10)
    assert weighted.slope_error > 1.2 * repeated.slope_error
    for scale in (1e-9, 3.0, 1e9):
        scaled = cox(p, y, weights=times * scale)
        assert scaled.slope == pytest.approx(weighted.slope, rel=1e-10)
        assert scaled.slope_error == pytest.approx(weighted.slope_error, rel=1e-9)


def test_renaming_the_classes_turns_the_sign_of_the_intercept():
    for kind in KINDS:
        rng = np.random.default_rng(3)
        sample = draw_binary(4, 50, kind)
        p = np.round(sample.probs * 2**40) / 2**40  # so that 1 - p is exact
        y = rng.integers(0, 2, 50)
        a, b = cox(p, y), cox(1 - p, 1 - y)
        assert a.clipped == b.clipped
        assert a.slope == pytest.approx(b.slope, rel=1e-9, nan_ok=True)
        assert a.intercept == pytest.approx(-b.intercept, rel=1e-9, abs=1e-12, nan_ok=True)
        assert a.in_the_large == pytest.approx(-b.in_the_large, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("kind", "limit"), [("f8", 36.0437), ("f4", 15.9424), ("f2", 6.9305)])
def test_certain_predictions_are_clipped_by_their_type(kind: str, limit: float):
    p = np.array([0, 0, 1, 1, 0.5, 0.5], kind)
    y = np.array([0, 1, 1, 0, 0, 1])
    found = cox(p, y)
    assert found.clipped == 4
    assert found.converged
    z = np.array([-limit, -limit, limit, limit, 0, 0])
    same = cox(1 / (1 + np.exp(-np.clip(z, -30, 30))), y)
    assert found.slope == pytest.approx(same.slope, abs=1e-12) == pytest.approx(0, abs=1e-12)
    leaning = cox(np.r_[p, p[:1], p[2:3]], np.r_[y, 0, 1])
    assert leaning.slope * limit == pytest.approx(math.log(2), rel=1e-4)  # two to one at each end
    assert cox(np.array([[1, 0], [1, 0], [0, 1], [0.5, 0.5]], kind), [0, 1, 1, 0]).clipped == 3


@pytest.mark.parametrize(
    ("p", "y", "slope", "intercept", "in_the_large", "word"),
    [
        ([0.1, 0.3, 0.7], [0, 0, 1], math.inf, math.nan, None, "perfectly, so"),
        ([0.1, 0.3, 0.3, 0.7], [0, 0, 1, 1], math.inf, math.nan, None, "perfectly, so"),
        ([0.1, 0.3, 0.7], [1, 1, 0], -math.inf, math.nan, None, "perfectly in reverse"),
        ([0.0, 1.0], [0, 1], math.inf, math.nan, 0.0, "perfectly, so"),
        ([0.3, 0.3, 0.3], [0, 1, 1], math.nan, math.nan, math.log(14 / 3), "the same"),
        ([0.1, 0.3, 0.7], [0, 0, 0], math.nan, -math.inf, -math.inf, "labels are 0"),
        ([0.1, 0.3, 0.7], [1, 1, 1], math.nan, math.inf, math.inf, "labels are 1"),
        ([0.4], [1], math.nan, math.inf, math.inf, "labels are 1"),
        ([1.0], [0], math.nan, -math.inf, -math.inf, "labels are 0"),
    ],
)
def test_no_maximum_is_said_and_never_a_large_number(p, y, slope, intercept, in_the_large, word):
    found = cox(p, y)
    assert found.slope == pytest.approx(slope, nan_ok=True)
    assert found.intercept == pytest.approx(intercept, nan_ok=True)
    assert math.isnan(found.slope_error)
    assert math.isnan(found.intercept_error)
    assert not found.converged
    assert word in found.note
    if in_the_large is not None:
        assert found.in_the_large == pytest.approx(in_the_large, abs=1e-4)


def test_scores_that_all_but_order_the_labels():
    """A hair apart, a 1 below a 0: there is a maximum, on a plateau."""
    p = [0.1, 0.2, 0.3, 0.3 + 1e-12, 0.7, 0.9]
    found = cox(p, [0, 0, 1, 0, 1, 1])
    assert not found.converged
    assert "the line is nearly flat" in found.note


def test_soft_labels_are_shares_of_a_row():
    p, _ = draw(40)
    soft = np.random.default_rng(5).random(40)
    found = cox(tu.Forecasts.from_arrays(p, soft, soft_labels=True))
    split = cox(np.tile(p, 2), np.repeat([1, 0], 40), weights=np.r_[soft, 1 - soft])
    assert found.slope == pytest.approx(split.slope, rel=1e-10)
    assert found.in_the_large == pytest.approx(split.in_the_large, rel=1e-10)
    assert found.slope_error < split.slope_error  # a share is known, a draw is not


def test_lenses():
    sample = draw_matrix(6, 80, 3, "smooth")
    probs, y = sample.probs, sample.labels
    one = cox(probs, y, lens=tu.lens.OneVsRest(2))
    assert one == cox(probs[:, 2], (y == 2).astype(int))
    pooled = cox(probs, y, lens=tu.lens.Pooled())
    assert math.isfinite(pooled.slope)
    assert math.isnan(pooled.slope_error)
    assert math.isnan(pooled.in_the_large_error)
    p, labels = draw(30)
    two = np.column_stack([1 - p, p])
    assert cox(two, labels).slope == pytest.approx(cox(p, labels).slope, rel=1e-12)


def test_the_result_is_plain_values():
    found = cox(*draw(50))
    assert isinstance(found, Cox)
    assert json.loads(json.dumps(found.to_dict()))["converged"] is True
    assert all(type(v) in (float, bool, int, str) for v in found.to_dict().values())


@given(binary_samples)
def test_observed_over_expected(sample: Sample):
    p, y, w = sample.probs, sample.labels, sample.weights
    if p.sum() == 0:
        return
    ours = oe_ratio(p, y, weights=w)
    assert ours == pytest.approx(oracle.oe_ratio(p, y, w), rel=1e-12)


THREE = [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]
NEEDS_LENS = (
    "`lens` is required if `probs` has more than two columns. Hint: pass OneVsRest(c) for class c."
)
ONE_SET = "`lens` must yield one set of scores, such as OneVsRest(c); got "


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cox(THREE, [0, 2]), NEEDS_LENS),
        (lambda: oe_ratio(THREE, [0, 2]), NEEDS_LENS),
        (lambda: cox(THREE, [0, 2], lens=tu.lens.Canonical()), ONE_SET + "Canonical()."),
        (
            lambda: cox(THREE, [0, 2], lens=tu.lens.OneVsRest),
            "`lens` must be a lens, such as TopLabel(), or None; got the class OneVsRest.",
        ),
        (
            lambda: oe_ratio([0.0, 0.0], [0, 1]),
            "`probs` must contain a positive value; the ratio is undefined if all are zero.",
        ),
    ],
)
def test_refused(make, message: str):
    with pytest.raises(tu.InputError) as refused:
        make()
    assert str(refused.value) == message


def test_hard_predictions_leave_the_intercept_alone_unknown():
    found = cox([0.0, 1.0, 1.0, 0.0] * 5, [0, 1, 0, 1] * 5)
    assert found.slope == pytest.approx(0, abs=1e-9)
    assert found.intercept == pytest.approx(0, abs=1e-9)
    assert not found.converged
    assert "the intercept alone is nearly flat" in found.note
