"""What `Forecasts.from_arrays` refuses in `probs`, and the full text of each error."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

import trueup as tu

NAN, INF = float("nan"), float("inf")
MATRIX = [[0.5, 0.25, 0.25], [0.125, 0.5, 0.375]]


def of(probs: Any, labels: Any, **options: Any) -> Callable[[], tu.Forecasts]:
    """A call of `Forecasts.from_arrays` to be made in the test."""
    return partial(tu.Forecasts.from_arrays, probs, labels, **options)


PROBS = [
    (
        "nan",
        of([0.2, NAN, 0.7], [0, 1, 1]),
        "`probs` must be between 0 and 1; got nan in row 1. "
        "Hint: drop or repair rows that contain NaN or infinity.",
    ),
    (
        "infinity",
        of([0.2, INF], [0, 1]),
        "`probs` must be between 0 and 1; got inf in row 1. "
        "Hint: drop or repair rows that contain NaN or infinity.",
    ),
    (
        "above 1",
        of([0.2, 1.5, 0.7], [0, 1, 1]),
        "`probs` must be between 0 and 1; got 1.5 in row 1. "
        "Hint: pass logits=True to Forecasts.from_arrays if these are raw scores.",
    ),
    (
        "below 0",
        of([0.2, -0.5], [0, 1]),
        "`probs` must be between 0 and 1; got -0.5 in row 1. "
        "Hint: pass logits=True to Forecasts.from_arrays if these are raw scores.",
    ),
    (
        "rounding error",
        of([0.2, 1.0000001], [0, 1]),
        "`probs` must be between 0 and 1; got 1.0000001 in row 1. "
        "Hint: clip rounding errors to [0, 1].",
    ),
    (
        "float32 in its own digits",
        of(np.float32([0.2, 1.1]), [0, 1]),
        "`probs` must be between 0 and 1; got 1.1 in row 1. "
        "Hint: pass logits=True to Forecasts.from_arrays if these are raw scores.",
    ),
    (
        "percentages",
        of([20, 85], [0, 1]),
        "`probs` must be between 0 and 1; got 20 in row 0. "
        "Hint: divide percentages by 100; if these are labels, the arguments are "
        "swapped.",
    ),
    (
        "percentages with decimals",
        of([20.5, 85.25], [0, 1]),
        "`probs` must be between 0 and 1; got 20.5 in row 0. "
        "Hint: divide percentages by 100, "
        "or pass logits=True to Forecasts.from_arrays for raw scores.",
    ),
    (
        "nan in a matrix",
        of([[0.5, 0.5], [0.5, NAN]], [0, 1]),
        "`probs` must be between 0 and 1; got nan in row 1. "
        "Hint: drop or repair rows that contain NaN or infinity.",
    ),
    (
        "infinity in a matrix",
        of([[0.5, 0.5], [-INF, 1.0]], [0, 1]),
        "`probs` must be between 0 and 1; got -inf in row 1. "
        "Hint: drop or repair rows that contain NaN or infinity.",
    ),
    (
        "outside in a matrix",
        of([[0.5, 0.5], [2.5, -1.5]], [0, 1]),
        "`probs` must be between 0 and 1; got 2.5 in row 1. "
        "Hint: divide percentages by 100, "
        "or pass logits=True to Forecasts.from_arrays for raw scores.",
    ),
    (
        "sum too small",
        of([[0.5, 0.5], [0.5, 0.4]], [0, 1]),
        "`probs` must sum to 1 in every row; got 0.9 in row 1. "
        "Hint: pass normalize=True to Forecasts.from_arrays if the values are rounded, or "
        "logits=True if these are raw scores.",
    ),
    (
        "sum too large",
        of([[0.5, 0.5], [0.75, 0.75]], [0, 1]),
        "`probs` must sum to 1 in every row; got 1.5 in row 1. "
        "Hint: pass normalize=True to Forecasts.from_arrays if the values are rounded, or "
        "logits=True if these are raw scores.",
    ),
    (
        "rounded table",
        of(np.round(np.full((2, 3), 1 / 3), 4), [0, 1]),
        "`probs` must sum to 1 in every row; got 0.9999 in row 0. "
        "Hint: these look like half-precision probabilities; pass normalize=True to "
        "Forecasts.from_arrays.",
    ),
    (
        "zero sum",
        of([[0.5, 0.5], [0.0, 0.0]], [0, 1], normalize=True),
        "`probs` must have a sum above 1e-300 in every row; got 0.0 in row 1.",
    ),
    (
        "sum too small to divide by",
        of([[0.5, 0.5], [5e-324, 0.0]], [0, 1], normalize=True),
        "`probs` must have a sum above 1e-300 in every row; got 5e-324 in row 1.",
    ),
    (
        "missing",
        of(None, [0, 1]),
        "`probs` is required. Hint: call f(probs, labels).",
    ),
    (
        "missing entry",
        of([0.2, None], [0, 1]),
        "`probs` must be between 0 and 1; got nan in row 1. "
        "Hint: drop or repair rows that contain NaN or infinity.",
    ),
    (
        "missing entry of pandas",
        of(pd.Series([0.2, pd.NA], dtype="Float64"), [0, 1]),
        "`probs` must be between 0 and 1; got nan in row 1. "
        "Hint: drop or repair rows that contain NaN or infinity.",
    ),
    (
        "scalar",
        of(0.5, [0, 1]),
        "`probs` must be an array with one entry or row per sample; got a float.",
    ),
    (
        "whole scalar",
        of(1, 1),
        "`probs` must be an array with one entry or row per sample; got an int.",
    ),
    (
        "array without dimensions",
        of(np.array(0.5), [0]),
        "`probs` must be an array with one entry or row per sample; got an array of shape ().",
    ),
    (
        "text",
        of("0.5", [0]),
        "`probs` must be an array with one entry or row per sample; got a str. "
        "Hint: read a file first: trueup.read(path).",
    ),
    (
        "numbers as text",
        of(["0.5", "0.4"], [0, 1]),
        "`probs` must hold real numbers; got '0.5' in row 0. Hint: convert text to numbers first.",
    ),
    (
        "one number as text",
        of(np.array([0.5, "0.4"], dtype=object), [0, 1]),
        "`probs` must hold real numbers; got '0.4' in row 1. Hint: convert text to numbers first.",
    ),
    (
        "dict",
        of({"a": 0.5}, [0]),
        "`probs` must be an array with one entry or row per sample; got a dict. "
        "Hint: pass one array; evaluate(labels=labels, models={...}) takes several models.",
    ),
    (
        "generator",
        of((p for p in [0.5]), [0]),
        "`probs` must be an array with one entry or row per sample; got a generator.",
    ),
    (
        "complex",
        of([0.5 + 0j], [0]),
        "`probs` must hold real numbers; got (0.5+0j) in row 0.",
    ),
    (
        "dates",
        of(np.array(["2020-01-01"], "M8[D]"), [0]),
        "`probs` must hold real numbers; got datetime.date(2020, 1, 1) in row 0.",
    ),
    (
        "structured",
        of(np.zeros(2, [("a", float), ("b", float)]), [0, 1]),
        "`probs` must be an array of plain numbers; got a structured array. "
        "Hint: stack its fields into columns first.",
    ),
    (
        "ragged",
        of([[0.5, 0.5], [1.0]], [0, 1]),
        "`probs` must be rectangular; got rows of different lengths. "
        "Hint: check for missing entries.",
    ),
    (
        "empty",
        of([], []),
        "`probs` must have at least one row; got none.",
    ),
    (
        "empty matrix",
        of(np.empty((0, 3)), []),
        "`probs` must have at least one row; got none.",
    ),
    (
        "three dimensions",
        of(np.full((2, 4, 3), 1 / 3), [0, 1]),
        "`probs` must have shape (n,) or (n, K); got an array of shape (2, 4, 3). "
        "Hint: put classes last and reshape to (-1, K): every pixel or token is a row.",
    ),
    (
        "one column",
        of([[0.5], [0.4]], [0, 1]),
        "`probs` must have shape (n,) or (n, K) with K ≥ 2; got an array of shape (2, "
        "1). "
        "Hint: pass probs[:, 0] if that is the positive class.",
    ),
    (
        "no column",
        of([[], []], [0, 1]),
        "`probs` must have shape (n,) or (n, K) with K ≥ 2; got an array of shape (2, 0).",
    ),
    (
        "lazy frame",
        of(pl.LazyFrame({"p": [0.5]}), [0]),
        "`probs` must be held in memory; got a LazyFrame. "
        "Hint: call .collect() on a lazy frame first.",
    ),
    (
        "frame with a text column",
        of(pd.DataFrame({"id": ["a"], "p": [0.5]}), [0]),
        "`probs` must hold real numbers; got 'a' in row 0. Hint: select the columns of numbers.",
    ),
    (
        "sparse tensor",
        of(torch.eye(2).to_sparse(), [0, 1]),
        "`probs` must be dense; got a sparse tensor. Hint: call .to_dense() on it first.",
    ),
    (
        "masked",
        of(np.ma.masked_invalid([0.5, NAN]), [0, 1]),
        "`probs` must have no masked entries; got one in row 1. Hint: drop the masked rows first.",
    ),
    (
        "masked in a matrix",
        of(np.ma.masked_greater([[0.5, 0.5], [0.1, 0.9]], 0.8), [0, 1]),
        "`probs` must have no masked entries; got one in row 1. Hint: drop the masked rows first.",
    ),
    (
        "given twice",
        of([0.5], [0], logits=[0.5]),
        "`logits` must be True or False; got a list. Hint: pass the logits as `probs`.",
    ),
    (
        "labels first and logits",
        of([0], None, logits=np.array([0.5])),
        "`logits` must be True or False; got an array of shape (1,). "
        "Hint: pass the logits as `probs`.",
    ),
    (
        "Forecasts and labels",
        of(tu.Forecasts.from_arrays([0.5], [0]), [0]),
        "If `probs` is a Forecasts, pass no other data. "
        "Hint: pass labels and weights to Forecasts.from_arrays.",
    ),
    (
        "Forecasts and an option",
        of(tu.Forecasts.from_arrays([0.5], [0]), None, normalize=True),
        "If `probs` is a Forecasts, pass no other data. "
        "Hint: pass labels and weights to Forecasts.from_arrays.",
    ),
]


@pytest.mark.parametrize(
    ("call", "message"), [pytest.param(call, text, id=name) for name, call, text in PROBS]
)
def test_probs(call: Callable[[], tu.Forecasts], message: str) -> None:
    with pytest.raises(tu.InputError) as refused:
        call()
    assert str(refused.value) == message
