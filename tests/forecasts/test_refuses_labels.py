"""What `Forecasts.from_arrays` refuses in labels, and the full text of each error."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import trueup as tu

NAN, INF = float("nan"), float("inf")
MATRIX = [[0.5, 0.25, 0.25], [0.125, 0.5, 0.375]]


def of(probs: Any, labels: Any, **options: Any) -> Callable[[], tu.Forecasts]:
    """A call of `Forecasts.from_arrays` to be made in the test."""
    return partial(tu.Forecasts.from_arrays, probs, labels, **options)


LABELS = [
    (
        "missing",
        of([0.5, 0.4], None),
        "`labels` is required. Hint: call f(probs, labels).",
    ),
    (
        "too few",
        of([0.5, 0.4, 0.3], [0]),
        "`labels` must be as long as `probs`, which has 3 rows; got 1 row.",
    ),
    (
        "too many",
        of([0.5], [0, 1]),
        "`labels` must be as long as `probs`, which has 1 row; got 2 rows.",
    ),
    (
        "transposed",
        of(np.full((2, 3), 1 / 3), [0, 1, 2]),
        "`labels` must be as long as `probs`, which has 2 rows; got 3 rows. "
        "Hint: pass probs.T if classes are in the rows.",
    ),
    (
        "scalar",
        of([0.5], 1),
        "`labels` must be an array with one entry or row per sample; got an int.",
    ),
    (
        "lazy frame",
        of([0.5], pl.LazyFrame({"y": [0]})),
        "`labels` must be held in memory; got a LazyFrame. "
        "Hint: call .collect() on a lazy frame first.",
    ),
    (
        "two in a binary problem",
        of([0.5, 0.4], [1, 2]),
        "`labels` must be 0 or 1; got 2 in row 1. "
        "Hint: pass classes=['negative', 'positive'] to Forecasts.from_arrays if labels have other "
        "names.",
    ),
    (
        "minus one in a binary problem",
        of([0.5, 0.4], [1, -1]),
        "`labels` must be 0 or 1; got -1 in row 1. "
        "Hint: pass classes=['negative', 'positive'] to Forecasts.from_arrays if labels have other "
        "names.",
    ),
    (
        "negative",
        of(MATRIX, [0, -1]),
        "`labels` must be whole numbers from 0 to 2; got -1 in row 1. "
        "Hint: pass ignore_label=-1 to Forecasts.from_arrays to drop such rows.",
    ),
    (
        "counted from one",
        of(MATRIX, [1, 3]),
        "`labels` must be whole numbers from 0 to 2; got 3 in row 1. "
        "Hint: subtract 1 from labels that count from 1.",
    ),
    (
        "too large",
        of(MATRIX, [0, 9]),
        "`labels` must be whole numbers from 0 to 2; got 9 in row 1. "
        "Hint: pass `classes` to Forecasts.from_arrays, in the order of the columns, if labels "
        "have other names.",
    ),
    (
        "too large for a float label",
        of(MATRIX, [0, 1e300]),
        "`labels` must be whole numbers from 0 to 2; got about 1e+300 in row 1. "
        "Hint: numbers this large look like identifiers: is this the column of labels?",
    ),
    (
        "too large unsigned",
        of(MATRIX, np.array([0, 2**64 - 1], np.uint64)),
        "`labels` must be whole numbers from 0 to 2; got 18446744073709551615 in row "
        "1. "
        "Hint: numbers this large look like identifiers: is this the column of labels?",
    ),
    (
        "fraction",
        of([0.5, 0.4], [1, 0.5]),
        "`labels` must be whole numbers; got 0.5 in row 1. "
        "Hint: pass soft_labels=True to Forecasts.from_arrays if these are probabilities.",
    ),
    (
        "infinity",
        of([0.5, 0.4], [1, INF]),
        "`labels` must be 0 or 1; got inf in row 1. "
        "Hint: pass classes=['negative', 'positive'] to Forecasts.from_arrays if labels have other "
        "names.",
    ),
    (
        "nan",
        of([0.5, 0.4], [1, NAN]),
        "`labels` must be present in every row; got nan in row 1. "
        "Hint: pass ignore_label=float('nan') to Forecasts.from_arrays to drop such rows.",
    ),
    (
        "None",
        of([0.5, 0.4], [1, None]),
        "`labels` must be present in every row; got None in row 1. "
        "Hint: pass ignore_label=float('nan') to Forecasts.from_arrays to drop such rows.",
    ),
    (
        "NA",
        of([0.5, 0.4], pd.Series([1, pd.NA], dtype="boolean")),
        "`labels` must be present in every row; got <NA> in row 1. "
        "Hint: pass ignore_label=float('nan') to Forecasts.from_arrays to drop such rows.",
    ),
    (
        "NA among names",
        of(MATRIX, pd.Series(["a", pd.NA]), classes="abc"),
        # pandas 3 shows its NA among strings as nan, older ones as <NA>
        f"`labels` must be present in every row; got {pd.Series(['a', pd.NA])[1]!r} in row 1. "
        "Hint: pass ignore_label=float('nan') to Forecasts.from_arrays to drop such rows.",
    ),
    (
        "masked",
        of([0.5, 0.4], np.ma.masked_equal([1, 0], 0)),
        "`labels` must have no masked entries; got one in row 1. Hint: drop the masked rows first.",
    ),
    (
        "booleans for three classes",
        of(MATRIX, [True, False]),
        "`labels` must be whole numbers from 0 to 2; got booleans. "
        "Hint: pass 1-D confidences as `probs` if these are True "
        "where the predicted class is right.",
    ),
    (
        "booleans with named classes",
        of(MATRIX, [True, False], classes=[0, 1, 2]),
        "`labels` must be whole numbers from 0 to 2; got booleans. "
        "Hint: pass 1-D confidences as `probs` if these are True "
        "where the predicted class is right.",
    ),
    (
        "names without classes",
        of(MATRIX, ["cat", "dog"]),
        "`labels` must be class numbers; got 'cat' in row 0. "
        "Hint: pass `classes` to Forecasts.from_arrays, the names in the order of the columns.",
    ),
    (
        "unknown name",
        of(MATRIX, ["a", "x"], classes="abc"),
        "`labels` must be among the names in `classes`; got 'x' in row 1. "
        "Hint: names must match exactly, including capitals and spaces.",
    ),
    (
        "unknown number",
        of([0.5, 0.4], [1, 0], classes=[1, 2]),
        "`labels` must be among the names in `classes`; got 0 in row 1.",
    ),
    (
        "column",
        of(MATRIX, [[0], [1]]),
        "`labels` must be one class per row; got an array of shape (2, 1). "
        "Hint: pass its one column as a 1-D array.",
    ),
    (
        "one-hot unasked",
        of(MATRIX, np.eye(3, dtype=int)[:2]),
        "`labels` must be one class per row; got an array of shape (2, 3). "
        "Hint: pass soft_labels=True to Forecasts.from_arrays for one-hot or soft labels.",
    ),
    (
        "lists",
        of(MATRIX, pd.Series([[0], [1, 2]]), classes="abc"),
        "`labels` must be one class per row; got [0] in row 0.",
    ),
    (
        "complex",
        of(MATRIX, [1j, 0]),
        "`labels` must be whole numbers, booleans or strings; got 1j in row 0.",
    ),
    (
        "dates",
        of(MATRIX, np.array(["2020-01-01", "2020-01-02"], "M8[D]")),
        "`labels` must be whole numbers, booleans or strings; got datetime.date(2020, "
        "1, 1) in row 0.",
    ),
    (
        "soft of a wrong shape",
        of(MATRIX, [0.5, 0.5], soft_labels=True),
        "`labels` must be soft labels of shape (n, 3); got an array of shape (2,).",
    ),
    (
        "soft of a wrong shape for 1-D",
        of([0.5, 0.4], np.eye(3)[:2], soft_labels=True),
        "`labels` must be soft labels of shape (n,) or (n, 2); got an array of shape (2, 3).",
    ),
    (
        "soft below 0",
        of(MATRIX, [[0.5, 0.5, 0], [1.5, -0.5, 0]], soft_labels=True),
        "`labels` must be between 0 and 1; got 1.5 in row 1.",
    ),
    (
        "soft above 1",
        of([0.5, 0.4], [0.5, 7], soft_labels=True),
        "`labels` must be between 0 and 1; got 7.0 in row 1.",
    ),
    (
        "soft nan",
        of([0.5, 0.4], [0.5, NAN], soft_labels=True),
        "`labels` must be present in every row; got nan in row 1. "
        "Hint: drop rows without a label first.",
    ),
    (
        "soft rows that do not sum to 1",
        of(MATRIX, [[0.5, 0.5, 0], [0.5, 0, 0]], soft_labels=True),
        "`labels` must sum to 1 in every row; got 0.5 in row 1. "
        "Hint: divide each row of labels by its sum.",
    ),
    (
        "soft text",
        of([0.5], ["a"], soft_labels=True),
        "`labels` must hold real numbers; got 'a' in row 0.",
    ),
    (
        "all ignored",
        of([0.5, 0.4], [-1, -1], ignore_label=-1),
        "No row is left after dropping ignored `labels` and zero weights.",
    ),
    (
        "all ignored or without weight",
        of([0.5, 0.4], [-1, 1], ignore_label=-1, weights=[1, 0]),
        "No row is left after dropping ignored `labels` and zero weights.",
    ),
]


@pytest.mark.parametrize(
    ("call", "message"), [pytest.param(call, text, id=name) for name, call, text in LABELS]
)
def test_labels(call: Callable[[], tu.Forecasts], message: str) -> None:
    with pytest.raises(tu.InputError) as refused:
        call()
    assert str(refused.value) == message
