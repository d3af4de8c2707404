"""The difference of two errors: ranks, roots and p-values of given resamples, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import trueup as tu
from trueup.bins import KeptBins
from trueup.estimators.base import Ends
from trueup.inference.paired_differences import Resampled, difference_of

NOISE = np.arange(-49.0, 50.0) / 1000  # 99 resamples


def model(power: float, noise: np.ndarray, exponent: float = 1.0, units: int = 100) -> Resampled:
    value = max(0.0, power) ** (1 / exponent)
    return Resampled(value, power, exponent, noise, units, Ends(0.0, 1.0))


def test_ends_are_resamples_of_whole_ranks() -> None:
    """Of 99 at 90%: the fifth from either end, moved to the difference."""
    found = difference_of(model(0.5, NOISE), model(0.2, 0 * NOISE), 0.9)
    assert (found.low, found.high) == pytest.approx((0.3 - 0.045, 0.3 + 0.045))
    assert found.value == pytest.approx(0.3)


@pytest.mark.parametrize(("difference", "pvalue"), [(0.3, 0.02), (0.0475, 0.06), (-0.0475, 0.06)])
def test_p_values_are_two_sided(difference: float, pvalue: float) -> None:
    """Twice the share, the data among it, of the rarer side: two of 99 are beyond 0.0475."""
    one, two = model(0.5 + difference, NOISE), model(0.5, 0 * NOISE)
    assert difference_of(one, two, 0.9).pvalue == pytest.approx(pvalue)


def test_no_difference_has_a_p_value_of_one() -> None:
    assert difference_of(model(0.5, NOISE), model(0.5, NOISE), 0.9).pvalue == 1
    assert difference_of(model(0.5, NOISE), model(0.5, -NOISE), 0.9).pvalue == 1


def test_squares_are_read_as_errors() -> None:
    """The sum of both squares is moved half an sd to the side that widens."""
    one, two = model(0.09, NOISE / 2, 2.0), model(0.04, 0 * NOISE, 2.0)
    found = difference_of(one, two, 0.9)
    total, caution = 0.13, 0.5 * np.std(NOISE / 2)
    low, high = 0.05 - 0.0225, 0.05 + 0.0225

    def roots(power: float, moved: float) -> float:
        return math.sqrt((moved + power) / 2) - math.sqrt((moved - power) / 2)

    assert found.value == pytest.approx(0.1)
    assert found.low == pytest.approx(roots(low, total + caution))
    assert found.high == pytest.approx(roots(high, total - caution))


def test_dependent_rows_are_seen_in_the_mean_of_resamples() -> None:
    """A debiased square of rows that come four times is too large by what resampling shows."""
    rng = np.random.default_rng(0)
    p = np.repeat(rng.random(200), 4)
    y = np.repeat(rng.random(200) < p[::4], 4)
    estimator = tu.BinnedError(binning=tu.EqualMass(15), norm=2, debias=True)
    together = tu.Forecasts.from_arrays(p, y, clusters=np.repeat(np.arange(200), 4))
    found = Resampled.of(together, estimator, 199, 0)
    once = estimator.measure(p[::4], y[::4]).pth_power
    assert estimator.measure(p, y).pth_power > once + 0.003
    assert found.pth_power == pytest.approx(once, abs=0.0025)
    assert found.units == 200
    alone = Resampled.of(tu.Forecasts.from_arrays(p[::4], y[::4]), estimator, 199, 0)
    assert alone.pth_power == pytest.approx(once, abs=0.002)
    assert alone.noise.mean() == pytest.approx(0, abs=1e-12)


def test_bins_stay_those_of_the_data() -> None:
    p = np.array([0.0, 0.0, 0.0, 0.2, 0.4, 0.4, 0.9, 1.0])
    y = np.array([0, 1, 0, 0, 1, 0, 1, 1])
    for equal_shares in (False, True):
        estimator = tu.BinnedError(binning=tu.EqualMass(4), equal_shares=equal_shares)
        table = estimator.table(p, y)
        kept = tu.BinnedError(binning=KeptBins(table), equal_shares=equal_shares)
        assert table.edges[1] == 0  # a bin of zeros alone
        assert kept(p, y) == estimator(p, y)
        assert kept.table(p[3:], y[3:]).edges.tolist() == table.edges.tolist()
        assert kept.table(p[3:], y[3:]).n_bins_requested == 4


def test_few_units_cannot_be_sure() -> None:
    for units in range(1, 8):
        one, two = model(0.9, 0 * NOISE, units=units), model(0.1, 0 * NOISE, units=units)
        found = difference_of(one, two, 0.9)
        assert found.pvalue == pytest.approx(max(0.02, 2 * 0.5**units) if units < 5 else 0.02)
        expected = (-1, 1) if units < 5 else (0.8, 0.8)
        assert (found.low, found.high) == pytest.approx(expected)
