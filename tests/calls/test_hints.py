"""Calls as people guess them: taken as meant where that is safe, else with a hint."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import trueup as tu
from trueup.calls.hints import OTHER_NAMES, CallError
from trueup.inference import compare_many, estimate_many
from trueup.plotting import plot_reliability

RNG = np.random.default_rng(0)
P = RNG.random(60)
Y = (RNG.random(60) < P).astype(int)
GROUPS = np.arange(60) % 3
ROWS = RNG.dirichlet(np.ones(3), 60)
CLASSES = RNG.integers(0, 3, 60)
MODEL = GaussianNB().fit(P[:, None], Y)
FEW: Any = {"n_resamples": 39}

UNKNOWN: list[tuple[Callable[[], Any], str]] = [
    (lambda: tu.ece(P, Y, bins=10), "`bins` is not an argument of ece. Hint: call it `n_bins`."),
    (lambda: tu.evaluate(P, Y, bins=10), "Hint: call it `n_bins`"),
    (lambda: tu.evaluate(P, Y, seed=1), "Hint: call it `rng`"),
    (lambda: tu.ece(y_prob=P, labels=Y), "`y_prob` is not an argument of ece. Hint: .*`probs`"),
    (lambda: tu.ece(P, Y, sample_weight=P), "Hint: call it `weights`"),
    (lambda: tu.interval(tu.ece, P, Y, n_boot=99), "Hint: call it `n_resamples`"),
    (lambda: tu.interval(tu.ece, P, Y, confidence=0.9), "Hint: call it `confidence_level`"),
    (lambda: tu.sample_size(prevalence=0.1), "`prevalence` is not an .* Hint: pass scores like"),
    (lambda: tu.read("x.csv", label="y"), "Hint: call it `labels`"),
    (lambda: tu.ece(P, Y, colour=1), "Hint: the arguments are probs, labels, n_bins, weights"),
    (lambda: tu.BinnedError(bins=10), "`bins` is not an .* Hint: pass binning=EqualWidth\\(10\\)"),
    (lambda: tu.TemperatureScaling(input="logits"), "of TemperatureScaling. Hint: .*logits=True"),
    (lambda: tu.PlattScaling(input="probs"), "`input` is not an .* Hint: leave it out"),
    (lambda: tu.HistogramBinning(bins=10), "of HistogramBinning. Hint: call it `n_bins`"),
    (lambda: tu.HistogramBinning(10), "takes 0 arguments by position; got 1. Hint: name them: n_b"),
    (lambda: tu.Forecasts(P, Y), "required. Hint: call Forecasts.from_arrays\\(probs, labels\\)"),
    (lambda: tu.CalibratedModel(), "`classifier` is required. Hint: call CalibratedModel\\(class"),
    (lambda: tu.evaluate(P, Y, quick=True), "Hint: pass recalibrate=False and advice=False"),
    (
        lambda: tu.ece(ROWS, CLASSES, soft_labels=True),
        "arrays\\(probs, labels, soft_labels=True\\)",
    ),
    (
        lambda: tu.ece(P, Y, classes=["a", "b"]),
        "Forecasts.from_arrays\\(probs, labels, classes=...",
    ),
    (lambda: tu.ece(P, Y, groups=GROUPS), "Hint: call group_errors\\(probs, labels, groups\\)"),
    (
        lambda: tu.ece(MODEL, P, Y),
        "got 3. Hint: .* of the model: ece\\(model.predict_proba\\(X\\), y",
    ),
    (lambda: tu.evaluate(MODEL, P, Y), "Hint: .* evaluate\\(model.predict_proba\\(X\\), y"),
    (
        lambda: tu.reliability_diagram(MODEL, P, Y),
        "Hint: pass the probabilities of the model: reli",
    ),
    (
        lambda: tu.reliability_diagram(P, Y, bins=9),
        "of reliability_diagram. Hint: call it `n_bins`",
    ),
    (lambda: tu.lineup(P, Y, seed=9), "of lineup. Hint: call it `rng`"),
    (lambda: tu.explain("ece", P, Y, seed=9), "of explain. Hint: call it `rng`"),
    (lambda: plot_reliability(P, Y), "got 2. Hint: reliability_diagram\\(probs, labels\\) makes"),
    (lambda: tu.Trace(tu.ece, tu.brier), "takes 1 argument .* got 2. Hint: pass one list: Trace"),
    (lambda: tu.evaluate({"p": P}, Y, probs="p"), "`probs` is passed twice. Hint: pass it once"),
    (lambda: tu.sample_size(P, Y), "`true_error` is required. Hint: call sample_size\\(probs, lab"),
    (lambda: tu.certify(P, Y), "`max_error` is required. Hint: call certify\\(probs, labels, max"),
    (lambda: tu.ece(), "`probs` is required. Hint: call ece\\(probs, labels\\)"),
    (lambda: tu.ece(P, Y, probs=P), "`probs` is passed twice"),
    (lambda: tu.evaluate(P, Y, Y), "takes 2 arguments by position \\(probs, labels\\); got 3"),
    (lambda: tu.evaluate(tu.ece, P, Y), "Hint: pass metrics by name: evaluate\\(probs, labels, m"),
    (lambda: tu.ece(tu.ece, P, Y), "Hint: pass data alone: ece\\(probs, labels\\)"),
]  # type: ignore[call-arg]


@pytest.mark.parametrize(("call", "words"), UNKNOWN, ids=[words for _, words in UNKNOWN])
def test_a_call_that_does_not_fit(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(CallError, match=words) as caught:
        call()
    assert isinstance(caught.value, TypeError)  # as Python's own
    assert isinstance(caught.value, tu.InputError)
    assert len(str(caught.value)) < 260
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_metric_may_come_first_last_or_by_name() -> None:
    by_name = tu.group_errors(P, Y, GROUPS, estimator=tu.ece, **FEW).table
    for call in (
        lambda: tu.group_errors(tu.ece, P, Y, GROUPS, **FEW),
        lambda: tu.group_errors(P, Y, GROUPS, tu.ece, **FEW),
        lambda: tu.group_errors(P, Y, GROUPS, tu.BinnedError(), **FEW),
    ):
        np.testing.assert_array_equal(call().table["error"], by_name["error"])
    first = tu.interval(tu.ece, P, Y)
    assert tu.interval(P, Y, tu.ece) == tu.interval(P, Y, estimator=tu.ece) == first
    assert tu.interval(estimator=tu.ece, probs=P, labels=Y) == first
    classes = tu.class_errors(tu.ece, ROWS, CLASSES)["error"]
    np.testing.assert_array_equal(tu.class_errors(ROWS, CLASSES, tu.ece)["error"], classes)
    compared = tu.compare(P, P**2, Y, estimator=tu.ece, **FEW)
    assert tu.compare(tu.ece, P, P**2, Y, **FEW).difference == compared.difference
    tested = tu.calibration_test(P, Y, statistic=tu.ece, **FEW)
    assert tu.calibration_test(P, Y, tu.ece, **FEW) == tested


def test_a_metric_function_wherever_a_metric_is_meant() -> None:
    assert tu.make_scorer(tu.ece).__repr__() == "make_scorer('ece')"
    assert tu.evaluate(P, Y, metrics=[tu.ece], recalibrate=False, advice=False, **FEW).estimate(
        "ece"
    ).value == tu.ece(P, Y)
    assert len(compare_many({"a": P, "b": P**2}, Y, estimator=tu.brier, **FEW)) == 1
    assert len(estimate_many([tu.ece], P, Y, **FEW)) == 1


def test_errors_of_our_own_stay_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*args: object, **options: object) -> None:
        raise TypeError("a fault inside")

    monkeypatch.setattr("trueup.forecasts.Forecasts.from_arrays", fault)
    with pytest.raises(TypeError, match="a fault inside") as caught:
        tu.cox(P, Y)
    assert not isinstance(caught.value, CallError)


def test_functions_keep_names_and_signatures() -> None:
    assert list(inspect.signature(tu.interval).parameters)[:3] == ["estimator", "probs", "labels"]
    assert "n_bins" in inspect.signature(tu.ece).parameters
    assert next(iter(inspect.signature(tu.BinnedError).parameters)) == "lens"
    assert pickle.loads(pickle.dumps(tu.evaluate)) is tu.evaluate


def test_other_names_lead_to_parameters_that_there_are() -> None:
    public = [getattr(tu, name) for name in tu.__all__ if not name.endswith("Error")]
    functions = [each for each in public if callable(each)] + [tu.BinnedError]
    known = {
        name
        for function in functions
        if callable(function)
        and not (isinstance(function, type) and issubclass(function, Exception))
        for name in inspect.signature(function).parameters
    }
    assert set(OTHER_NAMES) <= known


NOT_DATA: list[tuple[Callable[[], Any], str]] = [
    (lambda: tu.evaluate("x.csv"), "got a str. Hint: read a file first: trueup.read"),
    (lambda: tu.evaluate(Path("x.csv"), Y), "Hint: read a file first: trueup.read"),
    (lambda: tu.ece(P, "died"), "`labels` must .* got a str. Hint: pass .* such as frame\\['died'"),
    (lambda: tu.ece(len, Y), "got a builtin_function_or_method. Hint: pass the data here"),
    (lambda: tu.ece(tu.PlattScaling(), Y), "Hint: pass the probabilities that it predicts"),
    (lambda: tu.evaluate({"a": P}, Y), "got a dict. Hint: pass one array; evaluate"),
    (lambda: tu.ece(["10%", "0.2"], [0, 1]), "hold percentages .* in none; got '0.2' in row 1"),
    (lambda: tu.ece(["10%", "120%"], [0, 1]), "percentages from 0% to 100%; got '120%' in row 1"),
    (
        lambda: tu.ece(["10%", "Bay"], [0, 1]),
        "must hold numbers or percentages; got 'Bay' in row 1",
    ),
    (lambda: tu.explain("ece", "x.csv"), "got a str. Hint: read a file first"),
    (lambda: tu.interval("ece", P, Y), "got 'ece'. Hint: pass the function, trueup.ece, not its n"),
    (lambda: tu.interval(P, Y), "got an array of shape \\(60,\\). Hint: pass the metric first"),
    (lambda: tu.class_errors(ROWS, CLASSES), "got an array .* Hint: pass the metric first"),
    (lambda: tu.calibration_test(P, Y, statistic="ece"), "got 'ece'. Hint: pass the function, tru"),
    (lambda: tu.compare(P, P, Y, estimator="ece"), "got 'ece'. Hint: pass the function, trueup.e"),
    (lambda: tu.Trace(tu.ece), "got the function ece. Hint: pass a list of one"),
    (
        lambda: tu.ece(ROWS.argmax(1), CLASSES),
        "`probs` must be probabilities; got numbers of classes, as in `labels`. Hint: .*predict_pr",
    ),
    (lambda: tu.ece(ROWS.max(1), CLASSES), "Hint: pass the whole matrix .* or, with confidences"),
    (
        lambda: tu.ece([12345678901234567890, 1], [0, 1]),
        "got about 1.235e\\+19 in row 0. Hint: numbers this large look like identifiers",
    ),
    (
        lambda: tu.ece(P, [12345678901234567890] * 60),
        "got 12345678901234567890 in row 0. Hint: numbers this large look like identifiers",
    ),
    (
        lambda: tu.ece([0.5, 0.2], [12345678901234567890, 1]),
        "got about 1.235e\\+19 in row 0. Hint: numbers this large look like identifiers",
    ),
]


@pytest.mark.parametrize(("call", "words"), NOT_DATA, ids=[words for _, words in NOT_DATA])
def test_what_is_no_data(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(tu.InputError, match=words):
        call()


def test_hints_propose_own_arguments_of_the_function_that_was_called() -> None:
    for call, words in (
        (lambda: tu.ece(P * 9 - 4, Y), "Hint: pass logits=True if these are raw scores."),
        (
            lambda: tu.evaluate(ROWS * 0.99, CLASSES),
            "Hint: pass normalize=True if the values are rounded",
        ),
        (
            lambda: tu.ece(ROWS * 0.99, CLASSES),
            "normalize=True to Forecasts.from_arrays if the values",
        ),
        (lambda: tu.evaluate(P, ["a", "b"] * 30), "Hint: pass `classes`, the names in the order"),
        (lambda: tu.ece(P, ["a", "b"] * 30), "Hint: pass `classes` to Forecasts.from_arrays, the"),
    ):
        with pytest.raises(tu.InputError) as caught:
            call()
        assert words in str(caught.value)
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_frame_is_not_read() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(tu.InputError, match=r"got a DataFrame\. Hint: data in memory need no"):
        tu.read(pandas.DataFrame({"p": P, "y": Y}))  # type: ignore[arg-type]
