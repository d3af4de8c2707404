"""A classifier with its recalibrator, as one classifier."""

from __future__ import annotations

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
from trueup.recalibrate.base import Recalibrator, with_parameters
from trueup.recalibrate.fit_input import check_options
from trueup.recalibrate.model.parts import Metadata, at, cross_fitted, scores_of, takes_logits

FROZEN = ("frozen", "prefit")


@with_parameters
class CalibratedModel(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Fit a classifier and recalibrate it on predictions of rows it has not seen.

    Predictions for the rows a classifier was trained on are overconfident, and a recalibrator
    fitted to them is wrong. So the rows are split into folds, each predicted by a copy of the
    classifier trained on the others, the recalibrator is fitted to these out-of-fold predictions,
    and the classifier then to all rows.

    Parameters
    ----------
    classifier
        Any classifier of scikit-learn's kind with `predict_proba` or `decision_function`. None:
        X holds its stored predictions, and only the recalibrator is fitted.
    recalibrator
        Any recalibrator. It is given `predict_proba`, or, with ``logits=True`` or where there
        is no `predict_proba`, `decision_function`.
    cv
        A number of (stratified) folds, a splitter, or an iterable of splits, for cross-fitting.
        ``"frozen"`` (or ``"prefit"``): the classifier is fitted already, and X and y are rows that
        it has *not* seen. A `FrozenEstimator` is always taken so, and unlike a bare classifier it
        keeps its fit when scikit-learn makes copies of the model.
    ensemble
        False: one classifier, fitted on all rows. True: the mean of the classifiers of all folds,
        each with a recalibrator fitted on its fold alone: steadier for classifiers that vary much,
        K times the cost of a prediction, and fewer rows for each recalibrator.
    n_jobs
        Number of folds at a time, as in scikit-learn.

    Attributes
    ----------
    classes_
        Names of the classes.
    classifiers_, recalibrators_
        Fitted classifiers with their recalibrators: one of each, or one for each fold.
    notes_
        Sentences about the fit that a user should read; mostly none.

    Notes
    -----
    A test fold of one row has one class alone, so `LeaveOneOut` and other splits with such a fold
    raise an error, as in scikit-learn.

    A row whose class no other fold holds cannot be predicted by a copy that knows the class; such
    rows fit the classifier but not the recalibrator, and a note says how many there were. A class
    that a copy does not know has probability 0 there.

    ``sample_weight`` goes to the recalibrator and to the classifier; one that takes none is
    refused, unless metadata routing says that it wants none. ``groups`` go to the splitter (for
    `GroupKFold` and the like) and to a recalibrator that takes them (`GroupwiseCalibration`,
    which needs them in `predict_proba` too).

    With cross-fitting the recalibrator learns about classifiers trained on a little less than all
    rows: with 5 folds, and little data, it corrects slightly too much.

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
    recalibrator: Any = field(kw_only=False)
    cv: Any = 5
    ensemble: bool = False
    n_jobs: int | None = None

    def fit(
        self, X: Any, y: object = None, sample_weight: object = None, groups: object = None
    ) -> Self:
        """Fit both; a frozen classifier is left as it is.

        Parameters
        ----------
        X
            What the classifier takes.
        y
            Classes, of any names.
        sample_weight
            Weights ≥ 0, or None.
        groups
            A group for each row, for a splitter or recalibrator that wants them.
        """
        self._check()
        if y is None:
            words = "requires y to be passed, but the target y is None"
            raise required("y", f"call fit(X, y): {type(self).__name__} {words}")
        labels = column_or_1d(as_numpy("y", y), warn=True)
        check_classification_targets(labels)
        X, labels = indexable(X, labels)
        beside = Metadata.of(self, len(labels), sample_weight, groups)
        self.notes_: list[str] = []
        if self.is_frozen:
            self._fit_frozen(X, labels, beside)
        else:
            self._fit_folds(X, labels, beside)
        first = self.recalibrators_[0] if self.classifiers_[0] is None else self.classifiers_[0]
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(first, name):
                setattr(self, name, getattr(first, name))
        found = [note for recalibrator in self.recalibrators_ for note in recalibrator.notes_]
        self.notes_ += dict.fromkeys(found)  # folds may have the same
        return self

    def predict_proba(self, X: Any, groups: object = None) -> Floats:
        """Return (n, K) recalibrated probabilities of the classifier; rows sum to 1."""
        answers: list[Floats] = self._answers("predict_proba", X, groups)
        return answers[0] if len(answers) == 1 else np.mean(answers, axis=0)

    def predict(self, X: Any, groups: object = None) -> NDArray[Any]:
        """Return the class of each row: what the recalibrator predicts, of several the mean's."""
        check_is_fitted(self)
        if len(self.classifiers_) > 1:
            return np.asarray(self.classes_[self.predict_proba(X, groups).argmax(axis=1)])
        return np.asarray(self._answers("predict", X, groups)[0])

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
        if not isinstance(self.recalibrator, Recalibrator):
            rule = "a recalibrator, such as TemperatureScaling()"
            raise must_be("recalibrator", rule, self.recalibrator)
        if isinstance(self.cv, str) and self.cv not in FROZEN:
            raise must_be("cv", 'a number of folds, a splitter or "frozen"', self.cv)
        check_options(self.recalibrator)
        check_flag("ensemble", self.ensemble)
        if self.classifier is not None:
            takes_logits(self.classifier, self.recalibrator)

    @property
    def is_frozen(self) -> bool:
        """Whether the classifier is left as it is."""
        from sklearn.frozen import FrozenEstimator

        word = isinstance(self.cv, str)
        return word or self.classifier is None or isinstance(self.classifier, FrozenEstimator)

    def _fit_frozen(self, X: Any, labels: NDArray[Any], beside: Metadata) -> None:
        """Fit the recalibrator to what the classifier says of rows that it has not seen."""
        if self.classifier is None:
            recalibrator = clone(self.recalibrator).fit(X, labels, **beside.for_recalibrator)
            self.classes_ = recalibrator.classes_
        else:
            check_is_fitted(self.classifier)
            self.classes_ = np.asarray(self.classifier.classes_)
            logits = takes_logits(self.classifier, self.recalibrator)
            recalibrator = self._recalibrator(logits)
            scores = scores_of(self.classifier, X, self.classes_, logits=logits)
            recalibrator.fit(scores, labels, **beside.for_recalibrator)
        self.classifiers_, self.recalibrators_ = [self.classifier], [recalibrator]

    def _fit_folds(self, X: Any, labels: NDArray[Any], beside: Metadata) -> None:
        self.classes_ = np.unique(labels)
        logits = takes_logits(self.classifier, self.recalibrator)
        folds = cross_fitted(self, X, labels, beside, logits=logits)
        unknown = sum(len(fold.left_out) for fold in folds)
        if unknown:
            self.notes_.append(
                "the recalibrator was fitted without rows of a class that no other fold holds: "
                f"{unknown} of {len(labels)}"
            )
        parts = [fold for fold in folds if len(fold.rows)]
        if not parts:
            hint = "use fewer folds, or more rows of each class"
            got = Verbatim("none whose class another fold holds")
            raise must_be("y", "have rows to fit the recalibrator", got, hint=hint)
        scored = [(fold.scores, fold.rows) for fold in parts]
        if not self.ensemble:
            # In the order of the rows: what is fitted does not depend on which fold came first.
            scores, rows = (np.concatenate(every) for every in zip(*scored, strict=True))
            order = np.argsort(rows, kind="stable")
            scored = [(scores[order], rows[order])]
        self.recalibrators_ = [
            self._recalibrator(logits).fit(
                scores, labels[rows], **at(rows, beside.for_recalibrator)
            )
            for scores, rows in scored
        ]
        self.classifiers_ = [fold.classifier for fold in parts]
        if not self.ensemble:
            self.classifiers_ = [clone(self.classifier).fit(X, labels, **beside.for_classifier)]

    def _recalibrator(self, logits: bool) -> Recalibrator:
        """An unfitted copy that knows what it is given, and the names of the classes."""
        copy: Recalibrator = clone(self.recalibrator)
        copy.set_params(logits=logits, classes=self.classes_.tolist())
        return copy

    def get_metadata_routing(self) -> Any:
        """Say to scikit-learn what goes where: see Notes."""
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
