"""Safe reading of files that `encoding` wrote; values that `fit` cannot produce are rejected."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.recalibrate.files.encoding import (
    DTYPE,
    MOST_AXES,
    is_learned,
    recalibrators,
    text_width,
)
from trueup.recalibrate.fit_input import check_options
from trueup.recalibrate.score_forms import Scores

ROWS_A_CLASS = 9
MOST_CLASSES = 8
RECORD = {
    "n": int,
    "n_classes": int,
    "fingerprint": str,
    "log_loss_before": float,
    "log_loss_after": float,
}


class UnreadableError(Exception):
    """Error in a file; the message continues a sentence that begins with the file's name."""


class Decoder:
    """Reader of what an `Encoder` wrote, which trusts nothing. Raises `UnreadableError`.

    Memory is allocated by the actual content of an array, not by the size that the file states.
    """

    def __init__(self, tensors: dict[str, NDArray[Any]]) -> None:
        self.tensors = tensors
        self.used: set[str] = set()
        self.readers: dict[str, Callable[[Any], Any]] = {
            "float": self._float,
            "tuple": lambda form: tuple(self._list(form)),
            "dict": lambda form: self._named(_checked(form, dict, "a dictionary")),
            "array": self._array,
            "scalar": self._scalar,
            "text": self._text,
            "objects": self._objects,
            "recalibrator": self.recalibrator,
        }

    def value(self, form: Any) -> Any:
        """Return one value."""
        if isinstance(form, list):
            return self._list(form)
        if not isinstance(form, dict):
            return form
        if len(form) != 1 or next(iter(form)) not in self.readers:
            raise UnreadableError("holds a value of an unknown kind")
        ((kind, inside),) = form.items()
        return self.readers[kind](inside)

    def recalibrator(self, form: Any) -> Any:
        """Return a recalibrator whose parameters pass its own checks."""
        name, told, learned = _parts(form, "class", "parameters", "learned")
        kind = recalibrators().get(name) if isinstance(name, str) else None
        if kind is None:
            what = f"a recalibrator {_quoted(name)}"
            raise UnreadableError(f"holds {what} that this version does not know")
        told, learned = _checked(told, dict, "parameters"), _checked(learned, dict, "attributes")
        if set(told) != set(kind._get_param_names()):
            raise UnreadableError(f"does not hold the parameters of {name}")
        with _blamed(f"the parameters of {name}"):
            made = kind(**self._named(told))
            check_options(made)
            made._check()
        for attribute, value in self._named(learned).items():
            if not is_learned(attribute) or hasattr(kind, attribute):
                raise UnreadableError(f"sets {_quoted(attribute)}, which {name} does not have")
            setattr(made, attribute, value)
        if learned:
            _check_restored(made)
        return made

    def _named(self, forms: dict[str, Any]) -> dict[str, Any]:
        return {name: self.value(form) for name, form in forms.items()}

    def _list(self, forms: Any) -> list[Any]:
        return [self.value(form) for form in _checked(forms, list, "a list")]

    def _float(self, form: Any) -> float:
        if form not in ("nan", "inf", "-inf"):
            raise UnreadableError("holds a number of an unknown kind")
        return float(form)

    def _text(self, form: Any) -> NDArray[Any]:
        shape, items = _parts(form, "shape", "items")
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise UnreadableError("holds an array of strings with something else in it")
        width = text_width(items)
        if width == 0:
            raise UnreadableError(
                "holds an array of strings that would be far larger than its text"
            )
        return _shaped(np.array(items, f"<U{width}"), shape)

    def _objects(self, form: Any) -> NDArray[Any]:
        shape, items = _parts(form, "shape", "items")
        values = self._list(items)
        array = np.empty(len(values), object)
        for place, value in enumerate(values):
            array[place] = value
        return _shaped(array, shape)

    def _array(self, form: Any) -> NDArray[Any]:
        form = dict(_checked(form, dict, "an array"))
        order = form.pop("order", "C")
        source = next((key for key in ("values", "base64", "tensor") if key in form), "values")
        dtype, shape, data = _parts(form, "dtype", "shape", source)
        if order not in ("C", "F") or not isinstance(dtype, str) or not DTYPE.fullmatch(dtype):
            raise UnreadableError("holds an array of an unknown type")
        kind = np.dtype(dtype)
        reader = {"values": _from_values, "base64": _from_base64, "tensor": self._from_tensor}
        flat = reader[source](data, kind)
        array = _shaped(flat, shape, order).copy(order="K")
        return array.astype(kind.newbyteorder("="), copy=False)

    def _scalar(self, form: Any) -> Any:
        array = self._array(form)
        if array.shape != ():
            raise UnreadableError("holds an array where a number should be")
        return array[()]

    def _from_tensor(self, number: Any, kind: np.dtype[Any]) -> NDArray[Any]:
        name = str(number)
        if type(number) is not int or name not in self.tensors or name in self.used:
            raise UnreadableError("has missing or duplicate arrays")
        self.used.add(name)
        raw = np.ascontiguousarray(self.tensors[name])
        if raw.dtype != (np.dtype(np.uint8) if kind.kind == "U" else kind):
            raise UnreadableError("holds an array that does not have its stated type")
        return _from_bytes(raw.tobytes(), kind)


