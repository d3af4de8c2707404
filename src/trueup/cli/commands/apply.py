"""`trueup apply`: recalibrate the probabilities in a file, and keep its other columns."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from trueup.cli.data_options import Files, check_output, data_options, files_argument, shown_files
from trueup.cli.program import command, say
from trueup.cli.recalibrator_options import load_calibrator
from trueup.cli.terminal import working
from trueup.errors import Argument, InputError, Text, Verbatim, must_be, required

if TYPE_CHECKING:
    from trueup.io import FoundScores, Table
    from trueup.recalibrate import Recalibrator

__all__ = ["apply"]

TEXT = (".csv", ".tsv", ".tab")
NO_LOGITS = (
    "the recalibrator takes probabilities: name their column with ",
    Argument("--probs"),
    "; for logits, fit one with trueup fit --logits",
)


@command(
    "Apply a fitted recalibrator.",
    "trueup apply calibrator.json new.csv -o fixed.csv",
    "trueup apply calibrator.json new.parquet --probs 'p_*' -o fixed.parquet",
)
@click.argument("calibrator", type=click.Path(dir_okay=False))
@files_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True),
    default="-",
    help="File to write: CSV, Parquet, Arrow, NPZ, JSON.  [default: CSV on standard output]",
)
@click.option("--logits", is_flag=True, hidden=True)
@data_options("weights", "clusters", "classes", "prediction", "logits", "drop_missing")
def apply(calibrator: str, file: Files, output: str, logits: bool, columns: dict[str, Any]) -> None:
    """Recalibrate the probabilities in FILE with a recalibrator saved by `trueup fit`.

    FILE needs no labels. Its probabilities are replaced and all other columns are kept. The
    recalibrator file records whether to expect logits. Pass --groups or --features if it was fitted
    with them.
    """
    check_output(output, file, calibrator)
    from trueup.io import open_table, read_scores, write_table

    with working("loading"):
        loaded = load_calibrator(calibrator)
    if logits and not loaded.logits:
        rule = "is not an option of apply, and this recalibrator was fitted on probabilities"
        raise InputError("--logits", rule, hint="fit one with trueup fit --logits")
    logits = loaded.logits
    with working(f"reading {shown_files(file)}"):
        table = open_table(file, columns.pop("format", None))
        if "probs" not in columns:
            columns["probs"] = _columns_of_fit(loaded, table)
        asked = {name: columns[name] for name in ("probs", "labels") if columns.get(name)}
        divided = loaded.normalize or columns["normalize"]
        try:
            found = read_scores(table, **asked, logits=logits, normalize=divided)
        except InputError as problem:
            if logits and columns["probs"] is None:
                raise problem.replace(hint=_only_logits(problem)) from problem
            if logits or not problem.mentions("logits"):
                raise
            raise problem.replace(hint=NO_LOGITS) from problem
        extra = _groups_or_features(loaded, table, columns)
    say(f"{found.text}.")
    used = set(found.names)
    kept = _kept(table, output, [name for name in table.names if name not in used], found)
    with working("recalibrating"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        new = _recalibrated(loaded, found, extra, table.shown)
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        say(f"{message}.")
    both = {**kept, **new}
    percent = table.percentages & set(new)
    called = {name: name for name in both}
    called |= {name: _called(name, table, logits) for name in new if logits or name in percent}
    written = {called[name]: both[name] for name in table.names if name in both}
    with nullcontext() if output == "-" else working(f"writing {output}"):
        write_table(output, written)
    first = next(iter(new))
    if logits or percent:
        old = "logits" if logits else "percentages"
        say(f"column {first} ({old}) was replaced by {called[first]} (probabilities).")
    if output != "-":
        say(f"wrote {len(found.values):,} rows to {output}.")


def _only_logits(problem: InputError) -> Text:
    """Return the hint for missing columns of logits, with the columns that the error proposes."""
    options = (part for part in problem.hint if isinstance(part, Argument) and part.name == "probs")
    option = next(options, Argument("probs"))
    named = " with " if option.value is None else ", for example "
    return (
        f"the recalibrator was fitted on logits: name their columns{named}",
        option,
        "; for probabilities, fit one without --logits",
    )


def _columns_of_fit(calibrator: Recalibrator, table: Table) -> list[str] | None:
    """Return the columns that the recalibrator was fitted on, or None if it does not record them.

    Raise InputError if the table lacks one: assigning columns to classes would be a guess.
    """
    names = calibrator.fit_.get("columns")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return None
    if all(name in table.names for name in names):
        return names
    from trueup.io.file_errors import refusal, spanned

    many = "s" * (len(names) > 1)
    hint = ("name the replacements with ", Argument("--probs"), ", in the same order")
    told = f"missing column{many} {spanned(names)}, on which the recalibrator was fitted"
    raise refusal(table.shown, told, hint=hint)


def _called(name: str, table: Table, logits: bool) -> str:
    """Return a new name for a column of logits or percentages that now holds probabilities."""
    if not logits:
        from trueup.io.number_columns import PERCENT_NAME

        new = PERCENT_NAME.sub("prob", name, count=1)
        return new if new == name or new not in table.names else f"{new}_recalibrated"
    new = re.sub(r"(?i)logits?|(?<![a-z])z(?![a-z])", "prob", name, count=1)
    new = new if new != name else f"prob_{name}"
    return new if new not in table.names else f"{new}_recalibrated"


def _recalibrated(
    calibrator: Recalibrator, found: FoundScores, extra: dict[str, Any], shown: str
) -> dict[str, Any]:
    """Return the recalibrated columns by name, in their original order."""
    import numpy as np

    n_columns = 1 if found.values.ndim == 1 else found.values.shape[1]
    if n_columns != calibrator.n_features_in_:
        wants = f"{calibrator.n_features_in_} column{'s' * (calibrator.n_features_in_ > 1)}"
        rule = f"name {wants}, as the calibrator was fitted on"
        problem = must_be("--probs", rule, Verbatim(f"{n_columns}, {found.text}"))
        raise problem.replace(file=shown)
    if n_columns == 1:
        return {found.names[0]: calibrator.predict_proba(found.values, **extra)[:, 1]}
    order = _order(calibrator, found)
    fixed = np.empty(found.values.shape)
    fixed[:, order] = calibrator.predict_proba(found.values[:, order], **extra)
    if len(found.names) == 1:
        return {found.names[0]: fixed}
    return dict(zip(found.names, fixed.T, strict=True))


def _groups_or_features(
    calibrator: Recalibrator, table: Table, columns: dict[str, Any]
) -> dict[str, Any]:
    """Return the groups or features that a recalibrator needs."""
    from trueup.io import choose
    from trueup.recalibrate import GroupwiseCalibration, LocalCalibration

    needs = {GroupwiseCalibration: "groups", LocalCalibration: "features"}.get(type(calibrator))
    kind = type(calibrator).__name__
    for option in ("groups", "features"):
        if option == needs and option not in columns:
            raise required(f"--{option}", f"a {kind} was fitted with them")
        if option != needs and option in columns:
            raise InputError(f"--{option}", f"cannot be used with a {kind}")
    if needs is None:
        return {}
    asked = {name: columns[name] for name in ("probs", "labels", needs) if columns.get(name)}
    chosen = choose(table.names, **asked, logits=calibrator.logits, need_labels=False, table=table)
    if chosen.groups:
        return {"groups": table.columns(chosen.groups)}
    return {"features": table.matrix(chosen.features)}


def _order(calibrator: Recalibrator, found: FoundScores) -> list[int]:
    """Return the column index of each class of the recalibrator, matched by name if possible."""
    from trueup.io.column_patterns import remainders

    places = {name: at for at, name in enumerate(remainders(found.names))}
    names = [str(name) for name in calibrator.classes_.tolist()]
    same = set(names) == set(places)
    return [places[name] for name in names] if same else list(range(len(names)))


def _kept(table: Table, output: str, names: list[str], scores: FoundScores) -> dict[str, Any]:
    """Return the other columns, as text if both files are text files, so that 007 stays 007."""
    repeated = [name for name, times in Counter(table.names).items() if times > 1]
    if repeated:
        from trueup.io.column_patterns import twice

        raise twice(repeated[0], table.names, table.shown)
    if table.has_texts and (output == "-" or output.lower().endswith(TEXT)):
        return table.texts(names)
    found = table.columns(names) if names else {}
    rows = len(scores.values)
    left_out = [name for name, column in found.items() if len(column) != rows]
    if left_out:
        from trueup.io.file_errors import listed, spanned

        told = f"left out {listed(left_out)}, of another length than {spanned(scores.names)}"
        say(f"{told}, which has {rows:,} rows.")
    return {name: column for name, column in found.items() if len(column) == rows}
