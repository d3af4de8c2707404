"""Tests by name: their lenses, and input that they reject."""

from __future__ import annotations

import numpy as np
import pytest

import trueup as tu
from support.null_samples import NAMED, calibrated, run, simplex
from trueup.errors import InputError
from trueup.forecasts import Forecasts
from trueup.inference import calibration_test
from trueup.lens import Canonical, ClassWise, OneVsRest, Pooled, TopLabel


def test_lenses() -> None:
    g, y = simplex(500, 4, 15)
    for name in NAMED:
        top = run(name, g, y, statistic=TopLabel())
        pairs = run(name, g.max(axis=1), g.argmax(axis=1) == y)
        assert top.statistic == pytest.approx(pairs.statistic, rel=1e-9)
        assert "TopLabel" in top.null
        one = run(name, g, y, statistic=OneVsRest(2))
        assert one.pvalue == pytest.approx(run(name, g[:, 2], y == 2).pvalue, rel=1e-9)


@pytest.mark.parametrize("name", NAMED)
def test_refusals(name: str) -> None:
    p, y = calibrated("uniform", 50, 16)
    g, labels = simplex(50, 3, 16)
    with pytest.raises(InputError, match="`statistic` must be None"):
        run(name, p, y, statistic=tu.Brier())
    for lens in (ClassWise(), Pooled()):
        with pytest.raises(InputError, match=r"must (be|yield)"):
            run(name, g, labels, statistic=lens)
    with pytest.raises(InputError, match="`labels` must be classes"):
        calibration_test(Forecasts.from_arrays(p, p, soft_labels=True), method=name)
    if name != "omnibus":  # which takes rows in clusters
        with pytest.raises(InputError, match="assumes independent rows, but `clusters` is set"):
            calibration_test(Forecasts.from_arrays(p, y, clusters=np.arange(50)), method=name)
    with pytest.raises(InputError, match="`n_resamples` must be"):
        run(name, p, y, n_resamples=0)


def test_tcal_refuses_a_simplex_of_too_many_outcomes() -> None:
    g, y = simplex(50, 7, 17)
    with pytest.raises(InputError, match="at most 6 outcomes for T-Cal with 50 rows"):
        run("tcal", g, y, statistic=Canonical())
    with pytest.raises(InputError, match="`lens` must yield a single score"):
        run("ks", g, y, statistic=Canonical())
    with pytest.raises(InputError, match="`weights` cannot be used"):
        run("skce-distribution-free", g, y, weights=np.ones(50))
