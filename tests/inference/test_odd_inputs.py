"""Odd inputs: many kinds of arrays are one kind of data, few rows tell little, nonsense is refused.

Every refusal is one sentence, with the argument, the rule and what was given, before any drawing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import trueup as tu
from trueup.errors import InputError
from trueup.estimators.base import known_estimator
from trueup.inference import bin_tests, class_tests, compare_many, trade_off
from trueup.inference.confidence_intervals.bootstrap import Bootstrap
from trueup.simulate.power_analysis import power, sample_size

rng = np.random.default_rng(0)
P = rng.random(120)
Y = (rng.random(120) < P).astype(int)
GROUPS = np.repeat(["a", "b"], 60)

ASKED: dict[str, Callable[..., Any]] = {
    "interval": partial(tu.interval, tu.ks_error),
    "analytic": partial(tu.interval, tu.ece),
    "calibration_test": tu.calibration_test,
    "compare": lambda probs, labels, **options: tu.compare(probs, probs, labels, **options),
    "compare_many": lambda probs, labels, **options: compare_many(
        {"one": probs, "two": probs}, labels, **options
    ),
    "certify": partial(tu.certify, max_error=0.1),
    "trade_off": trade_off,
    "group_errors": lambda probs, labels, **options: tu.group_errors(
        probs, labels, GROUPS, **options
    ),
    "class_tests": class_tests,
    "bin_tests": bin_tests,
    "power": partial(power, true_error=0.1, n=100),
    "sample_size": partial(sample_size, true_error=0.1),
}
DRAWING = {name: ask for name, ask in ASKED.items() if name not in ("certify", "analytic")}
RESAMPLING = [
    "interval",
    "analytic",
    "calibration_test",
    "compare",
    "compare_many",
    "group_errors",
    "class_tests",
    "bin_tests",
]
WITH_LEVEL = [
    "interval",
    "analytic",
    "compare",
    "compare_many",
    "certify",
    "trade_off",
    "group_errors",
]


@pytest.fixture
def no_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is refused must be refused before the first draw."""

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("drawn before all was checked")

    monkeypatch.setattr(Bootstrap, "of", fail)
    monkeypatch.setattr("trueup.inference.hypothesis_tests.consistency_resampling.keys_of", fail)
    monkeypatch.setattr("trueup.inference.hypothesis_tests.null_distribution.keys_of", fail)
    # The name of this module is that of a function too.
    monkeypatch.setattr(sys.modules["trueup.simulate.power_analysis"], "shared_pvalues", fail)


def refused(ask: Callable[[], object], argument: str, value: object) -> None:
    with pytest.raises(InputError) as caught:
        ask()
    sentence = str(caught.value)
    assert re.match(rf"`{argument}` must .+; got .+\.( Hint: .+[.?])?$", sentence), sentence
    short = " ".join(repr(value).split())[:20]
    assert short in sentence


@pytest.mark.parametrize("wrong", [95, 0, 1, -0.5, float("nan"), "0.95", None, True, [0.95]])
@pytest.mark.parametrize("name", WITH_LEVEL)
@pytest.mark.usefixtures("no_drawing")
def test_levels(name: str, wrong: object) -> None:
    refused(lambda: ASKED[name](P, Y, confidence_level=wrong), "confidence_level", wrong)


@pytest.mark.parametrize("wrong", [-1, 0, 2.5, 99.0, "99", None, True])
@pytest.mark.parametrize("name", RESAMPLING)
@pytest.mark.usefixtures("no_drawing")
def test_numbers_of_resamples(name: str, wrong: object) -> None:
    if name == "compare_many" and wrong is None:  # as many as the ranks of the models need
        wrong = "many"
    refused(lambda: ASKED[name](P, Y, n_resamples=wrong), "n_resamples", wrong)


@pytest.mark.parametrize("wrong", ["seed", -1, 1.5, True, [1, 2], np.random.SeedSequence(1)])
@pytest.mark.parametrize("name", [*DRAWING, "analytic"])
@pytest.mark.usefixtures("no_drawing")
def test_seeds(name: str, wrong: object) -> None:
    refused(lambda: ASKED[name](P, Y, rng=wrong), "rng", wrong)


