"""The joint test of Cox by its name: the p-value of `cox`, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

import trueup as tu
from support.null_samples import simplex


def test_it_is_the_joint_test_of_cox() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(-3, 1, 2_000)
    p, y = expit(x), rng.random(2_000) < expit(0.7 * x)
    for weights in (None, rng.random(2_000) + 0.1):
        found = tu.calibration_test(p, y, method="cox", weights=weights)
        direct = tu.cox(p, y, weights=weights)
        assert found.pvalue == direct.joint_pvalue < 0.01
        assert found.statistic == direct.joint_statistic
        assert found.method == "cox"
        assert found.notes["asymptotic"] is True
        assert found.notes["test"] == direct.joint_test
        assert (found.notes["slope"], found.notes["intercept"]) == (direct.slope, direct.intercept)


def test_lenses_and_the_default_of_a_matrix() -> None:
    g, y = simplex(400, 3, 2)
    top = tu.calibration_test(g, y, method="cox")
    assert "TopLabel" in top.null
    assert top.pvalue == tu.cox(g, y, lens=tu.lens.TopLabel()).joint_pvalue
    one = tu.calibration_test(g, y, method="cox", statistic=tu.lens.OneVsRest(1))
    assert one.pvalue == tu.cox(g, y, lens=tu.lens.OneVsRest(1)).joint_pvalue


def test_certain_scores_are_clipped_and_noted() -> None:
    found = tu.calibration_test([0.0, 1.0, 0.5, 0.5], [0, 1, 1, 0], method="cox")
    assert found.notes["clipped"] == 2
    assert found.pvalue == pytest.approx(1.0)
    wrong = tu.calibration_test([0.0, 1.0, 0.5, 0.5], [1, 1, 1, 0], method="cox")
    assert wrong.pvalue < 1e-12


def test_weights_need_a_maximum() -> None:
    with pytest.raises(tu.InputError, match="must have a maximum"):
        tu.calibration_test([0.1, 0.9], [0, 1], weights=[1, 2], method="cox")
