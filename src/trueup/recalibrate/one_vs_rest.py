"""Recalibrators of one score: a map for each class against the rest, then rows are normalized."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from trueup._typing import Floats
from trueup.engines.threads import run
from trueup.recalibrate.base import Recalibrator, classes_in_words, log_loss_of
from trueup.recalibrate.score_forms import FitData, Scores

Result = TypeVar("Result")


class OneVsRestRecalibrator(Recalibrator):
    """A map of scores to probabilities for each one-vs-rest problem.

    A subclass fits one problem in `_fit_problem`, which returns what it learned as a dictionary of
    plain values, keeps the list of them in ``maps_``, and applies one in `_map`. Two classes are
    one problem. With more, the K answers of a row are divided by their sum; a row of zeros keeps
    its original probabilities.
    """

    maps_: list[dict[str, Any]]

    def _fit(self, data: FitData) -> None:
        n_problems = data.scores.n_problems
        self.maps_ = of_each_problem(lambda k: self._fit_problem(data, k), n_problems)

    def _fit_problem(self, data: FitData, number: int) -> dict[str, Any]:
        """Learn the map of one problem; may be called from several threads."""
        raise NotImplementedError

    def _map(self, learned: dict[str, Any], scores: Scores, number: int) -> Floats:
        """Return (n,) probabilities of the positive outcome of one problem."""
        raise NotImplementedError

    def _marginals_of(self, scores: Scores) -> Floats:
        """(n, K) answers as they are, before rows are normalized; for two classes 1 − p and p."""
        maps = self.maps_
        columns = of_each_problem(lambda k: self._map(maps[k], scores, k), scores.n_problems)
        if scores.n_classes == 2:
            return np.column_stack([1 - columns[0], columns[0]])
        return np.column_stack(columns)

    def _probs_of(self, scores: Scores) -> Floats:
        marginals = self._marginals_of(scores)
        if scores.n_classes == 2:
            return marginals
        total = marginals.sum(axis=1)
        nothing = total <= 0
        if nothing.any():
            rows = np.flatnonzero(nothing)
            marginals[rows] = scores.take(rows).probs()
            total[rows] = marginals[rows].sum(axis=1)
        marginals /= total[:, None]
        return marginals

    def _is_worse(self, data: FitData) -> bool:
        """Return whether log loss rose by more than rounding; normalizing rows can cause it."""
        before = log_loss_of(data.scores.probs(), data)
        return log_loss_of(self._probs_of(data.scores), data) > before + 1e-12 * (1 + before)

    def _note_problems(self, notes: Sequence[Sequence[str]]) -> None:
        """Add notes about the fits of problems: each note once, with the names of its classes."""
        found: dict[str, list[str]] = {}
        for name, here in zip(self.classes_[-len(notes) :].tolist(), notes, strict=True):
            for note in here:
                found.setdefault(note, []).append(str(name))
        alone = len(notes) == 1
        self.notes_ += [
            note if alone else f"{classes_in_words(found[note])}: {note}" for note in found
        ]


class MarginalRecalibrator(OneVsRestRecalibrator):
    """One-vs-rest with `predict_marginals`, the probabilities before rows are normalized."""

    def predict_marginals(self, X: object) -> Floats:
        """Return (n, K) probabilities before rows are normalized: of bins, finitely many values.

        Rows need not sum to 1. `certify` and checks of marginal calibration use these; dividing
        rows by their sum would make values of every kind out of them.
        """
        return self._marginals_of(self._read_scores(X))


def of_each_problem(function: Callable[[int], Result], n_problems: int) -> list[Result]:
    """What a function returns for every one-vs-rest problem, asked on several threads."""
    return run(lambda number, _: function(number), [(k, k + 1) for k in range(n_problems)])
