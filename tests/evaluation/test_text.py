"""An evaluation as people see it: plain text and HTML."""

from __future__ import annotations

import re
import tracemalloc

import numpy as np
import pytest

import trueup as tu
from trueup.evaluation.text import QUESTIONS, score_rows


def test_text_begins_with_the_verdict_and_stays_narrow(each) -> None:
    text = str(each)
    start = " ".join(text.split("\n\n")[0].split())
    assert start == each.verdict
    assert repr(each) == text
    assert max(map(len, text.splitlines())) <= 110
    assert "Calibration errors\n" in text


def test_html_is_escaped_and_small(each) -> None:
    html = each._repr_html_()
    assert len(html) < 20_000
    allowed = "div|dl|dt|dd|b|p|table|thead|tbody|tr|th|td"
    assert re.sub(rf"</?({allowed})( [^<>]*)?>", "", html).count("<") == 0
    shown = [question for key, question in QUESTIONS.items() if each.answers[key]]
    assert all(question in html for question in shown)


def test_names_are_escaped() -> None:
    rng = np.random.default_rng(0)
    g = np.tile([0.9, 0.1], (200, 1))
    names = ["<script>", "b&c"]
    y = np.array(names)[rng.integers(0, 2, 200)]
    options = {"n_resamples": 99, "recalibrate": False, "advice": False, "metrics": []}
    found = tu.evaluate(g, y, classes=names, **options)
    assert "<script>" in found.verdict
    assert "<script>" not in found._repr_html_()
    assert "&lt;script&gt;" in found._repr_html_()


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_terms_of_the_brier_score_add_up(columns) -> None:
    rng = np.random.default_rng(0)
    g = rng.random(150) if columns == 1 else rng.dirichlet(np.ones(columns), 150)
    y = rng.integers(0, max(2, columns), 150)
    options = {"n_resamples": 99, "recalibrate": False, "advice": False, "metrics": []}
    found = tu.evaluate(g, y, **options)
    _, rows = score_rows(found)
    for row in rows if columns < 3 else rows[:1]:
        value, miscalibration, discrimination, uncertainty = (float(row[j]) for j in (1, 3, 4, 5))
        assert value == pytest.approx(miscalibration - discrimination + uncertainty, abs=3e-4)
    if columns == 3:
        assert list(rows[1][3:]) == ["", "", ""]


def test_peak_memory_is_a_few_times_the_input() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(250_000)
    y = (rng.random(250_000) < p).astype(np.int64)
    options = {"n_resamples": 39, "recalibrate": False, "advice": False}
    tu.evaluate(p[:1000], y[:1000], **options)
    tracemalloc.start()
    tu.evaluate(p, y, **options)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak <= 5 * (p.nbytes + y.nbytes)  # 3 for a million rows: blocks are of a fixed size
