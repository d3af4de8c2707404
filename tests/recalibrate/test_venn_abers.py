"""Venn-Abers prediction against its definition: the isotonic fit with the new row in it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.isotonic import IsotonicRegression

from support.samples import KINDS, Sample, binary_samples, draw_binary, matrix_samples
from trueup.engines import reference
from trueup.engines.select import engine
from trueup.errors import InputError
from trueup.recalibrate.venn_abers import VennAbers


def isotonic_at(p: list[float], y: list[int], w: list[Fraction], at: float) -> Fraction:
    """The isotonic fit at a score, as the largest over starts of the least over ends of means."""
    value = sorted(set(p))
    mass, hits = [Fraction(0)], [Fraction(0)]
    for score in value:
        rows = [i for i in range(len(p)) if p[i] == score]
        mass.append(mass[-1] + sum(w[i] for i in rows))
        hits.append(hits[-1] + sum(w[i] * y[i] for i in rows))
    here = value.index(at)

    def mean(first: int, last: int) -> Fraction:
        return (hits[last] - hits[first]) / (mass[last] - mass[first])

    ends = range(here + 1, len(value) + 1)
    return max(min(mean(first, last) for last in ends) for first in range(here + 1))


def by_definition(sample: Sample, at: float) -> tuple[Fraction, Fraction]:
    p, y = sample.probs.tolist(), sample.labels.tolist()
    w = [Fraction(1)] * len(p) if sample.weights is None else list(map(Fraction, sample.weights))
    w.append(Fraction(1))
    low, high = (isotonic_at([*p, at], [*y, label], w, at) for label in (0, 1))
    return low, high


few_rows = st.builds(
    draw_binary,
    st.integers(0, 10**6),
    st.integers(1, 14),
    st.sampled_from(KINDS),
    st.sampled_from(["none", "whole"]),
)


@given(few_rows, st.floats(0, 1))
def test_both_ends_are_exactly_those_of_the_definition(sample: Sample, between: float):
    new = [0.0, 1.0, between, *sample.probs[:4].tolist()]
    model = VennAbers().fit(sample.probs, sample.labels, sample.weights)
    found = model.predict_interval(new)
    for score, ends in zip(new, found.tolist(), strict=True):
        assert ends == [float(end) for end in by_definition(sample, score)]


@given(
    st.builds(
        draw_binary,
        st.integers(0, 10**6),
        st.integers(1, 14),
        st.sampled_from(KINDS),
        st.just("eighths"),
    )
)
def test_weights_that_are_not_whole(sample: Sample):
    new = [0.0, 1.0, 0.37, *sample.probs[:4].tolist()]
    model = VennAbers().fit(sample.probs, sample.labels, sample.weights)
    want = [[float(end) for end in by_definition(sample, score)] for score in new]
    np.testing.assert_allclose(model.predict_interval(new), want, rtol=0, atol=1e-13)


@pytest.mark.usefixtures("each_engine")
def test_many_rows_are_those_of_scikit_learn():
    rng = np.random.default_rng(8)
    p = np.round(rng.random(1500), 3)
    y = (rng.random(1500) < p**2).astype(int)
    new = np.concatenate([rng.random(20), rng.choice(p, 20)])
    found = VennAbers().fit(p, y).predict_interval(new)
    for score, ends in zip(new, found, strict=True):
        for label in (0, 1):
            fit = IsotonicRegression().fit(np.append(p, score), np.append(y, label))
            assert abs(ends[label] - fit.predict([score])[0]) < 1e-12


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 6)), min_size=1, max_size=40))
def test_the_engines_agree_on_the_block_of_an_added_row(items: list[tuple[int, int]]):
    weight = np.array([w for w, _ in items])
    label = np.minimum(weight, [y for _, y in items])
    want = reference.isotonic.pool_added(weight, label)
    for found in (
        engine.isotonic.pool_added(weight, label),
        engine.isotonic.pool_added(weight * 1.0, label),
    ):
        np.testing.assert_array_equal(want, found)
    # Totals whose products do not fit into 63 bits.
    large = engine.isotonic.pool_added(weight * 2**32, label * 2**32)
    np.testing.assert_allclose(large[1] / large[0], reference_means(weight, label), atol=1e-8)


def reference_means(weight: np.ndarray, label: np.ndarray) -> np.ndarray:
    """The isotonic fit itself, which an added row cannot move if all others weigh far more."""
    fit = IsotonicRegression().fit(np.arange(len(weight)), label / weight, weight)
    return fit.predict(np.arange(len(weight)))


@pytest.mark.parametrize("loss", ["log", "squared"])
@given(binary_samples)
def test_points_lie_between_the_ends_and_rise_with_the_score(loss: str, sample: Sample):
    model = VennAbers(loss=loss).fit(sample.probs, sample.labels, sample.weights)
    new = np.sort(np.concatenate([sample.probs, np.nextafter(sample.probs, 0), [0.0, 1.0]]))
    low, high = model.predict_interval(new).T
    point = model.predict_proba(new)[:, 1]
    want = {"log": high / (1 - low + high), "squared": high + low**2 / 2 - high**2 / 2}[loss]
    np.testing.assert_allclose(point, want, rtol=0, atol=1e-15)
    assert np.all(low <= high + 1e-15)
    assert np.all((low - 1e-15 <= point) & (point <= high + 1e-15))
    for values in (low, high, point):
        assert np.all(np.diff(values) >= 0)
    assert point[0] > 0
    assert point[-1] < 1


@given(matrix_samples)
def test_classes_have_intervals_of_their_own(sample: Sample):
    model = VennAbers().fit(sample.probs, sample.labels, sample.weights)
    n, k = sample.probs.shape
    intervals, probs = model.predict_interval(sample.probs), model.predict_proba(sample.probs)
    assert intervals.shape == ((n, 2) if k == 2 else (n, k, 2))
    if k > 2:
        for number in range(k):
            column, hits = sample.probs[:, number], sample.labels == number
            alone = VennAbers().fit(column, hits, sample.weights).predict_interval(column)
            np.testing.assert_array_equal(intervals[:, number], alone)
        points = intervals[..., 1] / (1 - intervals[..., 0] + intervals[..., 1])
        want = points / points.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(probs, want, rtol=0, atol=1e-14)
    assert np.all((probs > 0) & (probs < 1))


def test_the_end_of_the_true_label_is_calibrated_with_few_rows():
    rng = np.random.default_rng(21)
    gaps = []
    for _ in range(400):
        p = rng.random(9)
        y = rng.random(9) < p**2
        ends = VennAbers().fit(p[:8], y[:8].astype(int)).predict_interval(p[8:])[0]
        gaps.append(y[8] - ends[int(y[8])])
    assert abs(np.mean(gaps)) < 3.5 * np.std(gaps) / np.sqrt(len(gaps))


def test_steps_are_kept_in_short():
    rng = np.random.default_rng(2)
    p = rng.random(20_000)
    learned = VennAbers().fit(p, rng.random(20_000) < p).maps_[0]
    assert len(learned["low"]) == len(learned["low_from"]) + 1 < 2000
    assert len(learned["high"]) == len(learned["high_to"]) + 1 < 2000


def test_a_log_loss_that_rises_is_told():
    model = VennAbers().fit([0.01, 0.99], [0, 1])
    assert model.fit_["log_loss_after"] > model.fit_["log_loss_before"]
    assert "log loss on the fit data increased from 0.01005 to" in model.notes_[0]
    assert VennAbers().fit([0.01, 0.99], [1, 0]).notes_ == []


def test_a_bad_loss_is_one_sentence():
    with pytest.raises(InputError, match='`loss` must be "log" or "squared"; got 1'):
        VennAbers(loss=1).fit([0.1, 0.2], [0, 1])


def test_an_end_that_is_nearly_0():
    """Only a file can hold it; the ratio overflows, and the point must be 0 without a warning."""
    model = VennAbers().fit([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1])
    model.maps_[0]["high"] = np.full_like(model.maps_[0]["high"], 5e-324)
    model.maps_[0]["low"] = np.zeros_like(model.maps_[0]["low"])
    assert model.predict_proba([0.1, 0.9])[:, 1].tolist() == [0, 0]
