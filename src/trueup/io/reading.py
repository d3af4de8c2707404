"""`read`: validated predictions and labels of a file, with a report of the columns used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueup.calls.hints import hinted
from trueup.errors import InputError, printable
from trueup.forecasts import Forecasts
from trueup.forecasts.probs import Given, checked_values
from trueup.io.column_choice import Chosen, choose
from trueup.io.column_patterns import ColumnNames
from trueup.io.file_errors import Place, names_its_file, refusal, spanned
from trueup.io.files_table import FilesTable
from trueup.io.label_classes import Outcomes, outcomes_of
from trueup.io.number_columns import as_numbers, fractions_by_name
from trueup.io.opening import Paths, open_table
from trueup.io.predicted_class import (
    refuse_beside_prediction,
    refuse_classes,
    was_right,
    with_prediction,
)
from trueup.io.table import Table
from trueup.io.value_errors import fault, missing_rows, refuse_missing, refuse_nested

Readable = Paths | Table


@dataclass(frozen=True, eq=False)
class Found:
    r"""Predictions and labels of a file, with the columns that were used.

    Parameters
    ----------
    forecasts : Forecasts
        Validated predictions and labels.
    text : str
        The columns in words, such as "using columns p_0 … p_9, label y".
    names : Chosen
        The columns.

    Examples
    --------
    >>> import io
    >>> read_forecasts(io.BytesIO(b"p,y\n0.9,1\n0.2,0\n")).names.labels
    'y'
    """

    forecasts: Forecasts
    text: str
    names: Chosen


class FoundScores(NamedTuple):
    r"""Predictions without labels, and the columns that hold them.

    Parameters
    ----------
    values : ndarray
        Numbers of shape (n,) or (n, K).
    names : tuple of str
        The columns.

    Examples
    --------
    >>> import io
    >>> read_scores(io.BytesIO(b"p\n0.9\n0.2\n")).names
    ('p',)
    """

    values: NDArray[Any]
    names: tuple[str, ...]

    @property
    def text(self) -> str:
        """The columns in words, such as "using columns p_0 … p_9"."""
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
    r"""Read predictions and labels from a file.

    Parameters
    ----------
    path : str, path-like, binary stream or sequence of paths
        A CSV, TSV, JSON or JSON lines file (.gz too), or a Parquet, Arrow, Feather or NPZ file;
        ``"-"`` for standard input; or a binary stream. Several files are a list, a folder, or a
        pattern such as ``"daily/*.csv"``. Their rows are joined, and the column ``file`` holds the
        name of each row's file, which is its group if ``groups`` is not given.
    probs : str or sequence of str, optional
        Prediction columns: a name, a pattern such as ``'p_*'``, or several of these in a list or a
        comma-separated text. The default is inferred from names such as p_0 … p_9.
    labels : str, optional
        Label column: class numbers, or class names without the common prefix of the columns (cat
        for p_cat). The default is inferred from names such as y or label.
    logits : bool, default False
        Whether predictions are logits.
    weights : str, optional
        Weight column; never inferred.
    groups : str or sequence of str, optional
        Group columns, such as ``"model,task"``, which define groups together; never inferred.
    features : str or sequence of str, optional
        Feature columns; never inferred.
    clusters : str, optional
        Cluster column; never inferred.
    prediction : str, optional
        Column of the predicted class, if ``probs`` is the column of its confidence: labels then
        become "the prediction was right". It is inferred if labels are not 0 and 1.
    classes : sequence, optional
        Names of the classes in the order of the columns; (negative, positive) for one column.
    normalize : bool, default False
        Whether to divide rows by their sum.
    soft_labels : bool, default False
        Whether labels are probabilities.
    ignore_label : object, optional
        Rows with this label are dropped.
    drop_missing : bool, default False
        Whether to drop rows with a missing value in a column that is used.
    format : str, optional
        Format of the file (default: inferred from the suffix).

    Returns
    -------
    Forecasts
        Validated predictions and labels.

    Raises
    ------
    InputError, OSError
        If the data cannot be used; the message names the file, the column, the row, the value and
        what to do.
    CapabilityError
        If an Arrow file needs pyarrow, which is not installed.

    Examples
    --------
    >>> import io
    >>> read(io.BytesIO(b"p,y\n0.9,1\n0.2,0\n")).labels.tolist()
    [1, 0]
    """
    asked = locals()
    return read_forecasts(**asked).forecasts


@names_its_file
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
    r"""Read predictions and labels from a file, and report the columns that were used.

    Use it instead of `read` in tools that show the chosen columns.

    Parameters
    ----------
    path : str, path-like, binary stream or sequence of paths
        The file, as for `read`.
    probs : str or sequence of str, optional
        Prediction columns (default: inferred).
    labels : str, optional
        Label column (default: inferred).
    logits : bool, default False
        Whether predictions are logits.
    weights : str, optional
        Weight column.
    groups : str or sequence of str, optional
        Group columns.
    features : str or sequence of str, optional
        Feature columns.
    clusters : str, optional
        Cluster column.
    prediction : str, optional
        Column of the predicted class.
    classes : sequence, optional
        Names of the classes.
    normalize : bool, default False
        Whether to divide rows by their sum.
    soft_labels : bool, default False
        Whether labels are probabilities.
    ignore_label : object, optional
        Rows with this label are dropped.
    drop_missing : bool, default False
        Whether to drop rows with a missing value in a column that is used.
    format : str, optional
        Format of the file (default: inferred from the suffix).

    Returns
    -------
    Found
        Validated data, and the columns in words and by name.

    Examples
    --------
    >>> import io
    >>> read_forecasts(io.BytesIO(b"p,y\n0.9,1\n0.2,0\n")).text
    'using column p, label y'
    """
    every_file = False
    table = path if isinstance(path, Table) else open_table(path, format)
    if groups is None and isinstance(table, FilesTable):
        groups, every_file = [table.file_column], True
    if isinstance(table, FilesTable) and (probs is None or labels is None):
        table.check_same_columns()
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
    if not logits:
        values = fractions_by_name(table, chosen.probs, values, "probs" in chosen.guessed)
    refuse_classes(table, chosen, values)
    if ignore_label is None and classes is None and not soft_labels:
        chosen = with_prediction(table, chosen, values, beside, logits)
    if chosen.prediction is not None and chosen.prediction not in beside:
        beside[chosen.prediction] = table.column(chosen.prediction)
        refuse_nested(table, chosen.prediction, beside[chosen.prediction])
    for name, column in beside.items():
        if len(column) != len(values):
            raise table.differ(chosen.probs[0], len(values), name, len(column))
    remarks = [chosen.text, *_of_percentages(table, chosen)]
    place = table
    if drop_missing:
        rows, remark = _present(table, values, beside)
        if rows is not None:
            values, place = values[rows], table.counting_only(rows)
            beside = {name: column[rows] for name, column in beside.items()}
            remarks.append(remark)
    for name in [*chosen.groups, *([chosen.clusters] if chosen.clusters else [])]:
        refuse_missing(place, name, beside[name])
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
    said = list(_of_percentages(table, chosen))
    if every_file and isinstance(table, FilesTable):
        said.append(f"the rows come from {len(table.files)} files, and each file is a group")
        remarks.append(said[-1])
    forecasts = replace(forecasts, remarks=(*forecasts.remarks, *map(printable, said)))
    return Found(forecasts, printable("; ".join(remarks)), chosen)


@names_its_file
def read_scores(
    path: Readable,
    *,
    probs: ColumnNames = None,
    labels: ColumnNames = None,
    logits: bool = False,
    normalize: bool = False,
    format: str | None = None,
) -> FoundScores:
    r"""Read predictions without labels, as input of a recalibrator.

    Parameters
    ----------
    path : str, path-like or binary stream
        The file, as for `read`.
    probs : str or sequence of str, optional
        Prediction columns (default: inferred).
    labels : str, optional
        Column that is not inferred as a prediction column.
    logits : bool, default False
        Whether predictions are logits.
    normalize : bool, default False
        Whether to divide rows by their sum.
    format : str, optional
        Format of the file (default: inferred from the suffix).

    Returns
    -------
    FoundScores
        The predictions and their columns.

    Examples
    --------
    >>> import io
    >>> read_scores(io.BytesIO(b"p\n0.9\n0.2\n")).values.tolist()
    [0.9, 0.2]
    """
    table = path if isinstance(path, Table) else open_table(path, format)
    if isinstance(table, FilesTable):
        table.check_same_columns()
    chosen = choose(
        table.names, probs=probs, labels=labels, logits=logits, need_labels=False, table=table
    )
    values = table.gather(chosen.probs, ())[0]
    if not logits:
        values = fractions_by_name(table, chosen.probs, values, "probs" in chosen.guessed)
    try:
        values = checked_values(Given(values, logits), normalize)
    except InputError as problem:
        raise fault(table, chosen, values, None, problem) from problem
    return FoundScores(values, chosen.probs)


def _of_percentages(table: Table, chosen: Chosen) -> list[str]:
    """Return a list with a remark about predictions that were percentages, or an empty list."""
    names = [name for name in chosen.probs if name in table.percentages]
    return [f"{spanned(names)} held percentages and was divided by 100"] if names else []


def _gathered(table: Table, chosen: Chosen) -> tuple[NDArray[Any], dict[str, NDArray[Any]]]:
    singles = (chosen.labels, chosen.prediction, chosen.weights, chosen.clusters)
    others = [name for name in singles if name is not None]
    every = dict.fromkeys([*others, *chosen.groups, *chosen.features])
    values, beside = table.gather(chosen.probs, list(every))
    for name in [*others, *chosen.groups]:
        refuse_nested(table, name, beside[name])
    return values, beside


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
    others: dict[str, Any] = {}
    if chosen.groups:
        others["groups"] = {name: beside[name] for name in chosen.groups}
    if chosen.clusters is not None:
        others["clusters"] = beside[chosen.clusters]
    if chosen.weights is not None:
        others["weights"] = as_numbers(place, chosen.weights, beside[chosen.weights])
    if chosen.features:
        columns = [as_numbers(place, name, beside[name]) for name in chosen.features]
        others["features"] = np.column_stack(columns)
    return others
