"""Columns on one scale: centred, and divided by their standard deviation in the fit set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from trueup.engines.base import Floats, Ints

FURTHEST = 1e100  # new rows further out are put here: distances to them stay finite
ROUNDING = 1e-14  # of its largest value: what varies less than this does not vary


@dataclass(frozen=True, eq=False)
class Scaling:
    """Columns ``kept``, divided by ``scale``, less ``center``; those that never vary are left out.

    Attributes
    ----------
    n_columns
        Columns of what comes in.
    kept
        Numbers of the columns that vary.
    center, scale
        Mean (in units of the scale) and population standard deviation of these columns.
    """

    n_columns: int
    kept: Ints
    center: Floats
    scale: Floats

    @classmethod
    def fit(cls, rows: Floats, weights: Floats | None) -> Scaling:
        """Measure rows; a weight of 3 counts as three rows."""
        largest = np.abs(rows).max(axis=0)
        unit = np.where(largest > 0, largest, 1.0)
        inside = rows / unit  # in [-1, 1], so that squares neither overflow nor vanish
        mean = np.average(inside, axis=0, weights=weights)
        spread = np.sqrt(np.average((inside - mean) ** 2, axis=0, weights=weights))
        varies = (spread > ROUNDING) & (inside.max(axis=0) > inside.min(axis=0))
        kept = np.flatnonzero(varies)
        return cls(rows.shape[1], kept, mean[kept] / spread[kept], spread[kept] * unit[kept])

    def __call__(self, rows: Floats) -> Floats:
        """Return the kept columns on their scale; one column of zeros where none varies."""
        if len(self.kept) == 0:
            return np.zeros((len(rows), 1))
        columns = rows if len(self.kept) == self.n_columns else rows[:, self.kept]
        with np.errstate(over="ignore"):
            points = columns / self.scale
        points -= self.center
        return np.clip(points, -FURTHEST, FURTHEST, out=points)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that `of` reads back."""
        return asdict(self)

    @classmethod
    def of(cls, learned: Mapping[str, Any]) -> Scaling:
        """Read what `to_dict` wrote."""
        return cls(**learned)
