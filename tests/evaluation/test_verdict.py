"""The words: right direction, never more than the numbers carry, never a crash or a NaN."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import trueup as tu
from trueup.evaluation.evidence import Evidence
from trueup.evaluation.findings import headline
from trueup.inference.hypothesis_tests.sensitivity import sensitivity

FAST = {"n_resamples": 99, "recalibrate": False, "advice": False}
DECIDING = ("rmsce_debiased", "marginal_error_debiased")


def logistic(z: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-z))


def logit(p: np.ndarray) -> np.ndarray:
    return np.log(p / (1 - p))


def said(n: int, truth, seed: int = 0, low: float = 0.0, **options) -> tu.Evaluation:
    rng = np.random.default_rng(seed)
    p = low + (1 - low) * rng.uniform(1e-3, 1 - 1e-3, n)
    return tu.evaluate(p, rng.random(n) < truth(p), **(FAST | options))


DIRECTIONS = {
    "probabilities are too high": lambda p: 0.7 * p,
    "probabilities are too low": lambda p: p + 0.3 * (1 - p),
    "probabilities are too extreme": lambda p: logistic(logit(p) / 2),
    "probabilities are too timid": lambda p: logistic(2 * logit(p)),
    "the upper half of the scores is too high": lambda p: np.where(p > 0.6, p - 0.3, p),
    "the lower half of the scores is too low": lambda p: np.where(p < 0.4, p + 0.3, p),
}


@pytest.mark.parametrize("words", DIRECTIONS)
def test_direction_of_probabilities(words) -> None:
    found = said(2000, DIRECTIONS[words])
    assert found.answers["calibrated"].startswith("The probabilities are miscalibrated (p ≤ 0.01")
    assert f"; {words}: " in found.answers["magnitude"]
    assert "add most to it" in found.answers["location"]


@pytest.mark.parametrize(("power", "words"), [(0.5, "over"), (2.0, "under")])
def test_direction_of_confidences(power, words) -> None:
    rng = np.random.default_rng(0)
    g = rng.dirichlet(np.ones(3), 1500)
    truth = g**power / (g**power).sum(axis=1, keepdims=True)
    y = (rng.random(1500)[:, None] > np.cumsum(truth, axis=1)).sum(axis=1)
    found = tu.evaluate(g, y, metrics=["marginal_error_debiased"], **FAST)
    assert "confidences of the most probable class are miscalibrated" in found.verdict
    assert f"the model is {words}-confident" in found.answers["magnitude"]
    assert "3 of 3 classes are miscalibrated" in found.answers["location"]


def test_one_score_only() -> None:
    y = np.arange(300) % 2
    found = tu.evaluate(np.full(300, 0.3), y, **FAST)
    assert "; probabilities are too low: 0.300 predicted" in found.answers["magnitude"]
    assert found.answers["location"] == "All scores are in one bin."
    sure = tu.evaluate(np.full(300, 0.9), y, **FAST)
    assert "; probabilities are too high" in sure.answers["magnitude"]


def test_tied_scores_are_named_as_what_they_are() -> None:
    rng = np.random.default_rng(0)
    p = rng.choice([0.9, 0.95, 0.99], 1000)
    found = tu.evaluate(p, rng.random(1000) < p - 0.2, **FAST)
    assert re.match(
        r"Scores of 0\.9[59]? add most to it \(3\d % of rows\)", found.answers["location"]
    )


def test_scores_near_one_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    p = 1 - 10 ** rng.uniform(-6, -3, 3000)
    found = tu.evaluate(p, rng.random(3000) < 0.95, **FAST)
    low, high = re.search(r"Scores from ([\d.]+) to ([\d.]+)", found.answers["location"]).groups()
    assert float(low) < float(high)


def test_a_small_error_of_very_many_rows_is_called_slight() -> None:
    found = said(300_000, lambda p: p + 0.012 * (0.5 - p), metrics=[])
    assert found.answers["calibrated"].startswith("The probabilities are slightly miscalibrated")
    assert found.estimates[0].interval.high < 0.01
    large = said(2000, lambda p: 0.7 * p, metrics=[])
    assert "slightly" not in large.verdict


@pytest.mark.parametrize("kind", ["binary", "hot", "ties", "few", "classes"])
def test_calibrated_models_are_not_accused(kind, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a level of 5 %: of 60 sets more than 8 with a probability of 0.3 %."""
    tables = ("reliability_mass", "null", "classes")
    monkeypatch.setattr("trueup.evaluation.pipeline.TABLES", tables)
    monkeypatch.setattr("trueup.evaluation.pipeline.further_tests", lambda *_: {})
    monkeypatch.setattr("trueup.evaluation.on_demand.proper_scores", lambda *_: ())
    monkeypatch.setattr("trueup.evaluation.recommendations.ERRORS_OF_INTEREST", ())
    monkeypatch.setattr("trueup.inference.hypothesis_tests.sensitivity.DRAWS", 50)
    accused = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        metrics = []
        if kind == "classes":
            g = rng.dirichlet(np.full(4, 0.5), 200)
            y = np.minimum((rng.random(200)[:, None] > np.cumsum(g, axis=1)).sum(axis=1), 3)
            metrics = ["marginal_error_debiased"]
        else:
            n = {"binary": 400, "hot": 400, "ties": 300, "few": 20}[kind]
            g = rng.beta(8, 0.5, n) if kind == "hot" else rng.random(n)
            g = rng.choice([0.5, 0.8, 0.9, 0.95], n) if kind == "ties" else g
            y = rng.random(n) < g
        text = tu.evaluate(g, y, metrics=metrics, **FAST, rng=seed).verdict
        if "miscalibrated" in text:
            accused += 1
        else:
            assert "no evidence of miscalibration at this sample size" in text
            assert "would go unnoticed more than one time in five" in text or "mostly go" in text
    assert accused <= 8


