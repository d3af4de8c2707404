"""The scaling-binning recalibrator: a fitted curve with finitely many outputs."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from trueup._typing import Floats
from trueup.bins import EqualMass
from trueup.checks import check_flag
from trueup.engines.select import engine
from trueup.errors import Verbatim, must_be
from trueup.lens import Pairs
from trueup.recalibrate.base import Recalibrator, with_parameters
from trueup.recalibrate.binning.histogram import BinnedRecalibrator, bin_means, bin_midpoints
from trueup.recalibrate.scaling.platt import PlattScaling
from trueup.recalibrate.score_forms import FitData, Scores
from trueup.seeds import RandomState, check_random_state, generator_of_state

PARTS = 3
HALF = 1 << 19  # half the step between numbers of 32 bits behind the first, in last bits


@with_parameters
class ScalingBinning(BinnedRecalibrator):
    r"""Scaling-binning: fit a curve, then use its mean in each equal-mass bin.

    :math:`q(p) = \sum_{i \in b(g(p))} w_i\, g(p_i) / \sum_{i \in b(g(p))} w_i`: means of fitted
    *values*, not of labels as in `HistogramBinning`. They vary far less within a bin. Therefore
    :math:`O(1/\epsilon^2 + B)` rows are enough for a squared error of ε² beyond that of g, instead
    of :math:`O(B/\epsilon^2)`. Unlike g itself, it has finitely many outputs, so the error can be
    certified.

    Use it for a certified error from a few hundred rows, with many bins. Its bias is that of g
    averaged over bins, so it misses the true curve wherever g does. Cost: the fit of g, one pass to
    find edges and one to sum, for each class.

    Parameters
    ----------
    scaling : Recalibrator or None
        The binary recalibrator g, of which copies are fitted. The default is ``PlattScaling()``,
        the sigmoid of the paper's experiments, fitted by log loss. Step 1 of the paper minimizes
        squared error, ``PlattScaling(loss="squared")``; for confident scores, some of these fits
        are so steep that they generalize worse.
    n_bins : int
        Number of bins for each class; there are fewer if many values of g are tied.
    lens : {"one-vs-rest", "top-label"}
        ``"one-vs-rest"`` recalibrates each class separately and divides rows by their sum (a row of
        zeros is left unchanged). ``"top-label"`` recalibrates only the largest score of a row;
        `predict` keeps its class.
    split : bool
        Whether g, bins and means use three different thirds of the rows, as the theory assumes. The
        default uses all rows for each, which "worked out better" (App. E).
    random_state : int, generator or None
        The seed of the split: an integer, a generator, or None for a different split each time.
    logits, normalize, classes : bool, bool, sequence or None
        Whether X holds logits; whether to divide rows of probabilities by their sum; names of the
        classes in the order of the columns. The first two also hold for the inner recalibrators.

    Attributes
    ----------
    maps_
        ``scaling``, ``inner_edges`` (of values of g) and ``values`` of every class; for two
        classes, and for the top label, one.
    outputs_
        All possible outputs, for `certify`: an array, or a list with one array per class.

    Notes
    -----
    With ``split``, a bin without rows of the last third outputs the mean value of the second third.
    For two classes, outputs are monotone in the score if g is. Values of g are binned by their
    first ten digits, so that rounding errors do not decide which of them are tied.

    References
    ----------
    Kumar, Liang & Ma 2019, "Verified uncertainty calibration", §4.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> probs = rng.random(1000)
    >>> labels = rng.random(1000) < probs**2
    >>> model = ScalingBinning(n_bins=4).fit(probs, labels)
    >>> model.outputs_.round(2)
    array([0.04, 0.18, 0.44, 0.81])
    """

    use: ClassVar[str] = "Certificates with few rows: finitely many outputs, from a fitted curve."
    instead: ClassVar[str] = "PlattScaling or BetaCalibration without certificates."

    scaling: Recalibrator | None = None
    n_bins: int = 15
    lens: str = "one-vs-rest"
    split: bool = False
    random_state: RandomState = 0

    def _check(self) -> None:
        super()._check()
        if self.scaling is not None:
            self._check_inner(self.scaling, "scaling")
        check_flag("split", self.split)
        check_random_state(self.random_state)

    def _fit(self, data: FitData) -> None:
        if self.split and data.n < PARTS:
            rows = Verbatim("one row" if data.n == 1 else f"{data.n} rows")
            raise must_be("X", "have at least three rows, one for each part", rows)
        super()._fit(data)
        self._note_problems([learned["scaling"].notes_ for learned in self.maps_])

    def _fit_problem(self, data: FitData, number: int) -> dict[str, Any]:
        first, second, third = self._parts(data.one_vs_rest(number))
        curve = PlattScaling() if self.scaling is None else self.scaling
        scaling = curve._fitted_part(first)
        binned = _values(scaling, second)
        inner = _edges(binned, self.n_bins)
        sums = engine.bins.bin_sums(binned.p, binned.y, binned.w, inner)
        means = bin_means(sums.score, sums, bin_midpoints(inner))
        if third is not second:
            last = _values(scaling, third)
            sums = engine.bins.bin_sums(last.p, last.y, last.w, inner)
            means = bin_means(sums.score, sums, means)
        rising = np.maximum.accumulate(means)  # sums, added in another order, may dip
        return {"scaling": scaling, "inner_edges": inner, "values": rising}

    def _parts(self, problem: FitData) -> list[FitData]:
        """Return the rows for curve, bins and means: all rows each time, or random thirds."""
        if not self.split:
            return [problem] * PARTS
        order = generator_of_state(self.random_state).permutation(problem.n)
        return [problem.take(np.sort(rows)) for rows in np.array_split(order, PARTS)]

    def _binned(self, learned: dict[str, Any], scores: Scores, number: int) -> Floats:
        scaling: Recalibrator = learned["scaling"]
        return np.ascontiguousarray(scaling._probs_of(scores.one_vs_rest(number))[:, 1])


def _edges(values: Pairs, n_bins: int) -> Floats:
    """Return inner edges of equal-mass bins of values that are rounded to ten digits.

    A different order of summation, such as weights instead of repeated rows, changes the last
    digits of a curve, and could change which of its values are tied. An edge is the last number
    that is rounded to the smaller value at its cut.
    """
    rounded = ((values.p.view(np.int64) + HALF) & -2 * HALF).view(np.float64)
    inner = EqualMass(n_bins).inner_edges(Pairs(rounded, values.y, values.w))
    return np.asarray((inner.view(np.int64) + (HALF - 1)).view(np.float64))


def _values(scaling: Recalibrator, data: FitData) -> Pairs:
    """Fitted values with outcomes."""
    values = np.ascontiguousarray(scaling._probs_of(data.scores)[:, 1])
    return Pairs(values, data.labels.astype(bool), data.weights)
