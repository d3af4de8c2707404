"""Histogram binning: the mean label of the bin that a score falls into."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from trueup._typing import Floats, Ints
from trueup.bins import EqualMass, EqualWidth
from trueup.checks import check_choice, check_whole
from trueup.engines.select import engine
from trueup.engines.types import Sums
from trueup.errors import Argument, InputError
from trueup.recalibrate.base import with_parameters
from trueup.recalibrate.one_vs_rest import MarginalRecalibrator
from trueup.recalibrate.score_forms import FitData, Scores

LENSES = ("one-vs-rest", "top-label")


class BinnedRecalibrator(MarginalRecalibrator):
    """Scores fall into bins, and each bin has one answer.

    A subclass learns ``inner_edges`` and ``values`` of every problem in `_fit_problem`, of what
    `_binned` makes of its scores. With ``lens="top-label"`` there is one problem, "is the most
    probable class right?", and the other classes of a row share the rest as before.
    """

    why_worse: ClassVar[str] = "binning loses more information than recalibration gains"

    n_bins: int
    lens: str

    @property
    def outputs_(self) -> Floats | list[Floats]:
        """All answers it can give, in increasing order, as `certify` takes them.

        For two classes those of the second, for the top label those of its confidence; with more
        classes a list, one array for each.
        """
        each = [np.unique(learned["values"]) for learned in self.maps_]
        return each[0] if len(each) == 1 else each

    def predict_marginals(self, X: object) -> Floats:
        """Return (n, K) probabilities before rows are normalized: finitely many values.

        Rows need not sum to 1. `certify` and checks of marginal calibration use these; dividing
        rows by their sum would make values of every kind out of them.
        """
        if self.lens == "top-label":
            rule = ("predict_marginals requires ", Argument("lens", "one-vs-rest"))
            raise InputError("lens", rule, self.lens, hint="use predict_confidence")
        return super().predict_marginals(X)

    def predict_confidence(self, X: object) -> Floats:
        """Return (n,) probabilities of the top label: that `predict` is right."""
        if self.lens != "top-label":
            rule = ("predict_confidence requires ", Argument("lens", "top-label"))
            raise InputError("lens", rule, self.lens, hint="use predict_marginals")
        return self._confidence_of(self._read_scores(X))[1]

    def _check(self) -> None:
        check_whole("n_bins", self.n_bins, 1)
        check_choice("lens", self.lens, *LENSES)

    def _fit(self, data: FitData) -> None:
        super()._fit(data.top_label() if self.lens == "top-label" else data)

    def _binned(self, learned: dict[str, Any], scores: Scores, number: int) -> Floats:
        """Return what is put into bins: the probabilities of the problem."""
        return scores.problem(number)

    def _map(self, learned: dict[str, Any], scores: Scores, number: int) -> Floats:
        bins = engine.bins.find_bins(self._binned(learned, scores, number), learned["inner_edges"])
        answers: Floats = learned["values"][bins]
        return answers

    def _confidence_of(self, scores: Scores) -> tuple[Ints, Floats]:
        top_class, top = scores.top_label()
        return top_class, self._map(self.maps_[0], Scores(top, scores.are_logits), 0)

    def _probs_of(self, scores: Scores) -> Floats:
        if self.lens == "top-label":
            return scores.rescaled(*self._confidence_of(scores))
        return super()._probs_of(scores)

    def _top_of(self, scores: Scores) -> Ints:
        return scores.top_label()[0] if self.lens == "top-label" else super()._top_of(scores)


@with_parameters
class HistogramBinning(BinnedRecalibrator):
    r"""Histogram binning: replace each score by the mean label of its bin.

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
        ``"one-vs-rest"`` recalibrates every class separately and divides rows by their sum (a row
        of zeros stays as it was). ``"top-label"`` recalibrates the largest score of a row alone;
        `predict` keeps its class.
    logits, normalize, classes
        As for every `Recalibrator`.

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


def bin_midpoints(inner_edges: Floats) -> Floats:
    """Middle of each bin of [0, 1]."""
    edges = np.concatenate([[0.0], inner_edges, [1.0]])
    return np.asarray((edges[:-1] + edges[1:]) / 2)


def bin_means(total: Floats, sums: Sums, otherwise: Floats) -> Floats:
    """``total`` over the weight of each bin; of an empty one, what it would be ``otherwise``."""
    full = sums.weight > 0
    means = np.divide(total, sums.weight, out=otherwise.copy(), where=full)
    return np.clip(means, 0, 1)  # rounding errors of the sums of weights
