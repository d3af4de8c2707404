"""`trueup datasets`: example data on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueup as tu
from support.command_line import json_of
from trueup.datasets import LOADERS


def test_the_list_has_every_dataset(run) -> None:
    text = run("datasets").stdout
    assert all(f"{name} " in text for name in LOADERS)
    assert list(json_of(run("datasets", "--json"))) == list(LOADERS)


@pytest.mark.parametrize("name", LOADERS)
def test_a_dataset_says_what_is_true_of_it(run, name) -> None:
    found = json_of(run("datasets", name, "--json"))
    data = LOADERS[name]()
    assert found["known"] == pytest.approx(dict(data.known))
    text = " ".join(run("datasets", name).stdout.split())
    assert data.description in text
    assert f"trueup datasets {name} -o {name}." in text


def test_a_file(run, tmp_path: Path) -> None:
    result = run("datasets", "clinic", "-o", "clinic.csv")
    assert result.stdout == ""
    assert result.stderr == "trueup: 6,000 rows are in clinic.csv.\n"
    read = tu.read(tmp_path / "clinic.csv", probs="risk", labels="died")
    assert tu.oe_ratio(read) == tu.oe_ratio(LOADERS["clinic"]())


def test_a_folder(run, tmp_path: Path) -> None:
    result = run("datasets", "language_models", "-o", "answers")
    assert "4,000 rows are in 20 files in answers" in result.stderr
    assert len(list((tmp_path / "answers").glob("*.csv"))) == 20
    run("datasets", "clinic", "-o", "days", "--format", "parquet")
    assert len(list((tmp_path / "days").glob("*.parquet"))) == 6


def test_an_unknown_name(run) -> None:
    result = run("datasets", "clinics", code=2)
    assert "must be one of clinic, tumors, network, language_models" in result.stderr
