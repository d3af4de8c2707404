"""Matrix scaling and Dirichlet calibration: a fitted matrix combines the logits of all classes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from trueup._typing import Floats
from trueup.checks import check_choice, check_whole, is_number
from trueup.engines.select import engine
from trueup.errors import Verbatim, must_be
from trueup.recalibrate.base import Recalibrator, with_parameters
from trueup.recalibrate.blas import one_blas_thread
from trueup.recalibrate.scaling.affine.fit import AffineData, fit_affine
from trueup.recalibrate.scaling.affine.penalty_search import Strengths, folds_of, search_strengths
from trueup.recalibrate.score_forms import FitData, Scores, log_sum_exp

MOST_TO_SEARCH = 1e9  # (n + K) K²: with more, cross-validation takes longer than minutes


@with_parameters
class MatrixScaling(Recalibrator):
    r"""Matrix scaling: multinomial logistic regression on the logits.

    :math:`q = \operatorname{softmax}(W z + b)`, where :math:`W` is a K × K matrix, and z are logits
    or logarithms of probabilities clipped at 1e-12. It minimizes the mean log loss plus a penalty:

    * ``None``: no penalty (Guo et al. 2017).
    * ``"odir"``: :math:`\lambda \frac{1}{K(K-1)} \sum_{i \ne j} W_{ij}^2 + \mu \frac{1}{K}
      \sum_j b_j^2` (Kull et al. 2019): off-diagonal and intercept regularization, which does not
      penalize the diagonal. For two classes λ has no effect, because a diagonal matrix can express
      every map.
    * ``"l2"``: :math:`\lambda \frac{1}{K(K+1)} (\lVert W - I \rVert^2 + \lVert b \rVert^2)`:
      shrinkage toward the identity, so that log loss cannot increase. (The paper's L2 penalty
      shrinks toward 0, so a strong penalty makes forecasts worse than before.)

    Use it for a few classes that are systematically confused with each other, with ten rows or more
    for each of its K² + K parameters; otherwise use ``penalty="odir"`` or `VectorScaling`. Without
    a penalty it overfits: from a few dozen classes on, thousands of rows can often be separated
    perfectly. Unlike temperature scaling and `DirichletCalibration`, it changes if a constant is
    added to all logits of a row.

    Cost: about 100 to 500 products of n × K × K. 100 classes and 5,000 rows take one to five
    seconds on one core, 1,000 classes and 300 rows half a minute. Cross-validation takes about
    fifteen times as long as a fit with given strengths. A fit is stopped after 4·10¹² operations,
    and ``notes_`` says so.

    Parameters
    ----------
    penalty : {"odir", "l2"} or None
        The penalty.
    strength : float or "auto"
        λ, or ``"auto"`` for the power of ten with the lowest cross-validated log loss.
    intercept_strength : float or "auto"
        μ of ``"odir"``, or ``"auto"``.
    n_folds : int
        Number of folds of the cross-validation.
    logits, normalize, classes : bool, bool, sequence or None
        Whether X holds logits; whether to divide rows of probabilities by their sum; names of the
        classes in the order of the columns.

    Attributes
    ----------
    coefficients_
        (K, K) matrix W. Adding the same row to all its rows changes no probability; among all
        equivalent matrices, this one has the smallest penalty. Without a penalty, its off-diagonal
        column sums are 0.
    intercept_
        (K,) intercepts b, whose sum is 0.
    lambda_, mu_
        Strengths of the penalty; None if the penalty has no such strength.
    cross_validation_
        ``lambda``, ``mu`` and ``log_loss`` of every pair of strengths that was tried.
    gradient_norm_
        Final norm of the gradient of mean log loss plus penalty: at most 1e-8, unless logits are
        larger than 100,000.
    converged_
        Whether the gradient is that small.

    Notes
    -----
    The fit starts from the best temperature and never increases the objective, so log loss on the
    fit data does not increase. If the rows can be separated without error, or a class has no rows,
    no finite matrix is best. A ridge penalty of 1e-4 (for logits of unit size) then keeps the
    matrix near the best temperature, and ``notes_`` says so. The same is done if only a huge matrix
    is best. An optimum counts as finite if a ridge of 1e-10 would move no log-odds by more than
    0.1. For up to 20 classes, and in doubtful cases up to 44, a descent with the full Hessian
    decides this. Therefore neither the order of the rows nor rounding errors change the result by
    more than about 1e-6. With more classes, the result for nearly separable rows can still depend
    on their order.

    Folds depend only on the rows, and equal rows stay together, so integer weights and repeated
    rows give the same result.

    A fit is bit-for-bit identical on any number of threads of trueup. BLAS is limited to one thread
    during fitting, but not during prediction, where its threads may change the last digits.

    References
    ----------
    Guo, Pleiss, Sun & Weinberger 2017, "On calibration of modern neural networks"; Kull et al.
    2019, "Beyond temperature scaling: obtaining well-calibrated multiclass probabilities with
    Dirichlet calibration".

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> logits = 3 * rng.normal(size=(5000, 3))
    >>> truth = logits @ [[0.5, 0.2, 0], [-0.2, 0.5, 0], [0, 0, 0.5]]
    >>> labels = (truth + rng.gumbel(size=(5000, 3))).argmax(axis=1)
    >>> matrix = MatrixScaling(logits=True).fit(logits, labels)
    >>> matrix.coefficients_.round(1) + 0.0  # no negative zeros
    array([[ 0.4, -0.1,  0. ],
           [ 0.1,  0.6,  0. ],
           [-0.1,  0.1,  0.5]])
    >>> matrix.converged_
    True
    """

    use: ClassVar[str] = (
        "Classes that are confused with each other, with ten rows for each of K² + K numbers."
    )
    instead: ClassVar[str] = "VectorScaling or TemperatureScaling for fewer rows."

    penalty: str | None = None
    strength: float | str = "auto"
    intercept_strength: float | str = "auto"
    n_folds: int = 5

    def _check(self) -> None:
        if self.penalty is not None:
            check_choice("penalty", self.penalty, "l2", "odir")
        for name in ("strength", "intercept_strength"):
            value = getattr(self, name)
            if isinstance(value, str) and value == "auto":
                continue
            if not is_number(value) or not 0 <= value < np.inf:
                raise must_be(name, '"auto" or a finite number of at least 0', value)
            if self.penalty is None or (name == "intercept_strength" and self.penalty == "l2"):
                raise must_be(name, f'left at "auto" with penalty={self.penalty!r}', value)
        check_whole("n_folds", self.n_folds, 2)

    def _fit(self, data: FitData) -> None:
        with one_blas_thread():
            features = self._features(data.scores)
            affine = AffineData.of(features, data)
            chosen = self._strengths(features, data, affine)
            found = fit_affine(affine, self.penalty, chosen.strength, chosen.mu)
        self.coefficients_ = found.coefficients
        self.intercept_ = found.intercept
        self.lambda_ = None if self.penalty is None else chosen.strength
        self.mu_ = chosen.mu if self.penalty == "odir" else None
        self.cross_validation_ = chosen.tried
        self.gradient_norm_ = found.gradient_norm
        self.converged_ = found.converged
        self.notes_ += found.notes
        if not found.converged:
            self._stopped_early(
                f"the fit stopped early, with a gradient of {found.gradient_norm:.1e} per row: "
                "log loss has not increased but is not minimal; VectorScaling has far fewer "
                "parameters"
            )

    def _strengths(self, features: Floats, data: FitData, affine: AffineData) -> Strengths:
        if self.penalty is None:
            return Strengths(0.0, 0.0, [])
        strength = None if isinstance(self.strength, str) else float(self.strength)
        mu = None if isinstance(self.intercept_strength, str) else float(self.intercept_strength)
        if self.penalty == "l2":
            mu = 0.0
        if strength is not None and mu is not None:
            return Strengths(strength, mu, [])
        if (data.n + data.n_classes) * data.n_classes**2 > MOST_TO_SEARCH:
            raise must_be(
                "strength" if strength is None else "intercept_strength",
                f"a number for {data.n:,} rows of {data.n_classes:,} classes",
                Verbatim('"auto", whose cross-validation would take too long'),
                hint="VectorScaling takes seconds",
            )
        fold = folds_of(features, data.labels, self.n_folds)
        if fold.max() == 0:
            self.notes_.append(
                "all rows are the same, so cross-validation cannot choose a penalty; the "
                "strongest was used"
            )
        return search_strengths(affine, fold, self.penalty, strength, mu)

    def _features(self, scores: Scores) -> Floats:
        """Return (n, K) features in float64: the logits."""
        return scores.logits().astype(np.float64)

    def _probs_of(self, scores: Scores) -> Floats:
        logits = self._features(scores) @ self.coefficients_.T + self.intercept_
        return engine.softmax.tempered_probs(logits, 1.0)


@with_parameters
class DirichletCalibration(MatrixScaling):
    r"""Dirichlet calibration: regularized matrix scaling of log-probabilities (ODIR).

    :math:`q = \operatorname{softmax}(W \log p + b)`, minimizing mean log loss plus ODIR, the
    off-diagonal and intercept regularization
    :math:`\lambda \frac{1}{K(K-1)} \sum_{i \ne j} W_{ij}^2 + \mu \frac{1}{K} \sum_j b_j^2`, with
    the λ and μ that have the lowest cross-validated log loss. If the forecasts for each class have
    a Dirichlet distribution, the correct map has this form; beta calibration is the case of two
    classes.

    Use it for three to a few dozen classes whose errors differ, with a thousand rows or more. It
    recalibrates all classes together, which one-vs-rest methods do not. For probabilities (clipped
    at 1e-12) it is `MatrixScaling` with the same penalty. For logits it uses their log-softmax, so
    adding a constant to all logits of a row changes nothing.

    Cost: that of `MatrixScaling` with ``"auto"``: one second on one core for 5,000 rows of ten
    classes, and twenty seconds for 100 classes. If (n + K) K² exceeds 10⁹, as with 1,000 classes,
    pass the strengths.

    Parameters
    ----------
    penalty : {"odir", "l2"} or None
        The penalty, as in `MatrixScaling`.
    strength : float or "auto"
        λ, or ``"auto"`` for the power of ten with the lowest cross-validated log loss.
    intercept_strength : float or "auto"
        μ of ``"odir"``, or ``"auto"``.
    n_folds : int
        Number of folds of the cross-validation.
    logits, normalize, classes : bool, bool, sequence or None
        Whether X holds logits; whether to divide rows of probabilities by their sum; names of the
        classes in the order of the columns.

    Attributes
    ----------
    coefficients_, intercept_
        (K, K) matrix W and (K,) intercepts b; `MatrixScaling` describes which of all equivalent
        ones.
    lambda_, mu_
        Strengths of the penalty; None if the penalty has no such strength.
    cross_validation_
        ``lambda``, ``mu`` and ``log_loss`` of every pair of strengths that was tried.
    gradient_norm_, converged_
        Final norm of the gradient of mean log loss plus penalty; whether it is at most 1e-8.

    Notes
    -----
    Because the diagonal is not penalized, there may be no finite optimum (a class without rows, or
    forecasts that are always right). A ridge penalty of 1e-4 is then added, and ``notes_`` says so.
    Log loss on the fit data does not increase.

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

    use: ClassVar[str] = (
        "Classes that are confused with each other, with fewer rows than MatrixScaling needs."
    )
    instead: ClassVar[str] = "VectorScaling or TemperatureScaling for few rows."

    penalty: str | None = "odir"
    strength: float | str = "auto"
    intercept_strength: float | str = "auto"
    n_folds: int = 5

    def _features(self, scores: Scores) -> Floats:
        logits = scores.logits().astype(np.float64)
        return logits - log_sum_exp(logits)[:, None] if scores.are_logits else logits
