"""Tables that only the figures of an evaluation need."""

from __future__ import annotations

import numpy as np

from trueup._typing import Floats
from trueup.bins import EqualMass
from trueup.decisions import accuracy_coverage_curve
from trueup.estimators import BinnedError, SweepError
from trueup.forecasts import Forecasts
from trueup.lens import TopLabel
from trueup.tables import ResultTable

BIN_COUNTS = (1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 75, 100)
POINTS_OF_CURVE = 200
NULL_BARS = 40
MOST_ROWS_OF_COVERAGE = 20_000


def null_table(draws: Floats) -> ResultTable:
    """Return a histogram of the statistic for calibrated models."""
    low, high = float(draws.min()), float(draws.max())
    edges = np.linspace(low, high if high > low else low + 1e-12, NULL_BARS + 1)
    count, _ = np.histogram(draws, edges)
    return ResultTable({"low": edges[:-1], "high": edges[1:], "count": count})


def error_by_bins(forecasts: Forecasts) -> ResultTable:
    """Return errors for increasing numbers of equal-mass bins, and the number the sweep chooses."""
    chosen = int(SweepError().measure(forecasts).notes.get("n_bins", 0))
    numbers = sorted({b for b in (*BIN_COUNTS, chosen) if 1 <= b <= forecasts.n})
    rows = []
    for name, debias in (("plug-in", False), ("debiased", True)):
        for b in numbers:
            found = BinnedError(binning=EqualMass(b), debias=debias).measure(forecasts)
            rises = (np.diff(found.table.nonempty().mean_label) >= 0).all()
            rows.append((name, b, found.value, bool(rises), b == chosen))
    return ResultTable.from_rows(rows, ("estimator", "n_bins", "error", "monotone", "sweep"))


def coverage(forecasts: Forecasts) -> ResultTable:
    """Return accuracy against coverage, at quantiles of the confidences if there are many rows."""
    if forecasts.n <= MOST_ROWS_OF_COVERAGE:
        return _thinned(accuracy_coverage_curve(forecasts))
    bins = BinnedError(lens=TopLabel(), binning=EqualMass(POINTS_OF_CURVE)).table(forecasts)
    sums = bins.nonempty().sums
    answered, correct, believed = (
        np.cumsum(each[::-1]) for each in (sums.weight, sums.label, sums.score)
    )
    accuracy = np.clip(correct / answered, 0, 1)
    # Bins hold what is above their lower edge: answer from the next larger number on.
    return ResultTable(
        {
            "threshold": np.nextafter(bins.nonempty().edges[:-1][::-1], 1),
            "coverage": answered / answered[-1],
            "accuracy": accuracy,
            "confidence": believed / answered,
            "risk": 1 - accuracy,
        }
    )


def _thinned(columns: ResultTable) -> ResultTable:
    """Keep a limited number of points of a long curve, its ends included."""
    if len(columns) <= POINTS_OF_CURVE:
        return columns
    keep = np.unique(np.linspace(0, len(columns) - 1, POINTS_OF_CURVE).round().astype(int))
    return ResultTable({name: columns[name][keep] for name in columns})
