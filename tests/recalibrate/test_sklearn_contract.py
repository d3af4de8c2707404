"""Every recalibrator is a scikit-learn estimator: its own checks, and what they cannot check."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_limits

from trueup import Forecasts, InputError
from trueup.recalibrate.auto.auto_calibration import AutoCalibration
from trueup.recalibrate.base import Recalibrator
from trueup.recalibrate.binning.bayesian import BayesianBinning
from trueup.recalibrate.binning.histogram import HistogramBinning
from trueup.recalibrate.binning.scaling_binning import ScalingBinning
from trueup.recalibrate.compose.groupwise import GroupwiseCalibration
from trueup.recalibrate.compose.wrappers import OneVsRestCalibration, TopLabelCalibration
from trueup.recalibrate.identity import IdentityCalibration
from trueup.recalibrate.isotonic import IsotonicCalibration
from trueup.recalibrate.local_calibration import LocalCalibration
from trueup.recalibrate.model.calibrated_model import CalibratedModel
from trueup.recalibrate.scaling.beta import BetaCalibration
from trueup.recalibrate.scaling.matrix import DirichletCalibration, MatrixScaling
from trueup.recalibrate.scaling.mmce import MMCEScaling
from trueup.recalibrate.scaling.platt import PlattScaling
from trueup.recalibrate.scaling.temperature import TemperatureScaling
from trueup.recalibrate.scaling.vector import VectorScaling
from trueup.recalibrate.venn_abers import VennAbers

RECALIBRATORS: list[Recalibrator] = [
    IdentityCalibration(),
    TemperatureScaling(),
    VectorScaling(),
    MatrixScaling(),
    DirichletCalibration(strength=0.01, intercept_strength=0.01),  # "auto" is the slow one below
    PlattScaling(),
    BetaCalibration(),
    HistogramBinning(),
    ScalingBinning(),
    IsotonicCalibration(),
    BayesianBinning(),
    VennAbers(),
    MMCEScaling(),
    OneVsRestCalibration(TemperatureScaling()),
    TopLabelCalibration(PlattScaling()),
    GroupwiseCalibration(TemperatureScaling()),
    LocalCalibration(),
    AutoCalibration([TemperatureScaling()], cv=2),
]
MODELS = [
    CalibratedModel(LogisticRegression(), TemperatureScaling(), cv=2),
    CalibratedModel(GaussianNB(), PlattScaling(), cv=2, ensemble=True),
    CalibratedModel(RidgeClassifier(), PlattScaling(), cv=2),
]

# The columns of X are the classes: what a recalibrator reads is what a classifier wrote. Checks
# that make up features cannot hold; `test_…_with_a_column_for_each_class` below repeats them.
THREE_CLASSES_ONE_COLUMN = "gives one column for three classes, where one column means two classes"
THREE_CLASSES_TWO_COLUMNS = "gives two columns for three classes, and features that are no logits"
ONE_CLASS_TEN_COLUMNS = "wants the one class of y for any X; X says which of ten columns is likely"
EXCEPTIONS = {
    "check_estimators_overwrite_params": THREE_CLASSES_ONE_COLUMN,
    "check_estimators_fit_returns_self": THREE_CLASSES_ONE_COLUMN,
    "check_readonly_memmap_input": THREE_CLASSES_ONE_COLUMN,
    "check_classifiers_classes": THREE_CLASSES_ONE_COLUMN,
    "check_classifiers_train": THREE_CLASSES_TWO_COLUMNS,
    "check_classifiers_one_label": ONE_CLASS_TEN_COLUMNS,
}
WEIGHTS = "check_sample_weight_equivalence_on_dense_data"
EXCEPTIONS_OF = {
    kind: {WEIGHTS: "compares to 1e-7 a valley so flat that a gradient of 1e-8 settles it to 1e-6"}
    for kind in (MatrixScaling, DirichletCalibration)
}
failed_somewhere: set[str] = set()


def name_of(estimator: Any) -> str:
    inner = getattr(estimator, "classifier", getattr(estimator, "recalibrator", None))
    own = type(estimator).__name__
    return own if inner is None else f"{own}-{type(inner).__name__}"


each_recalibrator = pytest.mark.parametrize("given", RECALIBRATORS, ids=name_of)


def draw(k: int = 3, n: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Overconfident probabilities, logits and labels."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, k))
    truth = np.exp(logits)
    truth /= truth.sum(axis=1, keepdims=True)
    labels = (truth.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    probs = np.exp(2 * logits)
    return probs / probs.sum(axis=1, keepdims=True), 2 * logits, labels


def failures(estimator: Any, expected: dict[str, str]) -> tuple[dict[str, Any], set[str]]:
    """Checks that failed and should not have, and those that failed as expected."""
    expected = expected | EXCEPTIONS_OF.get(type(estimator), {})
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        found = check_estimator(estimator, expected_failed_checks=expected, on_fail=None)
    assert len(found) > 40
    wrong = {one["check_name"]: one["exception"] for one in found if one["status"] == "failed"}
    return wrong, {one["check_name"] for one in found if one["status"] == "xfail"}


@each_recalibrator
def test_checks_of_scikit_learn(given: Recalibrator) -> None:
    wrong, as_expected = failures(clone(given).set_params(logits=True), EXCEPTIONS)
    failed_somewhere.update(as_expected)
    assert wrong == {}


@pytest.mark.slow
def test_checks_of_scikit_learn_with_strengths_chosen_by_folds() -> None:
    for penalised in (DirichletCalibration(logits=True), MatrixScaling(penalty="odir")):
        wrong, _ = failures(penalised.set_params(logits=True), EXCEPTIONS)
        assert wrong == {}


def test_every_exception_is_one() -> None:
    if len(failed_somewhere) == 0:
        pytest.skip("runs after the checks, in one process")
    assert failed_somewhere - {WEIGHTS} == set(EXCEPTIONS)


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_checks_of_scikit_learn_for_models(model: CalibratedModel) -> None:
    assert failures(model, {}) == ({}, set())


@each_recalibrator
@pytest.mark.parametrize("kind", ["probs", "logits"])
@pytest.mark.parametrize("k", [2, 3])
def test_fit_and_predict_with_a_column_for_each_class(
    given: Recalibrator, kind: str, k: int
) -> None:
    probs, logits, labels = draw(k)
    X = probs if kind == "probs" else logits
    estimator = clone(given).set_params(logits=kind == "logits")
    before = {name: repr(value) for name, value in estimator.get_params().items()}
    X.setflags(write=False)
    labels.setflags(write=False)
    assert estimator.fit(X, labels) is estimator
    assert {name: repr(value) for name, value in estimator.get_params().items()} == before
    rows = estimator.predict_proba(X)
    assert rows.shape == (120, k)
    assert rows.dtype == np.float64
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert np.array_equal(estimator.transform(X), rows)
    assert 0.4 < estimator.score(X, labels) <= 1
    again = clone(given).set_params(logits=kind == "logits").fit(X.tolist(), labels.tolist())
    assert np.array_equal(again.predict_proba(X.tolist()), rows)
    # one class alone: no crash, and probabilities
    alone = clone(estimator).fit(X, np.ones_like(labels)).predict_proba(X)
    assert np.isfinite(alone).all()
    np.testing.assert_allclose(alone.sum(axis=1), 1, rtol=0, atol=1e-12)


@each_recalibrator
@pytest.mark.parametrize("kind", [str, object, float, "int8"])
def test_names_of_classes(given: Recalibrator, kind: Any) -> None:
    probs, _, labels = draw()
    names = np.array(["ant", "bee", "cat"] if kind in (str, object) else [3, 5, 9], dtype=kind)
    estimator = clone(given).fit(probs, names[labels])
    assert estimator.classes_.tolist() == names.tolist()
    assert set(estimator.predict(probs)) <= set(names)
    numbered = clone(given).fit(probs, labels)
    assert np.array_equal(estimator.predict_proba(probs), numbered.predict_proba(probs))
    # columns in another order than the names sorted, and one class that no row has
    turned = clone(given).set_params(classes=names[[2, 0, 1]])
    turned.fit(probs, names[[2, 0, 1]][np.minimum(labels, 1)])
    assert turned.classes_.tolist() == names[[2, 0, 1]].tolist()
    rows = turned.predict_proba(probs)
    assert np.isfinite(rows).all()


@each_recalibrator
def test_two_classes_in_three_shapes(given: Recalibrator) -> None:
    probs, _, labels = draw(2)
    p = probs[:, 1]
    flat = clone(given).fit(p, labels).predict_proba(p)
    column = clone(given).fit(p[:, None], labels).predict_proba(p[:, None])
    rows = clone(given).fit(probs, labels).predict_proba(probs)
    np.testing.assert_allclose(column, flat, rtol=0, atol=1e-12)
    np.testing.assert_allclose(rows, flat, rtol=0, atol=1e-6)


@each_recalibrator
def test_frames_in_and_out(given: Recalibrator) -> None:
    probs, _, labels = draw()
    names = ["ant", "bee", "cat"]
    plain = clone(given).fit(probs, labels).predict_proba(probs)
    for library in (pd, pl):
        frame = library.DataFrame(dict(zip(names, probs.T, strict=True)))
        estimator = clone(given).fit(frame, library.Series(labels.tolist()))
        assert estimator.feature_names_in_.tolist() == names
        # frames have their columns in memory one after the other: sums in another order
        np.testing.assert_allclose(estimator.predict_proba(frame), plain, rtol=0, atol=1e-9)
        form = "pandas" if library is pd else "polars"
        out = estimator.set_output(transform=form).transform(frame)
        assert isinstance(out, library.DataFrame)
        assert list(out.columns) == ["0", "1", "2"]
        np.testing.assert_allclose(out.to_numpy(), plain, rtol=0, atol=1e-9)
        with pytest.raises(ValueError, match="feature names"):
            estimator.predict_proba(library.DataFrame({"bee": [0.5], "ant": [0.2], "cat": [0.3]}))
    with pytest.raises(ValueError, match=r"2 features, but .* is expecting 3"):
        clone(given).fit(probs, labels).predict_proba(probs[:, :2])


@each_recalibrator
def test_copies(given: Recalibrator) -> None:
    probs, _, labels = draw()
    fitted = clone(given).fit(probs, labels)
    rows = fitted.predict_proba(probs)
    for again in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        assert np.array_equal(again.predict_proba(probs), rows)
        assert repr(again) == repr(fitted)
    with pytest.raises(NotFittedError):
        clone(fitted).predict_proba(probs)


@each_recalibrator
def test_in_pipelines_and_cross_validation(given: Recalibrator) -> None:
    probs, logits, labels = draw()
    pipeline = make_pipeline(FunctionTransformer(np.negative), clone(given))
    pipeline.set_params(**{f"{pipeline.steps[-1][0]}__logits": True})
    rows = pipeline.fit(-logits, labels).predict_proba(-logits)
    alone = clone(given).set_params(logits=True).fit(logits, labels)
    assert np.array_equal(rows, alone.predict_proba(logits))
    out_of_fold = cross_val_predict(given, probs, labels, cv=3, method="predict_proba")
    np.testing.assert_allclose(out_of_fold.sum(axis=1), 1, rtol=0, atol=1e-12)


def test_grid_search_over_parameters() -> None:
    probs, _, labels = draw(2, 400)
    search = GridSearchCV(
        PlattScaling(), {"target": ["labels", "platt"]}, scoring="neg_log_loss", cv=3
    ).fit(probs, labels)
    assert set(search.best_params_) == {"target"}
    nested = GridSearchCV(
        GroupwiseCalibration(PlattScaling()),
        {"recalibrator": [PlattScaling(), IdentityCalibration()], "min_rows": [10]},
        scoring="neg_log_loss",
    ).fit(probs, labels)
    assert isinstance(nested.best_estimator_.recalibrator, PlattScaling)
    inner = GridSearchCV(
        TopLabelCalibration(PlattScaling()), {"recalibrator__loss": ["log", "squared"]}
    )
    assert inner.fit(probs, labels).best_estimator_.recalibrator.loss in ("log", "squared")
    # of what is no probability, only logits=True can be fitted
    either = GridSearchCV(
        TemperatureScaling(), {"logits": [False, True]}, scoring="neg_log_loss", cv=3
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's, that some fits failed
        either.fit(draw(2, 400)[1], labels)
    assert either.best_params_ == {"logits": True}


@each_recalibrator
def test_whole_weights_are_repeated_rows(given: Recalibrator) -> None:
    if isinstance(given, AutoCalibration):
        pytest.skip("folds are cut by rows, of whatever weight")
    probs, _, labels = draw(5)
    by_chance = np.random.default_rng(0).integers(0, 4, 120)
    for_the_sure = np.where(probs.max(axis=1) > 0.6, 6, 1)
    always_right = probs[:, :2].argmax(axis=1)  # three classes have no rows
    for y, weights in ((labels, by_chance), (always_right, for_the_sure)):
        rows = np.repeat(np.arange(120), weights)
        weighted = clone(given).fit(probs, y, sample_weight=weights)
        repeated = clone(given).fit(probs[rows], y[rows])
        np.testing.assert_allclose(
            weighted.predict_proba(probs), repeated.predict_proba(probs), rtol=0, atol=1e-6
        )
    with pytest.raises(InputError, match="`sample_weight` must be finite and at least 0; got -1"):
        clone(given).fit(probs, labels, sample_weight=-np.ones(120))


@each_recalibrator
def test_weights_by_metadata_routing(given: Recalibrator) -> None:
    probs, _, labels = draw()
    weights = np.random.default_rng(0).integers(1, 4, 120).astype(float)
    direct = clone(given).fit(probs, labels, sample_weight=weights).predict_proba(probs)
    with sklearn.config_context(enable_metadata_routing=True):
        unset = make_pipeline(FunctionTransformer(), clone(given))
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            unset.fit(probs, labels, sample_weight=weights)
        asked = clone(given).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(FunctionTransformer(), asked)
        pipeline.fit(probs, labels, sample_weight=weights)
        assert np.array_equal(pipeline.predict_proba(probs), direct)


@each_recalibrator
def test_probabilities_are_checked_and_logits_refused(given: Recalibrator) -> None:
    probs, logits, labels = draw()
    with pytest.raises(InputError, match=r"between 0 and 1.*pass logits=True"):
        clone(given).fit(logits, labels)
    with pytest.raises(InputError, match=r"sum to 1 in every row; got 0\.[45].* in row"):
        clone(given).fit(probs / 2, labels)
    broken = probs.copy()
    broken[7, 1] = np.nan
    with pytest.raises(InputError, match=r"between 0 and 1; got nan in row 7"):
        clone(given).fit(broken, labels)
    fitted = clone(given).fit(probs, labels)
    with pytest.raises(InputError, match="`X` must be between 0 and 1"):
        fitted.predict_proba(logits)
    with pytest.raises(InputError, match="`logits` must be True or False"):
        clone(given).set_params(logits="odds").fit(probs, labels)
    with pytest.raises(
        InputError, match=r"`y` must be whole numbers from 0 to 2, or 3 different names"
    ):
        clone(given).fit(probs, labels + 5 * (labels == 2) + 9 * (np.arange(120) == 3))


@each_recalibrator
def test_forecasts_stand_for_arrays(given: Recalibrator) -> None:
    probs, _, labels = draw()
    weights = np.random.default_rng(0).integers(1, 4, 120).astype(float)
    forecasts = Forecasts.from_arrays(probs, labels, weights=weights)
    rows = clone(given).fit(forecasts).predict_proba(forecasts)
    arrays = clone(given).fit(probs, labels, weights).predict_proba(probs)
    np.testing.assert_allclose(rows, arrays, rtol=0, atol=1e-12)
    with pytest.raises(InputError, match="is a Forecasts, pass no other data"):
        clone(given).fit(forecasts, labels)


@each_recalibrator
def test_float32(given: Recalibrator) -> None:
    probs, _, labels = draw()
    short = probs.astype(np.float32)
    rows = clone(given).fit(short, labels).predict_proba(short)
    assert rows.dtype == np.float64
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-12)
