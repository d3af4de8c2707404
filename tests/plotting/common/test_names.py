"""Names of groups stay different when they are shortened, and dates and numbers in their order."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from trueup.plotting.common.names import distinct_words, order_of
from trueup.plotting.row_charts.class_and_group_errors import plot_group_errors
from trueup.tables import ResultTable

RUNS = [
    f"Meta-Llama-3.1-{size}B-Instruct_{task}"
    for size in (8, 70, 405)
    for task in ("boolq_valid", "commonsense_qa_val", "mmlu_test", "sat_en")
]


@pytest.mark.parametrize("longest", [4, 10, 18, 28, 200])
def test_different_names_are_never_shortened_to_the_same(longest) -> None:
    for names in (RUNS, [f"{'x' * 40}{k}{'y' * 40}" for k in range(9)], ["a", "b" * 90]):
        short = distinct_words(names, longest)
        assert len(set(short)) == len(names)
    assert distinct_words(RUNS, 30)[0] == "8B-Instruct_boolq_valid"


def test_equal_names_and_short_names_stay_as_they_are() -> None:
    assert distinct_words(["north", "south"], 20) == ["north", "south"]
    assert distinct_words(["a name"] * 3, 4) == ["a …e"] * 3
    assert distinct_words([], 5) == []
    assert distinct_words(["costs $5", "_x"], 20) == [r"costs \$5", " _x"]


@pytest.mark.parametrize(
    ("names", "ordered"),
    [
        (["2024-02-01", "2023-12-31", "2024-01-05"], [1, 2, 0]),
        ([date(2024, 2, 1), date(2024, 1, 1)], [1, 0]),
        ([np.datetime64("2024-02-01"), np.datetime64("2024-01-01")], [1, 0]),
        (["p_2024-02-01.parquet", "p_2024-01-31.parquet"], [1, 0]),
        (["week 10", "week 9"], [1, 0]),
        ([10, 9.5, 2], [2, 1, 0]),
        (["north", "south"], None),
        (["1", "south"], None),
        ([True, False], None),
    ],
)
def test_dates_and_numbers_have_an_order(names, ordered) -> None:
    assert order_of(names) == ordered


@pytest.mark.parametrize("count", [31, 32])
def test_days_stay_in_order_in_the_figure_of_groups(count) -> None:
    days = [str(np.datetime64("2024-01-01") + k) for k in range(count)]
    error = np.random.default_rng(0).random(count)
    table = ResultTable({"group": np.array(days[::-1]), "error": error})
    shown = [label.get_text() for label in plot_group_errors(table).get_yticklabels()]
    assert (shown == days) == (count == 31)
    assert len(shown) == count
