"""Errors on a simplex: mean predictions compared with outcome fractions, cell by cell."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from trueup.engines.blocks import row_blocks
from trueup.errors import must_be
from trueup.lens import Cells
from trueup.tables import CellTable
from trueup.variance_tree import Leaf


def cell_table(cells: Cells, leaves: list[Leaf]) -> CellTable:
    """Sum predictions and outcomes over the rows of each cell, by blocks."""
    score = np.zeros((len(leaves), cells.m))
    label = np.zeros((len(leaves), cells.m))
    weight = np.zeros(len(leaves))
    for c, leaf in enumerate(leaves):
        for block in row_blocks(len(leaf.rows), cells.m):
            rows = leaf.rows[block]
            w = np.ones(len(rows)) if cells.w is None else cells.w[rows]
            score[c] += (w[:, None] * cells.rows(rows)).sum(axis=0)
            label[c] += (w[:, None] * cells.outcomes(rows)).sum(axis=0)
            weight[c] += w.sum()
    return CellTable(
        np.array([leaf.low for leaf in leaves]),
        np.array([leaf.high for leaf in leaves]),
        np.array([len(leaf.rows) for leaf in leaves], np.int64),
        weight,
        score,
        label,
    )


def simplex_power(
    table: CellTable, distance: str | Callable[[Any, Any], Any], norm: float
) -> float:
    """Return Σ share·d(outcomes, mean prediction)^p over cells, or the largest distance."""
    away = _distances(table, distance)
    if math.isinf(norm):
        return float(away.max())
    return float(np.sum(table.share * away**norm))


def _distances(table: CellTable, distance: str | Callable[[Any, Any], Any]) -> Any:
    difference = table.mean_label - table.mean_score
    if distance == "tv":
        return 0.5 * np.abs(difference).sum(axis=1)
    if distance == "squared":
        return (difference**2).sum(axis=1)
    assert callable(distance)
    away = np.asarray(distance(table.mean_label, table.mean_score), np.float64)
    if away.shape != (table.n_bins,) or not np.all(away >= 0):
        rule = f"a function that returns {table.n_bins} numbers of at least 0, one per cell"
        raise must_be("distance", rule, away)
    return away
