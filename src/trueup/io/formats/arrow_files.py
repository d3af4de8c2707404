"""Tables in Arrow files and streams, Feather included, read by pyarrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.errors import CapabilityError
from trueup.io.file_errors import refusal, told_by
from trueup.io.number_columns import unnested
from trueup.io.sources import Source
from trueup.io.table import Table


class ArrowTable(Table):
    """Columns of an Arrow file, which is memory-mapped if it is not compressed."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        pyarrow = pyarrow_for(self.shown)
        try:
            self._table = _opened(pyarrow, source)
            names = tuple(self._table.column_names)
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as problem:
            raise self._unreadable(problem) from problem
        self.names = self._checked_names(names)
        self.n = int(self._table.num_rows)
        if self.n == 0:
            raise refusal(self.shown, "has no rows")

    def _fetch(self, names: Sequence[str], limit: int | None) -> dict[str, NDArray[Any]]:
        import pyarrow

        try:
            return {name: self._array(name, limit) for name in names}
        except pyarrow.ArrowException as problem:
            raise self._unreadable(problem) from problem

    def _array(self, name: str, limit: int | None) -> NDArray[Any]:
        import pyarrow

        column = self._table.column(name)
        column = column if limit is None else column.slice(0, limit)
        column.validate(full=True)  # a damaged file could point outside its memory
        kind = column.type
        if pyarrow.types.is_dictionary(kind):
            column = column.cast(kind.value_type)
        elif pyarrow.types.is_decimal(kind):
            column = column.cast(pyarrow.float64())
        array = np.asarray(column.to_numpy(zero_copy_only=False))
        if array.dtype.kind in "SU":
            array = array.astype(object)
        return unnested(self, name, array)

    def _unreadable(self, problem: Exception) -> Exception:
        return refusal(self.shown, f"cannot be read as Arrow ({told_by(problem)})")


def pyarrow_for(shown: str) -> Any:
    """Import pyarrow, or raise CapabilityError with the command that installs it."""
    try:
        import pyarrow
        import pyarrow.feather
        import pyarrow.ipc
    except ImportError:
        raise CapabilityError(
            f"{shown}: Arrow and Feather files need pyarrow. Hint: pip install pyarrow."
        ) from None
    return pyarrow


def _opened(pyarrow: Any, source: Source) -> Any:
    with open(source.path, "rb") as file:
        magic = file.read(6)
    if magic.startswith(b"FEA1"):
        return pyarrow.feather.read_table(source.path, memory_map=True)
    mapped = pyarrow.memory_map(str(source.path))
    if magic == b"ARROW1":
        return pyarrow.ipc.open_file(mapped).read_all()
    return pyarrow.ipc.open_stream(mapped).read_all()
