"""JSON and back without losing anything; one clear sentence for what is no evaluation."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import trueup as tu
from trueup.codec import read_back, written
from trueup.errors import InputError
from trueup.results import CalibrationTestResult
from trueup.tables import ResultTable


def differences(a, b, place: str = "it") -> list[str]:
    """Where two values differ, types and NaN included."""
    if type(a) is not type(b):
        return [f"{place}: {type(a).__name__} and {type(b).__name__}"]
    if isinstance(a, np.ndarray):
        kinds = a.dtype.kind == b.dtype.kind and (a.dtype.kind == "U" or a.dtype == b.dtype)
        same = kinds and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        return [] if same else [f"{place}: {a!r} and {b!r}"]
    if is_dataclass(a):
        pairs = [(f.name, getattr(a, f.name), getattr(b, f.name)) for f in fields(a)]
        if isinstance(a, CalibrationTestResult):  # its draws, and they alone, are not stored
            name, _, read = pairs.pop()
            assert (name, read) == ("null_draws", None)
    elif isinstance(a, dict):
        if list(a) != list(b):
            return [f"{place}: keys {list(a)} and {list(b)}"]
        pairs = [(key, a[key], b[key]) for key in a]
    elif isinstance(a, tuple | list):
        if len(a) != len(b):
            return [f"{place}: lengths {len(a)} and {len(b)}"]
        pairs = [(str(i), x, y) for i, (x, y) in enumerate(zip(a, b, strict=True))]
    else:
        same = a == b or (isinstance(a, float) and math.isnan(a) and math.isnan(b))
        return [] if same else [f"{place}: {a!r} and {b!r}"]
    return [text for name, x, y in pairs for text in differences(x, y, f"{place}.{name}")]


def refuse_constant(name: str) -> None:
    raise AssertionError(f"JSON has no {name}")


def test_nothing_is_lost(each) -> None:
    text = each.to_json()
    again = tu.Evaluation.from_dict(json.loads(text, parse_constant=refuse_constant))
    assert differences(each, again) == []
    assert again.to_json() == text
    assert str(again) == str(each)
    assert again._repr_html_() == each._repr_html_()


def test_by_a_file(found, tmp_path) -> None:
    path = tmp_path / "found.json"
    text = found("names").to_json(path)
    assert path.read_text("utf-8") == text
    for given in (path, str(path), text):
        assert differences(found("names"), tu.Evaluation.from_json(given)) == []


def test_values_of_every_kind() -> None:
    value = {"a": (1, 2.0, None, True, math.inf, -math.inf), 3: {"x": math.nan}, 2.5: "text"}
    text = json.dumps(written(value), allow_nan=False)
    again = read_back(dict, json.loads(text))
    assert list(again) == ["a", 3, 2.5]
    assert again["a"][4:] == [math.inf, -math.inf]
    assert [type(item) for item in again["a"][:4]] == [int, float, type(None), bool]
    assert math.isnan(again[3]["x"])
    columns = ResultTable({"name": np.array(["x", 3], object), "n": np.array([1, 2])})
    back = read_back(ResultTable, json.loads(json.dumps(written(columns))))
    assert differences(columns, back) == []


def test_the_same_data_and_seed_give_the_same_json(found, data) -> None:
    options = {"n_resamples": 99, "recalibrate": False, "advice": False}
    again = [tu.evaluate(data("weights"), **options, rng=rng) for rng in (0, 1)]
    assert again[0].to_json() == found("weights").to_json()
    assert again[1].to_json() != found("weights").to_json()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{garbage", "must be JSON of an evaluation"),
        ("[1]", "an evaluation from `to_dict`; got something else"),
        ('"text"', "an evaluation from `to_dict`; got something else"),
        ("{}", "an evaluation from `to_dict`; got something else"),
        ('{"schema": 9}', "was written by a newer version of trueup. Hint: upgrade trueup"),
        ('{"schema": 1}', "was written by an earlier version of trueup. Hint: evaluate again"),
        ('{"schema": true}', "got something else"),
        ('{"schema": 3}', "`Evaluation` must have an entry 'verdict'"),
    ],
)
def test_garbage_gets_one_sentence(text, words) -> None:
    with pytest.raises(InputError) as error:
        tu.Evaluation.from_json(text)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "wrong",
    [
        {"overview": 3},
        {"estimates": {"a": 1}},
        {"tables": {"reliability": {"kind": "bins"}}},
        {"tables": {"reliability": {"kind": "what"}}},
        {"tables": {"x": {"kind": "columns", "data": {"x": [{"$number": "zzz"}]}}}},
    ],
)
def test_a_wrong_part_gets_one_sentence(found, wrong) -> None:
    with pytest.raises(InputError, match=r"^`data` is not what `to_dict` of an evaluation wrote"):
        tu.Evaluation.from_dict(found("one row").to_dict() | wrong)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"schema": 9}, "newer version of trueup"),
        ({"frequencies": 3}, "is not what `to_dict` of an evaluation wrote"),
        ({"frequencies": [[]]}, "is not what `to_dict` of an evaluation wrote"),
        ({"overview": {}}, "`Overview` must have an entry"),
        ({"status": 5}, "is not what `to_dict` of an evaluation wrote"),
    ],
)
def test_a_wrong_file_is_named(found, tmp_path, wrong, told) -> None:
    path = tmp_path / "e.json"
    path.write_text(json.dumps(found("one row").to_dict() | wrong))
    with pytest.raises(InputError) as error:
        tu.Evaluation.from_json(path)
    assert str(error.value).startswith(str(path))
    assert told in str(error.value)


@pytest.mark.parametrize(
    "content",
    [b"{\xff}", b"", b"[" * 100_000, b'{"schema": ' + b"9" * 5000 + b"}"],
    ids=["no UTF-8", "empty", "nested", "endless number"],
)
def test_a_file_that_is_no_json_is_named(tmp_path, content) -> None:
    (tmp_path / "e.json").write_bytes(content)
    with pytest.raises(InputError, match=r"e\.json: `path` must be JSON of an evaluation"):
        tu.Evaluation.from_json(tmp_path / "e.json")


def test_numbers_that_no_float_can_hold(found) -> None:
    wrong = found("one row").to_dict()
    wrong["overview"]["mean_score"] = 10**400
    with pytest.raises(InputError, match=r"^`data` is not what `to_dict` of an evaluation wrote"):
        tu.Evaluation.from_dict(wrong)


def test_a_missing_file_is_said_to_be_missing(tmp_path) -> None:
    with pytest.raises(FileNotFoundError):
        tu.Evaluation.from_json(tmp_path / "none.json")


@pytest.mark.parametrize("kind", ["day", "second", object])
def test_groups_named_by_days(kind) -> None:
    rng = np.random.default_rng(0)
    p = rng.random(60)
    days = np.repeat(np.array(["2020-01-01", "2021-02-03"], "datetime64[D]"), 30)
    groups = days.astype("datetime64[us]" if kind == "second" else "datetime64[D]")
    groups = groups.astype(object if kind is object else groups.dtype)
    fast = {"metrics": [], "recalibrate": False, "advice": False, "n_resamples": 99}
    found = tu.evaluate(p, rng.random(60) < p, groups=groups, **fast)
    again = tu.Evaluation.from_json(found.to_json())
    assert differences(found, again) == []
    assert type(again.groups.group) is type(found.groups.group)


def test_groups_of_several_columns_come_back() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(60)
    groups = {"model": ["a", "b"] * 30, "task": [1] * 30 + [2] * 30}
    fast = {"metrics": [], "recalibrate": False, "advice": False, "n_resamples": 99}
    found = tu.evaluate(p, rng.random(60) < p, groups=groups, **fast)
    again = tu.Evaluation.from_json(found.to_json())
    assert differences(found, again) == []
    table = again.group_table
    assert table is not None
    assert list(table)[:3] == ["model", "task", "n"]
    assert table["task"].tolist() == [1, 2, 1, 2]
    with pytest.raises(tu.InputError, match="`groups` must be one name"):
        tu.evaluate(p, rng.random(60) < p, groups=np.zeros((60, 2, 2)))
