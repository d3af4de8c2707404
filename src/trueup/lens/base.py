"""What every lens has, and the three kinds of problem a lens can induce."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.engines.blocks import row_blocks
from trueup.errors import InputError, must_be
from trueup.forecasts import Forecasts
from trueup.lens.induced import MOST_ROWS_KEPT, Cells, Member, Pairs, once
from trueup.specification import Specification

Found = TypeVar("Found")
Region = tuple[float, float] | Callable[[Any], Any] | None


@dataclass(frozen=True, kw_only=True, repr=False)
class Lens(Specification):
    """What every lens has: a region ``where`` of induced predictions to look at (eq. 5).

    ``where=(low, high)`` keeps low < p ≤ high; a function is given the array of induced
    predictions (for a simplex: some rows of them at a time) and returns which to keep.

    A lens derives from `PairsLens`, `FamilyLens` or `SimplexLens` and writes one method. The class
    fields below say what else is known of it; their defaults are true of every lens.

    Attributes
    ----------
    induces
        The kind of problem: ``"pairs"``, ``"family"`` or ``"simplex"``.
    words
        The part of a prediction it looks at; empty: the repr says it.
    independent
        Whether different rows give independent pairs, one row one pair of each set.
    one_outcome
        Whether the outcome of each row has its score as probability if the model is calibrated,
        so that outcomes can be drawn from the scores alone.
    divides_rows
        Whether each row belongs to one member of a family alone, not to all of them.
    tells_outcomes
        Whether `outcomes` is written, so that the lens need not be applied to drawn labels.
    """

    where: Region = None
    induces: ClassVar[str] = ""
    words: ClassVar[str] = ""
    independent: ClassVar[bool] = True
    one_outcome: ClassVar[bool] = False
    divides_rows: ClassVar[bool] = False
    tells_outcomes: ClassVar[bool] = False

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

    @property
    def label(self) -> str:
        """The part of a prediction it looks at, in words where there are some."""
        return self.words or repr(self)

    @property
    def one_score(self) -> bool:
        """Whether each row gives one score and one outcome, independent of other rows."""
        return self.induces == "pairs" and self.independent

    @property
    def everywhere(self) -> Self:
        """The same lens without a region."""
        return replace(self, where=None)

    def outcomes(self, rows: Floats) -> Ints:
        """Return the induced outcome of each row, were its label each of the classes, (n, K)."""
        raise NotImplementedError

    def pairs(self, forecasts: Forecasts) -> Pairs:
        """Return the induced pairs, of a lens that gives one score per row."""
        hint = "OneVsRest(c) evaluates one class, TopLabel() the predicted one"
        raise must_be("lens", "yield one score per row", self, hint=hint)

    def problem(self, forecasts: Forecasts) -> Pairs:
        """Return the induced pairs; calls with an equal lens get the same ones.

        Very many pairs are kept only if they take little memory compared with a matrix.
        """

        def small(pairs: Pairs) -> bool:
            few = forecasts.is_matrix or len(pairs) <= MOST_ROWS_KEPT
            return few or pairs.p is forecasts.scores

        return once(forecasts, ("pairs", self), lambda: self.pairs(forecasts), keep=small)

    def inside(self, p: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which induced predictions are in the region, of a lens that has one."""
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
        return pairs if self.where is None else pairs.take(self.inside(pairs.p))

    def _pairs(self, p: NDArray[Any], y: NDArray[Any], w: Floats | None) -> Pairs:
        pairs = self._restrict(Pairs(p, y, w))
        if len(pairs) == 0:
            raise InputError("where", "selects no predictions")
        return pairs


class PairsLens(Lens):
    """A lens that induces one set of pairs."""

    induces: ClassVar[str] = "pairs"

    def pairs(self, forecasts: Forecasts) -> Pairs:
        """Return the induced pairs."""
        raise NotImplementedError


class FamilyLens(Lens):
    """A lens that induces several sets of pairs, averaged with shares that sum to 1."""

    induces: ClassVar[str] = "family"

    def members(self, forecasts: Forecasts) -> Iterator[Member]:
        """Yield the induced problems one at a time."""
        raise NotImplementedError

    def map_members(self, forecasts: Forecasts, measure: Callable[[Member], Found]) -> list[Found]:
        """Call ``measure`` for every member, in order."""
        return [measure(member) for member in self.members(forecasts)]

    def of_columns(self, forecasts: Forecasts) -> bool:
        """Return whether member k is column k of a matrix, with every row of it."""
        return False

    def shares(self, forecasts: Forecasts) -> Floats:
        """Return the share of each member; needed where members are columns."""
        raise NotImplementedError

    def names(self, forecasts: Forecasts) -> list[Any]:
        """Return the name of each member; needed where members are columns."""
        raise NotImplementedError


class SimplexLens(Lens):
    """A lens that induces points of a simplex."""

    induces: ClassVar[str] = "simplex"

    def cells(self, forecasts: Forecasts) -> Cells:
        """Return the induced points and outcomes."""
        raise NotImplementedError

    def _cells(self, f: Forecasts, rows: Any, outcomes: Any, m: int) -> Cells:
        kept = np.arange(f.n)
        if self.where is not None:
            if not callable(self.where):
                raise must_be("where", "a function of (n, m) predictions for this lens", self.where)
            parts = [self.inside(rows(kept[block])) for block in row_blocks(f.n, m)]
            kept = np.flatnonzero(np.concatenate(parts))
            if len(kept) == 0:
                raise InputError("where", "selects no predictions")
        return Cells(rows, outcomes, f.weights, kept, m)
