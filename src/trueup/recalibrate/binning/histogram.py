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
    """Base class of recalibrators that bin scores and have one output per bin.

    In `_fit_problem`, a subclass fits ``inner_edges`` and ``values`` of every problem to the result
    of `_binned`. With ``lens="top-label"`` there is a single problem, whether the predicted class
    is right, and the other classes of a row keep their ratios.
    """

    why_worse: ClassVar[str] = "binning loses more information than recalibration gains"

    n_bins: int
    lens: str

    @property
    def outputs_(self) -> Floats | list[Floats]:
        """All possible outputs in increasing order, in the form that `certify` takes.

        For two classes they are those of the second class, and for the top label those of its
        confidence. For more classes they are a list with one array per class.
        """
        each = [np.unique(learned["values"]) for learned in self.maps_]
        return each[0] if len(each) == 1 else each

    def predict_marginals(self, X: object) -> Floats:
        """Return the probability of each class before rows are normalized.

        Rows need not sum to 1. `certify` and checks of marginal calibration use these: with bins
        they take finitely many values, and dividing rows by their sum would create more.

        Parameters
        ----------
        X : array-like or Forecasts
            Probabilities or logits, as in `fit`.

        Returns
        -------
        ndarray
            Probabilities, shape (n, K).

        Examples
        --------
        >>> probs = [0.1, 0.2, 0.3, 0.6, 0.7, 0.8]
        >>> model = HistogramBinning(n_bins=2).fit(probs, [0, 0, 1, 0, 1, 1])
        >>> model.predict_marginals([0.25]).round(3)
        array([[0.667, 0.333]])
        """
        if self.lens == "top-label":
            rule = ("predict_marginals requires ", Argument("lens", "one-vs-rest"))
            raise InputError("lens", rule, self.lens, hint="use predict_confidence")
        return super().predict_marginals(X)

    def predict_confidence(self, X: object) -> Floats:
        """Return the probability of each row that `predict` is right.

        Parameters
        ----------
        X : array-like or Forecasts
            Probabilities or logits, as in `fit`.

        Returns
        -------
        ndarray
            Probabilities of the top label, shape (n,).

        Examples
        --------
        >>> model = HistogramBinning(n_bins=1, lens="top-label")
        >>> model.fit([0.2, 0.9], [0, 1]).predict_confidence([0.7])
        array([1.])
        """
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
        """Return the scores to bin: the probabilities of the problem."""
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
    An empty equal-width bin has no mean label. Its value is interpolated linearly between its
    neighbors, so it cannot make the map decrease.

    Use it with many rows for an error that can be certified, whatever the true curve is: the
    squared error of B bins is about B · 0.15/n for each class. With few bins it loses resolution,
    which increases log loss and lowers accuracy. `ScalingBinning` needs fewer rows for the same
    number of bins. Outputs may decrease as scores increase, and are exactly 0 if a bin has no
    positive label. Cost: one pass to find equal-mass edges and one to sum, for each class.

    Parameters
    ----------
    n_bins : int
        Number of bins for each class; there are fewer equal-mass bins if many scores are tied.
    binning : {"equal-mass", "equal-width"}
        Kind of bins.
    lens : {"one-vs-rest", "top-label"}
        ``"one-vs-rest"`` recalibrates every class separately and divides rows by their sum (a row
        of zeros is left unchanged). ``"top-label"`` recalibrates only the largest score of a row;
        `predict` keeps its class.
    logits, normalize, classes : bool, bool, sequence or None
        Whether X holds logits; whether to divide rows of probabilities by their sum; names of the
        classes in the order of the columns.

    Attributes
    ----------
    maps_
        ``inner_edges`` and ``values`` of every class; for two classes, and for the top label, one.
    outputs_
        All possible outputs, for `certify`: an array, or a list with one array per class.

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

    use: ClassVar[str] = "Certificates, which need finitely many outputs."
    instead: ClassVar[str] = (
        "ScalingBinning, which needs fewer rows; IsotonicCalibration without certificates."
    )

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
        middle, full = bin_midpoints(inner), sums.weight > 0
        means = bin_means(sums.label, sums, middle)
        # An empty bin has no mean label. A value between those of its neighbors keeps the map
        # monotone wherever theirs are.
        return {"inner_edges": inner, "values": np.interp(middle, middle[full], means[full])}


def bin_midpoints(inner_edges: Floats) -> Floats:
    """Return the midpoint of each bin of [0, 1]."""
    edges = np.concatenate([[0.0], inner_edges, [1.0]])
    return np.asarray((edges[:-1] + edges[1:]) / 2)


def bin_means(total: Floats, sums: Sums, otherwise: Floats) -> Floats:
    """Return ``total`` divided by the weight of each bin, or ``otherwise`` for an empty bin."""
    full = sums.weight > 0
    means = np.divide(total, sums.weight, out=otherwise.copy(), where=full)
    return np.clip(means, 0, 1)  # rounding errors of the sums of weights
