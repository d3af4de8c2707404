"""The choice of a recalibrator: the simplest that is nearly as good as the best."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from trueup._typing import Floats, Ints
from trueup.calls.progress import Progress, stage, stages, told, with_progress
from trueup.checks import check_choice, is_whole
from trueup.errors import InputError, Verbatim, must_be
from trueup.recalibrate.auto.candidates import default_candidates, named_candidates, not_tried
from trueup.recalibrate.auto.ranking import WORDS, Ranking, Trial
from trueup.recalibrate.base import Recalibrator, with_parameters
from trueup.recalibrate.score_forms import FitData, Scores
from trueup.seeds import RandomState, generator_of_state
from trueup.tables import ResultTable

Folds = list[tuple[Ints, Ints]]


COSTS = {"DirichletCalibration": 12.0, "MatrixScaling": 4.0, "VectorScaling": 2.0}
"""About the time that these take for several classes; most others take 1."""


@with_parameters
class AutoCalibration(Recalibrator):
    """Choose a recalibrator by cross-validation and the one-standard-error rule.

    For each fold, every candidate is fitted on the other folds and predicts this fold. Candidates
    are ranked by the mean log loss (or Brier score) of these out-of-fold predictions. The simplest
    candidate whose mean is within one standard error of the best is chosen, and is then fitted on
    all rows. The standard error is that of the difference of the row losses. With log loss, a
    candidate that gives probability 0 to an observed outcome is never as good as a best candidate
    that does not. Only the data passed to `fit` are used.

    Debiased calibration errors are reported but do not affect the choice. A plug-in error ranks
    candidates partly by chance (Roelofs et al. 2022), and every calibration error is smallest for a
    recalibrator that ignores the scores.

    Parameters
    ----------
    candidates : list, dict or None
        Recalibrators, *the simplest first*, in a list or by name in a dictionary;
        `IdentityCalibration` is always the first. By default, the candidates depend on the number
        of rows and classes (`default_candidates`).
    cv : int, splitter or iterable of splits
        The number of folds (stratified, drawn with ``random_state``; fewer if there are fewer
        rows), or a splitter or iterable of splits that puts no row into two test sets.
    rank_by : {"log_loss", "brier"}
        The score for the ranking.
    random_state : int, generator or None
        The seed of the folds: an integer, a generator, or None for different folds each time.
    logits, normalize, classes : bool, bool, sequence or None
        Whether X holds logits; whether to divide rows of probabilities by their sum; names of the
        classes in the order of the columns. The first two also hold for the inner recalibrators.

    Attributes
    ----------
    best_
        The chosen recalibrator, fitted on all rows.
    best_name_
        Its name.
    explanation_
        Why it was chosen, in sentences.
    results_
        The columns of `table_`.

    Notes
    -----
    Folds share their training rows, so standard errors are a little too small; the rule of one
    standard error is not a test. Cost: one fit of every candidate for every fold, and one more of
    the chosen candidate; about four seconds on one core for 5,000 rows of 100 classes.

    References
    ----------
    Hastie, Tibshirani & Friedman 2009, *The elements of statistical learning*, §7.10 (the rule of
    one standard error); Roelofs et al. 2022, "Mitigating bias in calibration error estimation".

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> logits = rng.normal(size=2000)
    >>> labels = rng.random(2000) < 1 / (1 + np.exp(-logits))
    >>> auto = AutoCalibration(logits=True).fit(3 * logits, labels)
    >>> auto.best_
    TemperatureScaling(logits=True)
    >>> round(auto.best_.temperature_, 1)
    3.0
    """

    use: ClassVar[str] = (
        "Any model: it compares the others on held-out folds and keeps the simplest good one."
    )
    instead: ClassVar[str] = "A recalibrator by name if the choice is fixed in advance."

    candidates: Any = field(default=None, kw_only=False)
    cv: Any = 5
    rank_by: str = "log_loss"
    random_state: RandomState = 0

    @with_progress("AutoCalibration")
    def fit(
        self,
        X: object,
        y: object = None,
        sample_weight: object = None,
        *,
        progress: Progress = None,
    ) -> Self:
        """Compare the candidates on held-out predictions, and fit the chosen one to all rows.

        Parameters
        ----------
        X : array-like or Forecasts
            Probabilities, shape (n, K) or (n,); logits with ``logits=True``.
        y : array-like
            Class of each row.
        sample_weight : array-like or None
            Weights of at least 0, or None.
        progress : bool or callable, optional
            Whether to show progress: True, False, or a function that gets each report. The default
            is the setting of `show_progress`.

        Returns
        -------
        AutoCalibration
            The fitted recalibrator itself.

        Examples
        --------
        >>> probs, labels = [0.2, 0.4, 0.7, 0.9] * 10, [0, 0, 1, 1] * 10
        >>> AutoCalibration().fit(probs, labels).best_name_ in default_candidates(40, 2)
        True
        """
        data = self._read_fit(X, y, sample_weight)
        if is_whole(self.cv, 2):
            seed = int(generator_of_state(self.random_state).integers(1 << 63))
            folds = stratified_folds(data.labels, int(self.cv), seed)
        else:
            folds = _given(self.cv, data.labels if y is None else np.asarray(y), data.kept)
        self._choose(data, folds)
        self.fit_ = self._record(data)
        return self

    @property
    def table_(self) -> ResultTable:
        """One row per candidate, the best score first.

        * ``candidate``, and its ``simplicity`` (0 is the simplest).
        * ``score`` with its standard error ``score_se``, and ``difference`` from the best score
          with ``difference_se``.
        * ``zeros``: number of rows whose class had probability 0.
        * ``error``, ``error_low`` and ``error_high``: `rmsce_debiased` of the top label with its
          95% interval; for two classes, of the second class.
        * For more than two classes, ``marginal_error`` (`marginal_error_debiased`) in the same
          three columns.
        * ``chosen``: whether the candidate was chosen.
        """
        return ResultTable(self.results_)

    def _check(self) -> None:
        check_choice("rank_by", self.rank_by, *WORDS)
        if self.candidates is not None:
            for name, candidate in named_candidates(self.candidates).items():
                self._check_inner(candidate, f"candidates[{name!r}]")
        splits = hasattr(self.cv, "split") or isinstance(self.cv, Iterable)
        if not is_whole(self.cv, 2) and (isinstance(self.cv, str) or not splits):
            raise must_be("cv", "a whole number of at least 2, or a splitter", self.cv)

    def _choose(self, data: FitData, folds: Folds) -> None:
        if self.candidates is None:
            candidates = default_candidates(data.n, data.n_classes)
            left_out = not_tried(data.n, data.n_classes)
        else:
            candidates, left_out = named_candidates(self.candidates), ""
        if folds:
            kept = data.take(np.concatenate([test for _, test in folds]))
            tried = []
            costs = {name: _cost(each, data.n_classes) for name, each in candidates.items()}
            with stages(sum(costs.values()), len(candidates)):
                for name, candidate in candidates.items():
                    with stage(f"candidate {name}", costs[name]):
                        tried.append(self._trial(name, candidate, data, folds, kept))
            ranking = Ranking([each for each in tried if each], kept.weights, self.rank_by)
            self.results_ = ranking.columns()
            self.explanation_ = f"{ranking.explanation(len(folds))} {left_out}".strip()
            self.best_name_ = ranking.trials[ranking.chosen].name
        else:
            self.results_ = {"candidate": np.array(list(candidates)[:1])}
            self.explanation_ = (
                "A single row cannot be split into folds, so the probabilities are left unchanged."
            )
            self.best_name_ = next(iter(candidates))
        self.best_ = candidates[self.best_name_]._fitted_copy(data, self.classes_)
        self.notes_ += self.best_.notes_

    def _trial(
        self, name: str, candidate: Recalibrator, data: FitData, folds: Folds, kept: FitData
    ) -> Trial | None:
        """Return a candidate's out-of-fold trial, or None and a note if it cannot be fitted."""
        parts = []
        for train, test in told(folds):
            try:
                with warnings.catch_warnings():  # the score says enough of a poor fit
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    part = candidate._fitted_part(data.take(train))
            except InputError as error:
                self.notes_.append(f"{name} was skipped: {error}")
                return None
            parts.append(part._probs_of(data.scores.take(test)))
        return Trial.of(name, np.concatenate(parts), kept.labels, kept.weights, self.rank_by)

    def _probs_of(self, scores: Scores) -> Floats:
        return self.best_._probs_of(scores)

    def _top_of(self, scores: Scores) -> Ints:
        return self.best_._top_of(scores)


