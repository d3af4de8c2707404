"""Choices: recalibrators side by side, and Brier score against certified bound."""

from __future__ import annotations

import numpy as np
import pytest

import trueup as tu
from support.drawn import cropped, points_of
from trueup.errors import InputError
from trueup.plotting.recalibrations import plot_recalibrations
from trueup.plotting.trade_off import plot_trade_off
from trueup.tables import ResultTable

RANKING = ResultTable(
    {
        "candidate": np.array(["Best", "Chosen", "None", "Impossible"]),
        "simplicity": np.array([3, 1, 0, 2]),
        "score": np.array([0.50, 0.51, 0.60, 9.0]),
        "score_se": np.array([0.05, 0.05, 0.06, 3.0]),
        "difference": np.array([0.0, 0.01, 0.10, 8.5]),
        "difference_se": np.array([0.0, 0.02, 0.03, 3.0]),
        "error": np.array([0.01, 0.00, 0.08, 0.02]),
        "error_low": np.array([0.0, 0.0, 0.06, 0.0]),
        "error_high": np.array([0.02, 0.03, 0.1, np.nan]),
        "chosen": np.array([False, True, False, False]),
    }
)


def dots(ax):
    """Places of all markers, from the top, and the places of the filled ones."""
    drawn = [points_of(line) for line in ax.lines if line.get_marker() in ("o", "D")]
    filled = [points_of(line) for line in ax.lines if line.get_marker() == "D"]
    everything = np.concatenate(drawn)
    return everything[np.argsort(everything[:, 1])], np.concatenate(filled)


def test_candidates_stand_at_their_errors() -> None:
    ax = plot_recalibrations(RANKING, measure="error")
    places, chosen = dots(ax)
    assert np.array_equal(places, np.column_stack([RANKING["error"], np.arange(4)]))
    assert chosen.tolist() == [[0.0, 1]]
    (before,) = (line for line in ax.lines if line.get_label() == "no recalibration")
    assert set(before.get_xdata()) == {0.08}
    assert [label.get_text() for label in ax.get_yticklabels()] == list(RANKING["candidate"])
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the best on top
    bars = [bar for collection in ax.collections for bar in collection.get_segments()]
    ends = {tuple(bar[:, 0].round(9)) for bar in bars if len(bar) == 2}
    assert {(0.0, 0.02), (0.0, 0.03), (0.06, 0.1)} <= ends


def test_what_is_far_is_written_at_the_edge() -> None:
    ax = plot_recalibrations(RANKING)
    places, _ = dots(ax)
    assert np.array_equal(places, [[0, 0], [0.01, 1], [0.1, 2]])
    assert [text.get_text() for text in ax.texts] == ["8.5 ▸"]
    assert ax.get_xlim()[1] < 1
    assert cropped(ax.figure) == []


def test_a_real_choice_and_a_single_candidate() -> None:
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(3), 200)
    labels = np.array([rng.choice(3, p=row) for row in probs])
    table = tu.AutoCalibration().fit(probs, labels).table_
    for measure in ("difference", "score", "error", "marginal_error"):
        ax = plot_recalibrations(table, measure=measure)
        assert cropped(ax.figure) == []
    alone = tu.AutoCalibration([tu.IdentityCalibration()]).fit(probs, labels).table_
    assert len(dots(plot_recalibrations(alone))[0]) == 1
    two = tu.AutoCalibration().fit(probs[:, 1], labels == 1).table_
    with pytest.raises(InputError, match="marginal_error"):
        plot_recalibrations(two, measure="marginal_error")


CURVE = ResultTable(
    {
        "n_bins": np.array([10, 20, 30, 40, 50]),
        "brier": np.array([0.20, 0.18, 0.19, 0.17, np.nan]),
        "upper_bound": np.array([0.01, 0.02, 0.03, 0.04, 0.05]),
    }
)


def test_trade_off_joins_what_nothing_beats() -> None:
    ax = plot_trade_off(CURVE)
    every, front = ax.lines
    assert np.array_equal(every.get_xdata(), CURVE["upper_bound"])
    assert np.array_equal(every.get_ydata(), CURVE["brier"], equal_nan=True)
    assert points_of(front).tolist() == [[0.01, 0.20], [0.02, 0.18], [0.04, 0.17]]
    assert [text.get_text() for text in ax.texts] == ["10 bins", "20 bins", "40 bins"]
    assert [tuple(text.xy) for text in ax.texts] == [tuple(p) for p in points_of(front)]


def test_labels_of_a_trade_off_do_not_lie_on_each_other() -> None:
    near = ResultTable(
        {
            "n_bins": np.arange(10, 40),
            "brier": 0.2 - np.arange(30) * 1e-6,
            "upper_bound": 0.1 + np.arange(30) * 1e-6,
        }
    )
    ax = plot_trade_off({"near": near, "far": CURVE})
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    pairs = [(a, b) for i, a in enumerate(boxes) for b in boxes[:i]]
    assert not any(a.overlaps(b) for a, b in pairs)
    assert cropped(ax.figure) == []


def test_trade_off_of_real_bins_and_of_one() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(500)
    table = tu.inference.trade_off(p, rng.random(500) < p, n_bins=(3, 9), rng=0)
    assert np.array_equal(plot_trade_off(table).lines[0].get_ydata(), table["brier"])
    sure = tu.inference.trade_off(np.ones(20), np.ones(20), n_bins=(5,), rng=0)
    assert cropped(plot_trade_off(sure).figure) == []


def test_the_chosen_one_is_drawn_however_far_it_is() -> None:
    chosen = np.array([False, False, False, True])
    ax = plot_recalibrations(ResultTable(RANKING.data | {"chosen": chosen}), score="log loss")
    assert dots(ax)[1].tolist() == [[8.5, 3]]
    assert len(ax.texts) == 0
    assert ax.get_xlabel() == "log loss − lowest log loss (± 1 SE)"
