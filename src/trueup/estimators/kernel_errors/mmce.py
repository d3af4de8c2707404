"""Maximum mean calibration error: the root of the biased kernel error of confidences."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass

import numpy as np

from trueup._typing import Floats
from trueup.checks import check_flag, is_number
from trueup.engines.select import engine
from trueup.engines.types import ScoreCounts
from trueup.errors import must_be
from trueup.estimators.base import Ends
from trueup.estimators.kernel_errors.residuals import ScoreResiduals
from trueup.estimators.pairs_estimator import PairsEstimator, Part
from trueup.estimators.ties import TiedScores
from trueup.forecasts import Forecasts
from trueup.lens import Pairs


@dataclass(frozen=True, repr=False)
class MMCE(PairsEstimator):
    r"""Maximum mean calibration error (Kumar, Sarawagi & Jain 2018).

    :math:`\big(\frac{1}{n^2}\sum_{i,j} (r_i - c_i)(r_j - c_j)\, e^{-|r_i - r_j|/\gamma}\big)^{1/2}`
    with scores r and outcomes c: the largest gap :math:`E[(r - c) f(r)]` over functions f of norm
    at most 1 in the space of the Laplacian kernel. With weights every term has
    :math:`w_i w_j/(\sum w)^2`.

    Parameters
    ----------
    lens : Lens, optional
        The part of a prediction to measure. The default is `Binary` for 1-D probabilities
        and `TopLabel` for a matrix. With `ClassWise` every class has its own error, and squares are
        averaged.
    bandwidth : float, default 0.4
        γ; the default is that of the paper.
    weighted : bool, default False
        Whether to average right and wrong rows separately, as the authors do in training (see
        Notes). This form is *not* 0 for a calibrated model, so it does not measure calibration.

    Notes
    -----
    It is biased upward: the square adds the mean of :math:`(r - c)^2` divided by n, so the value
    for a calibrated model is about :math:`0.4\,n^{-1/2}`. `KernelError` has the unbiased square.
    The value is the root of max(0, square). Cost: one sort and one scan.

    With :math:`m_1` correct and :math:`m_0` wrong rows, the weighted form is the root of

    .. math::
        \sum_{c_i = c_j = 0} \frac{r_i r_j k_{ij}}{m_0^2}
        + \sum_{c_i = c_j = 1} \frac{(1 - r_i)(1 - r_j) k_{ij}}{m_1^2}
        - 2 \sum_{c_i = 1, c_j = 0} \frac{(1 - r_i) r_j k_{ij}}{m_0 m_1}.

    If no row is wrong (or no row is right), the terms with its total are 0. A row with soft label y
    counts as y of a correct row and 1 − y of a wrong row.

    References
    ----------
    Kumar, Sarawagi & Jain 2018, "Trainable calibration measures for neural networks from kernel
    mean embeddings".

    Examples
    --------
    >>> round(MMCE()([0.9, 0.9, 0.9, 0.9], [1, 1, 1, 0]), 6)
    0.15
    >>> round(MMCE(weighted=True)([0.9, 0.9, 0.9, 0.9], [1, 1, 1, 0]), 6)
    0.8
    """

    bandwidth: float = 0.4
    _: KW_ONLY
    weighted: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_number(self.bandwidth) or not 0 < self.bandwidth < np.inf:
            raise must_be("bandwidth", "a finite number above 0", self.bandwidth)
        check_flag("weighted", self.weighted)

    def bounds(self, forecasts: Forecasts) -> Ends:
        """Return 0 and 1, or √2 for the weighted form."""
        return Ends(0.0, math.sqrt(2) if self.weighted else 1.0)

    def power_of_average(self) -> float:
        """Return 2: squares are averaged."""
        return 2

    def measure_pairs(self, pairs: Pairs) -> Part:
        """Return the square for one set of pairs."""
        return Part(self._power(ScoreResiduals.of(pairs)))

    def power_of_ties(self, ties: TiedScores) -> float:
        """Return the square of counted rows."""
        if self.weighted:
            counts = ScoreCounts(ties.value, ties.rank, ties.hits)
            return self._power(ScoreResiduals.of_counts(counts))
        return self._square(ties.value, ties.count_residual) / float(ties.total) ** 2

    def _power(self, scores: ScoreResiduals) -> float:
        if self.weighted:
            return self._square(scores.value, _apart(scores))
        return self._square(scores.value, scores.residual) / scores.mass.every

    def _square(self, value: Floats, residual: Floats) -> float:
        total = engine.pairs.laplace_total(value, residual, float(self.bandwidth))
        return max(0.0, total)  # the kernel is positive definite: less is rounding


def _apart(scores: ScoreResiduals) -> Floats:
    """Return residuals of wrong rows divided by their number, and minus those of correct rows."""
    residual = np.zeros(len(scores.value))
    if (m0 := float(scores.wrong.sum())) > 0:
        residual += scores.value * scores.wrong / m0
    if (m1 := float(scores.right.sum())) > 0:
        residual -= (1 - scores.value) * scores.right / m1
    return residual
