"""Conversion of any array, frame, series or list to NumPy, sharing memory if possible."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Ints
from trueup.errors import Text, Verbatim, must_be

FRAMES = {"pandas", "polars", "pyarrow", "modin", "cudf"}


def as_numpy(name: str, value: object) -> NDArray[Any]:
    """Read ``value`` (called ``name`` in messages) as a NumPy array of one or more dimensions."""
    if type(value) is np.ndarray and value.ndim > 0 and value.dtype.isbuiltin == 1:
        return value  # numbers in the order of bytes of this machine
    homes = {base.__module__.partition(".")[0] for base in type(value).__mro__}
    if isinstance(value, np.ma.MaskedArray):
        array = _unmasked(name, value)
    elif isinstance(value, np.ndarray):
        array = np.asarray(value)
    elif "torch" in homes and hasattr(value, "detach"):
        array = _from_torch(name, value)
    elif "cupy" in homes and hasattr(value, "get"):
        array = value.get()
    elif hasattr(value, "collect") and hasattr(value, "lazy") and not hasattr(value, "to_numpy"):
        hint = "call .collect() on a lazy frame first"
        raise must_be(name, "held in memory", describe(value), hint=hint)
    elif homes & FRAMES:
        array = _from_frame(name, value)
    else:
        array = _from_sequence(name, value)
    if array.ndim == 0:
        rule = "an array with one entry or row per sample"
        raise must_be(name, rule, describe(value), hint=_instead_of(name, value))
    if array.dtype.names is not None:
        hint = "stack its fields into columns first"
        raise must_be(name, "an array of plain numbers", Verbatim("a structured array"), hint=hint)
    if array.dtype.kind == "V" and array.dtype.name.startswith(("bfloat", "float")):
        return array.astype(np.float32)  # the short floats of JAX, which float32 holds exactly
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array


def _instead_of(name: str, value: Any) -> Text:
    """Return what to pass instead of an object that is not an array."""
    if isinstance(value, str | PathLike):
        if name.startswith("prob"):
            return "read a file first: trueup.read(path)"
        return f"pass the values of the column, such as frame[{str(value)!r}]"
    if hasattr(value, "predict_proba"):
        return "pass the probabilities that it predicts: model.predict_proba(X)"
    if callable(value):
        return "pass the data here, not a metric or a function"
    if isinstance(value, Mapping):
        return "pass one array; evaluate(labels=labels, models={...}) takes several models"
    return ""


def as_floats(name: str, array: NDArray[Any], hint_for_text: Text = "") -> NDArray[Any]:
    """Return numbers, converted from objects if needed; raise InputError for other data."""
    if array.dtype.kind in "fiub":
        return array
    if array.size == 0:
        return array.astype(np.float64)
    if array.dtype.kind == "O":
        return _floats_from_objects(name, array, hint_for_text)
    raise _not_a_number(name, array.flat[0].item(), 0, hint_for_text)


def describe(value: object) -> Verbatim:
    """Describe the shape or type of a value for messages."""
    if isinstance(value, np.ndarray):
        return Verbatim(f"an array of shape {tuple(int(size) for size in value.shape)}")
    kind = type(value).__name__
    return Verbatim(f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}")


def first_row(bad: NDArray[Any]) -> int:
    """Return the first row of a boolean array with a true entry; -1 if there is none."""
    rows = bad if bad.ndim == 1 else bad.any(axis=tuple(range(1, bad.ndim)))
    return int(np.argmax(rows)) if rows.any() else -1


def original(row: int, rows: Ints | None) -> int:
    """Return the caller's number of a row; ``rows`` are the rows that were kept (None: all)."""
    return row if rows is None else int(rows[row])


def refuse(
    name: str,
    rule: Text,
    array: NDArray[Any],
    bad: NDArray[np.bool_],
    rows: Ints | None = None,
    hint: Text = "",
) -> None:
    """Raise InputError for the first value of ``array`` for which ``bad`` is true, if any."""
    row = first_row(bad)
    if row >= 0:
        value = array[row] if array.ndim == 1 else array[row][bad[row]][0]
        raise must_be(name, rule, value, row=original(row, rows), hint=hint)


def is_missing(item: object) -> bool:
    """Return which values are missing (None, NaN or NA): those that do not equal themselves."""
    if item is None:
        return True
    try:
        return not bool(item == item)
    except TypeError:  # the NA of pandas is neither true nor false
        return True
    except ValueError:  # an array is something, whatever it holds
        return False


def _unmasked(name: str, value: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    row = first_row(np.ma.getmaskarray(value)) if value.ndim else -1
    if row >= 0:
        hint = "drop the masked rows first"
        raise must_be(name, "have no masked entries", Verbatim("one"), row=row, hint=hint)
    return np.asarray(value.data)


def _from_torch(name: str, value: Any) -> NDArray[Any]:
    tensor = value.detach()
    if str(tensor.layout) != "torch.strided":
        hint = "call .to_dense() on it first"
        raise must_be(name, "dense", Verbatim("a sparse tensor"), hint=hint)
    known = ("torch.float16", "torch.float32", "torch.float64")
    if tensor.is_floating_point() and str(tensor.dtype) not in known:
        tensor = tensor.float()  # NumPy has no bfloat16; float32 holds it exactly
    array: NDArray[Any] = tensor.cpu().resolve_conj().resolve_neg().numpy()
    return array


def _from_frame(name: str, value: Any) -> NDArray[Any]:
    import narwhals.stable.v1 as nw

    if type(value).__module__.startswith("pyarrow") and not hasattr(value, "column_names"):
        if hasattr(value, "combine_chunks"):
            value = value.combine_chunks()
        array: NDArray[Any] = value.to_numpy(zero_copy_only=False)
        return array
    if type(value).__name__ == "RecordBatch":
        import pyarrow

        value = pyarrow.Table.from_batches([value])
    try:
        frame = nw.from_native(value, eager_only=True, allow_series=True)
    except TypeError:  # an index or an extension array
        return _from_sequence(name, value)
    return np.asarray(frame.to_numpy())


def _from_sequence(name: str, value: Any) -> NDArray[Any]:
    try:
        array = np.asarray(value)
        if array.ndim == 0 and hasattr(value, "__dlpack__"):
            array = np.from_dlpack(value)
    except ValueError:
        got, hint = Verbatim("rows of different lengths"), "check for missing entries"
        raise must_be(name, "rectangular", got, hint=hint) from None
    return array


def _floats_from_objects(name: str, array: NDArray[Any], hint_for_text: Text) -> NDArray[Any]:
    floats = np.empty(array.shape)
    for place, item in np.ndenumerate(array):
        try:
            floats[place] = np.nan if is_missing(item) else _float(item)
        except (TypeError, ValueError, OverflowError):
            raise _not_a_number(name, item, place[0], hint_for_text) from None
    return floats


def _float(item: Any) -> float:
    if isinstance(item, str | bytes):  # "0.5" is text, though float() would read it
        raise TypeError
    return float(item)


def _not_a_number(name: str, item: object, row: int, hint_for_text: Text) -> Exception:
    hint: Text = ""
    if isinstance(item, str | bytes):
        try:
            float(item)
            hint = "convert text to numbers first"
        except ValueError:
            hint = hint_for_text
        if str(item).rstrip().endswith("%"):
            hint = "take the % signs away and divide by 100"
    return must_be(name, "hold real numbers", item, row=row, hint=hint)
