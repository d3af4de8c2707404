"""A classifier with its recalibrator, as one classifier."""

from __future__ import annotations

import os
from dataclasses import field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from trueup._typing import Floats
from trueup.checks import check_flag
from trueup.errors import Verbatim, must_be, required
from trueup.forecasts.arrays import as_numpy
from trueup.recalibrate.auto.auto_calibration import AutoCalibration
from trueup.recalibrate.base import Recalibrator, with_parameters
from trueup.recalibrate.fit_input import check_options
from trueup.recalibrate.model.parts import Metadata, at, cross_fitted, scores_of, takes_logits
from trueup.recalibrate.model.stored import (
    copy_features,
    save_recalibrator_of,
    stored_recalibrator,
)

FROZEN = ("frozen", "prefit")


@with_parameters
class CalibratedModel(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier with a recalibrator fitted on its held-out predictions.

    Use it as the last step of a `Pipeline`, where a recalibrator alone cannot follow a classifier.
    A classifier is overconfident on the rows it was trained on, and a recalibrator fitted to those
    predictions would be wrong. `fit` therefore splits the rows into folds. A copy of the classifier
    trained on the other folds predicts each fold, the recalibrator is fitted to these out-of-fold
    predictions, and the classifier is then fitted to all rows.

    Parameters
    ----------
    classifier : classifier or None
        Any scikit-learn classifier with `predict_proba` or `decision_function`. None: X holds
        stored predictions, and only the recalibrator is fitted.
    recalibrator : Recalibrator or None
        The recalibrator (default None: `AutoCalibration`, which chooses one by cross-validation).
        Its input is `predict_proba`. With ``logits=True``, or if there is no `predict_proba`, it is
        `decision_function`.
    cv : int, splitter, iterable of splits, "frozen" or "prefit"
        Number of stratified folds, or the splits, for cross-fitting (default 5). ``"frozen"`` or
        ``"prefit"``: the classifier is already fitted, and X and y are rows that it has *not*
        seen. A `FrozenEstimator` is always treated this way. Unlike a bare classifier, it keeps
        its fit when scikit-learn copies the model.
    ensemble : bool
        False: one classifier, fitted on all rows (the default). True: the mean of the classifiers
        of all folds, each with a recalibrator fitted on its own fold. This is more stable for
        classifiers with a high variance, costs K times as much per prediction, and leaves fewer
        rows for each recalibrator.
    n_jobs : int or None
        Number of folds fitted in parallel, as in scikit-learn.

    Attributes
    ----------
    classes_ : ndarray
        Names of the classes.
    classifiers_ : list
        Fitted classifiers: one, or one for each fold.
    recalibrators_ : list
        Their fitted recalibrators, in the same order.
    notes_ : list of str
        Sentences about the fit that you should read; usually none.

    See Also
    --------
    AutoCalibration : The default recalibrator.
    trueup.load_recalibrator : Reads a file that `save` wrote.

    Notes
    -----
    A test fold of one row contains only one class, so `LeaveOneOut` and other splits with such a
    fold raise an error, as in scikit-learn.

    If no other fold contains the class of a row, no copy can predict that class for the row.
    Such rows fit the classifier but not the recalibrator, and a note gives their number. If a copy
    was trained without a class, its score for that class is 0, or, for logits, the logit of a
    probability of 1e-12. The recalibrator may increase that probability, so the output need not be
    0.

    ``sample_weight`` goes to the recalibrator and to the classifier. If the classifier takes no
    weights, this raises an error, unless metadata routing excludes them. ``groups`` go to the
    splitter (such as `GroupKFold`) and to a recalibrator that takes them (`GroupwiseCalibration`,
    which needs them in `predict_proba` too). All other parameters of `fit` go to the classifier,
    such as ``eval_set``; with metadata routing, request them with ``set_fit_request`` of the
    classifier. Parameters with one entry per row are split with the rows.

    With cross-fitting, the recalibrator is fitted to classifiers trained on slightly fewer rows.
    With 5 folds and few rows, it therefore corrects slightly too much.

    References
    ----------
    Platt 1999, "Probabilistic outputs for support vector machines"; Niculescu-Mizil & Caruana
    2005, "Predicting good probabilities with supervised learning".

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from trueup.metrics import log_loss
    >>> from trueup.recalibrate.scaling.beta import BetaCalibration
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> bare = GaussianNB().fit(X[::2], y[::2])
    >>> model = CalibratedModel(GaussianNB(), BetaCalibration()).fit(X[::2], y[::2])
    >>> before, after = (log_loss(m.predict_proba(X[1::2]), y[1::2]) for m in (bare, model))
    >>> before > 2 * after
    True
    """

    classifier: Any = field(kw_only=False)
    recalibrator: Any = field(default=None, kw_only=False)
    cv: Any = 5
    ensemble: bool = False
    n_jobs: int | None = None

    def fit(
        self,
        X: Any,
        y: object = None,
        sample_weight: object = None,
        groups: object = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the classifier and its recalibrator; a frozen classifier is not changed.

        Parameters
        ----------
        X : array-like
            Input of the classifier.
        y : array-like
            Class of each row; classes may have any names.
        sample_weight : array-like or None
            Weights of at least 0, or None.
        groups : array-like or None
            Group of each row, for a splitter or recalibrator that uses groups.
        **fit_params : dict
            Passed on to the ``fit`` of the classifier. Values with one entry per row are split with
            the rows; all others, such as ``eval_set``, are passed on unchanged.

        Returns
        -------
        CalibratedModel
            The fitted model itself.

        Examples
        --------
        >>> from sklearn.naive_bayes import GaussianNB
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 9, [0, 0, 1, 1] * 8 + [0, 1, 0, 1]
        >>> CalibratedModel(GaussianNB()).fit(X, y).predict([[0.5], [2.5]])
        array([0, 1])
        """
        self._check()
        if y is None:
            words = "requires y to be passed, but the target y is None"
            raise required("y", f"call fit(X, y): {type(self).__name__} {words}")
        labels = column_or_1d(as_numpy("y", y), warn=True)
        check_classification_targets(labels)
        X, labels = indexable(X, labels)
        if not self.is_frozen and len(np.unique(labels)) == 1:
            got = Verbatim(f"one class, {labels[0]}")
            raise must_be("y", "contain at least two classes", got)
        beside = Metadata.of(self, len(labels), sample_weight, groups, fit_params)
        self.notes_: list[str] = []
        if self.is_frozen:
            self._fit_frozen(X, labels, beside)
        else:
            self._fit_folds(X, labels, beside)
        first = self.recalibrators_[0] if self.classifiers_[0] is None else self.classifiers_[0]
        copy_features(first, self)
        found = [note for recalibrator in self.recalibrators_ for note in recalibrator.notes_]
        self.notes_ += dict.fromkeys(found)  # folds may have the same
        return self

    def predict_proba(self, X: Any, groups: object = None) -> Floats:
        """Return recalibrated probabilities of the classifier.

        Parameters
        ----------
        X : array-like
            Input of the classifier.
        groups : array-like or None
            Group of each row, for a recalibrator that was fitted with groups.

        Returns
        -------
        ndarray
            Probabilities, shape (n, K); rows sum to 1.

        Examples
        --------
        >>> from sklearn.naive_bayes import GaussianNB
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 9, [0, 0, 1, 1] * 8 + [0, 1, 0, 1]
        >>> CalibratedModel(GaussianNB()).fit(X, y).predict_proba([[0.5]]).shape
        (1, 2)
        """
        answers: list[Floats] = self._answers("predict_proba", X, groups)
        return answers[0] if len(answers) == 1 else np.mean(answers, axis=0)

    def predict(self, X: Any, groups: object = None) -> NDArray[Any]:
        """Return the predicted class of each row; for an ensemble, that of the mean probabilities.

        Parameters
        ----------
        X : array-like
            Input of the classifier.
        groups : array-like or None
            Group of each row, for a recalibrator that was fitted with groups.

        Returns
        -------
        ndarray
            Names of the predicted classes, shape (n,).

        Examples
        --------
        >>> from sklearn.naive_bayes import GaussianNB
        >>> X = [[0.0], [1.0], [2.0], [3.0]] * 9
        >>> y = ["no", "no", "yes", "yes"] * 8 + ["no", "yes"] * 2
        >>> CalibratedModel(GaussianNB()).fit(X, y).predict([[0.5], [2.5]]).tolist()
        ['no', 'yes']
        """
        check_is_fitted(self)
        if len(self.classifiers_) > 1:
            return np.asarray(self.classes_[self.predict_proba(X, groups).argmax(axis=1)])
        return np.asarray(self._answers("predict", X, groups)[0])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fitted recalibrator to a file; the classifier is not part of it.

        The classifier belongs to another library: save it with skops or joblib, and combine the two
        with `load`. The file contains only the recalibrator, so `load_recalibrator` and the command
        ``trueup apply`` read it too.

        Parameters
        ----------
        path : str or path-like
            File to write. It is written completely or not at all.

        Raises
        ------
        InputError
            If the model has several recalibrators (``ensemble=True``), or one that cannot be
            saved.

        See Also
        --------
        load : Read the file, and combine it with the classifier.
        trueup.load_recalibrator : Read the recalibrator alone.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from trueup.recalibrate.scaling.beta import BetaCalibration
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = CalibratedModel(GaussianNB(), BetaCalibration()).fit(X, y)
        >>> with TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/beta.json")
        ...     again = CalibratedModel.load(f"{folder}/beta.json", model.classifiers_[0])
        >>> bool((again.predict_proba(X) == model.predict_proba(X)).all())
        True
        """
        save_recalibrator_of(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], classifier: Any) -> Self:
        """Combine a saved recalibrator with its fitted classifier.

        Parameters
        ----------
        path : str or path-like
            File that `save` wrote.
        classifier : classifier or None
            The fitted classifier to which the recalibrator belongs: ``classifiers_[0]`` of the
            saved model. None if the recalibrator was fitted to stored predictions.

        Returns
        -------
        CalibratedModel
            Fitted model with ``cv="frozen"``; its predictions are bit-for-bit identical to those of
            the saved model.

        Raises
        ------
        InputError
            If the file cannot be read, or the classifier has other classes or other scores.

        See Also
        --------
        save : Save the recalibrator of a fitted model.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from trueup.recalibrate.scaling.temperature import TemperatureScaling
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 9, [0, 0, 1, 1] * 8 + [0, 1, 0, 1]
        >>> classifier = GaussianNB().fit(X, y)
        >>> model = CalibratedModel(classifier, TemperatureScaling(), cv="frozen").fit(X, y)
        >>> with TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/temperature.json")
        ...     again = CalibratedModel.load(f"{folder}/temperature.json", classifier)
        >>> again.predict([[0.5], [2.5]])
        array([0, 1])
        """
        recalibrator = stored_recalibrator(path, classifier)
        model = cls(classifier, clone(recalibrator), cv="frozen")
        model.classes_ = recalibrator.classes_
        model.classifiers_, model.recalibrators_ = [classifier], [recalibrator]
        model.notes_ = list(recalibrator.notes_)
        copy_features(recalibrator if classifier is None else classifier, model)
        return model

    def _answers(self, method: str, X: Any, groups: object) -> list[Any]:
        """Return the outputs of each recalibrator for the scores of its classifier."""
        check_is_fitted(self)
        beside = {} if groups is None else {"groups": groups}
        answers = []
        for classifier, recalibrator in zip(self.classifiers_, self.recalibrators_, strict=True):
            scores = X
            if classifier is not None:
                scores = scores_of(classifier, X, self.classes_, logits=recalibrator.logits)
            answers.append(getattr(recalibrator, method)(scores, **beside))
        return answers

    def _check(self) -> None:
        if not isinstance(self.recalibrator, Recalibrator | None):
            rule = "a recalibrator, such as TemperatureScaling()"
            raise must_be("recalibrator", rule, self.recalibrator)
        if isinstance(self.cv, str) and self.cv not in FROZEN:
            raise must_be("cv", 'a number of folds, a splitter or "frozen"', self.cv)
        check_options(self.chosen_recalibrator)
        check_flag("ensemble", self.ensemble)
        if isinstance(self.classifier, Recalibrator) and self.recalibrator is None:
            hint = "pass the classifier first, CalibratedModel(classifier, recalibrator)"
            raise must_be("classifier", "a classifier of features", self.classifier, hint=hint)
        if self.classifier is not None:
            takes_logits(self.classifier, self.chosen_recalibrator)

    @property
    def chosen_recalibrator(self) -> Recalibrator:
        """Return the recalibrator to fit: the one passed, or `AutoCalibration`."""
        given: Recalibrator = AutoCalibration() if self.recalibrator is None else self.recalibrator
        return given

    @property
    def is_frozen(self) -> bool:
        """Return whether the classifier is already fitted and must not be changed."""
        from sklearn.frozen import FrozenEstimator

        word = isinstance(self.cv, str)
        return word or self.classifier is None or isinstance(self.classifier, FrozenEstimator)

    def _fit_frozen(self, X: Any, labels: NDArray[Any], beside: Metadata) -> None:
        """Fit the recalibrator to the classifier's predictions for held-out rows."""
        if self.classifier is None:
            recalibrator = clone(self.chosen_recalibrator)
            recalibrator.fit(X, labels, **beside.for_recalibrator)
            self.classes_ = recalibrator.classes_
        else:
            check_is_fitted(self.classifier)
            self.classes_ = np.asarray(self.classifier.classes_)
            logits = takes_logits(self.classifier, self.chosen_recalibrator)
            recalibrator = self._recalibrator(logits)
            scores = scores_of(self.classifier, X, self.classes_, logits=logits)
            recalibrator.fit(scores, labels, **beside.for_recalibrator)
        self.classifiers_, self.recalibrators_ = [self.classifier], [recalibrator]

    def _fit_folds(self, X: Any, labels: NDArray[Any], beside: Metadata) -> None:
        self.classes_ = np.unique(labels)
        logits = takes_logits(self.classifier, self.chosen_recalibrator)
        folds = cross_fitted(self, X, labels, beside, logits=logits)
        unknown = sum(len(fold.left_out) for fold in folds)
        if unknown:
            self.notes_.append(
                "the recalibrator was fitted without rows of a class that no other fold contains: "
                f"{unknown} of {len(labels)}"
            )
        parts = [fold for fold in folds if len(fold.rows)]
        if not parts:
            hint = "use fewer folds, or more rows of each class"
            got = Verbatim("no row whose class is also in another fold")
            raise must_be("y", "have rows to fit the recalibrator", got, hint=hint)
        scored = [(fold.scores, fold.rows) for fold in parts]
        if not self.ensemble:
            # In the order of the rows: what is fitted does not depend on which fold came first.
            scores, rows = (np.concatenate(every) for every in zip(*scored, strict=True))
            order = np.argsort(rows, kind="stable")
            scored = [(scores[order], rows[order])]
        self.recalibrators_ = [
            self._recalibrator(logits).fit(
                scores, labels[rows], **at(rows, beside.for_recalibrator, len(labels))
            )
            for scores, rows in scored
        ]
        self.classifiers_ = [fold.classifier for fold in parts]
        if not self.ensemble:
            self.classifiers_ = [clone(self.classifier).fit(X, labels, **beside.for_classifier)]

    def _recalibrator(self, logits: bool) -> Recalibrator:
        """Return an unfitted recalibrator with the type of its input and the class names."""
        copy: Recalibrator = clone(self.chosen_recalibrator)
        copy.set_params(logits=logits, classes=self.classes_.tolist())
        return copy

    def get_metadata_routing(self) -> Any:
        """Return the metadata routing for scikit-learn; see Notes."""
        from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

        router = MetadataRouter(owner=self).add_self_request(self)
        if not self.is_frozen:
            mapping = MethodMapping().add(caller="fit", callee="fit")
            router.add(classifier=self.classifier, method_mapping=mapping)
        mapping = MethodMapping().add(caller="fit", callee="split")
        return router.add(splitter=self.cv, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        if self.classifier is not None:
            of_classifier = get_tags(self.classifier)
            tags.input_tags = of_classifier.input_tags
            tags.classifier_tags.multi_class = of_classifier.classifier_tags.multi_class
        return tags
