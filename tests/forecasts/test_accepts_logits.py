"""Logits are taken where the caller says so, never guessed, and never overflow."""

from __future__ import annotations

import numpy as np
import pytest

import trueup as tu
from oracles.arithmetic import sigmoid, softmax

N, K = 240, 3
LABELS = np.random.default_rng(20).integers(0, K, N)
BINARY = np.random.default_rng(21).integers(0, 2, N)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, np.longdouble])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_of_logits(kind: type, order: str) -> None:
    z = np.random.default_rng(4).normal(0, 3, (N, 7)).astype(kind, order=order)
    y = np.random.default_rng(5).integers(0, 7, N)
    probs = softmax(z)
    for f in (
        tu.Forecasts.from_arrays(z, y, logits=True),
        tu.Forecasts.from_arrays(labels=y, probs=z, logits=True),
    ):
        np.testing.assert_allclose(f.rows(slice(None)), probs, rtol=1e-14)
        np.testing.assert_allclose(f.columns(2, 5), probs[:, 2:5].T, rtol=1e-14)
        assert f.read(3, 9).flags.c_contiguous
        assert tu.ece(f) == pytest.approx(tu.ece(probs, y), abs=1e-13)
        assert tu.sce(f) == pytest.approx(tu.sce(probs, y), abs=1e-13)
        assert tu.log_loss(f) == pytest.approx(tu.log_loss(probs, y), rel=1e-12)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, np.longdouble, np.int8])
def test_one_dimensional_logits(kind: type) -> None:
    z = np.random.default_rng(6).normal(0, 3, N).astype(kind)
    for f in (
        tu.Forecasts.from_arrays(z, BINARY, logits=True),
        tu.Forecasts.from_arrays(z.tolist(), BINARY, logits=True),
    ):
        np.testing.assert_allclose(f.scores, sigmoid(z), rtol=1e-15)
        assert tu.ece(f) == pytest.approx(tu.ece(sigmoid(z), BINARY), abs=1e-14)


@pytest.mark.parametrize("size", [1e3, 1e30, 1.7e308])
def test_huge_logits(size: float) -> None:
    f = tu.Forecasts.from_arrays([[size, -size, 0], [-size, 0, size]], [0, 1], logits=True)
    np.testing.assert_array_equal(f.rows(slice(None)), [[1, 0, 0], [0, 0, 1]])
    np.testing.assert_array_equal(f.columns(0, 3), [[1, 0], [0, 0], [0, 1]])
    assert tu.ece(f) == 0.5
    assert tu.log_loss(f) == size / 2  # no underflow: the second row costs exactly `size`
    f = tu.Forecasts.from_arrays([size, -size, 0.0], [1, 0, 1], logits=True)
    np.testing.assert_array_equal(f.scores, [1, 0, 0.5])


def test_a_shift_of_a_row_of_logits_changes_nothing() -> None:
    z = np.random.default_rng(7).integers(-8, 8, (N, K)) / 4
    far = tu.Forecasts.from_arrays(z + 1000, LABELS, logits=True)
    assert tu.sce(far) == tu.sce(tu.Forecasts.from_arrays(z, LABELS, logits=True))


def test_logits_are_never_guessed() -> None:
    inside = np.array([0.1, 0.9, 0.5])
    f = tu.Forecasts.from_arrays(inside, [0, 1, 1], logits=True)
    np.testing.assert_allclose(f.scores, sigmoid(inside), rtol=1e-15)
    rows = np.array([[0.2, 0.8], [0.5, 0.5]])  # sums to 1, and yet logits
    f = tu.Forecasts.from_arrays(rows, [0, 1], logits=True)
    np.testing.assert_allclose(f.rows(slice(None)), softmax(rows), rtol=1e-15)
    f = tu.Forecasts.from_arrays(inside, [0, 1, 1], logits=False)
    np.testing.assert_array_equal(f.scores, inside)
