"""The top label alone: its score, whether it is right, and rows rebuilt around a new score."""

from __future__ import annotations

import numpy as np

from trueup._typing import Floats, Ints
from trueup.engines.select import engine
from trueup.recalibrate.score_forms import FitData, Scores, log_sum_exp

NOTHING = 1e4  # a logit so far below the others has a probability of 0


def top_scores(scores: Scores) -> tuple[Ints, Floats]:
    """Return the most probable class of each row, the lowest of a tie, and its score.

    The score is a probability, or log-odds against all other classes where logits came in.
    """
    rows = np.arange(scores.n)
    if not scores.are_logits:
        probs = scores.probs()
        top = probs.argmax(axis=1)
        return top, probs[rows, top]
    logits = scores.logits().astype(np.float64)
    top = logits.argmax(axis=1)
    largest = logits[rows, top]
    logits[rows, top] = -np.inf
    return top, largest - log_sum_exp(logits)


def top_data(data: FitData) -> FitData:
    """Reduce rows to the score of their top class, and labels to whether it is right."""
    top_class, top = top_scores(data.scores)
    right = (top_class == data.labels).astype(np.int64)
    return FitData(Scores(top, data.scores.are_logits), right, data.weights)


def rescaled_rows(scores: Scores, top_class: Ints, new_top: Floats) -> Floats:
    """Give the top class of each row its new probability, and share out the rest as before.

    The other classes keep their ratios; where all of them are 0 they get the same. The new row
    may have another largest entry.
    """
    rows = np.arange(scores.n)
    if scores.are_logits:
        logits = scores.logits().astype(np.float64)
        logits[rows, top_class] = -2 * np.abs(logits).max(axis=1) - NOTHING
        probs = engine.softmax.tempered_probs(logits, 1.0)
    else:
        probs = scores.probs()
        probs[rows, top_class] = 0
        rest = probs.sum(axis=1)
        nothing = rest <= 0
        probs[nothing] = 1.0
        probs[rows, top_class] = 0
        rest[nothing] = probs.shape[1] - 1
        probs /= rest[:, None]
    probs *= (1 - new_top)[:, None]
    probs[rows, top_class] = new_top
    return probs
