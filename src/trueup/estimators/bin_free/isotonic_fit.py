"""The isotonic fit: mean labels that never decrease with the score, without a choice of bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.engines.select import engine
from trueup.estimators.ties import TiedScores
from trueup.lens import Pairs
from trueup.tables import Curve


@dataclass(frozen=True, eq=False)
class IsotonicFit:
    r"""The non-decreasing function of the score that is closest to the labels, as blocks.

    It minimizes :math:`\sum_i w_i (q(p_i) - y_i)^2`, and every other proper score of q with it,
    over all non-decreasing functions q. The solution is a step function: on each block of
    neighboring scores it is their mean label. Neighboring blocks with the same mean are merged, so
    the means increase strictly. As a reliability diagram it needs no choice of bins (CORP).

    Notes
    -----
    It is fitted to the labels that it is compared with, so it shows some discrimination, and some
    miscalibration, even if there is none: with n rows, block means differ from a smooth curve by
    about :math:`n^{-1/3}`. Cost: one sort, then one pass over the distinct scores. Comparisons are
    exact for labels 0 and 1 without weights, or with weights that have a common unit.

    References
    ----------
    Ayer, Brunk, Ewing, Reid & Silverman 1955, "An empirical distribution function for sampling
    with incomplete information"; Dimitriadis, Gneiting & Jordan 2021, "Stable reliability
    diagrams for probabilistic classifiers".

    Examples
    --------
    >>> pairs = Pairs(np.array([0.1, 0.3, 0.4, 0.8]), np.array([0, 1, 0, 1]), None)
    >>> fit = IsotonicFit.of(pairs)
    >>> fit.low.tolist(), fit.high.tolist(), fit.mean_label.tolist()
    ([0.1, 0.3, 0.8], [0.1, 0.4, 0.8], [0.0, 0.5, 1.0])
    """

    low: Floats  # lowest score of each block, in increasing order
    high: Floats  # highest score of each block
    weight: Floats  # Σw of each block: the number of its rows where there are no weights
    mean_label: Floats  # value of the fit on each block

    @classmethod
    def of(cls, pairs: Pairs) -> IsotonicFit:
        """Fit scores and outcomes."""
        return cls.of_groups(TiedScores.of(pairs))

    @classmethod
    def of_groups(cls, groups: TiedScores) -> IsotonicFit:
        """Fit groups of tied scores."""
        value, rank, hits = groups.value, groups.rank, groups.hits
        start = engine.isotonic.pool_rising(rank, hits)
        end = np.append(start[1:], len(value)) - 1
        mass = np.add.reduceat(rank, start)
        mean = np.add.reduceat(hits, start) / mass
        counted = groups.weighted is None  # otherwise ranks may be in another unit
        total = mass if counted else np.add.reduceat(groups.weight, start)
        rising = np.maximum.accumulate(mean)  # sums of floats, added in another order, may dip
        return cls(value[start], value[end], total.astype(np.float64), rising)

    @property
    def base_rate(self) -> float:
        """Mean label of all rows."""
        return float(np.sum(self.weight * self.mean_label) / np.sum(self.weight))

    def at(self, scores: NDArray[Any]) -> Floats:
        """Return the fit at scores it was fitted to; between two blocks, that of the upper one."""
        block = np.searchsorted(self.high, scores.astype(np.float64, copy=False), side="left")
        return self.mean_label[np.minimum(block, len(self) - 1)]

    def curve(self) -> Curve:
        """Return the blocks as a reliability curve: low, high, weight, mean_label."""
        names = ("low", "high", "weight", "mean_label")
        return Curve({name: getattr(self, name) for name in names})

    def __len__(self) -> int:
        """Return the number of blocks."""
        return len(self.low)
