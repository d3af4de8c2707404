"""Datasets that share scores and draws: each p-value is that of a test of it alone."""

from __future__ import annotations

import numpy as np
import pytest

import trueup as tu
from trueup.engines.draw_keys import keys_of
from trueup.errors import InputError
from trueup.forecasts import Forecasts
from trueup.inference.hypothesis_tests.consistency_resampling import resampled_powers
from trueup.inference.hypothesis_tests.null_distribution import resampled_pvalue
from trueup.inference.hypothesis_tests.shared_draws import shared_pvalues
from trueup.inference.omnibus.columns import Column, values_of_column
from trueup.inference.omnibus.pooled_pvalues import harmonic, pooled_pvalues
from trueup.lens import Binary

SEED, DRAWS = 5, 99
STATISTICS = {
    "debiased": tu.BinnedError(binning=tu.EqualMass(15), norm=2, debias=True),
    "equal width": tu.BinnedError(),
    "of the labels": tu.BinnedError(binning=tu.EqualMass(5), debias="residual"),
    "sweep": tu.SweepError(),
    "ks": tu.CumulativeError(),
    "a lens of its own": tu.BinnedError(Binary(), norm=1),
    "brier": tu.Brier(),
}


def scores_of(kind: str, n: int) -> np.ndarray:
    rng = np.random.default_rng([n, len(kind)])
    if kind == "ties":
        return rng.choice([0.1, 0.5, 0.9], n)
    if kind == "with certain":
        return rng.choice([0.0, 0.3, 0.6, 1.0], n)
    return rng.beta(1.18, 0.3, n)


def labels_of(p: np.ndarray) -> list[np.ndarray]:
    """Calibrated, miscalibrated and impossible labels."""
    rng = np.random.default_rng(1)
    rates = [p, p, p**2, p**0.5, np.full(len(p), 0.5), 1 - p]
    return [(rng.random(len(p)) < rate).astype(np.uint8) for rate in rates]


@pytest.mark.parametrize("kind", ["confident", "ties", "with certain"])
@pytest.mark.parametrize("n", [1, 3, 40, 500])
def test_omnibus_pvalues_are_those_of_tests_with_the_same_draws(kind, n) -> None:
    p = scores_of(kind, n)
    labels = labels_of(p)
    found = shared_pvalues(None, p, labels, SEED, DRAWS)
    for y, pvalue in zip(labels, found, strict=True):
        data = Forecasts.from_arrays(p, y)
        pairs = Binary().problem(data)
        possible = (np.where(y == 1, p, 1 - p) > 0).all()
        if not possible or ((p == 0) | (p == 1)).all():
            assert pvalue == (1 if possible else 1 / (1 + DRAWS))
            continue
        values = values_of_column(Column.from_pairs(pairs), pairs, keys_of(SEED, DRAWS))
        combined = harmonic(pooled_pvalues(values))
        assert pvalue == pooled_pvalues(combined[:, None])[0, 0]


@pytest.mark.parametrize("kind", ["confident", "ties", "with certain"])
@pytest.mark.parametrize("name", STATISTICS)
def test_consistency_pvalues_are_those_of_tests_with_the_same_draws(name, kind) -> None:
    statistic, p = STATISTICS[name], scores_of(kind, 120)
    labels = labels_of(p)
    found = shared_pvalues(statistic, p, labels, SEED, DRAWS)
    for y, pvalue in zip(labels, found, strict=True):
        data = Forecasts.from_arrays(p, y)
        powers = resampled_powers(statistic, data, SEED, DRAWS)
        assert pvalue == resampled_pvalue(powers[0], powers[1:])


def test_certain_scores_need_no_draws() -> None:
    p = np.array([0.0, 1.0, 1.0])
    labels = [np.array(y, np.uint8) for y in ([0, 1, 1], [0, 1, 0])]
    for statistic in (None, tu.BinnedError()):
        assert shared_pvalues(statistic, p, labels, SEED, 99).tolist() == [1.0, 0.01]


def test_a_statistic_that_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    powers = np.array([0.1, 0.2, np.nan])
    monkeypatch.setattr(
        "trueup.inference.hypothesis_tests.shared_draws.resampled_powers", lambda *_: powers
    )
    with pytest.raises(InputError, match="returned NaN or infinity"):
        shared_pvalues(tu.CumulativeError(), np.array([0.2]), [np.ones(1, np.uint8)], 1, 2)
