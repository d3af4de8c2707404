"""Tables behind the pictures: what every view of an evaluation draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueup.bins import EqualMass, SimplexGrid, UniformWidth, VarianceTree
from trueup.decisions import accuracy_coverage, unsure_rewards
from trueup.estimators import BinnedError, PointwiseError, SweepError
from trueup.evaluation.encoding import Table
from trueup.forecasts import Forecasts
from trueup.inference import consistency_band, trade_off
from trueup.inference.sensitivity import Sensitivity
from trueup.lens import Canonical, TopLabel
from trueup.tables import Columns

__all__ = ["diagrams", "null_table"]

BIN_COUNTS = (1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 75, 100)
POINTS_OF_CURVE = 200
SIMPLEX_GRID = {3: 6, 4: 4}
NULL_BARS = 40
MOST_ROWS_OF_COVERAGE = 20_000
FEWEST_ROWS_TRADED = 400
MOST_ROWS_OF_TREE = 100_000


def diagrams(
    forecasts: Forecasts, n_bins: int, confidence_level: float, seed: int
) -> dict[str, Table]:
    """Return every table that a view draws, by name; those that make no sense here are absent."""
    found: dict[str, Table] = {}
    kinds: dict[str, Any] = {"": UniformWidth(n_bins), "_mass": EqualMass(n_bins)}
    if forecasts.n <= MOST_ROWS_OF_TREE:
        kinds["_tree"] = VarianceTree()
    for ending, binning in kinds.items():
        table = BinnedError(binning=binning).table(forecasts)
        found[f"reliability{ending}"] = table
        if not forecasts.soft and forecasts.clusters is None:
            found[f"band{ending}"] = consistency_band(table, confidence_level=confidence_level)
    found["bins"] = _error_by_bins(forecasts)
    curve = PointwiseError().table(forecasts)
    if curve is not None:
        found["psce"] = curve
    if forecasts.is_matrix and forecasts.n_classes in SIMPLEX_GRID and not forecasts.soft:
        grid = SimplexGrid(SIMPLEX_GRID[forecasts.n_classes])
        found["simplex"] = BinnedError(lens=Canonical(), binning=grid).table(forecasts)
    if not forecasts.soft:
        found["rewards"] = unsure_rewards(forecasts)
        found["coverage"] = _coverage(forecasts)
        plain = forecasts.weights is None and forecasts.clusters is None
        if plain and forecasts.n >= FEWEST_ROWS_TRADED:
            found["trade_off"] = trade_off(forecasts, confidence_level=confidence_level, rng=seed)
    return found


def null_table(found: Sensitivity) -> Columns:
    """Return a histogram of the statistic for calibrated models."""
    null = found.null
    low, high = float(null.min()), float(null.max())
    edges = np.linspace(low, high if high > low else low + 1e-12, NULL_BARS + 1)
    count, _ = np.histogram(null, edges)
    return Columns({"low": edges[:-1], "high": edges[1:], "count": count})


def _error_by_bins(forecasts: Forecasts) -> Columns:
    """Errors for more and more bins of equal mass, and the number that the sweep chooses."""
    chosen = int(SweepError().measure(forecasts).notes.get("made", 0))
    numbers = sorted({b for b in (*BIN_COUNTS, chosen) if 1 <= b <= forecasts.n})
    rows = []
    for name, debias in (("plug-in", False), ("debiased", True)):
        for b in numbers:
            found = BinnedError(binning=EqualMass(b), debias=debias).measure(forecasts)
            rises = (np.diff(found.table.nonempty().mean_label) >= 0).all()
            rows.append((name, b, found.value, bool(rises), b == chosen))
    names = ("estimator", "n_bins", "error", "monotone", "sweep")
    return Columns({k: np.array(v) for k, v in zip(names, zip(*rows, strict=True), strict=True)})


def _coverage(forecasts: Forecasts) -> Columns:
    """Accuracy against coverage; of very many rows at quantiles of their confidences alone."""
    if forecasts.n <= MOST_ROWS_OF_COVERAGE:
        return _thinned(accuracy_coverage(forecasts))
    bins = BinnedError(lens=TopLabel(), binning=EqualMass(POINTS_OF_CURVE)).table(forecasts)
    sums = bins.nonempty().sums
    answered, correct, believed = (
        np.cumsum(each[::-1]) for each in (sums.weight, sums.label, sums.score)
    )
    accuracy = np.clip(correct / answered, 0, 1)
    # Bins hold what is above their lower edge: answer from the next larger number on.
    return Columns(
        {
            "threshold": np.nextafter(bins.nonempty().edges[:-1][::-1], 1),
            "coverage": answered / answered[-1],
            "accuracy": accuracy,
            "confidence": believed / answered,
            "risk": 1 - accuracy,
        }
    )


def _thinned(columns: Columns) -> Columns:
    """Keep so many points of a long curve, its ends among them."""
    if len(columns) <= POINTS_OF_CURVE:
        return columns
    keep = np.unique(np.linspace(0, len(columns) - 1, POINTS_OF_CURVE).round().astype(int))
    return Columns({name: columns[name][keep] for name in columns})
