"""Two models on the same rows: the interval holds its truth, and words do not mislead."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import ndtr

import trueup as tu
from trueup.engines.threads import set_threads
from trueup.errors import InputError
from trueup.forecasts import Forecasts
from trueup.inference.comparison import _sentence, compare, compare_many
from trueup.inference.paired_differences import Difference, Resampled, difference_of
from trueup.results import CalibrationTestResult


def two_signals(n, rng, first=1.0, second=1.0):
    """Scores from two signals; strength 1 is calibrated, more is overconfident."""
    x, z, e = rng.normal(size=(3, n))
    labels = (x + z + e > 0).astype(int)
    return ndtr(first * x / 2**0.5), ndtr(second * z / 2**0.5), labels


def before_and_after(n, rng):
    """A published network's scores, and the same recalibrated by its true curve."""
    world = tu.simulate.PUBLISHED["densenet161_imgnet"]
    score, complement = world.scores.sample(n, rng)
    truth = world.curve(score, complement)
    return score, truth, (rng.random(n) < truth).astype(int)


def difference(a, b, labels, n_resamples=99, seed=0):
    models = (Forecasts.from_arrays(p, labels) for p in (a, b))
    measure = tu.rmsce_debiased.estimator()
    return difference_of(*(Resampled.of(m, measure, n_resamples, seed) for m in models), 0.95)


def test_a_model_and_itself():
    a, _, labels = two_signals(500, np.random.default_rng(0))
    found = compare(a, a, labels, n_resamples=99, rng=0)
    assert (found.difference, found.pvalue) == (0, 1)
    assert found.interval.low <= 0 <= found.interval.high
    assert found.first == found.second
    assert found.first_test == found.second_test


def test_order_changes_only_the_sign():
    a, b, labels = two_signals(800, np.random.default_rng(0), 1.6)
    one, two = (compare(*ab, labels, n_resamples=199, rng=0) for ab in ((a, b), (b, a)))
    assert one.difference == -two.difference > 0
    assert (one.interval.low, one.interval.high) == pytest.approx(
        (-two.interval.high, -two.interval.low)
    )
    assert one.pvalue == two.pvalue
    assert (one.first, one.first_test) == (two.second, two.second_test)


def test_a_clear_difference_is_found():
    found = compare(*two_signals(5000, np.random.default_rng(0), 2.5), n_resamples=199, rng=1)
    assert found.pvalue == pytest.approx(2 / 200)  # the smallest there is: never 0
    assert found.interval.low > 0
    assert found.text.startswith("The second model is better calibrated: its error is lower by 0.1")
    assert found.first_test.pvalue < 0.05 < found.second_test.pvalue
    assert json.loads(json.dumps(found.to_dict()))["pvalue"] == found.pvalue


def test_the_same_seed_gives_the_same_answer_on_any_number_of_threads():
    a, b, labels = two_signals(400, np.random.default_rng(0), 1.5)
    answers = []
    for threads in (1, 2):
        set_threads(threads)
        answers.append(compare(a, b, labels, n_resamples=99, rng=3))
    set_threads(None)
    assert answers[0] == answers[1]
    assert compare(a, b, labels, n_resamples=99, rng=4).interval != answers[0].interval


def test_coverage_of_what_recalibration_gains():
    """Where percentiles of the roots cover 0.53; 0.0543 is the gain in 15 bins."""
    covered = 0
    for r in range(60):
        found = difference(*before_and_after(200, np.random.default_rng(r)), seed=r)
        covered += found.low <= 0.0543 <= found.high
    assert covered >= 51  # of 57 expected, less 3.5 standard errors


def test_no_false_differences_between_calibrated_models():
    rejected = 0
    for r in range(60):
        found = difference(*two_signals(300, np.random.default_rng(r)), seed=r)
        assert (found.low <= 0 <= found.high) == (found.pvalue > 0.05)
        rejected += found.pvalue <= 0.05
    assert rejected <= 8


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 1000, 5000])
@pytest.mark.parametrize(
    ("world", "truth"),
    [
        (two_signals, 0.0),
        (lambda n, rng: two_signals(n, rng, 1.4, 1.4), 0.0),
        (lambda n, rng: two_signals(n, rng, 1.4, 1.0), 0.0575),
        (before_and_after, 0.0543),
    ],
)
def test_coverage(world, truth, n):
    """Truths are those of 15 bins of 2,000,000 rows."""
    covered = 0
    for r in range(300):
        found = difference(*world(n, np.random.default_rng([r, n])), n_resamples=199, seed=r)
        covered += found.low <= truth <= found.high
    assert covered / 300 >= 0.92


