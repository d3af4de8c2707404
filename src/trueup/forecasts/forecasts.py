"""Checked predictions and labels, the form of data that all internal code uses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.checks import check_flag
from trueup.engines.blocks import row_blocks
from trueup.errors import Argument, InputError, required
from trueup.forecasts import probs as predictions
from trueup.forecasts.arrays import as_floats, as_numpy
from trueup.forecasts.group_names import group_columns, joined
from trueup.forecasts.labels import class_numbers, soft_labels_of
from trueup.forecasts.row_order import refuse_other_order
from trueup.forecasts.sample_data import (
    beside,
    features_of,
    names_of,
    rows_to_keep,
    same_length,
    weights_of,
)

COLUMNS_AT_ONCE = 8


@dataclass(frozen=True, eq=False, repr=False)
class Forecasts:
    """Validated predicted probabilities with their labels.

    Make one with `Forecasts.from_arrays`, which checks everything. Every function that takes
    ``(probs, labels)`` also takes a `Forecasts`, so that data are validated only once.

    Parameters
    ----------
    labels : ndarray
        Class numbers (n,), or soft labels, (n,) or (n, K), of float64.
    weights : ndarray or None
        Importance weights (n,), all positive.
    groups : ndarray or None
        Group of each row.
    features : ndarray or None
        Features of each row.
    clusters : ndarray or None
        Cluster of each row.
    classes : tuple or None
        Names of the classes.
    n : int
        Number of rows, after rows with ignored labels or zero weight were dropped.
    n_classes : int
        Number of classes.
    group_columns : tuple of str
        Names of the columns that ``groups`` came from; empty without groups.
    remarks : tuple of str
        Changes made to the input and assumptions about it, one clause each.
    _probs : Vector or Matrix
        Validated predictions, read through the methods.

    Examples
    --------
    >>> forecasts = Forecasts.from_arrays([[0.7, 0.3], [0.2, 0.8]], [0, 1])
    >>> forecasts.n, forecasts.n_classes
    (2, 2)
    """

    labels: NDArray[Any]
    weights: Floats | None
    groups: NDArray[Any] | None
    features: NDArray[Any] | None
    clusters: NDArray[Any] | None
    classes: tuple[Any, ...] | None
    n: int
    n_classes: int
    _probs: predictions.Vector | predictions.Matrix
    group_columns: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @classmethod
    def from_arrays(
        cls,
        probs: object = None,
        labels: object = None,
        *,
        logits: bool = False,
        normalize: bool = False,
        weights: object = None,
        groups: object = None,
        features: object = None,
        clusters: object = None,
        classes: Sequence[Any] | None = None,
        soft_labels: bool = False,
        ignore_label: object = None,
    ) -> Forecasts:
        """Validate predictions and labels, and keep them without copying a matrix.

        Parameters
        ----------
        probs : array_like
            Probabilities of the positive class, shape (n,), or of all classes, shape (n, K). NumPy
            arrays, lists, pandas, polars, Arrow, torch, JAX and CuPy are accepted. They are never
            interpreted as logits unless ``logits=True``.
        labels : array_like
            Class numbers 0 … K−1, booleans (binary), or names listed in ``classes``.
        logits : bool, default False
            Whether ``probs`` holds raw scores: for the softmax, or for the logistic function if
            1-D.
        normalize : bool, default False
            Whether to divide rows by their sum, whatever it is. Use it for half precision, and for
            tables rounded to a few decimals.
        weights : array_like, optional
            Importance weights ≥ 0; rows of weight 0 are dropped.
        groups : array_like, optional
            Group of each row, for group-wise methods. Several columns, in a mapping, a frame or a
            list, define joint groups: rows that agree in all columns, named such as
            ``"gpt-4o / boolq"``.
        features : array_like, optional
            Features of each row, for local methods.
        clusters : array_like, optional
            Cluster of each row, such as a patient; rows in a cluster may be dependent.
        classes : sequence, optional
            Names of the classes in the order of the columns.
        soft_labels : bool, default False
            Whether labels are probabilities: (n, K) rows (one-hot included), or (n,) for binary.
        ignore_label : object, optional
            Rows with this label are dropped; ``float("nan")`` drops rows without a label.

        Returns
        -------
        Forecasts
            The validated data.

        Raises
        ------
        InputError
            If data are invalid. It names the argument, the rule, the first offending row and value,
            and gives a hint.

        Examples
        --------
        >>> probs = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]]
        >>> f = Forecasts.from_arrays(probs, ["a", "c"], classes=["a", "b", "c"])
        >>> f.n, f.n_classes, f.labels.tolist()
        (2, 3, [0, 2])
        """
        check_flag("normalize", normalize)
        check_flag("soft_labels", soft_labels)
        if isinstance(probs, Forecasts):
            check_flag("logits", logits)
            data = (labels, weights, groups, features, clusters, classes, ignore_label)
            if logits or normalize or soft_labels or any(each is not None for each in data):
                rule = ("If ", Argument("probs"), " is a Forecasts, pass no other data")
                hint = "pass labels and weights to Forecasts.from_arrays"
                raise InputError("probs", rule, hint=hint)
            return probs
        given = predictions.values_of(probs, logits)
        if labels is None:
            raise required("labels", "call f(probs, labels)")
        raw_labels = as_numpy("labels", labels)
        if soft_labels:
            raw_labels = as_floats("labels", raw_labels)
        predictions.refuse_swapped(given, raw_labels, soft_labels)
        n, name = len(given.values), "probs"
        turned = given.values.shape[1:] == raw_labels.shape[:1]
        hint = f"pass {name}.T if classes are in the rows" if turned else ""
        same_length("labels", raw_labels, n, name, hint)
        refuse_other_order(probs, {"labels": labels, "weights": weights, "groups": groups})
        given_weights = weights_of(weights, n)
        by = {} if groups is None else group_columns(groups, n)
        for column in by.values():
            same_length("groups", column, n, name)
        others = {
            "groups": joined(list(by.values())) if by else None,
            "features": beside("features", features, n, name),
            "clusters": beside("clusters", clusters, n, name),
        }
        one_dimensional = given.values.ndim == 1
        n_classes = 2 if one_dimensional else given.values.shape[1]
        names = names_of(classes, n_classes)
        rows = rows_to_keep(raw_labels, given_weights, ignore_label)
        if rows is not None:
            raw_labels = raw_labels[rows]
            given_weights = None if given_weights is None else given_weights[rows]
            others = {key: None if x is None else x[rows] for key, x in others.items()}
        numbers: NDArray[Any] = raw_labels
        checked: predictions.Vector | predictions.Matrix | None = None
        if one_dimensional and rows is None and names is None and not soft_labels:
            checked = predictions.check_pairs(given, raw_labels)
        if checked is None:
            if soft_labels:
                numbers = soft_labels_of(raw_labels, n_classes, one_dimensional, rows)
            else:
                try:
                    numbers = class_numbers(raw_labels, n_classes, names, rows)
                except InputError:
                    predictions.refuse_classes_as_scores(given, raw_labels)
                    raise
            if one_dimensional:
                checked = predictions.check_scores(given, rows)
            else:
                checked = predictions.check_matrix(given, rows, normalize)
        return cls(
            numbers,
            given_weights,
            others["groups"],
            features_of(others["features"], rows),
            others["clusters"],
            names,
            len(numbers),
            n_classes,
            checked,
            tuple(by),
            given.remarks,
        )

    @classmethod
    def from_pairs(
        cls, p: NDArray[Any], y: NDArray[Any], w: Floats | None, tiny: float
    ) -> Forecasts:
        """Make a binary problem from scores and labels that were validated before.

        Parameters
        ----------
        p : ndarray
            Scores.
        y : ndarray
            Labels.
        w : ndarray or None
            Weights.
        tiny : float
            Smallest normal number of the type of the original predictions.

        Returns
        -------
        Forecasts
            Binary forecasts.
        """
        return cls(y, w, None, None, None, None, len(y), 2, predictions.Vector(p, None, tiny))

    def with_labels(self, labels: NDArray[Any]) -> Forecasts:
        """Return the same predictions with other labels, which are not validated.

        Parameters
        ----------
        labels : ndarray
            Labels, such as drawn ones.

        Returns
        -------
        Forecasts
            New forecasts.
        """
        return replace(self, labels=labels)

    def with_probs(self, probs: Floats) -> Forecasts:
        """Return the same labels with other probabilities, which are not validated.

        Parameters
        ----------
        probs : ndarray
            Probabilities of the same shape.

        Returns
        -------
        Forecasts
            New forecasts.
        """
        if self.is_matrix:
            other = Forecasts.from_arrays(probs, self.labels)
        else:
            other = Forecasts.from_pairs(probs, self.labels, None, self.tiny)
        return replace(self, _probs=other._probs)

    def take(self, rows: Ints) -> Forecasts:
        """Return a selection of rows, possibly repeated; a matrix is not copied.

        Parameters
        ----------
        rows : ndarray
            Row numbers.

        Returns
        -------
        Forecasts
            New forecasts.
        """

        def of(beside: NDArray[Any] | None) -> NDArray[Any] | None:
            return None if beside is None else beside[rows]

        return replace(
            self,
            labels=self.labels[rows],
            weights=of(self.weights),
            groups=of(self.groups),
            features=of(self.features),
            clusters=of(self.clusters),
            n=len(rows),
            _probs=self._probs.take(rows),
        )

    @property
    def is_matrix(self) -> bool:
        """Whether predictions are (n, K) rows, not (n,) probabilities of the positive class."""
        return isinstance(self._probs, predictions.Matrix)

    @property
    def soft(self) -> bool:
        """Whether labels are probabilities rather than classes."""
        return self.labels.dtype.kind == "f"

    @property
    def scores(self) -> NDArray[Any]:
        """The (n,) probabilities of the positive class, float32 or float64; 1-D data only."""
        assert isinstance(self._probs, predictions.Vector)
        return self._probs.values

    @property
    def top(self) -> tuple[Floats, NDArray[np.int32]]:
        """Return the largest probability of each row and its class; the lowest class wins a tie."""
        assert isinstance(self._probs, predictions.Matrix)
        return self._probs.top, self._probs.top_class

    @property
    def factor(self) -> Floats | None:
        """Factor for each row of `read` that makes it sum to 1; None if all rows already do."""
        assert isinstance(self._probs, predictions.Matrix)
        return self._probs.factor

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return rows start … stop of a matrix before multiplication by `factor`.

        Parameters
        ----------
        start : int
            First row.
        stop : int
            One past the last row.

        Returns
        -------
        ndarray
            The rows, float32 or float64.
        """
        assert isinstance(self._probs, predictions.Matrix)
        return self._probs.read(start, stop)

    def rows(self, which: slice | Ints) -> Floats:
        """Return some rows of the matrix of probabilities, in float64, each summing to 1.

        Parameters
        ----------
        which : slice or ndarray
            The rows.

        Returns
        -------
        ndarray
            Probabilities, shape (m, K).
        """
        if not isinstance(self._probs, predictions.Matrix):
            positive = self._probs.values[which].astype(np.float64)
            return np.column_stack([1 - positive, positive])
        return self._probs.rows(which)

    def blocks(self) -> Iterator[slice]:
        """Return slices of rows to read in order, so that a matrix is never copied whole.

        Returns
        -------
        iterator of slice
            The rows.
        """
        return row_blocks(self.n, self.n_classes)

    def columns(self, first: int, last: int) -> Floats:
        """Return the probabilities of the classes first … last−1, one contiguous row per class.

        Parameters
        ----------
        first : int
            First class.
        last : int
            One past the last class.

        Returns
        -------
        ndarray
            Probabilities, shape (last − first, n).
        """
        assert isinstance(self._probs, predictions.Matrix)
        return self._probs.columns(first, last)

    def outcomes(self, number: int) -> NDArray[Any]:
        """Return whether each label is a class (its probability, for soft labels).

        Parameters
        ----------
        number : int
            Number of the class.

        Returns
        -------
        ndarray
            One outcome per row.
        """
        if self.labels.ndim == 2:
            return np.ascontiguousarray(self.labels[:, number])
        if self.soft:
            return self.labels if number == 1 else 1 - self.labels
        return np.asarray(self.labels == number)

    def one_hot(self, which: slice | Ints) -> Floats:
        """Return the labels of some rows as float64 rows: one-hot, or soft labels unchanged.

        Parameters
        ----------
        which : slice or ndarray
            The rows.

        Returns
        -------
        ndarray
            Labels, shape (m, K).
        """
        labels = self.labels[which]
        if labels.ndim == 2:
            return np.asarray(labels)
        if self.soft:
            return np.column_stack([1 - labels, labels])
        hot = np.zeros((len(labels), self.n_classes))
        hot[np.arange(len(labels)), labels.astype(np.int64)] = 1
        return hot

    def class_name(self, number: int) -> Any:
        """Return the name of a class, or its number if there are no names.

        Parameters
        ----------
        number : int
            Number of the class.

        Returns
        -------
        object
            The name.
        """
        return number if self.classes is None else self.classes[number]

    @property
    def log_probs_exact(self) -> bool:
        """Whether predictions came as logits, so that log-probabilities never underflow."""
        return self._probs.are_logits

    def log_probs(self, where: slice) -> Floats:
        """Return the log-probabilities of a block of rows, if `log_probs_exact`.

        Parameters
        ----------
        where : slice
            Rows to use.

        Returns
        -------
        ndarray
            Log-probabilities, computed from logits.
        """
        return self._probs.log_probs(where)

    @property
    def tiny(self) -> float:
        """The smallest normal number of the type of the original predictions."""
        return self._probs.tiny

    def __len__(self) -> int:
        """Return the number of samples."""
        return self.n

    def __repr__(self) -> str:
        """Describe the contents without printing the numbers."""
        kind = f"{self.n_classes} classes" if self.is_matrix else "binary"
        extras = [
            name
            for name in ("weights", "groups", "features", "clusters")
            if getattr(self, name) is not None
        ]
        tail = f", with {', '.join(extras)}" if extras else ""
        return f"Forecasts({self.n} samples, {kind}{tail})"
