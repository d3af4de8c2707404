"""A recalibrator class by class, and for the predicted class alone, against loops over rows."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from support.samples import matrix_samples
from trueup import InputError
from trueup.metrics import log_loss
from trueup.recalibrate.binning.histogram import HistogramBinning
from trueup.recalibrate.compose.wrappers import OneVsRestCalibration, TopLabelCalibration
from trueup.recalibrate.identity import IdentityCalibration
from trueup.recalibrate.scaling.beta import BetaCalibration
from trueup.recalibrate.scaling.platt import PlattScaling

INNER = (PlattScaling, BetaCalibration, HistogramBinning, IdentityCalibration)


def draw(n: int = 400, k: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Overconfident rows, their logits, and labels."""
    rng = np.random.default_rng(seed)
    logits = 3 * rng.normal(size=(n, k))
    truth = np.exp(logits / 2)
    truth /= truth.sum(axis=1, keepdims=True)
    labels = (truth.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    probs = np.exp(logits)
    return probs / probs.sum(axis=1, keepdims=True), logits, labels


def test_per_class_is_a_binary_fit_for_each_class() -> None:
    probs, _, labels = draw()
    found = OneVsRestCalibration(BetaCalibration()).fit(probs, labels)
    marginals = np.column_stack(
        [
            BetaCalibration().fit(probs[:, k], labels == k).predict_proba(probs[:, k])[:, 1]
            for k in range(4)
        ]
    )
    np.testing.assert_allclose(found.predict_marginals(probs), marginals, rtol=0, atol=1e-15)
    rows = marginals / marginals.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.predict_proba(probs), rows, rtol=0, atol=1e-14)
    assert found.fit_["log_loss_after"] < found.fit_["log_loss_before"]


def test_per_class_of_logits_gives_each_copy_log_odds() -> None:
    probs, logits, labels = draw()
    of_logits = OneVsRestCalibration(PlattScaling(), logits=True).fit(logits, labels)
    of_probs = OneVsRestCalibration(PlattScaling()).fit(probs, labels)
    np.testing.assert_allclose(
        of_logits.predict_proba(logits), of_probs.predict_proba(probs), atol=1e-7
    )
    assert of_logits.maps_[0]["recalibrator"].logits


def test_per_class_keeps_rows_that_it_would_make_worse() -> None:
    class Swaps(IdentityCalibration):
        """Says the opposite."""

        def _probs_of(self, scores: object) -> np.ndarray:
            return super()._probs_of(scores)[:, ::-1]  # type: ignore[arg-type]

    probs, logits, labels = draw()
    found = OneVsRestCalibration(Swaps()).fit(probs, labels)
    np.testing.assert_allclose(found.predict_proba(probs), probs, atol=1e-15)
    assert "kept" in found.notes_[0]
    found = OneVsRestCalibration(Swaps(), logits=True).fit(logits, labels)
    np.testing.assert_allclose(found.predict_proba(logits), probs, atol=1e-14)


def test_top_label_only_against_a_loop_over_rows() -> None:
    probs, _, labels = draw()
    found = TopLabelCalibration(PlattScaling()).fit(probs, labels)
    top = probs.argmax(axis=1)
    right = top == labels
    binary = PlattScaling().fit(probs.max(axis=1), right)
    answers = found.predict_proba(probs)
    for row, t, answer in zip(probs, top, answers, strict=True):
        new = binary.predict_proba([row[t]])[0, 1]
        expected = row * (1 - new) / (1 - row[t])
        expected[t] = new
        np.testing.assert_allclose(answer, expected, rtol=1e-12, atol=1e-15)
    assert (found.predict(probs) == top).all()


def test_top_label_only_keeps_the_class_where_rescaling_moved_the_largest() -> None:
    probs = np.tile([[0.5, 0.45, 0.05]], (50, 1))
    labels = np.repeat([0, 1], [5, 45])
    found = TopLabelCalibration(PlattScaling()).fit(probs, labels)
    assert found.predict_proba(probs[:1])[0].argmax() == 1
    assert found.predict(probs[:1])[0] == 0


def test_log_loss_changes_by_that_of_the_binary_problem() -> None:
    probs, _, labels = draw()
    found = TopLabelCalibration(BetaCalibration()).fit(probs, labels)
    top, right = probs.max(axis=1), probs.argmax(axis=1) == labels
    new = found.predict_proba(probs)
    binary = log_loss(found.recalibrator_.predict_proba(top)[:, 1], right) - log_loss(top, right)
    assert log_loss(new, labels) - log_loss(probs, labels) == pytest.approx(binary, abs=1e-12)


@given(
    sample=matrix_samples,
    wrapper=st.sampled_from([OneVsRestCalibration, TopLabelCalibration]),
    inner=st.sampled_from(INNER),
)
def test_rows_are_probabilities_and_log_loss_does_not_rise(sample, wrapper, inner) -> None:
    found = wrapper(inner()).fit(sample.probs, sample.labels, sample.weights)
    rows = found.predict_proba(sample.probs)
    assert np.isfinite(rows).all()
    assert (rows >= 0).all()
    assert (rows <= 1).all()
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-12)
    before, after = found.fit_["log_loss_before"], found.fit_["log_loss_after"]
    assert after <= before + 1e-9 * (1 + before)


@pytest.mark.parametrize("wrapper", [OneVsRestCalibration, TopLabelCalibration])
def test_two_classes_in_three_shapes_agree(wrapper) -> None:
    rng = np.random.default_rng(1)
    p = rng.random(200)
    labels = (rng.random(200) < p**2).astype(int)
    shapes = [p, p[:, None], np.column_stack([1 - p, p])]
    answers = [wrapper(PlattScaling()).fit(x, labels).predict_proba(x) for x in shapes]
    np.testing.assert_allclose(answers[1], answers[0], atol=1e-12)
    np.testing.assert_allclose(answers[2], answers[0], atol=1e-7)


@pytest.mark.parametrize("wrapper", [OneVsRestCalibration, TopLabelCalibration])
def test_saturated_scores_and_missing_classes(wrapper) -> None:
    logits = np.array([[1000.0, -1000.0, 0.0], [-1000.0, 1000.0, 0.0], [0.0, 0.0, 0.0]] * 5)
    found = wrapper(PlattScaling(), logits=True).fit(logits, [0, 1, 0] * 5)
    rows = found.predict_proba(logits)
    assert np.isfinite(rows).all()
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("wrapper", [OneVsRestCalibration, TopLabelCalibration])
def test_what_is_refused(wrapper) -> None:
    probs, _, labels = draw(20)
    with pytest.raises(InputError, match="`recalibrator` must be a recalibrator, such as"):
        wrapper("platt").fit(probs, labels)
    with pytest.raises(InputError, match=f"Set `logits` on {wrapper.__name__}"):
        wrapper(PlattScaling(logits=True)).fit(probs, labels)
    with pytest.raises(InputError, match="Set `classes` on"):
        wrapper(PlattScaling(classes=[0, 1, 2, 3])).fit(probs, labels)


def test_notes_name_the_class() -> None:
    probs, _, labels = draw(60)
    names = np.array(["ant", "bee", "cat", "dog"])
    found = OneVsRestCalibration(PlattScaling(), classes=names).fit(
        probs, names[np.minimum(labels, 2)]
    )
    assert any(note.startswith("class dog: ") for note in found.notes_)
    assert set(found.predict(probs)) <= set(names)
