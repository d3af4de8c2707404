"""The base of all recalibrators: a scikit-learn classifier of predictions."""

from __future__ import annotations

import hashlib
import os
import sys
import warnings
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from trueup._typing import Floats, Ints
from trueup.engines.blocks import row_blocks
from trueup.engines.select import engine
from trueup.errors import Argument, InputError, must_be
from trueup.recalibrate.fit_input import check_options, read_fit, read_scores
from trueup.recalibrate.score_forms import LEAST, FitData, Scores

Kind = TypeVar("Kind")

LISTED = 3  # classes in a note; of more it says how many
HASHED_ENTRIES = 1 << 21  # of a larger matrix evenly spaced rows are hashed
COMMON = {"logits": "bool", "normalize": "bool", "classes": "Any"}


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def with_parameters(kind: type[Kind]) -> type[Kind]:
    """Write the ``__init__`` of a class: its own parameters, then the common ones if it has them.

    They are declared as fields of a dataclass; the class does not become one, as it learns more.
    """
    if hasattr(kind, "logits"):
        kind.__annotations__.update(COMMON)
    dataclass(kw_only=True, eq=False, repr=False, match_args=False)(kind)
    delattr(kind, "__dataclass_fields__")
    return kind


@with_parameters
class Recalibrator(ClassifierMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What every recalibrator does: read and check, fit, give rows that sum to 1.

    A subclass lists its parameters for `with_parameters`, or in an ``__init__`` with these among
    them, checks them in `_check`, learns in `_fit` and answers in `_probs_of`. Everything it
    learns is kept in attributes that end in ``_`` and hold plain values: numbers, strings, arrays,
    None, lists and dictionaries of these, other recalibrators. That is what `save` writes.

    Parameters
    ----------
    logits
        Whether X holds logits.
    normalize
        Whether to divide rows of probabilities by their sum; without it they must sum to 1.
    classes
        Names of the classes in the order of the columns; None for those of y, as `fit` says.

    Attributes
    ----------
    classes_
        Names of the classes, in the order of the columns.
    n_features_in_
        Columns of what it was fitted on.
    notes_
        Sentences about the fit that a user should read; mostly none.
    fit_
        Rows, classes, fingerprint of the fit data, and log loss on them before and after, clipped
        as `log_loss` does; ``clipped`` counts rows whose class had probability 0, if any.
    """

    preserves_argmax: ClassVar[bool] = False
    """Whether the most probable class of a row stays the most probable."""

    monotone: ClassVar[bool] = False
    """Whether, for two classes and up to rounding, outputs do not decrease with the score."""

    why_worse: ClassVar[str] = ""
    """Why log loss on the fit data can rise, for `notes_`; nothing where it cannot."""

    logits: bool = False
    normalize: bool = False
    classes: Any = None

    classes_: NDArray[Any] = field(init=False)
    notes_: list[str] = field(init=False)
    fit_: dict[str, Any] = field(init=False)

    def fit(self, X: object, y: object = None, sample_weight: object = None) -> Self:
        """Fit to predictions and observed classes.

        Parameters
        ----------
        X
            (n, K) rows of probabilities (or logits, with ``logits=True``), or (n,) of the
            positive class: NumPy, lists, pandas, polars, torch; or one `Forecasts` alone.
        y
            Classes: 0 … K−1, or K names in sorted order, or names listed in ``classes``.
        sample_weight
            Weights ≥ 0, or None.
        """
        data = self._read_fit(X, y, sample_weight)
        self.fit_ = self._record(data, self._fit(data), of_fit=True)
        return self

    def predict_proba(self, X: object) -> Floats:
        """Return (n, K) recalibrated probabilities; rows sum to 1."""
        return self._probs_of(self._read_scores(X))

    def predict(self, X: object) -> NDArray[Any]:
        """Return the most probable class of each row."""
        top = self._top_of(self._read_scores(X))
        return np.asarray(self.classes_[top])

    def transform(self, X: object) -> Floats:
        """Return `predict_proba`, for use inside a pipeline; `set_output` makes frames of it."""
        return self.predict_proba(X)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:
        """Return the names of the columns of `transform`: the classes."""
        check_is_fitted(self)
        return np.array([str(name) for name in self.classes_.tolist()], dtype=object)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file that `trueup.load_recalibrator` reads."""
        from trueup.recalibrate.files.save_and_load import save

        save(self, path)

    def _read_fit(self, X: object, y: object, sample_weight: object) -> FitData:
        """Check parameters and what `fit` is given; begin with no notes."""
        check_options(self)
        self._check()
        data = read_fit(self, X, y, sample_weight)
        self.notes_ = []
        return data

    def _read_scores(self, X: object) -> Scores:
        """Check what is to be recalibrated, once fitted."""
        check_is_fitted(self)
        check_options(self)
        return read_scores(self, X, reset=False)

    def _check(self) -> None:
        """Raise InputError for invalid parameters."""

    def _fit(self, data: FitData) -> tuple[float, float] | None:
        """Learn; `data` is checked and not empty.

        Where they are at hand, return the mean log losses before and after.
        """
        raise NotImplementedError

    def _probs_of(self, scores: Scores) -> Floats:
        """Return (n, K) probabilities whose rows sum to 1."""
        raise NotImplementedError

    def _top_of(self, scores: Scores) -> Ints:
        """Return the number of the class that is predicted."""
        if self.preserves_argmax:  # rounding can make two answers equal whose scores are not
            return scores.top()
        return np.asarray(self._probs_of(scores).argmax(axis=1))

    def _check_inner(self, inner: object, name: str = "recalibrator") -> None:
        """Raise InputError unless this is a recalibrator that says the same of X as its owner."""
        if not isinstance(inner, Recalibrator):
            raise must_be(name, "a recalibrator, such as TemperatureScaling()", inner)
        for option in COMMON:
            if getattr(inner, option) not in (False, None, getattr(self, option)):
                outer = type(self).__name__
                rule = ("Set ", Argument(option), f" on {outer}, not on the inner recalibrator")
                raise InputError(option, rule)
        inner._check()

    def _fitted_copy(
        self, data: FitData, classes: NDArray[Any], *, induced: bool = False
    ) -> Recalibrator:
        """Fit a clone on data that were read before; ``classes`` are the names of its columns.

        The classes of an ``induced`` problem, such as one class against the others, are no classes
        of the user's: no note mentions them.
        """
        names = None if np.array_equal(classes, np.arange(data.n_classes)) else classes.tolist()
        copy: Recalibrator = clone(self).set_params(logits=data.scores.are_logits, classes=names)
        copy.fit(data.scores.values, classes[data.labels], data.weights)
        if induced:
            missing = note_of_missing_classes(data, copy.classes_)
            copy.notes_ = [note for note in copy.notes_ if note != missing]
        return copy

    def _fitted_part(self, data: FitData) -> Recalibrator:
        """Fit a clone on data that were read before, without checks and without a record of it.

        Its classes are numbers. Much cheaper than `_fitted_copy` where fits are small and many.
        """
        if type(self).fit is not Recalibrator.fit:
            return self._fitted_copy(data, np.arange(data.n_classes))
        part: Recalibrator = clone(self).set_params(logits=data.scores.are_logits)
        part.classes_ = np.arange(data.n_classes)
        part.n_features_in_ = data.scores.values.size // data.n
        part.notes_, part.fit_ = [], {}
        part._fit(data)
        return part

    def _stopped_early(self, note: str) -> None:
        """Keep a note that the fit did not converge, and warn on the line that called trueup."""
        self.notes_.append(note)
        level, frame = 1, sys._getframe()
        while frame.f_back and frame.f_globals["__name__"].partition(".")[0] == "trueup":
            level, frame = level + 1, frame.f_back
        warnings.warn(f"{type(self).__name__}: {note}", ConvergenceWarning, stacklevel=level)

    def _is_whole(self) -> bool:
        """Return whether fitted values in a file are consistent, beyond giving probabilities."""
        return True

    def _record(
        self, data: FitData, losses: tuple[float, float] | None = None, *, of_fit: bool = False
    ) -> dict[str, Any]:
        """Rows, classes, fingerprint and losses of the fit; notes on log loss and classes.

        ``of_fit`` says that the losses are those that the fit itself worked with.
        """
        clipped = rows_below(data, np.finfo(data.scores.values.dtype).tiny)
        # What a fit has at hand is of probabilities clipped at `LEAST`, not as `log_loss` does.
        if losses is None or (of_fit and rows_below(data, LEAST)):
            losses = log_loss_before(data), log_loss_of(self._probs_of(data.scores), data)
        before, after = losses
        if self.why_worse and after > before:
            rose = f"log loss on the fit data rose from {before:.4g} to {after:.4g}"
            self.notes_.append(f"{rose}: {self.why_worse}")
        missing = note_of_missing_classes(data, self.classes_)
        if missing and missing not in self.notes_:  # a part may have noted it
            self.notes_.append(missing)
        return {
            "n": data.n,
            "n_classes": data.n_classes,
            "fingerprint": fingerprint(data),
            "log_loss_before": before,
            "log_loss_after": after,
        } | ({"clipped": clipped} if clipped else {})


def note_of_missing_classes(data: FitData, classes: NDArray[Any]) -> str:
    """Return a note that names the classes that never occur, or the only one; else nothing."""
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
    """Return the names of some classes, of many the first few and how many more there are."""
    if len(names) == 1:
        return f"class {names[0]}"
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"classes {', '.join(names[:LISTED])}{more}"


def log_loss_before(data: FitData) -> float:
    """Mean log loss of the scores as they are, clipped as `log_loss` does."""
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
    """Return how many rows give their class a probability below ``least``; of logits none do."""
    if data.scores.are_logits:
        return 0
    values = data.scores.values
    if values.ndim == 2:
        chosen = values[np.arange(data.n), data.labels]
    else:
        chosen = np.where(data.labels == 1, values, 1 - values)
    return int(np.count_nonzero(chosen < least))


def fingerprint(data: FitData) -> str:
    """SHA-256 of scores, labels and weights: the same data give the same 64 digits.

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
    """Mean −log of the probability of the label, clipped as `log_loss` does."""
    least = np.finfo(data.scores.values.dtype).tiny
    chosen = np.maximum(probs[np.arange(data.n), data.labels], least)
    return float(np.average(-np.log(chosen), weights=data.weights))
