"""Record of the data of a fit: log loss before and after, a fingerprint, and notes."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.engines.blocks import row_blocks
from trueup.engines.select import engine
from trueup.recalibrate.score_forms import FitData, Scores

ONE_ROW = "the fit data are a single row"
LISTED = 3  # classes or groups in a note; of more it says how many
HASHED_ENTRIES = 1 << 21  # of a larger matrix evenly spaced rows are hashed


def notes_of_data(data: FitData, classes: NDArray[Any]) -> list[str]:
    """Return notes on the fit data that apply to every recalibrator."""
    missing = note_of_missing_classes(data, classes)
    # A row of weight 2 counts as two equal rows.
    one_row = data.n == 1 and float(data.weight()[0]) <= 1
    return [ONE_ROW] * one_row + [missing] * bool(missing)


def note_of_missing_classes(data: FitData, classes: NDArray[Any]) -> str:
    """Return a note on classes that never occur, or on the only one that does, if any."""
    count = np.bincount(data.labels, minlength=data.n_classes)
    names = [str(name) for name in classes.tolist()]
    present = [name for name, rows in zip(names, count, strict=True) if rows]
    if len(present) == 1:
        return f"the labels contain only class {present[0]}"
    missing = [name for name, rows in zip(names, count, strict=True) if not rows]
    if not missing:
        return ""
    occur = "never occurs" if len(missing) == 1 else "never occur"
    return f"{classes_in_words(missing)} {occur} in the labels"


def classes_in_words(names: list[str]) -> str:
    """Return the names of some classes; of many, the first few and the number of others."""
    if len(names) == 1:
        return f"class {names[0]}"
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"classes {', '.join(names[:LISTED])}{more}"


def log_loss_before(data: FitData) -> float:
    """Return the mean log loss of the original scores, clipped as in `log_loss`."""
    if data.scores.are_logits:
        rows = engine.softmax.temper(data.scores.logits(), data.labels, 1.0)
        each = np.log(rows.total) + rows.gap
    else:
        least, each = np.finfo(data.scores.values.dtype).tiny, np.empty(data.n)
        for at in row_blocks(data.n, data.n_classes):
            probs = Scores(data.scores.values[at], are_logits=False).probs()
            chosen = np.maximum(probs[np.arange(len(probs)), data.labels[at]], least)
            each[at] = np.log(probs.sum(axis=1)) - np.log(chosen)
    return float(np.average(each, weights=data.weights))


def rows_below(data: FitData, least: float) -> int:
    """Return how many rows give their class a probability below ``least``; for logits, 0."""
    if data.scores.are_logits:
        return 0
    values = data.scores.values
    if values.ndim == 2:
        chosen = values[np.arange(data.n), data.labels]
    else:
        chosen = np.where(data.labels == 1, values, 1 - values)
    return int(np.count_nonzero(chosen < least))


def fingerprint(data: FitData) -> str:
    """Return the SHA-256 of scores, labels and weights, which identifies the data.

    If a matrix has more than two million entries, evenly spaced rows are taken.
    """
    values = data.scores.values
    step = max(1, -(-values.size // HASHED_ENTRIES))
    digest = hashlib.sha256(f"{values.shape} {values.dtype} {data.scores.are_logits}".encode())
    digest.update(np.ascontiguousarray(values[::step]).data)
    digest.update(np.ascontiguousarray(data.labels).data)
    if data.weights is not None:
        digest.update(np.ascontiguousarray(data.weights).data)
    return digest.hexdigest()


def log_loss_of(probs: Floats, data: FitData) -> float:
    """Return the mean −log of the probability of the label, clipped as in `log_loss`."""
    least = np.finfo(data.scores.values.dtype).tiny
    chosen = np.maximum(probs[np.arange(data.n), data.labels], least)
    return float(np.average(-np.log(chosen), weights=data.weights))
