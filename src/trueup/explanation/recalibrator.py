"""Explanation of a recalibrator: the error that it adds to a calibrated model."""

from __future__ import annotations

import warnings
from typing import Any, cast

import numpy as np
from sklearn.base import clone

from trueup.errors import InputError
from trueup.explanation.explanation import Explanation, summary_of
from trueup.explanation.scores import Scores, digits
from trueup.recalibrate.auto.candidates import CANDIDATES
from trueup.recalibrate.base import Recalibrator
from trueup.seeds import Seed


def explain_recalibrator(
    given: Recalibrator | type[Recalibrator], scores: Scores, n_draws: int, rng: Seed
) -> Explanation:
    """Return a description of a recalibrator, and the error that it adds to calibrated scores."""
    kind = cast("type[Recalibrator]", given if isinstance(given, type) else type(given))
    lines = {
        "use it for": kind.use[:1].lower() + kind.use[1:],
        "keeps": _kept(given),
        "needs": _needed(kind, scores.forecasts.n_classes),
    }
    numbers: dict[str, float] = {}
    recalibrator = _unfitted(given)
    added = None if recalibrator is None else _added_error(recalibrator, scores, n_draws, rng)
    if added is not None:
        numbers["added_error"] = added
        lines["costs"] = (
            f"moves the probabilities of a calibrated model by {digits(added)} (root mean square) "
            f"if fitted to n = {scores.n:,} rows with {scores.words}."
        )
    lines["fit on"] = "rows that the model was not trained on; evaluate on rows used for neither."
    lines["instead"] = kind.instead
    lines["see also"] = f"help(trueup.{kind.__name__}); docs/recalibration.md."
    lines = {label: text for label, text in lines.items() if text}
    return Explanation(
        kind.__name__, "recalibrator", summary_of(kind), lines, scores.n, scores.words, numbers
    )


def _kept(given: Any) -> str:
    """Return in words what the recalibrator preserves."""
    if given.preserves_argmax:
        return "the predicted class of each row" + "; it is monotone." * bool(given.monotone)
    if given.monotone:
        return "the order of the scores of two classes; the predicted class can change."
    return "neither the predicted class nor the order of scores for certain."


def _needed(kind: type[Recalibrator], n_classes: int) -> str:
    """Return the number of rows from which AutoCalibration tries it."""
    rows = next((each.rows(n_classes) for each in CANDIDATES if each.kind is kind), 0)
    return f"{rows:,} rows or more for {n_classes} classes (AutoCalibration's rule)." * bool(rows)


def _unfitted(given: Recalibrator | type[Recalibrator]) -> Recalibrator | None:
    """Return an instance to fit; None for a class that needs arguments."""
    if not isinstance(given, type):
        return clone(given)  # type: ignore[no-any-return]
    try:
        return given()
    except TypeError:
        return None


def _added_error(
    recalibrator: Recalibrator, scores: Scores, n_draws: int, rng: Seed
) -> float | None:
    """Return the root mean squared change of calibrated scores; None if it needs other data."""
    squares = []
    every = slice(0, scores.forecasts.n)
    before = scores.forecasts.rows(every)
    for drawn in scores.calibrated(scores.n, n_draws, rng):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what a fit notes of drawn labels is no news
                fitted = clone(recalibrator).set_params(logits=False)
                fitted.fit(drawn.rows(slice(0, drawn.n)), drawn.labels.astype(np.int64))
                after = fitted.predict_proba(before)
        except InputError:
            return None
        squares.append(float(((after - before) ** 2).mean()))
    return float(np.sqrt(np.mean(squares)))
