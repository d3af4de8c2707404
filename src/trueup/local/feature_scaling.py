"""Columns on one scale: centred, and divided by their standard deviation in the fit set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from trueup._typing import Floats, Ints

FURTHEST = 1e100  # new rows further out are put here: distances to them stay finite
ROUNDING = 1e-14  # of its largest value: what varies less than this does not vary


@dataclass(frozen=True, eq=False)
class Scaling:
    """Columns ``kept``, less ``center``, divided by ``scale``; those that never vary are left out.

    The center goes first: the difference of near values is exact, so that an offset, however
    large, costs distances nothing. Halves of values have no differences that overflow.

    Attributes
    ----------
    n_columns
        Columns of what comes in.
    kept
        Numbers of the columns that vary.
    center, scale
        Mean and population standard deviation of these columns.
    """

    n_columns: int
    kept: Ints
    center: Floats
    scale: Floats

    @classmethod
    def fit(cls, rows: Floats, weights: Floats | None) -> Scaling:
        """Measure rows; a weight of 3 counts as three rows."""
        largest = np.abs(rows).max(axis=0)
        unit = np.exp2(np.frexp(largest)[1] - 1.0)  # a power of 2, so that dividing rounds nothing
        inside = rows / unit  # in (-2, 2), so that squares neither overflow nor vanish
        mean = np.average(inside, axis=0, weights=weights)
        away = inside - mean
        missed = np.average(away, axis=0, weights=weights)  # what a mean far from 0 has rounded off
        variance = np.average(away**2, axis=0, weights=weights) - missed**2
        spread = np.sqrt(np.maximum(variance, 0))
        varies = (spread > ROUNDING) & (inside.max(axis=0) > inside.min(axis=0))
        kept = np.flatnonzero(varies)
        return cls(rows.shape[1], kept, (mean * unit)[kept], (spread * unit)[kept])

    def __call__(self, rows: Floats) -> Floats:
        """Return the kept columns on their scale; one column of zeros where none varies."""
        if len(self.kept) == 0:
            return np.zeros((len(rows), 1))
        columns = rows if len(self.kept) == self.n_columns else rows[:, self.kept]
        with np.errstate(over="ignore"):
            points = columns / 2
            points -= self.center / 2
            points /= self.scale / 2
        return np.clip(points, -FURTHEST, FURTHEST, out=points)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that `of` reads back."""
        return asdict(self)

    @classmethod
    def of(cls, learned: Mapping[str, Any]) -> Scaling:
        """Read what `to_dict` wrote."""
        return cls(**learned)
