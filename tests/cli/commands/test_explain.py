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
    assert "is it 'ece'?" in run("explain", "eec", code=2).stderr
