"""What users try first, and what they are told."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer as scikit_learns_make_scorer
from sklearn.model_selection import cross_validate

import trueup as tu
from trueup.errors import InputError

PROBS = np.random.default_rng(0).dirichlet([1, 1, 1], 20)
LABELS = np.arange(20) % 3


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: tu.TemperatureScaling(input="logits"),
            "`input` is not an argument of TemperatureScaling. "
            "Hint: pass logits=True if X holds logits.",
        ),
        (
            lambda: tu.PlattScaling(input="probs"),
            "`input` is not an argument of PlattScaling. Hint: leave it out.",
        ),
        (
            lambda: tu.HistogramBinning(bins=10),
            "`bins` is not an argument of HistogramBinning. Hint: call it `n_bins`.",
        ),
        (
            lambda: tu.HistogramBinning(n_bin=10),
            "`n_bin` is not an argument of HistogramBinning. Hint: call it `n_bins`.",
        ),
        (
            lambda: tu.HistogramBinning(strategy="quantile"),
            "`strategy` is not an argument of HistogramBinning. Hint: call it `binning`.",
        ),
        (
            lambda: tu.CalibratedModel(estimator=LogisticRegression()),
            "`estimator` is not an argument of CalibratedModel. Hint: call it `classifier`.",
        ),
        (
            lambda: tu.CalibratedModel(LogisticRegression(), method="isotonic"),
            "`method` is not an argument of CalibratedModel. Hint: call it `recalibrator`.",
        ),
        (
            lambda: tu.AutoCalibration(scoring="brier"),
            "`scoring` is not an argument of AutoCalibration. Hint: call it `rank_by`.",
        ),
        (
            lambda: tu.VennAbers(weights=[1.0]),
            "`weights` is not an argument of VennAbers. Hint: pass sample_weight= to `fit`.",
        ),
        (
            lambda: tu.IdentityCalibration(prevalence=0.1),
            "`prevalence` is not an argument of IdentityCalibration. "
            "Hint: the arguments are logits, normalize, classes.",
        ),
    ],
)
def test_a_parameter_that_is_not_there(make, words):
    with pytest.raises(TypeError) as error:
        make()
    assert str(error.value) == words


def test_the_signature_stays():
    names = list(inspect.signature(tu.HistogramBinning).parameters)
    assert names == ["n_bins", "binning", "lens", "logits", "normalize", "classes"]
    assert set(tu.HistogramBinning().get_params()) == set(names)


@pytest.mark.parametrize(("k", "words"), [(2, "pass both columns"), (3, "pass all 3 columns")])
def test_one_column_where_fit_had_more(k, words):
    probs = PROBS[:, :k] / PROBS[:, :k].sum(axis=1, keepdims=True)
    model = tu.PlattScaling().fit(probs, LABELS % k)
    with pytest.raises(InputError) as error:
        model.predict_proba(probs[:, 0])
    assert words in str(error.value)
    assert "reshape" not in str(error.value)


@pytest.mark.parametrize(
    "wrong",
    [
        scikit_learns_make_scorer(tu.ece),
        scikit_learns_make_scorer(tu.brier, response_method="predict_proba"),
    ],
    ids=["of predicted classes", "of probabilities"],
)
def test_a_metric_is_no_scorer_of_scikit_learn(wrong):
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    with pytest.raises(InputError, match=r"Hint: pass scoring=trueup.make_scorer\(\"(ece|brier)"):
        cross_validate(LogisticRegression(), X, y, cv=2, scoring=wrong, error_score="raise")


def test_a_metric_makes_a_scorer():
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    by_name, by_function = (
        cross_validate(LogisticRegression(), X, y, cv=2, scoring=tu.make_scorer(metric))
        for metric in ("ece", tu.ece)
    )
    assert by_name["test_score"].tolist() == by_function["test_score"].tolist()


@pytest.mark.parametrize("kind", [tu.IsotonicCalibration, tu.HistogramBinning, tu.PlattScaling])
def test_one_row_and_one_class_are_noted(kind):
    one_row, only_class = "the fit data are a single row", "the labels contain only class 1"
    assert kind().fit([[0.7, 0.3]], [1]).notes_[-2:] == [one_row, only_class]
    twice = kind().fit([[0.7, 0.3]], [1], sample_weight=[2.0])
    assert twice.notes_ == kind().fit([[0.7, 0.3]] * 2, [1, 1]).notes_
    ones = kind().fit([0.2, 0.4, 0.7], [1, 1, 1]).notes_
    assert ones[-1] == only_class
    assert one_row not in ones
    wrapped = tu.OneVsRestCalibration(kind()).fit(PROBS[:1], [1])
    assert wrapped.notes_.count(one_row) == 1
    grouped = tu.GroupwiseCalibration(kind(), min_rows=1).fit(PROBS[:1], [1], groups=["a"])
    assert grouped.notes_.count(one_row) == 1


def test_groups_not_seen_in_fit_are_reported_once():
    probs, labels = np.tile([0.9, 0.8, 0.3, 0.1], 60), np.tile([1, 1, 0, 0, 0, 1, 0, 1], 30)
    sites = np.where(np.arange(240) < 120, "a", np.where(np.arange(240) < 235, "b", "few"))
    model = tu.GroupwiseCalibration(tu.TemperatureScaling()).fit(probs, labels, groups=sites)
    assert model.shared_groups_ == ["few"]
    new = ["a", "few", None, "NewHosp"]
    words = "1 row of a group not seen in fit (NewHosp): the recalibrator for all rows was used"
    with pytest.warns(UserWarning, match="not seen in fit") as caught:
        answers = model.predict_proba(probs[:4], groups=new)
    assert [str(warning.message) for warning in caught] == [words]
    assert caught[0].filename == __file__
    assert np.array_equal(answers[3:], model.global_.predict_proba(probs[3:4]))
    with pytest.warns(UserWarning, match=r"9 rows of 5 groups .*\(p, q, r and 2 more\)"):
        model.predict([0.5] * 9, groups=list("pqrstpqrs"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict_proba(probs[:3], groups=new[:3])
        model.fit(probs, labels).predict_proba(probs[:4], groups=new)
