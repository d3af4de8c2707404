"""`trueup evaluate`. An evaluation takes a second, so that most tests share one."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

import numpy as np
import pytest

from support.command_line import json_of, overconfident, three_classes
from trueup import Forecasts
from trueup.cli.commands.evaluate import numbers_of
from trueup.cli.conditions import Condition, exit_code
from trueup.cli.evaluation_output import next_commands, show
from trueup.cli.terminal import Screen
from trueup.evaluation import Evaluation, evaluate

QUICK = ("--resamples", "99", "--quick")


@pytest.fixture(scope="module")
def wrong() -> Evaluation:
    """An evaluation with all its parts, of overconfident probabilities."""
    columns = overconfident()
    groups = np.arange(len(columns["p"])) % 7
    forecasts = Forecasts.from_arrays(columns["p"], columns["y"], groups=groups)
    return evaluate(forecasts, metrics=["ece"], n_resamples=99, advice=False)


@pytest.fixture(scope="module")
def right() -> Evaluation:
    """A quick evaluation of three calibrated classes."""
    columns = three_classes()
    probs = np.column_stack([columns[name] for name in columns if name != "label"])
    data = Forecasts.from_arrays(probs, columns["label"], classes=["dog", "cat", "eel"])
    return evaluate(data, metrics=["sce"], n_resamples=99, recalibrate=False, advice=False)


def shown(found: Evaluation, capsys: pytest.CaptureFixture[str]) -> str:
    show(Screen(), found, "p.csv", {})
    return " ".join(capsys.readouterr().out.split())


def test_the_verdict_comes_first(wrong, capsys) -> None:
    text = shown(wrong, capsys)
    assert text.startswith("The probabilities are miscalibrated (p")
    assert "too extreme" in text
    titles = (
        "location ",
        "precision ",
        "recommendation ",
        "expected gain ",
        "Calibration errors",
        "Scores: lower is better",
        "All 7 groups",
        "Natural frequencies",
        "Recalibration (out-of-fold)",
        "What next (held-out.csv stands for labeled rows used for no training or test): "
        "trueup fit held-out.csv --method",
        "trueup plot p.csv",
    )
    places = [text.index(f" {title}") for title in titles]
    assert places == sorted(places)
    for answer in wrong.answers.values():
        assert text.count(answer) == 1  # no sentence is repeated


def test_nothing_to_find_is_not_called_calibrated(right, capsys) -> None:
    text = shown(right, capsys)
    assert "no evidence of miscalibration at this sample size" in text
    assert "All 3 classes" in text
    assert " dog " in text
    assert "trueup fit" not in text
    assert "trueup power p.csv --true-error" in text


def test_commands_can_be_copied(wrong) -> None:
    columns = {"probs": "a b", "groups": "g", "classes": ["x", "y z"], "logits": True}
    lines = next_commands(wrong, "odd name.csv", {**columns, "normalize": False})
    data = ["held-out.csv", "--probs", "a b", "--classes", "x,y z", "--logits"]
    assert shlex.split(lines[0])[1:8] == ["fit", *data]
    assert lines[1] == "trueup apply calibrator.json new.csv --probs 'a b' -o fixed.csv"
    assert "--groups g" not in lines[0]
    assert "--groups g" in lines[2]
    assert shlex.split(lines[2])[1:3] == ["plot", "odd name.csv"]
    assert lines[2].endswith(" --kind groups -o groups.png")  # these data have groups
    assert "--normalize" not in "".join(lines)


def test_commands_name_files_of_the_format_that_was_read(wrong) -> None:
    lines = next_commands(wrong, ["a.parquet", "b c.parquet"], {})
    assert lines[0].startswith("trueup fit held-out.parquet --method")
    assert lines[1] == "trueup apply calibrator.json new.parquet -o fixed.parquet"
    assert lines[2] == "trueup plot a.parquet 'b c.parquet' --kind groups -o groups.png"
    (*_, last) = next_commands(replace(wrong, groups=None), "p.csv", {})
    assert last == "trueup plot p.csv -o reliability.png"
    assert next_commands(wrong, "p.csv.gz", {})[0].startswith("trueup fit held-out.csv ")


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("rmsce_debiased > 0.02", 1),
        ("rmsce_debiased > 0.9", 0),
        ("rmsce_debiased.low > 0.01", 1),
        ("rmsce_debiased.high < 0.01", 0),
        ("pvalue < 0.05", 1),
        ("ece.pvalue > 0.5", 0),
        ("brier <= 1", 1),
        ("log_loss.high > 100", 0),
    ],
)
def test_conditions(wrong, condition, code) -> None:
    assert exit_code([Condition.of(condition)], numbers_of(wrong)) == code


def test_the_pvalue_is_that_of_the_verdict(wrong, right) -> None:
    assert numbers_of(wrong)["pvalue"] == wrong.test.pvalue
    assert numbers_of(right)["pvalue"] == right.test.pvalue
    assert numbers_of(replace(right, pvalue=None))["pvalue"] is None


def test_json_is_the_evaluation_and_alone_on_standard_output(run, files) -> None:
    """Also: a metric that is measured only where it is asked for, and files."""
    asked = ("--fail-if", "kuiper > 0.01", "--fail-if", "brier < 0", "-o", "e.json")
    result = run("evaluate", "wrong.csv", *QUICK, *asked, "--json", "--plot", "e.svg", code=1)
    assert "using column p, label y." in result.stderr
    assert "failed, because kuiper > 0.01 holds" in result.stderr
    assert "brier" not in result.stderr
    found = json_of(result)
    assert found == json.loads((files / "e.json").read_text())
    assert Evaluation.from_json("e.json").overview.n == 600
    names = [each["metric"] for each in found["estimates"]]
    assert names[0] == "rmsce_debiased"
    assert {"ece", "ks_error", "kuiper"} <= set(names)
    assert (files / "e.svg").read_bytes().startswith(b"<?xml")


def test_standard_input(run, files) -> None:
    result = run("evaluate", "-", *QUICK, input=(files / "wrong.csv").read_bytes())
    assert result.stdout.startswith("The probabilities are miscalibrated")
    assert "What next" not in result.stdout  # there is no file to name
    assert result.stderr == "trueup: using column p, label y.\n"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--fail-if", "rmsce > 0.02 %"], "a name, one of"),  # prose: ok
        (["--fail-if", "acuracy > 0.02"], "There are: ace, brier"),
        (["--fail-if", "ece.median > 0.02"], "no number 'ece.median'"),
        (["--metric", "f1"], "one of ace"),
        (["--plot", "p.gif"], ".png"),
        (["-o", "none/e.json"], "There is no directory"),
    ],
)
def test_refused_before_the_file_is_read(run, files, args, said) -> None:
    assert said in run("evaluate", "missing.csv", *args, code=2).stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--probs", "q"], "has no column 'q'"),
        (["--labels", "p", "--probs", "p"], "cannot be both predictions and labels"),
        (["--confidence-level", "95"], "--confidence-level must be"),
        (["--resamples", "0"], "--resamples must be"),
        (["--bins", "0"], "--bins must be"),
        (["--format", "xls"], "--format must be"),
        (["--classes", "a,b,c"], "--classes must be"),
    ],
)
def test_bad_options(run, files, args, said) -> None:
    result = run("evaluate", "wrong.csv", *args, code=2)
    assert said in result.stderr
    assert result.stdout == ""
