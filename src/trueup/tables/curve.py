"""Curves: what a bin-free estimator saw along the score, ready to be drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.errors import must_be
from trueup.tables.frames import Library, frame_of


@dataclass(frozen=True, eq=False, repr=False)
class Curve:
    """Named columns of equal length, one row per point, in increasing order of the score.

    Curves of several classes stand below each other, told apart by the column ``class``. Unlike
    tables of bins, curves do not add: they are what was computed, not what it was computed from.
    """

    data: Mapping[str, NDArray[Any]]

    @classmethod
    def stacked(cls, names: Sequence[Any], curves: Sequence[Curve | None]) -> Curve | None:
        """Put the curves of several classes together; classes without one are left out."""
        present = [(n, c) for n, c in zip(names, curves, strict=True) if c is not None]
        if not present:
            return None
        label = np.array([name for name, _ in present])
        data = {"class": np.repeat(label, [len(curve) for _, curve in present])}
        for key in present[0][1].data:
            data[key] = np.concatenate([curve[key] for _, curve in present])
        return cls(data)

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return a column by its name."""
        if name not in self.data:
            raise must_be("name", f"one of {', '.join(map(repr, self.data))}", name)
        return self.data[name]

    def __len__(self) -> int:
        """Return the number of points."""
        return len(next(iter(self.data.values())))

    def columns(self) -> dict[str, NDArray[Any]]:
        """What a reader wants of every point, by name."""
        return dict(self.data)

    def to_frame(self, library: Library | None = None) -> Any:
        """Return a data frame with one row per point (pandas, polars or pyarrow)."""
        return frame_of(self.columns(), library)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values that `from_dict` reads back, ready for JSON."""
        return {name: column.tolist() for name, column in self.data.items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Curve:
        """Read what `to_dict` wrote."""
        return cls({name: np.array(column) for name, column in data.items()})

    def __repr__(self) -> str:
        """Name the columns; the numbers are for `to_frame`."""
        return f"Curve of {len(self)} points: {', '.join(self.data)}"
