"""Every number of an evaluation is that of the function a user would have called by hand."""

from __future__ import annotations

import numpy as np
import pytest

import trueup as tu
from trueup.decisions import abstention_rewards, accuracy_coverage_curve
from trueup.evaluation.findings import headline
from trueup.evaluation.on_demand import OnDemand
from trueup.evaluation.settings import Settings
from trueup.inference import class_tests, compare_many, consistency_band, trade_off
from trueup.inference.hypothesis_tests.sensitivity import sensitivity
from trueup.recalibrate import AutoCalibration

CALLS = {
    "rmsce_debiased": tu.rmsce_debiased,
    "ece_debiased": tu.ece_debiased,
    "ece": tu.ece,
    "ece_sweep": tu.ece_sweep,
    "mce": tu.mce,
    "ks_error": tu.ks_error,
    "smooth_ece": tu.smooth_ece,
    "marginal_error_debiased": tu.marginal_error_debiased,
    "sce": tu.sce,
}


@pytest.mark.parametrize("kind", ["binary", "three", "weights"])
def test_estimates_are_those_of_interval_and_test(found, data, kind) -> None:
    forecasts, evaluation = data(kind), found(kind)
    assert evaluation.estimates[0].metric == "rmsce_debiased"
    for each in evaluation.estimates:
        metric = CALLS[each.metric]
        assert each.interval == tu.interval(metric, forecasts, n_resamples=99, rng=0)
        assert each.test == tu.calibration_test(forecasts, statistic=metric, n_resamples=99, rng=0)
        assert each.value == metric(forecasts)


def test_clusters_are_tested_by_their_signs(found, data) -> None:
    evaluation, forecasts = found("clusters"), data("clusters")
    first = evaluation.estimates[0]
    plain = tu.BinnedError(binning=tu.EqualMass(15), norm=2)
    assert first.test == tu.calibration_test(
        forecasts, statistic=plain, method="cluster-signs", n_resamples=99, rng=0
    )
    assert first.interval == tu.interval(tu.rmsce_debiased, forecasts, n_resamples=99, rng=0)
    assert not any(name.startswith("band") for name in evaluation.tables)
    assert evaluation.detectable_error is None


def test_further_tests_and_scores(found, data) -> None:
    forecasts, evaluation = data("binary"), found("binary")
    assert set(evaluation.tests) == {
        "cox", "spiegelhalter", "hosmer-lemeshow", "ks", "tcal", "skce",
    }  # fmt: skip
    for method, test in evaluation.tests.items():
        assert test == tu.calibration_test(forecasts, method=method, n_resamples=99, rng=0)
    for score, estimator in zip(evaluation.scores, (tu.Brier(), tu.LogLoss()), strict=True):
        assert score.interval == tu.interval(estimator, forecasts)
        assert score.decomposition.to_dict() == estimator.decompose(forecasts).to_dict()


@pytest.mark.parametrize("kind", ["binary", "three", "weights"])
def test_tables_are_those_of_the_estimators(found, data, kind) -> None:
    forecasts, tables = data(kind), found(kind).tables
    endings = {"": tu.EqualWidth(15), "_mass": tu.EqualMass(15), "_tree": tu.bins.VarianceTree()}
    for ending, binning in endings.items():
        table = tu.BinnedError(binning=binning).table(forecasts)
        assert tables[f"reliability{ending}"] == table
        assert tables[f"band{ending}"].to_dict() == consistency_band(table).to_dict()
    assert tables["rewards"].to_dict() == abstention_rewards(forecasts).to_dict()
    exact = accuracy_coverage_curve(forecasts)
    assert set(tables["coverage"]["coverage"]) <= set(exact["coverage"])
    bins = tables["bins"]
    for k in range(len(bins)):
        estimator = tu.BinnedError(
            binning=tu.EqualMass(int(bins["n_bins"][k])), debias=bins["estimator"][k] == "debiased"
        )
        assert bins["error"][k] == estimator(forecasts)
    chosen = tu.SweepError().measure(forecasts).notes["n_bins"]
    assert set(bins["n_bins"][bins["sweep"]]) == {chosen}


def test_trade_off_and_simplex(found, data) -> None:
    p = np.random.default_rng(3).random(400)
    forecasts = tu.Forecasts.from_arrays(p, np.random.default_rng(4).random(400) < p)
    assert OnDemand(forecasts, Settings(15, 0.9, 999, 5)).get("trade_off").to_dict() == (
        trade_off(forecasts, confidence_level=0.9, rng=5).to_dict()
    )
    grid = tu.BinnedError(lens=tu.lens.Canonical(), binning=tu.bins.SimplexGrid(6))
    assert found("three").tables["simplex"].to_dict() == grid.table(data("three")).to_dict()


