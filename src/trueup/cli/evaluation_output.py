"""An evaluation as readable text: verdict, short answers, tables and suggested next commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trueup.cli.data_options import Files, as_typed, like, typed_files
from trueup.cli.recalibrator_options import METHODS
from trueup.cli.terminal import Screen, number, pvalue, span
from trueup.evaluation.text import (
    Rows,
    clinical_rows,
    estimate_rows,
    group_grid_rows,
    group_rows,
    group_table_rows,
    recalibration_rows,
    score_rows,
    test_rows,
)
from trueup.evaluation.verdict.wording import minus

if TYPE_CHECKING:
    from trueup.evaluation import Evaluation
    from trueup.tables import ResultTable

__all__ = ["next_commands", "show"]

FEW = 5  # classes that are shown, the worst first
HELD_OUT = "held-out"
TERMS = "value = miscalibration − discrimination + uncertainty; recalibration reduces the first."
NOT_FITTED = ("groups", "features", "clusters")  # the recommended recalibrator needs none of them


def show(screen: Screen, found: Evaluation, file: Files, columns: dict[str, Any]) -> None:
    """Write the whole summary."""
    # The verdict is all answers in one paragraph: nothing is printed twice here.
    first, *others = found.answers.items()
    screen.paragraph(f"{first[1]} {others[0][1]}", strong=True)
    screen.answers({name.replace("_", " "): text for name, text in others[1:] if text})
    _show_rows(screen, "Calibration errors", estimate_rows(found), _about(found))
    _show_rows(screen, "Further tests", test_rows(found), "Holm: adjusted for the number of tests.")
    _show_rows(screen, "Clinical measures", clinical_rows(found))
    _show_rows(screen, "Scores: lower is better", score_rows(found), TERMS)
    classes: Any = found.tables.get("classes")
    if classes is not None:
        _show_classes(screen, classes)
    if found.groups is not None:
        _show_groups(screen, found)
        _show_rows(screen, "Natural frequencies", group_rows(found))
    if found.recalibration is not None and _method(found) is not None:
        some, n = found.recalibration.rows, found.overview.n
        note = f"Tried on {some:,} of the {n:,} rows, chosen at random." if some < n else ""
        _show_rows(screen, "Recalibration (out-of-fold)", recalibration_rows(found), note)
    for note in found.notes:
        screen.paragraph(f"Note: {note}.")
    if file != "-":
        lines = next_commands(found, file, columns)
        held_out = like(HELD_OUT, file)
        title = f"What next ({held_out} stands for labeled rows used for no training or test):"
        fits = any(held_out in line for line in lines)
        screen.commands(title if fits else "What next:", lines)
    screen.commands("To reproduce these numbers:", [found.reproduce])


def next_commands(found: Evaluation, file: Files, columns: dict[str, Any]) -> list[str]:
    """Return commands to copy, with the options for columns that the user passed.

    The recalibrator is fitted to held-out rows: on the rows just tested, it would look too good.
    """
    name, held_out = typed_files(file), like(HELD_OUT, file)
    plain = {option: value for option, value in columns.items() if option not in NOT_FITTED}
    typed = as_typed(plain)
    lines = []
    method = _method(found)
    if method is not None:
        probs = as_typed(columns, "probs")
        new, fixed = like("new", file), like("fixed", file)
        lines.append(f"trueup fit {held_out}{typed} --method {method} -o calibrator.json")
        lines.append(f"trueup apply calibrator.json {new}{probs} -o {fixed}")
    elif found.miscalibrated:
        lines.append(f"trueup fit {held_out}{typed} -o calibrator.json")
    elif found.detectable_error is not None and found.detectable_error.error is not None:
        smaller = float(f"{found.detectable_error.error / 2:.1g}")
        lines.append(f"trueup power {name}{typed} --true-error {smaller:g}")
    plot = f"trueup plot {name}{as_typed(columns)}"
    grouped = found.groups is not None
    lines.append(f"{plot} --kind groups -o groups.png" if grouped else f"{plot} -o reliability.png")
    return lines


def _about(found: Evaluation) -> str:
    """Explain the table of errors, and name the metrics that could not be tested."""
    text = "0 is perfect. Holm: p-values adjusted for all tests that do not decide."
    reasons = {each.notes["no_test"] for each in found.estimates if "no_test" in each.notes}
    return " ".join([text, *(f"Not tested: {reason}." for reason in sorted(reasons))])


def _method(found: Evaluation) -> str | None:
    """Return the --method name of the recommended recalibrator, or None if none is recommended."""
    if found.recalibration is None or not found.answers["expected_gain"]:
        return None
    return next((m for m, kind in METHODS.items() if kind == found.recalibration.recommended), None)


def _show_rows(screen: Screen, title: str, table: Rows, note: str = "") -> None:
    names, rows = table
    if rows:
        columns = zip(names, zip(*rows, strict=True), strict=True)
        screen.table(title, {name: list(column) for name, column in columns}, note)


def _show_groups(screen: Screen, found: Evaluation) -> None:
    """Write the table of all groups, or of the worst if there are too many."""
    assert found.groups is not None
    many, rows = len(found.groups.table), group_table_rows(found)
    shown = len(rows[1])
    title = f"All {many} groups" if shown == many else f"The {shown} worst of {many} groups"
    note = f"p (gap) tests the mean alone; p (Holm) tests the error, adjusted for {many} groups."
    note += " -o groups.csv writes all groups." if shown < many else ""
    _show_rows(screen, title, rows, note)
    _show_rows(screen, "ECE of groups", group_grid_rows(found))


def _show_classes(screen: Screen, columns: ResultTable) -> None:
    """Write the table of the classes with the largest errors."""
    errors = np.nan_to_num(columns["error"].astype(float), nan=-1.0)
    worst = np.argsort(-errors, kind="stable")[:FEW]
    few = {name: columns[name][worst].tolist() for name in columns}
    table = {
        "class": [str(name) for name in few["class"]],
        "share": [f"{100 * share:.1f}%" for share in few["share"]],
        "predicted": [number(score) for score in few["mean_score"]],
        "observed": [number(label) for label in few["mean_label"]],
    }
    if "gap_se" in columns:
        gaps = zip(few["gap"], few["gap_se"], strict=True)
        table["gap ± SE"] = [f"{minus(f'{gap:+.4f}')} ± {se:.4f}" for gap, se in gaps]
        table["p (gap)"] = [pvalue(p) for p in few["gap_pvalue"]]
    table["error"] = [number(error) for error in few["error"]]
    table["interval"] = [span(low, high) for low, high in zip(few["low"], few["high"], strict=True)]
    if "adjusted_pvalue" in columns:
        table["p (Holm)"] = [pvalue(p) for p in few["adjusted_pvalue"]]
    many = len(columns)
    title = f"All {many} classes" if many <= FEW else f"The {FEW} worst of {many} classes"
    note = f"p (gap) tests the mean alone; p (Holm) tests the error, adjusted for {many} classes."
    screen.table(title, table, note)
