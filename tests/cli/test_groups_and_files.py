"""Several files and groups on the command line: tables of groups, folders and hints."""

from __future__ import annotations

import numpy as np
import pytest

from support.command_line import json_of, overconfident
from trueup.evaluation import Evaluation
from trueup.io import open_table, write_table

QUICK = ("--resamples", "99", "--quick")
MODELS, TASKS = (
    ("claude", "gpt-4o", "llama-8b", "llama-70b", "qwen"),
    ("boolq", "gsm8k", "mmlu", "qa"),
)
PARTS = [(model, task) for model in MODELS for task in TASKS]
NUMBERS = [
    *("n", "mean_prediction", "observed_rate", "gap", "gap_low", "gap_high", "gap_pvalue", "ece"),
    *("error", "error_low", "error_high", "pvalue", "adjusted_pvalue"),
]


def of_part(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    confidence = rng.beta(6, 2, 40 + seed)
    return {
        "confidence": confidence,
        "correct": (rng.random(40 + seed) < confidence**2).astype(int),
    }


def test_five_models_and_four_tasks_of_a_folder(run, tmp_path) -> None:
    """One command, from a folder of files to the 5 × 4 table."""
    (tmp_path / "llm").mkdir()
    for seed, (model, task) in enumerate(PARTS):
        write_table(tmp_path / "llm" / f"{model}_{task}.csv", of_part(seed))
    result = run("evaluate", "llm", *QUICK, "-o", "groups.csv", "-o", "all.json")
    assert "the rows come from 20 files, and each file is a group." in result.stderr
    assert "saved the groups to groups.csv." in result.stderr
    text = result.stdout
    assert "All 20 groups" in text
    table = open_table("groups.csv")
    assert list(table.names) == ["file", "part_1", "part_2", *NUMBERS]
    names = table.column("file").tolist()
    assert sorted(names) == sorted(f"{model}_{task}" for model, task in PARTS)
    parts = table.columns(["part_1", "part_2"])
    assert list(map("_".join, zip(*parts.values(), strict=True))) == names
    assert set(parts["part_2"]) == set(TASKS)
    assert names.index("llama-8b_qa") < names.index("llama-70b_boolq")
    numbers = table.columns(NUMBERS)
    size = {f"{model}_{task}": 40 + seed for seed, (model, task) in enumerate(PARTS)}
    assert numbers["n"].tolist() == [size[name] for name in names]
    gap = numbers["observed_rate"] - numbers["mean_prediction"]
    np.testing.assert_allclose(numbers["gap"], gap, atol=1e-12)
    assert np.all((numbers["gap_low"] < gap) & (gap < numbers["gap_high"]))
    grid = text[text.index("ECE of groups") :].splitlines()[1:7]
    assert grid[0].split() == list(TASKS)
    assert [line.split()[0] for line in grid[1:]] == list(MODELS)
    ece = dict(zip(names, numbers["ece"], strict=True))
    assert grid[3].split()[1:] == [f"{ece[f'llama-8b_{task}']:.4f}" for task in TASKS]
    found = Evaluation.from_json("all.json")
    assert found.notes == ("the rows come from 20 files, and each file is a group",)
    assert found.group_table is not None
    np.testing.assert_array_equal(found.group_table["ece"], numbers["ece"])


def test_groups_of_two_columns(run, tmp_path) -> None:
    parts = [of_part(seed) for seed in range(4)]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    sizes = [len(part["correct"]) for part in parts]
    columns["model"] = np.repeat(["b", "b", "a", "a"], sizes)
    columns["n"] = np.repeat([10, 9, 10, 9], sizes)
    write_table("p.csv", columns)
    result = run("evaluate", "p.csv", "--groups", "model,n", *QUICK, "-o", "g.parquet", "--json")
    assert "groups model, n" in result.stderr
    table = open_table("g.parquet")
    assert list(table.names) == ["model", "group_n", *NUMBERS]
    assert table.column("model").tolist() == ["a", "a", "b", "b"]
    assert table.column("group_n").tolist() == [9, 10, 9, 10]
    assert json_of(result)["groups"]["table"]["data"]["group"] == [
        "a / 9",
        "a / 10",
        "b / 9",
        "b / 10",
    ]


def test_days_stay_in_order_and_all_are_shown(run, tmp_path) -> None:
    data = overconfident(620)
    days = np.repeat(np.arange("2024-01-01", "2024-02-01", dtype="datetime64[D]"), 20)
    write_table("p.csv", {**data, "day": days.astype(str)})
    result = run("evaluate", "p.csv", "--groups", "day", *QUICK, "-o", "days.csv")
    shown = [line.split()[0] for line in result.stdout.splitlines() if line.startswith("  2024-")]
    expected = [str(day) for day in np.unique(days)]
    assert shown[-31:] == expected
    assert open_table("days.csv").column("day").tolist() == expected


def test_a_table_needs_groups(run, files) -> None:
    said = run("evaluate", "wrong.csv", "-o", "g.csv", code=2).stderr
    assert "there are no groups. Hint: pass --groups, or several files, or write a *.json" in said
    said = run("evaluate", "wrong.csv", "right.csv", "-o", "wrong.csv", code=2).stderr
    assert "wrong.csv: is read, so it cannot be written to as well" in said


def test_fit_apply_and_compare_take_folders(run, tmp_path) -> None:
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        for seed in range(2):
            columns = overconfident(200, seed)
            if name == "new":
                columns["p"] = columns["p"] ** 0.5
            write_table(tmp_path / name / f"{seed}.csv", {"id": ["007"] * 200, **columns})
    said = run("fit", "old", "--method", "temperature", "-o", "c.json").stdout
    assert "trueup apply c.json new.csv -o fixed.csv" in said
    assert "wrote 400 rows" in run("apply", "c.json", "old", "-o", "fixed.csv").stderr
    fixed = open_table("fixed.csv")
    assert list(fixed.names) == ["id", "p", "y", "file"]
    assert fixed.texts(["id", "file"])["id"][0] == "007"
    assert fixed.column("file").tolist() == [0] * 200 + [1] * 200
    found = json_of(run("compare", "old", "new", "--resamples", "39", "--json"))
    assert found["models"] == ["old", "new"]


def test_groupwise_recalibration_by_two_columns(run, tmp_path) -> None:
    columns = overconfident(600)
    part = np.arange(600) % 4
    write_table("p.csv", {**columns, "model": np.array(["a", "b"])[part // 2], "task": part % 2})
    run("fit", "p.csv", "--groups", "model,task", "--method", "temperature", "-o", "c.json")
    run("apply", "c.json", "p.csv", "--groups", "model,task", "-o", "fixed.csv")
    fixed = open_table("fixed.csv").column("p")
    slopes = [
        np.median(np.log(fixed / (1 - fixed))[part == k] / _logit(columns["p"])[part == k])
        for k in range(4)
    ]
    assert len(set(np.round(slopes, 6))) == 4


def _logit(p: np.ndarray) -> np.ndarray:
    return np.log(p / (1 - p))


def test_apply_says_what_to_do_about_logits_and_percentages(run, files) -> None:
    run("fit", "wrong.csv", "--method", "temperature", "-o", "c.json")
    write_table("z.csv", {"p": [-3.0, 2.5]})
    said = run("apply", "c.json", "z.csv", code=2).stderr
    assert "Hint: the recalibrator takes probabilities: name their column with --probs;" in said
    assert "trueup fit --logits" in said
    write_table("r.csv", {"risk_percent": [3.0, 50.0], "id": ["007", "008"]})
    result = run("apply", "c.json", "r.csv", "--probs", "risk_percent")
    told = "column risk_percent (percentages) was replaced by risk_prob (probabilities)."
    assert told in result.stderr
    assert result.stdout.splitlines()[0] == "risk_prob,id"
    assert result.stdout.splitlines()[2] == "0.5,008"


@pytest.mark.parametrize(("typed", "meant"), [("eval", "evaluate"), ("aply", "apply")])
def test_commands_that_are_nearly_right(run, typed: str, meant: str) -> None:
    assert f"No such command '{typed}'. Did you mean '{meant}'?" in run(typed, "x", code=2).stderr
