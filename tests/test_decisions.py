"""Rewards with an "unsure" action, and accuracy against coverage."""

from __future__ import annotations

from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import trueup as tu
from support.samples import binary_samples, draw_matrix
from trueup.decisions import RATIOS, abstention_rewards, accuracy_coverage_curve, compare_rewards


def cost_of(confidence, right, ratio, weights) -> float:
    """Row by row: a wrong answer costs the ratio, no answer 1."""
    total = 0.0
    for c, r, w in zip(confidence, right, weights, strict=True):
        if c < 1 - 1 / ratio:
            total += w
        elif not r:
            total += w * ratio
    return total


@given(binary_samples, st.sampled_from([1.01, 2, 4, 10, 1000]))
def test_rewards_against_a_loop(sample, ratio) -> None:
    p, y, w = sample.probs, sample.labels, sample.weights
    weights = np.ones(len(p)) if w is None else w
    table = abstention_rewards(p, y, ratios=[ratio], lens=tu.lens.Binary(), weights=w)
    expected = -cost_of(p, y, ratio, weights)
    assert table["reward"][0] == pytest.approx(expected, abs=1e-9)
    assert table["mean_reward"][0] == pytest.approx(expected / weights.sum(), abs=1e-9)
    top = abstention_rewards(p, y, ratios=[ratio], weights=w)
    predicted = p > 0.5
    wanted = -cost_of(np.maximum(p, 1 - p), predicted == y, ratio, weights)
    assert top["reward"][0] == pytest.approx(wanted, abs=1e-9)
    assert top["reward"][0] <= top["perfect"][0] * weights.sum() + 1e-9


@pytest.mark.parametrize("ratio", [*range(2, 101), 1.25, 1.5, 2.5])
def test_a_confidence_at_the_threshold_answers(ratio) -> None:
    share = 1 - 1 / Fraction(ratio)
    confidence = share.numerator / share.denominator  # as 2 of 3, for a ratio of 3
    table = abstention_rewards([confidence] * 2, [1, 0], ratios=[ratio], lens=tu.lens.Binary())
    assert table["answered"][0] == 1
    assert table["reward"][0] == -ratio


def test_a_matrix_and_its_confidences() -> None:
    sample = draw_matrix(0, 500, 4, "smooth")
    probs, labels = sample.probs, sample.labels
    one = abstention_rewards(probs, labels)
    other = abstention_rewards(
        probs.max(axis=1), probs.argmax(axis=1) == labels, lens=tu.lens.Binary()
    )
    for name in one:
        np.testing.assert_allclose(one[name], other[name])
    assert one["ratio"].tolist() == list(RATIOS)
    assert (np.diff(one["answered"]) <= 0).all()
    np.testing.assert_allclose(one["threshold"], 1 - 1 / one["ratio"])


def test_calibrated_confidences_keep_their_promise_and_others_do_not() -> None:
    rng = np.random.default_rng(0)
    p = rng.uniform(0.5, 1, 200_000)
    right = rng.random(200_000) < p
    ratios = [3, 10, 50]
    honest = abstention_rewards(p, right, ratios=ratios, lens=tu.lens.Binary())
    np.testing.assert_allclose(honest["mean_reward"], honest["promised"], atol=0.02)
    boastful = abstention_rewards(1 - (1 - p) ** 2, right, ratios=ratios, lens=tu.lens.Binary())
    assert (boastful["mean_reward"] < honest["mean_reward"]).all()
    assert (boastful["mean_reward"] < boastful["promised"] - 0.02).all()
    models = {"honest": p, "boastful": 1 - (1 - p) ** 2}
    gain = compare_rewards(models, right, ratios=ratios, baseline="boastful", lens=tu.lens.Binary())
    assert (gain["honest"] > 0).all()
    assert (gain["boastful"] == 0).all()
    pairs = {name: (each, right) for name, each in models.items()}
    plain = compare_rewards(pairs, ratios=ratios, lens=tu.lens.Binary())
    np.testing.assert_allclose(plain["honest"], honest["reward"])


@given(binary_samples)
def test_coverage_against_a_loop(sample) -> None:
    p, y, w = sample.probs, sample.labels, sample.weights
    weights = np.ones(len(p)) if w is None else w
    table = accuracy_coverage_curve(p, y, lens=tu.lens.Binary(), weights=w)
    assert table["threshold"].tolist() == sorted(set(p.tolist()), reverse=True)
    for row, threshold in enumerate(table["threshold"]):
        answered = p >= threshold
        assert table["coverage"][row] == pytest.approx(weights[answered].sum() / weights.sum())
        share = np.average(y[answered], weights=weights[answered])
        assert table["accuracy"][row] == pytest.approx(share, abs=1e-12)
        assert table["risk"][row] == pytest.approx(1 - share, abs=1e-12)
    assert table["coverage"][-1] == 1


def test_coverage_depends_on_the_order_alone() -> None:
    sample = draw_matrix(1, 300, 3, "smooth")
    probs, labels = sample.probs, sample.labels
    one = accuracy_coverage_curve(
        probs.max(axis=1), probs.argmax(axis=1) == labels, lens=tu.lens.Binary()
    )
    two = accuracy_coverage_curve(
        probs.max(axis=1) ** 3, probs.argmax(axis=1) == labels, lens=tu.lens.Binary()
    )
    assert np.array_equal(one["accuracy"], two["accuracy"])
    assert np.array_equal(one["accuracy"], accuracy_coverage_curve(probs, labels)["accuracy"])


def test_soft_labels_and_forecasts() -> None:
    soft = tu.Forecasts.from_arrays([0.9, 0.6], [0.75, 0.5], soft_labels=True)
    table = abstention_rewards(soft, ratios=[4])
    assert table["reward"][0] == pytest.approx(-(4 * 0.25 + 1))
    assert accuracy_coverage_curve(soft)["accuracy"].tolist() == pytest.approx([0.75, 0.625])


def test_refusals() -> None:
    for ratios in ([1], [0.5], [], [np.inf], [[2.0]], [np.nan]):
        with pytest.raises(tu.InputError, match="`ratios` must be finite numbers above 1"):
            abstention_rewards([0.5], [1], ratios=ratios)
    with pytest.raises(tu.InputError, match="one confidence per row"):
        abstention_rewards([0.5], [1], lens=tu.lens.ClassWise())
    with pytest.raises(tu.InputError, match="one of 'a'"):
        compare_rewards({"a": [0.5]}, [1], baseline="b")
    with pytest.raises(tu.InputError, match="reserved name of a column"):
        compare_rewards({"ratio": [0.5]}, [1])
    with pytest.raises(tu.InputError, match="a dictionary of probabilities"):
        compare_rewards({}, [1])


def test_one_ratio_needs_no_list() -> None:
    one, listed = (abstention_rewards([0.9, 0.4], [1, 1], ratios=r) for r in (4, [4]))
    assert one.to_dict() == listed.to_dict()
