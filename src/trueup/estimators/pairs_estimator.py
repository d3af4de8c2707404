"""Estimators of scores and outcomes: one set of pairs, or one for each class."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from trueup.errors import must_be
from trueup.estimators.base import Ends, Estimator, average, root_of
from trueup.forecasts import Forecasts
from trueup.lens import FamilyLens, Lens, Member, Pairs, SimplexLens, check_lens
from trueup.results import Estimate
from trueup.tables.base import Table
from trueup.tables.families import stacked


@dataclass(frozen=True)
class Part:
    """Result for one set of pairs: the p-th power before the root, its table and notes."""

    pth_power: float
    table: Any = None
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class PairsEstimator(Estimator):
    """Base class of estimators defined by `measure_pairs`, which adds lenses, classes and averages.

    Parameters
    ----------
    lens : Lens, optional
        The part of a prediction to measure. The default is `Binary` for 1-D probabilities
        and `TopLabel` for a matrix. With `ClassWise` every class has its own estimate, and p-th
        powers are averaged.
    """

    lens: Lens | None = None
    draws_outcomes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_lens(self.lens)

    def measure_pairs(self, pairs: Pairs) -> Part:
        """Compute the power, table and notes for one non-empty set of pairs.

        Parameters
        ----------
        pairs : Pairs
            Scores, outcomes and weights of the rows.

        Returns
        -------
        Part
            Power, table and notes.
        """
        raise NotImplementedError

    def power_of_pairs(self, pairs: Pairs) -> float:
        """Compute only the power, for callers that need no table or notes.

        Parameters
        ----------
        pairs : Pairs
            Scores, outcomes and weights of the rows.

        Returns
        -------
        float
            The power.
        """
        return self.measure_pairs(pairs).pth_power

    def measure_simplex(self, forecasts: Forecasts, lens: SimplexLens) -> Part:
        """Compute the power, table and notes for points of a simplex.

        Parameters
        ----------
        forecasts : Forecasts
            Validated predictions and labels.
        lens : Lens
            Lens that yields the problem.

        Returns
        -------
        Part
            Power, table and notes.
        """
        raise must_be("lens", "yield scores, not points on the simplex", lens)

    def power_of_average(self) -> float:
        """Return the p of the powers that `measure_pairs` returns: the norm, if there is one.

        Returns
        -------
        float
            The p.
        """
        return getattr(self, "norm", 1)

    def value_of(self, power: float) -> float:
        """Return the value on the scale that users see."""
        return root_of(power, self.power_of_average())

    def bounds(self, forecasts: Forecasts) -> Ends:
        """Return 0 and 1: the value is an error between probabilities."""
        return Ends(0.0, 1.0)

    def __call__(
        self, probs: object, labels: object = None, *, weights: object = None, logits: bool = False
    ) -> float:
        """Return the estimate as a float."""
        forecasts = Forecasts.from_arrays(probs, labels, weights=weights, logits=logits)
        lens: Any = self.lens_for(forecasts)
        if lens.induces == "pairs":
            return self.value_of(self.power_of_pairs(lens.problem(forecasts)))
        if lens.induces == "family":
            found = lens.map_members(forecasts, self._power_of_member)
            return self.value_of(average(found, self.power_of_average()))
        return self.measure_forecasts(forecasts).value

    def _power_of_member(self, member: Member) -> tuple[float, float]:
        return member.share, self.power_of_pairs(member.pairs) if len(member.pairs) else 0.0

    def measure_forecasts(self, forecasts: Forecasts) -> Estimate:
        """Return the estimate for checked data."""
        lens: Any = self.lens_for(forecasts)
        if lens.induces == "family":
            return self.average(self.measure_members(forecasts, lens), lens.divides_rows)
        if lens.induces == "simplex":
            part = self.measure_simplex(forecasts, lens)
        else:
            part = self.measure_pairs(lens.problem(forecasts))
        return self._estimate(part)

    def _estimate(self, part: Part) -> Estimate:
        return Estimate(self.value_of(part.pth_power), part.pth_power, part.table, part.notes)

    def measure_members(self, forecasts: Forecasts, lens: FamilyLens) -> list[MemberPart]:
        """Compute the parts of all members of a family.

        Parameters
        ----------
        forecasts : Forecasts
            Validated predictions and labels.
        lens : Lens
            Lens that yields the problem.

        Returns
        -------
        list of tuple
            One entry per member.
        """
        return lens.map_members(forecasts, self._measure_member)

    def _measure_member(self, member: Member) -> MemberPart:
        """Measure one class; a class without rows in the region contributes 0."""
        part = self.measure_pairs(member.pairs) if len(member.pairs) else Part(0.0)
        return MemberPart(member.name, member.share, part)

    def average(self, found: list[MemberPart], divides_rows: bool) -> Estimate:
        """Compute the estimate of a family from the parts of its members.

        Parameters
        ----------
        found : list of tuple
            The parts of the members.
        divides_rows : bool
            Whether each row belongs to exactly one member.

        Returns
        -------
        Estimate
            Value, table and notes.
        """
        power = average(
            ((each.share, each.part.pth_power) for each in found), self.power_of_average()
        )
        notes = {
            "class_errors": {each.name: self.value_of(each.part.pth_power) for each in found},
            "class_powers": [each.part.pth_power for each in found],
        } | self.notes_of_members([each.part.notes for each in found])
        table = self.table_of_members(found, divides_rows)
        return Estimate(self.value_of(power), power, table, notes)

    def table_of_members(self, found: list[MemberPart], divides_rows: bool) -> Table | None:
        """Combine the tables of all members into one.

        Parameters
        ----------
        found : list of tuple
            The parts of the members.
        divides_rows : bool
            Whether each row belongs to exactly one member.

        Returns
        -------
        Table or None
            The combined table.
        """
        names, shares, parts = zip(*found, strict=True)
        return stacked(names, shares, [part.table for part in parts], divides_rows)

    def notes_of_members(self, notes: list[dict[str, Any]]) -> dict[str, Any]:
        """Combine the notes of all members: by default each note becomes a list over members.

        Parameters
        ----------
        notes : list of dict
            The notes of the members.

        Returns
        -------
        dict
            The notes of the family.
        """
        keys = dict.fromkeys(key for each in notes for key in each)
        return {key: [each.get(key) for each in notes] for key in keys}


class MemberPart(NamedTuple):
    """Result for one member of a family."""

    name: Any
    share: float
    part: Part
