"""`read`: the predictions and labels of a file, checked, with a word on what was taken for what."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueup.calls.hints import hinted
from trueup.errors import InputError, must_be, printable
from trueup.forecasts import Forecasts
from trueup.forecasts.arrays import FRAMES, describe
from trueup.forecasts.probs import Given, checked_values
from trueup.io.column_choice import Chosen, choose
from trueup.io.column_patterns import ColumnNames
from trueup.io.file_errors import Place, refusal, spanned
from trueup.io.label_classes import Outcomes, outcomes_of
from trueup.io.number_columns import as_numbers
from trueup.io.opening import open_table
from trueup.io.predicted_class import (
    refuse_beside_prediction,
    refuse_classes,
    was_right,
    with_prediction,
)
from trueup.io.table import Table
from trueup.io.value_errors import fault, missing_rows, refuse_missing

Readable = str | os.PathLike[str] | IO[bytes] | Table


@dataclass(frozen=True, eq=False)
class Found:
    """What a file held.

    Attributes
    ----------
    forecasts
        The checked predictions and labels.
    text
        What was taken for what, such as "using columns p_0 … p_9, label y".
    names
        The columns that were used.
    """

    forecasts: Forecasts
    text: str
    names: Chosen


class FoundScores(NamedTuple):
    """Predictions without labels: (n,) or (n, K) numbers, and the columns they are from."""

    values: NDArray[Any]
    names: tuple[str, ...]

    @property
    def text(self) -> str:
        """What was taken, in words, such as "using columns p_0 … p_9"."""
        text = f"using column{'s' if len(self.names) > 1 else ''} {spanned(self.names)}"
        return printable(text)


@hinted
def read(
    path: Readable,
    *,
    probs: ColumnNames = None,
    labels: ColumnNames = None,
    logits: bool = False,
    weights: ColumnNames = None,
    groups: ColumnNames = None,
    features: ColumnNames = None,
    clusters: ColumnNames = None,
    prediction: ColumnNames = None,
    classes: Sequence[Any] | None = None,
    normalize: bool = False,
    soft_labels: bool = False,
    ignore_label: object = None,
    drop_missing: bool = False,
    format: str | None = None,
) -> Forecasts:
    """Read predictions and labels from a file.

    Parameters
    ----------
    path
        A file of CSV, TSV, JSON or JSON lines (.gz too), Parquet, Arrow, Feather or NPZ; ``"-"``
        for standard input; or a binary stream.
    probs
        Columns of the predictions: a name, a pattern such as ``'p_*'``, or several of these in a
        list or in one text with commas. Guessed from names such as p_0 … p_9 if not given.
    labels
        The column of the labels: class numbers, or names as behind the columns' common prefix
        (cat for p_cat). Guessed from names such as y or label if not given.
    logits
        Predictions are logits.
    weights, groups, clusters, features
        Columns of what goes beside the predictions; never guessed.
    prediction
        The column of the predicted class, where ``probs`` is the one column of the confidence in
        it: labels then become "was right". Guessed beside labels that are not 0 and 1.
    classes
        Names of the classes in the order of the columns; (negative, positive) for one column.
    normalize, soft_labels, ignore_label
        As in `Forecasts.from_arrays`.
    drop_missing
        Leave out rows in which a column that is used has no value.
    format
        The format, where the suffix does not say it.

    Raises
    ------
    InputError, OSError
        With the file, the column, the row and the value, and what to do.
    CapabilityError
        If pyarrow is not there to read an Arrow file.
    """
    asked = locals()
    if type(path).__module__.partition(".")[0] in FRAMES:
        hint = "a frame need not be read: call evaluate(frame[probs], frame[labels])"
        raise must_be("path", "a file", describe(path), hint=hint)
    return read_forecasts(**asked).forecasts


def read_forecasts(
    path: Readable,
    *,
    probs: ColumnNames = None,
    labels: ColumnNames = None,
    logits: bool = False,
    weights: ColumnNames = None,
    groups: ColumnNames = None,
    features: ColumnNames = None,
    clusters: ColumnNames = None,
    prediction: ColumnNames = None,
    classes: Sequence[Any] | None = None,
    normalize: bool = False,
    soft_labels: bool = False,
    ignore_label: object = None,
    drop_missing: bool = False,
    format: str | None = None,
) -> Found:
    """Read as `read` does, and say what was taken for what."""
    table = path if isinstance(path, Table) else open_table(path, format)
    chosen = choose(
        table.names,
        probs=probs,
        labels=labels,
        weights=weights,
        groups=groups,
        features=features,
        clusters=clusters,
        prediction=prediction,
        logits=logits,
        table=table,
    )
    values, beside = _gathered(table, chosen)
    refuse_classes(table, chosen, values)
    if ignore_label is None and classes is None and not soft_labels:
        chosen = with_prediction(table, chosen, values, beside, logits)
    if chosen.prediction is not None and chosen.prediction not in beside:
        beside[chosen.prediction] = table.column(chosen.prediction)
    for name, column in beside.items():
        if len(column) != len(values):
            raise table.differ(chosen.probs[0], len(values), name, len(column))
    remarks = [chosen.text]
    place = table
    if drop_missing:
        rows, remark = _present(table, values, beside)
        if rows is not None:
            values, place = values[rows], table.counting_only(rows)
            beside = {name: column[rows] for name, column in beside.items()}
            remarks.append(remark)
    assert chosen.labels is not None
    raw = beside[chosen.labels]
    if chosen.prediction is not None:
        refuse_beside_prediction(table, chosen, values, logits, classes, soft_labels, ignore_label)
        predicted = beside[chosen.prediction]
        for name in (chosen.labels, chosen.prediction):
            refuse_missing(place, name, beside[name])
        outcomes = was_right(place, chosen.labels, raw, chosen.prediction, predicted)
    elif soft_labels:
        outcomes = Outcomes(raw, None if classes is None else tuple(classes))
    else:
        n_classes = None if values.ndim == 1 else values.shape[1]
        listed = probs is not None and not any(mark in str(probs) for mark in "*?[")
        outcomes = outcomes_of(
            place, chosen.labels, raw, chosen.probs, n_classes, classes, ignore_label, listed
        )
    if outcomes.remark:
        remarks.append(outcomes.remark)
    try:
        forecasts = Forecasts.from_arrays(
            values,
            outcomes.labels,
            logits=logits,
            classes=outcomes.classes,
            normalize=normalize,
            soft_labels=soft_labels,
            ignore_label=ignore_label,
            **_others(place, chosen, beside),
        )
    except InputError as problem:
        raise fault(place, chosen, values, raw, problem) from problem
    return Found(forecasts, printable("; ".join(remarks)), chosen)


def read_scores(
    path: Readable,
    *,
    probs: ColumnNames = None,
    labels: ColumnNames = None,
    logits: bool = False,
    normalize: bool = False,
    format: str | None = None,
) -> FoundScores:
    """Read predictions alone, for a recalibrator to apply to; labels are not looked for.

    A column named as ``labels`` is only left out of the guess.
    """
    table = path if isinstance(path, Table) else open_table(path, format)
    chosen = choose(
        table.names, probs=probs, labels=labels, logits=logits, need_labels=False, table=table
    )
    values = table.gather(chosen.probs, ())[0]
    try:
        values = checked_values(Given(values, logits), normalize)
    except InputError as problem:
        raise fault(table, chosen, values, None, problem) from problem
    return FoundScores(values, chosen.probs)


def _gathered(table: Table, chosen: Chosen) -> tuple[NDArray[Any], dict[str, NDArray[Any]]]:
    singles = (chosen.labels, chosen.prediction, chosen.weights, chosen.groups, chosen.clusters)
    others = [name for name in singles if name is not None]
    return table.gather(chosen.probs, [*others, *chosen.features])


def _present(
    table: Table, values: NDArray[Any], beside: dict[str, NDArray[Any]]
) -> tuple[NDArray[np.int64] | None, str]:
    bad = missing_rows(values)
    for column in beside.values():
        bad |= missing_rows(column)
    if not bad.any():
        return None, ""
    if bad.all():
        raise refusal(table.shown, "has no row without a missing value")
    n_left_out = int(bad.sum())
    return np.flatnonzero(~bad), f"left out {n_left_out} of {len(bad)} rows with missing values"


def _others(place: Place, chosen: Chosen, beside: dict[str, NDArray[Any]]) -> dict[str, Any]:
    others: dict[str, Any] = {
        option: None if name is None else beside[name]
        for option, name in (("groups", chosen.groups), ("clusters", chosen.clusters))
    }
    if chosen.weights is not None:
        others["weights"] = as_numbers(place, chosen.weights, beside[chosen.weights])
    if chosen.features:
        columns = [as_numbers(place, name, beside[name]) for name in chosen.features]
        others["features"] = np.column_stack(columns)
    return others