@pytest.mark.parametrize("method", ["skce-distribution-free", "spiegelhalter", "hosmer-lemeshow"])
def test_seeds_of_tests_that_may_not_draw(method: str) -> None:
    refused(lambda: tu.calibration_test(P, Y, method=method, rng="seed"), "rng", "seed")


@pytest.mark.parametrize("wrong", ["exact", None, 3, ["auto"], np.array(["auto", "analytic"])])
@pytest.mark.parametrize("name", ["interval", "calibration_test", "certify", "trade_off"])
@pytest.mark.usefixtures("no_drawing")
def test_methods(name: str, wrong: object) -> None:
    if name == "calibration_test" and wrong is None:  # the method that fits the statistic
        wrong = 0
    refused(lambda: ASKED[name](P, Y, method=wrong), "method", wrong)


@pytest.mark.parametrize(
    ("ask", "argument", "value"),
    [
        (lambda: tu.interval(tu.ece, P, Y, target=["population"]), "target", ["population"]),
        (lambda: tu.certify(P, Y, max_error=0.1, norm=True), "norm", True),
        (lambda: tu.certify(P, Y, max_error=0.1, norm=np.array([1, 2])), "norm", np.array([1, 2])),
        (lambda: trade_off(P, Y, n_bins=[]), "n_bins", []),
        (lambda: trade_off(P, Y, n_bins=5), "n_bins", 5),
        (lambda: trade_off(P, Y, n_bins=[5, 0]), "n_bins", [5, 0]),
        (lambda: power(P, Y, true_error=0.1, n=100, alpha=5), "alpha", 5),
        (lambda: sample_size(P, Y, true_error=0.1, power=1), "power", 1),
        (lambda: bin_tests(P, Y, statistic=tu.ks_error), "statistic", tu.CumulativeError()),
        (lambda: class_tests(P, Y, statistic="ece"), "statistic", "ece"),
        (lambda: tu.group_errors(P, Y, GROUPS, estimator="ece"), "estimator", "ece"),
        (lambda: compare_many([P, P], Y), "models", [P]),
    ],
)
@pytest.mark.usefixtures("no_drawing")
def test_other_nonsense(ask: Callable[[], object], argument: str, value: object) -> None:
    refused(ask, argument, value)


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.usefixtures("no_drawing")
def test_data(name: str) -> None:
    ask, holes = ASKED[name], np.where(np.arange(120) == 3, np.nan, P)
    with pytest.raises(InputError, match=r"must be between 0 and 1; got nan in row 3"):
        ask(holes, Y)
    with pytest.raises(InputError, match=r"`labels` must be as long as .* got 119 rows"):
        ask(P, Y[:-1])
    with pytest.raises(InputError, match="must have at least one row"):
        ask([], [])
    with pytest.raises(InputError, match="`labels` is required"):
        ask(P, None)


@pytest.mark.parametrize("name", ["calibration_test", "compare", "group_errors", "class_tests"])
@pytest.mark.usefixtures("no_drawing")
def test_soft_labels_have_no_test(name: str) -> None:
    groups = GROUPS if name == "group_errors" else None
    soft = tu.Forecasts.from_arrays(P, P, soft_labels=True, groups=groups)
    ask = tu.group_errors if name == "group_errors" else partial(ASKED[name], labels=None)
    with pytest.raises(InputError, match="`labels` must be classes for a test of calibration"):
        ask(soft)


