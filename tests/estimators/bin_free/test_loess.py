"""Loess curves against R, against plain least squares, and against fits at every score."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given

from oracles import clinical as oracle
from support.samples import Sample, binary_samples, draw_binary
from trueup.engines import set_threads, using
from trueup.estimators.bin_free import loess
from trueup.estimators.bin_free.loess import Loess, in_largest_unit, widths
from trueup.estimators.ties import TiedScores
from trueup.lens import Pairs

SPANS = [0.75, 0.3, 1.0, 0.05]

each_engine = pytest.mark.usefixtures("each_engine")


def groups_of(p, y, w=None) -> TiedScores:
    return TiedScores.of(Pairs(np.asarray(p), np.asarray(y), w))


# Ezekiel 1930, as `cars` in R: speed, and the distances taken to stop.
CARS = {
    4: (2, 10), 7: (4, 22), 8: (16,), 9: (10,), 10: (18, 26, 34), 11: (17, 28),
    12: (14, 20, 24, 28), 13: (26, 34, 34, 46), 14: (26, 36, 60, 80), 15: (20, 26, 54),
    16: (32, 40), 17: (32, 40, 50), 18: (42, 56, 76, 84), 19: (36, 46, 68),
    20: (32, 48, 52, 56, 64), 22: (66,), 23: (54,), 24: (70, 92, 93, 120), 25: (85,),
}  # fmt: skip

# What `predict(loess(dist ~ speed, cars))` of R gives at the inner vertices of its own
# interpolation, where it fits directly.
FROM_R = {
    8: 15.281082, 10: 21.865315, 12: 29.350386, 13: 33.230660, 14: 37.167935, 15: 41.205226,
    17: 48.355889, 19: 51.986702, 22: 68.569313,
}  # fmt: skip


@each_engine
def test_the_fits_of_r():
    """50 rows with ties; ⌊0.75 · 50⌋ = 37 of them in a window."""
    speed = np.concatenate([np.full(len(d), s) for s, d in CARS.items()])
    distance = np.concatenate(list(CARS.values()))
    curve = Loess.of(groups_of(speed / 25, distance / 120), 0.75)
    ours = dict(zip((curve.score * 25).round().astype(int), curve.height * 120, strict=True))
    for place, expected in FROM_R.items():
        assert ours[place] == pytest.approx(expected, abs=6e-7)


@each_engine
@given(binary_samples, st.sampled_from(SPANS))
def test_least_squares_at_every_score(sample: Sample, span: float):
    groups = groups_of(sample.probs, sample.labels, sample.weights)
    assume(groups.rank.dtype == np.int64)
    curve = Loess.of(groups, span)
    # As many rows as the weights stand for, each with the mean label of its score.
    times = in_largest_unit(groups.rank)
    p = np.repeat(groups.value, times)
    y = np.repeat(groups.sums.label / groups.sums.weight, times)
    expected = [oracle.loess_at(float(x), p, y, span) for x in groups.value]
    np.testing.assert_allclose(curve.height, expected, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(curve.everywhere, curve.height)


@given(binary_samples, st.sampled_from(SPANS), st.booleans())
def test_windows_reach_to_the_right_row(sample: Sample, span: float, uneven: bool):
    w = sample.weights
    if uneven:
        w = np.random.default_rng(len(sample.labels)).random(len(sample.labels)) + 0.01
    groups = groups_of(sample.probs, sample.labels, w)
    counts = in_largest_unit(groups.rank)
    found = widths(groups, np.arange(len(groups)), span)
    for x, width in zip(groups.value, found, strict=True):
        away = np.abs(groups.value - x)
        order = np.argsort(away, kind="stable")
        rows = np.cumsum(counts[order])
        if counts.dtype == np.int64:
            wanted = max(1, int(np.floor(span * rows[-1] + 1e-5)))
        else:
            wanted = span * rows[-1] * (1 - 1e-12)
        assert width == away[order][np.argmax(rows >= wanted)]


@each_engine
@given(binary_samples, st.sampled_from(SPANS))
def test_repeated_rows_and_scaled_weights_change_nothing(sample: Sample, span: float):
    p, y, n = sample.probs, sample.labels, len(sample.labels)
    once = Loess.of(groups_of(p, y), span).height
    for same in (
        groups_of(np.repeat(p, 3), np.repeat(y, 3)),
        groups_of(p, y, np.full(n, 2.0)),
        groups_of(p, y, np.full(n, 1 / 3)),
    ):
        np.testing.assert_allclose(Loess.of(same, span).height, once, rtol=0, atol=1e-11)


@each_engine
def test_weights_without_a_common_unit():
    """They multiply the tricube weights, and windows hold a share of the weight."""
    rng = np.random.default_rng(3)
    p, y, w = rng.random(40), rng.integers(0, 2, 40), rng.random(40) + 0.1
    groups = groups_of(p, y, w)
    assert groups.rank.dtype == np.float64
    curve = Loess.of(groups, 0.75)
    width = widths(groups, np.arange(40), 0.75)
    for x, h, height in zip(groups.value, width, curve.height, strict=True):
        inside = np.abs(p - x) <= h
        assert w[inside].sum() >= 0.75 * w.sum() * (1 - 1e-9)
        root = np.sqrt(w * np.where(inside, 1 - np.minimum(np.abs(p - x) / h, 1) ** 3, 0) ** 3)
        design = np.stack([root, root * (p - x), root * (p - x) ** 2], axis=1)
        assert np.linalg.lstsq(design, root * y, rcond=None)[0][0] == pytest.approx(
            height, abs=1e-10
        )


@each_engine
def test_too_few_different_scores_for_a_parabola():
    one = Loess.of(groups_of([0.3, 0.3, 0.3], [0, 1, 1]), 0.75)
    assert one.height.tolist() == pytest.approx([2 / 3])
    two = Loess.of(groups_of([0.3, 0.3, 0.6, 0.6], [0, 1, 1, 1]), 0.75)
    assert two.height.tolist() == pytest.approx([0.5, 1.0])
    three = Loess.of(groups_of([0.2, 0.3, 0.6], [0, 1, 0]), 1.0)
    assert three.height.tolist() == pytest.approx([0, 1, 0])
    assert Loess.of(groups_of([0.0], [1]), 0.75).height.tolist() == [1.0]


@each_engine
def test_most_rows_at_one_score():
    """A window without width holds that score alone: the mean of its labels."""
    p = np.r_[np.zeros(80), np.linspace(0.1, 1, 20)]
    y = np.r_[np.arange(80) < 8, np.arange(20) > 10].astype(int)
    curve = Loess.of(groups_of(p, y), 0.75)
    assert curve.height[0] == pytest.approx(0.1, abs=1e-15)
    assert np.isfinite(curve.height).all()


@each_engine
@pytest.mark.parametrize("low", [-40, -740])
def test_scores_many_powers_of_ten_apart(low: float):
    rng = np.random.default_rng(0)
    p = np.exp(rng.uniform(low, 0, 3_000))
    curve = Loess.of(groups_of(p, rng.random(3_000) < p), 0.75)
    assert np.isfinite(curve.everywhere).all()
    assert -0.5 < curve.everywhere.min() <= curve.everywhere.max() < 1.5


SHAPES = {
    "uniform": (lambda rng, n: rng.random(n), 1e-4),
    "clinical": (lambda rng, n: rng.beta(1.2, 6, n), 4e-4),
    "sharp": (lambda rng, n: rng.beta(0.1, 0.1, n), 4e-4),
    "network": (lambda rng, n: 1 - np.exp(rng.normal(-6, 3, n).clip(-30, -0.01)), 4e-4),
    "crowded": (lambda rng, n: rng.random(n) * np.where(rng.random(n) < 0.95, 0.01, 1), 4e-4),
    "mostly 0": (lambda rng, n: np.where(rng.random(n) < 0.8, 0, rng.random(n)), 3e-3),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [4_000, 20_000])
def test_lines_between_some_fits_are_close_to_fits_everywhere(
    shape: str, n: int, monkeypatch: pytest.MonkeyPatch
):
    draw, most = SHAPES[shape]
    rng = np.random.default_rng(n)
    p = draw(rng, n)
    groups = groups_of(p, rng.random(n) < 0.1 + 0.7 * p)
    some = Loess.of(groups, 0.75)
    monkeypatch.setattr(loess, "DIRECT", 10**9)
    every = Loess.of(groups, 0.75)
    assert len(every.score) == len(groups)
    away = np.abs(some.everywhere - every.height)
    assert away.max() < most
    assert np.average(away, weights=groups.sums.weight) < 5e-6
    fitted = np.isin(groups.value, some.score)
    np.testing.assert_allclose(some.everywhere[fitted], every.height[fitted], rtol=0, atol=1e-13)
    if len(groups) > 2048:
        assert len(some.score) < 1_000


def test_engines_agree():
    for kind in ("smooth", "certain", "near_one", "edges"):
        sample = draw_binary(2, 3_000, kind, "eighths")
        groups = groups_of(sample.probs, sample.labels, sample.weights)
        native = Loess.of(groups, 0.75)
        with using("reference"):
            reference = Loess.of(groups, 0.75)
        np.testing.assert_array_equal(native.score, reference.score)
        np.testing.assert_allclose(native.everywhere, reference.everywhere, rtol=0, atol=1e-12)


def test_threads_change_nothing():
    sample = draw_binary(7, 30_000, "smooth")
    groups = groups_of(sample.probs, sample.labels)
    heights = []
    for threads in (1, 2, 3):
        set_threads(threads)
        try:
            heights.append(Loess.of(groups, 0.75).everywhere.tobytes())
        finally:
            set_threads(None)
    assert heights[0] == heights[1] == heights[2]
