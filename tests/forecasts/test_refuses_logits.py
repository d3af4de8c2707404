"""What is refused in `logits` and in swapped arguments, and the full text of each error."""

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


LOGITS = [
    (
        "nan",
        of([0.2, NAN], [0, 1], logits=True),
        "`probs` must be finite; got nan in row 1. "
        "Hint: drop or repair rows that contain NaN or infinity.",
    ),
    (
        "infinity",
        of([[0.0, 0.0], [0.0, INF]], [0, 1], logits=True),
        "`probs` must be finite; got inf in row 1. "
        "Hint: drop or repair rows that contain NaN or infinity.",
    ),
    (
        "minus infinity",
        of([[0.0, -INF], [0.0, 0.0]], [0, 1], logits=True),
        "`probs` must be finite; got -inf in row 0. "
        "Hint: a class that is ruled out can have a logit of -1e9.",
    ),
    (
        "declared as logits",
        of([[0.0, 0.0], [0.0, NAN]], [0, 1], logits=True),
        "`probs` must be finite; got nan in row 1. "
        "Hint: drop or repair rows that contain NaN or infinity.",
    ),
    (
        "too large for float64",
        of(np.array(["1e4000"], np.longdouble), [0], logits=True),
        "`probs` must be finite; got 1e+4000 in row 0. "
        "Hint: drop or repair rows that contain NaN or infinity.",
    ),
    (
        "one column",
        of([[0.5]], [0], logits=True),
        "`probs` must have shape (n,) or (n, K) with K ≥ 2; got an array of shape "
        "(1, 1). "
        "Hint: pass probs[:, 0] if that is the positive class.",
    ),
    (
        "scalar",
        of(2.5, [0], logits=True),
        "`probs` must be an array with one entry or row per sample; got a float.",
    ),
    (
        "nothing to be logits",
        of(None, [0], logits=True),
        "`probs` is required. Hint: call f(probs, labels).",
    ),
    (
        "length",
        of([0.2, 3.0], [0, 1, 1], logits=True),
        "`labels` must be as long as `probs`, which has 2 rows; got 3 rows.",
    ),
    (
        "text",
        of(["a"], [0], logits=True),
        "`probs` must hold real numbers; got 'a' in row 0. Hint: select the columns of numbers.",
    ),
]

SWAPPED = [
    (
        "whole first",
        of([0, 1, 1], [0.2, 0.7, 0.6]),
        "`probs` must be probabilities; got whole numbers, with fractions in `labels`. "
        "Hint: `probs` looks like labels: are the arguments swapped?",
    ),
    (
        "whole floats first",
        of([0.0, 1.0, 1.0], [0.2, 0.7, 0.6]),
        "`probs` must be probabilities; got whole numbers, with fractions in `labels`. "
        "Hint: `probs` looks like labels: are the arguments swapped?",
    ),
    (
        "booleans first",
        of([True, False], [0.2, 0.7]),
        "`probs` must be probabilities; got whole numbers, with fractions in `labels`. "
        "Hint: `probs` looks like labels: are the arguments swapped?",
    ),
    (
        "classes first",
        of([2, 0], [0.2, 0.7]),
        "`probs` must be probabilities; got whole numbers, with fractions in `labels`. "
        "Hint: `probs` looks like labels: are the arguments swapped?",
    ),
    (
        "classes before a matrix",
        of([2, 0], MATRIX),
        "`probs` must be probabilities; got whole numbers, with fractions in `labels`. "
        "Hint: `probs` looks like labels: are the arguments swapped?",
    ),
    (
        "classes before certain rows",
        of([2, 0], np.eye(3)[:2]),
        "`probs` must be probabilities; got whole numbers, with fractions in `labels`. "
        "Hint: `probs` looks like labels: are the arguments swapped?",
    ),
    (
        "one-hot before a matrix",
        of(np.eye(3, dtype=int)[:2], MATRIX),
        "`probs` must be probabilities; got whole numbers, with fractions in `labels`. "
        "Hint: `probs` looks like labels: are the arguments swapped?",
    ),
    (
        "one-hot before confidences",
        of(np.eye(3)[:2], [0.2, 0.7]),
        "`probs` must be probabilities; got whole numbers, with fractions in `labels`. "
        "Hint: `probs` looks like labels: are the arguments swapped?",
    ),
    (
        "names first",
        of(["cat", "dog"], [0.2, 0.7]),
        "`probs` must hold real numbers; got 'cat' in row 0. "
        "Hint: `probs` looks like labels: are the arguments swapped?",
    ),
    (
        "names before a matrix",
        of(np.array(["cat", "dog"], object), MATRIX),
        "`probs` must hold real numbers; got 'cat' in row 0. "
        "Hint: `probs` looks like labels: are the arguments swapped?",
    ),
    (
        "classes before certain confidences",
        of([0, 7], [0, 1]),
        "`probs` must be between 0 and 1; got 7 in row 1. "
        "Hint: divide percentages by 100; if these are labels, the arguments are "
        "swapped.",
    ),
]


@pytest.mark.parametrize(
    ("call", "message"),
    [pytest.param(call, text, id=name) for name, call, text in [*LOGITS, *SWAPPED]],
)
def test_logits_and_swapped_arguments(call: Callable[[], tu.Forecasts], message: str) -> None:
    with pytest.raises(tu.InputError) as refused:
        call()
    assert str(refused.value) == message