@pytest.mark.usefixtures("no_drawing")
def test_groups_of_rows_in_clusters() -> None:
    data = tu.Forecasts.from_arrays(P, Y, groups=GROUPS, clusters=np.arange(120) // 4)
    with pytest.raises(InputError, match="assumes independent rows, but `clusters` is set"):
        tu.group_errors(data, estimator=tu.ks_error)


@pytest.mark.parametrize("name", ASKED)
def test_any_kind_of_array(name: str) -> None:
    options: dict[str, Any] = {"n_resamples": 39} if name in RESAMPLING else {}
    options |= {"rng": 1} if name in DRAWING else {}
    options |= {"n_datasets": 20} if name in ("power", "sample_size") else {}
    ask = partial(ASKED[name], **options)
    expected = ask(P, Y).to_dict()
    assert ask(P.tolist(), Y.tolist()).to_dict() == expected
    index = np.arange(120)[::-1]
    assert ask(pd.Series(P, index=index), pd.Series(Y, index=index)).to_dict() == expected
    assert ask(pd.Series(P, index=index), pd.Series(Y, index=index + 7)).to_dict() == expected
    with pytest.raises(InputError, match=r"has the index of `\w+` in another order\. Hint: give"):
        ask(pd.Series(P, index=index), pd.Series(Y))
    assert ask(pl.Series(P), pl.Series(Y)).to_dict() == expected
    if name != "group_errors":
        assert ask(tu.Forecasts.from_arrays(P, Y), None).to_dict() == expected


@pytest.mark.parametrize("name", [name for name in ASKED if name not in ("power", "sample_size")])
def test_labels_without_some_classes(name: str) -> None:
    options = {"n_resamples": 39} if name in RESAMPLING else {}
    g = np.random.default_rng(1).dirichlet(np.ones(4), 120)
    for probs in (g, P):
        assert ASKED[name](probs, np.zeros(120, int), **options) is not None


def test_which_model_is_wrong_is_said() -> None:
    with pytest.raises(InputError, match=r"`probs_b` must be between 0 and 1; got 1.5 in row 0"):
        tu.compare(P, P + 1.5 - P[0], Y)
    with pytest.raises(InputError, match=r"`cold` must be between 0 and 1"):
        compare_many({"warm": P, "cold": P - 1}, Y)
    with pytest.raises(InputError, match=r"`probs_b` must be 1-D, as `probs_a` is; got a matrix"):
        tu.compare(P, np.column_stack([1 - P, P]), Y)


# What metrics and functions are


def test_named_metrics_stand_for_their_estimators() -> None:
    by_name = tu.calibration_test(P, Y, statistic=tu.ece, rng=0)
    assert by_name == tu.calibration_test(P, Y, statistic=tu.BinnedError(), rng=0)
    assert by_name.notes["estimator"] == repr(tu.BinnedError())
    ks = tu.calibration_test(P, Y, statistic=tu.kuiper, method="ks", rng=0)
    assert ks.method == "kuiper"
    found = tu.compare(P**2, P, Y, estimator=partial(tu.ece, n_bins=5), n_resamples=39, rng=0)
    assert found.difference == tu.ece(P**2, Y, n_bins=5) - tu.ece(P, Y, n_bins=5)
    assert len(bin_tests(P, Y, statistic=partial(tu.ece, n_bins=5), rng=0)) == 5


def test_options_that_a_metric_does_not_have() -> None:
    for options in ({"nbins": 5}, {"weights": np.ones(120)}):
        with pytest.raises(InputError, match="`estimator` must be a metric with options"):
            known_estimator(partial(tu.ece, **options))
    with pytest.raises(InputError, match="`statistic` must be a metric with options"):
        tu.calibration_test(P, Y, statistic=partial(tu.ece, nbins=5))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda p, y: 0.1, "`estimator` must accept one Forecasts; the call failed"),
        (lambda f: "much", "`estimator` must be a function that returns a number; got 'much'"),
        (lambda f: None, "`estimator` must be a function that returns a number; got None"),
        (lambda f: float("nan"), "`estimator` could not be computed on some resamples"),
    ],
)
def test_functions_that_are_no_estimators(function: Callable[..., object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        tu.interval(function, P, Y, n_resamples=39, rng=0)


def test_a_region_that_resamples_leave_empty() -> None:
    g = np.array([[0.2, 0.8], [0.4, 0.6], [0.5, 0.5]])
    error = tu.CumulativeError(tu.lens.OneVsRest(1, where=(0.7, 1)))
    with pytest.raises(InputError, match=r"`estimator` could not be computed on some resamples"):
        tu.interval(error, g, [0, 1, 1], n_resamples=39, rng=0)


def test_an_analytic_interval_needs_no_resamples() -> None:
    sure = tu.interval(tu.ece, P, Y, confidence_level=0.9999)
    assert sure.high > tu.interval(tu.ece, P, Y).high
    told = r"at least 19999; got 999\. Hint: a confidence level of 0\.9999 needs that many\."
    with pytest.raises(InputError, match=told):
        tu.interval(tu.ks_error, P, Y, confidence_level=0.9999)
