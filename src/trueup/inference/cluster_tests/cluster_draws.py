"""Labels drawn for rows in clusters, with predicted probabilities and estimated dependence.

The interval [0, 1] is divided into one interval per class, with the predicted probabilities as
lengths. A row's label is the class whose interval contains a uniform random number. With
probability τ this is the number of its cluster, which rows share; otherwise it is the row's own
number. Whatever τ is, every label follows its predicted distribution, so residuals have the right
skewness; τ is estimated by maximum likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Bits, Floats, Ints
from trueup.engines.draw_keys import STEP, class_limits, limits_of, mixed
from trueup.engines.select import engine
from trueup.forecasts import Forecasts

FEW_CLUSTERS = 100
"""With fewer clusters, a test by signs of clusters also draws labels: see `joint_pvalue`.

Signs are right if there are many clusters, whatever their rows share. With few clusters they reject
too often where scores are near 0 or 1. Labels drawn by `SharedDraws` have the right skewness; they
are right for any number of clusters, if their dependence is like that of the data.
"""

FEW_EFFECTIVE = 50.0
"""Labels are also drawn if fewer clusters than this have most of the variance of all labels."""

ROUGH = 10
"""With fewer clusters, a p-value is rough: there are not many patterns of their signs."""

LENIENT = 2.0
"""How much larger than that of labels the p-value of signs may be: see `SharedDraws.lenience`."""

WEAK = 6.0
"""Design effect up to which labels are right whatever the form of dependence."""

SOME_CLUSTERS = 30
"""With more clusters, signs are more nearly right and count more."""

SHARES = np.array([0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97])
AT_ONCE = 1 << 14  # labels that are drawn together: their sums stay in a cache
NUMBERS = 200  # shared numbers over which the likelihood is averaged
SMALLEST = 1e-300  # a likelihood whose logarithm is finite


@dataclass(frozen=True, eq=False)
class SharedDraws:
    """Rows in clusters, in an order that does not depend on the input order."""

    order: Ints  # of the rows as given
    cluster: Ints  # of each row in order, as the limits
    limits: Bits  # (n, 1) or (n, K − 1)
    binary: bool
    lower: Floats  # ends of the interval of the observed label
    upper: Floats

    @classmethod
    def from_forecasts(cls, forecasts: Forecasts) -> SharedDraws:
        """Sort rows, and find the interval of each label."""
        assert forecasts.clusters is not None
        cluster = np.unique(forecasts.clusters, return_inverse=True)[1].reshape(-1)
        probs = forecasts.rows(slice(None)) if forecasts.is_matrix else forecasts.scores[:, None]
        of_rows = [forecasts.labels, *probs.T, cluster]
        if forecasts.weights is not None:
            of_rows.insert(0, forecasts.weights)
        order = np.lexsort(of_rows)
        cluster, probs, labels = cluster[order], probs[order], forecasts.labels[order]
        if forecasts.is_matrix:
            upto = np.cumsum(probs, axis=1)
            upto = np.column_stack([np.zeros(len(upto)), upto / upto[:, -1:]])
            limits = class_limits(probs)
            interval = labels
        else:
            p = probs[:, 0].astype(np.float64)
            upto = np.column_stack([np.zeros(len(p)), p, np.ones(len(p))])
            limits = limits_of(p)[:, None]
            interval = 1 - labels.astype(np.int64)  # a label of 1 is below the limit
        rows = np.arange(len(cluster))
        lower, upper = upto[rows, interval], upto[rows, interval + 1]
        return cls(order, cluster, limits, not forecasts.is_matrix, lower, upper)

    @cached_property
    def share(self) -> float:
        """Estimated fraction of rows that use the number of their cluster."""
        return likely_share(self.lower, self.upper, self.cluster)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.cluster[-1]) + 1

    @property
    def inflation(self) -> float:
        """Design effect: the factor by which estimated dependence inflates variances of sums."""
        sizes = np.bincount(self.cluster)
        return 1 + self.share * float(np.sum(sizes * (sizes - 1.0)) / np.sum(sizes))

    @property
    def lenience(self) -> float:
        """Factor by which the p-value of cluster signs may exceed that of drawn labels.

        The larger of the two is too cautious: they differ by chance where both are right. Up to a
        design effect of 6, drawn labels are right for all forms of dependence that were tried, so
        the factor is 3. Beyond, they depend on that form, and the factor decreases to 1. It also
        does so with more than 30 clusters. Signs of very few clusters are few, and the larger
        p-value counts. docs/cluster-tests.md has the error rates.
        """
        if self.n_clusters < ROUGH:
            return 1.0
        weak = min(1.0, WEAK / self.inflation) ** 2
        return 1 + LENIENT * weak * min(1.0, SOME_CLUSTERS / self.n_clusters)

    def labels(self, keys: Bits) -> NDArray[Any]:
        """Draw labels of the rows in order, (draws, n), a draw for every three keys.

        The keys are for own numbers, for who shares, and for shared numbers.
        """
        first = np.arange(self.n_clusters, dtype=np.uint64) * STEP
        number = mixed(keys[:, 2:] + first)[:, self.cluster]
        sharing = engine.draws.draw_label_rows(self._sharing, keys[:, 1])
        if self.binary:
            limit = self.limits[:, 0]
            own = engine.draws.draw_label_rows(limit, keys[:, 0])
            return np.where(sharing, number < limit, own).view(np.uint8)
        labels = np.empty(sharing.shape, np.int64)
        for each, key in zip(labels, keys[:, 0], strict=True):
            each[:] = engine.draws.draw_classes(self.limits, key)
        draw, row = np.nonzero(sharing)
        labels[draw, row] = (self.limits[row] <= number[draw, row][:, None]).sum(axis=1)
        return labels

    @cached_property
    def _sharing(self) -> Bits:
        return limits_of(np.full(len(self.cluster), self.share))


def few_clusters(forecasts: Forecasts) -> bool:
    """Whether a test by signs of clusters also draws labels."""
    assert forecasts.clusters is not None
    cluster = np.unique(forecasts.clusters, return_inverse=True)[1].reshape(-1)
    if int(cluster.max()) + 1 < FEW_CLUSTERS:
        return True
    if forecasts.is_matrix:
        variance = np.concatenate(
            [1 - np.square(forecasts.rows(block)).sum(axis=1) for block in forecasts.blocks()]
        )
    else:
        p = forecasts.scores.astype(np.float64)
        variance = p * (1 - p)
    if forecasts.weights is not None:
        variance = variance * np.square(forecasts.weights)
    by_cluster = np.bincount(cluster, variance).astype(np.float64)
    return effective_number(by_cluster) < FEW_EFFECTIVE


def effective_number(variance: Floats) -> float:
    """Return how many clusters of equal variance would vary as much: (Σ V)²/Σ V²."""
    squares = float(np.square(variance).sum())
    return float(variance.sum()) ** 2 / squares if squares > 0 else float(len(variance))


def drawn_signs(n_clusters: int, keys: Bits) -> Floats:
    """Draw +1 or −1 for every cluster, with one row per key."""
    even = np.full(n_clusters, 1 << 63, np.uint64)
    return np.where(engine.draws.draw_label_rows(even, keys), 1.0, -1.0)


def likely_share(lower: Floats, upper: Floats, cluster: Ints) -> float:
    """Return the fraction of shared numbers that maximizes the likelihood of the labels.

    Given the number of a cluster, its rows are independent; the likelihood is averaged over a grid
    of such numbers.
    """
    n_clusters = int(cluster.max()) + 1
    first, end = (np.ceil(edge * NUMBERS - 0.5).astype(np.int64) for edge in (lower, upper))
    place, width = cluster * (NUMBERS + 1), n_clusters * (NUMBERS + 1)
    found = []
    for share in SHARES:
        outside = np.maximum((1 - share) * (upper - lower), SMALLEST)
        more = np.log1p(share / outside)  # if the shared number is inside
        steps = np.bincount(place + first, more, width) - np.bincount(place + end, more, width)
        inside = np.cumsum(steps.reshape(n_clusters, -1)[:, :NUMBERS], axis=1)
        largest = inside.max(axis=1, keepdims=True)
        mean = np.log(np.exp(inside - largest).mean(axis=1)) + largest[:, 0]
        found.append(float(np.sum(mean) + np.sum(np.log(outside))))
    return float(SHARES[int(np.argmax(found))])


def about_clusters(n_clusters: int) -> dict[str, Any]:
    """Return notes on clusters: their number and, if they are few, the number of sign patterns.

    Opposite patterns give equal statistics, so p-values of k clusters are at least 2^(1 − k).
    """
    notes: dict[str, Any] = {"clusters": n_clusters, "asymptotic": True}
    if n_clusters < ROUGH:
        notes |= {"rough": True, "sign_patterns": 2 ** (n_clusters - 1)}
    return notes


def joint_pvalue(by_signs: float, by_labels: float, shared: SharedDraws) -> float:
    """Return the p-value of drawn labels, unless that of cluster signs is much larger."""
    return max(by_labels, by_signs / shared.lenience)


def relative(values: Floats, spread: Floats) -> Floats:
    """Divide statistics by their standard deviation under cluster signs, as for every draw.

    With few clusters this standard deviation is uncertain; the ratio takes that into account.
    """
    unlike = np.where(values > 0, np.inf, 0.0)
    ratio = np.divide(values, spread, out=unlike, where=(spread > 0) & np.isfinite(values))
    return np.asarray(ratio)
