"""The monotonic sweep: as many bins as keep the mean labels non-decreasing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.bins import uniform_edges
from trueup.engines.base import Floats, Groups, Ints, Sums, engine
from trueup.engines.cuts import cuts_of_groups, falls, first_falling, whole_weights
from trueup.errors import must_be
from trueup.estimators.base import (
    Estimator,
    average,
    check_lens,
    check_norm,
    chosen_lens,
    root_of,
)
from trueup.estimators.powers import plugin_power
from trueup.forecasts import Forecasts
from trueup.lens import FamilyLens, Lens, Pairs, PairsLens, TopLabelGiven
from trueup.results import Estimate
from trueup.tables import BinTable, TableFamily

ROUNDING = 64 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, repr=False)
class SweepError(Estimator):
    r"""Plug-in error with the number of bins chosen by the data (Roelofs et al. 2022, Alg. 1).

    Takes the largest b such that 1, 2, …, b bins all have non-decreasing mean labels, and
    returns :math:`(\sum_k s_k |f_k - y_k|^p)^{1/p}` there. No cap on b other than the rows.

    Parameters
    ----------
    lens
        What part of the prediction is looked at; by default `Binary` for 1-D probabilities and
        `TopLabel` for a matrix. With `ClassWise` every class has its own sweep.
    norm
        p ≥ 1, or ``math.inf`` for the worst bin.
    bins
        ``"mass"``: bins of equal mass; ``"width"``: of equal width, which its authors do not
        recommend.

    Notes
    -----
    In the worlds its authors fitted to networks it is the least biased of the binned errors at
    small samples; it rests on a curve that rises with the score, and still overestimates the
    error of calibrated models. `measure` notes b (``chosen``) and the bins it gives (``made``):
    with ties several b give the same bins. Where mean labels never fall from one score to the
    next, every b is monotone, and equal-mass bins are made as fine as they go, one for each
    distinct score.

    Cost: one sort, then for equal mass and labels 0 and 1 a search that is near-linear in the
    rows (docs/decisions/004). With weights of no common unit, soft labels or equal width every
    b is tried in turn, at a cost of b times the number of distinct scores at worst.

    References
    ----------
    Roelofs, Cain, Shlens & Mozer 2022, "Mitigating bias in calibration error estimation".

    Examples
    --------
    >>> SweepError().measure([0.1, 0.2, 0.3, 0.9], [0, 0, 1, 1]).notes
    {'chosen': 4, 'made': 4}
    """

    lens: Lens | None = None
    norm: float = 1
    bins: str = "mass"

    def __post_init__(self) -> None:
        check_lens(self.lens)
        check_norm(self.norm)
        if self.bins not in ("mass", "width"):
            raise must_be("bins", '"mass" or "width"', self.bins)

    def measure_forecasts(self, forecasts: Forecasts) -> Estimate:
        """Return the estimate for checked data."""
        lens = chosen_lens(self.lens, forecasts)
        if isinstance(lens, PairsLens):
            power, table, chosen = self._sweep(lens.pairs(forecasts))
            notes = {"chosen": chosen, "made": table.made}
            return Estimate(root_of(power, self.norm), power, table, notes)
        if not isinstance(lens, FamilyLens):
            raise must_be("lens", "one of pairs: bins of a simplex have no order", lens)
        names, shares, tables, powers, chosen_bins = [], [], [], [], []
        for member in lens.members(forecasts):
            power, part, chosen = self._sweep(member.pairs) if len(member.pairs) else (0.0, None, 0)
            names.append(member.name)
            shares.append(member.share)
            tables.append(part)
            powers.append(power)
            chosen_bins.append(chosen)
        power = average(zip(shares, powers, strict=True), self.norm)
        family = TableFamily(
            tuple(names), tuple(shares), tuple(tables), isinstance(lens, TopLabelGiven)
        )
        errors = {n: root_of(p, self.norm) for n, p in zip(names, powers, strict=True)}
        class_notes = {"class_errors": errors, "class_powers": powers, "chosen": chosen_bins}
        return Estimate(root_of(power, self.norm), power, family, class_notes)

    def _sweep(self, pairs: Pairs) -> tuple[float, BinTable, int]:
        groups = _grouped(pairs)
        if self.bins == "width":
            table, chosen = _most_equal_width(groups, len(pairs))
        else:
            table, chosen = _most_equal_mass(groups, len(pairs))
        return plugin_power(table, self.norm), table, chosen


@dataclass(frozen=True, eq=False)
class _Groups:
    """Distinct scores in increasing order with the sums of their rows.

    ``rank`` and ``hits`` are Σw and Σwy in whole numbers where weights and labels allow it: then
    every comparison is exact.
    """

    value: Floats
    sums: Sums
    rank: NDArray[Any]
    hits: NDArray[Any]

    @property
    def exact(self) -> bool:
        """Whether ranks and hits are whole numbers."""
        return self.rank.dtype == np.int64 and self.hits.dtype == np.int64


def _grouped(pairs: Pairs) -> _Groups:
    if pairs.w is None and not pairs.soft:
        return _of_counts(engine().group_pairs(pairs.p, pairs.y))
    w = np.ones(len(pairs)) if pairs.w is None else pairs.w
    y = pairs.y.astype(np.float64)
    order = np.lexsort((y, w, pairs.p))  # sums must not depend on the order of rows
    p, w, y = pairs.p[order].astype(np.float64), w[order], y[order]
    first = np.flatnonzero(np.r_[True, p[1:] != p[:-1]])

    def total(terms: NDArray[Any]) -> NDArray[Any]:
        return np.add.reduceat(terms, first)

    count = np.diff(np.r_[first, len(p)]).astype(np.int64)
    moments = (w, w * w, w * p, w * p * p, w * y, w * y * y, w * p * y)
    sums = Sums(count, *(total(moment) for moment in moments))
    rank = whole_weights(w)
    hits = rank * y
    if rank.dtype == np.int64 and not pairs.soft:
        hits = hits.astype(np.int64)
    return _Groups(p[first], sums, total(rank), total(hits))


def _of_counts(groups: Groups) -> _Groups:
    n, hits, value = groups.count.astype(float), groups.positive.astype(float), groups.value
    sums = Sums(groups.count, n, n, n * value, n * value * value, hits, hits, hits * value)
    return _Groups(value, sums, groups.count, groups.positive)


def _most_equal_mass(groups: _Groups, n: int) -> tuple[BinTable, int]:
    cumulative = np.cumsum(groups.rank)
    everywhere = np.arange(len(cumulative) - 1)
    if groups.exact:
        chosen = engine().sweep_bins(groups.rank, groups.hits, n)
    else:
        chosen = first_falling(cumulative, np.cumsum(groups.hits), n, ROUNDING) - 1
    finest = chosen == n
    if finest and cumulative[-1] != n:  # n bins of weighted rows may not be one for each score
        rounding = 0 if groups.exact else ROUNDING
        finest = not falls(everywhere, cumulative, np.cumsum(groups.hits), rounding)
    return _merged(groups, everywhere if finest else cuts_of_groups(cumulative, chosen)), chosen


def _most_equal_width(groups: _Groups, n: int) -> tuple[BinTable, int]:
    """Sweep over bins of equal width, empty ones left out."""
    cumulative, hits = np.cumsum(groups.rank), np.cumsum(groups.hits)
    rounding = 0 if groups.exact else ROUNDING
    chosen = n
    if falls(np.arange(len(cumulative) - 1), cumulative, hits, rounding):
        for b in range(2, n + 1):
            if falls(_width_cuts(groups, b), cumulative, hits, rounding):
                chosen = b - 1
                break
    return _merged(groups, _width_cuts(groups, chosen)), chosen


def _width_cuts(groups: _Groups, b: int) -> Ints:
    """Groups after which a bin of equal width ends."""
    index = np.searchsorted(uniform_edges(b), groups.value, side="left")
    return np.flatnonzero(np.diff(index))


def _merged(groups: _Groups, cuts: Ints) -> BinTable:
    if len(cuts) == len(groups.value) - 1:  # one bin for each score
        return BinTable.of_sums(groups.value[:-1], groups.sums)
    starts = np.r_[0, cuts + 1]
    sums = Sums(*(np.add.reduceat(moment, starts) for moment in groups.sums))
    return BinTable.of_sums(groups.value[cuts], sums)
