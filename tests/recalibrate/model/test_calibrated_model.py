"""A classifier with its recalibrator: frozen, cross-fitted, as an ensemble, of stored scores."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from trueup import InputError
from trueup.engines.select import engine
from trueup.metrics import log_loss
from trueup.recalibrate.auto.auto_calibration import AutoCalibration
from trueup.recalibrate.compose.groupwise import GroupwiseCalibration
from trueup.recalibrate.compose.wrappers import TopLabelCalibration
from trueup.recalibrate.files.save_and_load import load_recalibrator, save
from trueup.recalibrate.identity import IdentityCalibration
from trueup.recalibrate.model.calibrated_model import CalibratedModel
from trueup.recalibrate.model.parts import scores_of
from trueup.recalibrate.model.scorers import make_scorer
from trueup.recalibrate.scaling.beta import BetaCalibration
from trueup.recalibrate.scaling.platt import PlattScaling


def draw(n: int = 240, k: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    X = rng.normal(size=(n, 4)) + np.eye(max(k, 4))[y][:, :4]
    # Repeated columns make naive Bayes very overconfident.
    return np.column_stack([X, X, X]), y


def test_cross_fitting_is_cross_val_predict_and_a_refit() -> None:
    X, y = draw()
    found = CalibratedModel(GaussianNB(), BetaCalibration()).fit(X, y)
    out_of_fold = cross_val_predict(GaussianNB(), X, y, cv=5, method="predict_proba")
    recalibrator = BetaCalibration().fit(out_of_fold, y)
    expected = recalibrator.predict_proba(GaussianNB().fit(X, y).predict_proba(X))
    assert np.array_equal(found.predict_proba(X), expected)
    assert np.array_equal(found.predict(X), expected.argmax(axis=1))


def test_it_helps_on_new_rows() -> None:
    X, y = draw(600)
    bare = GaussianNB().fit(X[:300], y[:300]).predict_proba(X[300:])
    for ensemble in (False, True):
        model = CalibratedModel(GaussianNB(), PlattScaling(), ensemble=ensemble)
        after = model.fit(X[:300], y[:300]).predict_proba(X[300:])
        assert log_loss(after, y[300:]) < 0.8 * log_loss(bare, y[300:])


def test_an_ensemble_is_the_mean_over_folds() -> None:
    X, y = draw()
    found = CalibratedModel(GaussianNB(), PlattScaling(), cv=3, ensemble=True).fit(X, y)
    rows = []
    for train, test in StratifiedKFold(3).split(X, y):
        classifier = GaussianNB().fit(X[train], y[train])
        recalibrator = PlattScaling().fit(classifier.predict_proba(X[test]), y[test])
        rows.append(recalibrator.predict_proba(classifier.predict_proba(X)))
    np.testing.assert_allclose(found.predict_proba(X), np.mean(rows, axis=0), atol=1e-15)
    assert len(found.classifiers_) == len(found.recalibrators_) == 3
    assert np.array_equal(found.predict(X), np.mean(rows, axis=0).argmax(axis=1))


@pytest.mark.parametrize("cv", ["frozen", "prefit", 5])
def test_a_fitted_classifier_is_left_as_it_is(cv: object) -> None:
    X, y = draw()
    classifier = GaussianNB().fit(X[:120], y[:120])
    means = classifier.theta_.copy()
    given = FrozenEstimator(classifier) if cv == 5 else classifier
    found = CalibratedModel(given, PlattScaling(), cv=cv).fit(X[120:], y[120:])
    scores = classifier.predict_proba(X[120:])
    expected = PlattScaling().fit(scores, y[120:]).predict_proba(scores)
    assert np.array_equal(found.predict_proba(X[120:]), expected)
    assert np.array_equal(classifier.theta_, means)
    # labels of some classes only: the classifier knows the others
    some = y[120:] != 1
    found.fit(X[120:][some], y[120:][some])
    assert found.predict_proba(X).shape == (240, 3)


def test_frozen_survives_the_copies_of_a_grid_search() -> None:
    X, y = draw()
    classifier = FrozenEstimator(GaussianNB().fit(X[:120], y[:120]))
    grid = {"recalibrator": [PlattScaling(), IdentityCalibration()]}
    search = GridSearchCV(
        CalibratedModel(classifier, IdentityCalibration()), grid, scoring="neg_log_loss", cv=3
    )
    search.fit(X[120:], y[120:])
    assert isinstance(search.best_params_["recalibrator"], PlattScaling)


def test_decision_functions_are_logits() -> None:
    X, y = draw(k=2)
    found = CalibratedModel(RidgeClassifier(), PlattScaling()).fit(X, y)
    assert found.recalibrators_[0].logits
    out_of_fold = cross_val_predict(RidgeClassifier(), X, y, cv=5, method="decision_function")
    again = PlattScaling(logits=True).fit(out_of_fold, y)
    margins = RidgeClassifier().fit(X, y).decision_function(X)
    assert np.array_equal(found.predict_proba(X), again.predict_proba(margins))
    X, y = draw()
    asked = CalibratedModel(LogisticRegression(), PlattScaling(logits=True)).fit(X, y)
    assert asked.recalibrators_[0].logits
    given = CalibratedModel(LogisticRegression(), PlattScaling()).fit(X, y)
    np.testing.assert_allclose(asked.predict_proba(X), given.predict_proba(X), atol=1e-6)


def test_names_frames_pipelines_and_stored_scores() -> None:
    X, y = draw()
    names = np.array(["ant", "bee", "cat"])[y]
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(12)])
    pipeline = make_pipeline(StandardScaler(), GaussianNB())
    found = CalibratedModel(pipeline, PlattScaling()).fit(frame, names)
    assert found.classes_.tolist() == ["ant", "bee", "cat"]
    assert set(found.predict(frame)) == {"ant", "bee", "cat"}
    assert found.feature_names_in_.tolist() == list(frame)
    scores = cross_val_predict(GaussianNB(), X, y, method="predict_proba")
    stored = CalibratedModel(None, PlattScaling()).fit(scores, names)
    alone = PlattScaling().fit(scores, names)
    assert np.array_equal(stored.predict_proba(scores), alone.predict_proba(scores))
    assert stored.classes_.tolist() == ["ant", "bee", "cat"]
    assert stored.n_features_in_ == 3


def test_a_class_with_one_row_fits_the_classifier_alone() -> None:
    X, y = draw()
    y = y.copy()
    y[0] = 7
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's, that a class has fewer rows than folds
        found = CalibratedModel(GaussianNB(), PlattScaling()).fit(X, y)
        as_logits = CalibratedModel(LogisticRegression(), PlattScaling(logits=True)).fit(X, y)
    assert found.classes_.tolist() == [0, 1, 2, 7]
    assert found.notes_[0].endswith("1 of 240")
    for model in (found, as_logits):
        rows = model.predict_proba(X)
        assert rows.shape == (240, 4)
        assert np.isfinite(rows).all()
        np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-12)
        # the other rows are recalibrated as if that row were not there
        assert np.abs(rows[1:, 3]).max() < 0.01


def test_no_fold_knows_the_classes_of_another() -> None:
    X = draw(6)[0]
    halves = [(np.arange(3), np.arange(3, 6)), (np.arange(3, 6), np.arange(3))]
    with pytest.raises(InputError, match="no row whose class is also in another fold"):
        CalibratedModel(DummyClassifier(), PlattScaling(), cv=halves).fit(X, [0, 0, 0, 1, 1, 1])


def test_fold_order_and_repeated_folds() -> None:
    X, y = draw()
    splits = list(KFold(4).split(X))
    one, other = (
        CalibratedModel(GaussianNB(), PlattScaling(), cv=cv).fit(X, y).predict_proba(X)
        for cv in (splits, splits[::-1])
    )
    assert np.array_equal(one, other)
    repeated = CalibratedModel(GaussianNB(), PlattScaling(), cv=RepeatedKFold(n_splits=3))
    assert repeated.fit(X, y).recalibrators_[0].fit_["n"] == 2400


def test_weights_reach_both() -> None:
    X, y = draw()
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    found = CalibratedModel(GaussianNB(), PlattScaling()).fit(X, y, sample_weight=weights)
    scores = np.empty((len(y), 3))
    for train, test in StratifiedKFold(5).split(X, y):
        classifier = GaussianNB().fit(X[train], y[train], weights[train])
        scores[test] = classifier.predict_proba(X[test])
    recalibrator = PlattScaling().fit(scores, y, weights)
    expected = recalibrator.predict_proba(GaussianNB().fit(X, y, weights).predict_proba(X))
    np.testing.assert_allclose(found.predict_proba(X), expected, atol=1e-12)


def test_weights_of_a_classifier_that_takes_none() -> None:
    X, y = draw()
    with pytest.raises(InputError, match=r"KNeighborsClassifier\.fit does not support"):
        CalibratedModel(KNeighborsClassifier(), PlattScaling()).fit(X, y, np.ones(len(y)))
    with sklearn.config_context(enable_metadata_routing=True):
        model = CalibratedModel(KNeighborsClassifier(), PlattScaling())
        model.fit(X, y, sample_weight=np.ones(len(y)))
    frozen = CalibratedModel(KNeighborsClassifier().fit(X, y), PlattScaling(), cv="frozen")
    frozen.fit(X, y, np.ones(len(y)))


def test_weights_by_metadata_routing() -> None:
    X, y = draw()
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    plain = CalibratedModel(GaussianNB(), PlattScaling()).fit(X, y, weights).predict_proba(X)
    with sklearn.config_context(enable_metadata_routing=True):
        unset = CalibratedModel(GaussianNB(), PlattScaling())
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            unset.fit(X, y, sample_weight=weights)
        both = CalibratedModel(GaussianNB().set_fit_request(sample_weight=True), PlattScaling())
        rows = both.fit(X, y, sample_weight=weights).predict_proba(X)
        np.testing.assert_allclose(rows, plain, atol=1e-12)
        only = CalibratedModel(GaussianNB().set_fit_request(sample_weight=False), PlattScaling())
        rows = only.fit(X, y, sample_weight=weights).predict_proba(X)
        assert np.abs(rows - plain).max() > 1e-4
        frozen = CalibratedModel(GaussianNB().fit(X, y), PlattScaling(), cv="frozen")
        frozen.fit(X, y, sample_weight=weights)
        both.set_fit_request(sample_weight=True)
        scoring = make_scorer("log_loss").set_score_request(sample_weight=True)
        search = GridSearchCV(both, {"cv": [2, 3]}, scoring=scoring, cv=2)
        search.fit(X, y, sample_weight=weights)


class Remembers(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Knows by heart the groups it has seen, which are in the last column."""

    def fit(self, X: Any, y: Any) -> Remembers:
        self.classes_ = np.unique(y)
        self.seen_ = np.unique(X[:, -1])
        return self

    def predict_proba(self, X: Any) -> Any:
        seen = np.isin(X[:, -1], self.seen_)
        assert not seen.any() or seen.all()
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


