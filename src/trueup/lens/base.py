"""What every lens has, and the three kinds of problem a lens can induce."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.engines.blocks import row_blocks
from trueup.errors import Words, must_be
from trueup.forecasts import Forecasts
from trueup.lens.induced import Cells, Member, Pairs
from trueup.specification import Specification

Region = tuple[float, float] | Callable[[Any], Any] | None


@dataclass(frozen=True, kw_only=True, repr=False)
class Lens(Specification):
    """What every lens has: a region ``where`` of induced predictions to look at (eq. 5).

    ``where=(low, high)`` keeps low < p ≤ high; a function is given the array of induced
    predictions (for a simplex: some rows of them at a time) and returns which to keep.
    """

    where: Region = None
    independent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.where is None or callable(self.where):
            return
        try:
            low, high = (float(end) for end in self.where)
        except (TypeError, ValueError):
            raise must_be("where", "a pair (low, high) or a function", self.where) from None
        if not low < high:
            raise must_be("where", "a pair (low, high) with low below high", self.where)
        object.__setattr__(self, "where", tuple(self.where))  # so that the lens can be hashed

    def _inside(self, p: NDArray[Any]) -> NDArray[np.bool_]:
        if callable(self.where):
            inside = np.asarray(self.where(p))
            if inside.shape != (len(p),) or inside.dtype != bool:
                raise must_be("where", f"a function that returns {len(p)} booleans", inside)
            return inside
        assert self.where is not None
        low, high = self.where
        exact = p.astype(np.float64, copy=False)  # float32 scores would round the ends
        return np.asarray((exact > low) & (exact <= high))

    def _restrict(self, pairs: Pairs) -> Pairs:
        if self.where is None:
            return pairs
        inside = self._inside(pairs.p)
        w = None if pairs.w is None else pairs.w[inside]
        return Pairs(pairs.p[inside], pairs.y[inside], w)

    def _pairs(self, p: NDArray[Any], y: NDArray[Any], w: Floats | None) -> Pairs:
        pairs = self._restrict(Pairs(p, y, w))
        if len(pairs) == 0:
            raise must_be("where", "a region that holds a prediction", Words("an empty one"))
        return pairs


class PairsLens(Lens):
    """A lens that induces one set of pairs."""

    def pairs(self, forecasts: Forecasts) -> Pairs:
        """Return the induced pairs."""
        raise NotImplementedError


class FamilyLens(Lens):
    """A lens that induces several sets of pairs, averaged with shares that sum to 1."""

    def members(self, forecasts: Forecasts) -> Iterator[Member]:
        """Yield the induced problems one at a time."""
        raise NotImplementedError


class SimplexLens(Lens):
    """A lens that induces points of a simplex."""

    def cells(self, forecasts: Forecasts) -> Cells:
        """Return the induced points and outcomes."""
        raise NotImplementedError

    def _cells(self, f: Forecasts, rows: Any, outcomes: Any, m: int) -> Cells:
        kept = np.arange(f.n)
        if self.where is not None:
            if not callable(self.where):
                raise must_be("where", "a function of (n, m) predictions for this lens", self.where)
            parts = [self._inside(rows(kept[block])) for block in row_blocks(f.n, m)]
            kept = np.flatnonzero(np.concatenate(parts))
            if len(kept) == 0:
                raise must_be("where", "a region that holds a prediction", Words("an empty one"))
        return Cells(rows, outcomes, f.weights, kept, m)
