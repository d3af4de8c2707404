"""Rows rebuilt around a new score of their top class."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from trueup.recalibrate.score_forms import Scores


@given(
    st.integers(2, 6).flatmap(lambda k: st.lists(st.floats(-50, 50), min_size=k, max_size=k)),
    st.floats(0, 1),
)
def test_rows_by_definition(logits, new: float) -> None:
    z = np.array([logits])
    p = np.exp(z - z.max()) / np.exp(z - z.max()).sum()
    for scores in (Scores(z, True), Scores(p, False)):
        found_top, score = scores.top_label()
        top = int(scores.values[0].argmax())
        row = scores.rescaled(found_top, np.array([new]))[0]
        assert found_top[0] == top
        assert row[top] == new
        assert row.sum() == pytest.approx(1, abs=1e-12)
        assert row.min() >= 0
        rest = np.delete(p[0], top).sum()
        if rest > 1e-9:
            expected = np.delete(p[0], top) / rest * (1 - new)
            assert np.delete(row, top) == pytest.approx(expected, abs=1e-6)
        one = 1 / (1 + np.exp(-score[0])) if scores.are_logits else score[0]
        assert one == pytest.approx(p[0, top], abs=1e-12)


def test_ties_go_to_the_lowest_class() -> None:
    assert Scores(np.array([[0.4, 0.4, 0.2]]), False).top_label()[0].tolist() == [0]
    assert Scores(np.array([0.5]), False).top_label()[0].tolist() == [0]
    assert Scores(np.array([0.0]), True).top_label()[0].tolist() == [0]


def test_others_that_are_all_zero_get_the_same() -> None:
    scores = Scores(np.array([[0.0, 1.0, 0.0]]), False)
    row = scores.rescaled(np.array([1]), np.array([0.8]))
    assert row[0] == pytest.approx([0.1, 0.8, 0.1])
    logits = Scores(np.array([[0.0, 2000.0, 1000.0]]), True)
    row = logits.rescaled(np.array([1]), np.array([0.8]))
    assert row[0] == pytest.approx([0.0, 0.8, 0.2])  # their ratio is known, however small they are


def test_scores_are_left_alone() -> None:
    values = np.array([[0.2, 0.5, 0.3]])
    Scores(values, False).rescaled(np.array([1]), np.array([0.1]))
    assert values.tolist() == [[0.2, 0.5, 0.3]]