def test_groups_reach_splitter_and_recalibrator() -> None:
    X, y = draw()
    groups = np.arange(240) % 8
    X = np.column_stack([X, groups])
    CalibratedModel(Remembers(), PlattScaling(), cv=GroupKFold(4)).fit(X, y, groups=groups)
    recalibrator = GroupwiseCalibration(PlattScaling(), min_rows=10)
    found = CalibratedModel(GaussianNB(), recalibrator).fit(X, y, groups=groups)
    assert found.recalibrators_[0].groups_ == list(range(8))
    assert found.predict_proba(X, groups=groups).shape == (240, 3)
    assert (
        found.predict(X, groups=groups) == found.predict_proba(X, groups=groups).argmax(axis=1)
    ).all()
    with pytest.raises(InputError, match="`groups` is required"):
        found.predict_proba(X)
    with pytest.raises(InputError, match="neither the folds nor the recalibrator"):
        CalibratedModel(GaussianNB(), PlattScaling()).fit(X, y, groups=groups)
    with sklearn.config_context(enable_metadata_routing=True):
        model = CalibratedModel(Remembers(), PlattScaling(), cv=GroupKFold(4))
        model.fit(X, y, groups=groups)


def test_top_label_keeps_the_class_of_the_classifier() -> None:
    X, y = draw()
    found = CalibratedModel(GaussianNB(), TopLabelCalibration(PlattScaling())).fit(X, y)
    assert np.array_equal(found.predict(X), GaussianNB().fit(X, y).predict(X))


