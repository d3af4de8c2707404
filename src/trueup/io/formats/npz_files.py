"""Arrays in NPZ files; pickled objects are refused, never loaded."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from trueup.forecasts.arrays import describe
from trueup.io.file_errors import refusal
from trueup.io.sources import Source
from trueup.io.table import Table

DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, KeyError, NotImplementedError)


class NpzTable(Table):
    """Arrays of an NPZ file: 1-D ones are columns, a 2-D one is a matrix of that name."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        try:
            with zipfile.ZipFile(source.path) as archive:
                inside = [name for name in archive.namelist() if name.endswith(".npy")]
                self.shapes = {name.removesuffix(".npy"): _shape(archive, name) for name in inside}
        except DAMAGED as problem:
            raise refusal(self.shown, "is not a valid NPZ file") from problem
        self.names = tuple(self.shapes)
        if not self.names:
            raise refusal(self.shown, "holds no arrays", hint="write it with np.savez")
        self.n = max((shape[0] for shape in self.shapes.values() if shape), default=0)
        if self.n == 0:
            raise refusal(self.shown, "has no rows")

    def numeric_among(self, names: Sequence[str]) -> set[str]:
        """Arrays of numbers, by their headers: a matrix may be large."""
        return {name for name in names if self._kind(name) in "fiub"}

    def _kind(self, name: str) -> str:
        """The kind of an array from its header; "f" if it is damaged, which reading reports."""
        try:
            with zipfile.ZipFile(self.source.path) as archive, archive.open(f"{name}.npy") as file:
                version = npy.read_magic(file)
                read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
                return str(read(file)[2].kind)
        except (ValueError, *DAMAGED):
            return "f"

    def _fetch(self, names: Sequence[str], limit: int | None) -> dict[str, NDArray[Any]]:
        found = {}
        with np.load(self.source.path, allow_pickle=False) as arrays:
            for name in names:
                found[name] = self._plain(name, arrays)[:limit]
        return found

    def _plain(self, name: str, arrays: Any) -> NDArray[Any]:
        try:
            array: NDArray[Any] = arrays[name]
        except ValueError as problem:
            if "pickle" not in str(problem):
                raise refusal(self.shown, f"array {name!r} is damaged") from problem
            told = f"array {name!r} holds Python objects, which can run code and are never loaded"
            hint = "save numbers or texts, such as labels.astype(str), instead of objects"
            raise refusal(self.shown, told, hint=hint) from None
        except DAMAGED as problem:
            raise refusal(self.shown, f"array {name!r} is damaged") from problem
        if array.ndim not in (1, 2) or array.dtype.names is not None:
            told = f"array {name!r} must be a column or a matrix of plain values"
            raise refusal(self.shown, told, describe(array))
        if array.dtype.kind == "S":
            array = np.char.decode(array, "utf-8", "replace")
        if array.dtype.kind == "U":
            array = array.astype(object)
        return array[:, 0] if array.shape[1:] == (1,) else array


def _shape(archive: zipfile.ZipFile, name: str) -> tuple[int, ...]:
    """The shape of an array from its header alone; () where there is none to read."""
    try:
        with archive.open(name) as file:
            version = npy.read_magic(file)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape: tuple[int, ...] = read(file)[0]
            return shape
    except ValueError:
        return ()
