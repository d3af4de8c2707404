"""The kernel density error against its oracle, and where its bandwidth rule finds no spread."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import trueup as tu
from oracles import density as oracle
from support.samples import KINDS, Sample, binary_samples, draw_binary, matrix_samples
from trueup.engines import set_threads, using
from trueup.errors import InputError
from trueup.estimators.bin_free.density import NARROWEST, DensityError

few = settings(max_examples=max(10, settings.default.max_examples // 4))  # oracles are slow
norms = st.sampled_from([1, 2, 3.5])
widths = st.sampled_from([None, None, 0.4, 0.05, 0.01, 0.001, 1e-9])
seeds = st.integers(0, 10**6)
kinds = st.sampled_from(KINDS)


def promised(width: float) -> float:
    """The accuracy that the docstring states."""
    steps = ((0.01, 1e-10), (0.001, 1e-6), (NARROWEST, 2e-5))
    return next((error for least, error in steps if width >= least), 1e-14)


def measure(sample: Sample, **specification):
    estimator = DensityError(**specification)
    return estimator.measure(sample.probs, sample.labels, weights=sample.weights)


@pytest.mark.usefixtures("each_engine")
@few
@given(binary_samples, norms, widths)
def test_oracle(sample: Sample, norm: float, bandwidth: float | None) -> None:
    found = measure(sample, norm=norm, bandwidth=bandwidth)
    p, y, w = sample.probs, sample.labels, sample.weights
    width = oracle.kde_bandwidth(p, y, w) if bandwidth is None else bandwidth
    expected_width = max(width, NARROWEST) if width > 0 else 0.0
    assert found.notes["bandwidth"] == pytest.approx(expected_width, rel=1e-10)
    expected = oracle.ece_kde(p, y, norm, w, bandwidth)
    assert found.value == pytest.approx(expected, abs=promised(expected_width))
    assert found.value == pytest.approx(found.pth_power ** (1 / norm), rel=1e-14)


@few
@given(binary_samples, st.sampled_from([0.4, 0.05, 0.01]))
def test_worst_gap(sample: Sample, width: float) -> None:
    x = np.arange(16385) / 16384
    f, g = np.zeros(16385), np.zeros(16385)
    w = np.ones(len(sample.probs)) if sample.weights is None else sample.weights
    for p, y, weight in zip(sample.probs, sample.labels, w, strict=True):
        bump = weight * oracle.folded_triweight(x, float(p), width)
        f += bump
        g += y * bump
    gap = np.abs(x - g / np.where(f > 0, f, 1))
    found = measure(sample, norm=math.inf, bandwidth=width).value
    # which point is the first above a millionth of the peak may differ by one
    surely = gap[f > 1.5e-6 * f.max()].max()
    perhaps = gap[f > 0.5e-6 * f.max()].max()
    assert surely - 1e-4 <= found <= perhaps + 1e-4


@pytest.mark.usefixtures("each_engine")
@given(st.floats(0, 1), st.integers(0, 6), st.integers(1, 6), st.sampled_from([1, 2, math.inf]))
def test_one_score(score: float, positive: int, negative: int, norm: float) -> None:
    labels = [1] * positive + [0] * negative
    found = DensityError(norm=norm).measure([score] * len(labels), labels)
    gap = abs(score - positive / len(labels))
    assert found.value == pytest.approx(gap, abs=1e-15)
    assert found.notes == {"bandwidth": 0.0}
    assert found.table["mean_label"].tolist() == [pytest.approx(positive / len(labels))]
    assert DensityError(norm=norm)([0.75] * 4, [1, 1, 0, 1]) == 0


@pytest.mark.parametrize("labels", [[0, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 1]])
def test_positives_without_a_spread_leave_it_to_all_scores(labels: list[int]) -> None:
    p = np.array([0.1, 0.7, 0.4, 0.7])
    found = DensityError().measure(p, labels)
    assert found.notes["bandwidth"] == pytest.approx(p.std() * 8**-0.2, rel=1e-14)


@pytest.mark.usefixtures("each_engine")
def test_scores_next_to_one() -> None:
    """A spread of 1e-12 is neither lost nor taken for none: the narrowest kernel is used."""
    p = 1 - np.arange(5) * 1e-12
    found = DensityError().measure(p, [1, 1, 0, 1, 1])
    assert found.notes["bandwidth"] == NARROWEST
    assert found.value == pytest.approx(0.2, abs=3 * NARROWEST)
    spread_out = 1 - np.arange(5) * 1e-3
    expected = (np.arange(5) * 1e-3).std() * 10**-0.2
    found = DensityError().measure(spread_out, np.ones(5, int))
    assert found.notes["bandwidth"] == pytest.approx(expected, rel=1e-12)


def test_soft_labels_share_rows_out() -> None:
    rng = np.random.default_rng(2)
    p, y, w = rng.random(30), rng.random(30), rng.random(30)
    found = DensityError().measure(tu.Forecasts.from_arrays(p, y, weights=w, soft_labels=True))
    assert found.value == pytest.approx(oracle.ece_kde(p, y, 1, w), abs=1e-10)
    split = DensityError(bandwidth=found.notes["bandwidth"]).measure(
        np.repeat(p, 2),
        np.tile([1, 0], 30),
        weights=(np.column_stack([y, 1 - y]) * w[:, None]).ravel(),
    )
    assert split.value == pytest.approx(found.value, abs=1e-12)


def test_not_zero_at_the_truth() -> None:
    """Ten rows of each score k/10, k of them positive."""
    probs = np.repeat(np.arange(11) / 10, 10)
    labels = np.concatenate([np.arange(10) < k for k in range(11)])
    assert 0.005 < DensityError()(probs, labels) < 0.01


@few
@given(seed=seeds, kind=kinds)
def test_engines_agree_and_doubled_weights_change_nothing(seed: int, kind: str) -> None:
    sample = draw_binary(seed, 60, kind)
    once = measure(sample).value
    with using("reference"):
        assert measure(sample).value == pytest.approx(once, abs=1e-12)
    doubled = Sample(sample.probs, sample.labels, np.full(60, 2.0))
    assert measure(doubled).value == pytest.approx(once, abs=1e-12)


def test_any_number_of_threads_gives_the_same_bits() -> None:
    sample = draw_binary(1, 300_000, "smooth")
    found = []
    for threads in (1, 2, 3):
        set_threads(threads)
        try:
            found.append(measure(sample).value)
        finally:
            set_threads(None)
    assert found[0] == found[1] == found[2]


@few
@given(binary_samples, st.sampled_from([0.02, 0.001]))
def test_the_curve(sample: Sample, width: float) -> None:
    table = measure(sample, bandwidth=width).table
    assert list(table.columns()) == ["score", "density", "mean_label"]
    assert len(table) == (257 if width == 0.02 else 1025)
    assert (table["score"][0], table["score"][-1]) == (0, 1)
    assert table["density"].min() >= 0
    known = np.isfinite(table["mean_label"])
    assert np.all((table["mean_label"][known] >= 0) & (table["mean_label"][known] <= 1))
    w = np.ones(len(sample.probs)) if sample.weights is None else sample.weights
    expected = sum(
        weight * oracle.folded_triweight(table["score"], float(p), width)
        for p, weight in zip(sample.probs, w, strict=True)
    ) / sum(w)
    np.testing.assert_allclose(table["density"], expected, atol=1e-4 / width)


@few
@given(matrix_samples, st.sampled_from([1, 2, math.inf]))
def test_class_wise(sample: Sample, norm: float) -> None:
    args, k = (sample.probs, sample.labels), sample.probs.shape[1]
    each = [DensityError(tu.lens.OneVsRest(c), norm).measure(*args).pth_power for c in range(k)]
    found = DensityError(tu.lens.ClassWise(), norm).measure(*args)
    expected = max(each) if math.isinf(norm) else np.mean(each) ** (1 / norm)
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert len(found.notes["bandwidth"]) == k


@pytest.mark.parametrize("bandwidth", [0, -0.1, 1.5, math.nan, math.inf, "auto", True])
def test_refused_bandwidths(bandwidth: object) -> None:
    with pytest.raises(InputError, match="`bandwidth` must be a number above 0 and at most 1"):
        DensityError(bandwidth=bandwidth)  # type: ignore[arg-type]


def test_refused_norms() -> None:
    with pytest.raises(InputError, match="`norm` must be"):
        DensityError(norm=0.5)