def test_what_is_refused() -> None:
    X, y = draw()
    with pytest.raises(InputError, match="`recalibrator` must be a recalibrator"):
        CalibratedModel(GaussianNB(), "platt").fit(X, y)
    with pytest.raises(InputError, match='a number of folds, a splitter or "frozen"'):
        CalibratedModel(GaussianNB(), PlattScaling(), cv="five").fit(X, y)
    with pytest.raises(InputError, match="`ensemble` must be True or False"):
        CalibratedModel(GaussianNB(), PlattScaling(), ensemble=3).fit(X, y)
    with pytest.raises(InputError, match="predict_proba or decision_function"):
        CalibratedModel(LinearRegression(), PlattScaling()).fit(X, y)
    with pytest.raises(InputError, match="GaussianNB has no decision_function"):
        CalibratedModel(GaussianNB(), PlattScaling(logits=True)).fit(X, y)
    with pytest.raises(InputError, match="`logits` must be True or False"):
        CalibratedModel(GaussianNB(), PlattScaling(logits="odds")).fit(X, y)
    with pytest.raises(NotFittedError):
        CalibratedModel(GaussianNB(), PlattScaling(), cv="frozen").fit(X, y)
    X, y = draw(k=4)
    one_against_one = SVC(decision_function_shape="ovo")
    with pytest.raises(InputError, match=r"a score for each of its 4 classes.*\(48, 6\)"):
        CalibratedModel(one_against_one, PlattScaling()).fit(X, y)


