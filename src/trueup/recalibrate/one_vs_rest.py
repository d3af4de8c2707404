"""Recalibrators of one score: each class is mapped against the rest, then rows are normalized."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from trueup._typing import Floats
from trueup.engines.threads import run
from trueup.recalibrate.base import Recalibrator
from trueup.recalibrate.fit_record import classes_in_words, log_loss_of
from trueup.recalibrate.score_forms import FitData, Scores

Result = TypeVar("Result")


class OneVsRestRecalibrator(Recalibrator):
    """Base class of recalibrators with one map from scores to probabilities per class.

    A subclass fits one problem in `_fit_problem`, which returns the fitted values as a dictionary
    of plain values. ``maps_`` is the list of these, and `_map` applies one. Two classes are one
    problem. With more classes, the K outputs of a row are divided by their sum; a row of zeros
    keeps its original probabilities.
    """

    maps_: list[dict[str, Any]]

    def _fit(self, data: FitData) -> None:
        n_problems = data.scores.n_problems
        self.maps_ = of_each_problem(lambda k: self._fit_problem(data, k), n_problems)

    def _fit_problem(self, data: FitData, number: int) -> dict[str, Any]:
        """Fit the map of one problem; may be called from several threads."""
        raise NotImplementedError

    def _map(self, learned: dict[str, Any], scores: Scores, number: int) -> Floats:
        """Return (n,) probabilities of the positive outcome of one problem."""
        raise NotImplementedError

    def _marginals_of(self, scores: Scores) -> Floats:
        """Return (n, K) outputs before normalization; for two classes they are 1 − p and p."""
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
        """Return whether log loss increased beyond rounding, which normalizing rows can cause."""
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
    """One-vs-rest base class with `predict_marginals`, the probabilities before normalization."""

    def predict_marginals(self, X: object) -> Floats:
        """Return the probability of each class before rows are normalized.

        Rows need not sum to 1. `certify` and checks of marginal calibration use these: with bins
        they take finitely many values, and dividing rows by their sum would create more.

        Parameters
        ----------
        X : array-like or Forecasts
            Probabilities or logits, as in `fit`.

        Returns
        -------
        ndarray
            Probabilities, shape (n, K).

        Examples
        --------
        >>> from trueup.recalibrate.binning.histogram import HistogramBinning
        >>> probs = [0.1, 0.2, 0.3, 0.6, 0.7, 0.8]
        >>> model = HistogramBinning(n_bins=2).fit(probs, [0, 0, 1, 0, 1, 1])
        >>> model.predict_marginals([0.25]).round(3)
        array([[0.667, 0.333]])
        """
        return self._marginals_of(self._read_scores(X))


def of_each_problem(function: Callable[[int], Result], n_problems: int) -> list[Result]:
    """Return the result of a function for every one-vs-rest problem, computed by threads."""
    return run(lambda number, _: function(number), [(k, k + 1) for k in range(n_problems)])
