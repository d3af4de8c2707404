"""An evaluation as people see it: plain text and HTML."""

from __future__ import annotations

import re
import tracemalloc

import numpy as np
import pytest

import trueup as tu
from trueup.evaluation.text import QUESTIONS, clinical_rows, group_rows, score_rows


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


QUICK: dict[str, object] = {"recalibrate": False, "advice": False, "n_resamples": 39}


def test_pvalues_without_known_digits_are_below_a_bound() -> None:
    probs = np.tile(np.linspace(0.02, 0.98, 50), 200)
    text = str(tu.evaluate(probs, np.arange(10_000) % 2, **QUICK))
    assert "< 1e-300" in text
    assert not re.search(r"\de-30[0-9]", text.replace("< 1e-300", ""))


def test_predicted_classes_are_noted_and_certain_errors_are_no_noise() -> None:
    hard = np.repeat([0.0, 1.0], 100)
    labels = np.r_[np.arange(100) % 4 == 0, np.arange(100) % 2 == 0]
    result = tu.evaluate(hard, labels, **QUICK)
    assert "Note: all predictions are 0 or 1: these look like predicted classes" in str(result)
    assert "mean prediction 1.000, observed rate 0.500" in result.verdict
    assert "sampling noise" not in result.verdict
    assert tu.evaluate(np.r_[hard, 0.5], np.r_[labels, True], **QUICK).notes == ()


def test_classes_without_a_row_are_noted() -> None:
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(9), 60)
    labels = np.arange(60) % 9
    assert tu.evaluate(probs, labels, **QUICK).notes == ()
    assert tu.evaluate(probs, labels % 8, **QUICK).notes == ("no row has the label 8",)
    names = list("abcdefghi")
    named = tu.evaluate(probs, np.array(names)[labels % 2], classes=names, **QUICK)
    assert named.notes == ("no row has the labels c, d, e, f, g and 2 more",)


def of_groups(many: int) -> tu.Evaluation:
    rng = np.random.default_rng(0)
    p = rng.random(20 * many)
    groups = np.repeat([f"g{k}" for k in range(many)], 20)
    return tu.evaluate(p, rng.random(len(p)) < p, groups=groups, metrics=[], **QUICK)


def test_as_many_groups_get_a_sentence_as_a_table_has() -> None:
    found = of_groups(33)
    _, rows = group_rows(found)
    assert len(rows) == 32
    assert rows[-1] == ("… and 2 more groups",)
    _, rows = group_rows(of_groups(12))
    assert len(rows) == 12
    assert rows[-1][0].startswith("Among 1,000 rows of group g11, ")


def test_clinical_measures_have_three_decimals_and_no_minus_zero() -> None:
    """Five pairs of predictions that add up to their outcomes: calibrated in the large."""
    result = tu.evaluate(np.tile([0.3, 0.7], 50), np.arange(100) % 2, metrics=[], **QUICK)
    table = result.clinical
    table.data["in_the_large"][:] = -1e-9
    (row,) = clinical_rows(result)[1]
    assert re.fullmatch(r"0\.000 \[−\d\.\d{3}, \d\.\d{3}\]", row[3])
    assert re.fullmatch(r"\d\.\d{3} \[\d\.\d{3}, \d\.\d{3}\]", row[2])
    assert not re.search(r"-\d\.\d", str(result))
