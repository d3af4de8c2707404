"""Calibrated labels of rows in clusters, by several forms of dependence."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtr
from scipy.stats import beta

from studies.omnibus.columns import SCORES
from trueup.forecasts import Forecasts

NAMES = {"spread": "spread", "uniform": "uniform", "confident": "beta(4, 1)", "cifar100": "near 1"}
NODES, MASSES = np.polynomial.hermite_e.hermegauss(40)


class World(NamedTuple):
    """Scores, clusters with their rows and sizes, and the form and amount of dependence."""

    scores: str
    n_clusters: int
    rows: int
    sizes: str
    form: str
    amount: float

    def sample(self, number: int) -> Forecasts:
        """Draw the dataset of a number."""
        seed = [number, self.n_clusters, self.rows]
        cluster = self._cluster(np.random.default_rng([*seed, 1]))
        rng = np.random.default_rng(seed)
        if self.sizes == "one score":
            p = scores_of(self.scores, rng, self.n_clusters)[cluster]
        else:
            p = scores_of(self.scores, rng, len(cluster))
        p, y = FORMS[self.form](rng, p, cluster, self.amount)
        return Forecasts.from_arrays(p, y.astype(np.int64), clusters=cluster)

    def _cluster(self, rng: np.random.Generator) -> np.ndarray:
        """Draw the number of the cluster of every row."""
        sizes = np.full(self.n_clusters, self.rows)
        if self.sizes == "unequal":
            drawn = rng.lognormal(0, 1, self.n_clusters)
            sizes = np.maximum(1, np.round(drawn / drawn.mean() * self.rows)).astype(np.int64)
        return np.repeat(np.arange(self.n_clusters), sizes)


def scores_of(name: str, rng: np.random.Generator, n: int) -> np.ndarray:
    """Draw scores, none of them 0 or 1."""
    p = rng.beta(2.38, 0.038, n) if name == "nearest 1" else SCORES[name](rng, n)
    return np.clip(p, 1e-12, 1 - 1e-12)


Drawn = tuple[np.ndarray, np.ndarray]


def of_normals(rng: np.random.Generator, p: np.ndarray, cluster: np.ndarray, rho: float) -> Drawn:
    """Draw labels whose rows of a cluster share a normal number."""
    shared = rng.standard_normal(int(cluster.max()) + 1)[cluster]
    own = rng.standard_normal(len(cluster))
    return p, ndtr(math.sqrt(rho) * shared + math.sqrt(1 - rho) * own) < p


def of_logits(rng: np.random.Generator, p: np.ndarray, cluster: np.ndarray, sd: float) -> Drawn:
    """Draw labels whose rows share a normal shift of their logit; scores are means over shifts."""
    middle = logit(p) * math.sqrt(1 + sd**2 / 3)  # so that scores stay about as they were
    shift = sd * rng.standard_normal(int(cluster.max()) + 1)[cluster]
    score = expit(middle[:, None] + sd * NODES) @ (MASSES / MASSES.sum())
    return np.clip(score, 1e-12, 1 - 1e-12), rng.random(len(p)) < expit(middle + shift)


def of_betas(rng: np.random.Generator, p: np.ndarray, cluster: np.ndarray, share: float) -> Drawn:
    """Draw beta-binomial labels: rows share which quantile of a beta their probability is."""
    quantile = rng.random(int(cluster.max()) + 1)[cluster]
    size = 1 / share - 1
    probability = beta.ppf(quantile, p * size, (1 - p) * size)
    return p, rng.random(len(p)) < probability


def of_some(rng: np.random.Generator, p: np.ndarray, cluster: np.ndarray, share: float) -> Drawn:
    """Draw labels of which one number decides all in a share of clusters, no others."""
    n_clusters = int(cluster.max()) + 1
    whole = (rng.random(n_clusters) < share)[cluster]
    return p, np.where(whole, rng.random(n_clusters)[cluster], rng.random(len(p))) < p


FORMS: dict[str, Callable[[np.random.Generator, np.ndarray, np.ndarray, float], Drawn]] = {
    "normal": of_normals,
    "logit": of_logits,
    "beta": of_betas,
    "some": of_some,
}
