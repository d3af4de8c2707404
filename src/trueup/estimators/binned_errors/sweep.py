"""The monotonic sweep: the most bins that keep the mean labels non-decreasing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from trueup._typing import Ints
from trueup.bins.scores import uniform_edges
from trueup.checks import check_choice
from trueup.engines.equal_mass import equal_mass_cuts, falls, first_falling
from trueup.engines.select import engine
from trueup.estimators.base import check_norm, reason_of_bins
from trueup.estimators.binned_errors.bias_correction import plugin_power, residual_power
from trueup.estimators.pairs_estimator import PairsEstimator, Part
from trueup.estimators.ties import TiedScores
from trueup.forecasts import Forecasts
from trueup.lens import Pairs
from trueup.tables import BinTable

STOPPED = (
    "the sweep stopped at 1 bin because the mean labels of 2 bins already decrease: errors of "
    "opposite sign cancel in that bin"
)
ROUNDING = 64 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, repr=False)
class SweepError(PairsEstimator):
    r"""Plug-in error with a data-driven number of bins (Roelofs et al. 2022, Alg. 1).

    It takes the largest b such that 1, 2, …, b bins all have non-decreasing mean labels, and
    returns :math:`(\sum_k s_k |f_k - y_k|^p)^{1/p}` there. Only the number of rows limits b.

    Parameters
    ----------
    lens : Lens, optional
        The part of a prediction to measure. The default is `Binary` for 1-D probabilities
        and `TopLabel` for a matrix. With `ClassWise` every class has its own sweep.
    norm : float, default 1
        p ≥ 1, or ``math.inf`` for the worst bin.
    binning : {"equal-mass", "equal-width"}, default "equal-mass"
        Kind of bins; the authors do not recommend equal-width bins.

    Notes
    -----
    For the simulated models that its authors fitted to networks, it is the least biased binned
    error on small samples. It assumes a curve that increases with the score, and still
    overestimates the error of calibrated models. `measure` notes b (``chosen``) and the actual
    number of bins (``n_bins``): with ties, several b give the same bins. If mean labels never
    decrease from one score to the next, every b is monotone, and equal-mass bins are as fine as
    possible, one per distinct score.

    If two bins already have decreasing mean labels, the sweep stops at one bin, where errors of
    opposite sign cancel. The estimate may then be near 0 although the true error is large; the note
    ``stopped`` says so.

    Cost: one sort, then, for equal-mass bins and labels 0 and 1, a search that is near-linear in
    the rows (docs/decisions/004). With weights without a common unit, soft labels or equal-width
    bins, every b is tried in turn, at a cost of at most b times the number of distinct scores.

    References
    ----------
    Roelofs, Cain, Shlens & Mozer 2022, "Mitigating bias in calibration error estimation".

    Examples
    --------
    >>> SweepError().measure([0.1, 0.2, 0.3, 0.9], [0, 0, 1, 1]).notes
    {'chosen': 4, 'n_bins': 4}
    """

    norm: float = 1
    binning: str = "equal-mass"
    analytic: ClassVar[str] = "table"
    bins_in_words: ClassVar[str] = "the selected bins (treated as fixed)"
    most_rows_resampled: ClassVar[float] = 200_000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_norm(self.norm)
        check_choice("binning", self.binning, "equal-mass", "equal-width")

    def no_analytic_reason(self, forecasts: Forecasts, target: str) -> str:
        """Return why `interval` needs a bootstrap, or an empty string if it does not."""
        return reason_of_bins(self, forecasts, target)

    def measure_pairs(self, pairs: Pairs) -> Part:
        """Sweep over one set of pairs."""
        sweep = _most_equal_width if self.binning == "equal-width" else _most_equal_mass
        table, chosen = sweep(TiedScores.of(pairs), len(pairs))
        power = plugin_power(table, self.norm)
        notes: dict[str, Any] = {"chosen": chosen, "n_bins": table.n_bins}
        if chosen == 1 < len(pairs):
            notes["stopped"] = STOPPED
        return Part(power, table, notes)

    def power_of_ties(self, ties: TiedScores) -> float:
        """Sweep over counted rows."""
        if self.binning == "equal-width":
            return plugin_power(_most_equal_width(ties, int(ties.total))[0], self.norm)
        return residual_power(*ties.swept, self.norm)


def _most_equal_mass(groups: TiedScores, n: int) -> tuple[BinTable, int]:
    cumulative = np.cumsum(groups.rank)
    if groups.exact:
        chosen = engine.sweep.sweep_bins(groups.rank, groups.hits, n)
    else:
        chosen = first_falling(cumulative, np.cumsum(groups.hits), n, ROUNDING) - 1
    finest = chosen == n
    if finest and cumulative[-1] != n:  # n bins of weighted rows may not be one for each score
        rounding = 0 if groups.exact else ROUNDING
        everywhere = np.arange(len(cumulative) - 1)
        finest = not falls(everywhere, cumulative, np.cumsum(groups.hits), rounding)
    cuts = np.arange(len(cumulative) - 1) if finest else equal_mass_cuts(cumulative, chosen)
    del cumulative
    return _merged(groups, cuts), chosen


def _most_equal_width(groups: TiedScores, n: int) -> tuple[BinTable, int]:
    """Sweep over equal-width bins, without empty bins."""
    cumulative, hits = np.cumsum(groups.rank), np.cumsum(groups.hits)
    rounding = 0 if groups.exact else ROUNDING
    chosen = n
    if falls(np.arange(len(cumulative) - 1), cumulative, hits, rounding):
        for b in range(2, n + 1):
            if falls(_width_cuts(groups, b), cumulative, hits, rounding):
                chosen = b - 1
                break
    return _merged(groups, _width_cuts(groups, chosen)), chosen


def _width_cuts(groups: TiedScores, b: int) -> Ints:
    """Return the groups after which an equal-width bin ends."""
    index = np.searchsorted(uniform_edges(b), groups.value, side="left")
    return np.flatnonzero(np.diff(index))


def _merged(groups: TiedScores, cuts: Ints) -> BinTable:
    if len(cuts) == len(groups.value) - 1:  # one bin for each score
        return BinTable.from_sums(groups.value[:-1], groups.sums)
    return BinTable.from_sums(groups.value[cuts], groups.merged(np.r_[0, cuts + 1]))