def _from_values(values: Any, kind: np.dtype[Any]) -> NDArray[Any]:
    wanted = {"b": bool, "i": int, "u": int, "f": float}.get(kind.kind)
    if not isinstance(values, list) or not all(type(value) is wanted for value in values):
        raise UnreadableError("holds an array whose values do not have its type")
    if wanted is int and values:
        limits = np.iinfo(kind)
        if min(values) < limits.min or max(values) > limits.max:
            raise UnreadableError("holds an array with numbers outside the range of its type")
    with np.errstate(over="ignore"):
        array = np.array(values, kind)
    if array.tolist() != values:
        raise UnreadableError("holds an array with numbers outside the range of its type")
    return array


def _from_base64(text: Any, kind: np.dtype[Any]) -> NDArray[Any]:
    try:
        return _from_bytes(base64.b64decode(_checked(text, str, "base64"), validate=True), kind)
    except (binascii.Error, ValueError):
        raise UnreadableError("holds an array in invalid base64") from None


def _from_bytes(raw: bytes, kind: np.dtype[Any]) -> NDArray[Any]:
    if len(raw) % kind.itemsize:
        raise UnreadableError("holds an array that ends in the middle of a number")
    return np.frombuffer(raw, kind)


def _shaped(flat: NDArray[Any], shape: Any, order: Literal["C", "F"] = "C") -> NDArray[Any]:
    lengths = _checked(shape, list, "a shape")
    good = len(lengths) <= MOST_AXES and all(type(k) is int and 0 <= k < 2**31 for k in lengths)
    try:
        if good and math.prod(lengths) == flat.size:
            return flat.reshape(lengths, order=order)
    except ValueError:  # no entries, in more rows and columns than can be counted
        pass
    raise UnreadableError("holds an array whose size does not match its shape")


def _parts(form: Any, *names: str) -> tuple[Any, ...]:
    """Return the entries of an object that must have exactly these keys."""
    if not isinstance(form, dict) or set(form) != set(names):
        raise UnreadableError(f"must have exactly these entries: {', '.join(names)}")
    return tuple(form[name] for name in names)


def _checked(value: Any, kind: type, what: str) -> Any:
    if not isinstance(value, kind):
        raise UnreadableError(f"has a value of the wrong type for {what}")
    return value


def _quoted(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 40 else text[:37] + "..."


@contextmanager
def _blamed(what: str) -> Iterator[None]:
    """Turn any error of a constructor or a check about values from a file into UnreadableError."""
    try:
        yield
    except UnreadableError:
        raise
    except Exception as error:
        said = " ".join(str(error).split())[:200].rstrip(".")
        raise UnreadableError(f"has an invalid value in {what}: {said}") from error


def _check_restored(recalibrator: Any) -> None:
    """Raise UnreadableError if a part of a fit is missing or inconsistent with other parts."""
    held = vars(recalibrator)
    for name in ("classes_", "n_features_in_", "notes_", "fit_"):
        if name not in held:
            raise UnreadableError(f"lacks {name}")
    classes, columns = held["classes_"], held["n_features_in_"]
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or len(classes) < 2:
        raise UnreadableError("does not name at least two classes")
    allowed = (1, 2) if len(classes) == 2 else (len(classes),)
    if type(columns) is not int or columns not in allowed:
        raise UnreadableError("does not have a column for each class")
    names = held.get("feature_names_in_")
    if names is not None and getattr(names, "shape", None) != (columns,):
        raise UnreadableError("does not name each column")
    notes, record = held["notes_"], held["fit_"]
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise UnreadableError("has malformed notes")
    if not isinstance(record, dict) or (record and not _is_record(record, len(classes))):
        raise UnreadableError("does not record its fit")
    _check_answers(recalibrator, len(classes), columns)


def _is_record(record: dict[str, Any], n_classes: int) -> bool:
    """Return whether this is a record of `fit`; an inner recalibrator may have none."""
    good = all(isinstance(record.get(name), kind) for name, kind in RECORD.items())
    return good and record["n_classes"] == n_classes


def _check_answers(recalibrator: Any, n_classes: int, columns: int) -> None:
    """Check that scores from 0 to 1 get probabilities, which requires a complete state."""
    rows = _rows(n_classes)
    scores = Scores(rows[:, 1] if columns == 1 else rows, recalibrator.logits)
    try:
        with np.errstate(all="ignore"):
            answer = np.asarray(recalibrator._probs_of(scores))
        good = (
            recalibrator._is_whole()
            and answer.shape == rows.shape
            and bool(((answer >= 0) & (answer <= 1)).all())
            and bool(np.allclose(answer.sum(axis=1), 1))
        )
    except Exception as error:
        raise UnreadableError(f"gives no probabilities ({type(error).__name__})") from error
    if not good:
        raise UnreadableError("gives no probabilities")


def _rows(n_classes: int) -> Floats:
    """Return rows in which one of the first classes has 0 … 1, and the others share the rest."""
    own = np.linspace(0, 1, ROWS_A_CLASS)
    blocks = []
    for number in range(min(n_classes, MOST_CLASSES)):
        block = np.repeat((1 - own)[:, None] / (n_classes - 1), n_classes, axis=1)
        block[:, number] = own
        blocks.append(block)
    return np.concatenate(blocks)
