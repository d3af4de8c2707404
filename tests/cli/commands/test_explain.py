"""`trueup explain`: the same as `trueup.explain`, for files."""

from __future__ import annotations

import pytest

import trueup as tu
from support.command_line import json_of


def test_a_metric_without_a_file(run) -> None:
    text = " ".join(run("explain", "ece", "--n", "500").stdout.split())
    assert text.startswith("ece: Expected calibration error")
    assert tu.explain("ece", n=500).lines["instead"] in text
    assert "(n = 500)" in text


def test_a_metric_of_a_file(run, files) -> None:
    found = json_of(run("explain", "ece", "wrong.csv", "--json"))
    expected = tu.explain("ece", tu.read("wrong.csv"))
    assert found["numbers"] == pytest.approx(dict(expected.numbers))
    assert found["n"] == 600


@pytest.mark.parametrize("name", ["TemperatureScaling", "omnibus", "skce test"])
def test_recalibrators_and_tests(run, files, name: str) -> None:
    text = run("explain", name, "three.csv", "--draws", "5").stdout
    assert text.startswith(name.removesuffix(" test"))
    assert "  instead" in text or "\ninstead" in text


def test_a_misspelled_name(run) -> None:
    told = run("explain", "eec", code=2).stderr
    assert "is it 'ece'?" in told
    assert "NAME must be a metric, a recalibrator or a test" in told
    assert "what" not in told
    assert "is it 'slope'?" in run("explain", "slop", code=2).stderr


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("slope", "cox"),
        ("intercept", "cox"),
        ("calibration-in-the-large", "cox"),
        ("O:E", "oe_ratio"),
        ("oe", "oe_ratio"),
    ],
)
def test_clinical_measures(run, files, name: str, measure: str) -> None:
    text = " ".join(run("explain", name, "wrong.csv", "--draws", "5").stdout.split())
    assert text.startswith(f"{measure}: ")
    said = {
        "cox": "Below 1, the probabilities are too extreme",
        "oe_ratio": "Above 1, more outcomes",
    }
    assert said[measure] in text
    assert " your value " in text
