"""Scorers give scikit-learn the very numbers of the named metrics, with the sign changed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import (
    brier_score_loss,
    get_scorer_names,
    log_loss as their_log_loss,
    make_scorer as their_scorer,
)
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import trueup
from trueup import BinnedError, CapabilityError, InputError, metrics
from trueup.recalibrate.model.scorers import SCORERS, make_scorer

BINARY_ONLY = {"ici", "e50", "e90"}


class Says(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose X are its probabilities."""

    def __init__(self, classes: object = None) -> None:
        self.classes = classes

    def fit(self, X: object, y: object) -> Says:
        self.classes_ = np.array(self.classes)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return X


def draw(k: int, n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(k)
    probs = rng.dirichlet(np.ones(k), n)
    return probs, (probs.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)


def test_every_named_metric_has_a_scorer() -> None:
    assert set(SCORERS) == set(metrics.__all__)
    assert set(SCORERS) <= set(trueup.__all__)


@pytest.mark.parametrize("name", metrics.__all__)
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_metric(name: str, k: int, weighted: bool) -> None:
    if k > 2 and name in BINARY_ONLY:
        pytest.skip("for two classes")
    probs, labels = draw(k)
    names = np.array(["ant", "bee", "cat"])[:k]
    weights = np.random.default_rng(0).integers(1, 4, len(labels)) if weighted else None
    model = Says(names).fit(probs, labels)
    found = SCORERS[name](model, probs, names[labels], sample_weight=weights)
    given = probs if k > 2 else np.ascontiguousarray(probs[:, 1])
    assert found == -getattr(metrics, name)(given, labels, weights=weights)


def test_a_fold_that_lacks_a_class() -> None:
    probs, labels = draw(2)
    model = Says(["no", "yes"]).fit(probs, labels)
    for only in (0, 1):
        rows = labels == only
        found = make_scorer("brier")(model, probs[rows], np.array(["no", "yes"])[labels[rows]])
        assert found == pytest.approx(-np.mean((probs[rows, 1] - only) ** 2))


def test_names_in_another_order_than_sorted() -> None:
    probs, labels = draw(3)
    names = np.array(["c", "a", "b"])
    model = Says(names).fit(probs, labels)
    found = make_scorer("log_loss")(model, probs, names[labels])
    assert found == -metrics.log_loss(probs, labels)


def test_against_scikit_learns_own() -> None:
    X, y = draw(3)[0], draw(3)[1]
    for own, theirs in (("log_loss", "neg_log_loss"),):
        one, other = (
            cross_val_score(GaussianNB(), X, y, scoring=s, cv=3) for s in (make_scorer(own), theirs)
        )
        np.testing.assert_allclose(one, other, rtol=1e-9)
    binary = (y == 0).astype(int)
    their_brier = their_scorer(
        brier_score_loss, response_method="predict_proba", greater_is_better=False
    )
    one, other = (
        cross_val_score(GaussianNB(), X, binary, scoring=s, cv=3)
        for s in (make_scorer("brier"), their_brier)
    )
    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_in_cross_validation_and_grid_search() -> None:
    X, y = draw(3)
    found = cross_validate(
        GaussianNB(),
        X,
        y,
        cv=3,
        scoring={"ece": make_scorer("ece", n_bins=5), "log": "neg_log_loss"},
    )
    assert (found["test_ece"] <= 0).all()
    search = GridSearchCV(
        GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, scoring=make_scorer("log_loss"), cv=3
    )
    probs = search.fit(X, y).best_estimator_.predict_proba(X)
    assert -make_scorer("log_loss")(search, X, y) == pytest.approx(their_log_loss(y, probs))


def test_strings_alone_are_scikit_learns_own() -> None:
    assert "ece" not in get_scorer_names()
    with pytest.raises(ValueError, match="ece"):
        cross_validate(GaussianNB(), *draw(3), scoring="ece")


def test_weights_by_metadata_routing() -> None:
    X, y = draw(2)
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    with pytest.raises(CapabilityError, match="metadata routing"):
        make_scorer("ece").set_score_request(sample_weight=True)
    with sklearn.config_context(enable_metadata_routing=True):
        model = GaussianNB().set_fit_request(sample_weight=False)
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            cross_validate(
                model, X, y, cv=2, scoring=make_scorer("brier"), params={"sample_weight": weights}
            )
        asks = {
            "with": make_scorer("brier").set_score_request(sample_weight=True),
            "without": make_scorer("brier").set_score_request(sample_weight=False),
        }
        found = cross_validate(model, X, y, cv=2, scoring=asks, params={"sample_weight": weights})
        theirs = their_scorer(
            brier_score_loss, response_method="predict_proba", greater_is_better=False
        ).set_score_request(sample_weight=True)
        expected = cross_validate(
            model, X, y, cv=2, scoring=theirs, params={"sample_weight": weights}
        )
    np.testing.assert_allclose(found["test_with"], expected["test_score"])
    assert (found["test_with"] != found["test_without"]).all()


def test_estimators_options_and_copies() -> None:
    X, y = draw(3)
    model = GaussianNB().fit(X, y)
    own = make_scorer(BinnedError(norm=2))
    assert own(model, X, y) == -BinnedError(norm=2)(model.predict_proba(X), y)
    assert repr(make_scorer("ece", n_bins=5)) == "make_scorer('ece', n_bins=5)"
    again = pickle.loads(pickle.dumps(make_scorer("ece", n_bins=5)))
    assert again(model, X, y) == make_scorer("ece", n_bins=5)(model, X, y)


def test_what_is_refused() -> None:
    X, y = draw(3)
    with pytest.raises(InputError, match="an estimator, a named metric or one of ace"):
        make_scorer("accuracy")
    with pytest.raises(InputError, match="cannot be used with an estimator"):
        make_scorer(BinnedError(), n_bins=3)
    with pytest.raises(InputError, match=r"LinearSVC, which has none.*CalibratedModel"):
        make_scorer("ece")(LinearSVC().fit(X, y), X, y)
    with pytest.raises(InputError, match=r"`y` must be among the classes .* got 2 in row"):
        make_scorer("ece")(GaussianNB().fit(X[y < 2], y[y < 2]), X, y)
