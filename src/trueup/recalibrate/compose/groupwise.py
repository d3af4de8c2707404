"""One recalibrator per group of rows, and a shared one for small or unknown groups."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.checks import check_whole
from trueup.errors import Argument, InputError, printable, required
from trueup.forecasts import Forecasts
from trueup.forecasts.arrays import is_missing
from trueup.forecasts.group_names import GroupName, group_columns, joined
from trueup.forecasts.sample_data import rows_by_name, same_length
from trueup.recalibrate.base import Recalibrator, warn_caller, with_parameters
from trueup.recalibrate.fit_record import LISTED, log_loss_of, notes_of_data
from trueup.recalibrate.score_forms import FitData, Scores

ROUNDING = 1e-9  # of a log loss: two fits of the same rows may differ by so much


@with_parameters
class GroupwiseCalibration(Recalibrator):
    """Recalibrate each group separately; fall back to a shared recalibrator.

    A model can be calibrated overall and miscalibrated in every group if the errors cancel
    (`group_errors` shows this). The copy for all rows is used for groups that were not in the fit
    data, had fewer than ``min_rows`` rows, or are missing (None or NaN). It is also used for a
    group whose own copy has a larger log loss on the group's rows.

    Each copy is fitted to the rows of its group alone, so *each group* needs as many rows as the
    recalibrator needs. Cost: two fits of n rows in total.

    Parameters
    ----------
    recalibrator : Recalibrator
        The recalibrator to copy; it is not changed.
    min_rows : int
        Groups with fewer rows, whatever their weights, use the copy for all rows. 100 is enough for
        a method with one or two parameters; binning methods need several times more.
    logits, normalize, classes : bool, bool, sequence or None
        Whether X holds logits; whether to divide rows of probabilities by their sum; names of the
        classes in the order of the columns. The first two also hold for the inner recalibrators.

    Attributes
    ----------
    global_
        The copy fitted on all rows.
    groups_
        Names of the groups that have a copy of their own.
    recalibrators_
        These copies, in the same order.
    shared_groups_
        Names of the other groups of the fit data; they share ``global_``.

    Notes
    -----
    ``groups`` has one name or number per row and is an argument of `fit`, `predict_proba`,
    `predict`, `transform` and `score`; a `Forecasts` made with ``groups`` contains them. After a
    fit with groups they are required; pass ``groups=[None] * n`` if they are not known. In a
    pipeline with metadata routing, request them with ``set_fit_request(groups=True)``,
    ``set_predict_proba_request(groups=True)`` and so on; scikit-learn's cross-validation does not
    pass metadata to predictions.

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

    use: ClassVar[str] = "Known groups that are wrong in different ways."
    instead: ClassVar[str] = "One recalibrator for all rows if groups have few rows."

    recalibrator: Recalibrator = field(kw_only=False)
    min_rows: int = 100

    def fit(
        self, X: object, y: object = None, sample_weight: object = None, groups: object = None
    ) -> Self:
        """Fit one copy per group and one for all rows; without groups, only the latter.

        Parameters
        ----------
        X : array-like or Forecasts
            Probabilities, shape (n, K) or (n,); logits with ``logits=True``.
        y : array-like
            Class of each row.
        sample_weight : array-like or None
            Weights of at least 0, or None.
        groups : array-like or None
            Name or number of the group of each row, or several columns as for
            `Forecasts.from_arrays`; None or NaN if unknown.

        Returns
        -------
        GroupwiseCalibration
            The fitted recalibrator itself.

        Examples
        --------
        >>> from trueup.recalibrate.scaling.temperature import TemperatureScaling
        >>> model = GroupwiseCalibration(TemperatureScaling(), min_rows=4)
        >>> model.fit([0.9, 0.8, 0.3, 0.1], [1, 0, 0, 0], groups=["a"] * 4).groups_
        ['a']
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
        """Return the probabilities that the copy of each row's group gives.

        Parameters
        ----------
        X : array-like or Forecasts
            Probabilities or logits, as in `fit`.
        groups : array-like or None
            Group of each row; None or NaN if unknown.

        Returns
        -------
        ndarray
            Probabilities, shape (n, K); rows sum to 1.

        Examples
        --------
        >>> from trueup.recalibrate.scaling.temperature import TemperatureScaling
        >>> probs, labels, sites = [0.9, 0.8, 0.3, 0.1] * 5, [1, 0, 0, 0] * 5, ["a"] * 20
        >>> model = GroupwiseCalibration(TemperatureScaling(), min_rows=4)
        >>> model.fit(probs, labels, groups=sites).predict_proba([0.5], groups=["a"])
        array([[0.5, 0.5]])
        """
        return self._answers(*self._read(X, groups))

    def predict(self, X: object, groups: object = None) -> NDArray[Any]:
        """Return the class that the copy of each row's group predicts.

        Parameters
        ----------
        X : array-like or Forecasts
            Probabilities or logits, as in `fit`.
        groups : array-like or None
            Group of each row; None or NaN if unknown.

        Returns
        -------
        ndarray
            Names of the predicted classes, shape (n,).

        Examples
        --------
        >>> from trueup.recalibrate.scaling.temperature import TemperatureScaling
        >>> probs, labels, sites = [0.9, 0.8, 0.3, 0.1] * 5, [1, 0, 0, 0] * 5, ["a"] * 20
        >>> model = GroupwiseCalibration(TemperatureScaling(), min_rows=4)
        >>> model.fit(probs, labels, groups=sites).predict([0.9, 0.1], groups=["a", "a"])
        array([1, 0])
        """
        scores, names = self._read(X, groups)
        chosen = np.empty(scores.n, np.int64)
        for copy, rows in self._shared_out(scores.n, names):
            chosen[rows] = copy._top_of(scores.take(rows))
        return np.asarray(self.classes_[chosen])

    def transform(self, X: object, groups: object = None) -> Floats:
        """Return `predict_proba`, for use in a pipeline; `set_output` turns it into frames.

        Parameters
        ----------
        X : array-like or Forecasts
            Probabilities or logits, as in `fit`.
        groups : array-like or None
            Group of each row; None or NaN if unknown.

        Returns
        -------
        ndarray or frame
            Probabilities, shape (n, K); rows sum to 1.

        Examples
        --------
        >>> from trueup.recalibrate.scaling.temperature import TemperatureScaling
        >>> probs, labels, sites = [0.9, 0.8, 0.3, 0.1] * 5, [1, 0, 0, 0] * 5, ["a"] * 20
        >>> model = GroupwiseCalibration(TemperatureScaling(), min_rows=4)
        >>> model.fit(probs, labels, groups=sites).transform([0.5], groups=["a"])
        array([[0.5, 0.5]])
        """
        return self.predict_proba(X, groups)

    def fit_transform(
        self, X: object, y: object = None, sample_weight: object = None, groups: object = None
    ) -> Floats:
        """Fit, and return the probabilities of the same rows.

        Parameters
        ----------
        X : array-like or Forecasts
            Probabilities or logits.
        y : array-like
            Class of each row.
        sample_weight : array-like or None
            Weights of at least 0, or None.
        groups : array-like or None
            Group of each row; None or NaN if unknown.

        Returns
        -------
        ndarray
            Probabilities, shape (n, K); rows sum to 1.

        Examples
        --------
        >>> from trueup.recalibrate.scaling.temperature import TemperatureScaling
        >>> probs, labels, sites = [0.9, 0.8, 0.3, 0.1] * 5, [1, 0, 0, 0] * 5, ["a"] * 20
        >>> model = GroupwiseCalibration(TemperatureScaling(), min_rows=4)
        >>> model.fit_transform(probs, labels, groups=sites).shape
        (20, 2)
        """
        return self.fit(X, y, sample_weight, groups).predict_proba(X, groups)

    def score(
        self, X: object, y: object, sample_weight: object = None, groups: object = None
    ) -> float:
        """Return the accuracy: the fraction of rows whose class is predicted.

        Parameters
        ----------
        X : array-like or Forecasts
            Probabilities or logits, as in `fit`.
        y : array-like
            Class of each row.
        sample_weight : array-like or None
            Weights of at least 0, or None.
        groups : array-like or None
            Group of each row; None or NaN if unknown.

        Returns
        -------
        float
            Accuracy, from 0 to 1.

        Examples
        --------
        >>> from trueup.recalibrate.scaling.temperature import TemperatureScaling
        >>> probs, labels, sites = [0.9, 0.8, 0.3, 0.1] * 5, [1, 0, 0, 0] * 5, ["a"] * 20
        >>> model = GroupwiseCalibration(TemperatureScaling(), min_rows=4)
        >>> model.fit(probs, labels, groups=sites).score(probs, labels, groups=sites)
        0.75
        """
        from sklearn.metrics import accuracy_score

        return float(accuracy_score(y, self.predict(X, groups), sample_weight=sample_weight))

    def _check(self) -> None:
        self._check_inner(self.recalibrator)
        check_whole("min_rows", self.min_rows, 1)

    def _fit(self, data: FitData) -> None:
        self.global_ = self.recalibrator._fitted_copy(data, self.classes_)
        of_data = notes_of_data(data, self.classes_)  # its own notes, without a prefix
        notes = [note for note in self.global_.notes_ if note not in of_data]
        self.notes_ += [f"all rows: {note}" for note in notes]
        self.groups_: list[Any] | None = None
        self.shared_groups_: list[Any] = []
        self.recalibrators_: list[Recalibrator] = []

    def _fit_groups(self, data: FitData, names: list[Any]) -> None:
        self.groups_ = []
        for name, rows in rows_by_name(names):
            if len(rows) < self.min_rows:
                self.shared_groups_.append(name)
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
                self.shared_groups_.append(name)
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
        if names is not None and self.groups_ is not None and (unseen := self._unseen(names)):
            warn_caller(unseen, UserWarning)
        return scores, names

    def _unseen(self, names: list[Any]) -> str:
        """Return a note on how many rows are in groups that were not in `fit`, if any."""
        seen = {None, *(self.groups_ or []), *self.shared_groups_}
        rows = Counter(name for name in names if name not in seen)
        if not rows:
            return ""
        shown = ", ".join(printable(str(name)) for name in list(rows)[:LISTED])
        more = f" and {len(rows) - LISTED:,} more" if len(rows) > LISTED else ""
        several = f"{len(rows):,} groups" if len(rows) > 1 else "a group"
        number = f"{rows.total():,} row{'s' * (rows.total() > 1)}"
        return (
            f"{number} of {several} not seen in fit ({shown}{more}): the recalibrator for all "
            f"rows was used"
        )

    def _answers(self, scores: Scores, names: list[Any] | None) -> Floats:
        probs = np.empty((scores.n, scores.n_classes))
        for copy, rows in self._shared_out(scores.n, names):
            probs[rows] = copy._probs_of(scores.take(rows))
        return probs

    def _shared_out(self, n: int, names: list[Any] | None) -> list[tuple[Recalibrator, Ints]]:
        """Yield every copy that is needed, with the indexes of the rows it predicts."""
        if names is None or not self.groups_:
            return [(self.global_, np.arange(n))]
        place = {name: number for number, name in enumerate(self.groups_)}
        numbers = np.array([place.get(name, -1) for name in names], np.int64)
        copies = [*self.recalibrators_, self.global_]
        return [(copies[k], np.flatnonzero(numbers == k)) for k in np.unique(numbers).tolist()]


def _names_of(
    X: object, groups: object, n: int, kept: NDArray[np.bool_] | None = None
) -> list[Any] | None:
    """Return groups of the n rows that were read as plain values; missing ones are None."""
    if isinstance(X, Forecasts):
        if groups is not None:
            raise InputError("groups", ("cannot be used if ", Argument("X"), " is a Forecasts"))
        groups = X.groups
    if groups is None:
        return None
    n_given = n if kept is None else len(kept)
    columns = list(group_columns(groups, n_given).values())
    for column in columns:
        same_length("groups", column, n_given, "X")
    array = joined(columns)
    rows = array if kept is None else array[kept]
    # Joint names as plain texts, which are what a saved recalibrator holds.
    names = (str(name) if isinstance(name, GroupName) else name for name in rows.tolist())
    return [None if is_missing(name) else name for name in names]
