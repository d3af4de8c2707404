"""Kernel errors whose expectation is known: every outcome of a few rows, weighed by its chance."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from oracles import kernels
from trueup.estimators.kernel_errors.bandwidth import score_bandwidth
from trueup.estimators.kernel_errors.kernel_error import KernelError

pytestmark = pytest.mark.usefixtures("each_engine")

# A score of 0.2 (a quarter of the time) or 0.6; either way the label is 1 half of the time. The
# gaps are −0.3 and 0.1, and with a bandwidth of 0.4 the kernel between the scores is 1/e:
#     E[h] = 0.0625·0.09 + 0.5625·0.01 + 2·0.1875·(−0.3·0.1)/e = 0.01125·(1 − 1/e)
SCORES = {0.2: 0.25, 0.6: 0.75}
RATES = {0.2: 0.5, 0.6: 0.5}
TRUE_SQUARE = 0.01125 * (1 - math.exp(-1))
# E(p−y)² = ½·0.8² + ½·0.2² = 0.34 at 0.2 and ½·0.4² + ½·0.6² = 0.26 at 0.6: 0.28 on average.
OWN = 0.25 * 0.34 + 0.75 * 0.26


def expectation(estimator, n: int, rates: dict[float, float]) -> float:
    """Mean of an estimator over all 4^n outcomes of n rows."""
    outcomes = [(p, y) for p in SCORES for y in (0, 1)]
    total = []
    for rows in product(outcomes, repeat=n):
        p, y = zip(*rows, strict=True)
        chances = (SCORES[q] * (rates[q] if z else 1 - rates[q]) for q, z in rows)
        total.append(math.prod(chances) * estimator(np.array(p), np.array(y)))
    return math.fsum(total)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_expectation_of_scores(n: int):
    unbiased = KernelError(bandwidth=0.4)
    assert expectation(unbiased, n, RATES) == pytest.approx(TRUE_SQUARE, rel=1e-13)
    block = KernelError(bandwidth=0.4, form="block")
    assert expectation(block, n, RATES) == pytest.approx(TRUE_SQUARE, rel=1e-13)
    biased = KernelError(bandwidth=0.4, form="biased")
    expected = (1 - 1 / n) * TRUE_SQUARE + OWN / n
    assert expectation(biased, n, RATES) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("n", [2, 3])
def test_expectation_at_the_truth_is_zero(n: int):
    truth = {p: p for p in SCORES}
    for form in ("unbiased", "block"):
        for kernel, bandwidth in product(("laplacian", "gaussian"), (0.4, None)):
            found = expectation(KernelError(None, kernel, bandwidth, form), n, truth)
            assert found == pytest.approx(0, abs=1e-16)
    biased = expectation(KernelError(bandwidth=0.4, form="biased"), n, truth)
    assert biased == pytest.approx((0.25 * 0.2 * 0.8 + 0.75 * 0.6 * 0.4) / n, rel=1e-13)


@pytest.mark.parametrize("distance", ["euclidean", "tv"])
@pytest.mark.parametrize("n", [2, 3])
def test_expectation_of_three_classes(distance: str, n: int):
    """Two predictions, each half of the time, with gaps (.1, −.1, 0) and (0, .1, −.1).

    They lie 0.3 apart in total variation and 0.3·√2 in Euclid's distance; at that bandwidth
    E[h] = ¼·0.02 + ¼·0.02 + ½·(−0.01)/e.
    """
    predictions = [(0.5, 0.3, 0.2), (0.2, 0.3, 0.5)]
    rates = [(0.4, 0.4, 0.2), (0.2, 0.2, 0.6)]
    bandwidth = 0.3 if distance == "tv" else 0.3 * math.sqrt(2)
    expected = 0.01 - 0.005 * math.exp(-1)
    outcomes = [(c, y) for c in range(2) for y in range(3)]
    # E|g − e_y|² = |g|² − 2⟨g, q⟩ + 1 = 0.38 − 0.72 + 1 and 0.38 − 0.80 + 1
    own = (0.66 + 0.58) / 2
    for form, truth in (
        ("unbiased", expected),
        ("block", expected),
        ("biased", (1 - 1 / n) * expected + own / n),
    ):
        estimator = KernelError(bandwidth=bandwidth, form=form, distance=distance)
        total = []
        for rows in product(outcomes, repeat=n):
            chance = math.prod(0.5 * rates[c][y] for c, y in rows)
            probs = np.array([predictions[c] for c, _ in rows])
            total.append(chance * estimator(probs, np.array([y for _, y in rows])))
        assert math.fsum(total) == pytest.approx(truth, rel=1e-13)


def test_tied_scores_by_hand():
    """Of five rows at 0.8 three are right: (2·1·0.64 + 3·2·0.04 − 2·2·3·0.16)/20 = −0.02."""
    p, y = np.full(5, 0.8), np.array([1, 0, 1, 0, 1])
    assert KernelError()(p, y) == pytest.approx(-0.02, rel=1e-13)
    assert KernelError(form="biased")(p, y) == pytest.approx(0.04, rel=1e-13)  # (0.8 − 0.6)²
    assert KernelError(kernel="gaussian")(p, y) == pytest.approx(-0.02, rel=1e-13)
    # blocks (1, 0) and (1, 0): twice −0.2·0.8; the fifth row goes
    assert KernelError(form="block")(p, y) == pytest.approx(-0.16, rel=1e-13)
    # four rows of one block: one pair of zeros, one of ones, four of both
    block = KernelError(form="block", block_size=4)
    assert block(p, y) == pytest.approx((0.64 + 0.04 - 4 * 0.16) / 6, rel=1e-13)
    assert block.measure(p, y).notes["pairs"] == 6


def test_a_tiny_bandwidth_leaves_the_ties():
    p, y = np.array([0.1, 0.4, 0.4, 0.9, 0.9]), np.array([0, 1, 0, 1, 1])
    tied = 2 * (-0.6 * 0.4) + 2 * 0.01
    for kernel in ("laplacian", "gaussian"):
        for bandwidth in (1e-3, 1e-12, 1e-200, 5e-324):
            found = KernelError(None, kernel, bandwidth)(p, y)
            assert found == pytest.approx(tied / 20, rel=1e-13)


@pytest.mark.parametrize("decimals", [2, 15])
@pytest.mark.parametrize("n", [1000, 1001, 2500])
def test_bandwidth_of_many_rows(n: int, decimals: int):
    """Evenly spaced ranks of the sorted scores, ties counted as often as they occur."""
    rng = np.random.default_rng(n)
    p, y = np.round(rng.random(n) ** 3, decimals), rng.integers(0, 2, n)
    middles = [(2 * i + 1) * n // 2000 for i in range(1000)] if n > 1000 else range(n)
    seen = np.sort(p)[list(middles)]
    gaps = np.subtract.outer(seen, seen)[np.tril_indices(1000, -1)]
    expected = float(np.median(gaps[gaps > 0]))
    assert score_bandwidth(np.sort(p), None) == expected
    for form in ("biased", "unbiased", "block"):
        assert KernelError(form=form).measure(p, y).notes["bandwidth"] == expected
    weighted = KernelError().measure(p, y, weights=rng.random(n) + 0.1)
    assert weighted.notes["bandwidth"] == expected


def test_bandwidth_of_many_rows_of_a_simplex():
    rng = np.random.default_rng(1)
    probs, y = rng.dirichlet([0.4, 1, 2], 1200), rng.integers(0, 3, 1200)
    order = sorted(range(1200), key=lambda i: (probs[i].max(), *probs[i]))  # no ties but by chance
    seen = probs[[order[(2 * i + 1) * 1200 // 2000] for i in range(1000)]]
    away = seen[:, None] - seen
    for distance, length in (
        ("euclidean", np.sqrt((away**2).sum(-1))),
        ("tv", np.abs(away).sum(-1) / 2),
    ):
        found = KernelError(distance=distance).measure(probs, y)
        expected = np.median(length[np.tril_indices(1000, -1)])
        assert found.notes["bandwidth"] == pytest.approx(expected, rel=1e-14)


def test_the_bandwidth_is_that_of_the_oracle_up_to_a_thousand_rows():
    rng = np.random.default_rng(2)
    p = np.round(rng.random(150), 2)
    assert score_bandwidth(np.sort(p), None) == kernels.median_bandwidth(p)
    assert KernelError().measure([0.3, 0.3], [0, 1]).notes["bandwidth"] == 1.0
