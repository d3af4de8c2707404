"""`trueup compare`, `certify`, `power` and `simulate`."""

from __future__ import annotations

import numpy as np
import pytest

from support.command_line import calibrated, json_of, overconfident
from trueup import certify, compare, simulate
from trueup.io import open_table, write_table


def two_models() -> dict[str, np.ndarray]:
    columns = overconfident(1500)
    logit = np.log(columns["p"] / (1 - columns["p"]))
    return {"raw": columns["p"], "fixed": 1 / (1 + np.exp(-logit / 2)), "y": columns["y"]}


def test_compare_two_files(run, files) -> None:
    columns = two_models()
    write_table("old.csv", {"p": columns["raw"], "y": columns["y"]})
    write_table("new.csv", {"p": columns["fixed"], "y": columns["y"]})
    text = run("compare", "old.csv", "new.csv").stdout
    assert "First: old.csv; second: new.csv" in text
    assert "The second model is better" in text
    found = json_of(run("compare", "old.csv", "new.csv", "--json"))
    expected = compare(columns["raw"], columns["fixed"], columns["y"], rng=0)
    assert found["models"] == ["old.csv", "new.csv"]
    assert found["difference"] == expected.difference
    assert found["pvalue"] == expected.pvalue
    failing = ("compare", "old.csv", "new.csv", "--fail-if", "difference.high < 0", "--fail-if")
    run(*failing, "difference > 0.01", code=1)
    run(*failing, "difference < 0.01")


def test_compare_columns_of_one_file(run, files) -> None:
    columns = two_models()
    write_table("both.csv", {**columns, "same": columns["fixed"]})
    models = ("--model", "raw=raw", "--model", "fixed=fixed")
    assert "First: raw; second: fixed" in run("compare", "both.csv", *models).stdout
    many = ("compare", "both.csv", *models, "--model", "again=same", "--resamples", "199")
    text = run(*many).stdout
    assert "No model is shown to be better calibrated than fixed or again" in text
    found = json_of(run(*many, "--json"))
    assert found["pairs"]["first_rank"][0] == 3
    assert "exactly two" in run(*many, "--fail-if", "pvalue > 0", code=2).stderr


def test_compare_through_a_metric(run, files) -> None:
    columns = two_models()
    write_table("both.csv", columns)
    args = ("compare", "both.csv", "--model", "a=raw", "--model", "b=fixed", "--metric")
    assert "brier" in run(*args, "brier").stdout
    assert "one of ace, brier" in run(*args, "accuracy", code=2).stderr


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["wrong.csv"], "second FILE"),
        (["wrong.csv", "wrong.csv"], "must not contain duplicates"),
        (["wrong.csv", "right.csv"], "other labels"),
        (["wrong.csv", "three.csv"], "1-D"),
        (["wrong.csv", "--model", "a=p"], "at least two --model options"),
        (["wrong.csv", "--model", "a=p", "--model", "a=p"], "a new name"),
        (["wrong.csv", "--model", "p", "--model", "q"], "NAME=COLUMNS"),
        (
            ["wrong.csv", "--model", "a=p", "--model", "b=p", "--probs", "p"],
            "either --probs or --model, not both",
        ),
        (["wrong.csv", "right.csv", "--fail-if", "ece > 1"], "no number 'ece'"),
    ],
)
def test_compare_refuses(run, files, args, text) -> None:
    assert text in run("compare", *args, code=2).stderr


def test_certify(run, files) -> None:
    p = np.random.default_rng(0).choice([0.2, 0.8], 20_000)
    y = (np.random.default_rng(1).random(20_000) < p).astype(int)
    write_table("two.csv", {"p": p, "y": y})
    args = ("certify", "two.csv", "--max-error", "0.05")
    assert "Verified" in run(*args, "--outputs", "0.2,0.8").stdout
    found = json_of(run(*args, "--outputs", "0.2,0.8", "--json"))
    expected = certify(p, y, max_error=0.05, outputs=[0.2, 0.8])
    assert (found["verdict"], found["upper_bound"]) == ("verified", expected.upper_bound)
    text = " ".join(run(*args).stdout.split())
    assert "declare them with --outputs" in text
    run(*args, "--fail-if", "upper_bound > 0.05", code=1)
    run(*args, "--outputs", "0.2,0.8", "--fail-if", "upper_bound > 0.05")
    assert "0.1,0.5,0.9" in run(*args, "--outputs", "low,high", code=2).stderr


def test_certify_what_a_calibrator_gave(run, files) -> None:
    write_table("fit.csv", calibrated(2000, seed=1))
    write_table("new.csv", calibrated(2000, seed=2))
    bins = ("--method", "histogram", "--param", "n_bins=4")
    run("fit", "fit.csv", *bins, "-o", "c.json")
    run("apply", "c.json", "new.csv", "-o", "fixed.csv")
    args = ("certify", "fixed.csv", "--max-error", "0.2", "--recalibrator")
    assert "Verified" in run(*args, "c.json").stdout
    run("fit", "fit.csv", "--method", "platt", "-o", "p.json")
    assert "histogram or scaling-binning" in run(*args, "p.json", code=2).stderr


def test_power(run, files) -> None:
    args = ("power", "wrong.csv", "--true-error", "0.1", "--n-datasets", "50")
    text = " ".join(run(*args, "--n", "300").stdout.split())
    assert "detects a true error of" in text
    assert "the omnibus test at the 5% level" in text
    assert "rows" in run(*args).stdout
    found = json_of(run(*args, "--n", "300", "--json"))
    assert 0 <= found["power"] <= 1
    assert found["statistic"] == "omnibus"
    assert "omnibus test" in " ".join(run("power", "--help").stdout.split())
    assert (
        "either --power or --n, not both"
        in run(*args, "--n", "300", "--power", "0.9", code=2).stderr
    )
    assert "--true-error must be" in run("power", "wrong.csv", "--true-error", "2", code=2).stderr


def test_study_of_published_worlds(run, files) -> None:
    assert "roelofs_figure_3" in run("simulate", "--list").stdout
    assert "kumar_a" in json_of(run("simulate", "--list", "--json"))
    args = (
        "simulate",
        "--world",
        "kumar_a",
        "--n",
        "50,100",
        "--n-datasets",
        "30",
        "--metric",
        "ece",
    )
    assert "like" not in run(*args).stdout
    found = json_of(run(*args, "--json"))
    expected = simulate.study(
        {"kumar_a": simulate.PUBLISHED["kumar_a"]},
        {"ece": simulate.recommendation.CANDIDATES["ece"]},
        [50, 100],
        n_datasets=30,
    )
    assert [row["mean"] for row in found["rows"]] == [row.mean for row in expected.rows]


def test_study_like_a_file_goes_on_where_it_stopped(run, files, monkeypatch) -> None:
    args = ("simulate", "wrong.csv", "--n", "60", "--n-datasets", "40", "-o", "out.csv")

    def stopped(path, columns) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("trueup.io.write_table", stopped)
        run(*args, code=130)
    assert (files / "out.csv.batches").exists()
    assert not (files / "out.csv").exists()
    assert "fits the 600 scores" in " ".join(run(*args).stdout.split())
    assert not (files / "out.csv.batches").exists()
    assert "rmse" in open_table("out.csv").names


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ([], "FILE or --world"),
        (["--world", "flat"], "trueup simulate --list"),
        (["--world", "kumar_a", "--n", "few"], "100,1000"),
        (["--world", "kumar_a", "--metric", "f1"], "one of ace"),
    ],
)
def test_study_refuses(run, files, args, text) -> None:
    assert text in run("simulate", *args, code=2).stderr
