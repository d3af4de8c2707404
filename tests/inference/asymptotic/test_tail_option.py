"""`tail="asymptotic"`: agreement with resampling, size, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

import trueup as tu
from support.null_samples import calibrated, simplex

ASKED = {
    "ks": {"method": "ks"},
    "kuiper": {"method": "ks", "statistic": tu.CumulativeError(statistic="kuiper")},
    "skce": {"method": "skce"},
    "gaussian": {"method": "skce", "statistic": tu.KernelError(kernel="gaussian")},
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ASKED)
def test_agreement_with_resampling(name: str, weighted: bool) -> None:
    for seed, shape in ((1, 1.0), (2, 1.12), (3, 1.25)):
        rng = np.random.default_rng(seed)
        p = rng.random(400)
        y = rng.random(400) < p**shape
        w = rng.random(400) + 0.5 if weighted else None
        near = tu.calibration_test(p, y, weights=w, tail="asymptotic", **ASKED[name])
        far = tu.calibration_test(p, y, weights=w, n_resamples=999, **ASKED[name])
        assert near.statistic == far.statistic
        assert near.notes["approximation"] is True
        assert near.notes["reference"] == "asymptotic"
        error = 4 * np.sqrt(far.pvalue * (1 - far.pvalue) / 1000)
        assert near.pvalue == pytest.approx(far.pvalue, rel=0.3, abs=error)


@pytest.mark.parametrize("name", ["ks", "kuiper", "skce"])
def test_size(name: str) -> None:
    rejected, sets = 0, 100 if name == "skce" else 400
    for seed in range(sets):
        p, y = calibrated("uniform", 200, [30, seed])
        rejected += tu.calibration_test(p, y, tail="asymptotic", **ASKED[name]).pvalue <= 0.05
    assert abs(rejected / sets - 0.05) <= 4 * np.sqrt(0.05 * 0.95 / sets)


def test_a_simplex_agrees_with_resampling() -> None:
    for n in (200, 600):
        g, y = simplex(n, 4, 5)
        sharper = g**1.15 / (g**1.15).sum(axis=1, keepdims=True)
        for distance in ("tv", "euclidean"):
            asked = {"method": "skce", "statistic": tu.KernelError(distance=distance)}
            near = tu.calibration_test(sharper, y, tail="asymptotic", **asked)
            far = tu.calibration_test(sharper, y, n_resamples=1999, **asked)
            error = 4 * np.sqrt(far.pvalue * (1 - far.pvalue) / 2000)
            assert near.pvalue == pytest.approx(far.pvalue, rel=0.2, abs=error)


def test_it_goes_below_what_resampling_can_say() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(-2, 2, 2_000)
    p, y = expit(x), rng.random(2_000) < expit(0.5 * x)
    for asked in ASKED.values():
        assert 0 < tu.calibration_test(p, y, tail="asymptotic", **asked).pvalue < 1e-6
        assert tu.calibration_test(p, y, n_resamples=99, **asked).pvalue == 0.01


def test_scale_of_weights_and_order_of_rows() -> None:
    p, y = calibrated("few", 400, 7)
    rng = np.random.default_rng(8)
    w, order = rng.random(400) + 0.5, rng.permutation(400)
    for asked in ASKED.values():
        found = tu.calibration_test(p, y, weights=w, tail="asymptotic", **asked).pvalue
        scaled = tu.calibration_test(p, y, weights=1e6 * w, tail="asymptotic", **asked).pvalue
        mixed = tu.calibration_test(
            p[order], y[order], weights=w[order], tail="asymptotic", **asked
        ).pvalue
        assert scaled == pytest.approx(found, rel=1e-6)
        assert mixed == pytest.approx(found, rel=1e-6)


def test_certain_scores_and_too_little_variance() -> None:
    for asked in ASKED.values():
        certain = tu.calibration_test([0.0, 1.0, 1.0], [0, 1, 1], tail="asymptotic", **asked)
        assert certain.pvalue == 1
        with pytest.raises(tu.InputError, match="a total variance of 25 times") as refused:
            tu.calibration_test([0.5] * 40, [0, 1] * 20, tail="asymptotic", **asked)
        assert refused.value.argument == "tail"


def test_other_methods_refuse_it() -> None:
    for method in ("consistency", "omnibus", "tcal", "cox", "skce-block", "hosmer-lemeshow"):
        with pytest.raises(tu.InputError, match="is not available for method="):
            tu.calibration_test([0.1, 0.9], [0, 1], method=method, tail="asymptotic")
    with pytest.raises(tu.InputError, match='`tail` must be "resampling" or "asymptotic"'):
        tu.calibration_test([0.1, 0.9], [0, 1], method="ks", tail="normal")
