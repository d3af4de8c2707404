"""Binned calibration errors: any lens, binning, norm and correction."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.bins import Binning, EqualWidth, KeptBins, check_binning
from trueup.checks import check_flag
from trueup.engines.select import engine
from trueup.engines.types import Sums
from trueup.errors import Argument, InputError, must_be
from trueup.estimators.base import Ends, Estimator, check_norm, reason_of_bins
from trueup.estimators.binned_errors.bias_correction import (
    debiased_powers,
    label_binned_power,
    plugin_power,
    plugin_powers,
)
from trueup.estimators.binned_errors.simplex_cells import cell_table, simplex_power
from trueup.estimators.pairs_estimator import MemberPart, PairsEstimator, Part
from trueup.forecasts import Forecasts
from trueup.lens import FamilyLens, Pairs, SimplexLens
from trueup.lens.induced import MOST_BINS_KEPT, once
from trueup.results import Estimate
from trueup.tables import BinTable, BinTables, CellTable


@dataclass(frozen=True, repr=False)
class BinnedError(PairsEstimator):
    r"""Distance between mean score and mean label over bins.

    With the fraction of rows :math:`s_b`, the mean score :math:`f_b` and the mean label :math:`y_b`
    of each bin, the plug-in error is :math:`(\sum_b s_b |f_b - y_b|^p)^{1/p}`, or the largest
    :math:`|f_b - y_b|` for p = ∞.

    Parameters
    ----------
    lens : Lens, optional
        The part of a prediction to measure. The default is `Binary` for 1-D probabilities
        and `TopLabel` for a matrix.
    binning : Binning, default EqualWidth(15)
        `EqualWidth`, `EqualMass`, `FixedEdges`, `VarianceTree`, `SimplexGrid` or
        `SimplexTriangles`.
    norm : float, default 1
        p ≥ 1, or ``math.inf`` for the worst bin.
    debias : bool or "residual", default False
        Whether to subtract the bias due to sampling noise (L1 and L2; Kumar et al. 2019). True is
        their correction: exact if scores are constant within bins, and a little too large
        otherwise. ``"residual"`` uses the variance of score − label, which makes the squared error
        unbiased in both cases.
    label_binned : bool, default False
        Whether to average :math:`|f_i - y_b|^p` over rows (Roelofs et al. 2022, eq. 3), which is
        never smaller than the plug-in error.
    equal_shares : bool, default False
        Whether each of the B requested bins has weight 1/B, whatever it holds: the literal 1/(KR)
        in the TACE of Nixon et al.
    distance : str or callable, default "tv"
        For lenses on a simplex: ``"tv"`` (half the L1 distance), ``"squared"`` Euclidean, or a
        function of outcome fractions and mean predictions, both (C, m), that returns (C,).

    Notes
    -----
    Sampling noise biases the plug-in error upward, most for calibrated models, small samples and
    many bins. Averaging within bins biases it downward. Only non-empty bins count. Cost: one pass
    over the data and, for equal-mass bins, a selection of the edges.

    References
    ----------
    Roelofs et al. 2022, eqs. 3 and 4; Kumar, Liang & Ma 2019, Defs. 5.2 and G.3; Vaicenavicius et
    al. 2019, eq. 6.

    Examples
    --------
    >>> round(BinnedError()([0.95, 1.0], [1, 0]), 6)
    0.475
    >>> BinnedError(norm=2, debias=True)
    BinnedError(lens=None, binning=EqualWidth(n_bins=15), norm=2, debias=True)
    """

    binning: Binning = EqualWidth(15)
    norm: float = 1
    _: KW_ONLY
    debias: bool | str = False
    label_binned: bool = False
    equal_shares: bool = False
    distance: str | Callable[[Any, Any], Any] = "tv"
    analytic: ClassVar[str] = "table"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_binning(self.binning, "a binning, such as EqualMass(15)")
        check_norm(self.norm)
        if not isinstance(self.debias, bool | np.bool_) and not _is(self.debias, "residual"):
            raise must_be("debias", 'True, False or "residual"', self.debias)
        check_flag("label_binned", self.label_binned)
        check_flag("equal_shares", self.equal_shares)
        if self.debias and self.norm not in (1, 2):
            raise InputError("debias", f"requires norm 1 or 2; got norm {self.norm}")
        if bool(self.debias) + self.label_binned + self.equal_shares > 1:
            names = (Argument("debias"), ", ", Argument("label_binned"), " and ")
            one = ("Set at most one of ", *names, Argument("equal_shares"))
            raise InputError("debias" if self.debias else "label_binned", one)
        if self.debias and self.lens is not None and self.lens.induces == "simplex":
            raise InputError("debias", f"requires a lens that yields scores; got {self.lens!r}")
        if self.debias and self.lens is not None and not self.lens.independent:
            rule = f"False for {self.lens!r}, whose pairs depend on each other"
            raise must_be("debias", rule, self.debias)
        if not (callable(self.distance) or _is(self.distance, "tv", "squared")):
            raise must_be("distance", '"tv", "squared" or a function', self.distance)

    def bounds(self, forecasts: Forecasts) -> Ends:
        """Return 0 and the largest distance: 1, or 2 for squared distances."""
        if callable(self.distance):
            return Ends(-math.inf, math.inf)
        return Ends(0.0, 2.0 if self.distance == "squared" else 1.0)

    __call__ = Estimator.__call__  # the table comes at no cost

    def measure_pairs(self, pairs: Pairs) -> Part:
        """Return the power of one set of pairs with its table."""
        return self._part(self.binning.table_of(pairs), pairs)

    def measure_simplex(self, forecasts: Forecasts, lens: SimplexLens) -> Part:
        """Return the power over cells of a simplex, with their table."""
        if self.debias or self.label_binned or self.equal_shares:
            raise must_be("lens", "yield scores, not points on the simplex", lens)
        cells = lens.cells(forecasts)
        table = cell_table(cells, self.binning.leaves(cells))
        return self._part_of_cells(table, self.binning.n_bins_for(len(cells.kept)))

    def measure_members(self, forecasts: Forecasts, lens: FamilyLens) -> list[MemberPart]:
        """Return the parts of all members, in one pass over the matrix if possible."""
        if self._one_pass(forecasts, lens):
            return self._in_one_pass(forecasts, lens)
        return super().measure_members(forecasts, lens)

    def notes_of_members(self, notes: list[dict[str, Any]]) -> dict[str, Any]:
        """Return how many bins were merged in all classes."""
        return {"n_merged_bins": sum(each.get("n_merged_bins", 0) for each in notes)}

    def table_of_members(self, found: list[MemberPart], divides_rows: bool) -> BinTables:
        """Return a family of tables, even if no class has a row."""
        names, shares, parts = zip(*found, strict=True)
        return BinTables(names, shares, tuple(part.table for part in parts), divides_rows)

    # Sums that add over batches.

    @property
    def additive(self) -> bool:
        """Whether the bins are known before the data and their sums are sufficient."""
        return self.binning.fixed and not self.label_binned

    def statistics(self, forecasts: Forecasts) -> BinTable | BinTables | CellTable:
        """Return the table; tables of bins that are known beforehand add."""
        table: BinTable | BinTables | CellTable = self.measure_forecasts(forecasts).table
        return table

    def from_table(self, statistics: Any) -> Estimate:
        """Return the estimate for an added-up table."""
        table = statistics
        if table.induced == "simplex":
            return self._estimate(
                self._part_of_cells(table, self.binning.n_bins_for(int(table.count.sum())))
            )
        if table.induced == "pairs":
            return self._estimate(self._part(table))
        members = zip(table.names, table.shares, table.tables, strict=True)
        found = [
            MemberPart(name, share, Part(0.0) if part is None else self._part(part))
            for name, share, part in members
        ]
        return self.average(found, table.divides_rows)

    # What inference asks.

    def no_analytic_reason(self, forecasts: Forecasts, target: str) -> str:
        """Return why `interval` needs a bootstrap, or an empty string if it does not."""
        reason = reason_of_bins(self, forecasts, target)
        if reason:
            return reason
        if self.label_binned or self.equal_shares:
            return "for label_binned and equal_shares"
        if self.lens_for(forecasts).induces != "simplex":
            return ""
        if target == "population" or forecasts.weights is not None:
            return "for a lens on a simplex with the population target or weights"
        if callable(self.distance) or (self.distance == "squared" and self.norm != 1):
            return 'for distances other than "tv", and "squared" with norm=1'
        return ""

    @property
    def debiased(self) -> bool:
        """Whether the bias is subtracted."""
        return bool(self.debias)

    def plug_in(self) -> BinnedError:
        """Return the error without its bias correction, which assumes independent rows."""
        return replace(self, debias=False)

    def with_kept_bins(self, found: Estimate, forecasts: Forecasts) -> BinnedError:
        """Return the error with the bins of an estimate, if it measures one set of pairs."""
        if self.lens_for(forecasts).induces != "pairs":
            return self
        return replace(self, binning=KeptBins(found.table))

    @property
    def of_true_error(self) -> bool:
        """Whether bins are weighted by their fraction of rows, as in the true error."""
        return not self.equal_shares

    @property
    def of_residuals(self) -> bool:
        """Whether only score − label matters, as it does without a bias correction."""
        return not (self.debias or self.label_binned)

    @property
    def of_label_sums(self) -> bool:
        """Whether labels matter only through their sums in bins that do not depend on them."""
        return not (self.binning.sees_labels or self.label_binned or self.debias == "residual")

    def table_for_labels(self, table: BinTable) -> BinTable:
        """Return the table for the powers of resamples, with single-row bins merged."""
        return table.without_singles()[0] if self.debias else table.nonempty()

    def powers_for_labels(self, table: BinTable, drawn: NDArray[Any]) -> Floats:
        """Return the power of the table, followed by the power for each row of drawn label sums."""
        fixed = {name: getattr(table.sums, name)[None] for name in ("count", "weight", "weight2")}
        fixed |= {name: getattr(table.sums, name)[None] for name in ("score", "score2", "cross")}
        label = np.concatenate([table.sums.label[None], drawn])
        sums = Sums(**fixed, label=label, label2=label)  # y² = y for labels 0 and 1
        if self.debias:
            return debiased_powers(sums, self.norm, residual=False)
        return plugin_powers(sums, self.norm, table.n_bins_requested if self.equal_shares else None)

    @property
    def of_cells(self) -> bool:
        """Whether outcomes matter only through their counts in cells that do not depend on them."""
        return self.of_label_sums

    def power_of_cells(self, table: CellTable) -> float:
        """Return the power over cells of a simplex."""
        return simplex_power(table, self.distance, self.norm)

    def edges_before_data(self, n: int) -> Floats | None:
        """Return the inner edges if they depend on n alone and plug-in sums are sufficient."""
        if self.binning.sees_scores or self.debias or not self.of_label_sums:
            return None
        return _edges_for(self.binning, n)

    def values_of_sums(self, sums: Sums, n: int) -> Floats:
        """Return the errors of many datasets of n rows from their sums by bin."""
        equal = self.binning.n_bins_for(n) if self.equal_shares else None
        powers = plugin_powers(sums, self.norm, equal)
        return powers if math.isinf(self.norm) else powers ** (1 / self.norm)

    # The sums.

    def _part(self, table: BinTable, pairs: Pairs | None = None) -> Part:
        power, merged = self._power(table, pairs)
        return Part(power, table, _notes(table, merged))

    def _power(self, table: BinTable, pairs: Pairs | None) -> tuple[float, int]:
        """Return the averaged p-th power of one table, and how many bins were merged for it."""
        if self.debias:
            table, merged = table.without_singles()
            residual = self.debias == "residual"
            return float(debiased_powers(table.sums, self.norm, residual=residual)), merged
        if self.label_binned:
            assert pairs is not None
            return label_binned_power(table, pairs, self.norm), 0
        return plugin_power(table, self.norm, equal_shares=self.equal_shares), 0

    def _part_of_cells(self, table: CellTable, n_bins_requested: int) -> Part:
        notes = {"n_bins_requested": n_bins_requested, "n_bins": table.n_bins}
        return Part(self.power_of_cells(table), table, notes)

    def _one_pass(self, forecasts: Forecasts, lens: FamilyLens) -> bool:
        """Return whether the tables of all classes can be made in one pass over the matrix."""
        return (
            lens.of_columns(forecasts)
            and not self.binning.sees_scores
            and forecasts.weights is None
            and not forecasts.soft
            and not self.label_binned
        )

    def _in_one_pass(self, forecasts: Forecasts, lens: FamilyLens) -> list[MemberPart]:
        binning, asked = self.binning, self.binning.n_bins_for(forecasts.n)
        key, keep = ("tables of classes", binning), asked <= MOST_BINS_KEPT
        made = once(forecasts, key, lambda: _tables_of_classes(binning, forecasts), keep=keep)
        sums, tables = made
        if self.debias:
            parts = [self._part(table) for table in tables]
        else:
            equal = asked if self.equal_shares else None
            powers = plugin_powers(sums, self.norm, equal).tolist()
            parts = [Part(power, table) for power, table in zip(powers, tables, strict=True)]
        members = zip(lens.names(forecasts), lens.shares(forecasts).tolist(), parts, strict=True)
        return [MemberPart(*member) for member in members]


def _edges_for(binning: Binning, n: int) -> Floats:
    """Return inner edges of the bins of n rows, if they do not depend on the scores."""
    return binning.inner_edges(Pairs(np.empty(n), np.empty(0), None))


def _tables_of_classes(binning: Binning, forecasts: Forecasts) -> tuple[Sums, list[BinTable]]:
    """Return sums of all classes together and the table of each, for bins known beforehand."""
    inner = _edges_for(binning, forecasts.n)
    labels, k = forecasts.labels.astype(np.int64, copy=False), forecasts.n_classes
    sums = engine.bins.class_bin_sums(forecasts.read, forecasts.factor, labels, k, inner)
    asked = binning.n_bins_for(forecasts.n)
    each = (Sums(*(moment[c] for moment in sums)) for c in range(k))
    return sums, [BinTable.from_sums(inner, one, asked) for one in each]


def _is(value: object, *words: str) -> bool:
    return isinstance(value, str) and value in words


def _notes(table: BinTable, merged: int) -> dict[str, Any]:
    notes = {"n_bins_requested": table.n_bins_requested, "n_bins": table.n_bins}
    return notes | {"n_merged_bins": merged} if merged else notes
