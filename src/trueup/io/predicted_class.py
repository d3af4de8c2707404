"""Confidences in a predicted class, evaluated by whether the class was right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.errors import Argument, Verbatim, conflict, short
from trueup.io import column_guesses
from trueup.io.column_choice import Chosen
from trueup.io.file_errors import Place, bad_column, refusal, spanned
from trueup.io.label_classes import Outcomes, item
from trueup.io.table import Table


def with_prediction(
    table: Table,
    chosen: Chosen,
    values: NDArray[Any],
    beside: dict[str, NDArray[Any]],
    logits: bool,
) -> Chosen:
    """Return the choice with a column of predicted classes added if labels can only be classes."""
    if chosen.prediction is not None or values.ndim == 2 or logits or chosen.labels is None:
        return chosen
    stem = column_guesses.parted(chosen.labels)[0]
    here = [name for name in table.names if column_guesses.parted(name)[0] == stem]
    used = {*chosen.probs, chosen.labels, *chosen.features, *chosen.groups, chosen.clusters}
    found = [x for x in column_guesses.named(here, column_guesses.PREDICTIONS) if x not in used]
    if len(found) != 1:
        return chosen
    if not column_guesses.two_valued(beside[chosen.labels]):
        said = chosen.text + f", prediction {found[0]}"
        return replace(
            chosen, prediction=found[0], text=said, guessed=chosen.guessed | {"prediction"}
        )
    about_right = column_guesses.named([chosen.labels], column_guesses.RIGHT)
    confident = column_guesses.named(chosen.probs, column_guesses.CONFIDENCES)
    if confident and not about_right and chosen.guessed & {"probs", "labels"}:
        rule = "may be the probability of the label 1 or the confidence in the class in column "
        hint = (
            "pass ",
            Argument("prediction", found[0]),
            " for the latter, or ",
            Argument("probs", chosen.probs[0]),
            " and ",
            Argument("labels", chosen.labels),
            " for the former",
        )
        raise bad_column(table, chosen.probs[0], f"{rule}{found[0]!r}", hint=hint)
    return chosen


def refuse_classes(table: Table, chosen: Chosen, values: NDArray[Any]) -> None:
    """Raise InputError for an inferred column of 0 and 1 whose name suggests no probability."""
    if "probs" not in chosen.guessed or values.ndim != 1 or len(values) < 2:
        return
    called = column_guesses.named(chosen.probs, column_guesses.PROBS) or column_guesses.prob_sets(
        chosen.probs, False
    )
    if not called and bool(np.all((values == 0) | (values == 1))):
        rule = "contains only 0 and 1, so it looks like predicted classes"
        hint = ("pass ", Argument("probs", chosen.probs[0]), " to use it as probabilities")
        raise bad_column(table, chosen.probs[0], rule, hint=hint)


def refuse_beside_prediction(
    table: Table,
    chosen: Chosen,
    values: NDArray[Any],
    logits: bool,
    classes: Sequence[Any] | None,
    soft_labels: bool,
    ignore_label: object,
) -> None:
    """Raise InputError for options that have no meaning if labels become "was right"."""
    if values.ndim == 2 or logits:
        told = " goes with one column of confidences between 0 and 1; predictions are in "
        raise refusal(table.shown, (Argument("prediction"), f"{told}{spanned(chosen.probs)}"))
    others = {"classes": classes, "soft_labels": soft_labels or None, "ignore_label": ignore_label}
    given = next((name for name, value in others.items() if value is not None), None)
    if given is not None:
        raise conflict(given, "prediction").replace(file=table.shown)


def was_right(
    table: Place, name: str, labels: NDArray[Any], prediction: str, predicted: NDArray[Any]
) -> Outcomes:
    """Return whether each prediction equals the label, as the outcomes of its confidence."""
    if labels.ndim != 1 or predicted.ndim != 1 or len(labels) != len(predicted):
        told = f"columns {name!r} and {prediction!r} must hold one class per row"
        raise refusal(table.shown, told)
    if (labels.dtype == object) != (predicted.dtype == object):
        got = Verbatim(f"{short(item(predicted[0]))} and {short(item(labels[0]))}")
        rule = f"must name classes as column {name!r} does"
        raise bad_column(table, prediction, rule, got, row=0)
    remark = f"right where {prediction} equals {name}"
    return Outcomes(np.asarray(labels == predicted, dtype=bool), None, remark)
