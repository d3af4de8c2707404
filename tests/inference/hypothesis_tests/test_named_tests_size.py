"""Tests by name: they find what is wrong, and seldom what is not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from support.null_samples import NAMED, RESAMPLED, calibrated, run
from trueup.estimators import KernelError
from trueup.inference import calibration_test
from trueup.lens import Canonical, TopLabel
from trueup.simulate import PUBLISHED


@pytest.mark.parametrize("name", RESAMPLED)
def test_miscalibration_is_found(name: str) -> None:
    rng = np.random.default_rng(18)
    p = rng.random(4000)
    y = rng.random(4000) < 1 / (1 + np.exp(-0.4 * np.log(p / (1 - p))))
    # blocks of two rows have little power
    statistic = KernelError(form="block", block_size=100) if name == "skce-block" else None
    assert run(name, p, y, statistic=statistic).pvalue < 0.02


def test_canonical_errors_that_classes_hide() -> None:
    found = PUBLISHED["vaicenavicius_table_1"].sample(2000, rng=0)
    for name in ("tcal", "skce"):
        asked = {"method": name, "n_resamples": 99, "rng": 0}
        assert calibration_test(found, statistic=Canonical(), **asked).pvalue <= 0.02
        assert calibration_test(found, statistic=TopLabel(), **asked).pvalue > 0.02


def size(name: str, kind: str, n: int, sets: int, seed: int) -> tuple[float, float]:
    """Share of calibrated datasets rejected at 5%, and of those called conservative."""
    rejected = conservative = 0
    for s in range(sets):
        p, y = calibrated(kind, n, [seed, s])
        found = run(name, p, y, rng=s, n_resamples=199)
        rejected += found.pvalue <= 0.05
        conservative += found.notes.get("conservative", False)
    return rejected / sets, conservative / sets


@pytest.mark.parametrize("kind", ["uniform", "piled", "few"])
@pytest.mark.parametrize("name", NAMED)
def test_size_quickly(name: str, kind: str) -> None:
    found, _ = size(name, kind, 100, 150, 20)
    assert found <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 150)


@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize("kind", ["uniform", "piled", "few"])
@pytest.mark.parametrize("name", NAMED)
def test_size(name: str, kind: str, n: int) -> None:
    slack = 4 * math.sqrt(0.05 * 0.95 / 2000)
    for seed in (21, 22):  # one that fails is run again before it counts
        found, conservative = size(name, kind, n, 2000, seed)
        if found <= 0.05 + slack and (found >= 0.05 - slack or conservative > 0.5):
            return
    pytest.fail(f"size {found}, conservative {conservative}")
