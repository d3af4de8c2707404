"""Calibration curves T(c) = P(Y = 1 | score = c), exact near 0 and near 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trueup._typing import Floats
from trueup.checks import check_choice, check_finite
from trueup.errors import must_be
from trueup.specification import Specification


class Curve(Specification):
    """Base class of calibration curves: P(Y = 1) as a function of the score and its complement."""

    def __call__(self, score: Floats, complement: Floats) -> Floats:
        """Return P(Y = 1) at each score."""
        raise NotImplementedError

    def alternatives(self) -> tuple[Curve, ...]:
        """Return the equally likely curves of which this one is a mixture.

        They are the curve itself, unless it is noisy.

        Returns
        -------
        tuple of Curve
            The curves.
        """
        return (self,)

    def jumps(self) -> Sequence[float]:
        """Return the scores at which the curve jumps.

        Returns
        -------
        sequence of float
            The scores.
        """
        return ()


@dataclass(frozen=True, repr=False)
class Identity(Curve):
    """T(c) = c: perfect calibration.

    Examples
    --------
    >>> from trueup.simulate import World
    >>> World(curve=Identity()).true_error()
    0.0
    """

    def __call__(self, score: Floats, complement: Floats) -> Floats:
        """Return P(Y = 1) at each score."""
        return score


@dataclass(frozen=True, repr=False)
class Power(Curve):
    """T(c) = c^d: overconfident for d > 1 (Roelofs et al. 2022, Fig. 7).

    Parameters
    ----------
    d : float, default 2.0
        Exponent, above 0.

    Examples
    --------
    >>> from trueup.simulate import World
    >>> round(World(curve=Power(2.0)).true_error(), 6)
    0.166667
    """

    d: float = 2.0

    def __post_init__(self) -> None:
        check_finite(self, "d")
        if not self.d > 0:
            raise must_be("d", "a positive number", self.d)

    def __call__(self, score: Floats, complement: Floats) -> Floats:
        """Return P(Y = 1) at each score."""
        return np.asarray(score**self.d)


@dataclass(frozen=True, repr=False)
class Logistic(Curve):
    """T(c) = σ(slope·c + shift); σ(10c − 5) in Roelofs et al. 2022, App. C.

    Parameters
    ----------
    slope : float, default 10.0
        Factor of the score.
    shift : float, default -5.0
        Constant.

    Examples
    --------
    >>> from trueup.simulate import World
    >>> round(World(curve=Logistic()).true_error(), 6)
    0.11281
    """

    slope: float = 10.0
    shift: float = -5.0

    def __post_init__(self) -> None:
        check_finite(self, "slope", "shift")

    def __call__(self, score: Floats, complement: Floats) -> Floats:
        """Return P(Y = 1) at each score."""
        return _expit(self.slope * score + self.shift)


@dataclass(frozen=True, repr=False)
class LogOdds(Curve):
    """T(c) = σ(a·logit(c) + b): linear in the log-odds (Kumar et al., App. E (A): a = 2, b = 1).

    Parameters
    ----------
    a : float, default 1.0
        Slope; below 1 for an overconfident model.
    b : float, default 0.0
        Intercept.

    Examples
    --------
    >>> from trueup.simulate import World
    >>> round(World(curve=LogOdds(2.0)).true_error(), 6)
    0.096574
    """

    a: float = 1.0
    b: float = 0.0

    def __post_init__(self) -> None:
        check_finite(self, "a", "b")

    def __call__(self, score: Floats, complement: Floats) -> Floats:
        """Return P(Y = 1) at each score."""
        return Glm("logit", "logit", self.b, self.a)(score, complement)


@dataclass(frozen=True, repr=False)
class Glm(Curve):
    """T(c) = link⁻¹(b0 + b1·transform(c)): the families of Roelofs et al. 2022, App. A.

    If a log or logflip link leaves [0, 1], T is clipped.

    Parameters
    ----------
    link : {"logit", "log", "logflip"}, default "logit"
        Link function; logflip is log(1 − x).
    transform : {"logit", "log", "logflip"}, default "logit"
        Transform of the score.
    b0 : float, default 0.0
        Intercept.
    b1 : float, default 1.0
        Slope.

    Examples
    --------
    >>> from trueup.simulate import World
    >>> round(World(curve=Glm("log", "log", b1=0.5)).true_error(), 6)
    0.166667
    """

    link: str = "logit"
    transform: str = "logit"
    b0: float = 0.0
    b1: float = 1.0

    def __post_init__(self) -> None:
        check_choice("link", self.link, "logit", "log", "logflip")
        check_choice("transform", self.transform, "logit", "log", "logflip")
        check_finite(self, "b0", "b1")

    def __call__(self, score: Floats, complement: Floats) -> Floats:
        """Return P(Y = 1) at each score."""
        eta = np.full(np.shape(score), self.b0)
        if self.b1 != 0:
            eta = eta + self.b1 * _on_scale(self.transform, score, complement)
        if self.link == "logit":
            return _expit(eta)
        inside = np.exp(np.minimum(eta, 0))
        return np.asarray(inside if self.link == "log" else 1 - inside)


@dataclass(frozen=True, repr=False)
class Noisy(Curve):
    """Another curve plus or minus ``size``, each with probability 0.5 for every score.

    See Kumar et al. 2019, App. E (B). The sign is a function of the score (above 1/2, of its
    complement, which is not rounded), so the same score always has the same true probability.

    Parameters
    ----------
    curve : Curve
        The other curve (default `Identity`).
    size : float, default 0.02
        Size of the noise.

    Examples
    --------
    >>> from trueup.simulate import World
    >>> round(World(curve=Noisy(size=0.02)).true_error(), 4)
    0.0198
    """

    curve: Curve = Identity()
    size: float = 0.02

    def __post_init__(self) -> None:
        check_finite(self, "size")
        if not 0 <= self.size <= 1:
            raise must_be("size", "between 0 and 1", self.size)

    def __call__(self, score: Floats, complement: Floats) -> Floats:
        """Return P(Y = 1) at each score."""
        coin = np.where(_coin(np.minimum(score, complement)), self.size, -self.size)
        return np.clip(self.curve(score, complement) + coin, 0, 1)

    def jumps(self) -> Sequence[float]:
        """Return the scores at which the curve without its noise jumps."""
        return self.curve.jumps()

    def alternatives(self) -> tuple[Curve, ...]:
        """Return the curve above and the curve below, each with probability 0.5."""
        return (_Shifted(self.curve, self.size), _Shifted(self.curve, -self.size))


@dataclass(frozen=True, repr=False)
class _Shifted(Curve):
    curve: Curve = Identity()
    by: float = 0.0

    def __call__(self, score: Floats, complement: Floats) -> Floats:
        """Return P(Y = 1) at each score."""
        return np.clip(self.curve(score, complement) + self.by, 0, 1)


@dataclass(frozen=True, repr=False)
class Steps(Curve):
    """Piecewise constant curve: ``values[b]`` on the right-closed interval b between inner edges.

    Parameters
    ----------
    inner_edges : sequence of float
        Increasing inner edges.
    values : sequence of float
        Values, one more than inner edges.

    Examples
    --------
    >>> from trueup.simulate import Points, World
    >>> round(World(Points((0.2, 0.8)), Steps((0.5,), (0.3, 0.7))).true_error(), 6)
    0.1
    """

    inner_edges: Sequence[float] = (0.5,)
    values: Sequence[float] = (0.25, 0.75)

    def __post_init__(self) -> None:
        edges, values = np.asarray(self.inner_edges), np.asarray(self.values)
        if edges.ndim != 1 or np.any(np.diff(edges, prepend=0, append=1) <= 0):
            raise must_be("inner_edges", "increasing, between 0 and 1", self.inner_edges)
        if values.shape != (len(edges) + 1,) or not np.all((values >= 0) & (values <= 1)):
            rule = f"{len(edges) + 1} numbers between 0 and 1, one more than edges"
            raise must_be("values", rule, self.values)
        object.__setattr__(self, "inner_edges", tuple(edges.tolist()))
        object.__setattr__(self, "values", tuple(values.tolist()))

    def jumps(self) -> Sequence[float]:
        """Return the scores at which the curve jumps."""
        return self.inner_edges

    def __call__(self, score: Floats, complement: Floats) -> Floats:
        """Return P(Y = 1) at each score."""
        return np.asarray(self.values)[np.searchsorted(np.asarray(self.inner_edges), score)]


def _on_scale(scale: str, score: Floats, complement: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        if scale == "log":
            return np.asarray(np.log(score))
        if scale == "logflip":
            return np.asarray(np.log(complement))
        return np.asarray(np.log(score) - np.log(complement))


def _expit(z: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-z)))


def _coin(score: Floats) -> Floats:
    """Return a random-looking bit for each score, from its mixed float64 bits (splitmix64)."""
    z = np.ascontiguousarray(score, np.float64).view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((z >> np.uint64(63)) == 1)