def stratified_folds(labels: Ints, n_folds: int, seed: int) -> Folds:
    """Split rows in random order into stratified folds; use fewer folds if there are few rows."""
    n = len(labels)
    n_folds = min(n_folds, n)
    if n_folds < 2:
        return []
    order = np.random.default_rng(seed).permutation(n)
    dealt = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(n, np.int64)
    fold[dealt] = np.arange(n) % n_folds
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]


def _cost(candidate: Recalibrator, n_classes: int) -> float:
    """How long a candidate takes, compared with most others: for the time left."""
    return COSTS.get(type(candidate).__name__, 1.0) if n_classes > 2 else 1.0


def _given(cv: Any, labels: NDArray[Any], kept: NDArray[np.bool_] | None) -> Folds:
    """Return the caller's splits of the rows, without rows of weight 0."""
    from sklearn.model_selection import check_cv

    n = len(labels)
    kept = np.ones(n, bool) if kept is None else kept
    place = np.cumsum(kept) - 1
    folds: Folds = []
    for split in check_cv(cv, labels, classifier=True).split(np.zeros((n, 1)), labels):
        last = max((int(np.max(rows)) for rows in split if len(rows)), default=0)
        if last >= n:
            raise must_be("cv", f"use row numbers below {n}", last)
        train, test = (place[rows[kept[rows]]] for rows in map(np.asarray, split))
        if len(train) and len(test):
            folds.append((train, test))
    tested = np.concatenate([test for _, test in folds]) if folds else np.empty(0, np.int64)
    if not len(tested):
        raise must_be("cv", "yield a split with both training and test rows", Verbatim("none"))
    if len(np.unique(tested)) < len(tested):
        raise InputError("cv", "must not test a row more than once", hint="use KFold")
    return folds
