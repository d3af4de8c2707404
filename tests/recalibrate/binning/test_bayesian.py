"""Bayesian binning against the formula of the paper, one model after the other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from support.samples import Sample, binary_samples, matrix_samples
from trueup.bins import EqualMass
from trueup.errors import InputError
from trueup.lens import Pairs
from trueup.recalibrate.binning.bayesian import BayesianBinning, _numbers_of_bins


def by_the_paper(sample: Sample, at: np.ndarray, prior_weight: float = 2.0) -> np.ndarray:
    """Average of all binnings, likelihoods as products of gamma functions; no model left out."""
    pairs = Pairs(sample.probs, sample.labels, sample.weights)
    w = np.ones(len(pairs)) if sample.weights is None else sample.weights
    n = max(1, round(w.sum()))
    models = {}
    for b in range(1, 1000):
        if b + 1 > n ** (1 / 3) / 10 and b - 1 < min(10 * n ** (1 / 3), n / 5):
            inner = EqualMass(b).inner_edges(pairs)
            models[tuple(inner)] = inner
    scores, answers = [], []
    for inner in models.values():
        edges = [0.0, *inner, 1.0]
        bin_of, bin_at = (np.searchsorted(inner, x, side="left") for x in (sample.probs, at))
        score, answer = 0.0, np.empty(len(edges) - 1)
        for b in range(len(edges) - 1):
            middle = min(max((edges[b] + edges[b + 1]) / 2, 0.005), 0.995)
            alpha, beta = prior_weight * middle, prior_weight * (1 - middle)
            ones = float(w[(bin_of == b) & (sample.labels == 1)].sum())
            zeros = float(w[(bin_of == b) & (sample.labels == 0)].sum())
            score += math.lgamma(prior_weight) - math.lgamma(ones + zeros + prior_weight)
            score += math.lgamma(ones + alpha) - math.lgamma(alpha)
            score += math.lgamma(zeros + beta) - math.lgamma(beta)
            answer[b] = (ones + alpha) / (ones + zeros + prior_weight)
        scores.append(score)
        answers.append(answer[bin_at])
    likely = np.exp(np.array(scores) - max(scores))
    return likely @ np.array(answers) / likely.sum()


@given(binary_samples)
def test_two_classes_are_the_average_of_the_paper(sample: Sample):
    new = np.concatenate([sample.probs, np.linspace(0, 1, 9)])
    model = BayesianBinning().fit(sample.probs, sample.labels, sample.weights)
    found = model.predict_proba(new)[:, 1]
    np.testing.assert_allclose(found, by_the_paper(sample, new), rtol=0, atol=1e-7)


@pytest.mark.parametrize("prior_weight", [0.1, 2, 30.0])
def test_many_rows_and_other_priors(prior_weight: float):
    rng = np.random.default_rng(4)
    p = rng.beta(0.5, 2, 1200)
    sample = Sample(p, (rng.random(1200) < p**1.5).astype(int), None)
    model = BayesianBinning(prior_weight=prior_weight).fit(p, sample.labels)
    new = np.linspace(0, 1, 501)
    want = by_the_paper(sample, new, prior_weight)
    np.testing.assert_allclose(model.predict_proba(new)[:, 1], want, rtol=0, atol=1e-7)
    learned = model.maps_[0]
    assert abs(learned["share"].sum() - 1) < 1e-12
    assert len(learned["n_bins"]) == len(learned["share"])


@pytest.mark.parametrize(
    ("rows", "first", "last"),
    [
        (1, 1, 1),
        (5, 1, 1),
        (6, 1, 2),
        (27, 1, 6),
        (1000, 1, 100),
        (7999, 1, 200),
        (8000, 2, 200),
        (1e300, 46, 4642),
    ],
)
def test_the_numbers_of_bins_that_are_tried(rows: int, first: int, last: int):
    assert _numbers_of_bins(rows) == range(first, last + 1)


def test_binnings_that_ties_make_the_same_count_once():
    p, y = np.repeat([0.2, 0.9], 50), np.tile([0, 1, 1, 0, 1], 20)
    learned = BayesianBinning().fit(p, y).maps_[0]
    assert learned["n_bins"].tolist() == [1, 2]
    assert learned["edges"].tolist() == [0.2]


def test_a_constant_score_has_one_bin():
    model = BayesianBinning().fit(np.full(50, 0.3), np.arange(50) < 20)
    want = (20 + 2 * 0.5) / (50 + 2)
    np.testing.assert_allclose(model.predict_proba([0.0, 0.3, 1.0])[:, 1], want, rtol=1e-14)


@given(matrix_samples)
def test_marginals_are_finitely_many_and_rows_are_divided_by_their_sum(sample: Sample):
    model = BayesianBinning().fit(sample.probs, sample.labels, sample.weights)
    marginals, probs = model.predict_marginals(sample.probs), model.predict_proba(sample.probs)
    assert np.all((probs > 0) & (probs < 1))
    want = marginals / marginals.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(probs, want, rtol=0, atol=1e-14)
    if sample.probs.shape[1] > 2:
        for learned, column in zip(model.maps_, marginals.T, strict=True):
            assert set(column) <= set(learned["answer"])


def test_what_was_wrong_is_put_right():
    rng = np.random.default_rng(9)
    z = rng.normal(0, 2, 8000)
    p, y = 1 / (1 + np.exp(-2 * z - 0.3)), rng.random(8000) < 1 / (1 + np.exp(-z))
    model = BayesianBinning().fit(p[:4000], y[:4000])
    assert model.notes_ == []
    assert model.fit_["log_loss_after"] < model.fit_["log_loss_before"] - 0.03
    truth, before, after = 1 / (1 + np.exp(-z[4000:])), p[4000:], model.predict_proba(p[4000:])
    assert np.mean((after[:, 1] - truth) ** 2) < np.mean((before - truth) ** 2) / 5


def test_a_log_loss_that_rises_is_told():
    model = BayesianBinning().fit([0.001] * 20 + [0.999] * 20, [0] * 20 + [1] * 20)
    assert model.fit_["log_loss_after"] > model.fit_["log_loss_before"]
    assert "log loss on the fit data increased from 0.001001 to" in model.notes_[0]


@pytest.mark.parametrize("wrong", [0, -1.0, np.nan, np.inf, "2", True])
def test_a_bad_prior_is_one_sentence(wrong: object):
    with pytest.raises(InputError, match="`prior_weight` must be a finite number above 0; got"):
        BayesianBinning(prior_weight=wrong).fit([0.1, 0.2], [0, 1])


def test_different_scores_of_weight_two_are_two_rows_each() -> None:
    p = np.random.default_rng(5).random(400)
    y = np.random.default_rng(6).random(400) < p
    weighted = BayesianBinning().fit(p, y, np.full(400, 2)).predict_proba(p)
    repeated = BayesianBinning().fit(np.repeat(p, 2), np.repeat(y, 2)).predict_proba(p)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-12)
