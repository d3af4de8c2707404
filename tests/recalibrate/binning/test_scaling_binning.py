"""Scaling-binning against Kumar et al. 2019, §4.1, written out step by step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import trueup as tu
from oracles import bins as oracle
from trueup.errors import InputError
from trueup.recalibrate.binning.histogram import HistogramBinning
from trueup.recalibrate.binning.scaling_binning import ScalingBinning
from trueup.recalibrate.identity import IdentityCalibration
from trueup.recalibrate.scaling.beta import BetaCalibration
from trueup.recalibrate.scaling.platt import PlattScaling


def draw(n: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return p, (rng.random(n) < p**2).astype(int)


def literal(scaling, first, second, third, n_bins: int, at):
    """Steps 1 to 3 of §4.1 for data (p, y): curve, bins of equal mass, mean of the curve."""
    curve = scaling.fit(*first)
    values = curve.predict_proba(second[0])[:, 1]
    edges = np.asarray(oracle.equal_mass_edges(values, n_bins), float)
    last = curve.predict_proba(third[0])[:, 1]
    bins = np.searchsorted(edges, last)
    before = np.searchsorted(edges, values)
    mean = [
        last[bins == b].mean() if (bins == b).any() else values[before == b].mean()
        for b in range(len(edges) + 1)
    ]
    return np.array(mean)[np.searchsorted(edges, curve.predict_proba(at)[:, 1])]


@pytest.mark.parametrize(
    "scaling", [PlattScaling(), PlattScaling(loss="squared"), BetaCalibration()]
)
def test_same_rows_for_all_steps(scaling, each_engine: str) -> None:
    p, y = draw(500)
    found = ScalingBinning(scaling=scaling, n_bins=12).fit(p, y)
    expected = literal(scaling, (p, y), (p, y), (p, y), 12, p)
    assert found.predict_proba(p)[:, 1] == pytest.approx(expected, abs=1e-13)
    assert len(found.outputs_) == 12


@pytest.mark.parametrize("n", [3, 10, 500])
def test_three_parts(n: int) -> None:
    p, y = draw(n, seed=1)
    found = ScalingBinning(n_bins=12, split=True, random_state=7).fit(p, y)
    order = np.random.default_rng(7).permutation(n)
    parts = [(p[np.sort(rows)], y[np.sort(rows)]) for rows in np.array_split(order, 3)]
    expected = literal(PlattScaling(), *parts, 12, p)
    assert found.predict_proba(p)[:, 1] == pytest.approx(expected, abs=1e-13)
    again = ScalingBinning(n_bins=12, split=True, random_state=7).fit(p, y)
    assert np.array_equal(found.predict_proba(p), again.predict_proba(p))


def test_platt_by_log_loss_is_the_default() -> None:
    p, y = draw(300)
    default = ScalingBinning().fit(p, y).predict_proba(p)
    assert np.array_equal(
        default, ScalingBinning(scaling=PlattScaling()).fit(p, y).predict_proba(p)
    )


def test_each_class_by_itself_and_logits_like_probabilities() -> None:
    rng = np.random.default_rng(2)
    z = rng.normal(size=(600, 4)) * 2
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    y = (p.cumsum(axis=1) > rng.random((600, 1))).argmax(axis=1)
    found = ScalingBinning(n_bins=6).fit(p, y)
    marginals = found.predict_marginals(p)
    for k in range(4):
        alone = ScalingBinning(n_bins=6).fit(p[:, k], y == k)
        assert np.array_equal(marginals[:, k], alone.predict_proba(p[:, k])[:, 1])
        assert np.isin(marginals[:, k], found.outputs_[k]).all()
    of_logits = ScalingBinning(n_bins=6, logits=True).fit(z, y).predict_marginals(z)
    assert of_logits == pytest.approx(marginals, abs=1e-9)


def test_top_label() -> None:
    rng = np.random.default_rng(3)
    p = rng.dirichlet([0.3] * 5, 400)
    top = p.argmax(axis=1)
    y = np.where(rng.random(400) < 0.25, top, (top + 1) % 5)
    found = ScalingBinning(n_bins=4, lens="top-label").fit(p, y)
    alone = ScalingBinning(n_bins=4).fit(p.max(axis=1), top == y)
    expected = alone.predict_proba(p.max(axis=1))[:, 1]
    assert np.array_equal(found.predict_confidence(p), expected)
    rows = found.predict_proba(p)
    assert np.array_equal(rows[np.arange(400), top], expected)
    assert (rows.argmax(axis=1) != top).any()
    assert np.array_equal(found.predict(p), top)


def test_certify_takes_what_it_can_answer() -> None:
    p, y = draw(30_000, seed=4)
    found = ScalingBinning(n_bins=10).fit(p[:5000], y[:5000])
    answers = found.predict_marginals(p[5000:])[:, 1]
    assert tu.certify(answers, y[5000:], max_error=0.1, outputs=found).verdict == "verified"


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=3, max_size=40),
    st.integers(1, 6),
    st.booleans(),
)
def test_answers_never_fall_as_scores_rise(rows, n_bins: int, split: bool) -> None:
    p, y = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    answers = ScalingBinning(n_bins=n_bins, split=split).fit(p, y)
    grid = answers.predict_proba(np.linspace(0, 1, 101))[:, 1]
    assert np.isfinite(grid).all()
    assert (np.diff(grid) >= 0).all()


def test_any_recalibrator_may_be_the_curve() -> None:
    p, y = draw(400, seed=5)
    inner = HistogramBinning(n_bins=20)
    found = ScalingBinning(scaling=inner, n_bins=3).fit(p, y)
    assert len(found.outputs_) <= 3
    assert not hasattr(inner, "maps_")  # a copy was fitted


def test_notes_of_the_curve_are_passed_on() -> None:
    p = np.array([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.6, 0.3, 0.1], [0.3, 0.6, 0.1]])
    found = ScalingBinning(n_bins=2).fit(p, [0, 1, 0, 1])
    assert any(note.startswith("classes 0, 1: the scores separate") for note in found.notes_)
    assert any(note.startswith("class 2: all outcomes are the same") for note in found.notes_)


def test_refuses() -> None:
    p, y = [0.1, 0.9], [0, 1]
    with pytest.raises(InputError, match="`scaling` must be a recalibrator"):
        ScalingBinning(scaling="platt").fit(p, y)
    with pytest.raises(InputError, match=r"`X` must have at least three rows.*; got 2 rows"):
        ScalingBinning(split=True).fit(p, y)
    with pytest.raises(InputError, match="`random_state` must be a whole number"):
        ScalingBinning(random_state="x").fit(p, y)
    with pytest.raises(InputError, match="`split` must be True or False"):
        ScalingBinning(split=3).fit(p, y)


def test_sums_that_are_rounded_do_not_turn_answers_round() -> None:
    curve = ScalingBinning(scaling=IdentityCalibration(), n_bins=2)
    for score in np.random.default_rng(0).random(20):
        p = np.repeat([score, np.nextafter(score, 1)], 300)
        found = curve.fit(p, np.tile([0, 1], 300), np.random.default_rng(1).random(600))
        below, above = found.predict_proba(p[[0, -1]])[:, 1]
        assert below <= above


@pytest.mark.parametrize("seed", range(150))
def test_weights_are_repeated_rows_where_scores_are_a_last_digit_apart(seed: int) -> None:
    """The last digits of a curve decide which of its values are tied; bins must not hang on it."""
    rng = np.random.default_rng(seed)
    base = rng.random(rng.integers(2, 6))
    p = np.concatenate([base, np.nextafter(base, 1), base, np.nextafter(base, 0)])
    y, w = rng.integers(0, 2, len(p)), rng.integers(1, 5, len(p))
    found = ScalingBinning(n_bins=int(rng.integers(1, 6)))
    weighted = found.fit(p, y, w).predict_proba(p)
    repeated = found.fit(np.repeat(p, w), np.repeat(y, w)).predict_proba(p)
    assert weighted == pytest.approx(repeated, abs=1e-9)
