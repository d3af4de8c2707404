"""Histogram binning: the mean label of the bin that a score falls into."""

from __future__ import annotations

from typing import Any

from trueup.bins import EqualMass, EqualWidth
from trueup.checks import check_choice
from trueup.engines.select import engine
from trueup.recalibrate.base import with_parameters
from trueup.recalibrate.binning.base import BinnedRecalibrator, bin_means, bin_midpoints
from trueup.recalibrate.score_forms import FitData


@with_parameters
class HistogramBinning(BinnedRecalibrator):
    r"""Answer with the mean label of the bin that the score falls into.

    :math:`q(p) = \sum_{i \in b(p)} w_i y_i / \sum_{i \in b(p)} w_i`, where b(p) is the bin of p.
    An empty bin of equal width answers with its midpoint.

    Use it for an error that can be certified, whatever the true curve is, with many rows: the
    squared error of B bins is about B · 0.15/n, for each class. Few bins lose resolution, and with
    it log loss and accuracy; `ScalingBinning` needs fewer rows for as many bins. Answers may fall
    as scores rise, and are exactly 0 where a bin has no positive label. Cost: one pass to find
    equal-mass edges and one to sum, for each class.

    Parameters
    ----------
    n_bins
        Bins for each class; of equal mass there are fewer where many scores are tied.
    binning
        ``"equal-mass"`` or ``"equal-width"``.
    lens
        ``"one-vs-rest"`` recalibrates every class by itself and divides rows by their sum (a row
        of zeros stays as it was). ``"top-label"`` recalibrates the largest score of a row alone;
        `predict` keeps its class.
    logits, normalize
        Whether X holds logits, and whether to divide rows of probabilities by their sum.
    classes
        Names of the classes in the order of the columns, or None.

    Attributes
    ----------
    maps_
        ``inner_edges`` and ``values`` of every class; for two classes, and for the top label, one.
    outputs_
        All answers it can give, for `certify`: an array, or a list of one for each class.

    References
    ----------
    Zadrozny & Elkan 2001, "Obtaining calibrated probability estimates from decision trees and
    naive Bayesian classifiers".

    Examples
    --------
    >>> probs = [0.1, 0.2, 0.3, 0.6, 0.7, 0.8]
    >>> histogram = HistogramBinning(n_bins=2).fit(probs, [0, 0, 1, 0, 1, 1])
    >>> histogram.predict_proba([0.25, 0.65]).round(3)
    array([[0.667, 0.333],
           [0.333, 0.667]])
    >>> histogram.outputs_.round(3)
    array([0.333, 0.667])
    """

    n_bins: int = 15
    binning: str = "equal-mass"
    lens: str = "one-vs-rest"

    def _check(self) -> None:
        super()._check()
        check_choice("binning", self.binning, "equal-mass", "equal-width")

    def _fit_problem(self, data: FitData, number: int) -> dict[str, Any]:
        pairs = data.pairs(number)
        rule = EqualMass if self.binning == "equal-mass" else EqualWidth
        inner = rule(self.n_bins).inner_edges(pairs)
        sums = engine.bins.bin_sums(pairs.p, pairs.y, pairs.w, inner)
        return {"inner_edges": inner, "values": bin_means(sums.label, sums, bin_midpoints(inner))}
