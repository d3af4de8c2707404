"""The scaling-binning calibrator: a fitted curve, made countable."""

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

    Use it for a certified error from some hundred rows, with many bins. Its bias is that of g
    averaged over bins: where g misses the true curve, so does it. Cost: the fit of g, one pass to
    find edges and one to sum, for each class.

    Parameters
    ----------
    scaling : Recalibrator or None
        The recalibrator of two classes that is g; copies of it are fitted. None is
        ``PlattScaling()``, the sigmoid of the paper's experiments fitted by log loss. Its step 1
        is written with squares, ``PlattScaling(loss="squared")``: of sharp scores some fits are
        then so steep that they carry over worse.
    n_bins : int
        Bins for each class; there are fewer where many values of g are tied.
    lens : {"one-vs-rest", "top-label"}
        ``"one-vs-rest"`` recalibrates each class separately and divides rows by their sum (a row
        of zeros stays as it was). ``"top-label"`` recalibrates the largest score of a row alone;
        `predict` keeps its class.
    split : bool
        Whether g, bins and means come from three different thirds of the rows, as the theory has
        it. With all rows for each, the default, it "worked out better" (App. E).
    random_state : int, generator or None
        The seed of the split: a whole number, a generator, or None for another each time.
    logits, normalize, classes : bool, bool, sequence or None
        Whether X holds logits; whether to divide rows of probabilities by their sum; names of the
        classes in the order of the columns. The first two also hold for the inner recalibrators.

    Attributes
    ----------
    maps_
        ``scaling``, ``inner_edges`` (of values of g) and ``values`` of every class; for two
        classes, and for the top label, one.
    outputs_
        All answers it can give, for `certify`: an array, or a list of one for each class.

    Notes
    -----
    A bin without rows of the last third gives the mean value of the second third. For two
    classes, outputs are monotone in the score if g is. Values of g are cut into bins by
    their first ten digits, so that rounding errors do not decide which of them are tied.

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
        """The rows for curve, bins and means: all of them each time, or thirds at random."""
        if not self.split:
            return [problem] * PARTS
        order = generator_of_state(self.random_state).permutation(problem.n)
        return [problem.take(np.sort(rows)) for rows in np.array_split(order, PARTS)]

    def _binned(self, learned: dict[str, Any], scores: Scores, number: int) -> Floats:
        scaling: Recalibrator = learned["scaling"]
        return np.ascontiguousarray(scaling._probs_of(scores.one_vs_rest(number))[:, 1])


def _edges(values: Pairs, n_bins: int) -> Floats:
    """Inner edges of bins of equal mass, of values rounded to ten digits.

    Sums in another order, such as those of weights for repeated rows, change the last digits of a
    curve, and with them which of its values are tied. An edge is the last number that is rounded
    to the smaller value at its cut.
    """
    rounded = ((values.p.view(np.int64) + HALF) & -2 * HALF).view(np.float64)
    inner = EqualMass(n_bins).inner_edges(Pairs(rounded, values.y, values.w))
    return np.asarray((inner.view(np.int64) + (HALF - 1)).view(np.float64))


def _values(scaling: Recalibrator, data: FitData) -> Pairs:
    """Fitted values with outcomes."""
    values = np.ascontiguousarray(scaling._probs_of(data.scores)[:, 1])
    return Pairs(values, data.labels.astype(bool), data.weights)
