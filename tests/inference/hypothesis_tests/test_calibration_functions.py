"""Consistency resampling under another calibration function than the identity."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import trueup as tu
from trueup.errors import InputError
from trueup.inference.hypothesis_tests.calibration_test import calibration_test

REGION = tu.lens.TopLabel(where=(0.4, 1.0))
BINARY = [
    tu.ece,
    tu.rmsce_debiased,
    tu.SweepError(),
    tu.CumulativeError(),
    tu.KernelError(),
    tu.Brier(),
    tu.BinnedError(label_binned=True),
    tu.BinnedError(tu.lens.TopLabel()),
]
OF_MATRIX = [
    tu.ece,
    tu.SweepError(),
    tu.CumulativeError(),
    tu.BinnedError(REGION),
    tu.BinnedError(tu.lens.OneVsRest(2)),
    tu.BinnedError(tu.lens.ClassWise()),
    tu.SweepError(tu.lens.ClassWise()),
    tu.BinnedError(tu.lens.Canonical(), tu.bins.VarianceTree(3), distance="tv"),
    tu.BinnedError(tu.lens.TopK(2), tu.bins.VarianceTree(3)),
    tu.BinnedError(tu.lens.Pooled()),
    tu.KernelError(),
    tu.LogLoss(),
]


def flatter(g: np.ndarray) -> np.ndarray:
    """Less extreme probabilities, in which the order of some classes is another."""
    h = g**0.5 * np.array([1.0, 1.5, 0.8])
    return h / h.sum(axis=1, keepdims=True)


def binary(seed: int, n: int) -> np.ndarray:
    return np.random.default_rng(seed).random(n)


def rows(seed: int, n: int) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet([0.6, 1.0, 1.4], n)


def exact(statistic: object, g: np.ndarray, law: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the statistic of all possible labels, and their probabilities: a plain loop."""
    known = statistic.estimator() if callable(getattr(statistic, "estimator", None)) else statistic
    each = np.column_stack([1 - law, law]) if law.ndim == 1 else law
    values, chances = [], []
    for labels in itertools.product(range(each.shape[1]), repeat=len(g)):
        chance = 1.0
        for row, label in enumerate(labels):
            chance *= each[row, label]
        values.append(known.measure(g, np.array(labels)).pth_power)
        chances.append(chance)
    return np.array(values), np.array(chances)


def check(statistic: object, g: np.ndarray, function: object, labels: np.ndarray) -> None:
    found = calibration_test(
        g, labels, statistic=statistic, calibration_function=function, n_resamples=4000
    )
    values, chances = exact(statistic, g, function(g))
    assert chances.sum() == pytest.approx(1)
    draws = found.null_draws
    for cut in np.quantile(values, [0.1, 0.3, 0.5, 0.7, 0.9]):
        slack = 1e-9 + 1e-9 * abs(cut)
        right = chances[values <= cut + slack].sum()
        error = np.sqrt(right * (1 - right) / len(draws)) + 1e-12
        assert abs(np.mean(draws <= cut + slack) - right) < 4.5 * error + 1e-9
    right = chances[values >= found.statistic - 1e-9].sum()
    assert abs(found.pvalue - right) < 4.5 * np.sqrt(right * (1 - right) / 4000) + 1e-3


@pytest.mark.parametrize("statistic", BINARY, ids=repr)
def test_draws_of_scores_have_the_exact_distribution(statistic: object) -> None:
    check(statistic, binary(1, 8), np.sqrt, np.array([0, 1, 1, 0, 1, 1, 0, 1]))


@pytest.mark.parametrize("statistic", OF_MATRIX, ids=repr)
def test_draws_of_rows_have_the_exact_distribution(statistic: object) -> None:
    check(statistic, rows(2, 5), flatter, np.array([0, 2, 1, 1, 2]))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", ["consistency", "consistency-unconditional"])
def test_the_identity_changes_no_draw(method: str, weighted: bool) -> None:
    rng = np.random.default_rng(3)
    p, g = binary(3, 200), rows(3, 150)
    data = [(p, rng.random(200) < p, BINARY), (g, rng.integers(0, 3, 150), OF_MATRIX)]
    for probs, labels, statistics in data:
        w = rng.random(len(labels)) + 0.5 if weighted else None
        for statistic in statistics:
            options = {"statistic": statistic, "method": method, "weights": w, "n_resamples": 19}
            usual = calibration_test(probs, labels, **options)
            same = calibration_test(probs, labels, calibration_function=lambda g: g, **options)
            np.testing.assert_allclose(same.null_draws, usual.null_draws, rtol=1e-12, atol=1e-12)
            assert same.pvalue == usual.pvalue


