"""Every recalibrator notes which classes its labels do not contain, once and by their names."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import GaussianNB

import trueup as tu
from trueup.recalibrate.files.encoding import recalibrators

WRAPPERS = {"OneVsRestCalibration", "TopLabelCalibration", "GroupwiseCalibration"}
NAMES = sorted(set(recalibrators()) - {"LocalCalibration"})
MISSING = "never occur"
ONLY = "the labels contain only class"


def made(name: str) -> Any:
    kind = recalibrators()[name]
    if name in WRAPPERS:
        return kind(tu.PlattScaling())
    if name == "AutoCalibration":
        return kind([tu.IdentityCalibration(), tu.PlattScaling()])
    return kind()


def notes_of(model: Any, X: Any, y: Any, **beside: Any) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = clone(model).fit(X, y, **beside).notes_
    return [note for note in found if MISSING in note or ONLY in note or "occurs" in note]


@pytest.mark.parametrize("name", NAMES)
def test_one_class_only_and_classes_that_never_occur(name: str) -> None:
    rng = np.random.default_rng(0)
    p, g = rng.random(60), rng.dirichlet(np.ones(5), 120)
    assert notes_of(made(name), p, np.zeros(60, int)) == [f"{ONLY} 0"]
    assert notes_of(made(name), p, np.arange(60) % 2) == []
    named = made(name).set_params(classes=["no", "yes"])
    assert notes_of(named, p, ["yes"] * 60) == [f"{ONLY} yes"]
    assert notes_of(made(name), g, np.full(120, 3)) == [f"{ONLY} 3"]
    assert notes_of(made(name), g, np.arange(120) % 5) == []
    assert notes_of(made(name), g, np.arange(120) % 4) == ["class 4 never occurs in the labels"]
    two = notes_of(made(name), g, np.arange(120) % 2)
    assert two == ["classes 2, 3, 4 never occur in the labels"]


def test_rows_of_weight_0_do_not_count() -> None:
    p, y = np.linspace(0.1, 0.9, 20), np.arange(20) % 2
    assert notes_of(tu.PlattScaling(), p, y, sample_weight=y.astype(float)) == [f"{ONLY} 1"]


def test_local_calibration() -> None:
    rng = np.random.default_rng(1)
    g, x = rng.dirichlet(np.ones(3), 50), rng.normal(size=(50, 2))
    found = tu.LocalCalibration().fit(g, np.arange(50) % 2, features=x).notes_
    assert "class 2 never occurs in the labels" in found


def test_groups_have_notes_of_their_own() -> None:
    rng = np.random.default_rng(2)
    p, groups = rng.random(200), np.repeat(["a", "b"], 100)
    y = np.where(groups == "a", 0, rng.random(200) < p).astype(int)
    model = tu.GroupwiseCalibration(tu.PlattScaling(), min_rows=10)
    assert notes_of(model, p, y, groups=groups) == [f"group a: {ONLY} 0"]


def test_folds_note_it_once() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(90, 2)), np.r_[np.zeros(45, int), np.ones(44, int), 2]
    found = tu.CalibratedModel(GaussianNB(), tu.PlattScaling(), cv=3, ensemble=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        notes = found.fit(X, y).notes_
    assert notes.count("class 2 never occurs in the labels") == 1