def test_clusters_are_drawn_together():
    rng = np.random.default_rng(0)
    a, b, labels = two_signals(300, rng, 2.5)
    cluster = np.repeat(np.arange(300), 4)  # every row four times is no more than one row
    once = compare(a, b, labels, n_resamples=499, rng=0)
    repeated = [
        Forecasts.from_arrays(p[cluster], labels[cluster], clusters=cluster) for p in (a, b)
    ]
    together = compare(*repeated, n_resamples=499, rng=0)
    apart = compare(a[cluster], b[cluster], labels[cluster], n_resamples=499, rng=0)
    width = [c.interval.high - c.interval.low for c in (once, together, apart)]
    assert width[1] == pytest.approx(width[0], rel=0.25)
    assert width[2] < 0.75 * width[1]
    assert together.first_test.method == "cluster bootstrap"
    assert together.first_test.pvalue < 0.05 < together.second_test.pvalue
    with pytest.raises(InputError, match="debiased BinnedError if rows are in clusters"):
        compare(*repeated, estimator=tu.BinnedError())


@pytest.mark.parametrize("estimator", [tu.BinnedError(), tu.SweepError(norm=2), tu.Brier()])
def test_other_estimators(estimator):
    a, b, labels = two_signals(300, np.random.default_rng(0), 3.0)
    found = compare(a, b, labels, estimator=estimator, n_resamples=99, rng=0)
    assert found.difference == estimator(a, labels) - estimator(b, labels)
    assert found.interval.low <= found.difference <= found.interval.high
    assert found.pvalue < 0.2


def test_a_matrix_and_weights():
    rng = np.random.default_rng(0)
    a, b = rng.dirichlet(np.ones(3), 400), rng.dirichlet(np.ones(3), 400)
    labels = np.array([rng.choice(3, p=p) for p in a])
    found = compare(b, a, labels, weights=rng.integers(1, 3, 400), n_resamples=99, rng=0)
    assert found.interval.low > 0


def test_different_samples_are_refused():
    a, b, labels = two_signals(100, np.random.default_rng(0))
    with pytest.raises(InputError, match="same samples as `probs_a`; got other labels"):
        compare(Forecasts.from_arrays(a, labels), Forecasts.from_arrays(b, 1 - labels))
    with pytest.raises(InputError, match="`n_resamples` must be a whole number of at least 39"):
        compare(a, b, labels, n_resamples=38)
    with pytest.raises(InputError, match="`estimator` must be an estimator"):
        compare(a, b, labels, estimator="ece")
    with pytest.raises(InputError, match="`models` must be two models or more"):
        compare_many({"a": a}, labels)
    with pytest.raises(InputError, match="cannot be compared if labels say whether each one's own"):
        compare(Forecasts.from_arrays(a, labels), Forecasts.from_arrays(b, 1 - labels))
    with pytest.raises(InputError, match="same samples as `a`; got 99 rows instead of 100"):
        compare_many(
            {"a": Forecasts.from_arrays(a, labels), "b": Forecasts.from_arrays(b[1:], labels[1:])}
        )


def test_words_where_order_and_verdicts_disagree():
    tests = [CalibrationTestResult(0.0, p, "consistency", "") for p in (0.01, 0.4)]
    of = tu.rmsce_debiased.estimator()
    disagree = _sentence(of, Difference(-0.01, -0.05, 0.03, 0.6), 0.95, tests)
    assert disagree.startswith("No difference in calibration was detected: -0.0100")
    assert (
        "Warning: the estimates and the tests disagree. Only the first model is shown" in disagree
    )
    assert "The second may be just as miscalibrated but harder to test" in disagree
    unclear = _sentence(of, Difference(0.01, -0.03, 0.05, 0.6), 0.95, tests)
    assert "does not show that the two models differ" in unclear
    clear = _sentence(of, Difference(0.04, 0.01, 0.07, 0.002), 0.95, tests)
    assert "Warning" not in clear
    other = _sentence(of, Difference(0.04, -0.01, 0.07, 0.1), 0.95, tests[::-1])
    assert "Only the second model is shown to be miscalibrated" in other


