"""Text of an evaluation: plain for a terminal, HTML for a notebook."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Protocol

from trueup.evaluation.sections import Finding, Frequency, Overview, Recalibration, Score
from trueup.evaluation.verdict.advice import OUT_OF_FOLD_LEVEL
from trueup.evaluation.verdict.frequencies import OF_GROUP
from trueup.evaluation.verdict.wording import percent
from trueup.forecasts.group_names import grid_of, have_order
from trueup.inference import GroupErrors
from trueup.notebook import html_table, is_number, text_table
from trueup.readable import estimate_cell, minus, pvalue_cell
from trueup.results import CalibrationTestResult
from trueup.tables import ResultTable

Rows = tuple[Sequence[str], list[Sequence[str]]]
"""Names of columns, and rows of text."""
WIDTH = 88
MOST_IN_TABLE = 31
"""Groups that are printed, in a table or as sentences: the days of a month."""
QUESTIONS = {
    "calibrated": "Is it calibrated?",
    "magnitude": "How large is the error, and in which direction?",
    "frequency": "How many outcomes does that mean?",
    "location": "Where?",
    "precision": "How precise is the estimate?",
    "recommendation": "What should I do?",
    "expected_gain": "What would recalibration gain?",
}
DETAILS = ("precision", "expected_gain")
"""Answers that the verdict leaves out."""


class _Evaluation(Protocol):
    """The parts of an evaluation that its text uses."""

    @property
    def verdict(self) -> str: ...
    @property
    def answers(self) -> Mapping[str, str]: ...
    @property
    def status(self) -> str: ...
    @property
    def pvalue(self) -> float | None: ...
    @property
    def overview(self) -> Overview: ...
    @property
    def test(self) -> CalibrationTestResult | None: ...
    @property
    def tests(self) -> Mapping[str, CalibrationTestResult]: ...
    @property
    def adjusted_pvalues(self) -> Mapping[str, float]: ...
    @property
    def clinical(self) -> ResultTable | None: ...
    @property
    def frequencies(self) -> Sequence[Frequency]: ...
    @property
    def reproduce(self) -> str: ...
    @property
    def estimates(self) -> Sequence[Finding]: ...
    @property
    def scores(self) -> Sequence[Score]: ...
    @property
    def recalibration(self) -> Recalibration | None: ...
    @property
    def models(self) -> Mapping[str, _Evaluation]: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def internal_errors(self) -> Mapping[str, str]: ...
    @property
    def groups(self) -> GroupErrors | None: ...
    @property
    def notes(self) -> Sequence[str]: ...


def plain_text(evaluation: _Evaluation) -> str:
    """Verdict, then tables."""
    details = " ".join(evaluation.answers[name] for name in DETAILS if evaluation.answers[name])
    parts = [_filled(each) for each in (evaluation.verdict, details) if each]
    parts += [f"{title}\n{_aligned(rows)}" for title, rows in tables_of(evaluation).items()]
    parts += [_filled(each) for each in reports_of(evaluation)]
    parts.append(_filled(f"Reproduce: {evaluation.reproduce}"))
    return "\n\n".join(parts)


def _filled(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_on_hyphens=False)


def reports_of(evaluation: _Evaluation) -> list[str]:
    """Return as sentences the notes on the input and the bugs, each of them once."""
    found = dict.fromkeys(evaluation.internal_errors.values())
    notes = [f"Note: {each}." for each in evaluation.notes]
    return [*notes, *(f"{each[0].upper()}{each[1:]}." for each in found)]


def html(evaluation: _Evaluation) -> str:
    """Return verdict and tables for a notebook with a light or dark theme."""
    answers = "".join(
        f"<dt><b>{escape(QUESTIONS[key])}</b></dt><dd>{escape(answer)}</dd>"
        for key, answer in evaluation.answers.items()
        if answer
    )
    shown = "".join(
        html_table(title, names, rows) for title, (names, rows) in tables_of(evaluation).items()
    )
    shown += "".join(f"<p>{escape(each)}</p>" for each in reports_of(evaluation))
    shown += f"<p>Reproduce: {escape(evaluation.reproduce)}</p>"
    return f'<div class="trueup" style="max-width:60em"><dl>{answers}</dl>{shown}</div>'


def tables_of(evaluation: _Evaluation) -> dict[str, Rows]:
    """Return the tables to print, by title."""
    found = {
        "Calibration errors": estimate_rows(evaluation),
        "Further tests": test_rows(evaluation),
        "Clinical measures": clinical_rows(evaluation),
        "Groups": group_table_rows(evaluation),
        "ECE of groups": group_grid_rows(evaluation),
        "Natural frequencies": group_rows(evaluation),
        "Proper scores": score_rows(evaluation),
        "Recalibration (out-of-fold)": recalibration_rows(evaluation),
        "Models": model_rows(evaluation),
    }
    return {title: rows for title, rows in found.items() if rows[1]}


def estimate_rows(evaluation: _Evaluation) -> Rows:
    """Return every metric with its interval and p-value."""
    rows: list[Sequence[str]] = [
        (
            finding.metric,
            finding.lens,
            _estimate(finding.value, finding.interval.low, finding.interval.high),
            _ends(finding.interval.low, finding.interval.high),
            finding.notes.get("internal_error", "")
            if finding.pvalue is None
            else pvalue_cell(finding.pvalue),
            _adjusted(evaluation, finding.metric),
        )
        for finding in evaluation.estimates
    ]
    names = ("metric", "target", "estimate", f"{_level(evaluation)} interval", "p-value", "Holm")
    return names, rows


def test_rows(evaluation: _Evaluation) -> Rows:
    """Return tests that belong to no metric, with adjusted p-values except for the decisive one."""
    rows: list[Sequence[str]] = []
    if evaluation.test is not None:
        rows.append(("omnibus", pvalue_cell(evaluation.test.pvalue), "decides"))
    for name, test in evaluation.tests.items():
        if "internal_error" not in test.notes:
            rows.append((name, pvalue_cell(test.pvalue), _adjusted(evaluation, name)))
    return ("test", "p-value", "Holm"), rows


def clinical_rows(evaluation: _Evaluation) -> Rows:
    """Return O:E ratio, calibration-in-the-large and slope, for all rows and for groups."""
    measures = {"O:E": "oe", "in the large": "in_the_large", "slope": "slope"}
    names = ("rows", "n", *measures, "joint p-value")
    table = evaluation.clinical
    if table is None:
        return names, []
    rows: list[Sequence[str]] = []
    for k in range(min(len(table), 1 + MOST_IN_TABLE)):  # the first row is of all rows
        row = {name: table[name][k] for name in table}
        cells = []
        for name in measures.values():
            value, low, high = (float(row[f"{name}{end}"]) for end in ("", "_low", "_high"))
            ends = f" {_ends(low, high, 3)}" if math.isfinite(low + high) else ""
            cells.append(f"{_fixed(value, 3)}{ends}" if math.isfinite(value) else "")
        joint = float(row["joint_pvalue"])
        tested = pvalue_cell(joint) if math.isfinite(joint) else ""
        rows.append((str(row["group"]), f"{int(row['n']):,}", *cells, tested))
    return names, rows


def group_table_rows(evaluation: _Evaluation) -> Rows:
    """Return groups in order, or the worst of many, with gap, interval, ECE and p-value."""
    found = evaluation.groups
    level = f"{_level(evaluation)} interval"
    names = ("group", "n", "predicted", "observed", "gap", level, "p (gap)", "ECE", "p (Holm)")
    if found is None or "ece" not in found.table:  # or written by an earlier version
        return names, []
    table, rows = found.table, list[Sequence[str]]()
    for k in groups_shown(table):
        each = {name: table[name][k] for name in table}
        gap, low, high = (minus(f"{each[name]:+.4f}") for name in ("gap", "gap_low", "gap_high"))
        rows.append(
            (
                str(each["group"]),
                f"{int(each['n']):,}",
                f"{each['mean_score']:.4f}",
                f"{each['mean_label']:.4f}",
                gap,
                f"[{low}, {high}]",
                pvalue_cell(each["gap_pvalue"], 2),
                f"{each['ece']:.4f}",
                pvalue_cell(each["adjusted_pvalue"], 2),
            )
        )
    return names, rows


def group_grid_rows(evaluation: _Evaluation) -> Rows:
    """Return the ECE of groups that two columns or two parts of a name define, as a grid."""
    found = evaluation.groups
    if found is None or "ece" not in found.table:
        return (), []
    by_name = {} if found.columns is None else found.columns.columns()
    grid = grid_of(found.table["group"].tolist(), [each.tolist() for each in by_name.values()])
    if grid is None or len(grid.rows) > MOST_IN_TABLE:
        return (), []
    cells = {
        place: f"{ece:.4f}" for place, ece in zip(grid.places, found.table["ece"], strict=True)
    }
    names = list(by_name)[:: -1 if grid.turned else 1]
    corner = " \\ ".join(names) if len(names) == 2 else ""
    rows: list[Sequence[str]] = [
        (str(row), *(cells.get((row, column), "") for column in grid.columns)) for row in grid.rows
    ]
    return (corner, *map(str, grid.columns)), rows


def groups_shown(table: ResultTable) -> list[int]:
    """Return the rows of the groups to print: all in order, or the worst if there are many.

    The worst come first, unless groups have a natural order, such as dates.
    """
    if len(table) <= MOST_IN_TABLE:
        return list(range(len(table)))
    errors = [-math.inf if math.isnan(error) else error for error in table["error"].tolist()]
    worst = sorted(range(len(table)), key=lambda k: -errors[k])[:MOST_IN_TABLE]
    return sorted(worst) if have_order(table["group"].tolist()) else worst


def group_rows(evaluation: _Evaluation) -> Rows:
    """Return natural frequencies of groups, each as a sentence."""
    found = [each.text for each in evaluation.frequencies if each.rows.startswith(OF_GROUP)]
    shown: list[Sequence[str]] = [(each,) for each in found[:MOST_IN_TABLE]]
    if len(found) > MOST_IN_TABLE:
        shown.append((f"… and {len(found) - MOST_IN_TABLE:,} more groups",))
    return ("among rows of each group",), shown


def score_rows(evaluation: _Evaluation) -> Rows:
    """Return proper scores and their terms."""
    interval = f"{_level(evaluation)} interval"
    names = ("score", "value", interval, "miscalibration", "discrimination", "uncertainty")
    rows: list[Sequence[str]] = []
    for score in evaluation.scores:
        ends, parts = score.interval, score.decomposition
        terms = ["", "", ""]
        if parts is not None:
            found = (parts.miscalibration, parts.discrimination, parts.uncertainty)
            terms = [_fixed(term) for term in found]
        high = f"{ends.high:.4f}" if math.isfinite(ends.high) else "∞"
        cut = ends.notes.get("clipped", 0)  # rows of an infinite loss
        zeros = f"{cut:,} zero probabilit{'y' if cut == 1 else 'ies'} clipped"
        name = f"{score.name} ({zeros})" if cut else score.name
        row = (name, f"{ends.estimate:.4f}", f"[{ends.low:.4f}, {high}]", *terms)
        rows.append(row)
    return names, rows


def recalibration_rows(evaluation: _Evaluation) -> Rows:
    """Return scores and errors before and after the recommended recalibration."""
    found = evaluation.recalibration
    names = ("", "log loss", "calibration error", f"{percent(OUT_OF_FOLD_LEVEL)} interval")
    if found is None:
        return names, []
    lines = [("original", found.before)]
    if found.recommended != "IdentityCalibration":
        lines.append((found.recommended, found.after))
    rows: list[Sequence[str]] = [
        (
            name,
            f"{line['log_loss']:.4f} ± {line['log_loss_se']:.4f}",
            _estimate(line["error"], line["error_low"], line["error_high"]),
            _ends(line["error_low"], line["error_high"]),
        )
        for name, line in lines
    ]
    return names, rows


def model_rows(evaluation: _Evaluation) -> Rows:
    """Every model's headline."""
    names = ("model", "status", "error", f"{_level(evaluation)} interval", "p-value", "log loss")
    rows: list[Sequence[str]] = []
    for name, model in evaluation.models.items():
        first = model.estimates[0]
        pvalue = "" if model.pvalue is None else pvalue_cell(model.pvalue)
        ends = _ends(first.interval.low, first.interval.high)
        loss = next(s.interval.estimate for s in model.scores if s.name == "log_loss")
        error = _estimate(first.value, first.interval.low, first.interval.high)
        rows.append((name, model.status, error, ends, pvalue, f"{loss:.4f}"))
    return names, rows


def _estimate(value: float, low: float, high: float) -> str:
    return estimate_cell(_fixed(value), value, low, high)


def _ends(low: float, high: float, digits: int = 4) -> str:
    return f"[{_fixed(low, digits)}, {_fixed(high, digits)}]"


def _fixed(value: float, digits: int = 4) -> str:
    return minus(f"{value:.{digits}f}")


def _level(evaluation: _Evaluation) -> str:
    return percent(evaluation.settings.get("confidence_level", 0.95))


def _adjusted(evaluation: _Evaluation, name: str) -> str:
    found = evaluation.adjusted_pvalues.get(name)
    return "" if found is None else pvalue_cell(found)


def _aligned(table: Rows) -> str:
    names, rows = table
    if len(names) == 1:  # sentences
        lines = (line for (line,) in [names, *rows])
        options: Any = {"initial_indent": "  ", "subsequent_indent": "    "}
        return "\n".join(textwrap.fill(line, WIDTH, **options) for line in lines)
    right = [any(is_number(line[j]) for line in rows) for j in range(len(names))]
    return "\n".join(f"  {line}".rstrip() for line in text_table(names, rows, right))
