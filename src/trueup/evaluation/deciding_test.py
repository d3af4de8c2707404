"""The omnibus test, which alone decides whether a model is called miscalibrated."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from trueup.engines.draw_keys import keys_of
from trueup.estimators import Estimator
from trueup.evaluation.settings import Settings
from trueup.forecasts import Forecasts
from trueup.inference import calibration_test
from trueup.inference.hypothesis_tests.binned_resamples import can_fuse
from trueup.inference.hypothesis_tests.consistency_resampling import all_certain
from trueup.inference.omnibus.matrices import draw_together
from trueup.results import CalibrationTestResult
from trueup.seeds import seed_of

MOST_ROWS_DRAWN, FEWEST_RESAMPLES = 2_000_000_000, 199
"""Labels that the omnibus test draws at most, unless that leaves too few resamples."""


def untestable(forecasts: Forecasts, asked: Settings) -> str:
    """Return why no test of calibration can reject, or an empty string."""
    if forecasts.soft:
        return "soft labels cannot be tested"
    if forecasts.clusters is not None:
        many = len(np.unique(forecasts.clusters))
        if 2.0 ** (1 - many) > 1 - asked.confidence_level:  # the smallest p-value there can be
            return f"a test needs more than {many} cluster{'s' * (many != 1)}"
    return ""


def omnibus_test(forecasts: Forecasts, asked: Settings) -> CalibrationTestResult | None:
    """Run the test that decides; return None if `untestable` gives a reason."""
    if untestable(forecasts, asked):
        return None
    many = resamples_of_test(forecasts, asked)
    return calibration_test(forecasts, n_resamples=many, rng=asked.seed)


def resamples_of_test(forecasts: Forecasts, asked: Settings) -> int:
    """Return the number of resamples of the omnibus test, which is lower for very many rows."""
    most = max(FEWEST_RESAMPLES, MOST_ROWS_DRAWN // forecasts.n)
    return min(asked.n_resamples, most)


def test_of_possible(forecasts: Forecasts, asked: Settings) -> CalibrationTestResult | None:
    """Test the rows whose outcome had a positive probability, if some rows had none."""
    possible = np.concatenate(
        [
            (forecasts.rows(block) * forecasts.one_hot(block)).sum(axis=1) > 0
            for block in forecasts.blocks()
        ]
    )
    if not possible.any():
        return None
    return omnibus_test(forecasts.take(np.flatnonzero(possible)), asked)


def draw_with_omnibus(chosen: Iterable[Estimator], forecasts: Forecasts, asked: Settings) -> None:
    """Draw labels once for the omnibus test of a matrix and for the errors of all classes."""
    fused = [
        each
        for each in chosen
        if each.lens_for(forecasts).induces == "family" and can_fuse(each, forecasts)
    ]
    if not forecasts.is_matrix or forecasts.weights is not None or not fused:
        return  # weighted sums depend on the order of their terms
    if all_certain(forecasts) is None and resamples_of_test(forecasts, asked) == asked.n_resamples:
        draw_together(forecasts, fused, keys_of(seed_of(asked.seed), asked.n_resamples))