def test_clones_are_unfitted_and_parameters_stay() -> None:
    X, y = draw()
    model = CalibratedModel(GaussianNB(), PlattScaling()).fit(X, y)
    assert not hasattr(clone(model), "classes_")
    assert not hasattr(model.classifier, "classes_")
    assert not hasattr(model.recalibrator, "classes_")
    assert model.recalibrator.classes is None


def test_folds_side_by_side() -> None:
    X, y = draw()
    with parallel_config("threading"):
        one, two = (
            CalibratedModel(GaussianNB(), PlattScaling(), n_jobs=jobs).fit(X, y) for jobs in (1, 2)
        )
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


def test_a_class_that_a_classifier_does_not_know_is_next_to_impossible() -> None:
    X, y = draw(k=3)
    names = np.array(["a", "b", "d"])[y]
    classes = np.array(["a", "b", "c", "d"])
    probs = scores_of(GaussianNB().fit(X, names), X, classes, logits=False)
    assert (probs[:, 2] == 0).all()
    classifier = LogisticRegression().fit(X, names)
    logits = scores_of(classifier, X, classes, logits=True)
    rows = engine.softmax.tempered_probs(logits, 1.0)
    np.testing.assert_allclose(rows[:, 2], 1e-12, rtol=1e-6)
    np.testing.assert_allclose(rows[:, [0, 1, 3]], classifier.predict_proba(X), atol=1e-9)


