"""The lens that an estimator reports is the lens it looks through."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

import trueup as tu
from laws.estimators import ESTIMATORS, Entry
from trueup.estimators.base import Estimator, known_estimator
from trueup.estimators.decomposition import ProperScore
from trueup.evaluation import findings
from trueup.lens import Canonical, ClassWise, Lens, TopLabel, TopLabelByClass

MATRIX = {name: entry for name, entry in ESTIMATORS.items() if entry.matrix}
every = pytest.mark.parametrize("entry", MATRIX.values(), ids=MATRIX)


def model() -> tuple[np.ndarray, np.ndarray]:
    """Rows of three classes, miscalibrated in every class, none of them tied at the top."""
    rng = np.random.default_rng(5)
    probs = rng.dirichlet([0.7, 1.0, 1.6], 400)
    labels = np.array([rng.choice(3, p=row) for row in np.roll(probs, 1, axis=1)])
    return probs, labels


def below_the_top(probs: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Change the two lower probabilities of each row, and which of the two is a wrong label."""
    top = probs.argmax(axis=1)
    first, second = (top + 1) % 3, (top + 2) % 3
    every = np.arange(len(top))
    low = np.sort(probs, axis=1)[:, :2]
    moved = probs.copy()
    moved[every, first], moved[every, second] = low[:, 0], low[:, 1]
    return moved, np.where(labels == top, top, second)


def same_in_every_class() -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Two datasets with the same pairs of score and outcome in each class, in other rows."""
    rows = np.array(list(permutations((0.5, 0.3, 0.2))))
    even = np.array([np.linalg.det(np.eye(3)[list(order)]) > 0 for order in permutations(range(3))])
    at = {score: np.abs(rows - score).argmin(axis=1) for score in (0.5, 0.3)}
    more = np.repeat(rows[even][:1], 4, axis=0), np.array([0, 0, 1, 2])
    data = []
    for which in (even, ~even):
        labels = np.where(which, at[0.5], at[0.3])
        data.append((np.concatenate([rows, more[0]]), np.concatenate([labels, more[1]])))
    return data[0], data[1]


def seen_below_the_top(lens: Lens) -> bool:
    """Whether a lens sees what is below the largest probability."""
    only_top = isinstance(lens, TopLabel | TopLabelByClass) or lens == tu.lens.TopK(1)
    return not only_top


def is_maximum(estimator: Estimator) -> bool:
    return getattr(estimator, "norm", 1) == math.inf or getattr(estimator, "quantile", 0) == 1


@every
def test_what_the_lens_ignores_changes_nothing_and_what_it_sees_does(entry: Entry):
    estimator = known_estimator(entry.estimator)
    assert isinstance(estimator, Estimator)
    probs, labels = model()
    lens = estimator.lens_for(tu.Forecasts.from_arrays(probs, labels))
    before = estimator(probs, labels)
    after = estimator(*below_the_top(probs, labels))
    if seen_below_the_top(lens):  # a maximum moves only with the bin or row that attains it
        assert abs(after - before) > 1e-9 or is_maximum(estimator)
    else:
        assert after == pytest.approx(before, rel=1e-12, abs=1e-14)
    sharper = (lambda q: q / q.sum(axis=1, keepdims=True))(probs**1.5)
    assert abs(estimator(sharper, labels) - before) > 1e-9


@every
def test_class_by_class_or_whole_rows(entry: Entry):
    estimator = known_estimator(entry.estimator)
    assert estimator is not None
    one, other = same_in_every_class()
    lens = estimator.lens_for(tu.Forecasts.from_arrays(*one))
    difference = abs(estimator(*one) - estimator(*other))
    if isinstance(lens, ClassWise):
        assert difference < 1e-12
    # Scores are sums over classes, a tree may make one cell, and blocks are of rows in order.
    elif lens == Canonical() and not (
        isinstance(estimator, ProperScore | tu.BinnedError) or entry.ordered
    ):
        assert difference > 1e-6


def test_the_lens_of_named_metrics_is_reported_in_words():
    probs, labels = model()
    names = ["skce", "psce", "brier", "log_loss", "ece", "sce"]
    found = tu.evaluate(
        probs, labels, metrics=names, n_resamples=39, recalibrate=False, advice=False
    )
    reported = {each.metric: each.lens for each in found.estimates}
    assert {name: reported[name] for name in names} == {
        "skce": "whole distribution",
        "psce": "all classes",
        "brier": "whole distribution",
        "log_loss": "whole distribution",
        "ece": "most probable class",
        "sce": "all classes",
    }


def test_the_cost_guard_follows_the_lens(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(findings, "MOST_CELLS_TESTED", 100)
    found = tu.evaluate(
        *model(), metrics=["psce", "skce"], n_resamples=39, recalibrate=False, advice=False
    )
    untested = {each.metric for each in found.estimates if each.test is None}
    assert "psce" in untested
    assert "skce" not in untested
