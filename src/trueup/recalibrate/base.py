"""The base of all recalibrators: a scikit-learn classifier of predictions."""

from __future__ import annotations

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
from trueup.calls.hints import hint_at_creation
from trueup.errors import Argument, InputError, must_be
from trueup.recalibrate.fit_input import check_options, read_fit, read_scores
from trueup.recalibrate.fit_record import (
    fingerprint,
    log_loss_before,
    log_loss_of,
    notes_of_data,
    rows_below,
)
from trueup.recalibrate.score_forms import LEAST, FitData, Scores

Kind = TypeVar("Kind")

COMMON = {"logits": "bool", "normalize": "bool", "classes": "Any"}


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def with_parameters(kind: type[Kind]) -> type[Kind]:
    """Write the ``__init__`` of a class: its own parameters, then the common ones if it has them.

    They are declared like fields of a dataclass; the class does not become one, because `fit` adds
    attributes.
    """
    if hasattr(kind, "logits"):
        kind.__annotations__.update(COMMON)
    dataclass(kw_only=True, eq=False, repr=False, match_args=False)(kind)
    delattr(kind, "__dataclass_fields__")
    hint_at_creation(kind)
    return kind


@with_parameters
class Recalibrator(ClassifierMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base class for recalibrators: scikit-learn classifiers of predictions.

    A subclass declares its parameters for `with_parameters`, or in an ``__init__`` that includes
    these. It checks them in `_check`, fits in `_fit` and predicts in `_probs_of`. All fitted values
    are attributes that end in ``_`` and hold plain values: numbers, strings, arrays, None, lists
    and dictionaries of these, other recalibrators. That is what `save` writes.

    Parameters
    ----------
    logits : bool
        Whether X holds logits.
    normalize : bool
        Whether to divide rows of probabilities by their sum; without it they must sum to 1.
    classes : sequence or None
        Names of the classes in the order of the columns; None for those of y, as described in
        `fit`.

    Attributes
    ----------
    classes_
        Names of the classes, in the order of the columns.
    n_features_in_
        Number of columns of X in `fit`.
    notes_
        Sentences about the fit that you should read; usually empty.
    fit_
        Number of rows and classes, fingerprint of the fit data, and their log loss before and
        after, clipped as in `log_loss`. ``clipped`` counts rows whose class had probability 0, if
        any.

    See Also
    --------
    CalibratedModel : A classifier with its recalibrator; use it in a `Pipeline`.
    AutoCalibration : Chooses a recalibrator.

    Examples
    --------
    >>> from trueup.recalibrate.scaling.temperature import TemperatureScaling
    >>> isinstance(TemperatureScaling(), Recalibrator)
    True
    """

    preserves_argmax: ClassVar[bool] = False
    """Whether the most probable class of a row stays the most probable."""

    monotone: ClassVar[bool] = False
    """Whether, for two classes and up to rounding, outputs do not decrease with the score."""

    use: ClassVar[str] = ""
    """What it is for, in a sentence for `trueup.explain`."""

    instead: ClassVar[str] = ""
    """What is better for other purposes, in a sentence for `trueup.explain`."""

    why_worse: ClassVar[str] = ""
    """Why log loss on the fit data can rise, for `notes_`; nothing where it cannot."""

    logits: bool = False
    normalize: bool = False
    classes: Any = None

    classes_: NDArray[Any] = field(init=False)
    notes_: list[str] = field(init=False)
    fit_: dict[str, Any] = field(init=False)

    def fit(self, X: object, y: object = None, sample_weight: object = None) -> Self:
        """Fit to held-out predictions and their labels.

        Parameters
        ----------
        X : array-like or Forecasts
            Probabilities, shape (n, K), or those of the positive class, shape (n,); logits with
            ``logits=True``. Lists and arrays of NumPy, pandas, polars and torch are accepted. A
            `Forecasts` brings its own labels and weights.
        y : array-like
            Classes: 0 to K − 1, or K names in sorted order, or names listed in ``classes``.
        sample_weight : array-like or None
            Weights of at least 0, or None.

        Returns
        -------
        Recalibrator
            The fitted recalibrator itself.

        Examples
        --------
        >>> from trueup.recalibrate.isotonic import IsotonicCalibration
        >>> IsotonicCalibration().fit([0.2, 0.4, 0.9], [0, 1, 1]).classes_
        array([0, 1])
        """
        data = self._read_fit(X, y, sample_weight)
        self.fit_ = self._record(data, self._fit(data), of_fit=True)
        return self

    def predict_proba(self, X: object) -> Floats:
        """Return recalibrated probabilities.

        Parameters
        ----------
        X : array-like or Forecasts
            Probabilities or logits, as in `fit`.

        Returns
        -------
        ndarray
            Probabilities, shape (n, K); rows sum to 1.

        Examples
        --------
        >>> from trueup.recalibrate.isotonic import IsotonicCalibration
        >>> IsotonicCalibration().fit([0.2, 0.4, 0.9], [0, 1, 1]).predict_proba([0.3])
        array([[0.5, 0.5]])
        """
        return self._probs_of(self._read_scores(X))

    def predict(self, X: object) -> NDArray[Any]:
        """Return the predicted class of each row.

        Parameters
        ----------
        X : array-like or Forecasts
            Probabilities or logits, as in `fit`.

        Returns
        -------
        ndarray
            Names of the predicted classes, shape (n,).

        Examples
        --------
        >>> from trueup.recalibrate.isotonic import IsotonicCalibration
        >>> IsotonicCalibration().fit([0.2, 0.4, 0.9], [0, 1, 1]).predict([0.1, 0.8])
        array([0, 1])
        """
        top = self._top_of(self._read_scores(X))
        return np.asarray(self.classes_[top])

    def transform(self, X: object) -> Floats:
        """Return `predict_proba`, for use in a pipeline; `set_output` turns it into frames.

        Parameters
        ----------
        X : array-like or Forecasts
            Probabilities or logits, as in `fit`.

        Returns
        -------
        ndarray or frame
            Probabilities, shape (n, K); rows sum to 1.

        Examples
        --------
        >>> from trueup.recalibrate.isotonic import IsotonicCalibration
        >>> IsotonicCalibration().fit([0.2, 0.4, 0.9], [0, 1, 1]).transform([0.3])
        array([[0.5, 0.5]])
        """
        return self.predict_proba(X)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:
        """Return the column names of `transform`: the classes.

        Parameters
        ----------
        input_features : object
            Not used; scikit-learn passes it.

        Returns
        -------
        ndarray
            Class names as strings.

        Examples
        --------
        >>> from trueup.recalibrate.isotonic import IsotonicCalibration
        >>> IsotonicCalibration().fit([0.2, 0.9], ["no", "yes"]).get_feature_names_out().tolist()
        ['no', 'yes']
        """
        check_is_fitted(self)
        return np.array([str(name) for name in self.classes_.tolist()], dtype=object)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fitted recalibrator to a file without pickles.

        Parameters
        ----------
        path : str or path-like
            File to write. It is written completely or not at all.

        See Also
        --------
        trueup.load_recalibrator : Read the file; predictions are bit-for-bit identical.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from trueup.recalibrate.files.save_and_load import load_recalibrator
        >>> from trueup.recalibrate.isotonic import IsotonicCalibration
        >>> with TemporaryDirectory() as folder:
        ...     IsotonicCalibration().fit([0.2, 0.4, 0.9], [0, 1, 1]).save(f"{folder}/c.json")
        ...     load_recalibrator(f"{folder}/c.json").predict_proba([0.3])
        array([[0.5, 0.5]])
        """
        from trueup.recalibrate.files.save_and_load import save

        save(self, path)

    def _read_fit(self, X: object, y: object, sample_weight: object) -> FitData:
        """Check parameters and the input of `fit`, and reset the notes."""
        check_options(self)
        self._check()
        data = read_fit(self, X, y, sample_weight)
        self.notes_ = []
        return data

    def _read_scores(self, X: object) -> Scores:
        """Check the input of a fitted recalibrator."""
        check_is_fitted(self)
        check_options(self)
        return read_scores(self, X, reset=False)

    def _check(self) -> None:
        """Raise InputError for invalid parameters."""

    def _fit(self, data: FitData) -> tuple[float, float] | None:
        """Fit to `data`, which is checked and not empty.

        Return the mean log losses before and after, if they are known.
        """
        raise NotImplementedError

    def _probs_of(self, scores: Scores) -> Floats:
        """Return (n, K) probabilities whose rows sum to 1."""
        raise NotImplementedError

    def _top_of(self, scores: Scores) -> Ints:
        """Return the index of the predicted class."""
        if self.preserves_argmax:  # rounding can make two answers equal whose scores are not
            return scores.top()
        return np.asarray(self._probs_of(scores).argmax(axis=1))

    def _check_inner(self, inner: object, name: str = "recalibrator") -> None:
        """Raise InputError unless this is a recalibrator with its owner's options for X."""
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
        """Fit a clone on data that are already read; ``classes`` are the names of the columns.

        The classes of an ``induced`` problem, such as one class against the others, are not the
        user's classes, so no note mentions them.
        """
        names = None if np.array_equal(classes, np.arange(data.n_classes)) else classes.tolist()
        copy: Recalibrator = clone(self).set_params(logits=data.scores.are_logits, classes=names)
        copy.fit(data.scores.values, classes[data.labels], data.weights)
        if induced:
            of_data = notes_of_data(data, copy.classes_)
            copy.notes_ = [note for note in copy.notes_ if note not in of_data]
        return copy

    def _fitted_part(self, data: FitData) -> Recalibrator:
        """Fit a clone on data that are already read, without checks or a record of the fit.

        Its classes are numbers. This is much faster than `_fitted_copy` for many small fits.
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
        """Add a note that the fit did not converge, and warn about it."""
        self.notes_.append(note)
        warn_caller(f"{type(self).__name__}: {note}", ConvergenceWarning)

    def _is_whole(self) -> bool:
        """Return whether fitted values from a file are consistent with each other."""
        return True

    def _record(
        self, data: FitData, losses: tuple[float, float] | None = None, *, of_fit: bool = False
    ) -> dict[str, Any]:
        """Return rows, classes, fingerprint and losses of the fit; add notes about them.

        ``of_fit`` means that the losses are those that the fit minimized.
        """
        clipped = rows_below(data, np.finfo(data.scores.values.dtype).tiny)
        # What a fit has at hand is of probabilities clipped at `LEAST`, not as `log_loss` does.
        if losses is None or (of_fit and rows_below(data, LEAST)):
            losses = log_loss_before(data), log_loss_of(self._probs_of(data.scores), data)
        before, after = losses
        if self.why_worse and after > before:
            rose = f"log loss on the fit data increased from {before:.4g} to {after:.4g}"
            self.notes_.append(f"{rose}: {self.why_worse}")
        of_data = notes_of_data(data, self.classes_)
        self.notes_ += [note for note in of_data if note not in self.notes_]  # parts note them too
        return {
            "n": data.n,
            "n_classes": data.n_classes,
            "fingerprint": fingerprint(data),
            "log_loss_before": before,
            "log_loss_after": after,
        } | ({"clipped": clipped} if clipped else {})


def warn_caller(message: str, kind: type[Warning]) -> None:
    """Warn on the line of the user's code that called trueup."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals["__name__"].partition(".")[0] == "trueup":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, kind, stacklevel=level)
