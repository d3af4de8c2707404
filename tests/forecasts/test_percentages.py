"""Percentages as text: read as fractions, and what they came from is noted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import trueup as tu

TEXTS = ["85%", "20" + " %", "12.5%", "99%"] * 10
FRACTIONS = [0.85, 0.2, 0.125, 0.99] * 10
LABELS = [1, 0, 0, 1] * 10
NOTE = "the predictions were percentages and were divided by 100"


def test_percentages_give_the_numbers_of_fractions() -> None:
    assert tu.ece(TEXTS, LABELS) == tu.ece(FRACTIONS, LABELS)
    assert tu.ece([["85%", "15%"], ["20%", "80%"]], [0, 1]) == pytest.approx(0.175)


@pytest.mark.parametrize("metric", [tu.ece, tu.brier, tu.ks_error], ids=["bins", "mean", "drawn"])
def test_results_note_it(metric: Any) -> None:
    assert metric.estimator().measure(TEXTS, LABELS).notes["input"] == NOTE
    assert tu.interval(metric, TEXTS, LABELS, n_resamples=39).notes["input"] == NOTE
    assert "input" not in tu.interval(metric, FRACTIONS, LABELS, n_resamples=39).notes


def test_an_evaluation_notes_it() -> None:
    result = tu.evaluate(TEXTS, LABELS, recalibrate=False, advice=False, n_resamples=39)
    assert NOTE in result.notes
    assert f"Note: {NOTE}." in str(result)


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        (["10%", "0.2"], "must hold percentages such as '85%' in every row or in none; got '0.2'"),
        (["10%", 0.2], "must hold percentages such as '85%' in every row or in none; got 0.2"),
        (["10%", "Bay"], "must hold numbers or percentages; got 'Bay' in row 1"),
        (["10%", "120%"], "must hold percentages from 0% to 100%; got '120%' in row 1"),
        (["10%", "-5%"], "must hold percentages from 0% to 100%; got '-5%' in row 1"),
    ],
)
def test_what_is_no_percentage(entries: list[object], words: str) -> None:
    with pytest.raises(tu.InputError) as caught:
        tu.ece(np.array(entries, object), [0, 1])
    assert words in str(caught.value)


def test_a_frame_with_other_columns_is_not_taken_for_percentages() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": ["P1", "P2"], "risk": ["3%", "80%"], "died": [0, 1]})
    with pytest.raises(tu.InputError, match=r"got 'P1' in row 0\. Hint: select the columns of"):
        tu.evaluate(frame, frame["died"])
