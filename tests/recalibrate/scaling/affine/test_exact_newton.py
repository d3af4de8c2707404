"""Nearly separable classes: one answer for any order of the rows and on any engine."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.base import clone

from trueup.engines.select import using
from trueup.recalibrate.scaling.affine.exact_newton import finite_optimum, is_affordable, settle
from trueup.recalibrate.scaling.affine.fit import AffineData
from trueup.recalibrate.scaling.affine.objective import AffineObjective, Penalty
from trueup.recalibrate.scaling.matrix import DirichletCalibration, MatrixScaling
from trueup.recalibrate.score_forms import FitData, Scores


def rounded_rows(seed, k=6, n=None):
    """Few rows that hardly differ, with labels that they say nothing about."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3 * k, 10 * k)) if n is None else n
    probs = rng.dirichlet(np.full(k, 20), n).round(3)
    return probs / probs.sum(axis=1, keepdims=True), rng.integers(k, size=n)


def free_fit(probs, labels):
    """The log loss without a penalty, and where its fit starts."""
    data = AffineData.of(
        np.log(np.maximum(probs, 1e-12)), FitData(Scores(probs, False), labels, None)
    )
    start = data.diagonal(data.start)
    nothing = Penalty(np.zeros_like(start), np.zeros_like(start))
    return AffineObjective(data.x, data.labels, data.weight, nothing), start


def is_separable(objective):
    """Whether some direction never lowers the log-odds of any row's class, by linear program."""
    k = len(objective.penalty.amount)
    rows = []
    for x, label in zip(objective.x, objective.labels, strict=True):
        for other in set(range(k)) - {int(label)}:
            direction = np.zeros((k, len(x)))
            direction[label], direction[other] = x, -x
            rows.append(direction.ravel())
    gains = np.array(rows)
    most = linprog(-gains.sum(axis=0), A_ub=-gains, b_ub=np.zeros(len(gains)), bounds=(-1, 1))
    return -most.fun > 1e-6


@pytest.mark.parametrize(
    "model",
    [
        MatrixScaling(),
        MatrixScaling(penalty="odir", strength=1e-6, intercept_strength=1e-6),
        MatrixScaling(penalty="l2", strength=1e-6),
        DirichletCalibration(strength=0.0, intercept_strength=0.0),
    ],
    ids=["free", "odir", "l2", "zero"],
)
def test_neither_the_order_of_rows_nor_the_engine_changes_the_answer(model):
    # Without the exact descent the free fits of the last four differ by 0.93, 0.76, 0.82 and 5e-4.
    for seed in (0, 4, 6, 39, 65, 101, 116):
        probs, labels = rounded_rows(seed, n=20 if seed == 39 else None)
        order = np.random.default_rng(seed).permutation(len(labels))
        one = clone(model).fit(probs, labels)
        other = clone(model).fit(probs[order], labels[order])
        with using("reference"):
            slow = clone(model).fit(probs, labels)
        answer = one.predict_proba(probs)
        assert other.predict_proba(probs) == pytest.approx(answer, abs=1e-6)
        assert slow.predict_proba(probs) == pytest.approx(answer, abs=1e-6)
        assert one.notes_ == other.notes_ == slow.notes_


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        (
            [
                [3187, 2856, 1477, 2480],
                [2002, 3258, 1886, 2854],
                [2155, 2984, 2189, 2672],
                [2327, 3065, 2139, 2468],
            ],
            [3, 1, 3, 2],
        ),
        (
            [
                [135, 128, 139, 128, 121, 120, 112, 118],
                [126, 116, 127, 125, 140, 118, 134, 114],
                [135, 130, 130, 123, 118, 120, 115, 129],
                [127, 110, 130, 130, 112, 127, 126, 138],
                [125, 127, 117, 126, 130, 122, 134, 119],
                [127, 115, 130, 124, 109, 111, 140, 145],
                [133, 117, 122, 125, 129, 115, 126, 133],
                [134, 123, 123, 120, 136, 123, 124, 116],
                [127, 115, 135, 142, 116, 128, 128, 109],
                [125, 124, 124, 118, 115, 144, 118, 132],
                [135, 135, 120, 128, 111, 126, 125, 119],
                [123, 131, 127, 129, 117, 120, 126, 126],
            ],
            [2, 4, 0, 7, 6, 7, 0, 4, 3, 5, 0, 1],
        ),
    ],
    ids=["4 rows", "12 rows"],
)
def test_few_rows_have_one_cross_validated_strength(rows, labels):
    # Without exact fits in the cross-validation, these rows in reverse differ by 0.27 and 6e-4.
    probs, labels = np.array(rows) / np.sum(rows, axis=1, keepdims=True), np.array(labels)
    model = DirichletCalibration(classes=range(len(probs[0])))
    one = clone(model).fit(probs, labels)
    other = clone(model).fit(probs[::-1], labels[::-1])
    with using("reference"):
        slow = clone(model).fit(probs, labels)
    for again in (other, slow):
        assert (again.lambda_, again.mu_) == (one.lambda_, one.mu_)
        assert again.predict_proba(probs) == pytest.approx(one.predict_proba(probs), abs=1e-6)


def test_more_classes_than_are_always_checked_have_one_answer_too():
    # Without the exact descent these differ by 0.13.
    probs, labels = rounded_rows(16, k=21)
    assert not is_affordable(free_fit(probs, labels)[0], 10**9)
    order = np.random.default_rng(16).permutation(len(labels))
    one = MatrixScaling().fit(probs, labels)
    other = MatrixScaling().fit(probs[order], labels[order])
    answer = one.predict_proba(probs)
    assert other.predict_proba(probs) == pytest.approx(answer, abs=1e-6)
    assert one.notes_ == other.notes_


def test_an_optimum_is_finite_where_a_linear_program_says_so():
    found = set()
    for seed in range(12):
        probs, labels = rounded_rows(seed, k=4, n=24)
        free, start = free_fit(probs, labels)
        separable = is_separable(free)
        found.add(separable)
        assert (finite_optimum(free, start, start, start) is None) == separable
    assert found == {True, False}


def test_the_guess_changes_nothing():
    probs, labels = rounded_rows(4, n=54)
    free, start = free_fit(probs, labels)
    far = start + 5 * np.random.default_rng(0).normal(size=start.shape)
    near, other = (finite_optimum(free, start, start, guess) for guess in (start, far))
    assert near.here.probs == pytest.approx(other.here.probs, abs=1e-9)
    assert near.moved <= 1e-6


def test_a_settled_point_has_no_gradient():
    probs, labels = rounded_rows(3, n=40)
    free, start = free_fit(probs, labels)
    ridge = Penalty(np.full_like(start, 1e-4), start)
    ridged = AffineObjective(free.x, free.labels, free.weight, ridge)
    found = settle(ridged, start)
    assert np.abs(found.here.gradient).max() < 1e-13
    again = settle(ridged, found.point)
    assert (again.point == found.point).all()
