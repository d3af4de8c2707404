"""Tests of calibration by name; each takes checked data and answers a `CalibrationTestResult`."""

from __future__ import annotations

from typing import Protocol

from trueup.forecasts import Forecasts
from trueup.inference.hypothesis_tests.hosmer_lemeshow import hosmer_lemeshow
from trueup.inference.hypothesis_tests.ks import ks
from trueup.inference.hypothesis_tests.skce import skce, skce_block, skce_distribution_free
from trueup.inference.hypothesis_tests.spiegelhalter import spiegelhalter
from trueup.inference.hypothesis_tests.tcal import tcal
from trueup.results import CalibrationTestResult
from trueup.seeds import Seed


class CalibrationTest(Protocol):
    """What a test of calibration is: a function of checked data."""

    def __call__(
        self, forecasts: Forecasts, *, statistic: object, n_resamples: int, rng: Seed
    ) -> CalibrationTestResult:
        """Return what the test found; ``statistic`` may be a lens or an estimator that fits."""


TESTS: dict[str, CalibrationTest] = {
    "spiegelhalter": spiegelhalter,
    "hosmer-lemeshow": hosmer_lemeshow,
    "ks": ks,
    "tcal": tcal,
    "skce": skce,
    "skce-block": skce_block,
    "skce-distribution-free": skce_distribution_free,
}
