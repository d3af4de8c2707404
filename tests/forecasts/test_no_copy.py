"""A matrix is read where it lies: nothing near the size of a float64 copy is ever made."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import trueup as tu

N, K = 20_000, 200
HALF_A_COPY = N * K * 8 // 2
LABELS = np.random.default_rng(0).integers(0, K, N)
LABELS.flags.writeable = False
Data = tuple[np.ndarray, np.ndarray, dict[str, Any]]
METRICS = [
    tu.ece,
    tu.mce,
    tu.rmsce,
    tu.ece_debiased,
    tu.rmsce_debiased,
    tu.ece_sweep,
    tu.rmsce_sweep,
    tu.sce,
    tu.ace,
    tu.tace,
    tu.marginal_error,
    tu.marginal_error_debiased,
    tu.brier,
    tu.log_loss,
]
# One of each way through the library: top label, sorting, one pass, columns, blocks of rows.
EACH_WAY = [tu.ece, tu.ece_sweep, tu.sce, tu.tace, tu.brier, tu.log_loss]


def rows_of(kind: str) -> tuple[np.ndarray, dict[str, Any]]:
    """A read-only matrix, and the options to read it with."""
    rng = np.random.default_rng(1)
    if kind == "int8 one-hot":
        matrix = np.zeros((N, K), np.int8)
        matrix[np.arange(N), rng.integers(0, K, N)] = 1
        return matrix, {}
    z = rng.standard_normal((N, K), np.float32)
    if kind.startswith("logits"):
        return z.astype(kind.removeprefix("logits ")), {"logits": True}
    np.exp(z, out=z)
    matrix = z / z.sum(axis=1, keepdims=True, dtype=np.float64)
    if kind == "Fortran order":
        return np.asfortranarray(matrix), {}
    if kind == "every second row and column":
        wide = np.zeros((2 * N, 2 * K), np.float32)
        wide[::2, ::2] = matrix
        return wide[::2, ::2], {}
    return matrix.astype(kind), {"normalize": kind == "float16"}


EVERY_METRIC = "half of logits float64"
KINDS = [
    "float16",
    "float32",
    "float64",
    "Fortran order",
    "every second row and column",
    "logits float32",
    "logits float64",
    "half of float64",
    EVERY_METRIC,
    "int8 one-hot",
]


@pytest.fixture(scope="module", params=KINDS)
def data(request: pytest.FixtureRequest) -> Data:
    kind = request.param
    matrix, options = rows_of(kind.removeprefix("half of "))
    labels = LABELS
    if kind.startswith("half of"):
        labels = np.where(np.arange(N) % 2 == 0, -1, LABELS)
        options = {**options, "ignore_label": -1}
    matrix.flags.writeable = False
    labels.flags.writeable = False
    return matrix, labels, options


def peak(work: Callable[[], Any]) -> int:
    """Bytes allocated at the worst moment of a piece of work."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_check_itself() -> None:
    matrix, _ = rows_of("float32")
    assert peak(lambda: matrix.astype(np.float64)) >= 2 * HALF_A_COPY


def too_large(f: tu.Forecasts, metrics: list[Callable[..., float]]) -> dict[str, int]:
    peaks = {metric.__name__: peak(partial(metric, f)) for metric in metrics}
    return {name: size for name, size in peaks.items() if size >= HALF_A_COPY}


def test_no_metric_copies_the_matrix(data: Data, request: pytest.FixtureRequest) -> None:
    matrix, labels, options = data
    before = matrix[:: N // 50].copy()
    assert peak(lambda: tu.Forecasts.from_arrays(matrix, labels, **options)) < HALF_A_COPY
    f = tu.Forecasts.from_arrays(matrix, labels, **options)
    every = EVERY_METRIC in request.node.name
    assert too_large(f, METRICS if every else EACH_WAY) == {}
    np.testing.assert_array_equal(matrix[:: N // 50], before)


def test_the_reference_engine_copies_no_matrix() -> None:
    matrix, _ = rows_of("float32")
    with tu.engines.using("reference"):
        assert peak(lambda: tu.Forecasts.from_arrays(matrix, LABELS)) < HALF_A_COPY
        f = tu.Forecasts.from_arrays(matrix, LABELS)
        assert too_large(f, [tu.ece, tu.ece_sweep, tu.sce, tu.brier]) == {}


@pytest.mark.parametrize(
    "lens", [tu.lens.OneVsRest(7), tu.lens.TopLabel(), tu.lens.TopLabelByClass()]
)
def test_no_lens_copies_the_matrix(lens: Any, data: Data) -> None:
    matrix, labels, options = data
    f = tu.Forecasts.from_arrays(matrix, labels, **options)
    assert peak(lambda: tu.BinnedError(lens)(f)) < HALF_A_COPY


def test_scores_are_shared_not_copied() -> None:
    scores = np.random.default_rng(2).random(1000)
    for array in (scores, scores.astype(np.float32)):
        f = tu.Forecasts.from_arrays(array, np.zeros(1000, np.int64))
        assert np.shares_memory(f.scores, array)


def test_nothing_of_the_caller_is_changed() -> None:
    """Read-only inputs of every argument; the metrics write to none of them."""
    rng = np.random.default_rng(3)
    p = rng.random(500).round(1)
    given = {
        "probs": p,
        "labels": rng.integers(0, 2, 500),
        "weights": rng.integers(0, 3, 500).astype(float),
        "groups": rng.integers(0, 2, 500),
        "features": rng.normal(size=(500, 2)),
        "clusters": rng.integers(0, 9, 500),
    }
    for array in given.values():
        array.flags.writeable = False
    f = tu.Forecasts.from_arrays(**given)
    for metric in METRICS:
        metric(f)
    logits = np.log(p + 0.01)
    logits.flags.writeable = False
    tu.log_loss(tu.Forecasts.from_arrays(logits, given["labels"], logits=True))
