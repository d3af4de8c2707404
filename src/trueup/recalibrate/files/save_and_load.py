"""Recalibrators on disk: `save` and `load_recalibrator`.

A file is JSON text, or, when its arrays take more than `MOST_INSIDE` bytes, a safetensors file
that holds them and has the JSON in its metadata under "trueup". The JSON is an object of

- ``format``: "trueup recalibrator";
- ``schema``: the version of this format, a whole number;
- ``trueup``: the version of the library that wrote it;
- ``recalibrator``: class, parameters and fitted values, in the form of `encoding`, including
  ``fit_`` with the fingerprint of the fit data and the losses;
- ``sha256``: the checksum of the rest as JSON without spaces, in ASCII, followed by the arrays in
  order.

Reading runs no code and imports nothing that a file names. The checksum detects accidental damage.
Against forged files, every name, type and size is checked, and the loaded recalibrator must return
probabilities for a few rows of scores.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.atomic_write import checked_path, is_directory, write_atomically
from trueup.calls.hints import hinted
from trueup.errors import InputError, Verbatim, must_be
from trueup.recalibrate.files.decoding import Decoder, UnreadableError
from trueup.recalibrate.files.encoding import DEEPEST, Encoder, is_recalibrator

FORMAT = "trueup recalibrator"
SCHEMA = 2
MOST_INSIDE = 1 << 16
MOST_JSON = 1 << 25
"""Bytes of JSON that are read or written; arrays outside it may be of any size."""
TOO_LONG = f"holds more than {MOST_JSON >> 20} MiB of JSON"
MOST_BRACKETS = 4 * DEEPEST  # a level of values takes at most three of JSON
NO_MARKS = bytes(set(range(256)) - set(b'[]{}"'))


def save(recalibrator: Any, path: str | os.PathLike[str]) -> None:
    """Save a fitted recalibrator to a file, completely or not at all.

    `set_output` and metadata requests are not saved. The content is read back before it is written,
    so a saved file can be loaded.

    Parameters
    ----------
    recalibrator : Recalibrator
        A fitted recalibrator of trueup.
    path : str or path-like
        File to write.

    See Also
    --------
    load_recalibrator : Read the file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from trueup.recalibrate import IsotonicCalibration
    >>> fitted = IsotonicCalibration().fit([0.2, 0.4, 0.9], [0, 1, 1])
    >>> with TemporaryDirectory() as folder:
    ...     save(fitted, f"{folder}/isotonic.json")
    ...     load_recalibrator(f"{folder}/isotonic.json").predict_proba([0.3])
    array([[0.5, 0.5]])
    """
    from sklearn.utils.validation import check_is_fitted

    if not is_recalibrator(recalibrator):
        is_model = type(recalibrator).__name__ == "CalibratedModel"
        hint = "CalibratedModel.save writes its recalibrator" if is_model else ""
        raise must_be("recalibrator", "one of trueup's recalibrators", recalibrator, hint=hint)
    check_is_fitted(recalibrator)
    content = _content(recalibrator)
    try:
        _recalibrator_in(content)
    except UnreadableError as problem:
        rule = f"cannot be saved: its file {problem}"
        raise InputError("recalibrator", rule) from problem
    write_atomically(path, content)


@hinted
def load_recalibrator(path: str | os.PathLike[str]) -> Any:
    """Read a recalibrator that `save` wrote; its predictions are bit-for-bit identical.

    Parameters
    ----------
    path : str or path-like
        File that `save` wrote.

    Returns
    -------
    Recalibrator
        The fitted recalibrator.

    Raises
    ------
    InputError
        If the file is damaged, was written by a newer version, or is not a file of `save`.

    See Also
    --------
    save : Write such a file.
    CalibratedModel.load : Read the recalibrator of a model together with its classifier.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from trueup.recalibrate import IsotonicCalibration
    >>> fitted = IsotonicCalibration().fit([0.2, 0.4, 0.9], [0, 1, 1])
    >>> with TemporaryDirectory() as folder:
    ...     fitted.save(f"{folder}/isotonic.json")
    ...     load_recalibrator(f"{folder}/isotonic.json")
    IsotonicCalibration()
    """
    place = checked_path(path)
    try:
        return _recalibrator_in(_bytes_of(place))
    except UnreadableError as problem:
        got = Verbatim(f"{str(place)!r}, which {problem}")
        raise must_be("path", "a recalibrator saved by trueup", got) from None


def _content(recalibrator: Any) -> bytes:
    """Return the bytes of the file."""
    beside = Encoder(beside=True)
    form = beside.recalibrator(recalibrator)
    if sum(tensor.nbytes for tensor in beside.tensors) <= MOST_INSIDE:
        inside = Encoder(beside=False)
        document = _document(inside.recalibrator(recalibrator), [])
        return json.dumps(document, allow_nan=False, indent=1).encode() + b"\n"
    from safetensors.numpy import save as safetensors

    text = json.dumps(_document(form, beside.tensors), allow_nan=False)
    named = {str(number): tensor for number, tensor in enumerate(beside.tensors)}
    return safetensors(named, metadata={"trueup": text})


def _document(form: dict[str, Any], tensors: list[NDArray[Any]]) -> dict[str, Any]:
    document = {
        "format": FORMAT,
        "schema": SCHEMA,
        "trueup": version("trueup"),
        "recalibrator": form,
    }
    return document | {"sha256": _checksum(document, tensors)}


def _checksum(document: dict[str, Any], tensors: list[NDArray[Any]]) -> str:
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    digest = hashlib.sha256(text.encode())
    for tensor in tensors:
        digest.update(np.ascontiguousarray(tensor).data)
    return digest.hexdigest()


def _bytes_of(place: Path) -> bytes:
    found = os.stat(place)
    if stat.S_ISDIR(found.st_mode):
        raise is_directory(place)
    if not stat.S_ISREG(found.st_mode):
        raise UnreadableError("is not a regular file")
    with open(place, "rb") as file:
        start = file.read(8)
        if not _is_container(start) and found.st_size > MOST_JSON:
            raise UnreadableError(TOO_LONG)
        return start + file.read()


def _recalibrator_in(content: bytes) -> Any:
    text, tensors = _split(content)
    document = _parsed(text)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise UnreadableError("is not in the format of trueup")
    schema, writer = document.get("schema"), document.get("trueup")
    if type(schema) is not int or schema < 1 or not isinstance(writer, str):
        raise UnreadableError("does not state its version")
    if schema < SCHEMA:
        raise UnreadableError("was saved by an earlier version of trueup: fit it again")
    if schema > SCHEMA:
        newer = f"was written by a newer trueup, {ascii(writer[:20])[1:-1]}: upgrade trueup"
        raise UnreadableError(newer)
    if set(document) != {"format", "schema", "trueup", "recalibrator", "sha256"}:
        raise UnreadableError("has missing or unexpected entries")
    if set(tensors) != {str(number) for number in range(len(tensors))}:
        raise UnreadableError("does not number its arrays")
    promised = document.pop("sha256")
    in_order = [tensors[str(number)] for number in range(len(tensors))]
    if promised != _checksum(document, in_order):
        raise UnreadableError("was changed after it was saved: its checksum does not match")
    decoder = Decoder(tensors)
    try:
        recalibrator = decoder.recalibrator(document["recalibrator"])
    except RecursionError:
        raise UnreadableError("is nested too deeply") from None
    if decoder.used != set(tensors):
        raise UnreadableError("has missing or duplicate arrays")
    if not getattr(recalibrator, "fit_", None):
        raise UnreadableError("holds a recalibrator that was not fitted")
    return recalibrator


def _split(content: bytes) -> tuple[bytes, dict[str, NDArray[Any]]]:
    """Return the JSON, and the arrays stored outside it."""
    if not _is_container(content):
        return content, {}
    from safetensors import SafetensorError
    from safetensors.numpy import load as safetensors

    try:
        tensors = safetensors(content)
    except (SafetensorError, KeyError, ValueError):
        raise UnreadableError("is neither JSON nor complete safetensors") from None
    end = 8 + int.from_bytes(content[:8], "little")
    about = _parsed(content[8:end]).get("__metadata__", {})
    return about.get("trueup", "").encode("utf-8", "surrogatepass"), tensors


def _is_container(content: bytes) -> bool:
    """Return whether content begins like safetensors, with a length in eight bytes."""
    return b"\0" in content[:8]


def _parsed(text: bytes) -> Any:
    """Parse JSON strictly: no repeated keys, no infinities, limited nesting."""
    if len(text) > MOST_JSON:
        raise UnreadableError(TOO_LONG)
    if _nesting(text) > MOST_BRACKETS:
        raise UnreadableError("is nested too deeply")
    try:
        return json.loads(
            text.decode(), object_pairs_hook=_object, parse_float=_float, parse_constant=_float
        )
    except (ValueError, RecursionError):
        raise UnreadableError("is not complete JSON") from None


def _nesting(text: bytes) -> int:
    """Return the maximum nesting depth of brackets, ignoring those in strings."""
    bare = text.replace(rb"\\", b"").replace(rb"\"", b"").translate(None, NO_MARKS)
    marks = np.frombuffer(bare, np.uint8)
    quote = marks == ord('"')
    in_string = np.logical_xor.accumulate(quote) | quote
    opening = (marks == ord("[")) | (marks == ord("{"))
    step = np.where(opening, np.int8(1), np.int8(-1)) * ~in_string
    return int(np.cumsum(step, dtype=np.int32).max(initial=0))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise UnreadableError("names something twice")
    return found


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise UnreadableError("holds a number that is not finite")
    return value
