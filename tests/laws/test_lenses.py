"""The lens that an estimator reports is the lens it uses."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import trueup as tu
from laws.estimators import ESTIMATORS, Entry
from trueup.estimators.base import Estimator, known_estimator
from trueup.evaluation import findings
from trueup.lens import Lens

Data = tuple[np.ndarray, np.ndarray]
DIGITS = 12


def model() -> Data:
    """Rows of three classes, of which one is predicted too often and one too seldom; no ties."""
    rng = np.random.default_rng(5)
    probs = rng.dirichlet([0.7, 1.0, 1.6], 400)
    true = probs**1.5 * [4.0, 1.0, 0.3]
    labels = np.array([rng.choice(3, p=row / row.sum()) for row in true])
    return probs, labels


def with_order_below_the_top() -> tuple[Data, Data]:
    """Change the two lower probabilities of each row, and which of the two is a wrong label."""
    probs, labels = model()
    top = probs.argmax(axis=1)
    first, second = (top + 1) % 3, (top + 2) % 3
    every = np.arange(len(top))
    low = np.sort(probs, axis=1)[:, :2]
    moved = probs.copy()
    moved[every, first], moved[every, second] = low[:, 0], low[:, 1]
    return (probs, labels), (moved, np.where(labels == top, top, second))


def with_sharper_rows() -> tuple[Data, Data]:
    """Change every probability."""
    probs, labels = model()
    return (probs, labels), (probs**1.5 / (probs**1.5).sum(axis=1, keepdims=True), labels)


def with_two_classes_changed() -> tuple[Data, Data]:
    """Move mass from class 1 to class 2; class 0 keeps its probabilities and outcomes."""
    probs, labels = model()
    moved = probs.copy()
    moved[:, 1] *= 0.4
    moved[:, 2] += probs[:, 1] - moved[:, 1]
    return (probs, labels), (moved, np.where(labels == 1, 2, labels))


def with_names_turned() -> tuple[Data, Data]:
    """Rename the classes of every other row: its numbers stay, and belong to other classes."""
    probs, labels = model()
    turned = np.arange(len(labels)) % 2 == 0
    moved = np.where(turned[:, None], np.roll(probs, 1, axis=1), probs)
    return (probs, labels), (moved, np.where(turned, (labels + 1) % 3, labels))


def with_other_rows_of_the_same_classes() -> tuple[Data, Data]:
    """Two datasets with the same pairs of score and outcome in each class, in other rows."""
    rows = np.array(list(permutations((0.5, 0.3, 0.2))))
    even = np.array([np.linalg.det(np.eye(3)[list(order)]) > 0 for order in permutations(range(3))])
    at = {score: np.abs(rows - score).argmin(axis=1) for score in (0.5, 0.3)}
    more = np.repeat(rows[even][:1], 4, axis=0), np.array([0, 0, 1, 2])
    data = []
    for which in (even, ~even):
        labels = np.where(which, at[0.5], at[0.3])
        both = np.concatenate([rows, more[0]]), np.concatenate([labels, more[1]])
        data.append((np.repeat(both[0], 20, axis=0), np.repeat(both[1], 20)))
    return data[0], data[1]


def with_higher_scores() -> tuple[Data, Data]:
    """Change 1-D probabilities."""
    rng = np.random.default_rng(6)
    p = rng.random(400)
    y = (rng.random(400) < p**2).astype(int)
    return (p, y), (np.sqrt(p), y)


CHANGES = (
    with_order_below_the_top,
    with_sharper_rows,
    with_two_classes_changed,
    with_names_turned,
    with_other_rows_of_the_same_classes,
    with_higher_scores,
)
# A score adds up over the entries of all rows, so it sees the entries and not whose they are.
SEEN_AS_ENTRIES = (with_names_turned, with_other_rows_of_the_same_classes)


def seen(lens: Any, data: Data) -> Any:
    """What a lens sees of data, whatever the order of the rows."""
    forecasts = tu.Forecasts.from_arrays(*data)
    if lens.induces == "pairs":
        return in_any_order(lens.problem(forecasts))
    if lens.induces == "family":
        members = lens.members(forecasts)
        return [
            (str(one.name), round(one.share, DIGITS), in_any_order(one.pairs)) for one in members
        ]
    cells = lens.cells(forecasts)
    rows, outcomes = cells.rows(cells.kept).round(DIGITS), cells.outcomes(cells.kept)
    return sorted(zip(rows.tolist(), outcomes.tolist(), strict=True))


def in_any_order(pairs: Any) -> list[tuple[float, float]]:
    return sorted(zip(pairs.p.round(DIGITS).tolist(), pairs.y.tolist(), strict=True))


def is_maximum(estimator: Estimator) -> bool:
    """A maximum moves only with the bin or row that attains it."""
    return getattr(estimator, "norm", 1) == math.inf or getattr(estimator, "quantile", 0) == 1


def breaks_the_law(
    estimator: Estimator, lens: Lens, change: Callable[[], tuple[Data, Data]]
) -> str:
    """Whether the value moves although the lens sees no change, or stays although it sees one."""
    before, after = change()
    same = seen(lens, before) == seen(lens, after)
    moved = abs(estimator(*before) - estimator(*after)) > 1e-9
    if same and moved:
        return "moves with what its lens does not see"
    if same or moved or is_maximum(estimator):
        return ""
    if estimator.score_name and change in SEEN_AS_ENTRIES:
        return ""
    return "ignores what its lens sees"


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("entry", ESTIMATORS.values(), ids=ESTIMATORS)
def test_an_estimator_sees_what_its_lens_sees(entry: Entry, change: Any):
    of_matrix = change is not with_higher_scores
    if not (entry.matrix if of_matrix else entry.binary):
        pytest.skip("not for such probabilities")
    if entry.ordered and change is with_other_rows_of_the_same_classes:
        pytest.skip("takes rows in the order they come")
    estimator = known_estimator(entry.estimator)
    assert estimator is not None
    lens = estimator.lens_for(tu.Forecasts.from_arrays(*change()[0]))
    assert not breaks_the_law(estimator, lens, change)


LIES = {
    "brier": (tu.brier, tu.lens.OneVsRest(0)),
    "log_loss": (tu.log_loss, tu.lens.TopLabel()),
    "psce as one class": (tu.psce, tu.lens.OneVsRest(0)),
    "psce as a bag": (tu.psce, tu.lens.Pooled()),
    "psce in order": (tu.psce, tu.lens.TopK(2)),
    "sce as rows": (tu.sce, tu.lens.Canonical()),
    "skce as one class": (tu.skce, tu.lens.OneVsRest(0)),
    "skce as a bag": (tu.skce, tu.lens.Pooled()),
    "skce in order": (tu.skce, tu.lens.TopK(2)),
    "skce by class": (tu.skce, tu.lens.ClassWise()),
    "ece by class": (tu.ece, tu.lens.TopLabelByClass()),
    "rmsce_sweep by class": (tu.rmsce_sweep, tu.lens.TopLabelByClass()),
    "ece of all classes": (tu.ece, tu.lens.ClassWise()),
}


@pytest.mark.parametrize("name", LIES)
def test_the_law_finds_a_wrong_lens(name: str):
    metric, lens = LIES[name]
    assert any(breaks_the_law(metric.estimator(), lens, change) for change in CHANGES[:-1])


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
