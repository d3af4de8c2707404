"""Groups of several columns: distinct names, their order, and percentages as predictions."""

from __future__ import annotations

import copy
import pickle
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import trueup as tu
from trueup.forecasts.group_names import GroupName, grid_of, have_order, joined, numbered
from trueup.forecasts.sample_data import rows_of_groups

MODELS, TASKS = ["a", "a", "b"], ["x", "y", "x"]
JOINED = ["a / x", "a / y", "b / x"]


def forecasts_of(groups: Any) -> tu.Forecasts:
    return tu.Forecasts.from_arrays([0.1, 0.2, 0.3], [0, 1, 0], groups=groups)


@pytest.mark.parametrize(
    ("groups", "columns"),
    [
        ({"model": MODELS, "task": TASKS}, ("model", "task")),
        (pd.DataFrame({"model": MODELS, "task": TASKS}), ("model", "task")),
        (pl.DataFrame({"model": MODELS, "task": TASKS}), ("model", "task")),
        ([pd.Series(MODELS, name="model"), pd.Series(TASKS)], ("model", "group_2")),
        ([np.array(MODELS), np.array(TASKS)], ("group_1", "group_2")),
        (list(zip(MODELS, TASKS, strict=True)), ("group_1", "group_2")),
        (np.column_stack([MODELS, TASKS]), ("group_1", "group_2")),
    ],
)
def test_several_columns(groups: Any, columns: tuple[str, ...]) -> None:
    found = forecasts_of(groups)
    assert found.groups is not None
    assert found.groups.tolist() == JOINED
    assert found.group_columns == columns
    assert found.groups[0].parts == ("a", "x")


def test_one_column_stays_what_it_is() -> None:
    assert forecasts_of(MODELS).group_columns == ("group",)
    assert forecasts_of(pd.Series(MODELS, name="model")).group_columns == ("model",)
    assert forecasts_of({"model": [1, 2, 3]}).groups.tolist() == [1, 2, 3]  # type: ignore[union-attr]
    assert forecasts_of(None).group_columns == ()


@pytest.mark.parametrize(
    "columns",
    [
        [["a / b", "a"], ["c", "b / c"]],
        [[1, "1"], ["x", "x"]],
        [["a", "a"], [1, "1"]],
    ],
)
def test_different_groups_have_different_names(columns: list[list[Any]]) -> None:
    names = joined([np.array(column, object) for column in columns])
    assert len(set(names.tolist())) == 2


def test_a_missing_part_is_a_missing_group() -> None:
    groups = {"model": ["a", None, "b"], "task": TASKS}
    with pytest.raises(tu.InputError, match="`groups` must have a value in every row; got None in"):
        rows_of_groups(forecasts_of(groups).groups)


def test_names_are_copied_with_their_parts() -> None:
    name = GroupName("a / x", ("a", "x"))
    for found in (pickle.loads(pickle.dumps(name)), copy.deepcopy(name)):
        assert (found, found.parts) == ("a / x", ("a", "x"))


def test_dates_are_days_in_order() -> None:
    days = pd.to_datetime(["2024-02-01", "2024-01-31", "2024-02-01"])
    found = rows_of_groups(forecasts_of(days).groups)
    assert [name for name, _ in found] == [date(2024, 1, 31), date(2024, 2, 1)]
    assert [rows.tolist() for _, rows in found] == [[1], [0, 2]]


@pytest.mark.parametrize(
    ("names", "ordered", "has_order"),
    [
        (["day 10", "day 9"], ["day 9", "day 10"], True),
        (["b", "a"], ["a", "b"], False),
        ([10, 9], [9, 10], True),
        (["a10b", "a9b", "c"], ["a9b", "a10b", "c"], False),
        (["01", "1"], ["01", "1"], True),
        (["x" + "9" * 5000, "x1"], ["x1", "x" + "9" * 5000], True),
    ],
)
def test_order(names: list[Any], ordered: list[Any], has_order: bool) -> None:
    found = rows_of_groups(np.array(names * 2, object))
    assert [name for name, _ in found] == ordered
    assert have_order(names) is has_order


