"""Multiclass worlds: tables of predictions with true distributions, and Dirichlet predictions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueup._typing import Floats
from trueup.bins import EqualMass, VarianceTree
from trueup.checks import check_whole
from trueup.errors import must_be
from trueup.estimators import BinnedError
from trueup.estimators.base import average, check_norm, root_of
from trueup.estimators.binned_errors.bias_correction import residual_power
from trueup.estimators.binned_errors.simplex_cells import cell_table, simplex_power
from trueup.forecasts import Forecasts
from trueup.lens import Canonical, Cells, Lens, Pairs
from trueup.seeds import Seed, generator_of
from trueup.simulate.worlds.world import DataSets
from trueup.specification import Specification
from trueup.variance_tree import Leaf

Distance = str | Callable[[Any, Any], Any]
SAME = 1e-12  # induced predictions closer than this are one prediction


class ClassesWorld(Specification):
    """Base class of multiclass worlds; `_draw` returns predictions with true distributions."""

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
        return Forecasts.from_arrays(sets.probs[0], sets.labels[0])

    def sample_many(self, n_datasets: int, n: int, rng: Seed) -> DataSets:
        """Draw independent datasets: probs (n_datasets, n, K) and labels (n_datasets, n).

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
            ``probs`` and ``labels``.
        """
        check_whole("n_datasets", n_datasets, 1)
        check_whole("n", n, 1)
        chance = generator_of(rng)
        probs, truth = self._draw((n_datasets, n), chance)
        upto = np.cumsum(truth, axis=-1)[..., :-1]
        labels = (chance.random((n_datasets, n, 1)) >= upto).sum(axis=-1)
        return DataSets(probs, labels.astype(np.int64))

    def _draw(self, shape: tuple[int, int], rng: np.random.Generator) -> tuple[Floats, Floats]:
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class TableWorld(ClassesWorld):
    """A simulated model with finitely many predictions and their true distributions.

    The true error is a finite sum, which is exact for every lens.

    Parameters
    ----------
    predictions : sequence of sequence of float
        Predicted distributions.
    outcomes : sequence of sequence of float
        True distribution of the outcomes for each prediction.
    shares : sequence of float, optional
        Fraction of rows with each prediction (default: equal).

    Examples
    --------
    >>> world = TableWorld(((0.6, 0.1, 0.3), (0.4, 0.6, 0.0)), ((0.7, 0.2, 0.1), (0.3, 0.5, 0.2)))
    >>> round(world.true_error(), 6)
    0.2
    """

    predictions: Sequence[Sequence[float]]
    outcomes: Sequence[Sequence[float]]
    shares: Sequence[float] | None = None

    def __post_init__(self) -> None:
        shape = np.shape(self.predictions)
        if len(shape) != 2 or np.shape(self.outcomes) != shape:
            rule = f"a table of the shape of `predictions`, {shape}"
            raise must_be("outcomes", rule, np.shape(self.outcomes))
        for name in ("predictions", "outcomes"):
            rows = np.asarray(getattr(self, name), np.float64)
            if not (np.all(rows >= 0) and np.allclose(rows.sum(axis=1), 1, atol=1e-9, rtol=0)):
                raise must_be(name, "rows of probabilities that sum to 1", getattr(self, name))
            object.__setattr__(self, name, tuple(map(tuple, rows.tolist())))
        shares = np.full(shape[0], 1 / shape[0]) if self.shares is None else self.shares
        weight = np.asarray(shares, np.float64)
        if weight.shape != shape[:1] or not np.all(weight > 0):
            raise must_be("shares", "a positive number for each prediction", self.shares)
        object.__setattr__(self, "shares", tuple((weight / weight.sum()).tolist()))

    def _draw(self, shape: tuple[int, int], rng: np.random.Generator) -> tuple[Floats, Floats]:
        row = rng.choice(len(self.predictions), shape, p=np.array(self.shares))
        return np.array(self.predictions)[row], np.array(self.outcomes)[row]

    def true_error(
        self, norm: float = 1, lens: Lens | None = None, distance: Distance = "tv"
    ) -> float:
        """Return the error over all distinct induced predictions, by default the canonical error.

        Parameters
        ----------
        norm : float, default 1
            Norm of the error.
        lens : Lens, optional
            Lens (default `Canonical`).
        distance : str or callable, default "tv"
            Distance on a simplex, as for `BinnedError`.

        Returns
        -------
        float
            The true error.
        """
        check_norm(norm)
        chosen: Any = Canonical() if lens is None else lens
        everything = self.population()
        if chosen.induces == "simplex":
            return root_of(_simplex_truth(chosen.cells(everything), distance, norm), norm)
        if chosen.induces == "family":
            members = chosen.members(everything)
            powers = ((m.share, _pairs_truth(m.pairs, norm)) for m in members)
            return root_of(average(powers, norm), norm)
        return root_of(_pairs_truth(chosen.pairs(everything), norm), norm)

    def population(self) -> Forecasts:
        """Return the whole population as weighted rows: every prediction with every outcome.

        Returns
        -------
        Forecasts
            The rows.
        """
        predictions, outcomes = np.array(self.predictions), np.array(self.outcomes)
        rows, k = predictions.shape
        weights = (np.array(self.shares)[:, None] * outcomes).ravel()
        return Forecasts.from_arrays(
            np.repeat(predictions, k, axis=0), np.tile(np.arange(k), rows), weights=weights
        )


@dataclass(frozen=True, repr=False)
class DirichletWorld(ClassesWorld):
    """A simulated model with Dirichlet predictions g and true distribution g^(1/temperature).

    The true distribution is normalized. A temperature above 1 makes it flatter than the
    predictions: an overconfident model.

    Parameters
    ----------
    alpha : sequence of float
        Parameters of the Dirichlet distribution, one per class.
    temperature : float, default 1.0
        Temperature.

    Examples
    --------
    >>> DirichletWorld(temperature=1.0).sample(100, rng=0).n_classes
    3
    """

    alpha: Sequence[float] = (1.0, 1.0, 1.0)
    temperature: float = 1.0

    def __post_init__(self) -> None:
        alpha = np.asarray(self.alpha, np.float64)
        if alpha.ndim != 1 or len(alpha) < 2 or not np.all((alpha > 0) & (alpha < np.inf)):
            raise must_be("alpha", "two positive numbers or more", self.alpha)
        if not 0 < self.temperature < np.inf:
            raise must_be("temperature", "a positive number", self.temperature)
        object.__setattr__(self, "alpha", tuple(alpha.tolist()))

    def _draw(self, shape: tuple[int, int], rng: np.random.Generator) -> tuple[Floats, Floats]:
        probs = rng.dirichlet(np.array(self.alpha), shape)
        return probs, self.truth(probs)

    def truth(self, probs: Floats) -> Floats:
        """Return the true distribution at each prediction.

        Parameters
        ----------
        probs : ndarray
            Predictions, shape (n, K).

        Returns
        -------
        ndarray
            True distributions, shape (n, K).
        """
        with np.errstate(divide="ignore"):
            z = np.log(probs) / self.temperature
        truth = np.exp(z - z.max(axis=-1, keepdims=True))
        return np.asarray(truth / truth.sum(axis=-1, keepdims=True))

    def true_error(
        self,
        norm: float = 1,
        lens: Lens | None = None,
        distance: Distance = "tv",
        n_points: int = 1 << 19,
        rng: Seed = 0,
    ) -> float:
        """Compute the true error of a lens by seeded Monte Carlo over predictions.

        The canonical error, the default, compares each prediction with its true distribution. For
        L1, L2 and total variation its standard error is below 1/(2·√n_points), less than 0.001; for
        the maximum norm it is only a lower bound. For any other lens, true distributions serve as
        soft labels in a thousand bins (on a simplex: small cells), which is accurate to a few
        thousandths.

        Parameters
        ----------
        norm : float, default 1
            Norm of the error.
        lens : Lens, optional
            Lens (default `Canonical`).
        distance : str or callable, default "tv"
            Distance on a simplex, as for `BinnedError`.
        n_points : int, default 524288
            Number of predictions to draw.
        rng : int, Generator or None, default 0
            Random seed; the same seed gives the same result.

        Returns
        -------
        float
            The true error.
        """
        check_norm(norm)
        probs = generator_of(rng).dirichlet(np.array(self.alpha), n_points)
        truth = self.truth(probs)
        if lens is not None and lens != Canonical():
            on_simplex = lens.induces == "simplex"
            binning = VarianceTree(min_samples=500) if on_simplex else EqualMass(1000)
            population = Forecasts.from_arrays(probs, truth, soft_labels=True)
            return BinnedError(lens, binning, norm, distance=distance)(population)
        if distance == "tv":
            away = 0.5 * np.abs(truth - probs).sum(axis=1)
        elif distance == "squared":
            away = ((truth - probs) ** 2).sum(axis=1)
        elif callable(distance):
            away = np.asarray(distance(truth, probs))
        else:
            raise must_be("distance", '"tv", "squared" or a function', distance)
        power = away.max() if math.isinf(norm) else np.mean(away**norm)
        return root_of(float(power), norm)


def _pairs_truth(pairs: Pairs, norm: float) -> float:
    """Return the averaged p-th power over distinct scores of weighted pairs."""
    if len(pairs) == 0:
        return 0.0
    w = np.ones(len(pairs)) if pairs.w is None else pairs.w
    order = np.argsort(pairs.p, kind="stable")
    p, y, w = pairs.p[order].astype(float), pairs.y[order].astype(float), w[order]
    first = np.flatnonzero(np.r_[True, np.diff(p) > SAME])
    weight = np.add.reduceat(w, first)
    return residual_power(weight, np.add.reduceat(w * (p - y), first), norm)


def _simplex_truth(cells: Cells, distance: Distance, norm: float) -> float:
    """Return the averaged p-th power over distinct points of a simplex."""
    points = np.round(cells.rows(cells.kept) / SAME) * SAME
    _, index = np.unique(points, axis=0, return_inverse=True)
    index = index.reshape(-1)
    corner = np.zeros(cells.m)
    leaves = [Leaf(cells.kept[index == i], corner, corner + 1) for i in range(index.max() + 1)]
    return simplex_power(cell_table(cells, leaves), distance, norm)
