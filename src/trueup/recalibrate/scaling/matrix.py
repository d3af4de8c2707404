"""Matrix scaling: every logit may speak for every class."""

from __future__ import annotations

import numpy as np

from trueup._typing import Floats
from trueup.recalibrate.scaling.affine.base import AffineRecalibrator
from trueup.recalibrate.score_forms import Scores


class MatrixScaling(AffineRecalibrator):
    r"""Fit a full matrix and intercepts on logits: multinomial logistic regression.

    :math:`q = \operatorname{softmax}(W z + b)`, with :math:`W` of K × K numbers, z logits or
    logarithms of probabilities cut at 1e-12. It minimises mean log loss plus a penalty:

    * ``None``: nothing (Guo et al. 2017).
    * ``"odir"``: :math:`\lambda \frac{1}{K(K-1)} \sum_{i \ne j} W_{ij}^2 + \mu \frac{1}{K}
      \sum_j b_j^2` (Kull et al. 2019): off-diagonal and intercept regularisation, which leaves
      vector scaling without intercepts free. For two classes λ changes nothing, as the diagonal
      can say all that a matrix says.
    * ``"l2"``: :math:`\lambda \frac{1}{K(K+1)} (\lVert W - I \rVert^2 + \lVert b \rVert^2)`:
      towards no change at all, so that log loss cannot rise. (The paper's L2 pulls towards 0, and
      with it a strong penalty makes forecasts worse than they were.)

    Use it for few classes that are mistaken for each other in a lasting manner, with ten rows or
    more for each of its K² + K numbers; otherwise with ``penalty="odir"``, or use
    `VectorScaling`. Without a penalty it follows chance: from a few dozen classes on, thousands
    of rows can often be told apart without a single error. Unlike temperature scaling it
    depends on what all logits of a row have in common; `DirichletCalibration` does not.

    Cost: some 100 to 500 products of n × K × K. 100 classes and 5,000 rows take one to five
    seconds on one core, 1,000 classes and 300 rows half a minute. Cross-validation takes some
    fifteen times as long as one strength. A fit of more than 4·10¹² operations is stopped there,
    and ``notes_`` says so.

    Parameters
    ----------
    penalty
        ``None``, ``"odir"`` or ``"l2"``.
    strength
        λ, or ``"auto"``: the power of ten of least cross-validated log loss.
    intercept_strength
        μ of ``"odir"``, or ``"auto"``.
    n_folds
        Folds of the cross-validation.
    logits, normalize
        Whether X holds logits, and whether to divide rows of probabilities by their sum.
    classes
        Names of the classes in the order of the columns, or None.

    Attributes
    ----------
    coefficients_
        (K, K) matrix W. Adding the same row to all its rows changes nothing; of all such, it is
        that of least penalty; without one that whose off-diagonal entries sum to 0 in each column.
    intercept_
        (K,) intercepts b, of sum 0.
    lambda_, mu_
        Strengths of the penalty; None where it has none.
    cross_validation_
        ``lambda``, ``mu`` and ``log_loss`` of every pair of strengths that was tried.
    gradient_norm_
        Norm of the gradient of mean log loss and penalty at the end: at most 1e-8, unless logits
        are larger than 100,000.
    converged_
        Whether it is that small.

    Notes
    -----
    The fit starts from the best temperature and never climbs, so that log loss on the fit data
    does not rise. Where no finite matrix is best (rows that can be told apart without error,
    classes without rows), a ridge of 1e-4 on coefficients of logits of unit size holds it near
    that temperature, and ``notes_`` says so. Folds depend on the rows alone, equal rows staying
    together, so that whole weights and repeated rows give the same answer.

    The same input gives the same bits on any number of threads of ours. BLAS is held to one
    thread while fitting, but not while predicting, where its threads may change the last digits.

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

    def _features(self, scores: Scores) -> Floats:
        return scores.logits().astype(np.float64)
