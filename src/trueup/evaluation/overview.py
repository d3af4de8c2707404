"""Overview of the data: rows, classes, mean predictions and outcomes."""

from __future__ import annotations

import numpy as np

from trueup.evaluation.sections import Overview
from trueup.forecasts import Forecasts
from trueup.lens import chosen_lens

MOST_NAMED = 5


def overview_of(forecasts: Forecasts) -> Overview:
    """Count rows and classes, and average predictions and outcomes."""
    pairs = chosen_lens(None, forecasts).problem(forecasts)
    score = float(np.average(pairs.p, weights=pairs.w))
    label = float(np.average(pairs.y, weights=pairs.w))
    accuracy: float | None = None
    if forecasts.is_matrix:
        accuracy = None if forecasts.soft else label
    elif not forecasts.soft:
        accuracy = float(np.average((pairs.p > 0.5) == (pairs.y > 0.5), weights=pairs.w))
    clusters = None if forecasts.clusters is None else len(np.unique(forecasts.clusters))
    return Overview(
        forecasts.n,
        forecasts.n_classes,
        "multiclass" if forecasts.is_matrix else "binary",
        forecasts.classes,
        accuracy,
        score,
        label,
        forecasts.weights is not None,
        forecasts.soft,
        clusters,
        len(np.unique(pairs.p)),
        0 if forecasts.soft or forecasts.log_probs_exact else _impossible(forecasts),
    )


def notes_of(forecasts: Forecasts) -> tuple[str, ...]:
    """Return what a reader should know of the data: what was changed, what looks like a mistake."""
    notes = list(forecasts.remarks)
    scores = chosen_lens(None, forecasts).problem(forecasts).p
    if np.all((scores == 0) | (scores == 1)):
        look = "these look like predicted classes, not probabilities"
        notes.append(f"all predictions are 0 or 1: {look}")
    if not forecasts.soft and forecasts.is_matrix:
        counts = np.bincount(forecasts.labels.astype(np.int64), minlength=forecasts.n_classes)
        absent = np.flatnonzero(counts == 0)
        names = range(forecasts.n_classes) if forecasts.classes is None else forecasts.classes
        if len(absent) == 1:
            notes.append(f"no row has the label {names[absent[0]]}")
        elif len(absent):
            few = ", ".join(str(names[k]) for k in absent[:MOST_NAMED])
            more = f" and {len(absent) - MOST_NAMED:,} more" if len(absent) > MOST_NAMED else ""
            notes.append(f"no row has the labels {few}{more}")
    return tuple(notes)


def _impossible(forecasts: Forecasts) -> int:
    """Count rows whose label had a predicted probability of 0."""
    found = 0
    for where in forecasts.blocks():
        zero = forecasts.rows(where) == 0
        found += int(np.count_nonzero(zero & (forecasts.one_hot(where) > 0)))
    return found
