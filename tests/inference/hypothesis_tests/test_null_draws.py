"""Draws of the statistic under the null hypothesis, which the results of tests hold."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

import trueup as tu
from trueup.codec import plain, written

LENS = tu.lens.Canonical()
ONE_SIDED = {
    "consistency": {},
    "consistency of a sweep": {"method": "consistency", "statistic": tu.SweepError()},
    "consistency-unconditional": {},
    "omnibus": {},
    "ks": {},
    "kuiper": {"method": "ks", "statistic": tu.CumulativeError(statistic="kuiper")},
    "tcal": {},
    "skce": {},
    "skce-block": {"statistic": tu.KernelError(form="block", block_size=40)},
    "hosmer-lemeshow": {"statistic": tu.BinnedError(binning=tu.EqualMass(20))},
}
OF_MATRIX = {
    "consistency": {"statistic": tu.BinnedError(LENS, tu.bins.VarianceTree(20))},
    "consistency of classes": {
        "method": "consistency",
        "statistic": tu.BinnedError(tu.lens.ClassWise()),
    },
    "omnibus": {},
    "tcal": {"statistic": LENS},
    "skce": {},
    "skce-block": {"statistic": tu.KernelError(form="block", block_size=40)},
}


def binary(seed: int, n: int = 80) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.beta(2, 3, n)
    return p, rng.random(n) < p


def rows(seed: int, n: int = 80, k: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    g = rng.dirichlet(np.ones(k), n)
    return g, (rng.random(n)[:, None] > np.cumsum(g, axis=1)).sum(axis=1)


def the_test(name: str, options: dict, data: tuple, **more: object) -> tu.CalibrationTestResult:
    return tu.calibration_test(*data, **({"method": name} | options | more))


def cases() -> list:
    found = [(name, options, binary, False) for name, options in ONE_SIDED.items()]
    found += [(name, options, rows, False) for name, options in OF_MATRIX.items()]
    found += [(name, ONE_SIDED[name], binary, True) for name in ("consistency", "ks", "skce")]
    found += [("skce", {}, rows, True), ("skce-block", OF_MATRIX["skce-block"], rows, True)]
    two_columns = lambda seed: rows(seed, k=2)  # noqa: E731
    return [*found, ("skce", {}, two_columns, False)]


@pytest.mark.parametrize(("name", "options", "data", "weighted"), cases())
def test_the_pvalue_is_the_rank_of_the_statistic_among_the_draws(
    name: str, options: dict, data: object, weighted: bool
) -> None:
    g, y = data(3)
    w = np.random.default_rng(0).random(len(y)) + 0.2 if weighted else None
    found = the_test(name, options, (g, y), weights=w, n_resamples=99, rng=1)
    draws = found.null_draws
    assert draws is not None
    assert draws.shape == (99,)
    slack = 1e-9 * abs(found.statistic) + 1e-12 * np.abs(draws).mean()
    assert found.pvalue == (1 + np.sum(draws >= found.statistic - slack)) / 100


# The statistic of the omnibus test is a function of ranks among the draws.
@pytest.mark.parametrize(
    ("name", "options", "data", "weighted"), [each for each in cases() if each[0] != "omnibus"]
)
def test_draws_have_the_distribution_of_the_statistic_of_calibrated_data(
    name: str, options: dict, data: object, weighted: bool
) -> None:
    """Labels that NumPy draws give statistics with the mean of the draws."""
    g, y = data(4)
    rng = np.random.default_rng(5)
    w = rng.random(len(y)) + 0.2 if weighted else None
    draws = the_test(name, options, (g, y), weights=w, n_resamples=400, rng=2).null_draws
    if g.ndim == 1:
        labels = rng.random((300, len(g))) < g
    else:
        labels = (rng.random((300, len(g)))[..., None] > np.cumsum(g, axis=1)).sum(axis=2)
    if name == "consistency-unconditional":
        sets = [data(seed) for seed in range(10, 210)]  # new rows, of which the drawn are a copy
    else:
        sets = [(g, drawn) for drawn in labels]
    values = [
        the_test(name, options, each, weights=w, n_resamples=1).statistic for each in sets[:200]
    ]
    error = np.hypot(np.std(draws) / np.sqrt(len(draws)), np.std(values) / np.sqrt(len(values)))
    assert abs(np.mean(draws) - np.mean(values)) < 4.5 * error
    assert np.std(draws) == pytest.approx(np.std(values), rel=0.35)


def test_spiegelhalter_draws_are_signed_and_its_pvalue_two_sided() -> None:
    p, y = binary(1, 60)
    found = tu.calibration_test(p, y, method="spiegelhalter", n_resamples=199, rng=1)
    draws = found.null_draws
    assert draws.min() < -0.5
    assert draws.max() > 0.5
    assert abs(draws.mean()) < 4.5 / np.sqrt(199)
    assert draws.std() == pytest.approx(1, abs=0.2)
    assert found.pvalue == (1 + np.sum(np.abs(draws) >= abs(found.statistic) - 1e-9)) / 200


def test_clusters_have_draws_by_signs() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(600)
    data = tu.Forecasts.from_arrays(p, rng.random(600) < p, clusters=np.arange(600) // 3)
    for method in ("cluster-signs", "omnibus"):
        found = tu.calibration_test(data, method=method, n_resamples=99)
        slack = 1e-9 * found.statistic
        draws = found.null_draws
        assert found.pvalue == (1 + np.sum(draws >= found.statistic - slack)) / 100
    first = tu.compare(data, data.with_probs(p**1.2), n_resamples=99).first_test
    assert first.null_draws.shape == (99,)


def test_tests_without_draws_have_none() -> None:
    p, y = binary(0, 6000)
    for options in (
        {"method": "cox"},
        {"method": "spiegelhalter"},
        {"method": "hosmer-lemeshow"},
        {"method": "skce-block"},
        {"method": "skce-distribution-free"},
        {"method": "ks", "tail": "asymptotic"},
        {"method": "skce", "tail": "asymptotic"},
    ):
        assert tu.calibration_test(p, y, **options).null_draws is None
    for method in ("consistency", "omnibus", "tcal"):
        assert tu.calibration_test([0.0, 1.0], [0, 1], method=method).null_draws is None


def test_draws_are_read_only_and_stay_out_of_json_repr_and_equality() -> None:
    p, y = binary(0)
    found = tu.calibration_test(p, y, statistic=tu.ece, n_resamples=49)
    with pytest.raises(ValueError, match="read-only"):
        found.null_draws[0] = 0
    assert found.null_draws.base is None
    without = replace(found, null_draws=None)
    assert without == found
    assert repr(without) == repr(found)
    assert str(without) == str(found)
    assert found.to_dict() == without.to_dict() == plain(found)
    assert "null_draws" not in found.to_dict()
    assert "null_draws" not in written(found)
    asked = found.to_dict(draws=True)
    assert json.loads(json.dumps(asked))["null_draws"] == found.null_draws.tolist()
    assert without.to_dict(draws=True)["null_draws"] is None
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.null_draws, found.null_draws)


def test_draws_stay_out_of_the_json_of_an_evaluation() -> None:
    p, y = binary(0, 200)
    found = tu.evaluate(p, y, n_resamples=99, recalibrate=False)
    assert found.test.null_draws.shape == (99,)
    assert "null_draws" not in json.dumps(found.to_dict())


def test_draws_show_the_error_of_a_calibrated_model() -> None:
    """Mean and spread of the error under calibration, as in Tables 3 to 5 of the paper."""
    rng = np.random.default_rng(0)
    g = rng.dirichlet([0.5, 0.5, 0.5], 400)
    y = (rng.random(400)[:, None] > np.cumsum(g, axis=1)).sum(axis=1)
    statistic = tu.BinnedError(LENS, tu.bins.VarianceTree(50), distance="tv")
    draws = tu.calibration_test(g, y, statistic=statistic, n_resamples=200).null_draws
    labels = (rng.random((200, 400))[..., None] > np.cumsum(g, axis=1)).sum(axis=2)
    values = np.array([statistic(g, each) for each in labels])
    assert draws.mean() == pytest.approx(values.mean(), abs=4.5 * values.std() / 10)
    assert draws.std() == pytest.approx(values.std(), rel=0.3)
