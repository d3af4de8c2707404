"""Kernel calibration errors: products of the residuals of similar predictions."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from trueup.checks import check_choice, check_whole, is_number
from trueup.engines.types import ScoreCounts
from trueup.errors import must_be
from trueup.estimators.base import Ends
from trueup.estimators.kernel_errors.bandwidth import row_bandwidth, score_bandwidth
from trueup.estimators.kernel_errors.pair_sums import (
    Kernel,
    block_sum,
    row_sums,
    score_cross,
    score_total,
)
from trueup.estimators.kernel_errors.residuals import PairMass, RowResiduals, ScoreResiduals
from trueup.estimators.pairs_estimator import PairsEstimator, Part
from trueup.estimators.ties import TiedScores
from trueup.forecasts import Forecasts
from trueup.lens import Binary, Canonical, Lens, Pairs, SimplexLens


@dataclass(frozen=True, repr=False)
class KernelError(PairsEstimator):
    r"""Squared kernel calibration error, SKCE (Widmann, Lindsten & Zachariah 2019).

    The mean over pairs of rows of
    :math:`h_{ij} = k(g_i, g_j)\,\langle g_i - e_{y_i},\, g_j - e_{y_j}\rangle`, the product of
    predictions minus one-hot labels; for scores, :math:`k(p_i, p_j)(p_i - y_i)(p_j - y_j)`. For a
    calibrated model the mean of h over independent pairs is 0; for any other model it is positive.
    The value is this square; no root is taken.

    Parameters
    ----------
    lens : Lens, optional
        The part of a prediction to measure. The default is `Binary` for 1-D probabilities
        and `Canonical`, full calibration, for a matrix. With `ClassWise` every class has its own
        error, and the errors are averaged.
    kernel : {"laplacian", "gaussian"}, default "laplacian"
        ``"laplacian"`` is :math:`e^{-d/\gamma}`; ``"gaussian"`` is :math:`e^{-d^2/(2\gamma^2)}`.
    bandwidth : float, optional
        γ. The default is the median heuristic: the median of the positive distances of all pairs of
        rows, at least 0.05, and 1 if there is none; weights do not matter. With more than 1,000
        rows, rows at 1,000 evenly spaced ranks are used: of the sorted scores or, on a simplex, of
        rows ordered by their largest probability, then the sum of squares, then the first four
        coordinates.
    form : {"unbiased", "biased", "block"}, default "unbiased"
        ``"unbiased"`` is the mean over i ≠ j,
        :math:`\sum_{i \ne j} w_i w_j h_{ij} / ((\sum w)^2 - \sum w^2)`, and 0 for a single row.
        ``"biased"`` is the mean over all pairs, :math:`\sum_{ij} w_i w_j h_{ij} / (\sum w)^2`.
        ``"block"`` is the mean over i ≠ j inside blocks of ``block_size`` rows in the given order.
        It drops the last rows if they do not fill a block, and is 0 if there is no block.
    distance : {"euclidean", "tv"}, default "euclidean"
        Distance on a simplex; ``"tv"`` is total variation, :math:`\frac12\|\cdot\|_1`. Between
        scores it is always :math:`|p - p'|`.
    block_size : int, default 2
        Rows per block, for ``form="block"``.

    Notes
    -----
    Use the unbiased form to test. For a calibrated model it is negative about 60% of the time; a
    negative value is no evidence of miscalibration. The biased form is never negative; its mean is
    larger by the mean of h_ii minus the square, divided by n. The block form is unbiased with a
    larger variance; its blocks are independent of each other. The median heuristic uses predictions
    alone, so the unbiased forms keep a mean of 0 for a calibrated model.

    Values depend on the bandwidth: compare models at one bandwidth. For two columns, the value at
    √2·γ is twice that of the scores at γ. The Gaussian kernel of ``"tv"`` need not be positive
    definite for three classes or more: errors may then cancel, and the biased form may be negative.

    Cost: for scores and the Laplacian, one sort and one scan for any bandwidth; the Gaussian takes
    every pair of distinct scores closer than 39 γ. On a simplex, n²/2 kernel values and n²m
    products, in blocks of 256 rows. The block form takes n·block_size/2 pairs.

    References
    ----------
    Widmann, Lindsten & Zachariah 2019, "Calibration tests in multi-class classification: a unifying
    framework".

    Examples
    --------
    >>> round(KernelError()([0.8, 0.8, 0.8], [1, 1, 0]), 6)
    -0.093333
    >>> result = KernelError(form="biased").measure([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]], [0, 0])
    >>> round(result.value, 6), round(result.notes["bandwidth"], 6)
    (0.480933, 0.848528)
    """

    kernel: str = "laplacian"
    bandwidth: float | None = None
    form: str = "unbiased"
    _: KW_ONLY
    distance: str = "euclidean"
    block_size: int = 2
    draws_outcomes: ClassVar[bool] = False  # a simplex and blocks need whole rows, in their order

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("kernel", self.kernel, "laplacian", "gaussian")
        known = is_number(self.bandwidth)
        if self.bandwidth is not None and not (known and 0 < self.bandwidth < np.inf):
            raise must_be("bandwidth", "a finite number above 0, or None", self.bandwidth)
        check_choice("form", self.form, "biased", "unbiased", "block")
        check_choice("distance", self.distance, "euclidean", "tv")
        check_whole("block_size", self.block_size, 2)
        if self.form != "biased" and self.lens is not None and not self.lens.independent:
            rule = f'"biased" for {self.lens!r}, whose pairs depend on each other'
            raise must_be("form", rule, self.form)

    def default_lens(self, forecasts: Forecasts) -> Lens:
        """Return Canonical for a matrix, Binary for 1-D probabilities."""
        return Canonical() if forecasts.is_matrix else Binary()

    def value_of(self, power: float) -> float:
        """Return the square unchanged, even if it is negative."""
        return power

    def bounds(self, forecasts: Forecasts) -> Ends:
        """Return the largest product of two residuals, positive and negative."""
        most = 2.0 if self.lens_for(forecasts).induces == "simplex" else 1.0
        return Ends(-most, most)

    def measure_simplex(self, forecasts: Forecasts, lens: SimplexLens) -> Part:
        """Return the error of points of a simplex."""
        two_columns = lens == Canonical() and forecasts.n_classes == 2
        if two_columns and self.form != "block":
            return self._of_two_columns(Binary().problem(forecasts))
        return self._measure_rows(RowResiduals.of_cells(lens.cells(forecasts)))

    def measure_pairs(self, pairs: Pairs) -> Part:
        """Return the error of one set of pairs."""
        if self.form == "block":
            bandwidth = self.bandwidth or score_bandwidth(np.sort(pairs.p).astype(np.float64), None)
            return self._in_blocks(RowResiduals.of_pairs(pairs), float(bandwidth), False)
        return self._of_scores(ScoreResiduals.of(pairs))

    @property
    def takes_ties(self) -> bool:
        """Whether sorted groups are sufficient; blocks need the rows in their order."""
        return self.form != "block"

    def power_of_ties(self, ties: TiedScores) -> float:
        """Return the square of counted rows."""
        scores = ScoreResiduals.of_counts(ScoreCounts(ties.value, ties.rank, ties.hits))
        return self._of_scores(scores).pth_power

    def _of_scores(self, scores: ScoreResiduals, scale: float = 1.0) -> Part:
        """Return a copy whose distances are ``scale`` times those of the scores."""
        wide = float(self.bandwidth or score_bandwidth(scores.value, scores.count, scale))
        kernel = Kernel(self.kernel, wide / scale)
        if self.form == "biased":
            total = score_total(scores, kernel)
        else:
            total = scores.within + 2 * score_cross(scores, kernel)
        return self._mean(total, scores.mass, wide, definite=True)

    def _of_two_columns(self, pairs: Pairs) -> Part:
        """Return scores for (1 − p, p), with products 2 and distances √2 times theirs."""
        scale = 1.0 if self.distance == "tv" else math.sqrt(2)
        found = self._of_scores(ScoreResiduals.of(pairs), scale)
        return Part(2 * found.pth_power, None, found.notes)

    def _measure_rows(self, rows: RowResiduals) -> Part:
        by_tv = self.distance == "tv"
        bandwidth = float(self.bandwidth or row_bandwidth(rows, by_tv))
        if self.form == "block":
            return self._in_blocks(rows, bandwidth, by_tv)
        own, cross = row_sums(rows, Kernel(self.kernel, bandwidth), by_tv)
        total = 2 * cross + (own if self.form == "biased" else 0.0)
        definite = not (by_tv and self.kernel == "gaussian")
        return self._mean(total, PairMass.of(rows.n, rows.w), bandwidth, definite=definite)

    def _mean(self, total: float, mass: PairMass, bandwidth: float, *, definite: bool) -> Part:
        notes: dict[str, Any] = {"bandwidth": bandwidth, "form": self.form}
        if self.form == "biased":
            # a positive definite kernel gives no negative sum over all pairs but by rounding
            return Part((max(0.0, total) if definite else total) / mass.every, None, notes)
        notes["pairs"] = mass.rows * (mass.rows - 1) // 2
        return Part(total / mass.different if mass.different > 0 else 0.0, None, notes)

    def _in_blocks(self, rows: RowResiduals, bandwidth: float, by_tv: bool) -> Part:
        found = block_sum(rows, Kernel(self.kernel, bandwidth), by_tv, self.block_size)
        notes = {"bandwidth": bandwidth, "form": self.form, "pairs": found.pairs}
        return Part(found.total / found.weight if found.weight > 0 else 0.0, None, notes)