def test_coverage_of_many_rows_is_exact_at_its_points() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(20_001).round(3)
    forecasts = tu.Forecasts.from_arrays(p, rng.random(len(p)) < p)
    curve = OnDemand(forecasts, Settings.checked()).get("coverage")
    exact = accuracy_coverage_curve(forecasts)
    assert 50 < len(curve) <= 200
    for k in range(len(curve)):
        j = int(np.argmin(np.abs(exact["coverage"] - curve["coverage"][k])))
        for name in ("coverage", "accuracy", "confidence", "risk"):
            assert curve[name][k] == pytest.approx(exact[name][j], abs=1e-12)
        assert np.all(exact["threshold"][: j + 1] >= curve["threshold"][k])
        assert np.all(exact["threshold"][j + 1 :] < curve["threshold"][k])


def test_classes_are_those_of_class_tests(found, data) -> None:
    forecasts, table = data("three"), found("three").tables["classes"]
    assert found("three").settings["test_of_classes"] == "consistency"
    many = found("three").settings["resamples_of_classes"]
    assert many == 299
    by_hand = class_tests(forecasts, n_resamples=many, rng=0)
    for name in by_hand:
        assert table[name].tolist() == by_hand[name].tolist()
    for k in range(3):
        estimator = tu.BinnedError(tu.lens.OneVsRest(k), tu.EqualMass(15), 2, debias=True)
        ends = tu.interval(estimator, forecasts)
        assert (table["low"][k], table["high"][k]) == pytest.approx((ends.low, ends.high))
    assert table["share"] == pytest.approx(np.bincount(forecasts.labels) / forecasts.n)


def test_groups_are_those_of_group_errors(found, data) -> None:
    by_hand = tu.group_errors(data("groups"), estimator=headline(8), n_resamples=199, rng=0)
    assert found("groups").groups.to_dict() == by_hand.to_dict()
    assert found("groups").estimates[0].value == tu.rmsce_debiased(data("groups"), n_bins=8)


def test_repair_is_that_of_auto_calibration(found, data) -> None:
    forecasts, recalibration = data("binary"), found("binary").recalibration
    auto = AutoCalibration(random_state=0).fit(forecasts.scores, forecasts.labels)
    assert recalibration.table.to_dict() == auto.table_.to_dict()
    assert (recalibration.recommended, recalibration.specification) == (
        auto.best_name_,
        repr(auto.best_),
    )
    names = auto.table_["candidate"].tolist()
    for line, name in (
        (recalibration.before, "IdentityCalibration"),
        (recalibration.after, auto.best_name_),
    ):
        row = names.index(name)
        assert line["log_loss"] == auto.table_["score"][row]
        assert line["log_loss_se"] == auto.table_["score_se"][row]
        for column in ("error", "error_low", "error_high"):
            assert line[column] == auto.table_[column][row]


def test_what_could_be_seen_is_that_of_sensitivity(found, data) -> None:
    for kind in ("binary", "three"):
        detectable = found(kind).detectable_error
        seen = sensitivity(data(kind), n_resamples=99, rng=0)
        assert detectable.error == seen.smallest_error(0.8)
        assert detectable.alpha == pytest.approx(0.05)
    evaluation = found("binary")
    of_headline = sensitivity(data("binary"), statistic=headline(15), n_resamples=99, rng=0)
    assert evaluation.tables["null"]["count"].sum() == 99
    test = evaluation.estimates[0].test
    assert test.statistic == of_headline.observed
    assert test.pvalue == (1 + np.sum(of_headline.null >= of_headline.observed)) / 100


@pytest.mark.parametrize("kind", ["binary", "three", "weights"])
def test_the_deciding_test_is_the_default_of_calibration_test(found, data, kind) -> None:
    assert found(kind).test == tu.calibration_test(data(kind), n_resamples=99, rng=0)


def test_models_are_compared(found, data) -> None:
    evaluation = found("models")
    p, y = data("binary").scores, data("binary").labels
    by_hand = compare_many({"one": p, "two": p**2}, y, n_resamples=99, rng=0)
    assert evaluation.comparison.to_dict() == by_hand.to_dict()
    assert list(evaluation.models) == ["one", "two"]
    assert evaluation.estimates == evaluation.models["one"].estimates
    assert evaluation.models["two"].estimates[0].value == tu.rmsce_debiased(p**2, y)
    text = "None of the 2 models is shown to be better calibrated than one."
    assert evaluation.verdict.startswith(text)


def test_metrics_take_the_number_of_bins_and_follow_the_headline() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(200)
    y = rng.random(200) < p
    options = {"n_resamples": 99, "recalibrate": False, "advice": False, "n_bins": 7}
    mine = tu.BinnedError(norm=1)
    found = tu.evaluate(p, y, metrics=["rmsce", tu.ece, mine], **options)
    assert [each.metric for each in found.estimates] == [
        "rmsce_debiased", "rmsce", "ece", repr(mine),
    ]  # fmt: skip
    assert found.estimate("rmsce").value == tu.rmsce(p, y, n_bins=7)
    assert found.estimate("ece").value == tu.ece(p, y, n_bins=7)
    assert found.estimate(repr(mine)).value == mine(p, y)
    named = tu.evaluate(p, y, metrics={"mine": mine}, **options)
    assert [each.metric for each in named.estimates] == ["rmsce_debiased", "mine"]
    assert named.verdict == found.verdict
