"""Running sums of score − label: oracles, accuracy, the curve, and where the error is."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import trueup as tu
from oracles import cumulative, lenses
from support.samples import Sample, binary_samples, matrix_samples
from trueup.engines import set_threads, using
from trueup.estimators.bin_free.cumulative import CumulativeError, running_sums

KS, KUIPER = CumulativeError(), CumulativeError(statistic="kuiper")


@pytest.mark.usefixtures("each_engine")
@given(binary_samples)
def test_naive_sums(sample: Sample):
    p, y, w = sample.probs, sample.labels, sample.weights
    ks, kuiper = KS.measure(p, y, weights=w), KUIPER.measure(p, y, weights=w)
    assert ks.value == pytest.approx(cumulative.ks_error(p, y, w), rel=1e-12, abs=1e-14)
    assert kuiper.value == pytest.approx(cumulative.kuiper(p, y, w), rel=1e-12, abs=1e-14)
    assert kuiper.value >= ks.value
    sums = [0.0, *cumulative.cumulative_differences(p, y, w)]
    np.testing.assert_allclose(-ks.table["difference"], sums, atol=1e-14)
    assert ks.table["score"].tolist() == [0.0, *np.unique(p).tolist()]
    mass = np.ones(len(p)) if w is None else w
    shares = [mass[p <= end].sum() / mass.sum() for end in np.unique(p)]
    np.testing.assert_allclose(ks.table["share"], [0.0, *shares], rtol=1e-13)


@given(binary_samples, st.integers(0, 10**6))
def test_soft_labels_and_float32(sample: Sample, seed: int):
    p = sample.probs.astype(np.float32)
    soft = np.random.default_rng(seed).random(len(p))
    data = tu.Forecasts.from_arrays(p, soft, weights=sample.weights, soft_labels=True)
    exact = p.astype(np.float64)
    for estimator, oracle in ((KS, cumulative.ks_error), (KUIPER, cumulative.kuiper)):
        expected = oracle(exact, soft, sample.weights)
        assert estimator(data) == pytest.approx(expected, rel=1e-12, abs=1e-14)


@given(binary_samples)
def test_where_the_error_is(sample: Sample):
    """The rows between the noted scores have that error between them."""
    p, y, w = sample.probs, sample.labels, sample.weights
    mass = np.ones(len(p)) if w is None else w

    def error(rows: np.ndarray) -> float:
        return abs(math.fsum(mass[rows] * (p[rows] - y[rows]))) / mass.sum()

    found = KS.measure(p, y, weights=w)
    assert error(p <= found.notes["score"]) == pytest.approx(found.value, rel=1e-12, abs=1e-14)
    found = KUIPER.measure(p, y, weights=w)
    rows = (p >= found.notes["low"]) & (p <= found.notes["high"])
    if found.value > 1e-14:  # no range at all where every sum is 0
        assert error(rows) == pytest.approx(found.value, rel=1e-12, abs=1e-14)


@given(matrix_samples)
def test_lenses(sample: Sample):
    probs, y, w = sample.probs, sample.labels, sample.weights
    p, right = (np.array(part, float) for part in lenses.top_label(probs, y))
    assert KS(probs, y, weights=w) == pytest.approx(cumulative.ks_error(p, right, w), abs=1e-12)
    found = CumulativeError(tu.lens.ClassWise(), "kuiper").measure(probs, y, weights=w)
    each = [cumulative.kuiper(column, y == c, w) for c, column in enumerate(probs.T)]
    assert found.value == pytest.approx(np.mean(each), abs=1e-12)
    assert set(found.table["class"].tolist()) == set(range(probs.shape[1]))
    assert len(found.notes["low"]) == probs.shape[1]


@given(st.integers(0, 2000), st.integers(0, 10**6))
def test_running_sums(n: int, seed: int):
    terms = np.random.default_rng(seed).integers(-9, 9, n).astype(float)
    assert running_sums(terms).tolist() == [0.0, *np.cumsum(terms).tolist()]


def test_a_million_rows_to_twelve_digits():
    """All errors of one sign: the sums grow to 10^5, and so would the drift of plain ones."""
    rng = np.random.default_rng(1)
    p = np.sort(rng.random(10**6))
    y = rng.random(10**6) < p * 0.7
    terms = p - y
    found = KUIPER.measure(p, y)
    worst = (p >= found.notes["low"]) & (p <= found.notes["high"])
    assert found.value == pytest.approx(math.fsum(terms[worst]) / 1e6, abs=1e-14)
    found = KS.measure(p, y)
    lower = p <= found.notes["score"]
    assert found.value == pytest.approx(math.fsum(terms[lower]) / 1e6, abs=1e-14)
    ranks = np.rint(found.table["share"] * 1e6).astype(int)
    assert 2001 <= len(ranks) <= 2003  # even ranks and the two extremes
    for place in (1, 2, 999, 1500, -1):
        exact = math.fsum(terms[: ranks[place]]) / 1e6
        assert -found.table["difference"][place] == pytest.approx(exact, abs=1e-14)
    assert np.abs(found.table["difference"]).max() == found.value


@pytest.mark.parametrize("estimator", [KS, KUIPER], ids=repr)
def test_engines_threads_and_the_order_of_rows(estimator):
    rng = np.random.default_rng(2)
    p = np.round(rng.random(50_000), 4)
    y = rng.random(50_000) < p
    order = rng.permutation(50_000)
    values = {estimator(p[order], y[order])}
    for threads in (1, 2, 3):
        set_threads(threads)
        try:
            values.add(estimator(p, y))
        finally:
            set_threads(None)
    with using("reference"):
        values.add(estimator(p, y))
    assert len(values) == 1


def test_small_cases():
    assert KS([0.3], [1]) == KUIPER([0.3], [1]) == pytest.approx(0.7)
    assert KUIPER.measure([0.3], [1]).notes == {"low": 0.3, "high": 0.3}
    assert KS([0.4] * 5, [0, 1, 0, 1, 0]) == pytest.approx(0, abs=1e-15)
    # too low below, too high above: the sums rise to 0.2 and come back
    p, y = [0.3, 0.3, 0.7, 0.7], [0, 1, 0, 1]
    assert KS(p, y) == pytest.approx(0.1)
    assert KUIPER(p, y) == pytest.approx(0.1)
    assert KS.measure(p, y).notes == {"score": 0.3}
    assert KS.measure(p, y).table["difference"].tolist() == pytest.approx([0, 0.1, 0])
    # too high below, too low, then too high above: Kuiper sees the middle, KS the sum of all
    p, y = [0.25, 0.5, 0.75, 0.75], [0, 1, 0, 0]
    assert KS(p, y) == pytest.approx(1.25 / 4)
    assert KUIPER(p, y) == pytest.approx(1.5 / 4)


def test_what_is_refused():
    with pytest.raises(tu.InputError, match='`statistic` must be "ks" or "kuiper"; got'):
        CumulativeError(statistic="cramer")
    with pytest.raises(tu.InputError, match="`lens` must yield scores"):
        CumulativeError(tu.lens.Canonical())([[0.2, 0.8]], [1])
    assert repr(KUIPER) == "CumulativeError(lens=None, statistic='kuiper')"
