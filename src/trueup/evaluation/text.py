"""An evaluation for people: plain text for a terminal, HTML for a notebook."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Protocol

from trueup.evaluation.sections import Finding, Overview, Recalibration, Score
from trueup.notebook import html_table, is_number, text_table

Rows = tuple[Sequence[str], list[Sequence[str]]]
"""Names of columns, and rows of text."""
WIDTH = 88
QUESTIONS = {
    "calibrated": "Is it calibrated?",
    "magnitude": "How far off, and in which direction?",
    "location": "Where?",
    "precision": "How sure are we?",
    "recommendation": "What to do?",
    "expected_gain": "What would be gained?",
}


class _Evaluation(Protocol):
    """What is read of an evaluation."""

    @property
    def verdict(self) -> str: ...
    @property
    def answers(self) -> Mapping[str, str]: ...
    @property
    def overview(self) -> Overview: ...
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


def plain_text(evaluation: _Evaluation) -> str:
    """Verdict, then tables."""
    parts = [textwrap.fill(evaluation.verdict, WIDTH)]
    parts += [f"{title}\n{_aligned(rows)}" for title, rows in tables_of(evaluation).items()]
    parts += [textwrap.fill(each, WIDTH) for each in reports_of(evaluation)]
    return "\n\n".join(parts)


def reports_of(evaluation: _Evaluation) -> list[str]:
    """Return each bug to report once, as a sentence."""
    found = dict.fromkeys(evaluation.internal_errors.values())
    return [f"{each[0].upper()}{each[1:]}." for each in found]


def html(evaluation: _Evaluation) -> str:
    """Verdict and tables as they should look in a notebook, dark or light."""
    answers = "".join(
        f"<dt><b>{escape(QUESTIONS[key])}</b></dt><dd>{escape(answer)}</dd>"
        for key, answer in evaluation.answers.items()
        if answer
    )
    shown = "".join(
        html_table(title, names, rows) for title, (names, rows) in tables_of(evaluation).items()
    )
    shown += "".join(f"<p>{escape(each)}</p>" for each in reports_of(evaluation))
    return f'<div class="trueup" style="max-width:60em"><dl>{answers}</dl>{shown}</div>'


def tables_of(evaluation: _Evaluation) -> dict[str, Rows]:
    """Return the tables a person looks at, by title."""
    found = {
        "Calibration errors": estimate_rows(evaluation),
        "Proper scores": score_rows(evaluation),
        "Recalibration, out of fold": recalibration_rows(evaluation),
        "Models": model_rows(evaluation),
    }
    return {title: rows for title, rows in found.items() if rows[1]}


def estimate_rows(evaluation: _Evaluation) -> Rows:
    """Every metric with its interval and p-value."""
    rows: list[Sequence[str]] = [
        (
            finding.metric,
            finding.lens,
            f"{finding.value:.4f}",
            f"{finding.interval.low:.4f} … {finding.interval.high:.4f}",
            finding.notes.get("internal_error", "")
            if finding.pvalue is None
            else f"{finding.pvalue:.3g}",
        )
        for finding in evaluation.estimates
    ]
    level = evaluation.settings.get("confidence_level", 0.95)
    return ("metric", "looks at", "estimate", f"{100 * level:g} % interval", "p-value"), rows


def score_rows(evaluation: _Evaluation) -> Rows:
    """Proper scores and their terms."""
    names = ("score", "value", "interval", "miscalibration", "discrimination", "uncertainty")
    rows: list[Sequence[str]] = []
    for score in evaluation.scores:
        ends, parts = score.interval, score.decomposition
        terms = ["", "", ""]
        if parts is not None:
            found = (parts.miscalibration, parts.discrimination, parts.uncertainty)
            terms = [f"{round(term, 4) + 0.0:.4f}" for term in found]  # no minus zero
        high = f"{ends.high:.4f}" if math.isfinite(ends.high) else "∞"
        cut = ends.notes.get("clipped", 0)  # rows of an infinite loss
        name = f"{score.name} ({cut:,} of probability 0 cut off)" if cut else score.name
        row = (name, f"{ends.estimate:.4f}", f"{ends.low:.4f} … {high}", *terms)
        rows.append(row)
    return names, rows


def recalibration_rows(evaluation: _Evaluation) -> Rows:
    """Before and after the recommended recalibration."""
    found = evaluation.recalibration
    names = ("", "log loss", "calibration error", "interval")
    if found is None:
        return names, []
    lines = [("as they are", found.before)]
    if found.recommended != "IdentityCalibration":
        lines.append((found.recommended, found.after))
    rows: list[Sequence[str]] = [
        (
            name,
            f"{line['log_loss']:.4f} ± {line['log_loss_se']:.4f}",
            f"{line['error']:.4f}",
            f"{line['error_low']:.4f} … {line['error_high']:.4f}",
        )
        for name, line in lines
    ]
    return names, rows


def model_rows(evaluation: _Evaluation) -> Rows:
    """Every model's headline."""
    names = ("model", "error", "interval", "p-value", "log loss")
    rows: list[Sequence[str]] = []
    for name, model in evaluation.models.items():
        first = model.estimates[0]
        pvalue = "" if first.pvalue is None else f"{first.pvalue:.3g}"
        ends = f"{first.interval.low:.4f} … {first.interval.high:.4f}"
        loss = next(s.interval.estimate for s in model.scores if s.name == "log_loss")
        rows.append((name, f"{first.value:.4f}", ends, pvalue, f"{loss:.4f}"))
    return names, rows


def _aligned(table: Rows) -> str:
    names, rows = table
    right = [any(is_number(line[j]) for line in rows) for j in range(len(names))]
    return "\n".join(f"  {line}".rstrip() for line in text_table(names, rows, right))