def test_two_tests_of_several_classes_are_adjusted(found) -> None:
    evaluation = found("three")
    raw = [evaluation.estimates[0].pvalue, evaluation.estimate("marginal_error_debiased").pvalue]
    adjusted = tu.inference.holm(raw)[0]
    assert f"p = {adjusted:.2g} adjusted for two tests" in evaluation.answers["calibrated"]
    assert "adjusted" not in found("binary").answers["calibrated"]


def test_one_bad_class_is_found_where_the_top_label_is_right() -> None:
    rng = np.random.default_rng(0)
    g = np.tile([0.6, 0.3, 0.1], (1500, 1))
    y = rng.choice(3, 1500, p=[0.6, 0.1, 0.3])
    found = tu.evaluate(g, y, metrics=["marginal_error_debiased"], **FAST)
    text = found.answers["calibrated"]
    assert text.startswith("The confidences of the most probable class show no evidence")
    assert "but the probabilities of all classes are miscalibrated" in text
    assert "2 of 3 classes are miscalibrated; largest errors: class" in found.answers["location"]


def test_a_bad_group_is_named_where_the_whole_is_right() -> None:
    rng = np.random.default_rng(4)
    p, groups = rng.uniform(0.3, 0.7, 2000), np.repeat(["left", "right", "rest"], [100, 100, 1800])
    truth = p + 0.25 * (groups == "left") - 0.25 * (groups == "right")
    found = tu.evaluate(p, rng.random(2000) < truth, groups=groups, **FAST | {"n_resamples": 199})
    assert "no evidence of miscalibration" in found.answers["calibrated"]
    assert "But 2 of 3 groups stand out (p =" in found.answers["location"]
    assert "miscalibrated;" not in found.verdict
    assert re.fullmatch(
        "Look at group (left and group right|right and group left) again with more rows.",
        found.answers["recommendation"],
    )