def test_parts_are_ordered_each_by_itself() -> None:
    names = joined([np.array(["m10", "m9", "m9"]), np.array([1, 10, 9])])
    assert [name for name, _ in rows_of_groups(names)] == ["m9 / 9", "m9 / 10", "m10 / 1"]


def test_long_runs_are_numbered_as_single_rows_are() -> None:
    runs = np.repeat(np.array(["b", "a", "b", None], object), 40_000)
    names, codes = numbered(runs)
    assert names == ["b", "a", None]
    assert codes[::40_000].tolist() == [0, 1, 0, 2]
    assert np.array(names, object)[codes].tolist() == runs.tolist()


def test_a_grid_of_names() -> None:
    grid = grid_of(["gpt-4o_boolq", "gpt-4o_mmlu", "llama_boolq", "llama_mmlu"])
    assert grid is not None
    assert (grid.rows, grid.columns) == (["gpt-4o", "llama"], ["boolq", "mmlu"])
    assert grid_of(["a_x", "a_y", "b_x"]) is None  # a text may hold a sign by chance
    some = grid_of(JOINED, [MODELS, TASKS])
    assert some is not None
    assert some.places == [("a", "x"), ("a", "y"), ("b", "x")]
    wide = grid_of(["-"] * 18, [["a"] * 9 + ["b"] * 9, list(range(9)) * 2])
    assert wide is not None
    assert (wide.rows, wide.columns, wide.turned) == (list(range(9)), ["a", "b"], True)
    assert grid_of([f"2024-0{m}-0{d}" for m in (1, 2) for d in (1, 2)]) is None
    assert grid_of([1, 2]) is None


def test_percentages() -> None:
    found = tu.Forecasts.from_arrays(["85%", "12.3\t%", "+0%"], [1, 0, 0])
    assert found.scores.tolist() == [0.85, 0.123, 0.0]
    assert found.remarks == ("the predictions were percentages and were divided by 100",)
    matrix = tu.Forecasts.from_arrays([["85%", "15%"], ["20%", "80%"]], [0, 1])
    assert matrix.rows(slice(0, 2)).tolist() == [[0.85, 0.15], [0.2, 0.8]]
    assert tu.Forecasts.from_arrays([0.5], [1]).remarks == ()
    result = tu.evaluate(["85%", "15%"] * 30, [1, 0] * 30, recalibrate=False, advice=False)
    assert result.notes == found.remarks
    assert "Note: the predictions were percentages" in str(result)
    assert tu.evaluation.Evaluation.from_json(result.to_json()).notes == result.notes


MIXED = "must hold percentages such as '85%' in every row or in none"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["85%", "0.3"], MIXED),
        ([0.3, "85%"], MIXED),
        (["85%", "half"], r"must hold numbers or percentages; got 'half' in row 1\."),
        (["120%", "3%"], r"must hold percentages from 0% to 100%; got '120%' in row 0\."),
    ],
)
def test_mixed_columns_are_refused(values: list[Any], message: str) -> None:
    with pytest.raises(tu.InputError, match=message):
        tu.Forecasts.from_arrays(np.array(values, object), [1, 0])


def test_rows_in_another_order() -> None:
    p, y = pd.Series([0.1, 0.2, 0.3]), pd.Series([0, 1, 0], index=[2, 1, 0])
    for column in ({"labels": y}, {"labels": [0, 1, 0], "weights": y + 1}):
        with pytest.raises(tu.InputError, match="has the index of `probs` in another order"):
            tu.Forecasts.from_arrays(p, **column)
    assert tu.Forecasts.from_arrays(p, y.to_numpy()).n == 3
    assert tu.Forecasts.from_arrays(p, y.set_axis([7, 8, 9])).n == 3
    assert tu.Forecasts.from_arrays(p, y.set_axis([0, 0, 1])).n == 3
