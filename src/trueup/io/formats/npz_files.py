"""Arrays in NPZ files; pickled objects raise an error and are never loaded."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from trueup.errors import InputError
from trueup.forecasts.arrays import describe
from trueup.io.file_errors import refusal
from trueup.io.sources import Source
from trueup.io.table import Table

DAMAGED = "f"  # the kind of an array whose header is not true
MOST_BYTES_OF_ONE = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: 1040}

# A damaged archive or header makes zipfile and NumPy raise errors of many kinds, MemoryError and
# SystemError among them. So what they raise is caught, whatever it is.


class NpzTable(Table):
    """Arrays of an NPZ file: a 1-D array is a column, a 2-D array is a matrix of that name."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._shapes: dict[str, tuple[int, ...] | None] = {}  # None where the array is damaged
        self._kinds: dict[str, str] = {}
        try:
            with zipfile.ZipFile(source.path) as archive:
                for entry in archive.infolist():
                    if entry.filename.endswith(".npy"):
                        name = entry.filename.removesuffix(".npy")
                        self._shapes[name], self._kinds[name] = _shape_and_kind(archive, entry)
        except Exception as problem:
            raise refusal(self.shown, "is not a valid NPZ file") from problem
        self.names = self._checked_names(self._shapes)
        if not self.names:
            raise refusal(self.shown, "holds no arrays", hint="write it with np.savez")
        if not any(self._shapes.values()) and None in self._shapes.values():
            raise self._damaged(next(name for name, x in self._shapes.items() if x is None))
        self.n = max((shape[0] for shape in self._shapes.values() if shape), default=0)
        if self.n == 0:
            raise refusal(self.shown, "has no rows")

    def numeric_among(self, names: Sequence[str]) -> set[str]:
        """Return the names of numeric arrays, from their headers because a matrix may be large."""
        return {name for name in names if self._kinds[name] in "fiub"}

    def _fetch(self, names: Sequence[str], limit: int | None) -> dict[str, NDArray[Any]]:
        return {name: self._plain(name)[:limit] for name in names}

    def _plain(self, name: str) -> NDArray[Any]:
        if self._shapes[name] is None:
            raise self._damaged(name)
        try:
            with zipfile.ZipFile(self.source.path) as archive, archive.open(f"{name}.npy") as file:
                return self._as_plain(name, npy.read_array(file, allow_pickle=False))
        except (InputError, MemoryError):
            raise
        except Exception as problem:
            if not (isinstance(problem, ValueError) and "Object arrays" in str(problem)):
                raise self._damaged(name) from problem
            told = f"array {name!r} holds Python objects, which can run code and are never loaded"
            hint = "save numbers or texts, such as labels.astype(str), instead of objects"
            raise refusal(self.shown, told, hint=hint) from None

    def _as_plain(self, name: str, array: NDArray[Any]) -> NDArray[Any]:
        if array.ndim not in (1, 2) or array.dtype.names is not None:
            told = f"array {name!r} must be a column or a matrix of plain values"
            raise refusal(self.shown, told, describe(array))
        if array.dtype.kind == "S":
            array = np.char.decode(array, "utf-8", "replace")
        if array.dtype.kind == "U":
            array = array.astype(object)
        return array[:, 0] if array.shape[1:] == (1,) else array

    def _damaged(self, name: str) -> Exception:
        return refusal(self.shown, f"array {name!r} is damaged")


def _shape_and_kind(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo
) -> tuple[tuple[int, ...] | None, str]:
    """Return the shape of an array and the kind of its dtype, from the header alone.

    The shape is None if the header is invalid. Such an array counts as numeric until it is read;
    then an error reports that it is damaged.
    """
    try:
        with archive.open(entry) as file:
            version = npy.read_magic(file)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, _, dtype = read(file)
            begins = file.tell()
    except Exception:
        return None, DAMAGED
    # Memory for the whole shape is taken before the first value is read, so it must be true.
    if not all(type(n) is int and n >= 0 for n in shape) or dtype.itemsize == 0:
        return None, DAMAGED
    size = math.prod(shape) * dtype.itemsize
    if not dtype.hasobject and size != entry.file_size - begins:
        return None, DAMAGED
    # The size in the archive is a claim as well; other methods have no limit that is known.
    ratio = MOST_BYTES_OF_ONE.get(entry.compress_type)
    if ratio and entry.file_size > ratio * entry.compress_size:
        return None, DAMAGED
    return tuple(shape), str(dtype.kind)
