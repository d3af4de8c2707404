"""Local quadratic fits: exact on parabolas, and those of the reference on any points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from support.engine_under_test import module_under_test
from trueup.engines import set_threads
from trueup.engines.reference import loess as reference

tested = module_under_test("loess")


def points(seed: int, n: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    value = np.sort(rng.random(n))
    weight = rng.integers(1, 5, n).astype(float)
    at = value[:: max(1, n // 20)]
    return value, weight, at, rng.uniform(0.05, 1.5, len(at))


@pytest.mark.parametrize("module", [reference, tested], ids=["reference", "tested"])
def test_a_parabola_is_its_own_fit(module) -> None:
    value, weight, at, _ = points(0, 200)
    label = weight * (0.3 - 2 * value + 5 * value**2)
    fit = module.local_quadratics(value, weight, label, at, np.full(len(at), 0.4))
    np.testing.assert_allclose(fit, 0.3 - 2 * at + 5 * at**2, rtol=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 300))
def test_fits_are_those_of_the_reference(seed: int, n: int) -> None:
    value, weight, at, width = points(seed, n)
    label = weight * np.random.default_rng(seed + 1).random(n)
    expected = reference.local_quadratics(value, weight, label, at, width)
    found = tested.local_quadratics(value, weight, label, at, width)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


SHAPES = {
    "even": lambda rng, n: rng.random(n),
    "rare": lambda rng, n: 1 / (1 + np.exp(-rng.normal(-4, 1.5, n))),
    "both ends": lambda rng, n: rng.beta(0.1, 0.1, n),
    "near 1": lambda rng, n: 1 - 10 ** -rng.uniform(0, 12, n),
    "rounded": lambda rng, n: np.round(rng.random(n), 3),
    "heap": lambda rng, n: np.where(rng.random(n) < 0.5, 0.5 + 1e-9 * rng.random(n), rng.random(n)),
    "lattice": lambda rng, n: 0.9 + np.arange(n) * 2.0**-53,
}


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=10)
@given(
    st.integers(0, 10**6), st.integers(130, 3000), st.sampled_from([0.05, 0.3, 0.75]), st.booleans()
)
def test_sums_of_blocks_are_those_of_the_reference(
    shape: str, seed: int, n: int, span: float, counted: bool
) -> None:
    rng = np.random.default_rng(seed)
    value = np.unique(SHAPES[shape](rng, n))
    weight = rng.integers(1, 50, len(value)).astype(float)
    if not counted:
        weight = 10 ** rng.uniform(-3, 3, len(value))
    label = weight * (rng.random(len(value)) < value)
    at = value[:: max(1, len(value) // 25)]
    away = np.sort(np.abs(value - at[:, None]), axis=1)
    width = away[:, int(span * (len(value) - 1))]
    expected = reference.local_quadratics(value, weight, label, at, width)
    found = tested.local_quadratics(value, weight, label, at, width)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_a_heavy_score_at_the_edge_of_a_window_takes_no_digits() -> None:
    """Almost all of the weight counts for next to nothing there."""
    value = np.linspace(0, 1, 2001)
    weight = np.where(value > 0.9, 1e12, 1.0)
    label = weight * (np.arange(2001) % 3 == 0)
    at = value[:40]
    width = np.full(40, 0.901)
    expected = reference.local_quadratics(value, weight, label, at, width)
    found = tested.local_quadratics(value, weight, label, at, width)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_threads_change_no_bit() -> None:
    value, weight, _, _ = points(2, 5000)
    at, label = value[::3], weight * value
    found = []
    for threads in (1, 2, 3):
        set_threads(threads)
        try:
            fit = tested.local_quadratics(value, weight, label, at, np.full(len(at), 0.2))
        finally:
            set_threads(None)
        found.append(fit.tobytes())
    assert found[0] == found[1] == found[2]
