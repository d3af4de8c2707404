"""Binned calibration errors: any lens, binning, norm and correction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np

from trueup.bins import Binning, FixedEdges, SimplexGrid, UniformWidth
from trueup.engines.select import engine
from trueup.engines.types import Sums
from trueup.errors import must_be
from trueup.estimators.base import (
    Estimator,
    average,
    check_lens,
    check_norm,
    chosen_lens,
    root_of,
)
from trueup.estimators.pairwise import over_members
from trueup.estimators.powers import (
    debiased_power,
    label_binned_power,
    plugin_power,
    plugin_powers,
)
from trueup.estimators.simplex import cell_table, simplex_power
from trueup.forecasts import Forecasts
from trueup.lens import (
    ClassWise,
    FamilyLens,
    Lens,
    Member,
    Pairs,
    PairsLens,
    SimplexLens,
    TopLabelGiven,
)
from trueup.results import Estimate
from trueup.specification import check_flag
from trueup.tables import BinTable, CellTable, TableFamily


@dataclass(frozen=True, repr=False)
class BinnedError(Estimator):
    r"""Distance between mean score and mean label over bins.

    With share :math:`s_b`, mean score :math:`f_b` and mean label :math:`y_b` of each bin, the
    plug-in error is :math:`(\sum_b s_b |f_b - y_b|^p)^{1/p}`, and the largest
    :math:`|f_b - y_b|` for p = ∞.

    Parameters
    ----------
    lens
        What part of the prediction is looked at; by default `Binary` for 1-D probabilities and
        `TopLabel` for a matrix.
    binning
        `UniformWidth`, `EqualMass`, `FixedEdges`, `VarianceTree` or `SimplexGrid`.
    norm
        p ≥ 1, or ``math.inf`` for the worst bin.
    debias
        Subtract the bias that chance alone gives (norms 1 and 2; Kumar et al. 2019). True is
        their correction, exact when scores are constant within bins and a little too large
        otherwise; ``"residual"`` uses the variance of score − label instead, which makes the
        square unbiased there too.
    equal_shares
        Give every bin the share 1/B of the B bins asked for, whatever it holds: the literal
        1/(KR) of Nixon et al.'s TACE.
    label_binned
        Average :math:`|f_i - y_b|^p` over rows (Roelofs et al. 2022, eq. 3); never below plug-in.
    distance
        For lenses on a simplex: ``"tv"`` (half the L1 distance), ``"squared"`` Euclidean, or a
        function of outcome shares and mean predictions, both (C, m), that returns (C,).

    Notes
    -----
    The plug-in error is biased upwards by noise, most for calibrated models, small samples and
    many bins, and downwards by averaging within bins. Cost: one read of the data, and for
    equal-mass bins a selection of the cuts. Only non-empty bins count.

    References
    ----------
    Roelofs et al. 2022, eqs. 3 and 4; Kumar, Liang & Ma 2019, Defs. 5.2 and G.3;
    Vaicenavicius et al. 2019, eq. 6.

    Examples
    --------
    >>> round(BinnedError()([0.95, 1.0], [1, 0]), 6)
    0.475
    >>> BinnedError(norm=2, debias=True)
    BinnedError(lens=None, binning=UniformWidth(n_bins=15), norm=2, debias=True)
    """

    lens: Lens | None = None
    binning: Binning = UniformWidth(15)
    norm: float = 1
    _: KW_ONLY
    debias: bool | str = False
    label_binned: bool = False
    equal_shares: bool = False
    distance: str | Callable[[Any, Any], Any] = "tv"

    def __post_init__(self) -> None:
        check_lens(self.lens)
        if not isinstance(self.binning, Binning):
            raise must_be("binning", "a binning, such as EqualMass(15)", self.binning)
        check_norm(self.norm)
        if not isinstance(self.debias, bool | np.bool_) and not _is(self.debias, "residual"):
            raise must_be("debias", 'True, False or "residual"', self.debias)
        check_flag("label_binned", self.label_binned)
        check_flag("equal_shares", self.equal_shares)
        if self.debias and self.norm not in (1, 2):
            raise must_be("debias", "False for norms other than 1 and 2", self.debias)
        if bool(self.debias) + self.label_binned + self.equal_shares > 1:
            rule = "the only one of debias, label_binned and equal_shares that is set"
            raise must_be("debias" if self.debias else "label_binned", rule, True)
        if self.debias and isinstance(self.lens, SimplexLens):
            raise must_be("debias", "False for a lens on a simplex", self.debias)
        if self.debias and self.lens is not None and not self.lens.independent:
            rule = f"False for {self.lens!r}, whose pairs depend on each other"
            raise must_be("debias", rule, self.debias)
        if not (callable(self.distance) or _is(self.distance, "tv", "squared")):
            raise must_be("distance", '"tv", "squared" or a function', self.distance)

    def measure_forecasts(self, forecasts: Forecasts) -> Estimate:
        """Return the estimate for checked data."""
        lens = chosen_lens(self.lens, forecasts)
        if isinstance(lens, SimplexLens):
            return self._on_simplex(forecasts, lens)
        if isinstance(lens, FamilyLens):
            return self._over_family(forecasts, lens)
        assert isinstance(lens, PairsLens)
        pairs = lens.pairs(forecasts)
        table = self._table(pairs)
        power, merged = self._power(table, pairs)
        return Estimate(root_of(power, self.norm), power, table, _notes(table, merged))

    def statistics(self, forecasts: Forecasts) -> BinTable | TableFamily | CellTable | None:
        """Return the table, which adds where bins are fixed beforehand; else None."""
        fixed = isinstance(self.binning, UniformWidth | FixedEdges | SimplexGrid)
        if not fixed or getattr(self.binning, "n_bins", 0) == "auto" or self.label_binned:
            return None
        table: BinTable | TableFamily | CellTable = self.measure_forecasts(forecasts).table
        return table

    def conclude(self, statistics: Any) -> Estimate:
        """Return the estimate for an added-up table."""
        table = statistics
        if isinstance(table, CellTable):
            return self._of_cells(table, self.binning.asked(int(table.count.sum())))
        if isinstance(table, BinTable):
            power, merged = self._power(table, None)
            return Estimate(root_of(power, self.norm), power, table, _notes(table, merged))
        answers = [
            _Answer(name, share, part, *((0.0, 0) if part is None else self._power(part, None)))
            for name, share, part in zip(table.names, table.shares, table.tables, strict=True)
        ]
        return self._averaged(answers, table.by_weight)

    def _table(self, pairs: Pairs) -> BinTable:
        inner = self.binning.inner_edges(pairs)
        sums = engine.bins.bin_sums(pairs.p, pairs.y, pairs.w, inner)
        return BinTable.of_sums(inner, sums, self.binning.asked(len(pairs)))

    def _power(self, table: BinTable, pairs: Pairs | None) -> tuple[float, int]:
        """Averaged p-th power of one table, and how many bins were merged for it."""
        if self.debias:
            table, merged = table.without_singles()
            return debiased_power(table, self.norm, residual=self.debias == "residual"), merged
        if self.label_binned:
            assert pairs is not None
            return label_binned_power(table, pairs, self.norm), 0
        return plugin_power(table, self.norm, equal_shares=self.equal_shares), 0

    def _over_family(self, forecasts: Forecasts, lens: FamilyLens) -> Estimate:
        answers: list[_Answer]
        if self._one_read(forecasts, lens):
            assert isinstance(lens, ClassWise)
            answers = self._in_one_read(forecasts, lens)
        else:
            answers = over_members(lens, forecasts, self._member)
        return self._averaged(answers, isinstance(lens, TopLabelGiven))

    def _averaged(self, answers: list[_Answer], by_weight: bool) -> Estimate:
        power = average(((a.share, a.power) for a in answers), self.norm)
        family = TableFamily(
            tuple(a.name for a in answers),
            tuple(a.share for a in answers),
            tuple(a.table for a in answers),
            by_weight,
        )
        notes = {
            "class_errors": {a.name: root_of(a.power, self.norm) for a in answers},
            "class_powers": [a.power for a in answers],
            "merged": sum(a.merged for a in answers),
        }
        return Estimate(root_of(power, self.norm), power, family, notes)

    def _member(self, member: Member) -> _Answer:
        if len(member.pairs) == 0:  # nothing in the region: the class adds 0
            return _Answer(member.name, member.share, None, 0.0, 0)
        table = self._table(member.pairs)
        return _Answer(member.name, member.share, table, *self._power(table, member.pairs))

    def _one_read(self, forecasts: Forecasts, lens: FamilyLens) -> bool:
        """Whether the tables of all classes can be made in one read of the matrix."""
        return (
            isinstance(lens, ClassWise)
            and forecasts.is_matrix
            and isinstance(self.binning, UniformWidth | FixedEdges)
            and lens.where is None
            and forecasts.weights is None
            and not forecasts.soft
            and not self.label_binned
        )

    def _in_one_read(self, forecasts: Forecasts, lens: ClassWise) -> list[_Answer]:
        anything = Pairs(np.empty(forecasts.n), np.empty(0), None)
        inner, asked = self.binning.inner_edges(anything), self.binning.asked(forecasts.n)
        labels = forecasts.labels.astype(np.int64, copy=False)
        k = forecasts.n_classes
        sums = engine.bins.class_bin_sums(forecasts.read, forecasts.factor, labels, k, inner)
        tables = [
            BinTable.of_sums(inner, Sums(*(moment[c] for moment in sums)), asked) for c in range(k)
        ]
        if self.debias:
            powers = [self._power(table, None) for table in tables]
        else:
            equal = asked if self.equal_shares else None
            powers = [(power, 0) for power in plugin_powers(sums, self.norm, equal).tolist()]
        shares, names = lens.shares(forecasts).tolist(), lens.names(forecasts)
        return [
            _Answer(name, share, table, *power)
            for name, share, table, power in zip(names, shares, tables, powers, strict=True)
        ]

    def _on_simplex(self, forecasts: Forecasts, lens: SimplexLens) -> Estimate:
        if self.debias or self.label_binned or self.equal_shares:
            raise must_be("lens", "one of pairs for this kind of error", lens)
        cells = lens.cells(forecasts)
        table = cell_table(cells, self.binning.leaves(cells))
        return self._of_cells(table, self.binning.asked(len(cells.kept)))

    def _of_cells(self, table: CellTable, asked: int) -> Estimate:
        power = simplex_power(table, self.distance, self.norm)
        return Estimate(
            root_of(power, self.norm), power, table, {"asked": asked, "made": table.made}
        )


class _Answer(NamedTuple):
    """What was found for one member of a family: ``merged`` bins of one row, for debiasing."""

    name: Any
    share: float
    table: BinTable | None
    power: float
    merged: int


def _is(value: object, *words: str) -> bool:
    return isinstance(value, str) and value in words


def _notes(table: BinTable, merged: int) -> dict[str, Any]:
    notes = {"asked": table.asked, "made": table.made}
    return notes | {"merged": merged} if merged else notes
