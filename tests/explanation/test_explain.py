"""Explanations: complete texts, and numbers that agree with other ways to compute them."""

from __future__ import annotations

import numpy as np
import pytest

import trueup as tu
from trueup import datasets, recalibrate
from trueup.explanation.clinical import ALIASES, CLINICAL
from trueup.explanation.scores import digits
from trueup.inference.hypothesis_tests.named_tests import TESTS, USES
from trueup.metrics import NAMED

RECALIBRATORS = [
    name
    for name in recalibrate.__all__
    if isinstance(getattr(recalibrate, name), type)
    and issubclass(getattr(recalibrate, name), tu.Recalibrator)
    and name != "Recalibrator"
]
MOST_LINES = 8
FEW = {"n": 100, "n_draws": 5}


@pytest.mark.parametrize("name", NAMED)
def test_a_metric_explains_itself(name: str) -> None:
    for what in (name, NAMED[name], NAMED[name].estimator()):
        found = tu.explain(what, **FEW)
        assert (found.name, found.kind, found.n) == (name, "metric", 100)
        assert found.lines["computed by"] == repr(NAMED[name].estimator())
    assert {"use it to", "instead"} <= set(found.lines)
    assert {"bias", "calibrated"} & set(found.lines)
    assert len(found.text.splitlines()) == MOST_LINES
    assert NAMED[name].use.endswith(".")
    assert NAMED[name].instead.endswith(".")


@pytest.mark.parametrize("name", RECALIBRATORS)
def test_a_recalibrator_explains_itself(name: str) -> None:
    found = tu.explain(name, n=60, n_draws=2)
    assert (found.name, found.kind) == (name, "recalibrator")
    assert {"use it for", "instead", "fit on"} <= set(found.lines)
    assert len(found.text.splitlines()) <= MOST_LINES
    kind = getattr(recalibrate, name)
    assert kind.use
    assert kind.instead


@pytest.mark.parametrize("name", TESTS)
def test_a_test_explains_itself(name: str) -> None:
    found = tu.explain(f"{name} test", n=60, n_draws=2)
    assert (found.name, found.kind) == (name, "test")
    assert {"use it to", "instead"} <= set(found.lines)
    assert ("rejects" in found.lines) == (name != "cluster-signs")
    assert len(found.text.splitlines()) <= MOST_LINES


def test_every_test_has_its_texts() -> None:
    assert set(USES) == set(TESTS)


@pytest.mark.parametrize("data", [datasets.clinic(), datasets.network()], ids=["1-D", "matrix"])
def test_the_bias_is_that_of_drawn_labels(data) -> None:
    """Drawn here by NumPy, of whole rows."""
    rng = np.random.default_rng(0)
    values = []
    for _ in range(100):
        u = rng.random(data.n)
        if data.is_matrix:
            labels = (u[:, None] > data.probs.cumsum(axis=1)[:, :-1]).sum(axis=1)
        else:
            labels = (u < data.probs).astype(int)
        values.append(tu.ece(data.with_labels(labels)))
    found = tu.explain("ece", data).numbers
    error = np.hypot(np.std(values) / 10, found["standard_error"])
    assert abs(found["expected"] - np.mean(values)) < 4 * error
    assert found["low"] < found["expected"] < found["high"]
    assert found["value"] == tu.ece(data)
    assert found["expected_with_more_rows"] < found["expected"]


def test_a_score_has_no_bias_but_an_expected_value() -> None:
    data = datasets.clinic()
    found = tu.explain("brier", data)
    expected = (data.probs * (1 - data.probs)).mean()
    assert "bias" not in found.lines
    assert abs(found.numbers["expected"] - expected) < 4 * found.numbers["standard_error"]


def test_an_unbiased_error_shows_none() -> None:
    found = tu.explain("skce", n=200)
    assert abs(found.numbers["expected"]) < 4 * found.numbers["standard_error"]


def test_n_is_the_number_of_rows_that_are_drawn() -> None:
    data = datasets.clinic()
    few, many = (tu.explain("ece", data, n=n).numbers["expected"] for n in (500, 5000))
    assert 2 < few / many < 5  # about √10
    text = tu.explain("ece", data, n=500).lines["your value"]
    assert text.endswith("with another number of rows.")


