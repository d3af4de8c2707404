"""What is wrong with the values of a table, said with the column, the row and the value."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.errors import InputError
from trueup.io.columns import Chosen
from trueup.io.refusals import Place, printable, refusal, spanned

DROP = "leave such rows out with drop_missing=True (--drop-missing)"
ROUNDED = 1e-3  # so close outside [0, 1], a value is a rounded probability


def missing_rows(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Rows without a value, or with one that is not there in a matrix."""
    bad: NDArray[np.bool_]
    if column.dtype.kind == "f":
        bad = np.isnan(column)
    elif column.dtype.kind == "O":
        bad = np.array([item is None or item != item for item in column.flat], bool)
        bad = bad.reshape(column.shape)
    else:
        bad = np.zeros(column.shape, bool)
    return bad if bad.ndim == 1 else np.asarray(bad.any(axis=1))


def refuse_missing(place: Place, name: str, column: NDArray[Any]) -> None:
    """Refuse a column in which a value is missing."""
    bad = missing_rows(column)
    if bad.any():
        raise _missing(place, name, bad)


def fault(
    place: Place,
    chosen: Chosen,
    values: NDArray[Any],
    labels: NDArray[Any] | None,
    logits: bool,
    problem: InputError | None,
    *,
    options: bool = True,
) -> InputError:
    """Build the error to raise about data that did not pass: the first fault that is found.

    ``problem`` is what is said where no fault is found here, in the words of `Forecasts.of`.
    Without ``options`` hints name none.
    """
    also = np.zeros(len(values), bool) if labels is None else missing_rows(labels)
    found = _fault_in_predictions(place, chosen, values, logits, also, options)
    if found is None and chosen.labels is not None and also.any():
        found = _missing(place, chosen.labels, also, options)
    if found is not None:
        return found
    text = _in_words_of_the_file(place, chosen, str(problem))
    several = len(chosen.probs) > 1 and "sum to 1" in text
    if several and "Hint: " in text:
        text = text.partition(" Hint: ")[0]
        hint = (
            f"if the columns {spanned(chosen.probs)} are not the classes of one model, say "
            "which are, with probs=… (--probs); normalize=True (--normalize) divides by the sum"
        )
        return refusal(place.shown, text.rstrip("."), hint=hint)
    return InputError(printable(f"{place.shown}: {text}"))


def _in_words_of_the_file(place: Place, chosen: Chosen, text: str) -> str:
    """What `Forecasts.of` says of arguments and rows, said of columns and lines."""
    for option in ("labels", "weights", "groups", "clusters"):
        column = getattr(chosen, option)
        if column is not None:
            text = text.replace(f"`{option}` must", f"column {column!r} must", 1)
    text = text.replace(" to Forecasts.of", "")
    return re.sub(
        r"\bin row (\d+)", lambda found: f"in {place.where(int(found[1]))}", text, count=1
    )


def _fault_in_predictions(
    place: Place,
    chosen: Chosen,
    values: NDArray[Any],
    logits: bool,
    also_missing: NDArray[np.bool_],
    options: bool,
) -> InputError | None:
    flat = values[:, None] if values.ndim == 1 else values
    missing = missing_rows(flat)
    if missing.any():
        column = int(np.argmax(np.isnan(flat[int(np.argmax(missing))])))
        name = _named(chosen, column)
        earlier = also_missing.any() and np.argmax(also_missing) < np.argmax(missing)
        if chosen.labels is not None and earlier:
            name = chosen.labels
        return _missing(place, name, missing | also_missing, options)
    with np.errstate(invalid="ignore"):
        bad = ~np.isfinite(flat) if logits else ~((flat >= 0) & (flat <= 1))
    if not bad.any():
        return None
    row = int(np.argmax(bad.any(axis=1)))
    column = int(np.argmax(bad[row]))
    rule = "finite logits" if logits else "probabilities between 0 and 1"
    told = f"column {_named(chosen, column)!r} must hold {rule}; got {flat[row, column]}"
    hint = "" if logits else _advice(flat, flat[row, column], options)
    return refusal(place.shown, f"{told} in {place.where(row)}", hint=hint)


def _advice(values: NDArray[Any], value: Any, options: bool) -> str:
    low, high = float(np.min(values)), float(np.max(values))
    logits = "say logits=True (--logits) if these are logits"
    if not options:
        logits = "logits need a calibrator that was fitted to logits"
    if not np.isfinite(value):
        return "repair such rows or leave them out"
    if low >= -ROUNDED and high <= 1 + ROUNDED:
        return "clip to [0, 1] what is only rounding error"
    if low >= 0 and 2 < high <= 100:
        return f"divide percentages by 100; {logits}"
    return logits


def _missing(place: Place, name: str, bad: NDArray[np.bool_], options: bool = True) -> InputError:
    first = place.where(int(np.argmax(bad)))
    n = int(bad.sum())
    count = f"{n} of {len(bad)} rows have" if n > 1 else f"1 of {len(bad)} rows has"
    told = f"{count} missing values, the first in column {name!r}, {first}"
    return refusal(place.shown, told, hint=DROP if options else "leave such rows out")


def _named(chosen: Chosen, column: int) -> str:
    return chosen.probs[column] if len(chosen.probs) > 1 else chosen.probs[0]
