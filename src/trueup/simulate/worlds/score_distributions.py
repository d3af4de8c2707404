"""Distributions of scores on [0, 1] that are exact near 0 and near 1.

A score c is always passed together with its complement 1 − c. The scores of a confident network are
so close to 1 that c alone loses information: a fifth of the float64 draws of Beta(2.78, 0.048) are
exactly 1, while their complements are not exactly 0.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np

from trueup._typing import Floats
from trueup.checks import check_finite, is_number
from trueup.errors import must_be
from trueup.specification import Specification

Shape = int | tuple[int, ...]
Integrand = Callable[[Floats, Floats], Floats]


class Drawn(NamedTuple):
    """Scores and their complements."""

    score: Floats
    complement: Floats


NOWHERE = Drawn(np.empty(0), np.empty(0))


class ScoreDistribution(Specification):
    """Base class of score distributions.

    Continuous distributions define `sample`, `quantile` and `share_above`.
    """

    support: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def sample(self, shape: Shape, rng: np.random.Generator) -> Drawn:
        """Draw independent scores.

        Parameters
        ----------
        shape : int or tuple of int
            Shape of the arrays.
        rng : numpy.random.Generator
            Source of random numbers.

        Returns
        -------
        Drawn
            Scores and their complements.
        """
        raise NotImplementedError

    def quantile(self, share_above: Floats) -> Drawn:
        """Return the score that a fraction of all scores exceed, exact near 1.

        Parameters
        ----------
        share_above : ndarray
            Fractions.

        Returns
        -------
        Drawn
            Scores and their complements.
        """
        raise NotImplementedError

    def share_above(self, at: Drawn) -> Floats:
        """Return the fraction of scores above each of these, exact near 1.

        Parameters
        ----------
        at : Drawn
            Scores and their complements.

        Returns
        -------
        ndarray
            Fractions.
        """
        raise NotImplementedError

    def expect(
        self, integrand: Integrand, low: float = 0.0, high: float = 1.0, breaks: Drawn = NOWHERE
    ) -> float:
        """Integrate a function of (score, complement) over scores in (low, high], or [0, high].

        It uses adaptive quadrature in the fraction of scores above, where scores are not
        concentrated at an end.

        Parameters
        ----------
        integrand : callable
            Function of scores and complements.
        low : float, default 0.0
            Lower end.
        high : float, default 1.0
            Upper end.
        breaks : Drawn, optional
            Scores at which the function has a kink or a jump.

        Returns
        -------
        float
            The expectation over these scores.
        """

        def at(share_above: float) -> float:
            return float(integrand(*self.quantile(np.array([share_above])))[0])

        first = 0.0 if high >= 1 else float(self.share_above(_drawn(high))[0])
        last = 1.0 if low <= 0 else float(self.share_above(_drawn(low))[0])
        if last <= first:
            return 0.0
        even = first + (last - first) * np.array([0, 1e-3, 0.1, 0.5, 0.9, 0.999, 1])
        cuts = np.clip(np.concatenate([even, self.share_above(breaks)]), first, last)
        return integral(at, cuts)


@dataclass(frozen=True, repr=False)
class Beta(ScoreDistribution):
    """Beta(alpha, beta) scores, which Roelofs et al. 2022 fit to the confidences of networks.

    Parameters
    ----------
    alpha : float, default 1.0
        First shape parameter.
    beta : float, default 1.0
        Second shape parameter; below 1 for scores concentrated near 1.

    Examples
    --------
    >>> from trueup.simulate import Power, World
    >>> round(World(Beta(2.0, 1.0), Power(2.0)).true_error(), 6)
    0.166667
    """

    alpha: float = 1.0
    beta: float = 1.0

    def __post_init__(self) -> None:
        for name in ("alpha", "beta"):
            if not is_number(getattr(self, name)) or not 0 < getattr(self, name) < np.inf:
                raise must_be(name, "a positive number", getattr(self, name))

    def sample(self, shape: Shape, rng: np.random.Generator) -> Drawn:
        """Draw independent scores; those near an end keep their precision."""
        if self.beta <= 1 <= self.alpha and _rate(self.beta, self.alpha) > 0.5:
            complement = _crowded_draw(self.beta, self.alpha, shape, rng)
            return Drawn(1 - complement, complement)
        if self.alpha <= 1 <= self.beta and _rate(self.alpha, self.beta) > 0.5:
            score = _crowded_draw(self.alpha, self.beta, shape, rng)
            return Drawn(score, 1 - score)
        log_a = _log_gamma_draw(self.alpha, shape, rng)
        log_b = _log_gamma_draw(self.beta, shape, rng)
        total = np.logaddexp(log_a, log_b)
        return Drawn(np.exp(log_a - total), np.exp(log_b - total))

    def quantile(self, share_above: Floats) -> Drawn:
        """Return the score that a fraction of all scores exceed, exact near 1."""
        from scipy.special import betaincinv

        complement = betaincinv(self.beta, self.alpha, share_above)
        score = betaincinv(self.alpha, self.beta, 1 - share_above)
        return Drawn(
            np.where(complement < 0.5, 1 - complement, score),
            np.where(complement < 0.5, complement, 1 - score),
        )

    def share_above(self, at: Drawn) -> Floats:
        """Return the fraction of scores above each of these, exact near 1."""
        from scipy.special import betainc

        return np.asarray(betainc(self.beta, self.alpha, at.complement))


@dataclass(frozen=True, repr=False)
class Uniform(ScoreDistribution):
    """Uniform scores on [low, high].

    Parameters
    ----------
    low : float, default 0.0
        Smallest score.
    high : float, default 1.0
        Largest score.

    Examples
    --------
    >>> from trueup.simulate import World
    >>> World(Uniform(0.5, 1.0)).sample(100, rng=0).scores.min().item() >= 0.5
    True
    """

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.low < self.high <= 1:
            raise must_be("low", "below high, both in [0, 1]", (self.low, self.high))

    def sample(self, shape: Shape, rng: np.random.Generator) -> Drawn:
        """Draw independent scores."""
        score = self.low + (self.high - self.low) * rng.random(shape)
        return Drawn(score, 1 - score)

    def quantile(self, share_above: Floats) -> Drawn:
        """Return the score that a fraction of all scores exceed."""
        score = self.high - (self.high - self.low) * share_above
        return Drawn(score, 1 - score)

    @property
    def support(self) -> tuple[float, float]:  # type: ignore[override]
        """Smallest and largest score."""
        return self.low, self.high

    def share_above(self, at: Drawn) -> Floats:
        """Return the fraction of scores above each of these."""
        return np.clip((self.high - at.score) / (self.high - self.low), 0, 1)


@dataclass(frozen=True, repr=False)
class LogisticMixture(ScoreDistribution):
    """Scores σ(b0 + b1·x) with x from two unit normals at −1 and 1 (Vaicenavicius et al., §5.1).

    Parameters
    ----------
    b0 : float, default 0.0
        Intercept.
    b1 : float, default -2.0
        Slope.

    Examples
    --------
    >>> from trueup.simulate import World
    >>> World(LogisticMixture()).true_error()
    0.0
    """

    b0: float = 0.0
    b1: float = -2.0

    def __post_init__(self) -> None:
        check_finite(self, "b0", "b1")

    def sample(self, shape: Shape, rng: np.random.Generator) -> Drawn:
        """Draw independent scores."""
        x = rng.standard_normal(shape) + rng.choice([-1.0, 1.0], shape)
        return self._scores(x)

    def quantile(self, share_above: Floats) -> Drawn:
        """Return the score that a fraction of all scores exceed."""
        share = np.atleast_1d(np.asarray(share_above, np.float64))
        if self.b1 == 0:
            return self._scores(np.zeros(share.shape))
        below = share if self.b1 < 0 else 1 - share
        return self._scores(_mixture_quantile(below))

    def share_above(self, at: Drawn) -> Floats:
        """Return the fraction of scores above each of these."""
        if self.b1 == 0:
            return np.asarray(self._scores(np.zeros(1)).score > at.score, np.float64)
        below = _mixture_share(self._position(at))
        return np.asarray(1 - below if self.b1 > 0 else below)

    def expect(
        self, integrand: Integrand, low: float = 0.0, high: float = 1.0, breaks: Drawn = NOWHERE
    ) -> float:
        """Integrate a function of (score, complement) over scores in (low, high], along x."""
        if self.b1 == 0:
            return Points((float(self._scores(np.zeros(1)).score[0]),)).expect(integrand, low, high)

        def at(x: float) -> float:
            density = 0.5 * (np.exp(-0.5 * (x + 1) ** 2) + np.exp(-0.5 * (x - 1) ** 2))
            drawn = self._scores(np.array([x]))
            return float(density / np.sqrt(2 * np.pi) * integrand(*drawn)[0])

        ends = Drawn(np.array([low, high]), np.array([1 - low, 1 - high]))
        first, last = np.clip(np.sort(self._position(ends)), -12, 12)  # all but 1e-27 of it
        inner = np.concatenate([[first, last, -4, -1, 1, 4], self._position(breaks)])
        return integral(at, np.clip(inner, first, last))

    def _position(self, at: Drawn) -> Floats:
        """Return the x of each score."""
        with np.errstate(divide="ignore"):
            return np.asarray((np.log(at.score) - np.log(at.complement) - self.b0) / self.b1)

    def _scores(self, x: Floats) -> Drawn:
        from scipy.special import expit

        z = self.b0 + self.b1 * x
        return Drawn(expit(z), expit(-z))


@dataclass(frozen=True, repr=False)
class Points(ScoreDistribution):
    """Finitely many scores, each with its fraction of rows.

    Parameters
    ----------
    scores : sequence of float
        The scores.
    shares : sequence of float, optional
        Fraction of rows with each score (default: equal).

    Examples
    --------
    >>> from trueup.simulate import Power, World
    >>> round(World(Points((0.2, 0.8)), Power(2.0)).true_error(), 6)
    0.16
    """

    scores: Sequence[float] = (0.5,)
    shares: Sequence[float] | None = None

    def __post_init__(self) -> None:
        scores = np.asarray(self.scores, np.float64)
        if scores.ndim != 1 or len(scores) == 0 or not np.all((scores >= 0) & (scores <= 1)):
            raise must_be("scores", "numbers between 0 and 1", self.scores)
        shares = np.full(len(scores), 1 / len(scores)) if self.shares is None else self.shares
        weight = np.asarray(shares, np.float64)
        if weight.shape != scores.shape or not np.all(weight >= 0) or not 0 < weight.sum() < np.inf:
            raise must_be("shares", "a number of at least 0 for each score", self.shares)
        object.__setattr__(self, "scores", tuple(scores.tolist()))
        object.__setattr__(self, "shares", tuple((weight / weight.sum()).tolist()))

    def sample(self, shape: Shape, rng: np.random.Generator) -> Drawn:
        """Draw independent scores."""
        score = rng.choice(np.array(self.scores), shape, p=np.array(self.shares))
        return Drawn(score, 1 - score)

    def expect(
        self, integrand: Integrand, low: float = 0.0, high: float = 1.0, breaks: Drawn = NOWHERE
    ) -> float:
        """Sum a function of (score, complement) over scores in (low, high], or [0, high]."""
        score, share = np.array(self.scores), np.array(self.shares)
        inside = ((score > low) | (low <= 0)) & (score <= high)
        score = score[inside]
        return float(np.sum(share[inside] * integrand(score, 1 - score))) if len(score) else 0.0


class Empirical(Points):
    """The scores of a dataset, resampled with replacement.

    Parameters
    ----------
    scores : sequence of float
        The scores.
    shares : sequence of float, optional
        Fraction of rows with each score (default: equal).

    Examples
    --------
    >>> from trueup.simulate import World
    >>> sorted(set(World(Empirical((0.2, 0.3))).sample(50, rng=0).scores.tolist()))
    [0.2, 0.3]
    """

    def __repr__(self) -> str:
        """Show how many scores there are, not their values."""
        return f"Empirical({len(self.scores)} scores)"


def integral(function: Callable[[float], float], cuts: Floats) -> float:
    """Integrate between successive cuts, to ten digits for each part."""
    from scipy.integrate import IntegrationWarning, quad

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IntegrationWarning)  # said where rounding stops it earlier
        parts = [
            quad(function, a, b, epsabs=1e-16, epsrel=1e-10, limit=400)[0]
            for a, b in pairwise(np.unique(cuts))
        ]
    return math.fsum(parts)


def _drawn(score: float) -> Drawn:
    return Drawn(np.array([score]), np.array([1 - score]))


def _rate(low: float, high: float) -> float:
    """Return the fraction of the proposals that `_crowded_draw` accepts."""
    from scipy.special import gammaln

    return float(np.exp(gammaln(1 + low) + gammaln(high) - gammaln(low + high)))


def _crowded_draw(low: float, high: float, size: Shape, rng: np.random.Generator) -> Floats:
    """Draw Beta(low, high) with low ≤ 1 ≤ high, concentrated near 0, by rejection.

    U^(1/low) has the density of x^(low − 1); it is accepted with probability (1 − x)^(high − 1),
    which is at least 1 − max(1, high − 1)·x, so most draws are accepted without computing a power.
    """
    drawn = _powers_of_uniforms(low, size, rng)
    flat = drawn.reshape(-1)
    chance = rng.random(flat.size)
    open_places = np.flatnonzero(chance > 1 - max(1.0, high - 1) * flat)
    chance = chance[open_places]
    while len(open_places):
        kept = chance <= (1 - flat[open_places]) ** (high - 1)
        open_places = open_places[~kept]
        flat[open_places] = _powers_of_uniforms(low, len(open_places), rng)
        chance = rng.random(len(open_places))
    return drawn


def _powers_of_uniforms(power: float, size: Shape, rng: np.random.Generator) -> Floats:
    """Return U^(1/power) from exponential draws, so that small values keep their precision."""
    drawn = rng.standard_exponential(size)
    drawn *= -1 / power
    return np.exp(drawn, out=drawn)


def _log_gamma_draw(shape_parameter: float, size: Shape, rng: np.random.Generator) -> Floats:
    """Return logarithms of gamma draws without underflow: Gamma(a) = Gamma(a + 1)·U^(1/a)."""
    if shape_parameter >= 1:
        return np.log(rng.standard_gamma(shape_parameter, size))
    return np.log(rng.standard_gamma(shape_parameter + 1, size)) - (
        rng.standard_exponential(size) / shape_parameter
    )


def _mixture_share(x: Floats) -> Floats:
    """Return the CDF at x of the equal mixture of two unit normals at −1 and 1."""
    from scipy.special import ndtr

    return np.asarray(0.5 * ndtr(x + 1) + 0.5 * ndtr(x - 1))


def _mixture_quantile(share: Floats) -> Floats:
    """Return quantiles of the mixture, by bisection between the quantiles of its parts."""
    from scipy.special import ndtri

    low, high = ndtri(share) - 1.0, ndtri(share) + 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        below = _mixture_share(middle) < share
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(0.5 * (low + high))
