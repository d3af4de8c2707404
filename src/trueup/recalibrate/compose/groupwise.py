"""A recalibrator for every group of rows, and one for all where a group is small or unknown."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.checks import check_whole
from trueup.errors import Argument, InputError, must_be, required
from trueup.forecasts import Forecasts
from trueup.forecasts.arrays import as_numpy, describe, is_missing
from trueup.forecasts.sample_data import rows_by_name, same_length
from trueup.recalibrate.base import (
    Recalibrator,
    log_loss_of,
    note_of_missing_classes,
    with_parameters,
)
from trueup.recalibrate.score_forms import FitData, Scores

ROUNDING = 1e-9  # of a log loss: two fits of the same rows may differ by so much


@with_parameters
class GroupwiseCalibration(Recalibrator):
    """Fit one copy of a recalibrator for each group, and one for all rows.

    A model can be calibrated on the whole and for no group, where errors cancel (`group_errors`
    shows it). Rows of a group that was not seen, that had fewer than ``min_rows`` rows, or that is
    missing (None or NaN), get the answer of the copy for all rows. So do those of a group whose
    own copy has a larger log loss on its own rows than the one for all.

    Each copy learns from the rows of its group alone: it needs as many rows *in each group* as the
    recalibrator needs. Cost: two fits of n rows in all.

    Parameters
    ----------
    recalibrator
        What is copied; it stays as it is.
    min_rows
        Groups with fewer rows, of whatever weight, share the copy for all rows. 100 is enough for
        a method of one or two parameters; methods with bins want a few times more.
    logits, normalize, classes
        As for every `Recalibrator`; the first two hold for the inner recalibrators too.

    Attributes
    ----------
    global_
        The copy fitted on all rows.
    groups_
        Names of the groups that have a copy of their own.
    recalibrators_
        These copies, in the same order.

    Notes
    -----
    ``groups`` has one name or number for each row and goes to `fit`, `predict_proba`, `predict`,
    `transform` and `score`; a `Forecasts` made with ``groups`` brings its own. Once fitted with
    groups it asks for them: ``groups=[None] * n`` says that they are not known. In a pipeline with
    metadata routing ask for them with ``set_fit_request(groups=True)``,
    ``set_predict_proba_request(groups=True)`` and so on; scikit-learn's cross-validation passes
    nothing on to predictions.

    Examples
    --------
    >>> from trueup.recalibrate.scaling.temperature import TemperatureScaling
    >>> probs, labels = [0.9, 0.8, 0.3, 0.1] * 50, [1, 1, 0, 0, 0, 1, 0, 1] * 25
    >>> sites = ["a", "a", "a", "a", "b", "b", "b", "b"] * 25
    >>> model = GroupwiseCalibration(TemperatureScaling()).fit(probs, labels, groups=sites)
    >>> model.groups_
    ['a', 'b']
    >>> model.predict_proba([0.9, 0.9], groups=["b", "new"])[:, 1].round(2)
    array([0.5, 0.7])
    """

    recalibrator: Recalibrator = field(kw_only=False)
    min_rows: int = 100

    def fit(
        self, X: object, y: object = None, sample_weight: object = None, groups: object = None
    ) -> Self:
        """Learn from predictions, classes and groups; without groups one copy for all rows.

        Parameters
        ----------
        X, y, sample_weight
            As for every recalibrator.
        groups
            A name or number for each row; None or NaN where it is not known.
        """
        data = self._read_fit(X, y, sample_weight)
        names = _names_of(X, groups, data.n, data.kept)
        self._fit(data)
        if names is not None:
            self._fit_groups(data, names)
        before = log_loss_of(data.scores.probs(), data)
        after = log_loss_of(self._answers(data.scores, names), data)
        self.fit_ = self._record(data, (before, after))
        return self

    def predict_proba(self, X: object, groups: object = None) -> Floats:
        """Return (n, K) probabilities, each row by the copy of its group."""
        return self._answers(*self._read(X, groups))

    def predict(self, X: object, groups: object = None) -> NDArray[Any]:
        """Return the class that the copy of each row's group predicts."""
        scores, names = self._read(X, groups)
        chosen = np.empty(scores.n, np.int64)
        for copy, rows in self._shared_out(scores.n, names):
            chosen[rows] = copy._top_of(scores.take(rows))
        return np.asarray(self.classes_[chosen])

    def transform(self, X: object, groups: object = None) -> Floats:
        """Return `predict_proba`, for use inside a pipeline; `set_output` makes frames of it."""
        return self.predict_proba(X, groups)

    def fit_transform(
        self, X: object, y: object = None, sample_weight: object = None, groups: object = None
    ) -> Floats:
        """Fit, and return the probabilities of the same rows."""
        return self.fit(X, y, sample_weight, groups).predict_proba(X, groups)

    def score(
        self, X: object, y: object, sample_weight: object = None, groups: object = None
    ) -> float:
        """Return the share of rows whose class is predicted."""
        from sklearn.metrics import accuracy_score

        return float(accuracy_score(y, self.predict(X, groups), sample_weight=sample_weight))

    def _check(self) -> None:
        self._check_inner(self.recalibrator)
        check_whole("min_rows", self.min_rows, 1)

    def _fit(self, data: FitData) -> None:
        self.global_ = self.recalibrator._fitted_copy(data, self.classes_)
        missing = note_of_missing_classes(data, self.classes_)  # its own note, without a prefix
        self.notes_ += [f"all rows: {note}" for note in self.global_.notes_ if note != missing]
        self.groups_: list[Any] | None = None
        self.recalibrators_: list[Recalibrator] = []

    def _fit_groups(self, data: FitData, names: list[Any]) -> None:
        self.groups_ = []
        for name, rows in rows_by_name(names):
            if len(rows) < self.min_rows:
                continue
            part = data.take(rows)
            copy = self.recalibrator._fitted_copy(part, self.classes_)
            shared = log_loss_of(self.global_._probs_of(part.scores), part)
            own = log_loss_of(copy._probs_of(part.scores), part)
            if own > shared + ROUNDING * (1 + shared):
                self.notes_.append(
                    f"group {name}: the recalibrator for all rows is used, because the group's own "
                    "had a higher log loss"
                )
                continue
            self.groups_.append(name)
            self.recalibrators_.append(copy)
            self.notes_ += [f"group {name}: {note}" for note in copy.notes_]

    def _is_whole(self) -> bool:
        kinds = {(type(copy), len(copy.classes_)) for copy in [*self.recalibrators_, self.global_]}
        of_all = (type(self.recalibrator), len(self.classes_))
        return kinds == {of_all} and len(set(self.groups_ or [])) == len(self.recalibrators_)

    def _probs_of(self, scores: Scores) -> Floats:
        return self.global_._probs_of(scores)

    def _read(self, X: object, groups: object) -> tuple[Scores, list[Any] | None]:
        scores = self._read_scores(X)
        names = _names_of(X, groups, scores.n)
        if names is None and self.groups_ is not None:
            hint = "the recalibrator was fitted with groups; pass groups=[None] * n if unknown"
            raise required("groups", hint)
        return scores, names

    def _answers(self, scores: Scores, names: list[Any] | None) -> Floats:
        probs = np.empty((scores.n, scores.n_classes))
        for copy, rows in self._shared_out(scores.n, names):
            probs[rows] = copy._probs_of(scores.take(rows))
        return probs

    def _shared_out(self, n: int, names: list[Any] | None) -> list[tuple[Recalibrator, Ints]]:
        """Every copy that is needed, with the numbers of the rows it answers."""
        if names is None or not self.groups_:
            return [(self.global_, np.arange(n))]
        place = {name: number for number, name in enumerate(self.groups_)}
        numbers = np.array([place.get(name, -1) for name in names], np.int64)
        copies = [*self.recalibrators_, self.global_]
        return [(copies[k], np.flatnonzero(numbers == k)) for k in np.unique(numbers).tolist()]


def _names_of(
    X: object, groups: object, n: int, kept: NDArray[np.bool_] | None = None
) -> list[Any] | None:
    """Groups of the n rows that were read, as plain values, of which the missing ones are None."""
    if isinstance(X, Forecasts):
        if groups is not None:
            raise InputError("groups", ("cannot be used if ", Argument("X"), " is a Forecasts"))
        groups = X.groups
    if groups is None:
        return None
    array = as_numpy("groups", groups)
    if array.ndim != 1:
        raise must_be("groups", "one name or number per row", describe(array))
    same_length("groups", array, n if kept is None else len(kept), "X")
    rows = array if kept is None else array[kept]
    return [None if is_missing(name) else name for name in rows.tolist()]
