"""The interval of the mean gap covers the truth, also with few outcomes, and fits its test."""

from __future__ import annotations

import numpy as np
import pytest

from trueup import Forecasts
from trueup.inference.multiple_tests.mean_gap import gap_interval, gap_test
from trueup.lens import Pairs, chosen_lens

REPEATS = 400


def pairs_of(p: np.ndarray, y: np.ndarray, w: np.ndarray | None = None) -> Pairs:
    forecasts = Forecasts.from_arrays(p, y, weights=w)
    return chosen_lens(None, forecasts).problem(forecasts)


@pytest.mark.parametrize(
    ("n", "shape", "shift"),
    [
        (20, (1, 20), 0.05),
        (100, (1, 1), 0.1),
        (300, (0.1, 0.1), 0.1),
        (1000, (1, 30), 0.0),
        (1000, (1, 30), 0.03),
    ],
)
def test_coverage(n: int, shape: tuple[float, float], shift: float) -> None:
    rng = np.random.default_rng(n)
    many = rng.beta(*shape, 200_000)
    truth = float(np.mean(np.clip(many + shift, 0, 1) - many))
    covered = 0
    for _ in range(REPEATS):
        p = rng.beta(*shape, n)
        found = gap_interval(pairs_of(p, rng.random(n) < np.clip(p + shift, 0, 1)), 0.95)
        covered += found["gap_low"] <= truth <= found["gap_high"]
    assert covered / REPEATS >= 0.925  # 0.95 less 2.3 standard errors of the simulation


def test_zero_is_inside_where_the_normal_test_does_not_reject() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        p = rng.random(400)
        pairs = pairs_of(p, rng.random(400) < np.clip(p + 0.04, 0, 1))
        found = gap_interval(pairs, 0.95)
        if gap_test(pairs)["gap_pvalue"] > 0.05:
            assert found["gap_low"] <= 0 <= found["gap_high"]


def test_no_outcome_leaves_room_and_ends_are_possible() -> None:
    found = gap_interval(pairs_of(np.full(20, 0.03), np.zeros(20, int)), 0.95)
    assert found["gap_low"] == pytest.approx(-0.03)
    assert 0.05 < found["gap_high"] < 0.2
    certain = gap_interval(pairs_of(np.ones(5), np.ones(5, int)), 0.95)
    assert certain["gap_low"] < -0.3
    assert certain["gap_high"] == 0


def test_equal_weights_change_nothing() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(50)
    y = (rng.random(50) < p).astype(int)
    plain, weighted = (gap_interval(pairs_of(p, y, w), 0.9) for w in (None, np.full(50, 3.0)))
    assert plain == pytest.approx(weighted, abs=1e-12)