@pytest.mark.parametrize("estimator", [tu.rmsce_debiased.estimator(), tu.LogLoss()])
def test_the_interval_has_the_sign_of_its_sentence(estimator):
    """Whichever model comes first, the better one is lower by a positive number."""
    tests = [CalibrationTestResult(0.0, 0.01, "consistency", "")] * 2
    first = _sentence(estimator, Difference(-0.1147, -0.1355, -0.0968, 0.002), 0.95, tests)
    second = _sentence(estimator, Difference(0.1147, 0.0968, 0.1355, 0.002), 0.95, tests)
    assert "by 0.1147 (95% interval 0.0968 to 0.1355, p = 0.002)." in first
    assert first == second.replace("The second model", "The first model")
    unclear = _sentence(estimator, Difference(-0.01, -0.05, 0.03, 0.6), 0.9, tests)
    assert "was detected: -0.0100 (90% interval -0.0500 to 0.0300, p = 0.6)." in unclear


def test_each_model_is_tested_separately():
    of = tu.rmsce_debiased.estimator()
    tests = [CalibrationTestResult(0.0, p, "consistency", "") for p in (0.01, 0.4)]
    text = _sentence(of, Difference(0.04, 0.01, 0.07, 0.002), 0.95, tests)
    own = "the first model is miscalibrated (p = 0.01); the second shows no evidence of"
    assert f"Tested separately, {own} miscalibration (p = 0.4)." in text


def test_ranks_are_those_of_adjusted_p_values(monkeypatch):
    """Three differences, each of p = 0.03: together none is below 5%."""
    a, b, labels = two_signals(60, np.random.default_rng(0))
    for pvalue, ranks in ((0.03, [1, 1, 1]), (0.01, [3, 3, 2])):
        found = Difference(0.1, 0.01, 0.2, pvalue)
        monkeypatch.setattr(
            "trueup.inference.comparison.difference_of", lambda *_, found=found: found
        )
        table = compare_many({"a": a, "b": b, "c": a}, labels, n_resamples=39, rng=0)
        assert table["adjusted_pvalue"] == pytest.approx([3 * pvalue] * 3)
        assert table["first_rank"].tolist() == ranks  # of the pairs ab, ac and bc


def test_ranks_admit_ties():
    rng = np.random.default_rng(0)
    truth = rng.random(3000)
    labels = (rng.random(3000) < truth).astype(int)
    models = {"bad": truth**3, "good": truth, "as good": 0.002 + 0.996 * truth, "poor": truth**1.6}
    found = compare_many(models, labels, n_resamples=499, rng=0)
    assert len(found) == 6
    rank = dict(zip(found["first"], found["first_rank"], strict=True))
    rank |= dict(zip(found["second"], found["second_rank"], strict=True))
    assert rank == {"bad": 4, "good": 1, "as good": 1, "poor": 3}
    assert np.all(found["adjusted_pvalue"] >= found["pvalue"])
    alone = compare(truth**3, truth, labels, n_resamples=499, rng=0)
    assert found["difference"][0] == alone.difference
    assert (found["low"][0], found["high"][0]) == (alone.interval.low, alone.interval.high)


@pytest.mark.parametrize(("score", "words"), [(tu.brier, "Brier score"), (tu.log_loss, "log loss")])
def test_a_proper_score_is_not_called_calibration(score, words):
    rng = np.random.default_rng(0)
    truth = rng.random(2000)
    labels = rng.random(2000) < truth
    found = compare(truth**2, truth, labels, estimator=score, n_resamples=99, rng=0)
    assert found.text.startswith(f"The second model has the lower {words}, by ")
    same = compare(truth, truth, labels, estimator=score, n_resamples=99, rng=0)
    assert same.text.startswith(f"No difference in {words} was detected")
    assert "calibrat" not in found.text + same.text


def test_the_best_of_many_models_can_be_shown() -> None:
    """Holm's adjustment for 45 pairs takes more than 999 resamples."""
    rng = np.random.default_rng(0)
    probs = rng.random(1500)
    labels = (rng.random(1500) < probs).astype(int)
    models = {"right": probs} | {f"wrong {k}": probs**3 for k in range(9)}
    few = tu.inference.compare_many(models, labels, n_resamples=999)
    assert set(few["first_rank"]) | set(few["second_rank"]) == {1}
    found = tu.inference.compare_many(models, labels)
    ranks = dict(zip(found["first"].tolist(), found["first_rank"].tolist(), strict=True))
    assert ranks["right"] == 1
    assert {rank for name, rank in ranks.items() if name != "right"} == {2}
    some = {name: models[name] for name in ("right", "wrong 0", "wrong 1")}
    found = tu.evaluate(labels=labels, models=some, n_resamples=39, recalibrate=False, advice=False)
    assert found.verdict.startswith(
        "None of the 3 models is shown to be better calibrated than right."
    )
