"""Sums of a sigmoid: equal to the reference, and identical on any number of threads."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from support.engine_under_test import module_under_test, native_only
from trueup.engines import set_threads
from trueup.engines.reference import sigmoid as reference

tested = module_under_test("sigmoid")

ROWS = [1, 2, 7, 8, 9, 63, 511, 512, 513, 1500]
KINDS = ("normal", "steep", "saturated", "tied", "constant")
TARGETS = ("labels", "one class", "soft")


def draw(seed: int, n: int, slopes: int, kind: str, targets: str, weighted: bool):
    rng = np.random.default_rng(seed)
    x, point = rng.standard_normal((slopes, n)) * 2, rng.standard_normal(slopes + 1)
    if kind == "steep":
        point *= 300
    elif kind == "saturated":
        x = rng.choice([-1e4, 0.0, 1e4], (slopes, n))
    elif kind == "tied":
        x = np.round(x)
    elif kind == "constant":
        point[:-1] = 0
    target = rng.random(n)
    if targets != "soft":
        target = (target < 0.4 if targets == "labels" else target < 2).astype(float)
    return x, target, rng.random(n) if weighted else None, point


samples = st.builds(
    draw,
    st.integers(0, 10**6),
    st.sampled_from(ROWS),
    st.sampled_from([1, 2]),
    st.sampled_from(KINDS),
    st.sampled_from(TARGETS),
    st.booleans(),
)


@given(samples, st.booleans())
def test_same_sums(sample, squared: bool) -> None:
    x, target, w, point = sample
    found = tested.sigmoid_sums(x, target, w, point, squared)
    expected = reference.sigmoid_sums(x, target, w, point, squared)
    n, size = len(target), 1 + np.abs(x).max()
    line = np.abs(point[:-1]) @ np.abs(x) + abs(point[-1])  # rounds when it is added up
    assert found.loss == pytest.approx(expected.loss, rel=1e-12, abs=1e-15 * line.sum())
    slip = 1e-15 * n * (1 + line.max())
    np.testing.assert_allclose(found.gradient, expected.gradient, rtol=1e-12, atol=slip * size)
    np.testing.assert_allclose(found.hessian, expected.hessian, rtol=1e-12, atol=slip * size**2)


@native_only
@given(samples, st.booleans())
def test_second_derivatives_are_symmetric(sample, squared: bool) -> None:
    x, target, w, point = sample
    hessian = tested.sigmoid_sums(x, target, w, point, squared).hessian
    assert (hessian == hessian.T).all()


@pytest.mark.parametrize("engine", [tested, reference])
@pytest.mark.parametrize("squared", [False, True])
def test_derivatives_are_those_of_the_loss(engine, squared: bool) -> None:
    x, target, w, point = draw(3, 200, 2, "normal", "soft", weighted=True)

    def at(here):
        return engine.sigmoid_sums(x, target, w, here, squared)

    here, step = at(point), 1e-5
    for j in range(3):
        aside = step * np.eye(3)[j]
        above, below = at(point + aside), at(point - aside)
        assert here.gradient[j] == pytest.approx((above.loss - below.loss) / (2 * step), abs=1e-6)
        bend = (above.gradient - below.gradient) / (2 * step)
        assert here.hessian[j] == pytest.approx(bend, abs=1e-6)


@pytest.mark.parametrize("engine", [tested, reference])
def test_tails_keep_their_digits(engine) -> None:
    """Of one row: loss log(1 + e^−z), gradient −1/(1 + e^z), curvature their product with p."""
    for z in (0.0, 1e-9, 0.3, 1.0, 20.0, 40.0, 300.0, 700.0):
        found = engine.sigmoid_sums(np.array([[z]]), np.ones(1), None, np.array([1.0, 0.0]), False)
        rest = 1 / (1 + math.exp(z))
        assert found.loss == pytest.approx(math.log1p(math.exp(-z)), rel=1e-15)
        assert found.gradient[-1] == pytest.approx(-rest, rel=1e-15)
        assert found.hessian[-1, -1] == pytest.approx(rest * (1 - rest), rel=1e-15)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("slopes", [1, 2])
def test_threads_and_layout_change_no_bit(slopes: int, squared: bool) -> None:
    x, target, w, point = draw(4, 70_001, slopes, "normal", "labels", weighted=True)
    answers = []
    for threads, covariates in ((1, x), (2, x), (3, np.asfortranarray(x))):
        set_threads(threads)
        try:
            sums = tested.sigmoid_sums(covariates, target, w, point, squared)
        finally:
            set_threads(None)
        answers.append((sums.loss, sums.gradient.tobytes(), sums.hessian.tobytes()))
    assert answers[0] == answers[1] == answers[2]
