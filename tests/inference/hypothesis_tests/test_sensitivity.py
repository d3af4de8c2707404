"""Which error a test would have found: against direct simulation and `trueup.power`."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import trueup as tu
from trueup.errors import InputError
from trueup.estimators import BinnedError
from trueup.inference.hypothesis_tests.sensitivity import (
    DRAWS,
    TEMPERATURES,
    Sensitivity,
    _shift,
    sensitivity as sensitivity_of,
)

RNG = np.random.default_rng(0)
DEBIASED = tu.rmsce_debiased
OMNIBUS = {"method": "omnibus"}


def sensitivity(*data, statistic=DEBIASED, **options) -> Sensitivity:
    """That of the consistency test of a debiased squared error, unless told otherwise."""
    return sensitivity_of(*data, statistic=statistic, **options)


def rejections(p: np.ndarray, truth: np.ndarray, weights=None, sets: int = 100, **test) -> float:
    rng = np.random.default_rng(1)
    options = {"n_resamples": 99} | (test or {"statistic": DEBIASED})
    found = [
        tu.calibration_test(
            p, rng.random(len(p)) < truth, weights=weights, rng=seed, **options
        ).pvalue
        <= 0.05
        for seed in range(sets)
    ]
    return float(np.mean(found))


def planted(p: np.ndarray, error: float, temperature: float, weights=None) -> np.ndarray:
    """True rates that are off by a root mean squared error, in the shape looked for."""
    shift = _shift(p, temperature)
    truth = p + shift * error / math.sqrt(np.average(shift * shift, weights=weights))
    assert truth.min() >= 0
    assert truth.max() <= 1
    return truth


def _share_found(found: Sensitivity, temperature: float, strength: float, rows: float) -> float:
    """How often an error is found, from one draw of all labels."""
    score, share = np.clip(found.table.mean_score, 0, 1), found.table.share
    rate = np.clip(score + strength * _shift(score, temperature), 0, 1)
    sizes = np.maximum(1 / found.table.concentration, 1.0)
    size = np.maximum(np.floor(sizes * rows / found.rows + 1e-9), 1)
    rng = np.random.default_rng(0)
    mean = rng.binomial(size.astype(np.int64), rate, (DRAWS, len(size))) / size
    value = ((score - mean) ** 2 - mean * (1 - mean) / np.maximum(size - 1, 1)) @ share
    return float(np.mean(value > found.threshold * found.rows / rows))


SCORES = {
    "uniform": RNG.uniform(0.02, 0.98, 1000),
    "ties": RNG.choice([0.1, 0.3, 0.6, 0.8], 400),
    "near 1": RNG.beta(20, 1, 1500).clip(0, 0.999),
}


@pytest.mark.parametrize("kind", SCORES)
def test_a_planted_error_is_found_four_times_in_five(kind) -> None:
    p = SCORES[kind]
    found = sensitivity(p, RNG.random(len(p)) < p, n_resamples=999, rng=0)
    error = found.smallest_error(0.8)
    shares = []
    for temperature in TEMPERATURES:
        alone = found._smallest(temperature, 0.8)
        if alone is not None:
            shares.append(rejections(p, planted(p, alone, temperature)))
            assert alone <= error
    assert shares
    for share in shares:  # three standard errors of 100 sets are 0.12
        assert 0.66 <= share <= 0.94
    assert rejections(p, p) <= 0.12


def test_weights() -> None:
    p, w = RNG.uniform(0.05, 0.95, 800), RNG.exponential(size=800) + 0.05
    y = RNG.random(800) < p
    found = sensitivity(p, y, weights=w, n_resamples=499, rng=0)
    plain = sensitivity(p, y, n_resamples=499, rng=0)
    assert found.rows < 800 == round(plain.rows)
    error = found._smallest(2.0, 0.8)
    assert error > plain._smallest(2.0, 0.8)
    assert 0.6 <= rejections(p, planted(p, error, 2.0, w), w) <= 0.98


def test_it_agrees_with_power() -> None:
    rng = np.random.default_rng(2)
    p = rng.uniform(0.05, 0.95, 600)
    truth = planted(p, 0.08, 2.0)
    y = rng.random(600) < truth
    found = sensitivity(p, y, n_resamples=499, rng=0)
    share = rejections(p, truth)
    strength = 0.08 / found._error(2.0, 1.0)
    assert _share_found(found, 2.0, strength, found.rows) == pytest.approx(share, abs=0.13)


@pytest.mark.parametrize("n", [7, 60, 900])
@pytest.mark.parametrize("weighted", [False, True])
def test_draws_that_stop_early_answer_as_all_of_them(n, weighted) -> None:
    rng = np.random.default_rng([n, weighted])
    for kind in range(4):
        p = [rng.random(n), rng.beta(8, 1, n), rng.choice([0.2, 0.7], n), np.full(n, 0.5)][kind]
        w = rng.exponential(size=n) + 0.05 if weighted else None
        found = sensitivity(p, rng.random(n) < p, weights=w, n_resamples=99, rng=kind)
        for temperature in TEMPERATURES:
            reach = min(found._reach(temperature), 3.0)
            for _ in range(15):
                strength, rows = rng.random() * reach, found.rows * 10 ** rng.uniform(-1, 4)
                asked = (temperature, strength, rows)
                share = _share_found(found, *asked)
                drawn = np.concatenate(list(found._detections(*asked)))
                assert np.mean(drawn) == share
                for power in (0.8, rng.random(), share, np.nextafter(share, 1)):
                    assert found._finds(*asked, power) == (share >= power)


def test_more_rows_find_smaller_errors_and_both_answers_agree() -> None:
    p = RNG.random(1000)
    found = sensitivity(p, RNG.random(1000) < p, n_resamples=499, rng=0)
    error = found.smallest_error(0.8)
    rows = found.rows_for(error, 0.8)
    assert rows == pytest.approx(1000, rel=0.1)
    assert found.rows_for(error / 2) > 2.5 * rows
    assert found.rows_for(0.02) < found.rows_for(0.01) < found.rows_for(0.005)
    assert found.smallest_error(0.5) < error < found.smallest_error(0.95)
    again = sensitivity(np.tile(p, 4), np.tile(RNG.random(1000) < p, 4), n_resamples=499, rng=0)
    assert again.smallest_error(0.8) == pytest.approx(error / 2, rel=0.15)


def test_resamples_are_those_of_the_test() -> None:
    g = RNG.dirichlet(np.ones(3), 300)
    y = (RNG.random(300)[:, None] > np.cumsum(g, axis=1)).sum(axis=1)
    for probs, labels in ((g, y), (g[:, 0], y == 0)):
        found = sensitivity(probs, labels, n_resamples=99, rng=7)
        test = tu.calibration_test(probs, labels, statistic=DEBIASED, n_resamples=99, rng=7)
        assert found.observed == test.statistic
        assert (1 + np.sum(found.null >= found.observed)) / 100 == test.pvalue


def test_threshold_is_where_the_test_begins_to_reject() -> None:
    table = BinnedError().table([0.2, 0.2, 0.9], [0, 1, 1])
    for many, alpha in ((999, 0.05), (99, 0.05), (39, 0.025), (99, 0.1), (19, 0.05)):
        null = np.random.default_rng(many).normal(size=many)
        found = Sensitivity(null, 0.0, alpha, table)
        for value, rejects in ((found.threshold, False), (found.threshold + 1e-9, True)):
            pvalue = (1 + np.sum(null >= value)) / (1 + many)
            assert (pvalue <= alpha + 1e-12) == rejects
    assert Sensitivity(null[:10], 0.0, 0.05, table).threshold == math.inf
    assert Sensitivity(null[:10], 0.0, 0.05, table).smallest_error() is None


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_rows_find_nothing(n) -> None:
    p = np.linspace(0.2, 0.7, n)
    found = sensitivity(p, np.arange(n) % 2, n_resamples=99, rng=0)
    assert found.smallest_error(0.8) is None
    assert found.rows_for(0.1) > 50


def test_scores_all_one_leave_room_on_one_side() -> None:
    found = sensitivity(np.ones(30), np.ones(30, int), n_resamples=99, rng=0)
    assert 1 - 0.2 ** (1 / 30) <= found.smallest_error(0.8) < 0.15  # one wrong row, or two
    assert found.threshold == 0


def test_what_it_refuses() -> None:
    p = RNG.random(30)
    y = RNG.random(30) < p
    for statistic in (
        BinnedError(),
        BinnedError(norm=2),
        BinnedError(norm=2, debias="residual"),
        tu.SweepError(norm=2),
        "ece",
    ):
        with pytest.raises(InputError, match="`statistic` must be a debiased BinnedError"):
            sensitivity(p, y, statistic=statistic)
    wide = BinnedError(tu.lens.ClassWise(), norm=2, debias=True)
    with pytest.raises(InputError, match="one outcome per row"):
        sensitivity(np.c_[p, 1 - p], y, statistic=wide)
    found = sensitivity(p, y, n_resamples=99, rng=0)
    for call in (lambda: found.smallest_error(1.0), lambda: sensitivity(p, y, alpha=0)):
        with pytest.raises(InputError, match="above 0 and below 1"):
            call()
    with pytest.raises(InputError, match="`error` must be above 0 and at most 1; got 0"):
        found.rows_for(0)
    with pytest.raises(InputError, match="`clusters`"):
        sensitivity(tu.Forecasts.from_arrays(p, y, clusters=np.arange(30) // 2))


def omnibus(*data, **options) -> Sensitivity:
    return sensitivity_of(*data, **options)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", SCORES)
def test_a_planted_error_is_found_by_the_omnibus_test(kind, weighted) -> None:
    p = SCORES[kind][:600]
    w = np.random.default_rng(5).exponential(size=len(p)) + 0.05 if weighted else None
    found = omnibus(p, RNG.random(len(p)) < p, weights=w, rng=0)
    alone = [found._smallest(temperature, 0.8) for temperature in TEMPERATURES]
    assert found.smallest_error(0.8) == max(error for error in alone if error is not None)
    assert alone[0] is not None
    truth = planted(p, alone[0], TEMPERATURES[0], w)
    share = rejections(p, truth, w, 200, **OMNIBUS, n_resamples=999)
    assert share == pytest.approx(0.8, abs=0.1)  # 3.5 standard errors of 200 datasets


@pytest.mark.slow
@pytest.mark.parametrize("n", [300, 1000, 10_000])
@pytest.mark.parametrize("scores", [(4.0, 1.0), (1.18, 0.108), (1.0, 1.0)])
def test_power_at_the_smallest_error(scores, n) -> None:
    p = np.random.default_rng(n).beta(*scores, n).clip(0, 1 - 1e-9)
    found = omnibus(p, RNG.random(n) < p, rng=0)
    for temperature in TEMPERATURES:
        error = found._smallest(temperature, 0.8)
        if error is not None:
            truth = planted(p, error, temperature)
            share = rejections(p, truth, None, 800, **OMNIBUS, n_resamples=999)
            # 0.014 by these datasets, 0.012 by the draws behind the error
            assert share == pytest.approx(0.8, abs=3 * math.hypot(0.014, 0.012))


def test_draws_are_those_of_the_omnibus_test() -> None:
    rng = np.random.default_rng(3)
    g = rng.dirichlet(np.ones(3), 300)
    y = (rng.random(300)[:, None] > np.cumsum(g, axis=1)).sum(axis=1)
    top, right = g.max(axis=1), g.argmax(axis=1) == y
    w = rng.exponential(size=300) + 0.1
    for probs, labels, weights in ((g, y, None), (top, right, None), (top, right, w)):
        found = omnibus(probs, labels, weights=weights, n_resamples=99, rng=7)
        test = tu.calibration_test(top, right, weights=weights, **OMNIBUS, n_resamples=99, rng=7)
        assert found.observed == test.statistic
        assert (1 + np.sum(found.null >= found.observed)) / 100 == test.pvalue
        assert (found.observed > found.threshold) == (test.pvalue <= 0.05)
        assert found.table.weight.sum() == pytest.approx(300 if weights is None else w.sum())


def test_rows_for_the_omnibus_test() -> None:
    p = np.random.default_rng(4).random(1000)
    found = omnibus(p, RNG.random(1000) < p, rng=0)
    error = found.smallest_error(0.8)
    assert found.rows == pytest.approx(1000)
    assert found.rows_for(error, 0.8) == pytest.approx(1000, rel=0.1)
    assert found.rows_for(error / 4) == pytest.approx(16 * 1000, rel=0.15)
    few = np.random.default_rng(4).random(250)
    fewer = omnibus(few, RNG.random(250) < few, rng=0).smallest_error(0.8)
    assert found.rows_for(fewer) == pytest.approx(250, rel=0.25)
    assert found.smallest_error(0.5) < error < found.smallest_error(0.95)
    assert replace(found, alpha=0.01).smallest_error() > 1.1 * error


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows_find_little_by_the_omnibus_test(n) -> None:
    p = np.linspace(0.2, 0.7, n)
    found = omnibus(p, np.arange(n) % 2, n_resamples=99, rng=0)
    assert found.smallest_error(0.8) is None
    assert found.rows_for(0.1) > 50


def test_certain_scores_and_few_draws_of_the_omnibus_test() -> None:
    found = omnibus(np.ones(30), np.ones(30, int), n_resamples=99, rng=0)
    assert found.smallest_error(0.8) == pytest.approx(1 - 0.2 ** (1 / 30), abs=0.01)
    p = RNG.random(200)
    found = omnibus(p, RNG.random(200) < p, n_resamples=10, rng=0)
    assert found.threshold == math.inf
    assert found.smallest_error() is None
    assert found.rows_for(0.1) is None
