"""Worlds know their truth: closed forms, brute force, and what they draw."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import trueup as tu
from trueup.simulate.worlds.calibration_curves import (
    Glm,
    Identity,
    Logistic,
    LogOdds,
    Noisy,
    Power,
    Steps,
)
from trueup.simulate.worlds.multiclass import DirichletWorld, TableWorld
from trueup.simulate.worlds.published import PUBLISHED, ROELOFS
from trueup.simulate.worlds.score_distributions import (
    Beta,
    Empirical,
    LogisticMixture,
    Points,
    Uniform,
)
from trueup.simulate.worlds.world import World

SCORES = [
    Beta(2.7752, 0.0478),
    Beta(0.3, 0.2),
    Beta(5, 3),
    Uniform(),
    Uniform(0.25, 0.75),
    LogisticMixture(1, 1),
    LogisticMixture(0, -2),
]
CURVES = [
    Identity(),
    Power(2),
    Power(0.5),
    Logistic(),
    LogOdds(2, 1),
    Noisy(LogOdds(2, 1)),
    Steps((0.3, 0.6), (0.1, 0.5, 0.9)),
    Glm("logflip", "logflip", -0.24, 0.30),
    Glm("logit", "logflip", -0.27, -0.33),
    Glm("log", "log", -0.03, 1.27),
    Glm("logit", "logit", 0.5, 0.0),
]


def by_name(value):
    return repr(value)


@pytest.mark.parametrize("scores", SCORES, ids=by_name)
@pytest.mark.parametrize("curve", CURVES, ids=by_name)
def test_true_errors_are_those_of_a_long_draw(scores, curve):
    world = World(scores, curve)
    score, complement = scores.sample((100_000,), np.random.default_rng(1))
    gap = np.abs(score - curve(score, complement))
    for norm in (1, 2, 3):
        powers = gap**norm
        error = 5 * powers.std() / math.sqrt(len(powers)) + 1e-9
        assert world.true_error(norm) ** norm == pytest.approx(powers.mean(), abs=error)
    assert world.true_error(math.inf) >= gap.mean()


@pytest.mark.parametrize("scores", SCORES, ids=by_name)
@pytest.mark.parametrize(
    "curve", [Power(2), Glm("logflip", "logflip", -0.24, 0.30), Noisy()], ids=by_name
)
def test_bin_truths_are_those_of_a_long_draw(scores, curve):
    world = World(scores, curve)
    inner = np.array([0.3, 0.7, 0.95])
    truth = world.bin_truth(inner)
    score, complement = scores.sample((100_000,), np.random.default_rng(2))
    index = np.searchsorted(inner, score)
    rate = curve(score, complement)
    assert truth.share.sum() == pytest.approx(1, abs=1e-9)
    for b in range(4):
        here = index == b
        assert truth.share[b] == pytest.approx(here.mean(), abs=5 * 0.5 / math.sqrt(len(score)))
        if here.sum() > 1000:
            wide = 6 / math.sqrt(here.sum())
            assert truth.mean_score[b] == pytest.approx(score[here].mean(), abs=wide * 0.5)
            assert truth.mean_label[b] == pytest.approx(rate[here].mean(), abs=wide * 0.5)
    assert world.binned_error(inner, 2) <= world.true_error(2) + 1e-9


def test_closed_forms():
    assert World(Uniform(), Power(2)).true_error(1) == pytest.approx(1 / 6, abs=1e-10)
    assert World(Uniform(), Power(2)).true_error(2) == pytest.approx(math.sqrt(1 / 30), abs=1e-10)
    mean, second = 5 / 8, 5 * 6 / (8 * 9)  # of Beta(5, 3)
    assert World(Beta(5, 3), Power(2)).true_error(1) == pytest.approx(mean - second, abs=1e-10)
    flat = World(Uniform(), Steps((), (0.5,)))
    assert flat.true_error(1) == pytest.approx(0.25, abs=1e-10)
    assert flat.true_error(math.inf) == pytest.approx(0.5, abs=1e-4)
    assert flat.binned_error([], 1) == pytest.approx(0, abs=1e-12)
    assert flat.binned_error([0.5], 1) == pytest.approx(0.25, abs=1e-10)
    points = World(Points((0.2, 0.9), (3, 1)), Power(2))
    assert points.true_error(1) == pytest.approx(0.75 * 0.16 + 0.25 * 0.09, abs=1e-15)
    assert points.true_error(math.inf) == pytest.approx(0.16, abs=1e-15)


@pytest.mark.parametrize("scores", SCORES, ids=by_name)
def test_a_calibrated_world_has_no_error(scores):
    world = World(scores, Logistic()).calibrated()
    assert world.true_error(2) == 0
    assert world.binned_error([0.2, 0.8], 1) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("alpha", "beta"), [(2.7752, 0.0478), (0.05, 0.05), (1, 1), (40, 0.3)])
def test_beta_draws_follow_beta_on_both_sides(alpha, beta):
    score, complement = Beta(alpha, beta).sample((50_000,), np.random.default_rng(3))
    assert np.all((score >= 0) & (score <= 1) & (complement >= 0) & (complement <= 1))
    np.testing.assert_allclose(score + complement, 1, atol=1e-15)
    # the complement keeps what the score has rounded away, so both sides are tested
    for side, (a, b) in ((score, (alpha, beta)), (complement, (beta, alpha))):
        small = side[side < 0.5]
        if len(small) < 100:
            continue
        share = stats.beta.cdf(small, a, b) / stats.beta.cdf(0.5, a, b)
        assert stats.kstest(share, "uniform").pvalue > 1e-4


def test_quantiles_undo_shares():
    for scores in SCORES:
        share_above = np.array([0.01, 0.3, 0.5, 0.77, 0.99])
        drawn = scores.quantile(share_above)
        np.testing.assert_allclose(drawn.score + drawn.complement, 1, atol=1e-12)
        np.testing.assert_allclose(scores.share_above(drawn), share_above, atol=1e-9)


def test_draws_are_seeded_and_independent():
    world = World(Beta(2, 1), Power(2))
    first, again, other = (world.sample_many(3, 50, seed) for seed in (1, 1, 2))
    assert np.array_equal(first.probs, again.probs)
    assert np.array_equal(first.labels, again.labels)
    assert not np.array_equal(first.probs, other.probs)
    assert len(np.unique(first.probs)) == 150
    rng = np.random.default_rng(1)
    assert not np.array_equal(world.sample(50, rng).scores, world.sample(50, rng).scores)


def test_labels_follow_the_curve():
    world = World(Uniform(), Steps((0.5,), (0.2, 0.9)))
    sets = world.sample_many(10, 20_000, 0)
    upper = sets.probs > 0.5
    assert sets.labels[~upper].mean() == pytest.approx(0.2, abs=0.01)
    assert sets.labels[upper].mean() == pytest.approx(0.9, abs=0.01)


def test_a_noisy_curve_tosses_one_coin_for_each_score():
    curve = Noisy(Identity(), 0.1)
    score = np.random.default_rng(0).uniform(0.2, 0.8, 20_000)
    up = curve(score, 1 - score) > score
    assert np.array_equal(up, curve(score, 1 - score) > score)
    assert up.mean() == pytest.approx(0.5, abs=0.02)
    assert World(Uniform(0.2, 0.8), curve).true_error(2) == pytest.approx(0.1, abs=1e-9)


def test_curves_are_exact_where_scores_are_rounded_to_one():
    """At a complement of 1e-30 the score reads 1, and the truth is still 1 − exp(−0.24)·1e-9."""
    curve = Glm("logflip", "logflip", -0.24, 0.30)
    truth = curve(np.array([1.0]), np.array([1e-30]))
    assert 1 - truth[0] == pytest.approx(math.exp(-0.24) * 1e-9, rel=1e-6)


def test_empirical_scores_are_those_given():
    given = (0.1, 0.4, 0.4, 0.9)
    world = World(Empirical(given), Power(2))
    assert set(world.sample(500, 0).scores) <= set(given)
    assert world.true_error(1) == pytest.approx(np.mean([p - p * p for p in given]))
    assert repr(world.scores) == "Empirical(4 scores)"


def test_published_worlds():
    assert len(ROELOFS) == 10
    for name in ROELOFS:
        assert PUBLISHED[f"{name}_calibrated"].true_error(2) == 0
    assert 100 * PUBLISHED["resnet110_c10"].true_error(2) == pytest.approx(10.71, abs=0.005)
    mixture = {
        k: PUBLISHED[f"gaussian_mixture_{k}"] for k in ("perfect", "constant", "uncalibrated")
    }
    assert mixture["perfect"].true_error(1) == pytest.approx(0, abs=1e-12)
    assert mixture["constant"].true_error(1) == 0
    assert mixture["uncalibrated"].true_error(1) == pytest.approx(0.56, abs=0.005)
    approximate = {name for name in ROELOFS if PUBLISHED[name].approximate}
    assert approximate == {
        "resnet110_SD_c10",
        "resnet_wide32_c10",
        "densenet40_c10",
        "resnet110_c100",
        "resnet_wide32_c100",
        "densenet161_imgnet",
    }


def test_the_mixture_model_follows_its_own_logic():
    """§5.1: class −1 or 1 at random, x normal about it, score σ(1 + x) for class −1."""
    rng = np.random.default_rng(0)
    side = rng.choice([-1, 1], 400_000)
    x = rng.standard_normal(len(side)) + side
    score = 1 / (1 + np.exp(-(1 + x)))
    world = PUBLISHED["gaussian_mixture_uncalibrated"]
    truth = world.bin_truth(np.arange(1, 10) / 10)
    for b in range(10):
        here = (score > b / 10) & (score <= (b + 1) / 10)
        assert truth.mean_label[b] == pytest.approx((side[here] == -1).mean(), abs=0.02)


def test_tables_of_vaicenavicius():
    one, two = PUBLISHED["vaicenavicius_table_1"], PUBLISHED["vaicenavicius_table_2"]
    assert one.true_error() == pytest.approx(0.1, abs=1e-15)
    assert one.true_error(lens=tu.lens.TopLabel()) == pytest.approx(0, abs=1e-15)
    assert one.true_error(lens=tu.lens.ClassWise()) == pytest.approx(0, abs=1e-15)
    assert two.true_error() == pytest.approx(0.2, abs=1e-15)
    assert two.true_error(lens=tu.lens.TopLabel()) == pytest.approx(0, abs=1e-15)
    assert two.true_error(lens=tu.lens.ClassWise()) == pytest.approx(0.4 / 3, abs=1e-15)
    assert two.true_error(lens=tu.lens.TopLabelByClass()) == pytest.approx(0.1, abs=1e-15)
    assert two.true_error(2, tu.lens.OneVsRest(2)) == pytest.approx(0.2, abs=1e-15)
    assert two.true_error(distance="squared") == pytest.approx((0.06 + 0.06) / 2, abs=1e-15)


def test_table_draws_follow_the_table():
    world = TableWorld(((0.5, 0.5), (0.9, 0.1)), ((0.2, 0.8), (0.6, 0.4)), (3, 1))
    drawn = world.sample(40_000, 0)
    first = drawn.rows(slice(None))[:, 0] == 0.5
    assert first.mean() == pytest.approx(0.75, abs=0.01)
    assert drawn.labels[first].mean() == pytest.approx(0.8, abs=0.01)
    assert drawn.labels[~first].mean() == pytest.approx(0.4, abs=0.02)


@pytest.mark.parametrize(
    "world", [DirichletWorld((1, 2, 3), 2), PUBLISHED["vaicenavicius_table_1"]]
)
def test_many_data_sets_of_several_classes(world):
    sets = world.sample_many(4, 50, 0)
    assert sets.probs.shape == (4, 50, 3)
    assert sets.labels.shape == (4, 50)
    assert not np.array_equal(sets.probs[0], sets.probs[1])
    assert set(np.unique(sets.labels)) == {0, 1, 2}
    alone = world.sample(50, 0)
    np.testing.assert_array_equal(alone.labels, world.sample_many(1, 50, 0).labels[0])


def test_dirichlet_worlds():
    assert DirichletWorld((1, 2, 3)).true_error() == pytest.approx(0, abs=1e-12)
    world = DirichletWorld((0.5, 0.5, 0.5), temperature=2)
    drawn = world.sample(100_000, 0)
    probs = drawn.rows(slice(None))
    expected = 0.5 * np.abs(world.truth(probs) - probs).sum(axis=1).mean()
    assert world.true_error() == pytest.approx(expected, abs=0.005)
    assert tu.ece(drawn) > 0.1  # the truth is flatter: overconfident
    assert tu.BinnedError(tu.lens.Canonical(), tu.bins.VarianceTree(2000))(drawn) == pytest.approx(
        expected, abs=0.05
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Beta(0, 1), "`alpha` must be a positive number; got 0."),
        (lambda: Uniform(0.5, 0.5), "`low` must be below high, both in [0, 1]; got (0.5, 0.5)."),
        (lambda: Points((0.5, 1.2)), "`scores` must be numbers between 0 and 1; got (0.5, 1.2)."),
        (
            lambda: Glm("probit"),
            '`link` must be "logit", "log" or "logflip"; got \'probit\'.',
        ),
        (
            lambda: World().sample(0, 0),
            "`n` must be a whole number of at least 1; got 0.",
        ),
        (
            lambda: World().sample(5, "x"),
            "`rng` must be a whole number of at least 0, a numpy Generator or None; got 'x'.",
        ),
        (
            lambda: TableWorld(((0.5, 0.6),), ((0.5, 0.5),)),
            "`predictions` must be rows of probabilities that sum to 1; got ((0.5, 0.6),).",
        ),
    ],
)
def test_refusals(make, message):
    with pytest.raises(tu.InputError) as refused:
        make()
    assert str(refused.value) == message


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_a_dirichlet_of_two_classes_is_a_beta(temperature):
    """Its second class has Beta scores, and the truth is straight in log-odds."""
    world = DirichletWorld((0.7, 1.9), temperature)
    binary = World(Beta(1.9, 0.7), LogOdds(1 / temperature))
    for norm in (1, 2):
        exact = binary.true_error(norm)
        assert world.true_error(norm, tu.lens.OneVsRest(1)) == pytest.approx(exact, abs=0.001)
        assert world.true_error(norm) == pytest.approx(exact, abs=0.001)
        assert world.true_error(norm, tu.lens.ClassWise()) == pytest.approx(exact, abs=0.001)


def test_a_dirichlet_through_other_lenses():
    world = DirichletWorld((1, 2, 3), 2)
    long = world.sample(400_000, 1)
    top = tu.BinnedError(tu.lens.TopLabel(), tu.EqualMass(200), norm=2, debias="residual")
    assert world.true_error(2, tu.lens.TopLabel()) == pytest.approx(top(long), abs=0.004)
    grouped = tu.lens.Partition(((0, 1), (2,)))
    assert world.true_error(1, grouped) == pytest.approx(
        world.true_error(1, tu.lens.OneVsRest(2)), abs=0.004
    )


def test_the_largest_gap_is_found_where_hardly_any_score_lies():
    """σ(−0.27) at a score of 0, of which the quantiles of 65,536 draws know nothing."""
    world = PUBLISHED["resnet110_SD_c10"]
    assert world.true_error(math.inf) == pytest.approx(1 / (1 + math.exp(0.27)), abs=1e-9)
    for name in ROELOFS:
        inner = np.arange(1, 64) / 64
        assert PUBLISHED[name].binned_error(inner, math.inf) <= PUBLISHED[name].true_error(math.inf)
    ends = World(Uniform(0.25, 0.75), Identity())
    assert ends.true_error(math.inf) == 0


def test_kinks_and_jumps_are_integrated_piece_by_piece():
    edges, values = np.linspace(0.05, 0.95, 19), np.linspace(0.05, 0.99, 20) ** 1.5
    alpha, beta = 2.7752, 0.0478
    world = World(Beta(alpha, beta), Steps(edges, values))
    ends = np.concatenate([[0], edges, [1]])

    def moment(k):  # E[c^k; bin] in closed form
        scale = math.prod((alpha + i) / (alpha + beta + i) for i in range(k))
        return scale * np.diff(stats.beta.cdf(ends, alpha + k, beta))

    second = np.sum(moment(2) - 2 * values * moment(1) + values**2 * moment(0))
    assert world.true_error(2) == pytest.approx(math.sqrt(second), rel=1e-8)

    curve = LogOdds(2.507395086202612, 0.004862462362330365)
    score = (np.arange(4_000_000) + 0.5) / 4_000_000
    exact = np.abs(score - curve(score, 1 - score)).mean()
    assert World(Uniform(), curve).true_error(1) == pytest.approx(exact, abs=1e-9)
    tiny = World(Beta(200, 0.02), Power(1.01))
    assert tiny.true_error(3) == pytest.approx(1.7053e-5, rel=1e-4)


def test_a_noisy_curve_over_points_has_tossed_its_coins():
    world = World(Points((0.3,)), Noisy(Power(2), 0.02))
    rate = world.sample_many(1, 200_000, 0).labels.mean()
    assert world.true_error(1) == pytest.approx(abs(0.3 - rate), abs=0.005)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Power(float("nan")),
        lambda: Power(-1),
        lambda: Glm("logit", "logit", float("nan")),
        lambda: LogOdds(math.inf),
        lambda: Logistic(math.inf),
        lambda: Noisy(Identity(), 5.0),
        lambda: LogisticMixture(float("nan")),
        lambda: Points((0.5,), (math.inf,)),
        lambda: DirichletWorld((1, math.inf)),
        lambda: DirichletWorld((1, 1), math.inf),
        lambda: World(3, 4),
        lambda: World().bin_truth([0.2, float("nan")]),
    ],
)
def test_what_is_no_world_is_refused(make):
    with pytest.raises(tu.InputError):
        make()
