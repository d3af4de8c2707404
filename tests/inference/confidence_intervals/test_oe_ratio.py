"""The interval of O:E against roots of Wilson's equation, and where it has none."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given
from scipy.special import expit
from scipy.stats import norm

import trueup as tu
from oracles import clinical as oracle
from support.samples import Sample, binary_samples, draw_matrix
from trueup.inference import oe_ratio_interval


@given(binary_samples, st.sampled_from([0, 2, 5]), st.sampled_from([0.5, 0.95]))
def test_wilson_at_the_effective_count(sample: Sample, n_clusters: int, level: float) -> None:
    p, y, w, n = sample.probs, sample.labels, sample.weights, len(sample.labels)
    assume(p.sum() > 1e-9)
    assume(n > max(1, n_clusters))
    clusters = np.arange(n) % n_clusters if n_clusters else None
    forecasts = tu.Forecasts.from_arrays(p, y, weights=w, clusters=clusters)
    found = oe_ratio_interval(forecasts, confidence_level=level)
    assert found.estimate == tu.oe_ratio(p, y, weights=w)
    expected = oracle.oe_ends(p, y, w, clusters, level)
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert found.low <= found.estimate * (1 + 1e-12)
    assert found.high >= found.estimate * (1 - 1e-12)


def test_one_score_is_wilsons_interval_of_a_rate() -> None:
    """Up to the one row that is added."""
    y = np.r_[np.ones(30), np.zeros(970)].astype(int)
    found = oe_ratio_interval(np.full(1000, 0.02), y)
    assert found.notes["n_effective"] == pytest.approx(1000**2 / 1001)
    z, n, rate = norm.ppf(0.975), found.notes["n_effective"], 0.03
    middle, half = rate + z * z / (2 * n), z * np.sqrt(rate * 0.97 / n + (z / (2 * n)) ** 2)
    expected = np.array([middle - half, middle + half]) / (1 + z * z / n) / 0.02
    assert [found.low, found.high] == pytest.approx(expected, rel=1e-9)


def test_scale_of_weights_and_classes_of_a_matrix() -> None:
    sample = draw_matrix(1, 90, 3, "smooth", "eighths")
    p, y, w = sample.probs, sample.labels, sample.weights
    one = oe_ratio_interval(p, y, weights=w, lens=tu.lens.OneVsRest(2))
    other = oe_ratio_interval(p[:, 2], y == 2, weights=None if w is None else 1e6 * w)
    assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-9)


def test_copies_in_clusters_tell_nothing_new() -> None:
    rng = np.random.default_rng(2)
    p = expit(rng.normal(-2, 1, 300))
    y = rng.random(300) < p
    clusters = np.tile(np.arange(300), 5)
    copies = tu.Forecasts.from_arrays(np.tile(p, 5), np.tile(y, 5), clusters=clusters)
    found, alone = oe_ratio_interval(copies), oe_ratio_interval(p, y)
    assert found.notes["clusters"] == 300
    assert found.notes["n_effective"] == pytest.approx(alone.notes["n_effective"], rel=1e-9)
    assert found.high - found.low == pytest.approx(alone.high - alone.low, rel=0.01)


def test_one_unit_and_one_label() -> None:
    row = oe_ratio_interval([0.25], [1])
    assert (row.low, row.high, row.estimate) == (0.0, 4.0, 4.0)
    assert row.notes["single_unit"] == "a single row says nothing about variability"
    ward = tu.Forecasts.from_arrays([0.2, 0.3], [0, 1], clusters=["a", "a"])
    assert (oe_ratio_interval(ward).low, oe_ratio_interval(ward).high) == pytest.approx((0.0, 4.0))
    never = oe_ratio_interval(np.full(100, 0.01), np.zeros(100, int))
    assert never.low == never.estimate == 0
    assert never.high == pytest.approx(norm.ppf(0.975) ** 2 / (100 + norm.ppf(0.975) ** 2) / 0.01)


def test_refused() -> None:
    sample = draw_matrix(3, 20, 3, "smooth")
    with pytest.raises(tu.InputError, match="`lens` must yield one score per row"):
        oe_ratio_interval(sample.probs, sample.labels, lens=tu.lens.Pooled())
    with pytest.raises(tu.InputError, match="`lens` is required"):
        oe_ratio_interval(sample.probs, sample.labels)
    with pytest.raises(tu.InputError, match="`confidence_level` must be"):
        oe_ratio_interval([0.2, 0.3], [0, 1], confidence_level=95)
    with pytest.raises(tu.InputError, match="must contain a positive value"):
        oe_ratio_interval([0.0, 0.0], [0, 1])


def test_coverage_of_rare_and_confident_scores() -> None:
    for mean, sd in ((-3.0, 1.0), (0.0, 6.0)):
        covered = 0
        for seed in range(400):
            rng = np.random.default_rng([4, seed])
            p = expit(rng.normal(mean, sd, 200))
            found = oe_ratio_interval(p, rng.random(200) < p)
            covered += found.low <= 1 <= found.high
        assert 0.91 <= covered / 400 <= 0.99
