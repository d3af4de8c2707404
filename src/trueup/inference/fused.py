"""All resamples of a binned error at once: bins are made once, labels are drawn into sums.

Bins depend on scores alone, and those stay. What a resample changes is the sum of labels in each
bin, so a kernel draws labels and counts them without ever making an array of them, and powers
are computed for all resamples together. Memory: O(n + resamples · bins).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Bits, Floats, Ints
from trueup.bins import EqualMass, FixedEdges, SimplexGrid, UniformWidth, VarianceTree
from trueup.engines.draw_keys import binned_limits, class_limits, limits_of
from trueup.engines.select import engine
from trueup.engines.types import Sums
from trueup.estimators import BinnedError
from trueup.estimators.base import chosen_lens
from trueup.estimators.powers import debiased_powers, plugin_powers
from trueup.estimators.simplex import cell_table, simplex_power
from trueup.forecasts import Forecasts
from trueup.lens import Binary, Canonical, ClassWise, Lens, Pairs, Partition, SimplexLens, TopK
from trueup.tables import BinTable, TableFamily

OF_SCORES = (EqualMass, FixedEdges, SimplexGrid, UniformWidth, VarianceTree)  # never of labels
BLOCK_ENTRIES = 1 << 18  # limits and places are made for so many entries of a matrix at a time
Places = NDArray[np.int32]


def can_fuse(statistic: object, forecasts: Forecasts) -> bool:
    """Whether `fused_powers` can do it: hard labels, through one of the known lenses."""
    if type(statistic) is not BinnedError or type(statistic.binning) not in OF_SCORES:
        return False
    if statistic.label_binned or statistic.debias == "residual":
        return False  # these need more than the sums of labels
    lens = chosen_lens(statistic.lens, forecasts)
    if type(lens) is ClassWise:
        return forecasts.is_matrix and lens.where is None
    return type(lens) in (Canonical, Partition, TopK) or _plain_binary(lens, forecasts)


def fused_powers(statistic: BinnedError, forecasts: Forecasts, keys: Bits) -> Floats:
    """Power of the data, then of the resample of each key; `can_fuse` must hold."""
    lens = chosen_lens(statistic.lens, forecasts)
    if isinstance(lens, SimplexLens):
        return _of_cells(statistic, lens, forecasts, keys)
    if isinstance(lens, ClassWise):
        return _of_classes(statistic, lens, forecasts, keys)
    pairs = Pairs(forecasts.scores, forecasts.labels, forecasts.weights)
    table = _ready(statistic, statistic.measure_forecasts(forecasts).table)
    index = np.searchsorted(table.edges[1:-1], pairs.p.astype(np.float64, copy=False), side="left")
    if pairs.w is None:
        rows, _ = binned_limits(pairs.p, index, table.made)
        return _powers(statistic, table, engine.draws.count_labels(rows, keys))
    return _powers(statistic, table, _weighted_sums(pairs.p, pairs.w, index, table.made, keys))


def _plain_binary(lens: Lens, forecasts: Forecasts) -> bool:
    return type(lens) is Binary and lens.where is None and not forecasts.is_matrix


def _ready(statistic: BinnedError, table: BinTable) -> BinTable:
    """The table as its power is taken from it: bins of one row are merged once for all."""
    return table.without_singles()[0] if statistic.debias else table.nonempty()


def _powers(statistic: BinnedError, table: BinTable, drawn: NDArray[Any]) -> Floats:
    """Powers of a table with its own labels, then with each row of drawn sums of labels."""
    fixed = {name: getattr(table.sums, name)[None] for name in ("count", "weight", "weight2")}
    fixed |= {name: getattr(table.sums, name)[None] for name in ("score", "score2", "cross")}
    label = np.concatenate([table.sums.label[None], drawn])
    sums = Sums(**fixed, label=label, label2=label)  # y² = y for labels 0 and 1
    if statistic.debias:
        return debiased_powers(sums, statistic.norm, residual=False)
    return plugin_powers(sums, statistic.norm, table.asked if statistic.equal_shares else None)


def _weighted_sums(
    p: NDArray[Any], w: Floats, index: Ints, n_bins: int, keys: Bits
) -> NDArray[Any]:
    """Σ w y of every bin, (resamples, bins): a label is 1 below the limit, and adds to its bin."""

    def draw(block: slice) -> tuple[Bits, Places]:
        nowhere = np.full(block.stop - block.start, n_bins)
        return limits_of(p[block])[:, None], np.column_stack([index[block], nowhere])

    return _totals(len(p), 2, w, n_bins, keys, draw)


def _of_classes(
    statistic: BinnedError, lens: ClassWise, forecasts: Forecasts, keys: Bits
) -> Floats:
    """One-vs-rest errors of all classes, whose labels are drawn together, one a row."""
    family: TableFamily = statistic.measure_forecasts(forecasts).table
    tables = [_ready(statistic, table) for table in family.tables if table is not None]
    start = np.concatenate([[0], np.cumsum([table.made for table in tables])])

    def draw(block: slice) -> tuple[Bits, Places]:
        rows = forecasts.rows(block)
        place = np.empty(rows.shape, np.int32)
        for k, table in enumerate(tables):
            place[:, k] = start[k] + np.searchsorted(table.edges[1:-1], rows[:, k], side="left")
        return class_limits(rows), place

    totals = _totals(forecasts.n, len(tables), forecasts.weights, int(start[-1]), keys, draw)
    shares, power = lens.shares(forecasts), np.zeros(1 + len(keys))
    for k, table in enumerate(tables):
        of_class = _powers(statistic, table, totals[:, start[k] : start[k + 1]])
        if not math.isinf(statistic.norm):
            power += shares[k] * of_class
        elif shares[k] > 0:
            power = np.maximum(power, of_class)
    return power


def _of_cells(
    statistic: BinnedError, lens: SimplexLens, forecasts: Forecasts, keys: Bits
) -> Floats:
    """Errors over cells of a simplex: the outcomes of each cell are counted."""
    cells = lens.cells(forecasts)
    leaves = statistic.binning.leaves(cells)
    table = cell_table(cells, leaves)
    n_places = table.made * cells.m
    cell = np.full(forecasts.n, -1)  # rows outside the region are in none
    for c, leaf in enumerate(leaves):
        cell[leaf.rows] = c

    def draw(block: slice) -> tuple[Bits, Places]:
        rows, here = forecasts.rows(block), cell[block, None]
        place = np.where(here < 0, n_places, here * cells.m + _outcomes(lens, rows))
        return class_limits(rows), place.astype(np.int32)

    totals = _totals(forecasts.n, forecasts.n_classes, forecasts.weights, n_places, keys, draw)
    labels = [table.label, *totals.reshape(len(keys), table.made, cells.m).astype(np.float64)]
    distance, norm = statistic.distance, statistic.norm
    return np.array([simplex_power(replace(table, label=x), distance, norm) for x in labels])


def _outcomes(lens: SimplexLens, rows: Floats) -> Ints:
    """(n, K) number of the induced outcome of each row, were its label each of the classes."""
    k = rows.shape[1]
    if isinstance(lens, Partition):
        group = {c: j for j, members in enumerate(lens.groups) for c in members}
        return np.broadcast_to([group[c] for c in range(k)], rows.shape)
    if isinstance(lens, TopK):
        rank = np.empty(rows.shape, np.int64)
        order = np.argsort(-rows, axis=1, kind="stable")
        np.put_along_axis(rank, order, np.arange(k)[None], axis=1)
        return np.minimum(rank, lens.k)
    return np.broadcast_to(np.arange(k), rows.shape)


def _totals(
    n: int,
    n_classes: int,
    w: Floats | None,
    n_places: int,
    keys: Bits,
    draw: Callable[[slice], tuple[Bits, Places]],
) -> NDArray[Any]:
    """Counts (or sums of w) of drawn labels at each place, (resamples, places).

    ``draw`` gives the limits of a block of rows and the places of its classes; what is at place
    ``n_places`` is left out.
    """
    totals = np.zeros((len(keys), n_places + 1), np.int64 if w is None else np.float64)
    size = max(1, BLOCK_ENTRIES // n_classes)
    for start in range(0, n, size):
        block = slice(start, min(start + size, n))
        limit, place = draw(block)
        weight = None if w is None else w[block]
        engine.draws.add_classes(
            limit, place.astype(np.int32, copy=False), weight, keys, start, totals
        )
    return totals[:, :-1]
