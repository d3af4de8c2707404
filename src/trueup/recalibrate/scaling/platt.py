"""Platt scaling: a straight line in log-odds."""

from __future__ import annotations

import numpy as np

from trueup._typing import Floats
from trueup.checks import check_choice
from trueup.recalibrate.base import with_parameters
from trueup.recalibrate.scaling.sigmoid import SigmoidRecalibrator
from trueup.recalibrate.score_forms import Scores


@with_parameters
class PlattScaling(SigmoidRecalibrator):
    r"""Fit a slope and an intercept to the log-odds of each class.

    :math:`q = \sigma(a z + b)`, :math:`a \ge 0`, where :math:`z = \log(p/(1-p))` of probabilities
    (cut at 1e-12) and the log-odds :math:`z_k - \log\sum_{j \ne k} e^{z_j}` of logits. A single
    column of logits may hold any score, such as the margin of a support vector machine. With
    three classes or more, one line is fitted to each class against the rest, and rows are divided
    by their sum.

    Use it with few rows, a few dozen of each outcome, when probabilities are too extreme, not
    extreme enough or too high everywhere: two parameters have little variance, and a bias
    wherever the true curve is no line. It has as many outputs as scores, so its error cannot
    be certified; see `ScalingBinning`. Cost: about ten passes over the rows of each class.

    Parameters
    ----------
    target
        ``"labels"`` fits the labels. ``"platt"`` fits :math:`(N_+ + 1)/(N_+ + 2)` for positive
        ones and :math:`1/(N_- + 2)` for others, where N adds up the weights: some shrinkage.
    loss
        ``"log"``, which is convex, or ``"squared"``, for which the fit by log loss is the start:
        the nearest valley, not the deepest for certain.
    logits, normalize, classes
        As for every `Recalibrator`.

    Attributes
    ----------
    slope_, intercept_
        a and b of every class; of two classes one of each, for the second.
    maps_
        Slope and intercept with the gradient of the mean loss there, for every class.

    Notes
    -----
    Where larger scores go with fewer positives, the slope is held at 0: it never turns an order
    round. Where no finite line is best (one class, or scores that order the labels perfectly),
    smoothed targets are fitted, unless the scores as they are have a smaller loss. With
    ``"labels"`` and ``"log"``, log loss on the fit data never rises: if normalized rows are worse
    than before, they are kept as they were. ``notes_`` says each of these.

    References
    ----------
    Platt 1999, "Probabilistic outputs for support vector machines and comparisons to regularized
    likelihood methods"; Lin, Lin & Weng 2007, "A note on Platt's probabilistic outputs".

    Examples
    --------
    >>> probs = [0.02, 0.1, 0.3, 0.4, 0.6, 0.7, 0.9, 0.95]
    >>> platt = PlattScaling().fit(probs, [0, 0, 1, 0, 0, 1, 0, 1])
    >>> platt.slope_.round(3), platt.intercept_.round(3)
    (array([0.483]), array([-0.584]))
    >>> platt.predict_proba([0.98]).round(3)
    array([[0.215, 0.785]])
    """

    target: str = "labels"
    loss: str = "log"

    @property
    def slope_(self) -> Floats:
        """Slope of every class; of two classes that of the second."""
        return np.array([learned["slopes"][0] for learned in self.maps_])

    @property
    def intercept_(self) -> Floats:
        """Intercept of every class; of two classes that of the second."""
        return np.array([learned["intercept"] for learned in self.maps_])

    def _check(self) -> None:
        check_choice("target", self.target, "labels", "platt")
        check_choice("loss", self.loss, "log", "squared")

    def _asked(self) -> tuple[bool, bool]:
        return self.target == "platt", self.loss == "squared"

    def _covariates(self, scores: Scores, number: int) -> Floats:
        return scores.log_odds(number)[None]
