"""Named columns of numbers: small tables to print, to draw from and to turn into data frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from trueup.errors import must_be
from trueup.tables.frames import Library, frame_of

ROWS_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class Columns:
    """Columns of equal length by name; ``columns["error"]`` is one of them.

    Unlike tables of bins these do not add: they are what was computed, not what it was computed
    from.
    """

    data: Mapping[str, NDArray[Any]]

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return a column by its name."""
        if name not in self.data:
            raise must_be("name", f"one of {', '.join(map(repr, self.data))}", name)
        return self.data[name]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self.data.values()), ()))

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return all columns by name."""
        return dict(self.data)

    def to_frame(self, library: Library | None = None) -> Any:
        """Return a data frame (pandas, polars or pyarrow)."""
        return frame_of(self.columns(), library)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values that `from_dict` reads back, ready for JSON."""
        return {name: column.tolist() for name, column in self.data.items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        return cls({name: np.array(column) for name, column in data.items()})

    def __repr__(self) -> str:
        """Print the first rows as a person would read them."""
        shown = {name: [_text(v) for v in col[:ROWS_SHOWN]] for name, col in self.data.items()}
        widths = {n: max(len(n), *map(len, rows), 6) for n, rows in shown.items()}
        lines = [f"{type(self).__name__} of {len(self)} row{'s' * (len(self) != 1)}:"]
        lines.append("  ".join(f"{name:>{width}}" for name, width in widths.items()))
        for row in zip(*shown.values(), strict=True):
            cells = zip(row, widths.values(), strict=True)
            lines.append("  ".join(f"{text:>{width}}" for text, width in cells))
        if len(self) > ROWS_SHOWN:
            lines.append(f"… and {len(self) - ROWS_SHOWN} more")
        return "\n".join(lines)


def _text(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float | np.floating) else str(value)