def rows(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return p, (rng.random(n) < p).astype(int)


def _awkward():
    rng = np.random.default_rng(0)
    eye = np.eye(3)[np.arange(50) % 3]
    wide = rng.dirichlet(np.full(1000, 0.02), 120)
    p, y = rows(200)
    return {
        "one row": ([0.7], [1]),
        "one row of a matrix": ([[0.7, 0.3]], [1]),
        "two rows": ([0.7, 0.2], [1, 0]),
        "twenty rows": rows(20),
        "one class": (p, np.ones(200, int)),
        "no class": (p, np.zeros(200, int)),
        "all 1 and right": (np.ones(50), np.ones(50, int)),
        "all 1, some wrong": (np.ones(50), np.r_[np.ones(45, int), np.zeros(5, int)]),
        "certain and right": (eye, np.arange(50) % 3),
        "certain, some wrong": (eye, (np.arange(50) + (np.arange(50) < 5)) % 3),
        "constant": (np.full(80, 0.3), np.arange(80) % 3 == 0),
        "ties": ((10 * p).round() / 10, y),
        "a thousand classes": (wide, rng.integers(0, 1000, 120)),
        "float32": (p.astype(np.float32), y),
        "integers": (np.arange(60) % 2, (np.arange(60) // 2) % 2),
    }


AWKWARD = _awkward()


@pytest.mark.parametrize("case", AWKWARD)
def test_awkward_data_get_sensible_words(case) -> None:
    p, y = AWKWARD[case]
    recalibrate = case not in ("a thousand classes",)
    metrics = ["ece", "smooth_ece"] if np.ndim(p) == 2 else None
    found = tu.evaluate(p, y, metrics=metrics, **(FAST | {"recalibrate": recalibrate}))
    for text in (found.verdict, str(found), found._repr_html_()):
        assert not re.search(r"\b(nan|inf|None)\b|-0\.0000\b", text), text
        assert " 1 rows" not in text
    assert list(found.answers) == [
        "calibrated", "magnitude", "location", "precision", "recommendation", "expected_gain",
    ]  # fmt: skip
    for answer in found.answers.values():
        assert answer == "" or (answer[0].isupper() and answer.endswith("."))
        assert ".." not in answer
        assert "  " not in answer
    assert tu.Evaluation.from_json(found.to_json()).verdict == found.verdict


def test_few_rows_clear_nobody() -> None:
    found = tu.evaluate([0.7, 0.2], [1, 0], **FAST)
    assert "with so few rows even a large error would mostly go unnoticed" in found.verdict
    assert "So few rows neither clear nor refute the model." in found.answers["recommendation"]


def test_where_no_error_can_be_simulated_the_interval_speaks() -> None:
    found = tu.evaluate(np.ones(50), np.ones(50, int), **FAST)
    high = found.estimates[0].interval.high
    assert f"by its interval, an error of up to {high:.3f} is possible" in found.verdict


def test_an_infinite_log_loss_is_called_so() -> None:
    y = np.r_[np.ones(45, int), np.zeros(5, int)]
    found = tu.evaluate(np.ones(50), y, **(FAST | {"recalibrate": True}))
    assert "from infinity (some outcomes had probability 0) to 0." in found.answers["expected_gain"]


def test_clusters_soft_labels_and_weights(found) -> None:
    assert "300 rows in 100 clusters" in found("clusters").verdict
    assert "Not tested (labels are probabilities" in found("soft").verdict
    assert found("soft").answers["location"] == ""
    p, y = rows(60)
    few = tu.evaluate(p, y, clusters=np.arange(60) // 6, groups=np.arange(60) % 2, **FAST)
    assert "with so few clusters p-values and intervals are rough" in few.answers["precision"]
    assert "Groups were not measured: rows come in clusters." in few.answers["location"]
    same = tu.evaluate(p, y, weights=np.full(60, 3.0), metrics=[], **FAST)
    plain = tu.evaluate(p, y, metrics=[], **FAST)
    assert same.estimates[0].value == pytest.approx(plain.estimates[0].value)


def test_the_error_that_would_go_unnoticed_is_that_of_the_test() -> None:
    p, y = rows(500)
    found = tu.evaluate(p, y, n_bins=5, metrics=[], **FAST)
    seen = sensitivity(p, y, statistic=headline(5), n_resamples=99, rng=0)
    assert f"an error below {seen.smallest_error(0.8):.3f} would" in found.verdict


def test_an_impossible_outcome_speaks_against_any_model() -> None:
    p, y = rows(2000)
    p[:3], y[:3] = 0.0, 1
    found = tu.evaluate(p, y, **FAST)
    assert found.overview.n_zero_prob_outcomes == 3
    assert found.verdict.startswith("The probabilities cannot all be true: 3 outcomes that were")
    assert "may be chance" not in found.verdict
    assert "Nothing needs fixing" not in found.verdict
    assert found.scores[1].interval.notes == {"clipped": 3}
    assert "log_loss (3 of probability 0 cut off)" in str(found)
    matrix = tu.evaluate(np.c_[1 - p, p], y, **FAST)
    assert matrix.overview.n_zero_prob_outcomes == 3
    logits = np.where(p > 0, logit(np.maximum(p, 1e-9)), -800.0)
    assert (
        tu.evaluate(
            tu.Forecasts.from_arrays(logits, y, logits=True), **FAST
        ).overview.n_zero_prob_outcomes
        == 0
    )


def test_scores_of_one_half_have_an_error_that_can_be_found() -> None:
    found = tu.evaluate(np.full(10_000, 0.5), np.arange(10_000) % 2, **FAST)
    assert 0.01 < found.detectable_error.error < 0.02
    assert (found.detectable_error.table["rows"] < 10**6).all()


def test_one_of_very_many_groups_can_stand_out() -> None:
    p, y = rows(3000)
    groups = np.arange(3000) // 50
    p[groups == 7], y[groups == 7] = 0.95, 0
    found = tu.evaluate(p, y, groups=groups, **FAST)
    assert found.settings["resamples_of_groups"] == 5999
    assert "group 7 (0.950)" in found.answers["location"]


def test_all_classes_are_looked_at_whatever_metrics_are_asked_for() -> None:
    rng = np.random.default_rng(0)
    g = np.tile([0.6, 0.3, 0.1], (1500, 1))
    y = rng.choice(3, 1500, p=[0.6, 0.1, 0.3])
    found = tu.evaluate(g, y, metrics=["ece"], **FAST)
    assert "but the probabilities of all classes are miscalibrated" in found.verdict
    assert "That of all classes is 0.1" in found.answers["magnitude"]


def test_classes_that_cannot_be_tested_together_are_told_so(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    g = np.tile([0.6, 0.3, 0.1], (1500, 1))
    monkeypatch.setattr("trueup.evaluation.findings.MOST_CELLS_TESTED", 10)
    wrong = tu.evaluate(g, rng.choice(3, 1500, p=[0.6, 0.1, 0.3]), **FAST)
    assert "are miscalibrated by their interval (0.1" in wrong.answers["calibrated"]
    assert "Nothing needs fixing" not in wrong.verdict
    right = tu.evaluate(g, rng.choice(3, 1500, p=[0.6, 0.3, 0.1]), **FAST)
    assert "all classes were not tested together: rows times" in right.answers["calibrated"]


def test_an_error_is_large_beside_rare_outcomes() -> None:
    rng = np.random.default_rng(0)
    p = rng.beta(1, 999, 100_000)
    found = tu.evaluate(p, rng.random(100_000) < 5 * p, metrics=[], **FAST)
    assert "slightly" not in found.verdict
    assert not re.search(r"\b0\.000?\b", found.answers["location"] + found.answers["precision"])


def test_weighted_rows_are_worth_fewer() -> None:
    p, y = rows(1000)
    plain = tu.evaluate(p, y, metrics=[], **FAST).detectable_error.table
    weights = np.random.default_rng(1).exponential(size=1000) ** 3
    heavy = tu.evaluate(p, y, weights=weights, metrics=[], **FAST).detectable_error.table
    k, j = (table["error"].tolist().index(0.05) for table in (plain, heavy))
    assert heavy["rows"][j] > 4 * plain["rows"][k]


def test_too_few_clusters_are_not_tested() -> None:
    p, y = rows(60)
    found = tu.evaluate(p, y, clusters=np.arange(60) // 12, **FAST)
    assert "Not tested (5 clusters are too few for a test)" in found.verdict
    assert found.estimates[0].test is None
    assert tu.evaluate(p, y, clusters=np.arange(60) // 10, **FAST).estimates[0].test is not None


def test_other_tests_that_see_more_are_told() -> None:
    """A slight shift of every score: fifteen bins need more rows to see it than one sum does."""
    unseen = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        p = rng.uniform(0.3, 0.7, 1500)
        found = tu.evaluate(p, rng.random(1500) < p - 0.04, **FAST)
        if "no evidence of miscalibration" in found.verdict:
            unseen.append(found)
    doubted = [each for each in unseen if min(t.pvalue for t in each.tests.values()) <= 0.05]
    assert doubted
    for found in doubted:
        assert re.search(r"But \d+ of \d+ other tests have p ≤ 0\.05 \(", found.verdict)
        assert "the tests do not agree" in found.answers["recommendation"]


@pytest.mark.parametrize(
    ("pvalue", "text"),
    [(0.049, "0.049"), (0.0496, "0.05"), (0.05, "0.05"), (0.0504, "0.0504"), (0.3, "0.3")],
)
def test_the_side_of_the_level_is_seen_in_the_digits(found, pvalue, text) -> None:
    headline_found = found("binary").estimates[0]
    test = replace(headline_found.test, pvalue=pvalue)
    parts = dict.fromkeys(Evidence._fields) | {"alpha": 0.05}
    evidence = Evidence(**parts | {"headline": replace(headline_found, test=test)})
    assert evidence.p(evidence.headline) == f"p = {text}"
    assert evidence.rejects(evidence.headline) == (float(text) <= 0.05)


def test_comparisons_have_the_bins_of_the_headline() -> None:
    p, y = rows(400)
    found = tu.evaluate(labels=y, models={"a": p, "b": p**1.5}, n_bins=5, metrics=[], **FAST)
    assert found.comparison["first_error"][0] == found.models["a"].estimates[0].value
    assert "none is shown to be better calibrated than a" in found.verdict


def test_one_outcome_alone_teaches_no_recalibrator() -> None:
    p, _ = rows(200)
    found = tu.evaluate(p, np.ones(200, int), **(FAST | {"recalibrate": True}))
    assert "Only one outcome occurs in these rows" in found.answers["recommendation"]
    assert found.answers["expected_gain"] == ""


def test_what_speaks_against_is_a_field(found) -> None:
    """One place for it: the command line and studies read it there."""
    for kind in ("binary", "three", "hundred"):
        evaluation = found(kind)
        decide = [f.pvalue for f in evaluation.estimates if f.metric in DECIDING]
        assert evaluation.pvalue == pytest.approx(tu.inference.holm(decide).min())
        assert evaluation.miscalibrated == (evaluation.pvalue <= 0.05)
    assert found("soft").pvalue is None
    p, y = rows(500)
    p[0], y[0] = 0.0, 1
    impossible = tu.evaluate(p, y, metrics=[], **FAST)
    assert impossible.miscalibrated
    assert impossible.pvalue > 0.05
