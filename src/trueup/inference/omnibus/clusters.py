"""The omnibus statistics of rows in clusters, computed from sums of residuals by cluster.

Let R_gc be the sum of w(y − p) of cluster g in cell c. The statistics of the data use R_c = Σ_g
R_gc. Signs s_g of whole clusters preserve the dependence within a cluster, and R_c = Σ_g s_g R_gc
is one matrix product for all draws. With few clusters, signs alone reject too often if scores are
near 0 or 1, so labels are drawn as well: see `cluster_draws`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trueup._typing import Bits, Floats, Ints
from trueup.engines.blocks import steps
from trueup.engines.draw_keys import keys_of
from trueup.forecasts import Forecasts
from trueup.inference.cluster_tests.cluster_draws import (
    AT_ONCE,
    FEW_CLUSTERS,
    SharedDraws,
    about_clusters,
    drawn_signs,
    few_clusters,
    relative,
)
from trueup.inference.omnibus.columns import Column
from trueup.inference.omnibus.statistics import NAMES, SAME_WEIGHT, OmnibusCells
from trueup.lens import Binary, ClassWise, TopLabel

MOST_ENTRIES = 1 << 22
"""Sums that are held at once; for more, draws are made in several rounds."""
MAXIMA = [NAMES.index("running sum"), NAMES.index("range of scores")]
MOST_GROUPS = 2048  # of clusters that change sign together, where there are more clusters


class ClusterColumns:
    """The columns of scores of rows in clusters, in cells; for a matrix, the top labels come first.

    Rows are in an order that does not depend on the input order.
    """

    def __init__(self, forecasts: Forecasts) -> None:
        self.forecasts = forecasts
        self.names: list[Any] = []
        if forecasts.is_matrix:
            members = list(ClassWise().members(forecasts))
            self.names = [member.name for member in members]
            problems = [TopLabel().problem(forecasts), *(member.pairs for member in members)]
        else:
            problems = [Binary().problem(forecasts)]
        self.columns = [Column.from_pairs(pairs) for pairs in problems]
        sizes = [len(column.cells.place) for column in self.columns]
        self.start = np.concatenate([[0], np.cumsum(sizes)])
        self.shared = SharedDraws.from_forecasts(forecasts)
        self.n_clusters = self.shared.n_clusters
        self.labels = forecasts.labels[self.shared.order]

    @property
    def top(self) -> Column:
        """The column of a matrix's top labels."""
        return self.columns[0]

    @property
    def classes(self) -> list[Column]:
        """The columns of a matrix's classes."""
        return self.columns[1:]

    @property
    def notes(self) -> dict[str, Any]:
        """The notes on the reference distribution."""
        return about_clusters(self.n_clusters)

    def pools(self, seed: int, n_resamples: int) -> list[Floats]:
        """Return the statistics of the data, then of the draws, (1 + draws, columns, 6).

        The first pool has draws of signs; the second, if `few_clusters` says so, of labels.
        """
        keys = keys_of(seed, 4 * n_resamples)
        pools = [self._of_signs(keys[:n_resamples])]
        if few_clusters(self.forecasts):
            pools.append(self._of_labels(keys[n_resamples:].reshape(-1, 3)))
        return pools

    def _of_signs(self, keys: Bits) -> Floats:
        n_cells = int(self.start[-1])
        most = int(np.clip(MOST_ENTRIES // n_cells, FEW_CLUSTERS, MOST_GROUPS))
        group, n_groups = self.shared.cluster, self.n_clusters
        if n_groups > most:
            group, n_groups = group * most // n_groups, most
        sums = ResidualSums(self, group, n_groups)
        table = sums.residuals(self.labels[None])[0]
        found = [self.statistics(table.sum(axis=0)[None])]
        for first, last in steps(len(keys), max(1, MOST_ENTRIES // max(n_cells, n_groups))):
            found.append(self.statistics(drawn_signs(n_groups, keys[first:last]) @ table))
        return np.concatenate(found)

    def _of_labels(self, keys: Bits) -> Floats:
        sums = ResidualSums(self, self.shared.cluster, self.n_clusters)
        found = []
        entries = max(sums.offset.size, sums.place.size)
        for first, last in steps(1 + len(keys), max(1, min(AT_ONCE, MOST_ENTRIES) // entries)):
            labels = self.shared.labels(keys[max(0, first - 1) : last - 1])
            if first == 0:
                labels = np.concatenate([self.labels[None], labels])
            tables = sums.residuals(labels)
            spread = self.spread(tables.reshape(-1, tables.shape[2]))
            spread = spread.reshape(*tables.shape[:2], *spread.shape[1:]).sum(axis=1)
            spread[..., MAXIMA] = np.sqrt(spread[..., MAXIMA])
            found.append(relative(self.statistics(tables.sum(axis=1)), spread))
        return np.concatenate(found)

    def spread(self, residual: Floats) -> Floats:
        """Return the contribution of each cluster (a row of residuals) to the mean under signs.

        The mean of a quadratic form of signed sums is the sum over single clusters. Maxima of sums,
        which are not quadratic forms, get the root of one that grows as they do.
        """
        found = []
        for column, first, last in zip(self.columns, self.start[:-1], self.start[1:], strict=True):
            found.append(_spread_of_cells(column.cells, residual[:, first:last]))
        return np.stack(found, axis=1)

    def statistics(self, residual: Floats) -> Floats:
        """Return the six statistics of every column, for each row of residuals of all cells."""
        return np.stack(
            [
                column.cells.statistics(residual[:, first:last])
                for column, first, last in zip(
                    self.columns, self.start[:-1], self.start[1:], strict=True
                )
            ],
            axis=1,
        )


def _spread_of_cells(cells: OmnibusCells, residual: Floats) -> Floats:
    r = np.ascontiguousarray(residual.T)
    running = np.cumsum(r, axis=0)
    extent = np.maximum(running.max(axis=0), 0) - np.minimum(running.min(axis=0), 0)
    variance = np.add.reduceat(cells.variance, cells.merged)
    square = np.add.reduceat(r, cells.merged, axis=0) ** 2
    positive = variance > 0
    bins = (square[positive] / variance[positive, None]).sum(axis=0)
    kernel = np.einsum("cr,cr->r", cells.kernel @ r, r)
    # The order is that of NAMES; the last and the third are maxima.
    return np.column_stack([running[-1] ** 2, cells.cox_score(r), extent**2, bins, kernel, bins])


class ResidualSums:
    """Data, apart from the labels, for the sums of w(y − p) by cluster and cell."""

    def __init__(self, columns: ClusterColumns, cluster: Ints, n_clusters: int) -> None:
        forecasts, order = columns.forecasts, columns.shared.order
        self.matrix = forecasts.is_matrix
        self.w = None if forecasts.weights is None else forecasts.weights[order]
        self.shape = (n_clusters, int(columns.start[-1]))
        row = cluster.astype(np.int64) * self.shape[1]
        self.place = np.empty((len(order), len(columns.columns)), np.int64)
        self.upper, self.offset = np.zeros(self.shape), np.zeros(self.shape)
        if self.matrix:
            self.top = forecasts.top[1][order].astype(np.int64)
        for k, (column, first) in enumerate(zip(columns.columns, columns.start, strict=False)):
            self.place[:, k] = row + first + column.index[order]
            p = self._scores(forecasts, k)[order]
            near = p >= 0.5  # scores near 1 keep their digits
            self.upper += self._add(self.place[near, k], None if self.w is None else self.w[near])
            nearest = np.where(near, p - 1, p)
            self.offset += self._add(
                self.place[:, k], nearest if self.w is None else nearest * self.w
            )

    @staticmethod
    def _scores(forecasts: Forecasts, column: int) -> Floats:
        if not forecasts.is_matrix:
            return np.asarray(forecasts.scores, np.float64)
        if column == 0:
            return np.asarray(forecasts.top[0], np.float64)
        return np.asarray(forecasts.columns(column - 1, column)[0])

    def _add(self, place: Ints, terms: Floats | None) -> Floats:
        n_places = self.shape[0] * self.shape[1]
        sums = np.asarray(np.bincount(place, terms, n_places), np.float64)
        return sums.reshape(self.shape)

    def residuals(self, labels: Ints) -> Floats:
        """Return the sums of w(y − p) for draws of labels in order, (draws, clusters, cells)."""
        n_draws, n_rows = labels.shape
        n_places = self.upper.size
        start = n_places * np.arange(n_draws)[:, None]
        if self.matrix:
            right = labels == self.top
            place = (self.place[np.arange(n_rows), 1 + labels] + start).reshape(-1)
            place = np.concatenate([place, (self.place[:, 0] + start)[right]])
            w = None
            if self.w is not None:
                each = np.broadcast_to(self.w, labels.shape)
                w = np.concatenate([each.reshape(-1), each[right]])
        else:
            place = (self.place[:, 0] + start).reshape(-1)
            w = np.asarray(labels if self.w is None else labels * self.w, np.float64).reshape(-1)
        sums = np.bincount(place, w, n_draws * n_places)
        beyond = sums.astype(np.float64).reshape(n_draws, *self.shape) - self.upper
        beyond = np.where(np.abs(beyond) > SAME_WEIGHT * self.upper, beyond, 0.0)
        return np.asarray(beyond - self.offset)