def test_scores_without_labels() -> None:
    found = tu.explain("ece", datasets.clinic().probs)
    assert "your value" not in found.lines
    assert found.numbers["expected"] == tu.explain("ece", datasets.clinic()).numbers["expected"]


def test_what_a_recalibrator_adds_shrinks_with_rows() -> None:
    data = datasets.clinic()
    costs = [tu.explain("PlattScaling", data, n=n).numbers["added_error"] for n in (300, 6000)]
    assert 2 < costs[0] / costs[1] < 10  # about √20
    same = tu.explain(tu.IdentityCalibration(), data).numbers["added_error"]
    assert same == 0


def test_the_false_positive_rate_of_a_test() -> None:
    found = tu.explain("omnibus", n=200).numbers
    assert abs(found["false_positive_rate"] - 0.05) < 4 * found["standard_error"]
    assert tu.explain("cox test", datasets.clinic(), n_draws=2).numbers["pvalue"] < 1e-6


@pytest.mark.parametrize("name", ["temperature", "venn-abers", "platt", "scaling-binning"])
def test_recalibrators_by_the_names_of_fit(name: str) -> None:
    found = tu.explain(name, **FEW).name.lower()
    assert found.startswith(name.replace("-", ""))


def test_an_estimator_without_a_name() -> None:
    found = tu.explain(tu.BinnedError(norm=3), **FEW)
    assert found.name == repr(tu.BinnedError(norm=3))
    assert "instead" not in found.lines


def test_the_same_seed_gives_the_same_numbers() -> None:
    assert tu.explain("ece", rng=3).numbers == tu.explain("ece", rng=3).numbers
    assert tu.explain("ece", rng=3).numbers != tu.explain("ece", rng=4).numbers


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tu.explain("eec"), "Hint: is it 'ece'"),
        (lambda: tu.explain(3), "`what` must be a metric, a recalibrator or a test"),
        (lambda: tu.explain("ece", n=1), "`n` must be"),
        (lambda: tu.explain("ici", datasets.network()), "columns|lens"),
    ],
)
def test_bad_arguments(call, message: str) -> None:
    with pytest.raises(tu.InputError, match=message):
        call()


@pytest.mark.parametrize(
    ("value", "text"), [(0.1, "0.1"), (12.3456, "12.3"), (1e-7, "1e-07"), (0.9999, "1")]
)
def test_digits(value: float, text: str) -> None:
    assert digits(value) == text


@pytest.mark.parametrize("name", [*ALIASES, *CLINICAL])
def test_a_clinical_measure_explains_itself(name: str) -> None:
    found = tu.explain(name, n=100, n_draws=5)
    assert found.name == ALIASES.get(name, name)
    assert {"use it to", "calibrated", "instead", "see also"} <= set(found.lines)
    assert len(found.text.splitlines()) <= MOST_LINES


def test_numbers_of_clinical_measures() -> None:
    """The range for calibrated models is that of drawn labels; own values are those of `cox`."""
    data, rng = datasets.clinic(), np.random.default_rng(0)
    found, result = tu.explain(tu.cox, data, n_draws=100), tu.cox(data)
    own = {each: getattr(result, each) for each in ("slope", "in_the_large", "intercept")}
    assert own.items() <= found.numbers.items()
    assert tu.explain("oe", data, n_draws=2).numbers["ratio"] == tu.oe_ratio(data)
    drawn = [tu.cox(data.probs, rng.random(data.n) < data.probs).slope for _ in range(100)]
    assert abs(found.numbers["expected"] - np.mean(drawn)) < 6 * np.std(drawn) / 10
    assert found.numbers["low"] < 1 < found.numbers["high"]
    assert result.slope < found.numbers["low"]


def test_clinical_measures_of_three_classes_have_no_numbers() -> None:
    found = tu.explain("slope", datasets.network(), n_draws=2)
    assert found.numbers == {}
    assert {"calibrated", "your value"}.isdisjoint(found.lines)
