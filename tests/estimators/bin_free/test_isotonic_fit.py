"""The isotonic fit: against exact fractions, against scikit-learn, on both engines."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from sklearn.isotonic import IsotonicRegression

from oracles.isotonic import isotonic_fit
from support.samples import Sample, binary_samples
from trueup.engines import using
from trueup.estimators.bin_free.isotonic_fit import IsotonicFit
from trueup.estimators.ties import TiedScores
from trueup.lens import Pairs


@pytest.mark.usefixtures("each_engine")
@given(binary_samples)
def test_fit_by_fractions(sample: Sample):
    p, y, w = sample.probs, sample.labels, sample.weights
    fit = IsotonicFit.of(Pairs(p, y, w))
    np.testing.assert_allclose(fit.at(p), [float(v) for v in isotonic_fit(p, y, w)], rtol=1e-14)
    assert np.all(np.diff(fit.mean_label) > 0)
    assert np.all(fit.low <= fit.high)
    assert np.all(fit.high[:-1] < fit.low[1:])
    assert fit.weight.sum() == pytest.approx(len(p) if w is None else w.sum(), rel=1e-14)
    assert fit.base_rate == pytest.approx(np.average(y, weights=w), abs=1e-14)


@pytest.mark.usefixtures("each_engine")
@given(binary_samples, st.integers(0, 10**6))
def test_soft_labels_by_fractions(sample: Sample, seed: int):
    soft = np.round(np.random.default_rng(seed).random(len(sample.probs)), 1)
    fit = IsotonicFit.of(Pairs(sample.probs, soft, sample.weights))
    exact = [float(v) for v in isotonic_fit(sample.probs, soft, sample.weights)]
    np.testing.assert_allclose(fit.at(sample.probs), exact, rtol=1e-12, atol=1e-15)
    assert np.all(np.diff(fit.mean_label) >= 0)


@given(binary_samples, st.integers(0, 10**6), st.booleans())
def test_fit_by_scikit_learn(sample: Sample, seed: int, soft: bool):
    """Scores as ranks: scikit-learn takes scores closer than 1e-15 for ties."""
    rng = np.random.default_rng(seed)
    p, w = sample.probs, rng.random(len(sample.probs)) + 0.01
    y = rng.random(len(p)) if soft else sample.labels
    rank = np.unique(p, return_inverse=True)[1]
    theirs = IsotonicRegression().fit(rank, y, sample_weight=w).predict(rank)
    np.testing.assert_allclose(IsotonicFit.of(Pairs(p, y, w)).at(p), theirs, rtol=1e-12, atol=1e-14)


@given(binary_samples)
def test_weights_are_repeated_rows_and_have_no_unit(sample: Sample):
    p, y = sample.probs, sample.labels
    times = np.random.default_rng(len(p)).integers(1, 5, len(p))
    repeated = IsotonicFit.of(Pairs(np.repeat(p, times), np.repeat(y, times), None))
    for unit in (1.0, 1 / 3, 1e-9):
        weighted = IsotonicFit.of(Pairs(p, y, times * unit))
        np.testing.assert_array_equal(weighted.low, repeated.low)
        np.testing.assert_array_equal(weighted.mean_label, repeated.mean_label)
        np.testing.assert_allclose(weighted.weight, repeated.weight * unit, rtol=1e-14)


@given(binary_samples)
def test_groups_and_float32(sample: Sample):
    pairs = Pairs(sample.probs.astype(np.float32), sample.labels, sample.weights)
    fit, of_groups = IsotonicFit.of(pairs), IsotonicFit.of_groups(TiedScores.of(pairs))
    for name in ("low", "high", "weight", "mean_label"):
        np.testing.assert_array_equal(getattr(fit, name), getattr(of_groups, name))
        np.testing.assert_array_equal(fit.curve()[name], getattr(fit, name))
    np.testing.assert_array_equal(fit.at(pairs.p), fit.at(pairs.p.astype(np.float64)))


def test_engines_agree_on_many_rows():
    rng = np.random.default_rng(5)
    p = rng.random(60_000)
    y = (rng.random(60_000) < p**2).astype(np.int64)
    native = IsotonicFit.of(Pairs(p, y, None))
    with using("reference"):
        plain = IsotonicFit.of(Pairs(p, y, None))
    for name in ("low", "high", "weight", "mean_label"):
        np.testing.assert_array_equal(getattr(native, name), getattr(plain, name))
    theirs = IsotonicRegression().fit_transform(p, y)
    np.testing.assert_allclose(native.at(p), theirs, rtol=1e-12, atol=1e-15)


def test_between_blocks_the_upper_one_holds():
    fit = IsotonicFit.of(Pairs(np.array([0.2, 0.6]), np.array([0, 1]), None))
    assert fit.at(np.array([0.0, 0.2, 0.4, 0.6, 1.0])).tolist() == [0, 0, 1, 1, 1]
