"""Temperature scaling: one number for all logits."""

from __future__ import annotations

from typing import ClassVar

from trueup._typing import Floats
from trueup.engines.select import engine
from trueup.recalibrate.base import Losses, Recalibrator
from trueup.recalibrate.scaling.inverse_temperature import LossCurve, fit_inverse_temperature
from trueup.recalibrate.score_forms import FitData, Scores


class TemperatureScaling(Recalibrator):
    r"""Divide logits by one number (Guo, Pleiss, Sun & Weinberger 2017).

    :math:`\mathrm{softmax}(z/T)` with the T > 0 of least log loss on the fit data; of
    probabilities, z are their logarithms. The first thing to try on a neural network: one
    parameter needs a few hundred rows and can hardly be overfitted. It keeps the order of classes
    in every row, so accuracy stays what it was, and corrects only a confidence that is too high
    or too low everywhere alike.

    Parameters
    ----------
    logits, normalize
        Whether X holds logits, and whether to divide rows of probabilities by their sum.
    classes
        Names of the classes in the order of the columns; by default they are read off y.

    Attributes
    ----------
    temperature_
        T. Above 1 the predictions were too confident.
    gradient_norm_
        Size of the derivative of the mean log loss by log T, at T: at most 1e-10 unless `notes_`
        says that there is no minimum.

    Notes
    -----
    The log loss is convex in 1/T. Newton's method, held between a point where the loss falls and
    one where it rises, needs no learning rate and finds the minimum in four or five passes over
    the logits; of a large matrix some rows say where to start. There is no minimum

    * where every prediction is right: T would go to 0. It stops where the mean log loss is
      log((n+2)/(n+1)), as if one row more had been predicted wrong (Laplace's rule of
      succession); or stays 1 if the loss is below that.
    * where the logits of labels are no larger than those of other classes on average: T would go
      to infinity. It stops where the logits of a row have a standard deviation of 0.001.

    Answers are float64 whatever the input, so that rows sum to 1 to 1e-12. `predict` goes by the
    scores as given: rounding can make two probabilities equal whose scores are not.

    References
    ----------
    Guo, Pleiss, Sun & Weinberger 2017, "On calibration of modern neural networks".

    Examples
    --------
    >>> logits = [[4.0, 0.0], [0.0, 4.0], [4.0, 0.0], [0.0, 4.0]]
    >>> scaling = TemperatureScaling(logits=True).fit(logits, [0, 1, 0, 0])
    >>> round(scaling.temperature_, 4)  # three of four are right: 4/T = log 3
    3.641
    >>> scaling.predict_proba([[4.0, 0.0]]).round(4)
    array([[0.75, 0.25]])
    """

    preserves_argmax: ClassVar[bool] = True
    monotone: ClassVar[bool] = True

    temperature_: float
    gradient_norm_: float

    def _fit(self, data: FitData) -> Losses:
        found = fit_inverse_temperature(LossCurve.of(data))
        self.temperature_ = 1 / found.best.inverse
        self.gradient_norm_ = found.best.gradient
        if found.note:
            self.notes_.append(found.note)
        return Losses(found.before, found.best.loss)

    def _probs_of(self, scores: Scores) -> Floats:
        return engine.softmax.tempered_probs(scores.logits(), 1 / self.temperature_)
