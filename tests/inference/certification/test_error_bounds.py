"""Bounds of certificates and what they rest on: intervals, tallies and rows still to come."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import trueup as tu
from trueup.inference.certification.certify import certify
from trueup.inference.certification.error_bounds import asymptotic_bounds, finite_sample_bounds
from trueup.inference.certification.model_outputs import Tally, tally_of_bins, tally_of_outputs
from trueup.lens import Pairs

SCORES = np.array([0.1, 0.4, 0.8])


def rows(n: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    index = rng.integers(3, size=n)
    return SCORES[index], rng.random(n) < SCORES[index] ** 1.5, index


def tally(counts: list[float], rates: list[float], *, binned: bool = False) -> Tally:
    count = np.array(counts, float)
    n = count.sum()
    return Tally(SCORES, count / n, count, np.array(rates), float(n), binned=binned)


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("delta", [0.05, 0.2])
def test_asymptotic_bounds_are_ends_of_the_interval_of_the_population(norm, delta):
    p, y, index = rows()
    bounds = asymptotic_bounds(tally_of_outputs(SCORES, index, Pairs(p, y, None)), norm, delta)
    estimator = tu.BinnedError(binning=tu.bins.FixedEdges([0, 0.2, 0.5, 1]), norm=norm)
    found = tu.interval(estimator, p, y, confidence_level=1 - delta, target="population")
    assert bounds == pytest.approx((found.low, found.high), abs=1e-12)


def test_a_gap_seen_once_refutes_nothing():
    seen = asymptotic_bounds(tally([150, 1, 149], [0.3, 1.0, 0.6]), 2, 0.05)
    other = asymptotic_bounds(tally([150, 1, 149], [0.3, 0.4, 0.6]), 2, 0.05)
    assert seen.low == pytest.approx(other.low, abs=5e-4)  # 0.0045 if it counted
    assert seen.high > other.high


@pytest.mark.parametrize("norm", [1, 2])
def test_bins_of_continuous_scores_have_chernoff_bounds(norm):
    counts, rates, delta = [100, 300, 600], [0.5, 0.4, 0.3], 0.05

    def kl(x, q):
        return x * math.log(x / q) + (1 - x) * math.log((1 - x) / (1 - q))

    total = 0.0
    for score, n, rate in zip(SCORES, counts, rates, strict=True):
        budget = math.log(2 / (delta / (2 * 3))) / n  # three bins, each with two sides
        low = brentq(lambda q, r=rate, b=budget: kl(r, q) - b, 1e-12, rate)
        high = brentq(lambda q, r=rate, b=budget: kl(r, q) - b, rate, 1 - 1e-12)
        total += n / 1000 * max(0.0, low - score, score - high) ** norm
    expected = brentq(lambda q: kl(total, q) - math.log(2 / delta) / 1000, 1e-12, total)
    found = finite_sample_bounds(tally(counts, rates, binned=True), norm, delta)
    assert found == pytest.approx((expected ** (1 / norm), 1.0), rel=1e-7)


def test_weights_carry_no_sample_size():
    p, y, index = rows()
    w = np.random.default_rng(1).random(300) + 0.2
    for found in (
        tally_of_outputs(SCORES, index, Pairs(p, y, w)),
        tally_of_bins(Pairs(p, y, w)),
    ):
        assert found.n == pytest.approx(w.sum() ** 2 / np.sum(w**2))
        for k in range(3):
            own = w[index == k]
            assert found.count[k] == pytest.approx(own.sum() ** 2 / np.sum(own**2))
            assert found.share[k] == pytest.approx(own.sum() / w.sum())
            assert found.rate[k] == pytest.approx(np.average(y[index == k], weights=own))


def test_a_grown_tally_keeps_the_debiased_error_and_loses_the_noise():
    found = tally([40, 60, 50], [0.2, 0.5, 0.6])
    noise = found.plugin - found.debiased
    assert noise > 0.001
    for times in (1.0, 3.0, 100.0):
        grown = found.grown(times)
        assert grown.plugin == pytest.approx(found.debiased + noise / times)
        assert grown.n == 150 * times
        assert grown.share.tolist() == found.share.tolist()


@pytest.mark.parametrize("method", ["finite-sample", "asymptotic"])
@pytest.mark.parametrize("max_error", [0.06, 0.13])
def test_as_many_more_rows_as_it_says_decide_and_fewer_do_not(method, max_error):
    p, y, index = rows(200)
    settings = {"max_error": max_error, "outputs": SCORES, "method": method}
    answer = certify(p, y, **settings)
    assert answer.n_additional > 10
    now = tally_of_outputs(SCORES, index, Pairs(p, y, None))
    bounds = finite_sample_bounds if method == "finite-sample" else asymptotic_bounds

    def decides(more: float) -> bool:
        low, high = bounds(now.grown(1 + more / 200), 2, 0.05)
        return high <= max_error or low > max_error

    assert decides(answer.n_additional)
    assert not decides(0.98 * answer.n_additional - 5)