def test_groups_that_nobody_takes_are_refused() -> None:
    X, y = draw()
    fitted = GaussianNB().fit(X, y)
    for model in (
        CalibratedModel(GaussianNB(), PlattScaling()),
        CalibratedModel(fitted, PlattScaling(), cv="frozen"),
    ):
        with pytest.raises(InputError, match="`groups` cannot be used: neither the folds nor"):
            model.fit(X, y, groups=y)


@pytest.mark.parametrize("ensemble", [False, True])
@pytest.mark.parametrize("cv", [LeaveOneOut(), KFold(101)])
def test_folds_of_one_row_raise_as_in_scikit_learn(cv: object, ensemble: bool) -> None:
    X, y = (each[:200] for each in draw())
    with pytest.raises(ValueError, match=r"LeaveOneOut|101-fold"):
        CalibratedClassifierCV(GaussianNB(), cv=cv, ensemble=ensemble).fit(X, y)
    model = CalibratedModel(GaussianNB(), PlattScaling(), cv=cv, ensemble=ensemble)
    with pytest.raises(InputError, match="because one row has only one class") as refused:
        model.fit(X, y)
    assert str(refused.value).startswith("`cv` must have at least two rows in every test fold")
    single = "200 of 200" if isinstance(cv, LeaveOneOut) else "2 of 101"
    assert f"got {single} folds with one row" in str(refused.value)
    pairs = CalibratedModel(GaussianNB(), PlattScaling(), cv=KFold(100)).fit(X, y)
    assert pairs.recalibrators_[0].fit_["n"] == 200


