"""Sums by bin: those of the reference, on any edges, labels and number of threads."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from support.engine_under_test import module_under_test
from trueup.engines import set_threads
from trueup.engines.reference import bins as reference, rows
from trueup.engines.types import MOMENTS, Sums

tested = module_under_test("bins")

LABEL_TYPES = ["bool", "u1", "i1", "u2", "i2", "i4", "u4", "i8", "u8", "f4", "f8"]


def assert_same(ours: Sums, theirs: Sums, *, hard: bool = True) -> None:
    for name, mine, right in zip(MOMENTS, ours, theirs, strict=True):
        assert mine.dtype == right.dtype
        assert mine.shape == right.shape
        exact = name == "count" or (hard and name in ("weight", "weight2", "label", "label2"))
        np.testing.assert_allclose(mine, right, rtol=0 if exact else 1e-12, atol=0, err_msg=name)


def bits(sums: Sums) -> list[bytes]:
    return [part.tobytes() for part in sums]


def uniform(n_bins: int) -> NDArray:
    return np.arange(1, n_bins) / n_bins


def scores_about(edges: NDArray, rng: np.random.Generator, n: int) -> NDArray:
    """Scores spread out, at 0 and 1, on the edges, and one step either side of them."""
    spread = rng.random(n)
    if len(edges) == 0:
        return np.concatenate([spread, [0.0, 1.0, -0.0]])
    near = rng.choice(edges, n)
    steps = [near, np.nextafter(near, 0), np.nextafter(near, 1)]
    scores = np.concatenate([spread, *steps, [0.0, 1.0, -0.0, 5e-324]])
    return rng.permutation(np.clip(scores, 0, 1))


EDGES = {
    "one bin": np.empty(0),
    "two bins": np.array([0.5]),
    "uniform 10": uniform(10),
    "uniform 15": uniform(15),
    "uniform 65": uniform(65),
    "uniform 100": uniform(100),
    "uniform 10000": uniform(10_000),
    "at 0 and 1": np.array([0.0, 0.25, 1.0]),
    "many about 1": 1 - np.sort(np.random.default_rng(1).random(10_000))[::-1] * 1e-12,
    "neighbours": np.cumsum(np.r_[0.3, np.full(40, np.spacing(0.3))]),
    "tiny": np.array([5e-324, 1e-310, 1e-300, 1e-20, 1e-8, 1e-3]),
    "skewed 14": uniform(15) ** 4,
    "skewed 10000": uniform(10_000) ** 8,
    "random 3000": np.sort(np.random.default_rng(2).random(3000)),
}


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("edges", EDGES.values(), ids=EDGES.keys())
def test_scores_on_and_about_edges(edges: NDArray, dtype: str) -> None:
    rng = np.random.default_rng(len(edges))
    p = scores_about(edges, rng, 9000).astype(dtype)
    y = rng.random(len(p)) < p
    w = rng.random(len(p))
    soft = rng.random(len(p))
    assert_same(tested.bin_sums(p, y, None, edges), reference.bin_sums(p, y, None, edges))
    for label, weight in ((soft, None), (soft, w), (y, w)):
        assert_same(
            tested.bin_sums(p, label, weight, edges),
            reference.bin_sums(p, label, weight, edges),
            hard=False,
        )


@pytest.mark.parametrize("dtype", LABEL_TYPES)
@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 511, 512, 513, 100_003])
def test_every_kind_of_label(n: int, dtype: str) -> None:
    rng = np.random.default_rng(n)
    p = rng.random(n)
    y = (rng.random(n) < p).astype(dtype)
    for column in (p, p.astype("f4")):
        assert_same(
            tested.bin_sums(column, y, None, uniform(15)),
            reference.bin_sums(column, y, None, uniform(15)),
        )


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "i8", "u8"])
def test_whole_labels_that_are_not_binary_are_summed_as_they_are(dtype: str) -> None:
    p = np.linspace(0, 1, 1001)
    y = np.random.default_rng(0).integers(0, 5, 1001).astype(dtype)
    assert_same(tested.bin_sums(p, y, None, uniform(7)), reference.bin_sums(p, y, None, uniform(7)))


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=60),
    st.lists(st.floats(0, 1), max_size=40),
    st.sampled_from(["f4", "f8"]),
    st.integers(0, 2**32),
)
def test_any_scores_and_edges(scores: list, cuts: list, dtype: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges = np.sort(np.array(cuts, np.float64))  # repeated edges too
    p = rng.choice(np.r_[scores, cuts], 200).astype(dtype)
    y = rng.integers(0, 2, 200)
    w = rng.random(200)
    assert_same(tested.bin_sums(p, y, None, edges), reference.bin_sums(p, y, None, edges))
    assert_same(tested.bin_sums(p, y, w, edges), reference.bin_sums(p, y, w, edges), hard=False)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n_bins", [1, 15, 1000])
def test_a_long_run_of_equal_scores_does_not_drift(dtype: str, n_bins: int) -> None:
    n = 2_000_003
    p = np.full(n, 0.95, dtype)
    exact = math.fsum([float(p[0])] * n)
    for y, w in ((np.ones(n, bool), None), (np.ones(n), None), (np.ones(n, bool), np.ones(n))):
        sums = tested.bin_sums(p, y, w, uniform(n_bins))
        assert abs(sums.score.sum() / exact - 1) < 4e-12
        assert abs(sums.cross.sum() / exact - 1) < 4e-12
        assert sums.count.sum() == n
        assert sums.label.sum() == n


def test_strided_read_only_and_foreign_columns() -> None:
    rng = np.random.default_rng(0)
    p, y, w = rng.random(9000), rng.integers(0, 2, 9000), rng.random(9000)
    for column in (p, y, w):
        column.flags.writeable = False
    want = reference.bin_sums(p[::3], y[::3], w[::3], uniform(15))
    assert_same(tested.bin_sums(p[::3], y[::3], w[::3], uniform(15)), want, hard=False)
    foreign = tested.bin_sums(p[::3].astype(">f8"), y[::3].astype(">i4"), None, uniform(15))
    assert_same(foreign, reference.bin_sums(p[::3], y[::3], None, uniform(15)))
    backwards = tested.bin_sums(p[::-1], y[::-1], None, uniform(30)[::2])
    assert_same(backwards, reference.bin_sums(p, y, None, uniform(30)[::2]))


@pytest.mark.parametrize("n_bins", [1, 15, 64, 65, 5000])
def test_threads_do_not_change_a_bit_of_bin_sums(n_bins: int) -> None:
    rng = np.random.default_rng(0)
    p, w = rng.random(400_001), rng.random(400_001)
    y = rng.random(400_001) < p
    edges = uniform(n_bins)
    results = []
    for many in (1, 2, 3):
        set_threads(many)
        sums = tested.bin_sums(p, y, None, edges), tested.bin_sums(p, y, w, edges)
        results.append([bits(one) for one in sums])
    set_threads(None)
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (1, 1), (7, 100), (200, 1000), (3, 70_000)])
@pytest.mark.parametrize("label", ["bool", "i8", "f8"])
def test_many_data_sets_at_once(shape: tuple[int, int], label: str) -> None:
    rng = np.random.default_rng(shape[1])
    p = rng.random(shape)
    y = (rng.random(shape) < p).astype(label)
    assert_same(
        tested.batch_bin_sums(p, y, uniform(15)), reference.batch_bin_sums(p, y, uniform(15))
    )


def test_data_sets_that_share_their_scores_or_lie_across() -> None:
    rng = np.random.default_rng(0)
    p = np.broadcast_to(rng.random(500), (20, 500))
    y = (rng.random((500, 20)) < 0.5).T
    want = reference.batch_bin_sums(p, y, uniform(15))
    assert_same(tested.batch_bin_sums(p, y, uniform(15)), want)
    narrow = p.astype("f4")[:, ::2]
    want = reference.batch_bin_sums(narrow, y[:, ::2], uniform(15))
    assert_same(tested.batch_bin_sums(narrow, y[:, ::2], uniform(15)), want)


def class_sums(engine, matrix: NDArray, factor, labels: NDArray, edges: NDArray) -> Sums:
    columns = matrix.shape[1]
    return engine.class_bin_sums(lambda i, j: matrix[i:j], factor, labels, columns, edges)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("columns", [1, 2, 3, 4, 7, 8, 9, 20, 100, 1000])
@pytest.mark.parametrize("n_bins", [1, 2, 15, 200])
def test_every_class_at_once(columns: int, n_bins: int, dtype: str) -> None:
    rng = np.random.default_rng(columns)
    n = 60_000 // columns + 3
    edges = uniform(n_bins)
    matrix = rng.dirichlet(np.ones(columns), n).astype(dtype)
    matrix[::5] = 0
    matrix[np.arange(0, n, 5), rng.integers(0, columns, len(matrix[::5]))] = 1
    if n_bins > 1:  # exactly on edges, where they fit
        matrix[::7, 0] = edges[0]
    labels = rng.integers(0, columns, n)
    totals = rows.scan_rows(lambda i, j: matrix[i:j], n, columns).total
    for factor in (None, 1 / np.where(totals > 0, totals, 1)):
        args = matrix, factor, labels, edges
        assert_same(class_sums(tested, *args), class_sums(reference, *args))


def test_the_short_cut_for_the_first_bin_is_left_and_taken_up_again() -> None:
    rng = np.random.default_rng(0)
    low = rng.dirichlet(np.ones(50), 30_000)
    high = rng.random((30_000, 50))
    matrix = np.concatenate([low, high, low, high, low])
    labels = rng.integers(0, 50, len(matrix))
    args = matrix, None, labels, uniform(15)
    assert_same(class_sums(tested, *args), class_sums(reference, *args))


@pytest.mark.parametrize("columns", [2, 9, 300])
def test_threads_do_not_change_a_bit_of_class_sums(columns: int) -> None:
    rng = np.random.default_rng(0)
    n = 2_000_000 // columns
    matrix = rng.random((n, columns), np.float32)
    factor, labels = rng.random(n), rng.integers(0, columns, n)
    results = []
    for many in (1, 2, 3):
        set_threads(many)
        results.append(bits(class_sums(tested, matrix, factor, labels, uniform(15))))
    set_threads(None)
    assert results[0] == results[1] == results[2]


def test_blocks_are_small_and_every_row_is_read_once() -> None:
    matrix = np.random.default_rng(0).random((5000, 200))
    matrix.flags.writeable = False
    asked = []

    def read(start: int, stop: int) -> NDArray:
        asked.append((stop - start) * 200)
        return matrix[start:stop]

    labels = np.arange(5000) % 200
    tested.class_bin_sums(read, None, labels, 200, uniform(15))
    assert max(asked) <= 1 << 18
    assert sum(asked) == matrix.size


def test_no_two_sums_share_their_memory() -> None:
    p, y = np.array([0.1, 0.9]), np.array([0, 1])
    for sums in (
        tested.bin_sums(p, y, None, uniform(4)),
        tested.bin_sums(p, y, p, uniform(4)),
        tested.batch_bin_sums(p[None], y[None], uniform(4)),
        class_sums(tested, np.array([[0.1, 0.9]]), None, np.array([1]), uniform(4)),
    ):
        arrays = list(sums)
        for i, one in enumerate(arrays):
            assert not any(np.shares_memory(one, other) for other in arrays[i + 1 :])
