"""Base classes of lenses, one for each of the three kinds of induced problems."""

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
    """Base class of lenses, which choose the part of a prediction that is measured.

    See Vaicenavicius et al. 2019, eq. 5. A lens derives from `PairsLens`, `FamilyLens` or
    `SimplexLens` and defines one method. The class attributes below state its other properties;
    their defaults are correct for every lens.

    Parameters
    ----------
    where : tuple or callable, optional
        Region of induced predictions to use: ``(low, high)`` keeps low < p ≤ high. A function takes
        the array of induced predictions and returns which to keep. The default keeps all.

    Attributes
    ----------
    induces : str
        Kind of problem: ``"pairs"``, ``"family"`` or ``"simplex"``.
    words : str
        Name of the part of a prediction that it measures; if empty, the repr is used.
    independent : bool
        Whether different rows give independent pairs, with one pair per row in each set.
    one_outcome : bool
        Whether, for a calibrated model, the outcome of each row has its score as probability, so
        that outcomes can be drawn from the scores alone.
    divides_rows : bool
        Whether each row belongs to exactly one member of a family.
    tells_outcomes : bool
        Whether `outcomes` is implemented, so that drawn labels need no pass through the lens.

    Examples
    --------
    >>> from trueup.lens import Canonical, ClassWise, TopLabel
    >>> [isinstance(lens, Lens) for lens in (TopLabel(), ClassWise(), Canonical())]
    [True, True, True]
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
        """Name of the part of a prediction that it measures."""
        return self.words or repr(self)

    @property
    def one_score(self) -> bool:
        """Whether each row gives one score and one outcome, independently of other rows."""
        return self.induces == "pairs" and self.independent

    @property
    def everywhere(self) -> Self:
        """Return the same lens without a region."""
        return replace(self, where=None)

    def outcomes(self, rows: Floats) -> Ints:
        """Return the induced outcome of each row for each possible label, (n, K).

        Parameters
        ----------
        rows : ndarray
            Predicted probabilities, shape (n, K).

        Returns
        -------
        ndarray
            Outcomes, shape (n, K).
        """
        raise NotImplementedError

    def pairs(self, forecasts: Forecasts) -> Pairs:
        """Return the induced pairs of a lens with one score per row.

        Parameters
        ----------
        forecasts : Forecasts
            Validated predictions and labels.

        Returns
        -------
        Pairs
            Scores and outcomes.
        """
        hint = "OneVsRest(c) evaluates one class, TopLabel() the predicted one"
        raise must_be("lens", "yield one score per row", self, hint=hint)

    def problem(self, forecasts: Forecasts) -> Pairs:
        """Return the induced pairs, shared by all callers with an equal lens.

        Very large sets of pairs are kept only if they take little memory compared with the matrix.

        Parameters
        ----------
        forecasts : Forecasts
            Validated predictions and labels.

        Returns
        -------
        Pairs
            Scores and outcomes.
        """

        def small(pairs: Pairs) -> bool:
            few = forecasts.is_matrix or len(pairs) <= MOST_ROWS_KEPT
            return few or pairs.p is forecasts.scores

        return once(forecasts, ("pairs", self), lambda: self.pairs(forecasts), keep=small)

    def inside(self, p: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which induced predictions are in the region, for a lens with a region.

        Parameters
        ----------
        p : ndarray
            Induced predictions.

        Returns
        -------
        ndarray of bool
            Which predictions to keep.
        """
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
    """Base class of lenses that induce one set of pairs.

    Parameters
    ----------
    where : tuple or callable, optional
        Region of induced predictions to use: ``(low, high)`` keeps low < p ≤ high. A function takes
        the array of induced predictions and returns which to keep. The default keeps all.

    Examples
    --------
    >>> from trueup.lens import TopLabel
    >>> isinstance(TopLabel(), PairsLens)
    True
    """

    induces: ClassVar[str] = "pairs"

    def pairs(self, forecasts: Forecasts) -> Pairs:
        """Return the induced pairs."""
        raise NotImplementedError


class FamilyLens(Lens):
    """Base class of lenses that induce several sets of pairs, averaged with weights that sum to 1.

    Parameters
    ----------
    where : tuple or callable, optional
        Region of induced predictions to use: ``(low, high)`` keeps low < p ≤ high. A function takes
        the array of induced predictions and returns which to keep. The default keeps all.

    Examples
    --------
    >>> from trueup.lens import ClassWise
    >>> isinstance(ClassWise(), FamilyLens)
    True
    """

    induces: ClassVar[str] = "family"

    def members(self, forecasts: Forecasts) -> Iterator[Member]:
        """Yield the induced problems one at a time.

        Parameters
        ----------
        forecasts : Forecasts
            Validated predictions and labels.

        Yields
        ------
        Member
            A problem, with its name and its weight in the average.
        """
        raise NotImplementedError

    def map_members(self, forecasts: Forecasts, measure: Callable[[Member], Found]) -> list[Found]:
        """Call a function for every member, and return the results in order.

        Parameters
        ----------
        forecasts : Forecasts
            Validated predictions and labels.
        measure : callable
            Function of a `Member`.

        Returns
        -------
        list
            The results.
        """
        return [measure(member) for member in self.members(forecasts)]

    def of_columns(self, forecasts: Forecasts) -> bool:
        """Return whether member k is column k of a matrix and contains all rows.

        Parameters
        ----------
        forecasts : Forecasts
            Validated predictions and labels.

        Returns
        -------
        bool
            Whether members are columns.
        """
        return False

    def shares(self, forecasts: Forecasts) -> Floats:
        """Return the weight of each member in the average, if members are columns.

        Parameters
        ----------
        forecasts : Forecasts
            Validated predictions and labels.

        Returns
        -------
        ndarray
            The weights, which sum to 1.
        """
        raise NotImplementedError

    def names(self, forecasts: Forecasts) -> list[Any]:
        """Return the name of each member, if members are columns.

        Parameters
        ----------
        forecasts : Forecasts
            Validated predictions and labels.

        Returns
        -------
        list
            The names.
        """
        raise NotImplementedError


class SimplexLens(Lens):
    """Base class of lenses that induce points of a simplex.

    Parameters
    ----------
    where : tuple or callable, optional
        Region of induced predictions to use: ``(low, high)`` keeps low < p ≤ high. A function takes
        the array of induced predictions and returns which to keep. The default keeps all.

    Examples
    --------
    >>> from trueup.lens import Canonical
    >>> isinstance(Canonical(), SimplexLens)
    True
    """

    induces: ClassVar[str] = "simplex"

    def cells(self, forecasts: Forecasts) -> Cells:
        """Return the induced points and outcomes.

        Parameters
        ----------
        forecasts : Forecasts
            Validated predictions and labels.

        Returns
        -------
        Cells
            The points and their outcomes.
        """
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
