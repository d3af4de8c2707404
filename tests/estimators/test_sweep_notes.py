"""A sweep that stops at one bin says that it did, and why."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import trueup as tu
from support.samples import Sample, binary_samples

WORDS = "mean labels of 2 bins already decrease"


@pytest.mark.parametrize("binning", ["equal-mass", "equal-width"])
def test_a_decreasing_curve(binning: str) -> None:
    """The true error is large, and one bin hides nearly all of it."""
    rng = np.random.default_rng(0)
    p = rng.random(2_000)
    y = rng.random(2_000) < 1 - p
    found = tu.SweepError(norm=2, binning=binning).measure(p, y)
    assert found.value < 0.05 < 0.5 < np.sqrt(np.mean((2 * p - 1) ** 2))
    assert found.notes["n_bins"] == 1
    assert WORDS in found.notes["stopped"]
    assert WORDS in tu.interval(tu.rmsce_sweep, p, y).notes["stopped"]


@given(binary_samples, st.sampled_from(["equal-mass", "equal-width"]))
def test_it_is_noted_exactly_where_two_bins_decrease(sample: Sample, binning: str) -> None:
    found = tu.SweepError(binning=binning).measure(
        sample.probs, sample.labels, weights=sample.weights
    )
    stopped = found.notes["chosen"] == 1 and len(sample.probs) > 1
    assert ("stopped" in found.notes) == stopped
    if stopped:
        low, high = sample.probs.min(), sample.probs.max()
        assert low < high
        assert 0 < sample.labels.mean() < 1


def test_each_class_has_its_own_note() -> None:
    rng = np.random.default_rng(1)
    g = rng.dirichlet(np.ones(3), 900)
    turned = g[:, [1, 0, 2]]
    y = (rng.random(900)[:, None] > np.cumsum(turned, axis=1)).sum(axis=1)
    found = tu.SweepError(tu.lens.ClassWise()).measure(g, y).notes
    assert [each is not None for each in found["stopped"]] == [n == 1 for n in found["chosen"]]
    assert found["stopped"][2] is None
    assert found["stopped"][0] is not None
