"""Spreading onto a grid: nothing is lost, and sums and areas are those of the reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from support.counted_rows import counted_rows, decimals, seeds, sizes
from support.engine_under_test import compiled_module, module_under_test
from support.samples import KINDS, draw_binary, weightings
from trueup.engines import set_threads
from trueup.engines.memory import FRESH, Scratch
from trueup.engines.reference import grid as reference
from trueup.engines.reference.sweep import count_residuals

tested = module_under_test("grid")

SIZE = 1 << 14
FEW = 1 << 8
engines = pytest.mark.parametrize("engine", [reference, tested], ids=["reference", "tested"])


@engines
@given(seed=seeds, kind=st.sampled_from(KINDS), weighting=weightings, size=st.sampled_from([4, 64]))
def test_sums_are_kept(engine, seed: int, kind: str, weighting: str, size: int) -> None:
    sample = draw_binary(seed, 40, kind, weighting)
    p, y = sample.probs, sample.labels
    w = np.ones(len(p)) if sample.weights is None else sample.weights
    found = engine.spread(p, y, sample.weights, size)
    assert all(len(column) == size + 1 for column in found)
    np.testing.assert_allclose(found.weight.sum(), w.sum(), rtol=1e-14)
    np.testing.assert_allclose(found.label.sum(), (w * y).sum(), rtol=1e-14)
    np.testing.assert_allclose(found.residual.sum(), (w * (p - y)).sum(), atol=1e-13 * w.sum())
    assert found.weight.min() >= 0
    assert found.label.min() >= 0


@engines
def test_one_row_is_a_cubic_spline(engine) -> None:
    for p in (0.5, 0.3, 3 / 16, 0.71):
        weight = engine.spread(np.array([p]), np.array([1]), None, 16).weight
        away = np.abs(np.arange(17) - 16 * p)
        near = 2 / 3 - away**2 + away**3 / 2
        spline = np.where(away < 1, near, np.where(away < 2, (2 - away) ** 3 / 6, 0))
        np.testing.assert_allclose(weight, spline, atol=1e-15)


@engines
@pytest.mark.parametrize("p", [0.0, 1e-9, 0.01, 0.06])
def test_both_ends_reflect(engine, p: float) -> None:
    """A row near 0 is the half in [0, 1] of two rows, at p and −p, of a longer grid."""
    weight = engine.spread(np.array([p]), np.array([1]), None, 16).weight
    both = engine.spread(np.array([0.5 + p / 2, 0.5 - p / 2]), np.array([1, 1]), None, 32).weight
    half = both[16:].copy()
    half[0] /= 2
    np.testing.assert_allclose(weight, half, atol=1e-7)
    mirrored = engine.spread(np.array([1 - p]), np.array([1]), None, 16).weight
    np.testing.assert_allclose(mirrored, weight[::-1], atol=1e-14)


@pytest.mark.parametrize("dtype", ["f4", "f8", ">f8"])
@pytest.mark.parametrize("labels", ["?", "u1", "i2", "i4", "i8", "f8", "f4"])
@pytest.mark.parametrize("weighted", [False, True])
def test_engines_agree(dtype: str, labels: str, weighted: bool) -> None:
    rng = np.random.default_rng(3)
    for n in (1, 7, 250_000):
        p = np.r_[rng.random(n - 1), 1.0].astype(dtype)
        y = rng.random(n) if labels == "f8" else rng.integers(0, 2, n)
        w = rng.random(n) if weighted else None
        ours = tested.spread(p[::-1], y.astype(labels)[::-1], w, SIZE)
        theirs = reference.spread(p[::-1], y.astype(labels)[::-1], w, SIZE)
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)


def test_any_number_of_threads_gives_the_same_bits() -> None:
    rng = np.random.default_rng(4)
    p, y, w = rng.random(700_001), rng.integers(0, 2, 700_001), rng.random(700_001)
    found = []
    for threads in (1, 2, 3, 7):
        set_threads(threads)
        try:
            found.append(np.stack(tested.spread(p, y, w, SIZE)))
        finally:
            set_threads(None)
    assert all(np.array_equal(found[0], other) for other in found[1:])


def test_many_equal_rows_do_not_drift() -> None:
    n = 3_000_000
    found = tested.spread(np.full(n, np.float32(0.1)), np.zeros(n, np.uint8), None, SIZE)
    residual = n * float(np.float32(0.1))
    assert found.residual.sum() == pytest.approx(residual, rel=2e-12)
    assert found.weight.sum() == pytest.approx(n, rel=2e-12)


def test_the_kernel_stays_in_its_table() -> None:
    """Such scores are rejected before; memory must be safe even if something lets them through."""
    kernel = compiled_module("grid")
    bad = np.array([-3.0, 7.0, np.nan, np.inf, -np.inf, 1e300])
    kernel.add_rows(bad, np.zeros(6, np.uint8), None, 0, 6, 16, np.zeros((20, 3)))
    one, label = np.array([0.5]), np.zeros(1, np.uint8)
    for rows in ((0, 2), (-1, 1), (1, 0)):
        with pytest.raises(IndexError):
            kernel.add_rows(one, label, None, *rows, 16, np.zeros((20, 3)))
    with pytest.raises(IndexError):
        kernel.add_rows(one, label, np.zeros(0), 0, 1, 16, np.zeros((20, 3)))
    for shape in ((19, 3), (20, 2)):
        with pytest.raises(ValueError, match="totals"):
            kernel.add_rows(one, label, None, 0, 1, 16, np.zeros(shape))


curves = st.builds(
    lambda seed, size, waves: _curve(np.random.default_rng(seed), size, waves),
    seeds,
    st.sampled_from([2, 3, 4, 5, 127, 128, 129, 130, 131, 512]),
    st.integers(0, 40),
)


def _curve(rng: np.random.Generator, size: int, waves: int) -> np.ndarray:
    x = np.arange(size + 1) / size
    return sum((rng.standard_normal() * np.cos(np.pi * k * x) for k in range(waves)), 0 * x)


@given(curves, st.sampled_from([0.0, 1.0, -1e-300, 1e100]))
def test_areas_agree(height: np.ndarray, factor: float) -> None:
    for curve in (height * factor, height.round(1) * factor, height):  # rounded ones touch 0
        expected = reference.absolute_area(curve)
        found = tested.absolute_area(curve)
        assert found == pytest.approx(expected, rel=1e-13, abs=0)
        assert tested.absolute_area(-curve) == pytest.approx(found, rel=1e-15, abs=0)


@pytest.mark.parametrize("at", range(6))
def test_areas_of_a_curve_with_zeros_of_either_sign(at: int) -> None:
    for zero in (0.0, -0.0):
        curve = np.array([1.0, 2.0, 1.0, -1.0, -2.0, -1.0])
        curve[at] = zero
        expected = reference.absolute_area(curve)
        assert tested.absolute_area(curve) == pytest.approx(expected, rel=1e-14)


@given(seeds, sizes, decimals)
def test_terms_on_a_grid(seed, n, digits):
    _, _, groups = counted_rows(seed, n, digits)
    residual, scratch = count_residuals(*groups), Scratch()
    expected = reference.spread_terms(groups.value, residual, FEW)
    largest = np.abs(residual).sum()
    for where in (FRESH, scratch, scratch):
        found = tested.spread_terms(groups.value, residual, FEW, where)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15 + 2e-15 * largest)
    mean = groups.positive / groups.count
    rows = reference.spread_residual(groups.value, mean, groups.count.astype(float), FEW)
    np.testing.assert_allclose(expected, rows, rtol=0, atol=1e-15 + 2e-15 * largest)


def test_the_kernels_refuse_what_does_not_fit():
    kernel = compiled_module("grid")
    three, two = np.zeros(3), np.zeros(2)
    with pytest.raises(ValueError, match="one term"):
        kernel.add_terms(three, two, np.zeros((23, 4)), np.zeros(20))
    for moments, totals in (((22, 4), 20), ((23, 3), 20), ((8, 4), 5)):
        with pytest.raises(ValueError, match="moments"):
            kernel.add_terms(three, three, np.zeros(moments), np.zeros(totals))
    kernel.add_terms(np.array([-3.0, 7.0, np.nan]), three, np.zeros((23, 4)), np.zeros(20))
    with pytest.raises(ValueError, match="three points"):
        kernel.absolute_area(two)
