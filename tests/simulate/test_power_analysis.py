"""How likely an error is to be found: the level is kept, and Roelofs et al. Fig. 8 comes out."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

import trueup as tu
from trueup.errors import InputError
from trueup.inference.hypothesis_tests.calibration_test import calibration_test
from trueup.simulate import PUBLISHED, Beta, Glm, Identity, Noisy, Points, Power, Uniform, World
from trueup.simulate.power_analysis import (
    OVERCONFIDENT,
    Between,
    _settle,
    _solve,
    power,
    sample_size,
    with_error,
    world_like,
)
from trueup.simulate.worlds.score_distributions import Empirical

NETWORK = PUBLISHED["densenet161_imgnet"]


@pytest.mark.parametrize(("true_error", "norm"), [(0.02, 1), (0.01, 2), (0.2, 2)])
@pytest.mark.parametrize(
    "world",
    [
        World(NETWORK.scores, NETWORK.curve),
        World(Uniform(), Identity()),
        World(Points((0.1, 0.5, 0.7)), Noisy(Identity(), 0.03)),
        World(Points((0.2, 0.6, 0.9)), Glm("logit", "logit", 0.3, 0.8)),
    ],
)
def test_the_world_has_the_error_asked_for(world, true_error, norm):
    found = with_error(world, true_error, norm)
    assert found.scores == world.scores
    assert found.true_error(norm) == pytest.approx(true_error, rel=1e-5)


def test_the_family_goes_from_calibration_through_the_fitted_curve():
    own = NETWORK.true_error(2)
    same = with_error(World(NETWORK.scores, NETWORK.curve), own, 2)
    score = np.linspace(0.01, 0.99, 50)
    assert same.curve(score, 1 - score) == pytest.approx(NETWORK.curve(score, 1 - score))
    assert Between(NETWORK.curve, 0.0)(score, 1 - score) == pytest.approx(score)
    calibrated = with_error(World(NETWORK.scores, Identity()), 0.05, 2)
    assert calibrated.curve.curve == OVERCONFIDENT


def test_scores_that_no_beta_fits_are_drawn_again():
    rng = np.random.default_rng(0)
    probs = rng.choice([0.1, 0.5, 0.52, 0.9], 2000) + rng.uniform(-0.01, 0.01, 2000)
    world = world_like(probs, rng.random(2000) < probs**2)
    assert isinstance(world.scores, Empirical)
    assert isinstance(world_like(NETWORK.sample(2000, 0), None).scores, Beta)


def test_an_error_of_next_to_nothing_is_found_as_often_as_the_level_says():
    found = power(World(Uniform(), Power(2)), true_error=1e-6, n=200, alpha=0.1, n_datasets=2000)
    assert abs(found.power - 0.1) < 4 * found.standard_error
    assert 0.005 < found.standard_error < 0.02


def test_more_rows_and_larger_errors_are_found_more_often():
    data = NETWORK.sample(1500, rng=0)
    by_n = [power(data, true_error=0.05, n=n, n_datasets=200).power for n in (100, 500, 2500)]
    by_error = [power(data, true_error=e, n=500, n_datasets=200).power for e in (0.02, 0.05, 0.1)]
    assert by_n == sorted(by_n)
    assert by_error == sorted(by_error)
    assert by_n[-1] > 0.95


def test_answers_are_the_seed_s_and_ready_for_json():
    world = World(Beta(3, 1), Power(1.5))
    one, again, other = (
        power(world, true_error=0.1, n=100, n_datasets=100, rng=seed) for seed in (1, 1, 2)
    )
    assert one == again != other
    assert one.miss_rate == 1 - one.power
    assert json.loads(json.dumps(one.to_dict()))["n"] == 100
    start = "With 100 rows, the omnibus test at the 5% level detects a true error of 0.1 with"
    assert one.text.startswith(f"{start} probability 0.")


TESTED = {
    "omnibus": (None, {"method": "omnibus"}),
    "debiased": (tu.rmsce_debiased, {"statistic": tu.rmsce_debiased}),
    "ks": (tu.ks_error, {"statistic": tu.ks_error}),
    "smooth": (tu.smooth_ece, {"statistic": tu.smooth_ece}),
}
# Scores, curve and the L2 distance between them by hand: E (c^d − c)² for a density a c^(a − 1).
WORLDS = {"beta(2,1)": (2.0, 1.5), "uniform": (1.0, 2.0), "beta(8,1)": (8.0, 2.0)}


def drawn_by_hand(name, true_error, n, rng):
    """Scores, and labels whose rate is off by the error, without a `World`."""
    a, d = WORLDS[name]
    squared = a / (a + 2 * d) - 2 * a / (a + d + 1) + a / (a + 2)
    p = rng.random(n) ** (1 / a)
    return p, rng.random(n) < p + true_error / math.sqrt(squared) * (p**d - p)


def rejected(name, true_error, n, options, n_datasets):
    """Share of datasets, drawn and tested one by one, that the test rejects, and its error."""
    rng = np.random.default_rng(n)
    found = [
        calibration_test(*drawn_by_hand(name, true_error, n, rng), rng=r, **options).pvalue <= 0.05
        for r in range(n_datasets)
    ]
    share = float(np.mean(found))
    return share, math.sqrt(max(share * (1 - share), 0.02) / n_datasets)


@pytest.mark.parametrize("test", ["omnibus", "debiased", "ks"])
def test_it_is_the_power_of_the_test_that_users_run(test):
    statistic, options = TESTED[test]
    true_error = 0.1 if test == "debiased" else 0.07
    found = power(World(Beta(2, 1), Power(1.5)), true_error=true_error, n=300, statistic=statistic)
    share, error = rejected("beta(2,1)", true_error, 300, options, 300)
    assert 0.3 < share < 0.9
    assert abs(found.power - share) < 3.5 * math.hypot(found.standard_error, error)


@pytest.mark.slow
@pytest.mark.parametrize("test", TESTED)
@pytest.mark.parametrize(("name", "true_error", "n"), [
    ("beta(2,1)", 0.05, 1000), ("uniform", 0.1, 200), ("beta(8,1)", 0.015, 2000),
])  # fmt: skip
def test_power_in_several_worlds(test, name, true_error, n):
    statistic, options = TESTED[test]
    a, d = WORLDS[name]
    found = power(World(Beta(a, 1), Power(d)), true_error=true_error, n=n, statistic=statistic)
    sets = 100 if test == "smooth" else 2000
    share, error = rejected(name, true_error, n, options, sets)
    assert abs(found.power - share) < 3 * math.hypot(found.standard_error, error)


def test_the_standard_error_is_the_spread_over_seeds():
    world = World(Beta(2, 1), Power(1.5))
    found = [power(world, true_error=0.1, n=100, n_datasets=100, rng=seed) for seed in range(60)]
    spread = np.std([each.power for each in found], ddof=1)
    mean = np.mean([each.standard_error for each in found])
    assert 0.7 < spread / mean < 1.25  # the spread itself is known to within 9%


@pytest.mark.parametrize("n_datasets", [20, 37, 400])
def test_every_dataset_is_counted(n_datasets):
    world = World(Points((0.2, 0.6)), Power(1.5))
    found = power(world, true_error=0.05, n=40, n_datasets=n_datasets)
    assert found.n_datasets == n_datasets
    assert found.power * n_datasets == pytest.approx(round(found.power * n_datasets))
    assert found.statistic == "omnibus"


def test_sample_size_has_the_power_asked_for():
    data = NETWORK.sample(1500, rng=0)
    found = sample_size(data, true_error=0.06, power=0.7, n_datasets=400)
    assert found.low <= found.n <= found.high < 1.6 * found.low
    at = power(data, true_error=0.06, n=found.n, n_datasets=1000, rng=7)
    assert abs(at.power - 0.7) < 0.08
    assert [d.n for d in found.tried] == sorted(d.n for d in found.tried)
    assert json.loads(json.dumps(found.to_dict()))["n"] == found.n


def test_the_line_of_probits_and_its_error():
    """Powers on a line in log n: where it reaches 0.8, and how far the noise of two moves it."""
    world = World(Beta(2, 1), Power(1.5))
    like = power(world, true_error=0.1, n=100, n_datasets=20)
    at = np.array([200.0, 300.0, 450.0])
    powers = ndtr(0.4 + 1.5 * np.log(at / 300))
    tried = [
        replace(like, n=int(n), power=float(p), standard_error=e, n_datasets=10**9)
        for n, p, e in zip(at, powers, (0.01, 0.02, 0.015), strict=True)
    ]
    n, error = _solve(tried, 0.8)
    assert n == pytest.approx(300 * np.exp((ndtri(0.8) - 0.4) / 1.5), rel=1e-6)
    moved = []
    for i, detection in enumerate(tried):
        step = 1e-4 * detection.standard_error
        other = list(tried)
        other[i] = replace(detection, power=detection.power + step)
        moved.append(1e4 * np.log(_solve(other, 0.8)[0] / n))
    assert error == pytest.approx(np.hypot.reduce(moved), rel=0.01)


def test_few_data_sets_leave_a_wide_range():
    """So few that the power seems to fall with n: it stays an answer, and says how little."""
    for seed in range(6):
        found = sample_size(World(Beta(2, 1), Power(1.5)), true_error=0.1, n_datasets=20, rng=seed)
        assert 1 <= found.low <= found.n <= found.high <= 1_000_000
    settled = _settle(World(Beta(2, 1), Power(1.5)), None, 0.1, None, 0.05, 20, 0, False)
    lost = settled.answer(300.0, math.inf, 0.8, [])
    assert (lost.low, lost.n, lost.high) == (1, 300, 1_000_000)
    known = settled.answer(300.0, 0.1, 0.8, [])
    assert (known.low, known.high) == (247, 365)  # 300·exp(∓0.196), rounded up


def test_refusals():
    world = World(Uniform(), Power(2))
    cases = [
        ("`true_error` must be a number above 0 and below 1", {"true_error": 0}),
        ("`true_error` must be at most", {"true_error": 0.9}),
        ("`n` must be a whole number", {"n": 0}),
        ("`statistic` must be an estimator", {"statistic": len}),
        ("have no lens", {"statistic": tu.BinnedError(tu.lens.TopLabel())}),
        ("`alpha` must be", {"alpha": 5}),
        ("`n_datasets` must be", {"n_datasets": 1}),
    ]
    for message, setting in cases:
        with pytest.raises(InputError, match=message):
            power(world, **{"true_error": 0.1, "n": 100, **setting})
    with pytest.raises(InputError, match="`power` must be"):
        sample_size(world, true_error=0.1, power=1)


# Roelofs et al. 2022, §5.4: uniform scores, T(c) = c^d, type I error 0.05, errors in the L2 norm.
EQUAL_WIDTH = tu.BinnedError(binning=tu.EqualWidth(15), norm=2)
SWEEP = tu.SweepError(norm=2)


def power_of_c(true_error):
    d = brentq(lambda d: World(Uniform(), Power(d)).true_error(2) - true_error, 1.0001, 9)
    return World(Uniform(), Power(d))


@pytest.mark.parametrize("statistic", [EQUAL_WIDTH, SWEEP])
def test_two_percent_need_more_than_ten_thousand_samples(statistic):
    """ "To detect a miscalibration of 2%, over 10,000 samples are needed." """
    world = power_of_c(0.02)
    at = power(world, true_error=0.02, n=10_000, statistic=statistic, n_datasets=900)
    assert at.miss_rate - 2 * at.standard_error > 0.05
    twice = power(world, true_error=0.02, n=20_000, statistic=statistic, n_datasets=100)
    assert twice.miss_rate < 0.05


@pytest.mark.parametrize("statistic", [EQUAL_WIDTH, SWEEP])
def test_under_500_samples_only_ten_percent_are_found_reliably(statistic):
    """ "Under 500 samples, the miscalibration must be greater than 10% to be detected" surely."""
    found = [
        power(power_of_c(e), true_error=e, n=500, statistic=statistic, n_datasets=300).miss_rate
        for e in (0.05, 0.1)
    ]
    assert found[0] > 0.4
    assert found[1] < 0.12


@pytest.mark.slow
def test_figure_8():
    """Miss rates by n; the sweep misses less than equal width, most for under 10,000 samples.

    The paper prints no numbers. Measured here with 1,000 datasets, in percent, for n = 200, 500,
    1000, 2000, 5000, 10000, 20000: for a true error of 2% equal width misses 95, 92, 91, 83, 53,
    15, 0. The sweep misses 93, 88, 83, 74, 39, 11, 0. For 5% (to n = 2000) they miss 90, 72, 47, 8
    and 77, 49, 19, 3. "Needed" is then a power of about 0.95: 13,300 and 12,900 samples; 0.8
    takes 8,600 and 8,200. What differs from `power` by default: the test of a statistic that
    is not debiased (`rmsce_debiased` takes 8,900 and 12,900), and the curve, c^d and not fitted.
    """
    for true_error, sizes in ((0.02, (1000, 2000, 5000)), (0.05, (200, 500, 1000))):
        world = power_of_c(true_error)
        for n in sizes:
            equal_width, sweep = (
                power(world, true_error=true_error, n=n, statistic=s) for s in (EQUAL_WIDTH, SWEEP)
            )
            assert sweep.power > equal_width.power
    for statistic in (EQUAL_WIDTH, SWEEP):
        needed = sample_size(power_of_c(0.02), true_error=0.02, power=0.95, statistic=statistic)
        assert 10_000 < needed.low < needed.high < 16_000
