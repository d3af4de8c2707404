"""Beta calibration: a curve with different slopes at the two ends."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from trueup._typing import Floats
from trueup.checks import check_choice
from trueup.recalibrate.base import with_parameters
from trueup.recalibrate.scaling.sigmoid import SigmoidRecalibrator
from trueup.recalibrate.score_forms import Scores


@with_parameters
class BetaCalibration(SigmoidRecalibrator):
    r"""Beta calibration: the correct map if the scores of each class are beta-distributed.

    :math:`q = \sigma(a \log p - b \log(1 - p) + c)`, :math:`a, b \ge 0`: two slopes, one for each
    end of [0, 1], with probabilities clipped at 1e-12. It includes the identity, sigmoids and their
    inverses. With three classes or more, one curve is fitted to each class against the rest, and
    rows are divided by their sum.

    Use it for probabilities that are wrong in different ways near 0 and near 1, which
    `PlattScaling` cannot correct, with a few hundred rows of each outcome. It has as many outputs
    as scores, so its error cannot be certified. Cost: about fifteen passes over the rows of each
    class.

    Parameters
    ----------
    parameters : {"abm", "ab", "am"}
        ``"abm"`` fits all three parameters. ``"ab"`` sets :math:`c = (a - b) \log 2`, so that the
        curve is 1/2 at p = 1/2. ``"am"`` has :math:`a = b`: Platt scaling.
    logits, normalize, classes : bool, bool, sequence or None
        Whether X holds logits; whether to divide rows of probabilities by their sum; names of the
        classes in the order of the columns. For logits, p is the corresponding probability.

    Attributes
    ----------
    coefficients_
        a, b and c, one row per class; for two classes, one row for the second class.
    maps_
        Slopes, intercept and the gradient of the mean loss, for every class.

    Notes
    -----
    A covariate whose slope comes out negative is dropped and the others are fitted again, as in the
    paper. If both slopes are negative, the better of the two ways to drop one is used. Because the
    loss is convex, the result is the best fit without negative slopes. If no finite curve is best
    (one class, or scores that order the labels perfectly), Platt's smoothed targets are fitted,
    unless the original scores have a smaller loss. Log loss on the fit data never increases: if
    normalized rows are worse than the original rows, the original rows are kept. ``notes_`` reports
    each of these.

    References
    ----------
    Kull, Silva Filho & Flach 2017, "Beta calibration: a well-founded and easily implemented
    improvement on logistic calibration for binary classifiers".

    Examples
    --------
    >>> probs = [0.02, 0.1, 0.3, 0.4, 0.6, 0.7, 0.9, 0.95]
    >>> beta = BetaCalibration(parameters="am").fit(probs, [0, 0, 1, 0, 0, 1, 0, 1])
    >>> beta.coefficients_.round(3)
    array([[ 0.483,  0.483, -0.584]])
    >>> BetaCalibration(parameters="ab").fit(probs, [0, 0, 1, 0, 0, 1, 0, 1]).predict_proba([0.5])
    array([[0.5, 0.5]])
    """

    use: ClassVar[str] = "One column of probabilities whose two ends need different slopes."
    instead: ClassVar[str] = (
        "PlattScaling for few rows; IsotonicCalibration for any increasing shape."
    )

    parameters: str = "abm"

    @property
    def coefficients_(self) -> Floats:
        """(classes, 3) parameters a, b and c; one row for two classes."""
        rows = []
        for learned in self.maps_:
            a, b = learned["slopes"][[0, -1]]
            shift = (a - b) * math.log(2) if self.parameters == "ab" else learned["intercept"]
            rows.append([a, b, shift])
        return np.array(rows)

    def _check(self) -> None:
        check_choice("parameters", self.parameters, "abm", "ab", "am")

    def _with_intercept(self) -> bool:
        return self.parameters != "ab"

    def _covariates(self, scores: Scores, number: int) -> Floats:
        log_odds = scores.log_odds(number)
        if self.parameters == "am":
            return log_odds[None]
        # Of log-odds: p itself may be so near 1 that nothing is left of 1 − p.
        covariates = np.stack([-np.logaddexp(0, -log_odds), np.logaddexp(0, log_odds)])
        if self.parameters == "ab":
            covariates += np.array([[math.log(2)], [-math.log(2)]])
        return covariates
