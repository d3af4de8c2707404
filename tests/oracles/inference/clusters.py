"""The omnibus test of rows in clusters: residuals of every cluster by loops, signs and draws given.

Clusters are numbered; signs are a row per draw, and drawn labels are those of rows as given.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from oracles.arithmetic import Floats, Ints, float_weights
from oracles.inference import omnibus

Table = list[list[float]]


def residual_table(
    cells: list[omnibus.Cell], p: Floats, y: Floats, cluster: Ints, weights: Floats | None = None
) -> Table:
    """Weighted sum of label - score of every cluster in every cell."""
    w = float_weights(weights, len(p))
    return [
        [
            math.fsum(w[i] * (float(y[i]) - float(p[i])) for i in cell.rows if cluster[i] == g)
            for cell in cells
        ]
        for g in range(max(cluster) + 1)
    ]


def signed_sums(table: Table, signs: Sequence[float]) -> list[float]:
    """Sum of the residuals of all clusters, each with its sign, in every cell."""
    columns = range(len(table[0]))
    return [math.fsum(s * row[c] for s, row in zip(signs, table, strict=True)) for c in columns]


def sign_pool(
    p: Floats,
    y: Floats,
    cluster: Ints,
    signs: Sequence[Sequence[float]],
    weights: Floats | None = None,
) -> Table:
    """Six statistics of the data, then under every draw of signs."""
    cells = omnibus.cells_of(p, weights)
    table = residual_table(cells, p, y, cluster, weights)
    ones = [1.0] * len(table)
    return [omnibus.six_statistics(cells, signed_sums(table, s)) for s in (ones, *signs)]


def spread(cells: list[omnibus.Cell], table: Table) -> list[float]:
    """What each statistic is divided by: sums over clusters of quadratic forms, or their roots."""
    each = [omnibus.six_statistics(cells, row) for row in table]
    mean, cox, bins, kernel = (math.fsum(v[k] for v in each) for k in (0, 1, 3, 4))
    extent = math.sqrt(math.fsum(v[2] ** 2 for v in each))
    return [mean, cox, extent, bins, kernel, math.sqrt(bins)]


def label_pool(
    p: Floats,
    y: Floats,
    cluster: Ints,
    draws: Sequence[Floats],
    weights: Floats | None = None,
) -> Table:
    """Six statistics of the data, then of every draw of labels, all relative to their spread."""
    cells = omnibus.cells_of(p, weights)
    pool = []
    for labels in (y, *draws):
        table = residual_table(cells, p, labels, cluster, weights)
        whole = omnibus.six_statistics(cells, signed_sums(table, [1.0] * len(table)))
        pool.append([_relative(v, s) for v, s in zip(whole, spread(cells, table), strict=True)])
    return pool


def _relative(value: float, by: float) -> float:
    if by > 0:
        return value / by
    return math.inf if value > 0 else 0.0


def pvalue(pools: Sequence[Table], cluster: Ints, share: float) -> float:
    """The p-value of the pool of signs, or that and the one of labels joined."""
    found = [omnibus.share_at_least(omnibus.combined(p))[0] for p in pools]
    return joined([float(p) for p in found], cluster, share)


def joined(pvalues: Sequence[float], cluster: Ints, share: float) -> float:
    """The p-value of labels, or that of signs by 3, or by less; of few clusters, the larger."""
    if len(pvalues) == 1:
        return pvalues[0]
    by_signs, by_labels = pvalues
    sizes = [list(cluster).count(g) for g in set(cluster)]
    if len(sizes) < 10:
        return max(by_labels, by_signs)
    mean_size = sum(size * size for size in sizes) / len(cluster)  # of the cluster of a row
    design_effect = 1 + (mean_size - 1) * share
    more = 2 if design_effect < 6 else 72 / design_effect**2
    return max(by_labels, by_signs / (1 + (more if len(sizes) <= 30 else more * 30 / len(sizes))))


def draws_labels(
    p: Sequence[Sequence[float]], cluster: Ints, weights: Floats | None = None
) -> bool:
    """Whether labels are drawn: under 100 clusters, or under 50 that would vary as much."""
    w = float_weights(weights, len(cluster))
    variance = [0.0] * (int(max(cluster)) + 1)
    for i, g in enumerate(cluster):
        variance[g] += w[i] ** 2 * math.fsum(x * (1 - x) for x in p[i])
    effective = math.fsum(variance) ** 2 / math.fsum(v * v for v in variance)
    return len(variance) < 100 or effective < 50


def likely_share(
    lower: Floats, upper: Floats, cluster: Ints, shares: Floats, numbers: int
) -> float:
    """The share of shared numbers that makes the intervals of the labels most likely."""
    points = [(k + 0.5) / numbers for k in range(numbers)]
    found = []
    for share in shares:
        total = 0.0
        for g in range(int(max(cluster)) + 1):
            rows = [i for i in range(len(cluster)) if cluster[i] == g]
            likely = [
                math.prod(
                    (1 - share) * (upper[i] - lower[i]) + share * (lower[i] <= u < upper[i])
                    for i in rows
                )
                for u in points
            ]
            total += math.log(math.fsum(likely) / numbers)
        found.append(total)
    return float(shares[int(np.argmax(found))])
