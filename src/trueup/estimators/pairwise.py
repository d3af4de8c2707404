"""Estimators of scores and outcomes: one set of pairs, or one for each class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from trueup.engines.threads import get_threads, run
from trueup.errors import must_be
from trueup.estimators.base import Estimator, average, check_lens, chosen_lens, root_of
from trueup.estimators.groups import ScoreGroups
from trueup.forecasts import Forecasts
from trueup.forecasts.forecasts import COLUMNS_AT_ONCE
from trueup.lens import ClassWise, FamilyLens, Lens, Member, Pairs, PairsLens, TopLabelGiven
from trueup.results import Estimate
from trueup.tables import BinTable, Curve, TableFamily

Found = TypeVar("Found")


@dataclass(frozen=True)
class Part:
    """What was found in one set of pairs: the p-th power before the root, its table, notes."""

    power: float
    table: BinTable | Curve | None = None
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class PairsEstimator(Estimator):
    """An estimator that writes `measure_pairs`; lenses, classes and their average come with it.

    Parameters
    ----------
    lens
        What part of the prediction is looked at; by default `Binary` for 1-D probabilities and
        `TopLabel` for a matrix. With `ClassWise` every class has its own estimate; p-th powers
        are averaged.
    """

    lens: Lens | None = None

    def __post_init__(self) -> None:
        check_lens(self.lens)

    def measure_pairs(self, pairs: Pairs) -> Part:
        """Return what is found in one set of pairs, which is not empty."""
        raise NotImplementedError

    def power_of_pairs(self, pairs: Pairs) -> float:
        """Return the power alone, for a call that asks for the number and no table."""
        return self.measure_pairs(pairs).power

    def takes_groups(self) -> bool:
        """Whether `power_of_groups` is written: resamples of rows then need no sort."""
        return False

    def power_of_groups(self, groups: ScoreGroups) -> float:
        """Return the power of counted rows, hard labels without weights, sorted before."""
        raise NotImplementedError

    def default_lens(self, forecasts: Forecasts) -> Lens:
        """Return the lens where none was given."""
        return chosen_lens(None, forecasts)

    def power_of_average(self) -> float:
        """Return the p of the powers that `measure_pairs` returns."""
        return 1

    def value_of(self, power: float) -> float:
        """Return the value on the scale users read."""
        return root_of(power, self.power_of_average())

    def __call__(self, probs: object, labels: object = None, *, weights: object = None) -> float:
        """Return the estimate as a float."""
        forecasts = Forecasts.of(probs, labels, weights=weights)
        lens = self.default_lens(forecasts) if self.lens is None else self.lens
        if isinstance(lens, PairsLens):
            return self.value_of(self.power_of_pairs(lens.pairs(forecasts)))
        if isinstance(lens, FamilyLens):
            found = over_members(lens, forecasts, self._power_of_member)
            return self.value_of(average(found, self.power_of_average()))
        return self.measure_forecasts(forecasts).value

    def _power_of_member(self, member: Member) -> tuple[float, float]:
        return member.share, self.power_of_pairs(member.pairs) if len(member.pairs) else 0.0

    def measure_forecasts(self, forecasts: Forecasts) -> Estimate:
        """Return the estimate for checked data."""
        lens = self.default_lens(forecasts) if self.lens is None else self.lens
        if isinstance(lens, PairsLens):
            part = self.measure_pairs(lens.pairs(forecasts))
            return Estimate(self.value_of(part.power), part.power, part.table, part.notes)
        if not isinstance(lens, FamilyLens):
            raise must_be("lens", "yield scores, not points on the simplex", lens)
        return self._over_family(forecasts, lens)

    def _over_family(self, forecasts: Forecasts, lens: FamilyLens) -> Estimate:
        found = over_members(lens, forecasts, self._measure_member)
        parts = [each.part for each in found]
        shares = [each.share for each in found]
        powers = [part.power for part in parts]
        power = average(zip(shares, powers, strict=True), self.power_of_average())
        notes: dict[str, Any] = {
            "class_errors": {each.name: self.value_of(each.part.power) for each in found},
            "class_powers": powers,
        }
        for key in next((part.notes for part in parts if part.notes), {}):
            notes[key] = [part.notes.get(key) for part in parts]
        return Estimate(self.value_of(power), power, _together(found, lens), notes)

    def _measure_member(self, member: Member) -> _Found:
        """Measure one class; one with nothing in the region adds 0."""
        part = self.measure_pairs(member.pairs) if len(member.pairs) else Part(0.0)
        return _Found(member.name, member.share, part)


class _Found(NamedTuple):
    """What was found for one member of a family."""

    name: Any
    share: float
    part: Part


def over_members(
    lens: FamilyLens, forecasts: Forecasts, measure: Callable[[Member], Found]
) -> list[Found]:
    """Call ``measure`` for every member; the classes of a matrix a few columns a thread."""
    if not (isinstance(lens, ClassWise) and forecasts.is_matrix):
        return [measure(member) for member in lens.members(forecasts)]

    def some(first: int, last: int) -> list[Found]:
        return [measure(member) for member in lens.some_members(forecasts, first, last)]

    k = forecasts.n_classes
    pieces = 2 * -(-k // (2 * COLUMNS_AT_ONCE))  # even, for two threads to share
    pieces = max(pieces, min(k, get_threads()))
    chunks = [(k * i // pieces, k * (i + 1) // pieces) for i in range(pieces)]
    return [found for part in run(some, chunks) for found in part]


def _together(found: list[_Found], lens: FamilyLens) -> TableFamily | Curve | None:
    names = [each.name for each in found]
    tables = [each.part.table for each in found]
    if any(isinstance(table, Curve) for table in tables):
        return Curve.stacked(names, [t if isinstance(t, Curve) else None for t in tables])
    if any(isinstance(table, BinTable) for table in tables):
        return TableFamily(
            tuple(names),
            tuple(each.share for each in found),
            tuple(table if isinstance(table, BinTable) else None for table in tables),
            isinstance(lens, TopLabelGiven),
        )
    return None