class Recorder(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that keeps the parameters of its fit."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **given: Any) -> Recorder:
        self.inner_ = GaussianNB().fit(X, y, sample_weight)
        self.classes_, self.given_ = self.inner_.classes_, given
        self.rows_ = len(y)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        return self.inner_.predict_proba(X)


def test_a_classifier_alone_gets_automatic_calibration() -> None:
    X, y = draw()
    found = CalibratedModel(GaussianNB()).fit(X, y)
    by_name = CalibratedModel(GaussianNB(), AutoCalibration()).fit(X, y)
    assert isinstance(found.recalibrators_[0], AutoCalibration)
    assert found.recalibrator is None
    assert np.array_equal(found.predict_proba(X), by_name.predict_proba(X))


def test_parameters_of_fit_go_to_the_classifier() -> None:
    X, y = draw()
    margin = np.arange(240.0)
    evaluation = [(X[:3], y[:3])]
    model = CalibratedModel(Recorder(), PlattScaling(), ensemble=True, cv=3)
    model.fit(X, y, eval_set=evaluation, base_margin=margin, early_stopping=2, tag="a" * 240)
    for classifier in model.classifiers_:
        given = classifier.given_
        assert given["eval_set"] is evaluation
        assert (given["early_stopping"], given["tag"]) == (2, "a" * 240)
        assert len(given["base_margin"]) == classifier.rows_ == 160
    whole = CalibratedModel(Recorder(), PlattScaling())
    whole.fit(X, y, 1 + y, base_margin=margin.tolist())
    assert whole.classifiers_[0].given_["base_margin"] == margin.tolist()
    piped = CalibratedModel(make_pipeline(StandardScaler(), Recorder()), PlattScaling())
    piped.fit(X, y, recorder__eval_set=evaluation)
    assert piped.classifiers_[0][-1].given_["eval_set"] is evaluation


def test_parameters_of_fit_that_nobody_takes() -> None:
    X, y = draw()
    with pytest.raises(TypeError, match="eval_set"):
        CalibratedModel(GaussianNB(), PlattScaling()).fit(X, y, eval_set=[])
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    with pytest.raises(InputError, match="`eval_set` cannot be used, because the classifier is"):
        CalibratedModel(frozen, PlattScaling()).fit(X, y, eval_set=[])


def test_parameters_of_fit_by_metadata_routing() -> None:
    X, y = draw()
    margin = np.arange(240.0)
    with sklearn.config_context(enable_metadata_routing=True):
        asks = LogisticRegression().set_fit_request(sample_weight=True)
        found = CalibratedModel(asks, PlattScaling()).fit(X, y, sample_weight=1 + margin)
        plain = LogisticRegression().fit(X, y, sample_weight=1 + margin)
        assert np.array_equal(found.classifiers_[0].coef_, plain.coef_)
        with pytest.raises(TypeError, match="base_margin"):
            CalibratedModel(asks, PlattScaling()).fit(X, y, base_margin=margin)


@pytest.mark.parametrize("classifier", [GaussianNB(), RidgeClassifier(), None], ids=str)
def test_what_is_saved_joins_its_classifier_again(classifier: Any, tmp_path: Path) -> None:
    X, y = draw()
    names = np.array(["ant", "bee", "cat"])[y]
    rows = GaussianNB().fit(X, y).predict_proba(X) if classifier is None else X
    model = CalibratedModel(classifier, PlattScaling()).fit(rows, names)
    model.save(tmp_path / "platt.json")
    again = CalibratedModel.load(tmp_path / "platt.json", model.classifiers_[0])
    assert np.array_equal(again.predict_proba(rows), model.predict_proba(rows))
    assert again.predict(rows).tolist() == model.predict(rows).tolist()
    assert (again.n_features_in_, again.notes_) == (model.n_features_in_, model.notes_)
    assert again.is_frozen
    alone = load_recalibrator(tmp_path / "platt.json")
    assert alone.classes_.tolist() == ["ant", "bee", "cat"]
    again.fit(rows, names)


def test_what_cannot_be_saved_or_joined(tmp_path: Path) -> None:
    X, y = draw()
    path = tmp_path / "platt.json"
    ensemble = CalibratedModel(GaussianNB(), PlattScaling(), cv=3, ensemble=True).fit(X, y)
    with pytest.raises(InputError, match="got 3 recalibrators, each with its own classifier"):
        ensemble.save(path)
    with pytest.raises(NotFittedError):
        CalibratedModel(GaussianNB(), PlattScaling()).save(path)
    assert not path.exists()
    model = CalibratedModel(GaussianNB(), PlattScaling()).fit(X, y)
    with pytest.raises(InputError, match=r"CalibratedModel\.save writes its recalibrator"):
        save(model, path)
    model.save(path)
    with pytest.raises(InputError, match=r"have the classes that .* fitted to, \[0, 1, 2\]"):
        CalibratedModel.load(path, GaussianNB().fit(X, y == 1))
    with pytest.raises(InputError, match="has no predict_proba, but the recalibrator was fitted"):
        CalibratedModel.load(path, RidgeClassifier().fit(X, y))
    with pytest.raises(NotFittedError):
        CalibratedModel.load(path, GaussianNB())


def test_a_class_that_a_copy_does_not_know_may_get_a_probability() -> None:
    # One row of class 3: its fold's copy gives the class 0, and Platt's smoothed labels more.
    X, y = draw()
    y = np.append(y[:-2], [3, 3])
    model = CalibratedModel(GaussianNB(), PlattScaling(), cv=KFold(2), ensemble=True).fit(X, y)
    unaware = next(c for c in model.classifiers_ if 3 not in c.classes_)
    at = model.classifiers_.index(unaware)
    scores = scores_of(unaware, X, model.classes_, logits=False)
    assert (scores[:, 3] == 0).all()
    assert model.recalibrators_[at].predict_proba(scores)[:, 3].max() > 0


def test_one_class_and_a_recalibrator_in_place_of_the_classifier() -> None:
    with pytest.raises(InputError, match="`y` must contain at least two classes; got one class, 1"):
        CalibratedModel(GaussianNB()).fit(np.zeros((20, 2)), np.ones(20, int))
    with pytest.raises(
        InputError, match=r"Hint: pass the classifier first, CalibratedModel\(class"
    ):
        CalibratedModel(PlattScaling()).fit([[0.2], [0.7]] * 9, [0, 1] * 9)
