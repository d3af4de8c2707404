"""What mypy must know of the public names: `make lint` checks this function, and nothing calls it.

An ignored error that mypy does not find is an error too, so each comment here is a check.
"""

from __future__ import annotations

from typing import assert_type

import trueup as tu


def names_with_types(P: list[float], Y: list[int]) -> None:
    """Use names as mypy should and should not let us."""
    assert_type(tu.ece(P, Y, n_bins=10), float)
    assert_type(tu.ece.estimator(n_bins=10), tu.BinnedError)
    assert_type(tu.smooth_ece.estimator(), tu.SmoothError)
    assert_type(tu.tace(P, Y, threshold=0.05, weights=[1, 2]), float)
    assert_type(tu.interval(tu.ece, P, Y).low, float)
    assert_type(tu.lens.TopLabel().independent, bool)

    tu.ece(P, Y, bins=10)  # type: ignore[call-arg]
    tu.ece.estimator(bins=10)  # type: ignore[call-arg]
    tu.smooth_ece(P, Y, n_bins=10)  # type: ignore[call-arg]
    tu.no_such_name  # type: ignore[attr-defined]  # noqa: B018

    tu.calibration_test(P, Y, statistic=tu.ece)
    tu.compare(P, P, Y, estimator=tu.ece)
    tu.group_errors(P, Y, ["a", "b"], estimator=tu.ece)
    tu.class_errors(tu.ece, P, Y)
    tu.power(P, Y, true_error=0.1, n=100, statistic=tu.ece)
    tu.sample_size(P, Y, true_error=0.1, statistic=tu.ece)
    tu.recommend_estimator(P, Y, estimators={"ece": tu.ece})
    tu.make_scorer(tu.ece)
    tu.Trace({"ece": tu.ece})
    tu.inference.estimate_many([tu.ece, tu.BinnedError()], P, Y)
    tu.evaluate(P, Y, metrics=[tu.ece, "mce"])
