"""All resamples of a binned error at once: bins are computed once, and drawn labels are summed.

Bins depend only on scores, which do not change. A resample changes only the sum of labels in each
bin. So a kernel draws and counts labels without storing them, and powers are computed for all
resamples together. Memory: O(n + resamples · bins).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Bits, Floats, Ints
from trueup.engines.draw_keys import binned_limits, class_limits, limits_of
from trueup.engines.select import engine
from trueup.estimators.binned_errors.simplex_cells import cell_table
from trueup.forecasts import Forecasts
from trueup.inference.drawn_classes import (
    DrawnClasses,
    Places,
    Sums,
    totals_of_drawn_classes,
    with_data_once,
)
from trueup.lens import Binary, Pairs
from trueup.lens.induced import already_made
from trueup.tables import BinTable


def can_fuse(statistic: Any, forecasts: Forecasts) -> bool:
    """Return whether `fused_powers` applies: hard labels, and a lens with `outcomes`."""
    if not statistic.of_label_sums:
        return False
    lens: Any = statistic.lens_for(forecasts)
    if lens.induces == "pairs":
        return lens == Binary() and not forecasts.is_matrix
    whole = statistic.of_cells if lens.induces == "simplex" else lens.of_columns(forecasts)
    return bool(lens.tells_outcomes and whole)


def fused_powers(
    statistic: Any, forecasts: Forecasts, keys: Bits, law: Forecasts | None = None
) -> Floats:
    """Return the power of the data, then of the resample of each key; `can_fuse` must be true.

    Labels are drawn from the predictions of ``law``, by default the forecasts themselves; a family
    of classes takes no other.
    """
    lens = statistic.lens_for(forecasts)
    if lens.induces == "simplex":
        return _of_cells(statistic, lens, forecasts, keys, forecasts if law is None else law)
    if lens.induces == "family":
        assert law is None
        return powers_of_classes([statistic], forecasts, keys)[0]
    pairs = lens.problem(forecasts)
    table = statistic.table_for_labels(statistic.measure_forecasts(forecasts).table)
    if law is not None:
        index, drawn = bins_of(pairs, table), Pairs(law.scores, pairs.y, pairs.w)
        sums = sums_of_drawn_labels(drawn, index, table.n_bins, keys)
        return np.asarray(statistic.powers_for_labels(table, sums))
    # Statistics that share their bins share what is drawn.
    key = ("drawn", table.edges.tobytes(), keys.tobytes())
    powers: Floats = statistic.powers_for_labels(
        table, pairs.once(key, lambda: _drawn_sums(pairs, table, keys))
    )
    return powers


def drawn_and_given_powers(
    statistic: Any, data: Sequence[Forecasts], keys: Bits
) -> tuple[Floats, Floats]:
    """Return the powers for several arrays of labels with the same scores, and of resamples.

    The bins are computed once; `can_fuse` must be true.
    """
    pairs = [Binary().problem(each) for each in data]
    table = statistic.table_for_labels(statistic.measure_forecasts(data[0]).table)
    index = bins_of(pairs[0], table)
    given = [np.bincount(index, each.y, table.n_bins) for each in pairs]
    drawn = sums_of_drawn_labels(pairs[0], index, table.n_bins, keys)
    powers = statistic.powers_for_labels(table, np.concatenate([given, drawn]))[1:]
    return powers[: len(data)], powers[len(data) :]


def _drawn_sums(pairs: Pairs, table: BinTable, keys: Bits) -> NDArray[Any]:
    """Return Σ y, or Σ w y, of every bin for the resample of each key."""
    return sums_of_drawn_labels(pairs, bins_of(pairs, table), table.n_bins, keys)


def bins_of(pairs: Pairs, table: BinTable) -> Ints:
    """Return the bin of each pair."""
    p = pairs.p.astype(np.float64, copy=False)
    return np.asarray(np.searchsorted(table.edges[1:-1], p, side="left"))


def sums_of_drawn_labels(
    pairs: Pairs, index: NDArray[Any], n_bins: int, keys: Bits
) -> NDArray[Any]:
    """Return Σ y, or Σ w y, of rows with the same index for the resample of each key."""
    if pairs.w is not None:
        return _weighted_sums(pairs.p, pairs.w, index, n_bins, keys)
    rows, _ = binned_limits(pairs.p, index, n_bins)
    return engine.draws.count_labels(rows, keys)


def _weighted_sums(
    p: NDArray[Any], w: Floats, index: NDArray[Any], n_bins: int, keys: Bits
) -> NDArray[Any]:
    """Return Σ w y of every bin, (resamples, bins), from labels that are 1 below the limit."""

    def draw(block: slice) -> tuple[Bits, Places]:
        nowhere = np.full(block.stop - block.start, n_bins)
        return limits_of(p[block])[:, None], np.column_stack([index[block], nowhere])

    return totals_of_drawn_classes(len(p), 2, w, n_bins, keys, draw)


class ClassPowers:
    """Powers of a statistic of all classes, from sums of drawn labels in the bins of each."""

    def __init__(self, statistic: Any, forecasts: Forecasts) -> None:
        families = statistic.measure_forecasts(forecasts).table.tables
        self.statistic = statistic
        self.tables = [statistic.table_for_labels(each) for each in families if each is not None]
        self.inner = [table.edges[1:-1] for table in self.tables]
        self.shares = statistic.lens_for(forecasts).shares(forecasts)

    def of_each(self, sums: Sums) -> Floats:
        """Return the powers of every class, (1 + draws, classes): of the data, then of draws."""
        return np.column_stack(
            [
                self.statistic.powers_for_labels(table, sums.of_class(k, self.inner[k]))
                for k, table in enumerate(self.tables)
            ]
        )

    def of(self, sums: Sums) -> Floats:
        """Return the power of all classes of the data, then that of each draw."""
        return self.together(self.of_each(sums))

    def together(self, each: Floats) -> Floats:
        """Return the power of all classes from the powers of each."""
        if math.isinf(self.statistic.power_of_average()):
            return np.asarray(each[:, np.asarray(self.shares) > 0].max(axis=1))
        power = np.zeros(len(each))
        for share, of_class in zip(self.shares, each.T, strict=True):
            power += share * of_class
        return power


def powers_of_each_class(statistic: Any, forecasts: Forecasts, keys: Bits) -> Floats:
    """Return the powers of each class, (1 + draws, classes), from labels of whole rows."""
    known: Floats | None = already_made(forecasts, key_of_powers(statistic, keys))
    if known is not None:
        return known
    made = ClassPowers(statistic, forecasts)
    return next(with_data_once([made.of_each], DrawnClasses(forecasts, [made.inner]).sums(keys)))


def powers_of_classes(statistics: Sequence[Any], forecasts: Forecasts, keys: Bits) -> list[Floats]:
    """Return what `fused_powers` does for several statistics of all classes, with shared labels.

    They share their lens. Powers that are already stored are not computed again.
    """
    made = [ClassPowers(each, forecasts) for each in statistics]
    known = [already_made(forecasts, key_of_powers(each, keys)) for each in statistics]
    if all(each is not None for each in known):
        return [one.together(each) for one, each in zip(made, known, strict=True)]
    drawn = DrawnClasses(forecasts, [each.inner for each in made])
    return list(with_data_once([each.of for each in made], drawn.sums(keys)))


def key_of_powers(statistic: Any, keys: Bits) -> tuple[Any, ...]:
    """Return the key under which powers of every class are stored with the forecasts."""
    return ("powers of each class", statistic, keys.tobytes())


def _of_cells(
    statistic: Any, lens: Any, forecasts: Forecasts, keys: Bits, law: Forecasts
) -> Floats:
    """Return errors over cells of a simplex, from counts of the outcomes of each cell."""
    cells = lens.cells(forecasts)
    leaves = statistic.binning.leaves(cells)
    table = cell_table(cells, leaves)
    n_places = table.n_bins * cells.m
    cell = np.full(forecasts.n, -1)  # rows outside the region are in none
    for c, leaf in enumerate(leaves):
        cell[leaf.rows] = c

    def draw(block: slice) -> tuple[Bits, Places]:
        rows, here = forecasts.rows(block), cell[block, None]
        place = np.where(here < 0, n_places, here * cells.m + lens.outcomes(rows))
        return class_limits(law.rows(block)), place.astype(np.int32)

    totals = totals_of_drawn_classes(
        forecasts.n, forecasts.n_classes, forecasts.weights, n_places, keys, draw
    )
    labels = [table.label, *totals.reshape(len(keys), table.n_bins, cells.m).astype(np.float64)]
    return np.array([statistic.power_of_cells(replace(table, label=x)) for x in labels])
