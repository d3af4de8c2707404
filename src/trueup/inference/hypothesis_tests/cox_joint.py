"""Cox's joint test of slope 1 and intercept 0, for labels regressed on logits of scores."""

from __future__ import annotations

import math
from typing import Any

from trueup.errors import InputError
from trueup.estimators.clinical import cox
from trueup.forecasts import Forecasts
from trueup.inference.hypothesis_tests.null_distribution import (
    certain_pvalue,
    check_lens_of_test,
    check_test,
    lens_of_test,
    null_of,
)
from trueup.lens import chosen_lens
from trueup.results import CalibrationTestResult
from trueup.seeds import Seed


def cox_joint(
    forecasts: Forecasts, *, statistic: object, n_resamples: int, rng: Seed
) -> CalibrationTestResult:
    """Test that the calibration slope is 1 and the intercept 0, as ``cox(...)`` does.

    The statistic is twice the gain in log-likelihood of the fitted line over the diagonal. It has a
    chi-square distribution with two degrees of freedom. With weights it is Wald's, with the
    sandwich covariance. It is the most powerful of these tests if the error is a shift or a slope
    on the logit scale, and it misses errors that change neither. The p-value is asymptotic: `cox`
    documents its measured false-positive rate. ``rng`` and ``n_resamples`` are not used.

    ``statistic`` may be a lens; by default `Binary` for 1-D probabilities, `TopLabel` for a
    matrix.

    References
    ----------
    Cox 1958, "Two further applications of a model for binary regression"; Miller, Hui & Tierney
    1991, "Validation techniques for logistic regression models".
    """
    check_test(forecasts, n_resamples)
    lens = chosen_lens(lens_of_test(statistic, "the joint test of Cox"), forecasts)
    check_lens_of_test(lens, simplex=False)
    pairs = lens.problem(forecasts)
    if ((pairs.p == 0) | (pairs.p == 1)).all():
        possible = bool((pairs.p == pairs.y).all())
        pvalue = certain_pvalue(possible, n_resamples)
        notes: dict[str, Any] = {"reference": "certain"}
        value = 0.0 if possible else math.inf
        return CalibrationTestResult(value, pvalue, "cox", null_of(lens), notes)
    found = cox(forecasts, lens=lens)
    if math.isnan(found.joint_pvalue):
        rule = f"cannot be used here: with weights the fit must have a maximum ({found.note})"
        raise InputError("weights", rule, hint="use another method of test")
    notes = {
        "reference": "asymptotic",
        "asymptotic": True,
        "test": found.joint_test,
        "slope": found.slope,
        "intercept": found.intercept,
    }
    if found.clipped:
        notes["clipped"] = found.clipped
    return CalibrationTestResult(
        found.joint_statistic, found.joint_pvalue, "cox", null_of(lens), notes
    )
