"""The first offending row is found exactly, wherever it is, and called by the caller's number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import trueup as tu

NAN = float("nan")
LATE = 65536 + 3
SUM_HINT = (
    "Hint: pass normalize=True to Forecasts.from_arrays if the values are rounded, "
    "or logits=True if these are raw scores."
)

HALF_HINT = (
    "Hint: these look like half-precision probabilities; "
    "pass normalize=True to Forecasts.from_arrays."
)


@pytest.fixture(params=["reference", "native"], autouse=True)
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    try:
        with tu.engines.using(request.param):
            yield request.param
    except tu.CapabilityError as missing:
        pytest.skip(str(missing))


def refusal(probs: Any, labels: Any, **options: Any) -> str:
    with pytest.raises(tu.InputError) as refused:
        tu.Forecasts.from_arrays(probs, labels, **options)
    return str(refused.value)


def start_of(message: str) -> str:
    """The message without its hint."""
    return message.partition(" Hint:")[0]


PLACES = [0, 1, 65535, 65536, LATE, 131071, 131072, 149_999]


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("place", PLACES)
def test_scores(place: int, kind: type) -> None:
    p = np.full(150_000, 0.5, kind)
    p[place:] = -0.25  # all later ones are wrong too
    y = np.zeros(len(p), np.int64)
    expected = f"`probs` must be between 0 and 1; got -0.25 in row {place}."
    assert start_of(refusal(p, y)) == expected
    p[place:] = NAN
    assert start_of(refusal(p, y)) == expected.replace("-0.25", "nan")
    assert (
        start_of(refusal(p, y, logits=True)) == f"`probs` must be finite; got nan in row {place}."
    )


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.int32, np.int8, np.int16, np.float64])
@pytest.mark.parametrize("place", PLACES)
def test_labels(place: int, kind: type) -> None:
    y = np.ones(150_000, kind)
    y[place:] = 3
    got = "3.0" if kind is np.float64 else "3"
    message = start_of(refusal(np.full(len(y), 0.5), y))
    assert message == f"`labels` must be 0 or 1; got {got} in row {place}."
    y[0], y[place:] = y[0], 4
    rows = np.broadcast_to([0.5, 0.25, 0.25], (len(y), 3))
    message = start_of(refusal(rows, y))
    got = got.replace("3", "4")
    assert message == f"`labels` must be whole numbers from 0 to 2; got {got} in row {place}."


@pytest.mark.parametrize("place", [0, 261, 262, 263, 524, 1999])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_rows_of_a_wide_matrix(place: int, order: str, kind: type) -> None:
    matrix = np.full((2000, 1000), 1e-3, kind, order=order)
    y = np.zeros(2000, int)
    matrix[place:, 700:] = 1.5
    message = refusal(matrix, y)
    assert start_of(message) == f"`probs` must be between 0 and 1; got 1.5 in row {place}."
    matrix[place:, 700:] = 0
    message = refusal(matrix, y)
    assert message.startswith("`probs` must sum to 1 in every row; got 0.7")
    assert message.endswith(f" in row {place}. {SUM_HINT}")
    matrix[place:, 999] = -np.inf
    message = start_of(refusal(matrix, y, logits=True))
    assert message == f"`probs` must be finite; got -inf in row {place}."


def test_after_rows_were_dropped() -> None:
    """Rows 0 and 2 are ignored, row 3 has weight 0; row 5 is wrong, and so is dropped row 2."""
    marks = [-1, 0, -1, 1, 1, 1, 0]
    weights = [1, 1, 1, 0, 1, 1, 1]
    options = {"ignore_label": -1, "weights": weights}
    p = [0.5, 0.5, 7.0, 0.5, 0.5, 1.5, 0.5]
    expected = "`probs` must be between 0 and 1; got 1.5 in row 5."
    assert start_of(refusal(p, marks, **options)) == expected
    two = np.column_stack([1 - np.array(p), p])
    assert start_of(refusal(two, marks, **options)) == expected.replace("1.5", "-0.5")
    two = np.full((7, 2), 0.5)
    two[[2, 5]] = 0.25
    expected = f"`probs` must sum to 1 in every row; got 0.5 in row 5. {SUM_HINT}"
    assert refusal(two, marks, **options) == expected
    z = np.array([NAN, 1, NAN, NAN, 2, NAN, 3])
    expected = "`probs` must be finite; got nan in row 5."
    assert start_of(refusal(z, marks, logits=True, **options)) == expected
    both = np.column_stack([z, z])
    assert start_of(refusal(both, marks, logits=True, **options)) == expected
    features = np.column_stack([np.ones(7), z])
    expected = "`features` must be finite; got nan in row 5."
    assert start_of(refusal([0.5] * 7, marks, features=features, **options)) == expected


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        (2, "0 or 1; got 2"),
        (0.5, "whole numbers; got 0.5"),
        (NAN, "present in every row; got nan"),
    ],
)
def test_labels_after_rows_were_dropped(wrong: float, rule: str) -> None:
    labels = np.array([-1, 0, -1, 9, 1, wrong, 0])
    weights = [1, 1, 1, 0, 1, 1, 1]
    message = refusal([0.5] * 7, labels, ignore_label=-1, weights=weights)
    assert start_of(message) == f"`labels` must be {rule} in row 5."


def test_names_after_rows_were_dropped() -> None:
    names = ["void", "a", "void", "b", "x"]
    message = refusal([0.5] * 5, names, ignore_label="void", classes=["a", "b"])
    assert start_of(message) == "`labels` must be among the names in `classes`; got 'x' in row 4."
    message = refusal([0.5] * 5, names, ignore_label="void")
    assert start_of(message) == "`labels` must be class numbers; got 'a' in row 1."


def test_soft_labels_after_rows_were_dropped() -> None:
    weights = [0, 1, 0, 1]
    matrix = np.full((4, 2), 0.5)
    soft = np.array([[9.0, 9], [0.5, 0.5], [9, 9], [1.5, -0.5]])
    message = refusal(matrix, soft, soft_labels=True, weights=weights)
    assert message == "`labels` must be between 0 and 1; got 1.5 in row 3."
    soft[3] = 0.25
    message = start_of(refusal(matrix, soft, soft_labels=True, weights=weights))
    assert message == "`labels` must sum to 1 in every row; got 0.5 in row 3."


def test_weights_are_checked_in_ignored_rows_too() -> None:
    message = refusal([0.5] * 3, [-1, 0, 1], ignore_label=-1, weights=[-2.0, 1, 1])
    assert start_of(message) == "`weights` must be finite and at least 0; got -2.0 in row 0."


@pytest.mark.parametrize("k", [2, 10, 100])
@pytest.mark.parametrize(
    ("kind", "tolerance"), [(np.float64, None), (np.float32, 1e-3), (np.float16, 1e-3)]
)
@pytest.mark.parametrize("sign", [-1, 1])
def test_tolerance_of_sums(k: int, kind: type, tolerance: float | None, sign: int) -> None:
    """Just inside, rows are accepted and made to sum to 1; just outside, they are refused."""
    allowed = 1e-6 * k if tolerance is None else tolerance
    step = 5e-4 if kind is np.float16 else 4 * np.finfo(kind).eps

    def rows(off: float) -> np.ndarray:
        matrix = np.zeros((3, k), kind)
        matrix[:, 0] = matrix[:, 1] = 0.5
        matrix[1, 0] += sign * off
        return matrix

    near, far = rows(allowed - step), rows(allowed + step)
    assert abs(near[1].sum(dtype=float) - 1) <= allowed < abs(far[1].sum(dtype=float) - 1)
    f = tu.Forecasts.from_arrays(near, [0, 1, 0])
    np.testing.assert_allclose(f.rows(slice(None)).sum(axis=1), 1, atol=1e-15)
    total = float(far[1].sum(dtype=float))
    hint = SUM_HINT if kind is np.float16 else HALF_HINT
    expected = f"`probs` must sum to 1 in every row; got {total} in row 1. {hint}"
    assert refusal(far, [0, 1, 0]) == expected
    f = tu.Forecasts.from_arrays(far, [0, 1, 0], normalize=True)
    np.testing.assert_allclose(f.rows(slice(None)).sum(axis=1), 1, atol=1e-15)


def test_probabilities_outside_are_refused_not_squashed() -> None:
    """One library takes everything for logits as soon as a value passes 1."""
    message = refusal([0.1, 0.9, 1.0000001], [0, 1, 1])
    assert message == (
        "`probs` must be between 0 and 1; got 1.0000001 in row 2. "
        "Hint: clip rounding errors to [0, 1]."
    )
