"""Platt scaling: a straight line in log-odds."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from trueup._typing import Floats
from trueup.checks import check_choice
from trueup.recalibrate.base import with_parameters
from trueup.recalibrate.scaling.sigmoid import SigmoidRecalibrator
from trueup.recalibrate.score_forms import Scores


@with_parameters
class PlattScaling(SigmoidRecalibrator):
    r"""Platt scaling: a slope and an intercept on the log-odds of each class.

    :math:`q = \sigma(a z + b)`, :math:`a \ge 0`, where z is :math:`\log(p/(1-p))` for probabilities
    (clipped at 1e-12), and the log-odds :math:`z_k - \log\sum_{j \ne k} e^{z_j}` for logits. A
    single column of logits may hold any score, such as the margin of a support vector machine. With
    three classes or more, one line is fitted to each class against the rest, and rows are divided
    by their sum.

    Use it with few rows (a few dozen of each outcome) if probabilities are too extreme, not extreme
    enough or too high everywhere. Two parameters have little variance, but a bias if the true curve
    is not a line. It has as many outputs as scores, so its error cannot be certified; see
    `ScalingBinning`. Cost: about ten passes over the rows of each class.

    Parameters
    ----------
    target : {"labels", "platt"}
        ``"labels"`` fits the labels. ``"platt"`` fits :math:`(N_+ + 1)/(N_+ + 2)` for positive
        labels and :math:`1/(N_- + 2)` for negative ones, where N is the total weight; this shrinks
        the fit.
    loss : {"log", "squared"}
        ``"log"``, which is convex, or ``"squared"``, for which the search starts at the fit by log
        loss and may end in a local minimum.
    logits, normalize, classes : bool, bool, sequence or None
        Whether X holds logits; whether to divide rows of probabilities by their sum; names of the
        classes in the order of the columns.

    Attributes
    ----------
    slope_, intercept_
        a and b of every class; for two classes, those of the second class.
    maps_
        Slope, intercept and the gradient of the mean loss, for every class.

    Notes
    -----
    If larger scores have lower rates, the slope is 0; it never reverses the order of scores. If no
    finite line is best (one class, or scores that order the labels perfectly), smoothed targets are
    fitted, unless the original scores have a smaller loss. With ``"labels"`` and ``"log"``, log
    loss on the fit data never increases: if normalized rows are worse than the original rows, the
    original rows are kept. ``notes_`` reports each of these.

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

    use: ClassVar[str] = "One column of scores that is too extreme or shifted, with few rows."
    instead: ClassVar[str] = (
        "BetaCalibration if both ends need different slopes; IsotonicCalibration for many rows."
    )

    target: str = "labels"
    loss: str = "log"

    @property
    def slope_(self) -> Floats:
        """Slope of every class; for two classes, that of the second."""
        return np.array([learned["slopes"][0] for learned in self.maps_])

    @property
    def intercept_(self) -> Floats:
        """Intercept of every class; for two classes, that of the second."""
        return np.array([learned["intercept"] for learned in self.maps_])

    def _check(self) -> None:
        check_choice("target", self.target, "labels", "platt")
        check_choice("loss", self.loss, "log", "squared")

    def _asked(self) -> tuple[bool, bool]:
        return self.target == "platt", self.loss == "squared"

    def _covariates(self, scores: Scores, number: int) -> Floats:
        return scores.log_odds(number)[None]
