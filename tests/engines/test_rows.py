"""Checks and row scans: those of the reference, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from support.engine_under_test import module_under_test
from trueup.engines import get_threads, set_threads
from trueup.engines.reference import rows as reference
from trueup.engines.types import RowScan

tested = module_under_test("rows")

BAD = [np.nan, -np.nan, np.inf, -np.inf, -1e-300, np.nextafter(1.0, 2), 2.0, -1.0]
LABEL_TYPES = ["bool", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8", ">i4", ">f8"]
COLUMNS = [1, 2, 3, 7, 8, 9, 15, 16, 17, 100, 1000]


@pytest.fixture(params=[1, 2])
def threads(request: pytest.FixtureRequest) -> int:
    set_threads(request.param)
    yield request.param
    set_threads(None)


def scan(engine, matrix: NDArray) -> RowScan:
    return engine.scan_rows(lambda i, j: matrix[i:j], *matrix.shape)


def assert_same_scan(matrix: NDArray) -> None:
    ours, theirs = scan(tested, matrix), scan(reference, matrix)
    assert ours.first_bad == theirs.first_bad
    for mine, right in zip(ours[1:], theirs[1:], strict=True):
        assert mine.dtype == right.dtype
        np.testing.assert_array_equal(mine, right)
        if not np.isnan(right).any():
            assert mine.tobytes() == right.tobytes()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 2047, 2048, 2049, 70_000, 200_001])
def test_a_bad_score_is_found_where_it_stands(n: int, dtype: str, threads: int) -> None:
    rng = np.random.default_rng(n)
    values = rng.random(n).astype(dtype)
    values[: n // 2 : 3] = np.tile([0.0, 1.0, -0.0], n)[: len(values[: n // 2 : 3])]
    assert tested.first_outside_unit(values) == -1
    for place in {0, n // 2, n - 1, *rng.integers(0, max(n, 1), 3)} if n else ():
        for bad in BAD:
            if 0 <= np.array(bad).astype(dtype) <= 1:
                continue  # rounds to a good one
            broken = values.copy()
            broken[[place, n - 1]] = bad
            assert tested.first_outside_unit(broken) == place
            assert reference.first_outside_unit(broken) == place


@pytest.mark.parametrize("dtype", LABEL_TYPES)
@pytest.mark.parametrize("n", [0, 1, 31, 2048, 2049, 140_000])
def test_a_bad_label_is_found_where_it_stands(n: int, dtype: str, threads: int) -> None:
    rng = np.random.default_rng(n)
    labels = rng.integers(0, 2, n).astype(dtype)
    assert tested.first_not_binary(labels) == -1
    kind = np.dtype(dtype).kind
    if n == 0 or kind == "b":
        return
    wrong = {"i": [2, -1, -2], "u": [2, 255, 256], "f": [2, 0.5, -1, np.nan, np.inf, 1e300]}[kind]
    if kind in "iu":
        wrong += [np.iinfo(dtype).max, np.iinfo(dtype).min + 2 * (kind == "u")]
    for bad in wrong:
        for place in (0, n // 2, n - 1):
            broken = labels.copy()
            with np.errstate(over="ignore"):
                broken[[place, n - 1]] = np.array([bad]).astype(dtype)
            assert tested.first_not_binary(broken) == reference.first_not_binary(broken)


def test_a_bool_that_is_not_0_or_1_inside_is_no_matter_of_memory() -> None:
    strange = np.array([0, 1, 2], np.uint8).view(bool)
    assert tested.first_not_binary(strange) in (-1, 2)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("columns", COLUMNS)
def test_rows_are_scanned_as_by_the_reference(columns: int, dtype: str, threads: int) -> None:
    rng = np.random.default_rng(columns)
    n = 300_000 // columns + 5
    matrix = rng.random((n, columns)).astype(dtype) / columns
    assert_same_scan(matrix)
    assert_same_scan((matrix * 8).round() / 8)  # ties: the lowest column wins
    assert_same_scan(np.zeros_like(matrix))
    assert_same_scan(-np.zeros_like(matrix))
    one_hot = np.zeros_like(matrix)
    one_hot[np.arange(n), rng.integers(0, columns, n)] = 1
    assert_same_scan(one_hot)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("columns", COLUMNS)
def test_bad_entries_are_found_in_any_column(columns: int, dtype: str, threads: int) -> None:
    rng = np.random.default_rng(columns)
    n = 40
    for column in {0, columns // 2, columns - 1}:
        for bad in BAD:
            matrix = rng.random((n, columns)).astype(dtype) / columns
            row = rng.integers(0, n)
            matrix[row:, column] = bad
            assert_same_scan(matrix)
            assert_same_scan(np.roll(matrix, 3, axis=0))


@given(
    st.integers(0, 30),
    st.integers(1, 20),
    st.sampled_from(["f4", "f8"]),
    st.lists(st.floats(width=32), min_size=1, max_size=40),
)
def test_any_numbers_at_all(n: int, columns: int, dtype: str, values: list[float]) -> None:
    matrix = np.resize(np.array(values, dtype), (n, columns))
    with np.errstate(all="ignore"):
        assert_same_scan(matrix)


def test_threads_do_not_change_a_bit() -> None:
    matrix = np.random.default_rng(0).random((30_000, 37))
    results = []
    for many in (1, 2, 3):
        set_threads(many)
        assert get_threads() == many
        results.append([np.asarray(part).tobytes() for part in scan(tested, matrix)])
    set_threads(None)
    assert results[0] == results[1] == results[2]


def test_rows_are_asked_for_in_blocks_and_read_only_ones_will_do() -> None:
    matrix = np.random.default_rng(0).random((5000, 200))
    asked = []

    def read(start: int, stop: int) -> NDArray:
        asked.append((stop - start) * 200)
        block = matrix[start:stop].astype(np.float32)
        block.flags.writeable = False
        return block

    ours = tested.scan_rows(read, *matrix.shape)
    theirs = scan(reference, matrix.astype(np.float32))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(ours[1:], theirs[1:], strict=True))
    assert max(asked) <= 1 << 18
    assert sum(asked) == matrix.size  # every row once


def test_strided_read_only_and_unaligned_columns() -> None:
    base = np.random.default_rng(0).random(5001)
    base[4000] = np.nan
    base.flags.writeable = False
    for column in (base, base[::2], base[::-1], base[::-4], base.astype(">f8")):
        assert tested.first_outside_unit(column) == reference.first_outside_unit(column)
    packed = np.zeros(100, [("tag", "u1"), ("p", "f8"), ("y", "i4")])
    packed["p"][70], packed["y"][60] = 2, 2
    assert tested.first_outside_unit(packed["p"]) == 70
    assert tested.first_not_binary(packed["y"]) == 60
