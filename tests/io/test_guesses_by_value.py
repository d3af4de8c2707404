"""Guesses that look at values: percentages, outcomes of 0 and 1, and never texts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import trueup as tu
from trueup.io import read, read_forecasts

Make = Callable[..., Path]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hospital,age,sex,risk,died_30d\nA,60,0,0.3,1\nB,61,1,0.1,0\n", "risk, label died_30d"),
        (
            "model,task,stated_confidence,is_right\na,b,0.5,1\na,b,0.6,0\n",
            "stated_confidence, label is_right",
        ),
        ("p,n,flag\n0.5,17,1\n0.2,13,0\n0.3,12,0\n", "p, label flag"),
        ("score,p,y\nhigh,0.5,1\nlow,0.2,0\n", "p, label y"),
        ("p,note,event,flag\n0.5,u,1,1\n0.2,v,0,1\n", "p, label event"),
        ("confidence,acc\n0.5,1.0\n0.25,0.0\n", "confidence, label acc"),
    ],
)
def test_guessed(make_file: Make, text: str, said: str) -> None:
    assert read_forecasts(make_file("p.csv", text)).text == f"using column {said}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("age,sex,risk\n60,0,0.5\n61,1,0.2\n", "no column name looks like labels"),
        ("risk,survived,age\n0.5,1,60\n0.2,0,61\n", "no column name looks like labels"),
        ("age,flag,status,risk\n60,0,dead,0.5\n61,1,alive,0.2\n", "no column name looks like lab"),
        ("p,a,b\n0.5,1,0\n0.2,0,1\n", "no column name looks like labels"),
        ("p,n,flag\n0.5,9,1\n0.2,8,1\n", "no column name looks like labels"),
        ("p,died,event,n\n0.5,1,0,7\n0.2,0,1,8\n", "in any of the columns died, event"),
        ("risk,stated_prob,y\n0.5,0.4,1\n0.2,0.1,0\n", "in any of: risk; stated_prob"),
        ("risk_group,y,n\nlow,1,7\nhigh,0,8\n", "no column name looks like a prediction"),
    ],
)
def test_not_guessed(make_file: Make, text: str, message: str) -> None:
    with pytest.raises(tu.InputError, match=message):
        read(make_file("p.csv", text))


def test_a_text_column_is_no_class(make_file: Make) -> None:
    found = read_forecasts(make_file("p.csv", "p_id,p_0,p_1,y\nx,0.5,0.5,1\nz,0.2,0.8,0\n"))
    assert found.text == "using columns p_0, p_1, label y"


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_percentages(make_file: Make, kind: str) -> None:
    rows = [("85%", 1), ("12.3%", 0)]
    lines = [json.dumps({"confidence": p, "correct": y}) for p, y in rows]
    csv = ["confidence,correct", *(f"{p},{y}" for p, y in rows)]
    found = read_forecasts(
        make_file(f"p.{kind}", "\n".join(csv if kind == "csv" else lines) + "\n")
    )
    assert found.forecasts.scores.tolist() == [0.85, 0.123]
    said = "confidence held percentages and was divided by 100"
    assert found.text == f"using column confidence, label correct; {said}"
    assert found.forecasts.remarks == (said,)


def test_two_columns_of_which_one_holds_percentages(make_file: Make) -> None:
    found = read_forecasts(make_file("p.csv", "guess,won\n85%,1\n,0\n3%,0\n"), drop_missing=True)
    assert found.forecasts.scores.tolist() == [0.85, 0.03]


def test_mixed_percentages(make_file: Make) -> None:
    path = make_file("p.csv", "p,y\n85%,1\n,1\n0.3,0\n")
    with pytest.raises(
        tu.InputError, match=r"'p' must hold percentages .* got '0\.3' in row 2 \(line 4\)"
    ):
        read(path)


def test_a_column_that_is_called_percent(make_file: Make) -> None:
    path = make_file("p.csv", "risk_percent,died_30d\n30,1\n1.5,0\n")
    found = read_forecasts(path)
    assert found.forecasts.scores.tolist() == [0.3, 0.015]
    assert "risk_percent held percentages" in found.text
    small = make_file("q.csv", "risk_percent,died_30d\n0.3,1\n0.9,0\n")
    with pytest.raises(
        tu.InputError, match=r"none of its numbers exceeds 1\. Hint: pass probs='ri"
    ):
        read(small)
    assert read(small, probs="risk_percent").scores.tolist() == [0.3, 0.9]
    large = make_file("r.csv", "risk_percent,died_30d\n30,1\n300,0\n")
    with pytest.raises(tu.InputError, match="must be between 0 and 1; got 30"):
        read(large, probs="risk_percent", labels="died_30d")


def test_nested_columns_of_an_evaluation_harness(make_file: Make) -> None:
    row = {
        "target": "0",
        "arguments": [["text", " a"], ["text", " b"]],
        "tags": ["u", "v"],
        "filtered_resps": [[-1.2, 0.1], [-2.3, 0.2]],
        "doc": {"q": "?"},
        "acc": 1.0,
    }
    path = make_file("s.jsonl", f"{json.dumps(row)}\n" * 3)
    with pytest.raises(tu.InputError, match="no column name looks like a prediction; columns: tar"):
        read(path)
    with pytest.raises(tu.InputError, match=r"column 'tags' must hold numbers; got 'u' in row 0"):
        read(path, probs="tags")
    with pytest.raises(
        tu.InputError, match="a number or a list of numbers per row; got lists of l"
    ):
        read(path, probs="filtered_resps")


def test_one_hot_labels_get_a_hint(make_file: Make) -> None:
    path = make_file("p.csv", "p_0,p_1,y_0,y_1\n0.5,0.5,1,0\n")
    with pytest.raises(tu.InputError, match=r"got y_0, y_1\. Hint: if labels are one-hot, write"):
        read(path, probs="p_*", labels="y_*")


def test_labels_of_a_class_each_are_explained(make_file: Make) -> None:
    one_hot = make_file("o.csv", "p_0,p_1,y_0,y_1\n0.5,0.5,1,0\n0.2,0.8,0,1\n")
    with pytest.raises(tu.InputError, match=r"Hint: y_0, y_1 look like one-hot labels: write the"):
        read(one_hot)
    several = make_file("m.csv", "p_0,p_1,y_0,y_1\n0.5,0.5,1,1\n0.2,0.8,0,1\n")
    with pytest.raises(tu.InputError, match=r"y_0, y_1 look multilabel: .* probs='p_1' `?labels"):
        read(several)
    assert read(several, probs="p_1", labels="y_1").labels.tolist() == [1, 1]  # as the hint says
    plain = make_file("n.csv", "p_0,p_1,y_0,y_1\n0.5,0.5,3,2\n0.2,0.8,0,1\n")
    with pytest.raises(tu.InputError, match=r"Hint: name the column of the labels with `labels`"):
        read(plain)


def test_sigmoid_scores_in_a_file_are_explained(make_file: Make) -> None:
    rows = "".join(f"0.{k % 9},0.{(5 * k) % 9},0.{(2 * k) % 7},{k % 3}\n" for k in range(1, 60))
    path = make_file("s.csv", f"p_0,p_1,p_2,y\n{rows}")
    words = r"look like sigmoid scores: evaluate each column separately, such as probs='p_2'"
    with pytest.raises(tu.InputError, match=words):
        read(path)


def test_one_hot_labels_of_an_npz_file_get_a_hint(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    np.savez(path, probs=np.full((4, 2), 0.5), labels=np.eye(2)[[0, 1, 1, 0]])
    with pytest.raises(tu.InputError, match=r"Hint: if labels are one-hot, write the number or na"):
        read(path)


def test_labels_are_guessed_although_predictions_are_not(make_file: Make) -> None:
    path = make_file("c.csv", "age,risk_percent,risk,died_30d\n50,30%,0.3,1\n60,20%,0.2,0\n")
    with pytest.raises(tu.InputError, match="predictions may be in any of: risk_percent; risk"):
        read(path)
    assert read(path, probs="risk").labels.tolist() == [1, 0]
    assert read(path, probs="risk_percent").scores.tolist() == [0.3, 0.2]


def test_samples_of_lm_eval_are_named(make_file: Make) -> None:
    row = {"doc": {}, "target": "0", "arguments": [["a", "b"]], "resps": [], "filtered_resps": []}
    path = make_file("s.jsonl", f"{json.dumps(row)}\n" * 3)
    with pytest.raises(tu.InputError, match="Hint: samples of lm-eval hold log-likelihoods: write"):
        read(path)


LOGITS = np.array([[2.0, -1.5, 0.0], [-0.5, 3.0, 1.0]])


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"outputs": LOGITS, "targets": np.array([0, 1])}, "outputs as logits, label targets"),
        ({"outputs": LOGITS, "k": np.array([0, 1])}, "outputs as logits, label k"),
        (
            {"id": np.arange(2), "y": np.array([0, 1]), "outputs": LOGITS, "w": np.array([0.5, 2])},
            "outputs as logits, label y (w not used)",
        ),
        ({"head": LOGITS[:, 0], "k": np.array([0, 1])}, "head as logits, label k"),
    ],
)
def test_logits_are_guessed_by_their_values(
    tmp_path: Path, arrays: dict[str, np.ndarray], said: str
) -> None:
    np.savez(tmp_path / "z.npz", **arrays)
    assert read_forecasts(tmp_path / "z.npz", logits=True).text == f"using column {said}"


def test_blocks_of_columns_are_guessed_to_be_logits(make_file: Make) -> None:
    block = make_file("z.csv", "out_1,out_0,k\n-2.5,0.5,0\n3.5,-1.0,1\n")
    assert read_forecasts(block, logits=True).names.probs == ("out_0", "out_1")
    named = make_file("n.csv", "cat,dog,y\n-2.5,0.5,dog\n3.5,-1.0,cat\n")
    assert read_forecasts(named, logits=True).names.probs == ("cat", "dog")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a_0,a_1,b_0,b_1,y\n-1.5,2,3.5,4.5,0\n2,1.5,0.5,7,1\n", "any of: a_0, a_1; b_0, b_1"),
        (
            "a_0,a_1,b_0,b_1,y\n-1.5,2,3.5,4.5,0\n2,1.5,0.5,7,1\n",
            "one, for example probs='a_0,a_1'",
        ),
        ("age,crp,y\n61,2.5,1\n60,-0.5,0\n", "choose them, for example probs='crp'"),
        ("s_0,s_1,y\n0.5,0.5,1\n0.2,0.8,0\n", "choose them, for example probs='s_0,s_1'"),
        ("name,size,y\na,7,1\nb,9,0\n", "choose them, for example probs='size'"),
        ("s_0,s_1,k,j\n-1.5,0.5,1,0\n0.2,3,0,1\n", "no column name looks like labels"),
        ("y\n1\n0\n", "name the columns of the predictions with `probs`"),
    ],
)
def test_hints_about_logits_name_real_columns(make_file: Make, text: str, message: str) -> None:
    with pytest.raises(tu.InputError, match=re.escape(message)):
        read(make_file("p.csv", text), logits=True)


def test_hints_about_probabilities_name_real_columns(make_file: Make) -> None:
    path = make_file("p.csv", "name,size,a,y\na,7,-3.5,1\nb,9,4.5,0\n")
    with pytest.raises(tu.InputError, match="Hint: choose them, for example probs='a'"):
        read(path)
