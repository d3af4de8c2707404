"""Every accepted kind of labels means the same class numbers; ignored rows are gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch

import trueup as tu

N, K = 240, 3
RNG = np.random.default_rng(20)
CUTS = np.sort(RNG.integers(0, 17, (N, K - 1)), axis=1)
MATRIX = np.diff(np.hstack([np.zeros((N, 1)), CUTS, np.full((N, 1), 16)]), axis=1) / 16
LABELS = RNG.integers(0, K, N)
SCORES = RNG.integers(0, 17, N) / 16
BINARY = RNG.integers(0, 2, N)


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64, ">i4", ">i8"])
@pytest.mark.parametrize("make", [np.asarray, lambda a: a.repeat(2)[::2], pd.Series, list])
def test_integer_labels(kind: str, make: Callable[[np.ndarray], Any]) -> None:
    for signed in (kind, np.dtype(kind).str.replace("i", "u")):
        assert tu.ece(SCORES, make(BINARY.astype(signed))) == tu.ece(SCORES, BINARY)
        assert tu.sce(MATRIX, make(LABELS.astype(signed))) == tu.sce(MATRIX, LABELS)


@pytest.mark.parametrize(
    "make",
    [
        np.ndarray.tolist,
        lambda a: a.astype(np.float16),
        lambda a: a.astype(np.float64),
        lambda a: a.astype(np.longdouble),
        lambda a: a.astype(object),
        lambda a: pd.Series(a, dtype="Int64"),
        lambda a: pd.Series(a, dtype="category"),
        lambda a: pd.Series(a, dtype="int32[pyarrow]"),
        lambda a: pl.Series("y", a, dtype=pl.UInt8),
        pa.array,
        torch.from_numpy,
        array_api_strict.asarray,
    ],
)
def test_other_labels(make: Callable[[np.ndarray], Any]) -> None:
    assert tu.ece(SCORES, make(BINARY)) == tu.ece(SCORES, BINARY)
    assert tu.sce(MATRIX, make(LABELS)) == tu.sce(MATRIX, LABELS)


@pytest.mark.parametrize(
    "make",
    [
        np.asarray,
        np.ndarray.tolist,
        lambda a: a.astype(object),
        pd.Series,
        lambda a: pd.Series(a, dtype="boolean"),
        lambda a: pl.Series("y", a),
        pa.array,
        torch.from_numpy,
    ],
)
def test_boolean_labels(make: Callable[[np.ndarray], Any]) -> None:
    was_right = make(BINARY.astype(bool))
    assert tu.ece(SCORES, was_right) == tu.ece(SCORES, BINARY)
    two = np.column_stack([1 - SCORES, SCORES])
    assert tu.sce(two, was_right) == tu.sce(two, BINARY)


NAMES = np.array(["cat", "dog", "bird"])


@pytest.mark.parametrize(
    "make",
    [
        np.asarray,
        np.ndarray.tolist,
        lambda a: a.astype(object),
        pd.Series,
        lambda a: pd.Series(a, dtype="category"),
        lambda a: pd.Categorical(a),
        lambda a: pl.Series("y", a.tolist()),
        lambda a: pl.Series("y", a.tolist(), dtype=pl.Categorical),
        lambda a: pa.array(a.tolist()),
        lambda a: pa.array(a.tolist()).dictionary_encode(),
    ],
)
@pytest.mark.parametrize("classes", [NAMES, NAMES.tolist(), tuple(NAMES), pd.Index(NAMES)])
def test_names(make: Callable[[np.ndarray], Any], classes: Any) -> None:
    f = tu.Forecasts.from_arrays(MATRIX, make(NAMES[LABELS]), classes=classes)
    np.testing.assert_array_equal(f.labels, LABELS)
    assert f.class_name(2) == "bird"


def test_names_of_the_positive_class_come_second() -> None:
    f = tu.Forecasts.from_arrays(SCORES, np.array(["no", "yes"])[BINARY], classes=["no", "yes"])
    assert tu.ece(f) == tu.ece(SCORES, BINARY)


@pytest.mark.parametrize("classes", [[1, 2], (2, 1), [-1, 1], [1.5, 0.5], np.array([7, 3])])
@pytest.mark.parametrize("kind", [np.int64, np.float64, object])
def test_numbers_as_names(classes: Any, kind: type) -> None:
    labels = np.asarray(classes)[BINARY]
    if kind is np.int64 and labels.dtype.kind == "f":
        pytest.skip("1.5 is no whole number")
    f = tu.Forecasts.from_arrays(SCORES, labels.astype(kind), classes=classes)
    np.testing.assert_array_equal(f.labels, BINARY)


def test_numbers_with_names_for_show() -> None:
    f = tu.Forecasts.from_arrays(MATRIX, LABELS, classes=NAMES)
    np.testing.assert_array_equal(f.labels, LABELS)


def test_booleans_as_names() -> None:
    f = tu.Forecasts.from_arrays(SCORES, BINARY == 0, classes=[True, False])
    np.testing.assert_array_equal(f.labels, BINARY)


def test_one_hot_labels() -> None:
    hot = tu.Forecasts.from_arrays(MATRIX, np.eye(K, dtype=np.int8)[LABELS], soft_labels=True)
    assert tu.ece(hot) == pytest.approx(tu.ece(MATRIX, LABELS), abs=1e-15)
    assert tu.sce(hot) == pytest.approx(tu.sce(MATRIX, LABELS), abs=1e-15)
    assert tu.brier(hot) == tu.brier(MATRIX, LABELS)


def test_soft_labels_of_a_binary_problem() -> None:
    soft = np.random.default_rng(3).random(N)
    flat = tu.Forecasts.from_arrays(SCORES, soft, soft_labels=True)
    columns = tu.Forecasts.from_arrays(SCORES, np.column_stack([1 - soft, soft]), soft_labels=True)
    assert tu.ece(flat) == tu.ece(columns)
    assert tu.ece(flat) != tu.ece(SCORES, BINARY)


def test_soft_rows_are_made_to_sum_to_one() -> None:
    rows = np.array([[0.2504, 0.75], [1, 0]])
    expected = 0.75 / 1.0004
    assert tu.Forecasts.from_arrays([0.5, 0.5], rows, soft_labels=True).labels[0] == expected
    assert (
        tu.Forecasts.from_arrays([[0.5, 0.5]] * 2, rows, soft_labels=True).labels[0, 1] == expected
    )


def test_a_class_may_be_missing() -> None:
    assert tu.Forecasts.from_arrays(MATRIX, np.zeros(N, int)).n_classes == K
    assert tu.sce(MATRIX, np.zeros(N, int)) > 0


@pytest.mark.parametrize(
    ("mark", "make"),
    [
        (-1, lambda a: np.where(a == 2, -1, a)),
        (255, lambda a: np.where(a == 2, 255, a).astype(np.uint8)),
        (-1, lambda a: [-1 if y == 2 else y for y in a.tolist()]),
        (-1, lambda a: np.array([-1 if y == 2 else y for y in a.tolist()], object)),
        (-100.0, lambda a: np.where(a == 2, -100.0, a)),
        (np.nan, lambda a: np.where(a == 2, np.nan, a)),
        (np.float32("nan"), lambda a: np.where(a == 2, np.nan, a)),
        (pd.NA, lambda a: pd.Series(a).astype("Int64").where(a != 2)),
        (np.nan, lambda a: pd.Series(a, dtype=object).where(a != 2, pd.NA)),
        (np.nan, lambda a: [None if y == 2 else y for y in a.tolist()]),
        (np.nan, lambda a: pl.Series("y", [None if y == 2 else y for y in a.tolist()])),
        (np.nan, lambda a: pa.array([None if y == 2 else y for y in a.tolist()])),
    ],
)
def test_ignored_numbers(mark: Any, make: Callable[[np.ndarray], Any]) -> None:
    rows = LABELS != 2
    f = tu.Forecasts.from_arrays(MATRIX, make(LABELS), ignore_label=mark)
    assert (f.n, tu.sce(f)) == (rows.sum(), tu.sce(MATRIX[rows], LABELS[rows]))


def test_other_missing_labels_are_not_ignored() -> None:
    labels = [None if y == 1 else -1 if y == 2 else y for y in LABELS.tolist()]
    with pytest.raises(tu.InputError, match="present in every row"):
        tu.Forecasts.from_arrays(MATRIX, labels, ignore_label=-1)


@pytest.mark.parametrize(
    ("mark", "make"),
    [
        ("bird", np.asarray),
        ("bird", lambda a: pd.Series(a, dtype="category")),
        ("void", lambda a: np.where(a == "bird", "void", a)),
        (np.nan, lambda a: pd.Series(a).where(a != "bird")),
        (np.nan, lambda a: pl.Series("y", [None if y == "bird" else y for y in a.tolist()])),
    ],
)
def test_ignored_names(mark: Any, make: Callable[[np.ndarray], Any]) -> None:
    rows = LABELS != 2
    f = tu.Forecasts.from_arrays(MATRIX, make(NAMES[LABELS]), classes=NAMES, ignore_label=mark)
    assert (f.n, tu.sce(f)) == (rows.sum(), tu.sce(MATRIX[rows], LABELS[rows]))


def test_dropped_rows_may_hold_anything() -> None:
    broken = np.where(LABELS[:, None] == 2, np.nan, MATRIX)
    rows, labels = LABELS != 2, np.where(LABELS == 2, 77, LABELS)
    expected = tu.sce(MATRIX[rows], LABELS[rows])
    assert tu.sce(tu.Forecasts.from_arrays(broken, labels, ignore_label=77)) == expected
    assert tu.sce(broken, labels, weights=np.where(rows, 2.0, 0.0)) == pytest.approx(expected)
    logits = np.log(MATRIX + 0.01)
    expected = tu.sce(tu.Forecasts.from_arrays(logits[rows], LABELS[rows], logits=True))
    logits[~rows] = -np.inf
    assert (
        tu.sce(tu.Forecasts.from_arrays(logits, labels, logits=True, ignore_label=77)) == expected
    )


def test_what_stands_beside_loses_the_same_rows() -> None:
    f = tu.Forecasts.from_arrays(
        MATRIX,
        LABELS,
        weights=np.arange(N),
        groups=NAMES[LABELS],
        features=SCORES,
        clusters=np.arange(N),
        ignore_label=2,
    )
    rows = np.flatnonzero((LABELS != 2) & (np.arange(N) > 0))
    np.testing.assert_array_equal(f.weights, rows)
    np.testing.assert_array_equal(f.clusters, rows)
    np.testing.assert_array_equal(f.groups, NAMES[LABELS[rows]])
    np.testing.assert_array_equal(f.features, SCORES[rows, None])
    np.testing.assert_array_equal(f.rows(slice(0, 5)), MATRIX[rows[:5]])


def test_certain_predictions_with_missing_labels_are_not_swapped() -> None:
    f = tu.Forecasts.from_arrays([0.0, 1.0, 1.0], [0, np.nan, 1], ignore_label=np.nan)
    assert (f.n, tu.ece(f)) == (2, 0.0)