def test_pvalues_of_data_that_follow_the_function_are_uniform() -> None:
    rng = np.random.default_rng(4)
    p = rng.random(100)
    pvalues = [
        calibration_test(
            p, rng.random(100) < p**2, calibration_function=np.square, n_resamples=99, rng=seed
        ).pvalue
        for seed in range(400)
    ]
    for level in (0.05, 0.2, 0.5):
        error = np.sqrt(level * (1 - level) / 400)
        assert abs(np.mean(np.array(pvalues) <= level) - level) < 4.5 * error


def test_a_larger_error_than_that_of_the_function_is_detected_a_smaller_one_is_not() -> None:
    rng = np.random.default_rng(5)
    p = rng.random(1000)
    for truth, detected in ((p**3, True), (p**1.5, False)):
        y = rng.random(1000) < truth
        found = calibration_test(p, y, calibration_function=np.square)
        assert (found.pvalue <= 0.01) == detected
        assert calibration_test(p, y).pvalue <= 0.01
    # A different error of the same size is not detected, but by a test of the function's values.
    y = rng.random(1000) < 1 - (1 - p) ** 2
    assert calibration_test(p, y, calibration_function=np.square).pvalue > 0.01
    assert calibration_test(p**2, y).pvalue <= 0.01


def test_the_result_says_what_labels_follow() -> None:
    p = binary(6, 50)
    y = p > 0.5
    found = calibration_test(p, y, calibration_function=np.sqrt, n_resamples=19)
    assert found.method == "consistency"
    assert "every label follows calibration_function of its prediction (sqrt)" in found.null
    assert found.notes["calibration_function"] == "sqrt"
    fitted = tu.TemperatureScaling().fit(p, y)
    after = calibration_test(p, y, calibration_function=fitted.transform, n_resamples=19)
    assert after.notes["calibration_function"] == "TemperatureScaling.transform"


def test_functions_whose_values_are_all_certain() -> None:
    p = binary(7, 30)
    options = {"calibration_function": np.round, "n_resamples": 19}
    assert calibration_test(p, p > 0.5, **options).pvalue == 1
    found = calibration_test(p, p > 0.4, **options)
    assert found.pvalue == 1 / 20
    assert found.null_draws is None
    # Certain predictions may be wrong with a probability that the function knows.
    assert calibration_test(
        [0.0, 1.0] * 50, [0, 1, 1, 1] * 25, calibration_function=lambda p: 0.5 + 0.25 * p
    ).null_draws.shape == (999,)


def test_the_function_cannot_change_the_predictions() -> None:
    p, g = binary(8, 20), rows(8, 20)
    for probs in (p, g):
        before = probs.copy()

        def spoil(given: np.ndarray) -> np.ndarray:
            given[:] = 0.0 if given.ndim == 1 else 1 / 3
            return given

        calibration_test(probs, np.arange(20) % 2, calibration_function=spoil, n_resamples=19)
        np.testing.assert_array_equal(probs, before)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda g: g[:5], r"shape of the predictions, \(20, 3\); got shape \(5, 3\)"),
        (lambda g: g[:, 0], r"shape of the predictions"),
        (lambda g: np.where(g > 0.5, np.nan, g), r"values in \[0, 1\]; got nan in row"),
        (lambda g: g - 0.5, r"values in \[0, 1\]; got -0\.\d+ in row 0"),
        (lambda g: g / 2, r"rows that sum to 1; got 0\.5 in row 0"),
        (lambda g: g.astype(str), "return numbers"),
        (0.5, "a function of the predictions; got 0.5"),
    ],
)
def test_refusals(function: object, words: str) -> None:
    g = rows(9, 20)
    with pytest.raises(InputError, match=words) as caught:
        calibration_test(g, np.arange(20) % 3, calibration_function=function)
    assert caught.value.argument == "calibration_function"


def test_other_tests_take_no_function() -> None:
    p = binary(10, 20)
    for method in ("omnibus", "ks", "tcal"):
        with pytest.raises(InputError, match="only be used with the consistency test"):
            calibration_test(p, p > 0.5, method=method, calibration_function=np.sqrt)
