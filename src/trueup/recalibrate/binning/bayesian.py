"""Bayesian binning into quantiles: histogram binning averaged over the number of bins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.bins import EqualMass
from trueup.checks import is_number
from trueup.engines.equal_mass import equal_mass_cuts
from trueup.engines.select import engine
from trueup.errors import must_be
from trueup.estimators.ties import TiedScores
from trueup.recalibrate.base import with_parameters
from trueup.recalibrate.fit_input import check_counts
from trueup.recalibrate.one_vs_rest import MarginalRecalibrator
from trueup.recalibrate.score_forms import FitData, Scores

LEAST_MIDDLE = 5e-3  # of a prior, and its distance from 1: as in the authors' code
LEAST_SHARE = 1e-9  # of the best model's; what is left out cannot be seen
ROWS_PER_BIN = 5
MOST_ROWS = 10**8  # more do not make more bins


@with_parameters
class BayesianBinning(MarginalRecalibrator):
    r"""Bayesian binning into quantiles: a posterior-weighted average of equal-mass binnings.

    In a binning M with B bins, the probability of each bin has a Beta prior with the midpoint
    :math:`c_b` of the bin as its mean. The prior counts as :math:`\nu` rows: :math:`\alpha_b = \nu
    c_b`, :math:`\beta_b = \nu (1 - c_b)`. The bin has :math:`N_b` rows, :math:`m_b` of them
    positive, so

    .. math::
        P(D \mid M) = \prod_b \frac{\Gamma(\nu)}{\Gamma(N_b + \nu)}
        \frac{\Gamma(m_b + \alpha_b)}{\Gamma(\alpha_b)}
        \frac{\Gamma(N_b - m_b + \beta_b)}{\Gamma(\beta_b)}, \qquad
        q(p) = \frac{\sum_M P(D \mid M)\, q_M(p)}{\sum_M P(D \mid M)},

    with :math:`q_M(p) = (m_b + \alpha_b) / (N_b + \nu)` in the bin b of p. B runs from
    :math:`\sqrt[3]{n}/10` to :math:`10\sqrt[3]{n}` with at least five rows per bin, n at most 10⁸;
    if tied scores make two numbers of bins equivalent, they are one model.

    Use it as a histogram binning that chooses its bins, from a few hundred rows on. It need not be
    monotone, and bins with few rows are shrunk toward their midpoints. Probabilities are never 0 or
    1. With more than two classes, each class is averaged against the rest, and rows are divided by
    their sum. Cost: a sort and about :math:`50\,n^{2/3}` bins for each class.

    Parameters
    ----------
    prior_weight : float
        :math:`\nu`, the number of rows that the prior of a bin counts as.
    logits, normalize, classes : bool, bool, sequence or None
        Whether X holds logits; whether to divide rows of probabilities by their sum; names of the
        classes in the order of the columns.

    Attributes
    ----------
    maps_
        For each class (for two classes, only the second): ``edges``, the inner edges of all
        binnings together; ``answer``, the averaged output between them; ``n_bins`` and ``share``,
        the number of bins and the posterior weight of each binning.

    Notes
    -----
    The paper writes :math:`N'/B` for :math:`\nu`; the authors' code takes :math:`N' = 2B`, the
    default here, and keeps :math:`c_b` at least 0.005 away from 0 and 1, as is done here. A weight
    counts as that many rows: weights that sum to 1 count as one row, and the priors do not change.
    Outputs are posterior means, not a maximum-likelihood fit. Log loss on the fit data can increase
    if scores were confident and correct; ``notes_`` then says so.

    References
    ----------
    Naeini, Cooper & Hauskrecht 2015, "Obtaining well calibrated probabilities using Bayesian
    binning".

    Examples
    --------
    >>> scores, labels = [0.2] * 10 + [0.9] * 10, [0] * 9 + [1] * 6 + [0] * 5
    >>> model = BayesianBinning().fit(scores, labels)
    >>> model.predict_proba([0.1, 0.9])[:, 1].round(3).tolist()
    [0.15, 0.471]
    >>> model.maps_[0]["n_bins"].tolist(), model.maps_[0]["share"].round(2).tolist()
    ([1, 2], [0.23, 0.77])
    """

    use: ClassVar[str] = "A map of any shape, averaged over numbers of bins."
    instead: ClassVar[str] = "IsotonicCalibration if the map must be monotone."

    why_worse: ClassVar[str] = (
        "binning and the prior shrink confident, correct scores toward the middle"
    )

    prior_weight: float = 2.0

    def _check(self) -> None:
        weight: Any = self.prior_weight
        if not is_number(weight) or not 0 < weight < np.inf:
            raise must_be("prior_weight", "a finite number above 0", weight)

    def _fit(self, data: FitData) -> None:
        check_counts(data.weights)
        super()._fit(data.as_probs())

    def _fit_problem(self, data: FitData, number: int) -> dict[str, Any]:
        binnings = _Binnings.of(TiedScores.of(data.pairs(number)), float(self.prior_weight))
        likely = binnings.log_likelihood()
        share = np.exp(likely - likely.max())
        share[share < LEAST_SHARE] = 0
        share /= share.sum()
        kept = [binnings.bins(i) for i in np.flatnonzero(share).tolist()]
        edges = np.unique(np.concatenate([binnings.upper[bins][:-1] for bins in kept]))
        answers, average = binnings.answers(), np.zeros(len(edges) + 1)
        for bins, weight in zip(kept, share[share > 0], strict=True):
            bin_between = np.searchsorted(binnings.upper[bins][:-1], np.append(edges, 1))
            average += weight * answers[bins][bin_between]
        return {
            "edges": edges,
            "answer": average,
            "n_bins": binnings.size[share > 0],
            "share": share[share > 0],
        }

    def _map(self, learned: dict[str, Any], scores: Scores, number: int) -> Floats:
        bins = engine.bins.find_bins(scores.problem(number), learned["edges"])
        return np.asarray(learned["answer"][bins])

    def _marginals_of(self, scores: Scores) -> Floats:
        return super()._marginals_of(scores.as_probs())


@dataclass(frozen=True, eq=False)
class _Binnings:
    """The bins of many binnings, one binning after the other."""

    size: Ints  # number of bins of each binning
    first: Ints  # number of its first bin
    upper: Floats  # edge of each bin, 1 for the last of a binning
    mass: Floats
    hits: Floats
    prior: Floats  # weight of a positive outcome
    prior_weight: float

    @classmethod
    def of(cls, groups: TiedScores, prior_weight: float) -> _Binnings:
        """Bin groups of tied scores with every number of bins."""
        ranks, weight = np.cumsum(groups.rank), np.cumsum(groups.weight, dtype=np.float64)
        if ranks.dtype.kind == "i" and ranks[-1] == len(ranks) == weight[-1]:
            size, group = _cuts_without_ties(len(ranks))
        else:
            size, group = _cuts(ranks, float(weight[-1]))
        first = np.cumsum(size) - size
        upper = groups.value[group]
        upper[first + size - 1] = 1

        def before(values: Floats) -> Floats:
            """Return values of the preceding bin, 0 in the first bin of a binning."""
            shifted = np.append(0.0, values[:-1])
            shifted[first] = 0
            return shifted

        up_to, hits_up_to = weight[group], np.cumsum(groups.label, dtype=np.float64)[group]
        mass = up_to - before(up_to)
        hits = np.clip(hits_up_to - before(hits_up_to), 0, mass)  # sums of floats are rounded
        middle = np.clip((before(upper) + upper) / 2, LEAST_MIDDLE, 1 - LEAST_MIDDLE)
        return cls(size, first, upper, mass, hits, prior_weight * middle, prior_weight)

    def bins(self, number: int) -> slice:
        """Return the positions of the bins of one binning."""
        return slice(int(self.first[number]), int(self.first[number] + self.size[number]))

    def answers(self) -> Floats:
        """Posterior mean of every bin."""
        return np.asarray((self.hits + self.prior) / (self.mass + self.prior_weight))

    def log_likelihood(self) -> Floats:
        """Logarithm of P(D | M) of every binning."""
        from scipy.special import betaln

        other = self.prior_weight - self.prior
        terms = betaln(self.hits + self.prior, self.mass - self.hits + other)
        return np.asarray(np.add.reduceat(terms - betaln(self.prior, other), self.first))


def _cuts(ranks: NDArray[Any], rows: float) -> tuple[Ints, Ints]:
    """Return the number of bins of every binning, and the last tied group of every bin."""
    every = (equal_mass_cuts(ranks, b) for b in _numbers_of_bins(rows))
    cuts = {found.tobytes(): found for found in every}
    last = [np.append(found, len(ranks) - 1) for found in cuts.values()]
    return np.array([len(groups) for groups in last]), np.concatenate(last)


@lru_cache(maxsize=4)
def _cuts_without_ties(n: int) -> tuple[Ints, Ints]:
    """Return the same for n distinct scores, cached because every class needs it."""
    return _cuts(np.arange(1, n + 1), float(n))


def _numbers_of_bins(rows: float) -> range:
    """Return ∛n/10 … 10 ∛n bins, with at least five rows per bin and at least one bin."""
    n, root = max(1, round(min(rows, MOST_ROWS))), EqualMass("auto").n_bins_for
    return range(max(1, root(n // 1000 + 1) - 1), min(root(1000 * n), -(-n // ROWS_PER_BIN)) + 1)
