"""LoRe: the confidence of a row is the accuracy among rows with similar features and confidence."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from trueup._typing import Floats, Ints
from trueup.bins.scores import uniform_edges
from trueup.checks import check_choice, check_flag, check_whole
from trueup.errors import Argument, InputError, conflict, must_be, required
from trueup.forecasts import Forecasts
from trueup.forecasts.arrays import as_floats, as_numpy, describe
from trueup.local.bandwidth import KERNELS, check_bandwidth, default_bandwidth
from trueup.local.device import Device, device_of
from trueup.local.features import (
    FeatureMap,
    check_reduce,
    fit_map,
    is_named,
    name_and_dims,
    read_features,
    some_columns,
)
from trueup.local.neighborhood import Neighbourhood
from trueup.recalibrate.base import Recalibrator, with_parameters
from trueup.recalibrate.blas import one_blas_thread
from trueup.recalibrate.fit_input import check_options, read_fit
from trueup.recalibrate.fit_record import log_loss_of
from trueup.recalibrate.score_forms import FitData, Scores, sigmoid
from trueup.tables import ResultTable


@with_parameters
class LocalCalibration(Recalibrator):
    r"""Local recalibration (LoRe): kernel-weighted histogram binning.

    Let β(x) be the rows of the fit set in the confidence bin of x. The new confidence is

    .. math:: \hat p'(x) = \frac{\sum_{i\in\beta(x)} w_i k_\gamma(x, x_i)\,
              1[f(x_i) = y_i]}{\sum_{i\in\beta(x)} w_i k_\gamma(x, x_i)}

    As γ → ∞ this is histogram binning of the top label with equal-width bins. As γ → 0 it is 1 if
    the nearest row of the bin (by L1 distance for the Laplacian) was predicted correctly, and 0 if
    not; several rows at the same distance are averaged. A γ below 1e-4 may distinguish distances
    that differ only by rounding, such as those between points of a grid after standardization. The
    other classes share the rest in their original proportions. `predict` keeps the original class,
    even if another class now has a larger probability.

    Use it if errors differ between kinds of rows that features distinguish, such as unrecorded
    groups. It needs a few thousand rows or more and features with few dimensions; otherwise,
    `HistogramBinning` or a scaling method is safer. Outputs based on few rows are noisy and can be
    0 or 1, which increases log loss. On its own fit set it looks better than it is, because every
    row is its own neighbor. It stores all rows of the fit set. Cost: for n new rows, that of a
    `LocalError` of n rows, also on the device of ``features``.

    Parameters
    ----------
    bandwidth : float or None
        γ, ``math.inf`` for histogram binning, or None for the rule of thumb, 0.2 for up to 3
        dimensions and 0.4 from 50 on; see `trueup.local.bandwidth`.
    kernel : {"laplacian", "gaussian"}
        ``"laplacian"``: :math:`e^{-\|x - x'\|_1/(d\gamma)}`, or ``"gaussian"``:
        :math:`e^{-\|x - x'\|_2^2/(2\gamma^2)}`.
    n_bins : int
        Number of equal-width bins of the confidence.
    standardize : bool
        Whether to divide each coordinate by its standard deviation in the fit set, and drop
        constant ones.
    reduce : None, str, tuple or transformer
        None, ``"pca"`` (20 dimensions) or ``("pca", d)``, or a scikit-learn transformer. It must be
        able to map new rows, which t-SNE cannot. A recalibrator with a transformer cannot be saved;
        transform features beforehand instead.
    n_score_columns : int or None
        If given, X also contains the features: the first ``n_score_columns`` columns are the
        scores, all others the features. Use this in a pipeline or in cross-validation.
    logits, normalize, classes : bool, bool, sequence or None
        Whether X holds logits; whether to divide rows of probabilities by their sum; names of the
        classes in the order of the columns.

    Attributes
    ----------
    bandwidth_
        The γ that is used; None without features.
    feature_map_
        Center, scale and axes that map features to the space of the fit set; None without features.
    points_, bins_, weights_, right_
        For each row of the fit set: its point, its confidence bin, its weight, and its weight if
        the prediction was right, else 0.

    Notes
    -----
    Similarities are relative to that of the nearest row in the bin, so nothing underflows however
    distant a row is; `neighbours` returns which rows are far from all data. A row whose confidence
    bin is empty keeps its confidence.

    ``features`` is an argument of `fit`, `predict_proba`, `transform` and `predict_confidence`; a
    `Forecasts` made with ``features`` contains them. With metadata routing, request them with
    ``set_fit_request(features=True)`` and so on. Without features in `fit`, it is histogram
    binning, and ``notes_`` says so. ``n_features_in_`` counts columns of scores.

    References
    ----------
    Luo, Bhatnagar, Bai, Zhao, Wang, Xiong, Savarese, Ermon, Schmerling & Pavone 2022, "Local
    calibration: metrics and recalibration", eq. 6.

    Examples
    --------
    >>> probs, labels, where = [0.7] * 4, [1, 1, 0, 0], [0.0, 0.0, 9.0, 9.0]
    >>> lore = LocalCalibration().fit(probs, labels, features=where)
    >>> lore.predict_proba([0.7, 0.7], features=[1.0, 4.5])[:, 1].round(2)
    array([1. , 0.5])
    >>> lore.neighbours([0.7, 0.2], features=[1.0, 50.0])["far"]
    array([False,  True])
    """

    use: ClassVar[str] = (
        "A model that is calibrated overall and wrong for some kinds of rows; needs features."
    )
    instead: ClassVar[str] = "GroupwiseCalibration if the kinds are known groups."

    why_worse: ClassVar[str] = "local averaging loses more information than recalibration gains"

    bandwidth: float | None = None
    kernel: str = "laplacian"
    n_bins: int = 15
    standardize: bool = True
    reduce: Any = None
    n_score_columns: int | None = None

    def fit(
        self, X: object, y: object = None, sample_weight: object = None, features: object = None
    ) -> Self:
        """Store the rows, their features and whether their predictions were right.

        Parameters
        ----------
        X : array-like or Forecasts
            Probabilities, shape (n, K) or (n,); logits with ``logits=True``.
        y : array-like
            Class of each row.
        sample_weight : array-like or None
            Weights of at least 0, or None.
        features : array-like or None
            Numbers, shape (n, d), or None if X contains them.

        Returns
        -------
        LocalCalibration
            The fitted recalibrator itself.

        Examples
        --------
        >>> LocalCalibration().fit([0.7, 0.6], [1, 0], features=[0.0, 9.0]).bandwidth_
        0.2
        """
        check_options(self)
        self._check()
        scores, given = _split_columns(X, features, self.n_score_columns)
        data = read_fit(self, scores, y, sample_weight)
        self.notes_ = []
        self._learn(data, None if given is None else _features_of(given, data.n, data.kept))
        before = log_loss_of(data.scores.probs(), data)
        answers = self._answers(data.scores, self.points_, self._device(X, features))
        after = log_loss_of(answers, data)
        self.fit_ = self._record(data, (before, after))
        return self

    def predict_proba(self, X: object, features: object = None) -> Floats:
        """Return recalibrated probabilities.

        Parameters
        ----------
        X : array-like or Forecasts
            Probabilities or logits, as in `fit`.
        features : array-like or None
            Numbers, shape (n, d), or None if X contains them.

        Returns
        -------
        ndarray
            Probabilities, shape (n, K); rows sum to 1.

        Examples
        --------
        >>> probs, labels, where = [0.7] * 4, [1, 1, 0, 0], [0.0, 0.0, 9.0, 9.0]
        >>> lore = LocalCalibration().fit(probs, labels, features=where)
        >>> lore.predict_proba([0.7], features=[0.0]).round(3)
        array([[0., 1.]])
        """
        return self._answers(*self._read(X, features))

    def predict_confidence(self, X: object, features: object = None) -> Floats:
        """Return the probability of each row that `predict` is right.

        Parameters
        ----------
        X : array-like or Forecasts
            Probabilities or logits, as in `fit`.
        features : array-like or None
            Numbers, shape (n, d), or None if X contains them.

        Returns
        -------
        ndarray
            Probabilities, shape (n,).

        Examples
        --------
        >>> probs, labels, where = [0.7] * 4, [1, 1, 0, 0], [0.0, 0.0, 9.0, 9.0]
        >>> lore = LocalCalibration().fit(probs, labels, features=where)
        >>> lore.predict_confidence([0.7], features=[0.0]).round(3)
        array([1.])
        """
        return self._confidence_of(*self._read(X, features))[1]

    def predict(self, X: object, features: object = None) -> NDArray[Any]:
        """Return the class of the largest original score, which does not depend on features.

        Parameters
        ----------
        X : array-like or Forecasts
            Probabilities or logits, as in `fit`.
        features : array-like or None
            Numbers, shape (n, d), or None if X contains them.

        Returns
        -------
        ndarray
            Names of the predicted classes, shape (n,).

        Examples
        --------
        >>> probs, labels, where = [0.7] * 4, [1, 1, 0, 0], [0.0, 0.0, 9.0, 9.0]
        >>> lore = LocalCalibration().fit(probs, labels, features=where)
        >>> lore.predict([0.7], features=[9.0])
        array([1])
        """
        check_is_fitted(self)
        return super().predict(_split_columns(X, features, self.n_score_columns)[0])

    def transform(self, X: object, features: object = None) -> Floats:
        """Return `predict_proba`, for use in a pipeline; `set_output` turns it into frames.

        Parameters
        ----------
        X : array-like or Forecasts
            Probabilities or logits, as in `fit`.
        features : array-like or None
            Numbers, shape (n, d), or None if X contains them.

        Returns
        -------
        ndarray or frame
            Probabilities, shape (n, K); rows sum to 1.

        Examples
        --------
        >>> probs, labels, where = [0.7] * 4, [1, 1, 0, 0], [0.0, 0.0, 9.0, 9.0]
        >>> lore = LocalCalibration().fit(probs, labels, features=where)
        >>> lore.transform([0.7], features=[0.0]).round(3)
        array([[0., 1.]])
        """
        return self.predict_proba(X, features)

    def fit_transform(
        self, X: object, y: object = None, sample_weight: object = None, features: object = None
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
        features : array-like or None
            Numbers, shape (n, d), or None if X contains them.

        Returns
        -------
        ndarray
            Probabilities, shape (n, K); rows sum to 1.

        Examples
        --------
        >>> LocalCalibration().fit_transform([0.7, 0.7], [1, 0], features=[0.0, 9.0]).shape
        (2, 2)
        """
        return self.fit(X, y, sample_weight, features).predict_proba(X, features)

    def neighbours(self, X: object, features: object = None) -> ResultTable:
        """Return the evidence behind each probability.

        Each row of X has its ``bin``, the ``weight`` of the fit set in that bin, the distance of
        the ``nearest`` row in it (infinite in an empty bin) and the ``similarity`` to that row. It
        is ``far`` if this similarity is below 0.01. Its output is then that of the nearest rows,
        even though they are not similar. ``far.sum()`` is the number of rows far from all data.

        Parameters
        ----------
        X : array-like or Forecasts
            Probabilities or logits, as in `fit`.
        features : array-like or None
            Numbers, shape (n, d), or None if X contains them.

        Returns
        -------
        ResultTable
            Columns ``bin``, ``weight``, ``nearest``, ``similarity`` and ``far``.

        Examples
        --------
        >>> lore = LocalCalibration().fit([0.7] * 4, [1, 1, 0, 0], features=[0.0, 0.0, 9.0, 9.0])
        >>> lore.neighbours([0.7], features=[1.0])["weight"]
        array([4.])
        """
        scores, points, device = self._read(X, features)
        bins = self._bins_of(scores.top_label()[1], scores.are_logits)
        return self._neighbourhood().nearest(points, bins, device)

    def _check(self) -> None:
        check_bandwidth(self.bandwidth)
        check_choice("kernel", self.kernel, *KERNELS)
        check_whole("n_bins", self.n_bins, 1)
        check_flag("standardize", self.standardize)
        check_reduce(self.reduce)
        if is_named(self.reduce) and name_and_dims(self.reduce)[0] == "tsne":
            hint = "t-SNE has none: use PCA, or run t-SNE on all rows beforehand"
            raise must_be("reduce", "have a map for new rows", self.reduce, hint=hint)
        if self.n_score_columns is not None:
            check_whole("n_score_columns", self.n_score_columns, 1)

    def _learn(self, data: FitData, features: Floats | None) -> None:
        """Store rows by bin, with their points if there are features."""
        top_class, top = data.scores.top_label()
        self.bins_ = self._bins_of(top, data.scores.are_logits)
        self.weights_ = data.weight()
        self.right_ = np.where(top_class == data.labels, self.weights_, 0.0)
        self._transformer, self.bandwidth_, self.feature_map_ = None, None, None
        self.points_ = np.zeros((data.n, 1))
        if features is None:
            self.notes_.append("no features were given, so this is top-label histogram binning")
            return
        with self._products():
            found, self.points_ = fit_map(
                features, data.weights, standardize=self.standardize, reduce=self.reduce
            )
        assert found is not None
        self._transformer, self.feature_map_ = found.transformer, found.to_dict()
        rule_of_thumb = default_bandwidth(self.points_.shape[1], self.kernel)
        self.bandwidth_ = rule_of_thumb if self.bandwidth is None else float(self.bandwidth)

    def _read(self, X: object, features: object) -> tuple[Scores, Floats | None, Device | None]:
        """Return scores, their points if there are features, and the device of the features."""
        check_is_fitted(self)
        part, given = _split_columns(X, features, self.n_score_columns)
        scores = self._read_scores(part)
        if self.feature_map_ is None:
            return scores, None, None
        if given is None:
            raise required("features", "the recalibrator was fitted with features")
        rows = _features_of(given, scores.n)
        found = FeatureMap.of(self.feature_map_, getattr(self, "_transformer", None))
        if rows.shape[1] != found.n_columns:
            rule = f"have {found.n_columns} columns, as in `fit`"
            raise must_be("features", rule, rows.shape[1])
        with self._products():
            return scores, found(rows), self._device(X, features)

    def _device(self, X: object, features: object) -> Device | None:
        return device_of(features if self.n_score_columns is None else X)

    def _products(self) -> AbstractContextManager[None]:
        """Return the context of matrix products: one BLAS thread for principal components."""
        return nullcontext() if self.reduce is None else one_blas_thread()

    def _bins_of(self, top: Floats, are_logits: bool) -> Ints:
        confidence = sigmoid(top) if are_logits else top
        return np.searchsorted(uniform_edges(self.n_bins), confidence)

    def _neighbourhood(self) -> Neighbourhood:
        kept = (self.points_, self.bins_, self.weights_, self.right_)
        return Neighbourhood(*kept, self.kernel, self.bandwidth_)

    def _confidence_of(
        self, scores: Scores, points: Floats | None, device: Device | None
    ) -> tuple[Ints, Floats]:
        top_class, top = scores.top_label()
        old = sigmoid(top) if scores.are_logits else top
        bins = self._bins_of(top, scores.are_logits)
        found = self._neighbourhood().around(points, bins, device)
        some = found.weight > 0
        new = np.divide(found.total, found.weight, out=old.astype(np.float64), where=some)
        return top_class, np.clip(new, 0, 1)

    def _answers(
        self, scores: Scores, points: Floats | None, device: Device | None = None
    ) -> Floats:
        return scores.rescaled(*self._confidence_of(scores, points, device))

    def _probs_of(self, scores: Scores) -> Floats:
        """Return outputs for rows without features: those of histogram binning."""
        return self._answers(scores, None)

    def _top_of(self, scores: Scores) -> Ints:
        return scores.top_label()[0]

    def _is_whole(self) -> bool:
        good = self._neighbourhood().is_whole()
        if self.feature_map_ is None or self.bandwidth_ is None:
            return good and self.feature_map_ is None and self.bandwidth_ is None
        check_bandwidth(self.bandwidth_)
        found = FeatureMap.of(self.feature_map_)
        k = len(self.classes_)
        middle = found(np.zeros((1, found.n_columns)))
        answer = self._answers(Scores(np.full((1, k), 1 / k), False), middle)
        return good and bool(((answer >= 0) & (answer <= 1)).all())


def _split_columns(X: object, features: object, n_score_columns: int | None) -> tuple[Any, Any]:
    """Return scores and features: both as passed, or the first and the other columns of X."""
    if isinstance(X, Forecasts):
        if features is not None:
            raise InputError("features", ("cannot be used if ", Argument("X"), " is a Forecasts"))
        return X, X.features
    if n_score_columns is None:
        return X, features
    if features is not None:
        hint = ("X contains the features if ", Argument("n_score_columns"), " is set")
        raise conflict("features", "n_score_columns", hint=hint)
    array = as_numpy("X", X)
    if array.ndim != 2 or array.shape[1] <= n_score_columns:
        rule = f"a matrix with features in the columns after the first {n_score_columns}"
        raise must_be("X", rule, describe(array))
    array = as_floats("X", array)
    return array[:, :n_score_columns], array[:, n_score_columns:]


def _features_of(given: object, n: int, kept: NDArray[np.bool_] | None = None) -> Floats:
    """Check features of the n rows that were read, or of more rows, of which n are ``kept``."""
    if kept is None:
        return read_features(given, n, "X")
    return some_columns(read_features(given, len(kept), "X")[kept])
