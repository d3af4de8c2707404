"""What is refused in weights, groups, features and clusters, and the text of each error."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import trueup as tu

NAN, INF = float("nan"), float("inf")
MATRIX = [[0.5, 0.25, 0.25], [0.125, 0.5, 0.375]]


def of(probs: Any, labels: Any, **options: Any) -> Callable[[], tu.Forecasts]:
    """A call of `Forecasts.from_arrays` to be made in the test."""
    return partial(tu.Forecasts.from_arrays, probs, labels, **options)


BESIDE = [
    (
        "negative weight",
        of([0.5, 0.4], [0, 1], weights=[1, -2]),
        "`weights` must be finite and at least 0; got -2 in row 1. "
        "Hint: a weight of 0 drops a row.",
    ),
    (
        "nan weight",
        of([0.5, 0.4], [0, 1], weights=[1, NAN]),
        "`weights` must be finite and at least 0; got nan in row 1. "
        "Hint: a weight of 0 drops a row.",
    ),
    (
        "missing weight",
        of([0.5, 0.4], [0, 1], weights=[1, None]),
        "`weights` must be finite and at least 0; got nan in row 1. "
        "Hint: a weight of 0 drops a row.",
    ),
    (
        "infinite weight",
        of([0.5, 0.4], [0, 1], weights=[1, INF]),
        "`weights` must be finite and at least 0; got inf in row 1. "
        "Hint: a weight of 0 drops a row.",
    ),
    (
        "weights too large for float64",
        of([0.5], [0], weights=np.array(["1e4000"], np.longdouble)),
        "`weights` must be finite and at least 0; got 1e+4000 in row 0. "
        "Hint: a weight of 0 drops a row.",
    ),
    (
        "weights too large to square",
        of([0.5], [0], weights=[1e200]),
        "`weights` are too large or too small to square and sum; the largest is 1e+200. "
        "Hint: divide them by the largest.",
    ),
    (
        "weights too small to square",
        of([0.5], [0], weights=[1e-200]),
        "`weights` are too large or too small to square and sum; the largest is 1e-200. "
        "Hint: divide them by the largest.",
    ),
    (
        "weights all zero",
        of([0.5, 0.4], [0, 1], weights=[0, 0]),
        "`weights` must contain a positive value; all are zero.",
    ),
    (
        "weights of another length",
        of([0.5, 0.4], [0, 1], weights=[1]),
        "`weights` must be as long as `probs`, which has 2 rows; got 1 row.",
    ),
    (
        "weights in columns",
        of([0.5, 0.4], [0, 1], weights=[[1], [1]]),
        "`weights` must be one number per row; got an array of shape (2, 1).",
    ),
    (
        "scalar weight",
        of([0.5, 0.4], [0, 1], weights=2),
        "`weights` must be an array with one entry or row per sample; got an int.",
    ),
    (
        "text weights",
        of([0.5, 0.4], [0, 1], weights=["a", "b"]),
        "`weights` must hold real numbers; got 'a' in row 0.",
    ),
    (
        "groups of another length",
        of([0.5, 0.4], [0, 1], groups=["a"]),
        "`groups` must be as long as `probs`, which has 2 rows; got 1 row.",
    ),
    (
        "clusters of another length",
        of([0.5, 0.4], [0, 1], clusters=["a"]),
        "`clusters` must be as long as `probs`, which has 2 rows; got 1 row.",
    ),
    (
        "features of another length",
        of([0.5, 0.4], [0, 1], features=[[1.0, 2.0]]),
        "`features` must be as long as `probs`, which has 2 rows; got 1 row.",
    ),
    (
        "nan feature",
        of([0.5, 0.4], [0, 1], features=[[1.0, 2.0], [3.0, NAN]]),
        "`features` must be finite; got nan in row 1. Hint: fill missing values or drop such rows.",
    ),
    (
        "text feature",
        of([0.5, 0.4], [0, 1], features=["a", "b"]),
        "`features` must hold real numbers; got 'a' in row 0. Hint: encode names as numbers first.",
    ),
    (
        "features of three dimensions",
        of([0.5], [0], features=np.zeros((1, 2, 3))),
        "`features` must be one row of numbers per sample; got an array of shape (1, 2, 3).",
    ),
    (
        "too few classes",
        of(MATRIX, ["a", "b"], classes=["a", "b"]),
        "`classes` must be a list of 3 names; got 2 names.",
    ),
    (
        "repeated class",
        of(MATRIX, ["a", "b"], classes=["a", "b", "a"]),
        "`classes` must be a list of different names; got 'a' twice.",
    ),
    (
        "repeated class that is a tuple",
        of(MATRIX, [0, 1], classes=[("a", 1), "b", ("a", 1)]),
        "`classes` must be a list of different names; got ('a', 1) twice.",
    ),
    (
        "number of classes",
        of(MATRIX, [0, 1], classes=3),
        "`classes` must be a list of 3 names; got 3.",
    ),
    (
        "unhashable classes",
        of(MATRIX, [0, 1], classes=[[0], [1], [2]]),
        "`classes` must be a list of 3 names; got [[0], [1], [2]].",
    ),
    (
        "ignore_label of several",
        of(MATRIX, [0, 1], ignore_label=[0, 1]),
        "`ignore_label` must be one label; got [0, 1].",
    ),
    (
        "ignore_label for soft labels",
        of(MATRIX, np.eye(3)[:2], ignore_label=0, soft_labels=True),
        "`ignore_label` must be None if labels have one column per class; got 0.",
    ),
]


@pytest.mark.parametrize(
    ("call", "message"), [pytest.param(call, text, id=name) for name, call, text in BESIDE]
)
def test_what_stands_beside(call: Callable[[], tu.Forecasts], message: str) -> None:
    with pytest.raises(tu.InputError) as refused:
        call()
    assert str(refused.value) == message
