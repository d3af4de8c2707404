"""The words: right direction, never more than the numbers carry, never a crash or a NaN."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import trueup as tu
from trueup.evaluation.verdict.evidence import Evidence
from trueup.inference.hypothesis_tests.sensitivity import sensitivity

FAST = {"n_resamples": 99, "recalibrate": False, "advice": False}


def logistic(z: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-z))


def logit(p: np.ndarray) -> np.ndarray:
    return np.log(p / (1 - p))


def said(n: int, truth, seed: int = 0, low: float = 0.0, **options) -> tu.Evaluation:
    rng = np.random.default_rng(seed)
    p = low + (1 - low) * rng.uniform(1e-3, 1 - 1e-3, n)
    return tu.evaluate(p, rng.random(n) < truth(p), **(FAST | options))


DIRECTIONS = {
    "Probabilities are too high": lambda p: 0.7 * p,
    "Probabilities are too low": lambda p: p + 0.3 * (1 - p),
    "Probabilities are too extreme": lambda p: logistic(logit(p) / 2),
    "Probabilities are not extreme enough": lambda p: logistic(2 * logit(p)),
    "Scores in the upper half are too high": lambda p: np.where(p > 0.6, p - 0.3, p),
    "Scores in the lower half are too low": lambda p: np.where(p < 0.4, p + 0.3, p),
}


@pytest.mark.parametrize("words", DIRECTIONS)
def test_direction_of_probabilities(words) -> None:
    found = said(2000, DIRECTIONS[words])
    assert found.answers["calibrated"].startswith("The probabilities are miscalibrated (p ≤ 0.01")
    assert f". {words}: " in found.answers["magnitude"]
    assert "contribute most" in found.answers["location"]


@pytest.mark.parametrize(("power", "words"), [(0.5, "over"), (2.0, "under")])
def test_direction_of_confidences(power, words) -> None:
    rng = np.random.default_rng(0)
    g = rng.dirichlet(np.ones(3), 1500)
    truth = g**power / (g**power).sum(axis=1, keepdims=True)
    y = (rng.random(1500)[:, None] > np.cumsum(truth, axis=1)).sum(axis=1)
    found = tu.evaluate(g, y, metrics=["marginal_error_debiased"], **FAST)
    assert found.verdict.startswith("The probabilities are miscalibrated (p ≤ 0.01, 1,500 rows).")
    assert f"The model is {words}confident" in found.answers["magnitude"]
    assert "3 of 3 classes are shown to be miscalibrated" in found.answers["location"]


def test_one_score_only() -> None:
    y = np.arange(300) % 2
    found = tu.evaluate(np.full(300, 0.3), y, **FAST)
    assert "Probabilities are too low: the mean prediction is 0.300" in found.answers["magnitude"]
    assert found.answers["location"] == "All scores fall into one bin."
    sure = tu.evaluate(np.full(300, 0.9), y, **FAST)
    assert "Probabilities are too high" in sure.answers["magnitude"]


def test_tied_scores_are_named_as_what_they_are() -> None:
    rng = np.random.default_rng(0)
    p = rng.choice([0.9, 0.95, 0.99], 1000)
    found = tu.evaluate(p, rng.random(1000) < p - 0.2, **FAST)
    assert re.match(
        r"Scores of 0\.9[59]? contribute most \(3\d% of rows\)", found.answers["location"]
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
    """At a level of 5%: of 60 sets more than 8 with a probability of 0.3%."""
    tables = ("reliability_mass", "null", "classes")
    monkeypatch.setattr("trueup.evaluation.pipeline.TABLES", tables)
    monkeypatch.setattr("trueup.evaluation.on_demand.further_tests", lambda *_: {})
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
        found = tu.evaluate(g, y, metrics=metrics, **FAST, rng=seed)
        text, accused = found.verdict, accused + found.miscalibrated
        if not found.miscalibrated:
            assert "no evidence of miscalibration" in text
            if found.status == "no evidence":
                assert "miss an error smaller than" in text or "usually go undetected" in text
    assert accused <= 8


def test_the_omnibus_test_decides_and_all_others_are_adjusted(found) -> None:
    for kind in ("binary", "three", "weights"):
        evaluation = found(kind)
        assert f"(p = {evaluation.test.pvalue:.2g}, 300 rows)" in evaluation.answers["calibrated"]
        others = {each.metric: each.pvalue for each in evaluation.estimates}
        others |= {name: test.pvalue for name, test in evaluation.tests.items()}
        adjusted = tu.inference.holm(list(others.values()))
        assert evaluation.adjusted_pvalues == pytest.approx(
            dict(zip(others, adjusted, strict=True))
        )


def test_one_bad_class_is_found_where_the_top_label_is_right() -> None:
    rng = np.random.default_rng(0)
    g = np.tile([0.6, 0.3, 0.1], (1500, 1))
    y = rng.choice(3, 1500, p=[0.6, 0.1, 0.3])
    found = tu.evaluate(g, y, metrics=["marginal_error_debiased"], **FAST)
    assert found.answers["calibrated"].startswith("The probabilities are miscalibrated (p = 0.0")
    assert "The class-wise error is 0.1" in found.answers["magnitude"]
    assert (
        "2 of 3 classes are shown to be miscalibrated (smallest Holm-adjusted p"
        in found.answers["location"]
    )


def test_a_bad_group_is_named_where_the_whole_is_right() -> None:
    rng = np.random.default_rng(4)
    p, groups = rng.uniform(0.3, 0.7, 2000), np.repeat(["left", "right", "rest"], [100, 100, 1800])
    truth = p + 0.25 * (groups == "left") - 0.25 * (groups == "right")
    found = tu.evaluate(p, rng.random(2000) < truth, groups=groups, **FAST | {"n_resamples": 199})
    assert found.status == "tests disagree"
    assert re.fullmatch(
        r"The tests disagree: the omnibus test shows no evidence of miscalibration \(p = 0\.\d+, "
        r"2,000 rows\), but groups (left and right|right and left) are shown to be miscalibrated "
        r"\(smallest Holm-adjusted p = 0\.0\d+\)\.",
        found.answers["calibrated"],
    )
    assert "2 of 3 groups are shown to be miscalibrated: group " in found.answers["location"]
    assert "possibly miscalibrated" in found.answers["recommendation"]
    assert "more rows" not in str(found)


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
        "calibrated", "magnitude", "frequency", "location", "precision", "recommendation",
        "expected_gain",
    ]  # fmt: skip
    for answer in found.answers.values():
        assert answer == "" or (not answer[0].islower() and answer.endswith("."))
        assert ".." not in answer
        assert "  " not in answer
    assert tu.Evaluation.from_json(found.to_json()).verdict == found.verdict


def test_few_rows_clear_nobody() -> None:
    found = tu.evaluate([0.7, 0.2], [1, 0], **FAST)
    assert "with this few rows, even a large error would usually go undetected" in found.verdict
    text = "There are too few rows to tell whether the model is calibrated."
    assert text in found.answers["recommendation"]


def test_where_no_error_can_be_simulated_the_interval_speaks() -> None:
    found = tu.evaluate(np.ones(50), np.ones(50, int), **FAST)
    high = found.estimates[0].interval.high
    assert f"the interval is compatible with an error of up to {high:.3f}" in found.verdict


def test_a_clipped_log_loss_is_called_so() -> None:
    y = np.r_[np.ones(45, int), np.zeros(5, int)]
    found = tu.evaluate(np.ones(50), y, **(FAST | {"recalibrate": True}))
    loss = f"{tu.log_loss(np.ones(50), y):.4f}"
    text = f"changes the log loss from {loss} (5 probabilities of 0 clipped) to 0."
    assert text in found.answers["expected_gain"]


def test_clusters_soft_labels_and_weights(found) -> None:
    assert "300 rows in 100 clusters" in found("clusters").verdict
    assert found("soft").status == "not tested"
    assert "No test was run (soft labels cannot be tested)." in found("soft").verdict
    assert found("soft").answers["location"] == ""
    p, y = rows(60)
    few = tu.evaluate(p, y, clusters=np.arange(60) // 6, groups=np.arange(60) % 2, **FAST)
    rough = "with this few clusters, p-values and intervals are only approximate"
    assert rough in few.answers["precision"]
    assert "Group errors were not computed: rows come in clusters." in few.answers["location"]
    same = tu.evaluate(p, y, weights=np.full(60, 3.0), metrics=[], **FAST)
    plain = tu.evaluate(p, y, metrics=[], **FAST)
    assert same.estimates[0].value == pytest.approx(plain.estimates[0].value)


def test_the_error_that_would_go_unnoticed_is_that_of_the_test() -> None:
    p, y = rows(500)
    found = tu.evaluate(p, y, n_bins=5, metrics=[], **FAST)
    seen = sensitivity(p, y, n_resamples=99, rng=0)
    error = f"{seen.smallest_error(0.8):.3f}"
    assert f"would miss an error smaller than {error} more than 20% of the time" in found.verdict


def test_an_impossible_outcome_speaks_against_any_model() -> None:
    p, y = rows(2000)
    p[:3], y[:3] = 0.0, 1
    found = tu.evaluate(p, y, **FAST)
    assert found.overview.n_zero_prob_outcomes == 3
    start = "3 observed outcomes had a predicted probability of 0, so the probabilities cannot all"
    assert found.verdict.startswith(start)
    rest = tu.calibration_test(p[3:], y[3:], n_resamples=99, rng=0).pvalue
    text = "Apart from these rows, there is no evidence of miscalibration"
    assert f"{text} (p = {rest:.2g}, 1,997 rows)." in found.answers["calibrated"]
    assert found.pvalue == 0.01
    assert "sampling noise" not in found.verdict
    assert "no recalibration is needed" not in found.verdict
    assert found.scores[1].interval.notes == {"clipped": 3}
    assert "log_loss (3 zero probabilities clipped)" in str(found)
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
    assert "group 7 (error 0.950)" in found.answers["location"]


def test_all_classes_are_looked_at_whatever_metrics_are_asked_for() -> None:
    rng = np.random.default_rng(0)
    g = np.tile([0.6, 0.3, 0.1], (1500, 1))
    y = rng.choice(3, 1500, p=[0.6, 0.1, 0.3])
    found = tu.evaluate(g, y, metrics=["ece"], **FAST)
    assert found.miscalibrated
    assert "The class-wise error is 0.1" in found.answers["magnitude"]


def test_the_test_of_all_classes_needs_no_metric_that_is_tested(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    g = np.tile([0.6, 0.3, 0.1], (1500, 1))
    monkeypatch.setattr("trueup.evaluation.findings.MOST_CELLS_TESTED", 10)
    wrong = tu.evaluate(g, rng.choice(3, 1500, p=[0.6, 0.1, 0.3]), **FAST)
    assert wrong.estimate("marginal_error_debiased").test is None
    assert wrong.status == "miscalibrated"
    assert "no recalibration is needed" not in wrong.verdict
    right = tu.evaluate(g, np.repeat([0, 1, 2], [900, 450, 150]), **FAST)
    assert right.status == "no evidence"
    reason = right.estimate("marginal_error_debiased").notes["no_test"]
    assert reason == "too many rows and classes to resample"


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
    assert "No test was run (a test needs more than 5 clusters)." in found.verdict
    assert found.status == "not tested"
    assert found.estimates[0].test is None
    assert tu.evaluate(p, y, clusters=np.arange(60) // 10, **FAST).estimates[0].test is not None


def test_tests_that_disagree_are_the_first_words() -> None:
    """So few rows have outcomes that one asymptotic test calls odd and the exact test does not."""
    disagreeing = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        p = rng.random(20)
        found = tu.evaluate(p, rng.random(20) < p, **FAST | {"n_resamples": 199})
        rejects = min(found.adjusted_pvalues.values()) <= 0.05
        expected = "tests disagree" if rejects else "no evidence"
        assert found.status == ("miscalibrated" if found.test.pvalue <= 0.05 else expected)
        if found.status == "tests disagree":
            disagreeing.append(found)
    assert disagreeing
    for found in disagreeing:
        assert not found.miscalibrated
        assert found.verdict.startswith("The tests disagree: the omnibus test shows no evidence")
        assert re.search(r"\d+ of \d+ other tests rejects? calibration", found.verdict)
        assert "more rows" not in str(found)
        assert "takes about" not in found.answers["recommendation"]


@pytest.mark.parametrize(
    ("pvalue", "text"),
    [(0.049, "0.049"), (0.0496, "0.05"), (0.05, "0.05"), (0.0504, "0.0504"), (0.3, "0.3")],
)
def test_the_side_of_the_level_is_seen_in_the_digits(found, pvalue, text) -> None:
    test = replace(found("binary").test, pvalue=pvalue)
    parts = dict.fromkeys(Evidence._fields) | {"alpha": 0.05, "test": test}
    parts["overview"] = found("binary").overview
    evidence = Evidence(**parts | {"others": {}})
    assert evidence.p(test) == f"p = {text}"
    assert (evidence.status == "miscalibrated") == (float(text) <= 0.05)


def test_comparisons_have_the_bins_of_the_headline() -> None:
    p, y = rows(400)
    found = tu.evaluate(labels=y, models={"a": p, "b": p**1.5}, n_bins=5, metrics=[], **FAST)
    assert found.comparison["first_error"][0] == found.models["a"].estimates[0].value
    text = "None of the 2 models is shown to be better calibrated than a."
    assert found.verdict.startswith(f"{text} Verdict for a, the first model: ")


def test_one_outcome_alone_teaches_no_recalibrator() -> None:
    p, _ = rows(200)
    found = tu.evaluate(p, np.ones(200, int), **(FAST | {"recalibrate": True}))
    assert "These rows contain only one outcome." in found.answers["recommendation"]
    assert found.answers["expected_gain"] == ""


def test_the_status_is_a_field(found) -> None:
    """One place for it: the command line and studies read it there."""
    for kind in ("binary", "three", "hundred"):
        evaluation = found(kind)
        assert evaluation.pvalue == evaluation.test.pvalue
        assert evaluation.miscalibrated == (evaluation.pvalue <= 0.05)
        assert evaluation.miscalibrated == (evaluation.status == "miscalibrated")
    assert found("soft").pvalue is None
    p, y = rows(500)
    p[0], y[0] = 0.0, 1
    impossible = tu.evaluate(p, y, metrics=[], **FAST)
    assert impossible.status == "miscalibrated"
    assert impossible.pvalue == 0.01
