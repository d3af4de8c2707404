"""Local quadratic fits: exact on parabolas, and those of the reference on any points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

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
