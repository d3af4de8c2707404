"""Dirichlet calibration: the map that is right when forecasts of each class are Dirichlet."""

from __future__ import annotations

import numpy as np

from trueup._typing import Floats
from trueup.recalibrate.base import with_parameters
from trueup.recalibrate.scaling.matrix import MatrixScaling
from trueup.recalibrate.score_forms import Scores, log_sum_exp


@with_parameters
class DirichletCalibration(MatrixScaling):
    r"""Fit a matrix and intercepts on log-probabilities, held near the diagonal.

    :math:`q = \operatorname{softmax}(W \log p + b)`, minimising mean log loss plus ODIR, the
    off-diagonal and intercept regularisation
    :math:`\lambda \frac{1}{K(K-1)} \sum_{i \ne j} W_{ij}^2 + \mu \frac{1}{K} \sum_j b_j^2`, with λ
    and μ of least cross-validated log loss. Where the forecasts of each class have a Dirichlet
    distribution, the right map is of this form; beta calibration is its case of two classes.

    Use it for three to some dozen classes whose errors differ, with a thousand rows or more. It
    answers for all classes together, where one-vs-rest methods do not. On probabilities it is
    `MatrixScaling` with the same penalty (cut at 1e-12); on logits it takes their log-softmax, so
    that what all logits of a row have in common does not matter.

    Cost: that of `MatrixScaling` with ``"auto"``; ten classes and 5,000 rows take a second on one
    core, 100 classes twenty. Above (n + K) K² = 10⁹, as with 1,000
    classes, strengths must be given.

    Parameters
    ----------
    penalty
        ``"odir"``, ``"l2"`` or ``None``, as in `MatrixScaling`.
    strength
        λ, or ``"auto"``: the power of ten of least cross-validated log loss.
    intercept_strength
        μ of ``"odir"``, or ``"auto"``.
    n_folds
        Folds of the cross-validation.
    logits, normalize, classes
        As for every `Recalibrator`.

    Attributes
    ----------
    coefficients_, intercept_
        (K, K) matrix W and (K,) intercepts b; see `MatrixScaling` for which of all equal ones.
    lambda_, mu_
        Strengths of the penalty; None where it has none.
    cross_validation_
        ``lambda``, ``mu`` and ``log_loss`` of every pair of strengths that was tried.
    gradient_norm_, converged_
        Norm of the gradient of mean log loss and penalty at the end; whether it is at most 1e-8.

    Notes
    -----
    As the diagonal is not penalised, there may be no finite optimum here either (a class without
    rows, forecasts that are always right): then a ridge of 1e-4 is added, and ``notes_`` says so.
    Log loss on the fit data does not rise.

    References
    ----------
    Kull, Perello-Nieto, Kängsepp, Silva Filho, Song & Flach 2019, "Beyond temperature scaling:
    obtaining well-calibrated multiclass probabilities with Dirichlet calibration".

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> probs = rng.dirichlet([0.5, 0.5, 0.5], size=5000)
    >>> truth = 0.6 * np.log(probs) + [0, 1, 0]
    >>> labels = (truth + rng.gumbel(size=(5000, 3))).argmax(axis=1)
    >>> dirichlet = DirichletCalibration().fit(probs, labels)
    >>> np.diag(dirichlet.coefficients_).round(1), dirichlet.intercept_.round(1)
    (array([0.6, 0.7, 0.6]), array([-0.4,  0.7, -0.4]))
    >>> dirichlet.predict_proba([[0.2, 0.3, 0.5]]).round(2)
    array([[0.16, 0.56, 0.28]])
    """

    penalty: str | None = "odir"
    strength: float | str = "auto"
    intercept_strength: float | str = "auto"
    n_folds: int = 5

    def _features(self, scores: Scores) -> Floats:
        logits = scores.logits().astype(np.float64)
        return logits - log_sum_exp(logits)[:, None] if scores.are_logits else logits
