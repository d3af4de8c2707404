"""An outcome that had probability 0: every place clips its log loss alike, and says so."""

from __future__ import annotations

import math

import numpy as np
import pytest

import trueup as tu
from trueup.inference import estimate_many

P = np.tile([0.0, 0.5, 0.2, 0.7, 0.9, 0.4], 8)
Y = np.tile([1, 1, 0, 1, 1, 0], 8)
CLIPPED = 8
INSIDE = np.clip(P, 0.01, 0.99)


def expected(kind: str = "f8") -> float:
    given = np.where(Y == 1, P, 1 - P)
    return float(np.mean(-np.log(np.maximum(given, float(np.finfo(kind).tiny)))))


def test_the_metric_and_its_notes() -> None:
    found = tu.LogLoss().measure(P, Y)
    assert found.value == tu.log_loss(P, Y) == pytest.approx(expected(), rel=1e-12)
    assert found.notes == {"clipped": CLIPPED}
    single = P.astype(np.float32)
    assert tu.log_loss(single, Y) == pytest.approx(expected("f4"), rel=1e-6)


@pytest.mark.parametrize("method", ["auto", "analytic", "percentile"])
def test_intervals(method: str) -> None:
    found = tu.interval(tu.log_loss, P, Y, method=method, n_resamples=39)
    assert found.estimate == tu.log_loss(P, Y)
    assert found.notes["clipped"] == CLIPPED
    assert math.isfinite(found.high)
    assert "clipped" not in tu.interval(tu.log_loss, INSIDE, Y, method=method).notes


def test_tests_and_many_metrics() -> None:
    test = tu.calibration_test(P, Y, statistic=tu.log_loss, n_resamples=39)
    assert test.statistic == tu.log_loss(P, Y)
    assert test.notes["clipped"] == CLIPPED
    many = estimate_many([tu.log_loss], P, Y, n_resamples=39)[0]
    assert many.interval.notes["clipped"] == many.test.notes["clipped"] == CLIPPED


def test_decompositions_show_it() -> None:
    for found in (
        tu.LogLoss().decompose(P, Y),
        tu.LogLoss().decompose(P, Y, binning=tu.EqualMass(4)),
    ):
        assert found.score == pytest.approx(tu.log_loss(P, Y), rel=1e-12)
        assert repr(found).endswith("(probability 0 clipped in 8 rows)")
    assert "clipped" not in repr(tu.LogLoss().decompose(INSIDE, Y))


def test_comparisons_say_it() -> None:
    found = tu.compare(P, INSIDE, Y, estimator=tu.log_loss, n_resamples=39)
    assert found.difference == tu.log_loss(P, Y) - tu.log_loss(INSIDE, Y)
    assert found.text.endswith("are clipped: 8 rows of the first model, 0 of the second.")
    assert found.interval.notes["clipped"] == [CLIPPED, 0]
    assert "clipped" not in tu.compare(P, INSIDE, Y, n_resamples=39).text


@pytest.mark.parametrize(
    "model",
    [
        tu.IdentityCalibration(),
        tu.PlattScaling(),
        tu.TemperatureScaling(),
        tu.VectorScaling(),
        tu.HistogramBinning(n_bins=3),
        tu.OneVsRestCalibration(tu.BetaCalibration()),
        tu.GroupwiseCalibration(tu.PlattScaling()),
        tu.AutoCalibration([tu.IdentityCalibration(), tu.PlattScaling()]),
    ],
    ids=repr,
)
@pytest.mark.parametrize("kind", ["f8", "f4"])
def test_recalibrators_record_it(model, kind: str) -> None:
    scores = P.astype(kind)
    for given in (scores, np.column_stack([1 - scores, scores])):
        record = model.fit(given, Y).fit_
        assert record["clipped"] == CLIPPED
        assert record["log_loss_before"] == pytest.approx(tu.log_loss(given, Y), rel=1e-6)
        after = model.predict_proba(given)
        if after[np.arange(len(Y)), Y].min() > 0:
            assert record["log_loss_after"] == pytest.approx(tu.log_loss(after, Y), rel=1e-9)
        inside = model.fit(INSIDE.astype(kind), Y).fit_
        assert "clipped" not in inside
        assert inside["log_loss_before"] == pytest.approx(tu.log_loss(INSIDE, Y), rel=1e-6)


def test_the_choice_of_a_recalibrator_says_it() -> None:
    found = tu.AutoCalibration([tu.IdentityCalibration(), tu.PlattScaling()]).fit(P, Y)
    assert found.table_["score"].max() == pytest.approx(tu.log_loss(P, Y), rel=1e-12)
    text = found.explanation_
    assert "IdentityCalibration assigned probability 0 to the observed class of at least" in text
    assert "one row, whose log loss is clipped at 708." in text
    assert "(clipped) and changes the debiased calibration error from" in text
    assert "infin" not in text


def test_a_saved_record_keeps_it(tmp_path) -> None:
    path = tmp_path / "platt.json"
    tu.PlattScaling().fit(P, Y).save(path)
    assert tu.load_recalibrator(path).fit_["clipped"] == CLIPPED
