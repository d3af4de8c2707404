"""Worlds with known truth: a score distribution with a calibration curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.checks import check_whole
from trueup.errors import must_be
from trueup.estimators.base import check_norm, root_of
from trueup.estimators.logistic_fit import both_sides
from trueup.forecasts import Forecasts
from trueup.seeds import Seed, generator_of
from trueup.simulate.worlds.calibration_curves import Curve, Identity
from trueup.simulate.worlds.score_distributions import Drawn, Points, ScoreDistribution, Uniform
from trueup.specification import Specification


class DataSets(NamedTuple):
    """Many simulated datasets at once: row r of each array is dataset r."""

    probs: Floats
    labels: NDArray[np.uint8] | Ints


class BinTruth(NamedTuple):
    """True values of each bin: its fraction of rows, mean score and rate of positives."""

    share: Floats
    mean_score: Floats
    mean_label: Floats


@dataclass(frozen=True, repr=False)
class World(Specification):
    """A simulated model whose true calibration curve is known (Roelofs et al. 2022, §3).

    Use it to measure the bias of estimators and the power of tests: the true calibration error is
    known exactly.

    Parameters
    ----------
    scores : ScoreDistribution
        Distribution of the scores (default `Uniform`).
    curve : Curve
        Calibration curve T(c) = P(Y = 1 | score = c) (default `Identity`, perfect calibration).

    Examples
    --------
    >>> from trueup.simulate import Beta, Power, World
    >>> world = World(Beta(2.0, 1.0), Power(2))
    >>> round(world.true_error(norm=1), 6)
    0.166667
    >>> world.sample(100, rng=0)
    Forecasts(100 samples, binary)
    """

    scores: ScoreDistribution = Uniform()
    curve: Curve = Identity()

    def __post_init__(self) -> None:
        if not isinstance(self.scores, ScoreDistribution):
            raise must_be("scores", "a score distribution, such as Beta(2, 1)", self.scores)
        if not isinstance(self.curve, Curve):
            raise must_be("curve", "a curve, such as Identity()", self.curve)

    def sample(self, n: int, rng: Seed) -> Forecasts:
        """Draw one dataset of ``n`` rows.

        Parameters
        ----------
        n : int
            Number of rows.
        rng : int, Generator or None
            Random seed.

        Returns
        -------
        Forecasts
            The dataset.
        """
        sets = self.sample_many(1, n, rng)
        return Forecasts.from_arrays(sets.probs[0], sets.labels[0].astype(bool))

    def sample_many(self, n_datasets: int, n: int, rng: Seed) -> DataSets:
        """Draw many independent datasets of ``n`` rows at once.

        Parameters
        ----------
        n_datasets : int
            Number of datasets.
        n : int
            Number of rows of a dataset.
        rng : int, Generator or None
            Random seed.

        Returns
        -------
        DataSets
            ``probs`` and ``labels``, each (n_datasets, n).
        """
        check_whole("n_datasets", n_datasets, 1)
        check_whole("n", n, 1)
        chance = generator_of(rng)
        score, complement = self.scores.sample((n_datasets, n), chance)
        truth = self.curve(score, complement)
        return DataSets(score, (chance.random((n_datasets, n)) < truth).view(np.uint8))

    def true_error(self, norm: float = 1) -> float:
        """Return the true calibration error (E |c − T(c)|^p)^(1/p), which no binning can hide.

        Parameters
        ----------
        norm : float, default 1
            Norm p of the error.

        Returns
        -------
        float
            The true error.
        """
        check_norm(norm)
        if math.isinf(norm):
            return self._largest_gap()
        return root_of(self._average(lambda c, d, truth: np.abs(c - truth) ** norm), norm)

    def bin_truth(self, inner_edges: Any) -> BinTruth:
        """Return the true values of the right-closed bins between these inner edges.

        Parameters
        ----------
        inner_edges : array_like
            Increasing inner edges.

        Returns
        -------
        BinTruth
            Fraction of rows, mean score and rate of positives of each bin.
        """
        edges = np.concatenate([[0.0], np.asarray(inner_edges, np.float64), [1.0]])
        if not np.all(np.diff(edges) > 0):
            raise must_be("inner_edges", "increasing, between 0 and 1", inner_edges)
        pairs = list(pairwise(edges))
        share = np.array(
            [self.scores.expect(lambda c, d: np.ones_like(c), *ends) for ends in pairs]
        )
        score = np.array([self.scores.expect(lambda c, d: c, *ends) for ends in pairs])
        label = np.array([self._average(lambda c, d, truth: truth, *ends) for ends in pairs])
        with np.errstate(invalid="ignore", divide="ignore"):
            return BinTruth(share, score / share, label / share)

    def binned_error(self, inner_edges: Any, norm: float = 1) -> float:
        """Return the population value of the binned error in these bins, which estimators target.

        It is never above `true_error`, because errors of opposite sign in one bin cancel.

        Parameters
        ----------
        inner_edges : array_like
            Increasing inner edges.
        norm : float, default 1
            Norm of the error.

        Returns
        -------
        float
            The binned error of infinitely many rows.
        """
        check_norm(norm)
        truth = self.bin_truth(inner_edges)
        full = truth.share > 0
        gaps = np.abs(truth.mean_score[full] - truth.mean_label[full])
        power = gaps.max() if math.isinf(norm) else np.sum(truth.share[full] * gaps**norm)
        return root_of(power, norm)

    def calibrated(self) -> World:
        """Return the simulated model with the same scores and no calibration error.

        Returns
        -------
        World
            The calibrated model.
        """
        return World(self.scores, Identity())

    def _average(self, function: Any, low: float = 0.0, high: float = 1.0) -> float:
        """Return the mean of a function of score, complement and truth, split at possible kinks."""

        def along(curve: Curve) -> float:
            breaks = self._kinks(curve)
            return self.scores.expect(lambda c, d: function(c, d, curve(c, d)), low, high, breaks)

        curves = self._curves()
        return math.fsum(along(curve) for curve in curves) / len(curves)

    def _curves(self) -> tuple[Curve, ...]:
        """Curves to average over; for finitely many scores, the signs are already drawn."""
        return (self.curve,) if isinstance(self.scores, Points) else self.curve.alternatives()

    def _kinks(self, curve: Curve) -> Drawn:
        """Return where c − T(c) changes sign, by bisection in logit(c), and where T jumps."""
        low, high = LOGITS[:-1], LOGITS[1:]
        sign = np.sign(_gap(curve, LOGITS))
        crossing = sign[:-1] * sign[1:] < 0
        low, high, falling = low[crossing], high[crossing], sign[:-1][crossing]
        for _ in range(60):
            middle = 0.5 * (low + high)
            before = np.sign(_gap(curve, middle)) == falling
            low, high = np.where(before, middle, low), np.where(before, high, middle)
        jumps = np.asarray(self.curve.jumps(), np.float64)
        score, complement = both_sides(low)
        return Drawn(np.append(score, jumps), np.append(complement, 1 - jumps))

    def _largest_gap(self) -> float:
        """Return the largest |c − T(c)|: exact for points, else over a fine grid in logit(c)."""
        if isinstance(self.scores, Points):
            score = np.array(self.scores.scores)
            return float(np.abs(score - self.curve(score, 1 - score)).max())
        least, most = self.scores.support
        score, complement = both_sides(LOGITS)
        inside = (score >= least) & (score <= most)
        ends = np.array([least, most])
        at = Drawn(np.append(score[inside], ends), np.append(complement[inside], 1 - ends))
        return max(float(np.abs(at.score - t(*at)).max()) for t in self._curves())


# Fine where scores usually are, and out to the last score that float64 can tell from 0 or 1.
LOGITS = np.concatenate(
    [-np.geomspace(700, 40, 200), np.linspace(-39.9, 39.9, 8001), np.geomspace(40, 700, 200)]
)


def _gap(curve: Curve, z: Floats) -> Floats:
    """Return c − T(c) at each logit of c."""
    score, complement = both_sides(z)
    return np.asarray(score - curve(score, complement))
