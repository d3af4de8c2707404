"""Every result is ready for JSON, which has neither NaN nor infinity nor NumPy's numbers."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import trueup as tu
from trueup.codec import plain
from trueup.inference import compare_many, group_errors
from trueup.results import CalibrationTestResult, Decomposition, Estimate, Interval
from trueup.simulate.power_analysis import Detection, SampleSize

LEVEL = np.float32(0.9)
CERTAIN_AND_WRONG = ([0.0, 1.0, 0.4], [1, 0, 1])
DAYS = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)] * 30


def data(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    p = rng.random(n)
    return p, rng.random(n) < p


RESULTS: dict[str, Callable[[], Any]] = {
    "interval": lambda: tu.interval(tu.log_loss, [0.3], [1]),  # no upper end
    "bootstrap": lambda: tu.interval(
        tu.ks_error, *data(), confidence_level=LEVEL, n_resamples=np.int64(39), rng=0
    ),
    "of nothing": lambda: tu.interval(lambda f: float(f.n), [0.3], [1]),
    "spiegelhalter": lambda: tu.calibration_test([0.0, 1.0], [1, 0], method="spiegelhalter"),
    "hosmer-lemeshow": lambda: tu.calibration_test(
        *CERTAIN_AND_WRONG, method="hosmer-lemeshow", rng=0
    ),
    "tcal": lambda: tu.calibration_test([0.0, 1.0], [1, 0], method="tcal"),
    "tcal with notes": lambda: tu.calibration_test(*data(), method="tcal", rng=0),
    "skce": lambda: tu.calibration_test(*data(), method="skce", n_resamples=np.int64(39), rng=0),
    "comparison": lambda: tu.compare(
        data()[0], *data(), confidence_level=LEVEL, n_resamples=np.int64(39), rng=0
    ),
    "comparison of one row": lambda: tu.compare([0.1], [0.9], [1], estimator=tu.log_loss, rng=0),
    "certificate": lambda: tu.certify(
        *data(), max_error=np.float32(0.1), confidence_level=LEVEL, norm=np.int64(1)
    ),
    "groups": lambda: group_errors(
        *data(), np.repeat(["a", "b"], [59, 1]), estimator=tu.ici, n_resamples=39, rng=0
    ),
    "groups by date": lambda: group_errors(*data(), DAYS, n_resamples=39, rng=0),
    "many models": lambda: compare_many(
        {"a": data()[0], "b": data()[0] ** 2}, data()[1], n_resamples=np.int64(39), rng=0
    ),
    "estimate": lambda: Estimate(math.nan, -math.inf, notes={"bandwidth": np.float32(0.5)}),
    "measured": lambda: tu.BinnedError(binning=tu.EqualMass(3)).measure(*data()),
    "decomposition": lambda: Decomposition(
        math.nan, 0.1, 0.1, 0.0, 0.0, parts=((np.int64(1), 0.5, Decomposition(1, 0, 0, 0, 0)),)
    ),
    "power": lambda: Detection(0.5, math.nan, 9, 0.1, math.inf, 0.05, "s", "w", 20, ""),
    "sample size": lambda: SampleSize(9, 1, 99, 0.8, 0.1, math.inf, 0.05, "s", "w", (), ""),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_ready_for_json(name: str) -> None:
    found = RESULTS[name]().to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)).keys() == found.keys()


def test_what_is_not_finite_is_none() -> None:
    interval = Interval(0.0, math.inf, math.nan, 0.95, "analytic", "", {"n": np.int64(3)})
    found = interval.to_dict()
    assert (found["low"], found["high"], found["estimate"]) == (0.0, None, None)
    assert found["notes"] == {"n": 3}
    test = CalibrationTestResult(-math.inf, 0.01, "ks", "", {"ratios": {np.int64(2): math.nan}})
    assert test.to_dict()["statistic"] is None
    assert test.to_dict()["notes"] == {"ratios": {2: None}}


def test_what_is_plain_stays_what_it_is() -> None:
    value = {"a": [1, 2.5, True, None, "text"], "b": {"c": -3}}
    assert plain(value) == value
    assert plain(True) is True
    assert plain((1, np.float64(2))) == [1, 2.0]
    assert plain(np.array([[1, 2]])) == [[1, 2]]
    assert plain(np.bool_(False)) is False
    assert plain(datetime.date(2020, 1, 2)) == "2020-01-02"


def test_dates_name_groups() -> None:
    found = group_errors(*data(), DAYS, n_resamples=39, rng=0).to_dict()
    assert found["table"]["group"] == ["2020-01-01", "2020-01-02"]
    assert found["group"] in found["table"]["group"]
