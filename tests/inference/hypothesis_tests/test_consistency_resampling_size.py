"""Consistency resampling: how often calibrated models are rejected at 5%."""

from __future__ import annotations

import math

import numpy as np
import pytest

import trueup as tu
from trueup.inference.hypothesis_tests.calibration_test import calibration_test
from trueup.simulate.worlds.published import PUBLISHED

SCORES = {
    "uniform": lambda rng, n: rng.random(n),
    "near 1": lambda rng, n: rng.beta(2.7752, 0.0478, n),
    "few": lambda rng, n: rng.choice([0.1, 0.3, 0.5, 0.7, 0.9], n),
}


def size(statistic, draw, n: int, sets: int, method: str = "consistency") -> float:
    """Share of null datasets rejected at 5%, in standard errors away from it."""
    rng = np.random.default_rng(17)
    rejected = 0
    for _ in range(sets):
        p = draw(rng, n)
        test = calibration_test(
            p, rng.random(n) < p, statistic=statistic, method=method, n_resamples=39, rng=rng
        )
        rejected += test.pvalue <= 0.05
    return (rejected / sets - 0.05) / math.sqrt(0.05 * 0.95 / sets)


@pytest.mark.parametrize("kind", SCORES)
def test_size_of_the_default(kind: str) -> None:
    assert abs(size(None, SCORES[kind], 100, 600)) < 4


def test_a_conservative_test_says_so() -> None:
    """The worst bin near 1 has few values: most resamples tie, and the result notes it."""
    p, _ = PUBLISHED["resnet110_c10_calibrated"].sample_many(1, 200, rng=1)
    y = np.random.default_rng(0).random(200) < p[0]
    worst = calibration_test(p[0], y, statistic=tu.BinnedError(norm=math.inf), rng=0)
    assert worst.notes["conservative"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize(
    "statistic", [None, tu.BinnedError(), tu.SweepError(), tu.CumulativeError()], ids=repr
)
def test_size(statistic, n: int, kind: str) -> None:
    away = size(statistic, SCORES[kind], n, 2000)
    assert away < 4
    assert away > -4 or (n == 100 and kind != "uniform")  # ties: conservative


@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 1000])
def test_size_of_the_canonical_test(n: int) -> None:
    statistic = tu.BinnedError(tu.lens.Canonical(), tu.bins.VarianceTree(n // 10))
    rejected = 0
    world = tu.simulate.DirichletWorld((1, 1, 1))
    for i, (g, labels) in enumerate(zip(*world.sample_many(2000, n, rng=3), strict=True)):
        test = calibration_test(g, labels, statistic=statistic, n_resamples=39, rng=i)
        rejected += test.pvalue <= 0.05
    assert abs(rejected / 2000 - 0.05) < 4 * math.sqrt(0.05 * 0.95 / 2000)
