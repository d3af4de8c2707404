"""Input of recalibrators in the forms that formulas need: logits, log-odds, probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.engines.select import engine
from trueup.lens import Pairs

LEAST = 1e-12
"""Probabilities are no closer to 0 and 1 than this where a logarithm is taken of them."""
NOTHING = 1e4  # a logit so far below the others has a probability of 0
SMALLEST_LOGIT = 1e-100
"""Logits that are all smaller say nothing, and their squares would be lost: they count as 0."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Checked predictions in their original form: (n, K) rows, or (n,) of the positive class.

    ``values`` are probabilities or logits (``are_logits``) in float32 or float64, and are never
    changed. One-vs-rest problems are numbered 0 … ``n_problems`` − 1: one for each class, or, with
    two classes, only that of the second, which determines both.
    """

    values: NDArray[Any]
    are_logits: bool

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.values)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return 2 if self.values.ndim == 1 else self.values.shape[1]

    @property
    def n_problems(self) -> int:
        """Number of one-vs-rest problems."""
        return 1 if self.n_classes == 2 else self.n_classes

    def take(self, rows: Ints) -> Scores:
        """Return some of the rows, possibly repeated."""
        return Scores(self.values[rows], self.are_logits)

    def logits(self) -> NDArray[Any]:
        """Return (n, K) logits in their own type, or float64 logarithms of probabilities.

        A single logit z of the positive class becomes (0, z).
        """
        if self.values.ndim == 2:
            return self.values if self.are_logits else log_of(self.values)
        values = self.values.astype(np.float64)
        if self.are_logits:
            return np.column_stack([np.zeros(self.n), values])
        return np.column_stack([log_of(1 - values), log_of(values)])

    def probs(self) -> Floats:
        """Return (n, K) probabilities in float64."""
        if self.are_logits:
            return engine.softmax.tempered_probs(self.logits(), 1.0)
        values = self.values.astype(np.float64)
        return np.column_stack([1 - values, values]) if values.ndim == 1 else values

    def as_probs(self) -> Scores:
        """Return these scores as probabilities, for callers that need the problem of every class.

        With logits, each problem would otherwise read all of them again.
        """
        if self.are_logits and self.n_problems > 1:
            return Scores(self.probs(), are_logits=False)
        return self

    def top(self) -> Ints:
        """Return the class of the largest original score of each row; the lowest wins a tie."""
        if self.values.ndim == 2:
            return np.asarray(self.values.argmax(axis=1))
        return (self.values > (0.0 if self.are_logits else 0.5)).astype(np.int64)

    def top_label(self) -> tuple[Ints, Floats]:
        """Return the predicted class of each row (the lowest in a tie) and its score.

        The score is a probability or, for logits, the log-odds against all other classes.
        """
        rows = np.arange(self.n)
        if not self.are_logits:
            probs = self.probs()
            top = probs.argmax(axis=1)
            return top, probs[rows, top]
        logits = self.logits().astype(np.float64)
        top = logits.argmax(axis=1)
        largest = logits[rows, top]
        logits[rows, top] = -np.inf
        return top, largest - log_sum_exp(logits)

    def rescaled(self, top_class: Ints, new_top: Floats) -> Floats:
        """Return (n, K) probabilities with a new one for the top class; the others share the rest.

        The other classes keep their ratios; if all of them are 0, they get equal probabilities.
        Another class may have the largest entry of the new row.
        """
        rows = np.arange(self.n)
        if self.are_logits:
            logits = self.logits().astype(np.float64)
            logits[rows, top_class] = -2 * np.abs(logits).max(axis=1) - NOTHING
            probs = engine.softmax.tempered_probs(logits, 1.0)
        else:
            probs = self.probs()
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

    def one_vs_rest(self, number: int) -> Scores:
        """Return scores of the positive outcome of a one-vs-rest problem, in the original form."""
        if self.are_logits:
            return Scores(self.log_odds(number), True)
        return Scores(self.problem(number), False)

    def problem(self, number: int) -> Floats:
        """Return float64 probabilities (n,) of the positive outcome of a one-vs-rest problem."""
        if self.are_logits:
            return sigmoid(self.log_odds(number))
        return self._column(number).astype(np.float64)

    def log_odds(self, number: int) -> Floats:
        """Return (n,) log-odds of the positive outcome of a one-vs-rest problem, in float64.

        For probabilities they are limited to those of `LEAST`; for logits they have no limit.
        """
        if self.values.ndim == 1:
            return self._only_log_odds
        if not self.are_logits:
            return log_odds_of(self._column(number))
        column = self._column(number).astype(np.float64)
        if self.n_classes == 2:
            return np.asarray(column - self.values[:, 0])
        top, every, others = self._log_sums
        share = np.minimum(column - every, -np.log(2))  # at most one half, except for the top class
        return np.where(top == number, column - others, share - np.log1p(-np.exp(share)))

    @cached_property
    def _only_log_odds(self) -> Floats:
        """Log-odds of a single column, cached because a fit needs them more than once."""
        log_odds = self.values.astype(np.float64) if self.are_logits else log_odds_of(self.values)
        log_odds.flags.writeable = False
        return log_odds

    @cached_property
    def _log_sums(self) -> tuple[Ints, Floats, Floats]:
        """Top class of each row of logits, and log Σ e^z over all and over the other classes."""
        logits = self.values.astype(np.float64)
        top, every = logits.argmax(axis=1), log_sum_exp(logits)
        logits[np.arange(self.n), top] = -np.inf
        return top, every, log_sum_exp(logits)

    def _column(self, number: int) -> NDArray[Any]:
        if self.values.ndim == 1:
            return self.values
        return self.values[:, 1 if self.n_classes == 2 else number]


@dataclass(frozen=True, eq=False)
class FitData:
    """Scores with class numbers 0 … K−1, and weights, which are all positive, or None.

    ``kept`` tells which of the rows that were passed are included; None if all are.
    """

    scores: Scores
    labels: Ints
    weights: Floats | None
    kept: NDArray[np.bool_] | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.labels)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.scores.n_classes

    def weight(self) -> Floats:
        """Return the weights, which are 1 by default."""
        return np.ones(self.n) if self.weights is None else self.weights

    def outcomes(self, number: int) -> NDArray[np.bool_]:
        """Return whether each label is the positive outcome of a one-vs-rest problem."""
        return np.asarray(self.labels == (1 if self.n_classes == 2 else number))

    def pairs(self, number: int) -> Pairs:
        """Return probabilities of the positive outcome of a one-vs-rest problem, and outcomes."""
        return Pairs(self.scores.problem(number), self.outcomes(number), self.weights)

    def one_vs_rest(self, number: int) -> FitData:
        """Return a one-vs-rest problem as fit data with two classes."""
        outcomes = self.outcomes(number).astype(np.int64)
        return FitData(self.scores.one_vs_rest(number), outcomes, self.weights)

    def top_label(self) -> FitData:
        """Reduce rows to the score of their top class, and labels to whether it is right."""
        top_class, top = self.scores.top_label()
        right = (top_class == self.labels).astype(np.int64)
        return FitData(Scores(top, self.scores.are_logits), right, self.weights)

    def as_probs(self) -> FitData:
        """Return the same with scores as probabilities; see `Scores.as_probs`."""
        return FitData(self.scores.as_probs(), self.labels, self.weights)

    def take(self, rows: Ints) -> FitData:
        """Return some of the rows, possibly repeated."""
        weights = None if self.weights is None else self.weights[rows]
        return FitData(self.scores.take(rows), self.labels[rows], weights)


def log_of(probs: NDArray[Any]) -> Floats:
    """Return the logarithm in float64, of at least `LEAST`."""
    return np.asarray(np.log(np.maximum(probs.astype(np.float64), LEAST)))


def log_odds_of(probs: NDArray[Any]) -> Floats:
    """Return the logarithm of p/(1 − p) in float64, with both clipped at `LEAST`."""
    p = np.clip(probs.astype(np.float64), LEAST, 1 - LEAST)
    return np.asarray(np.log(p) - np.log1p(-p))


def log_sum_exp(logits: NDArray[Any]) -> Floats:
    """Return log Σ_k e^{z_k} of each row, for logits of any size."""
    largest = logits.max(axis=1).astype(np.float64)
    return np.asarray(largest + np.log(np.exp(logits - largest[:, None]).sum(axis=1)))


def sigmoid(log_odds: Floats) -> Floats:
    """Return 1 / (1 + e^{−x}) for any x."""
    small = np.exp(-np.abs(log_odds))
    return np.asarray(np.where(log_odds >= 0, 1, small) / (1 + small))
