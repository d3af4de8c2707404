"""Whether a recalibrator that was put together from a file is one that `fit` can have made."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueup._typing import Floats
from trueup.recalibrate.score_forms import Scores

ROWS_A_CLASS = 9
MOST_CLASSES = 8
RECORD = {
    "n": int,
    "n_classes": int,
    "fingerprint": str,
    "log_loss_before": float,
    "log_loss_after": float,
}


class UnreadableError(Exception):
    """What is wrong with a file, as the end of a sentence that begins with its name."""


def check_restored(recalibrator: Any) -> None:
    """Refuse what lacks a part of a fit, or whose parts do not fit together."""
    held = vars(recalibrator)
    for name in ("classes_", "n_features_in_", "notes_", "fit_"):
        if name not in held:
            raise UnreadableError(f"lacks {name}")
    classes, columns = held["classes_"], held["n_features_in_"]
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or len(classes) < 2:
        raise UnreadableError("does not name at least two classes")
    allowed = (1, 2) if len(classes) == 2 else (len(classes),)
    if type(columns) is not int or columns not in allowed:
        raise UnreadableError("does not have a column for each class")
    names = held.get("feature_names_in_")
    if names is not None and getattr(names, "shape", None) != (columns,):
        raise UnreadableError("does not name each column")
    notes, record = held["notes_"], held["fit_"]
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise UnreadableError("holds notes that are not sentences")
    if not isinstance(record, dict) or (record and not _is_record(record, len(classes))):
        raise UnreadableError("does not record its fit")
    _check_answers(recalibrator, len(classes), columns)


def _is_record(record: dict[str, Any], n_classes: int) -> bool:
    """Whether this is what `fit` keeps of a fit; a part of another recalibrator may keep none."""
    good = all(isinstance(record.get(name), kind) for name, kind in RECORD.items())
    return good and record["n_classes"] == n_classes


def _check_answers(recalibrator: Any, n_classes: int, columns: int) -> None:
    """Scores from 0 to 1 must get probabilities: only a complete state gives them."""
    rows = _rows(n_classes)
    scores = Scores(rows[:, 1] if columns == 1 else rows, recalibrator.logits)
    try:
        with np.errstate(all="ignore"):
            answer = np.asarray(recalibrator._probs_of(scores))
        good = (
            recalibrator._is_whole()
            and answer.shape == rows.shape
            and bool(((answer >= 0) & (answer <= 1)).all())
            and bool(np.allclose(answer.sum(axis=1), 1))
        )
    except Exception as error:
        raise UnreadableError(f"gives no probabilities ({type(error).__name__})") from error
    if not good:
        raise UnreadableError("gives no probabilities")


def _rows(n_classes: int) -> Floats:
    """Rows in which one class, each of the first few in turn, has 0 … 1 and the others share."""
    own = np.linspace(0, 1, ROWS_A_CLASS)
    blocks = []
    for number in range(min(n_classes, MOST_CLASSES)):
        block = np.repeat((1 - own)[:, None] / (n_classes - 1), n_classes, axis=1)
        block[:, number] = own
        blocks.append(block)
    return np.concatenate(blocks)
