"""Every kind of figure in the sizes of a paper: nothing overlaps, nothing is cropped."""

from __future__ import annotations

import numpy as np
import pytest

import trueup as tu
from support.drawn import cropped, overlapping, ticks_that_touch
from trueup.errors import InputError
from trueup.evaluation.on_demand import OnDemand
from trueup.evaluation.settings import Settings
from trueup.plotting.overview import figure_of
from trueup.plotting.registry import FIGURES, KINDS, OVERVIEW

SIZES = [(3.3, 2.6), (5.5, 2.6)]
N = 1200


def rare() -> tu.Forecasts:
    """About 3% outcomes, on 14 days, with features."""
    rng = np.random.default_rng(0)
    logit = rng.normal(-4.0, 1.1, N)
    labels = rng.random(N) < 1 / (1 + np.exp(0.61 - 0.76 * logit))
    days = [f"2024-01-{day:02d}" for day in rng.integers(1, 15, N)]
    probs = 1 / (1 + np.exp(-logit))
    return tu.Forecasts.from_arrays(
        probs, labels, groups=np.array(days), features=rng.normal(size=(N, 2))
    )


def classes(n_classes: int) -> tu.Forecasts:
    rng = np.random.default_rng(1)
    logits = 3 * rng.normal(size=(N, n_classes))
    odds = np.exp(logits / 1.5)
    true = odds / odds.sum(axis=1, keepdims=True)
    labels = (rng.random((N, 1)) > true.cumsum(axis=1)).sum(axis=1).clip(0, n_classes - 1)
    return tu.Forecasts.from_arrays(logits, labels, logits=True)


OF_CLASSES = ("reliability", "errors", "classes", "psce", "recalibration", "simplex")


@pytest.fixture(
    scope="module", params=[rare, lambda: classes(3), lambda: classes(4)], ids=["rare", "3", "4"]
)
def parts(request) -> OnDemand:
    return OnDemand(request.param(), Settings.checked(n_resamples=99))


@pytest.mark.parametrize("size", SIZES)
def test_no_kind_has_overlapping_or_cropped_text(parts, size) -> None:
    drawn = set()
    for kind in KINDS:
        possible = any(entry.kind == kind and entry.possible(parts) for entry in FIGURES)
        chosen = parts.forecasts.n_classes == 2 or kind in OF_CLASSES
        if not possible or not chosen:
            continue
        figure = figure_of(parts, kind, size=size, title="Model A")
        assert overlapping(figure) == [], kind
        assert cropped(figure) == [], kind
        assert ticks_that_touch(figure) == [], kind
        drawn.add(kind)
    assert len(drawn) >= (17 if parts.forecasts.n_classes == 2 else len(OF_CLASSES))


def test_texts_that_were_not_refitted_overlap(monkeypatch) -> None:
    """Without the refit these figures fail the test above: it can find what it looks for."""
    monkeypatch.setattr("trueup.plotting.overview.fit_small", lambda axes: None)
    parts = OnDemand(rare(), Settings.checked(n_resamples=99))
    faults = {}
    for kind in ("rewards", "groups", "brier"):
        figure = figure_of(parts, kind, size=(3.3, 2.6), title="Model A")
        faults[kind] = overlapping(figure) + cropped(figure) + ticks_that_touch(figure)
    assert all(faults.values())


def test_an_overview_has_a_smallest_size() -> None:
    rng = np.random.default_rng(0)
    found = tu.evaluate(rng.random(100), rng.integers(0, 2, 100), recalibrate=False, advice=False)
    with pytest.raises(InputError, match=r"`size` must be at least 9 by \d+ inches"):
        found.plot(size=(3.3, 2.6))
    figure = found.plot(OVERVIEW, size=(9.0, 9.0), name="file.csv")
    assert overlapping(figure) == []
    assert cropped(figure) == []
