"""Certificates claim no more than they can: bounds against a naive oracle, and in simulations."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import beta

import trueup as tu
from trueup.errors import InputError
from trueup.inference.certification.certify import certify, trade_off
from trueup.inference.certification.error_bounds import asymptotic_bounds, finite_sample_bounds
from trueup.inference.certification.model_outputs import Tally, tally_of_bins
from trueup.lens import Pairs


def oracle(scores, counts, positives, norm, delta):
    """The finite-sample bounds as the specification writes them, one output after the other."""
    n, low_sum, high_sum, largest = sum(counts), 0.0, 0.0, 0.0
    each = delta / (2 * len(scores))
    for s, m, k in zip(scores, counts, positives, strict=True):
        lo = 0.0 if k == 0 else beta.ppf(each / 2, k, m - k + 1)
        hi = 1.0 if k == m else beta.ppf(1 - each / 2, k + 1, m - k)
        u = max(abs(s - lo), abs(hi - s))
        high_sum += m / n * u**norm
        low_sum += m / n * max(0.0, lo - s, s - hi) ** norm
        largest = max(largest, u**norm)

    def kl(x, q):
        first = 0.0 if x == 0 else x * math.log(x / q)
        return first + (0.0 if x == 1 else (1 - x) * math.log((1 - x) / (1 - q)))

    budget = math.log(2 / delta) / n
    x = high_sum / largest
    high = brentq(lambda q: kl(x, q) - budget, x, 1 - 1e-15) if x < 1 - 1e-12 else 1.0
    x = low_sum / largest
    low = brentq(lambda q: kl(x, q) - budget, 1e-300, x) if x > 0 else 0.0
    return (largest * low) ** (1 / norm), (largest * high) ** (1 / norm)


def tally(scores, counts, positives):
    counts = np.asarray(counts, float)
    rate = np.where(counts > 0, positives / np.maximum(counts, 1), scores)
    return Tally(np.asarray(scores), counts / counts.sum(), counts, rate, counts.sum())


def rows_of(scores, counts, positives):
    labels = [np.arange(m) < k for m, k in zip(counts, positives, strict=True)]
    return np.repeat(scores, counts), np.concatenate(labels)


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize(
    ("scores", "counts", "positives"),
    [
        ([0.3], [50], [12]),
        ([0.1, 0.5, 0.9], [400, 100, 700], [90, 0, 700]),
        ([0.1, 0.5, 0.9], [400, 0, 700], [30, 0, 650]),
        ([0.0, 1.0], [30, 30], [0, 30]),
        ([0.05, 0.95], [5000, 5000], [2500, 2600]),
    ],
)
def test_bounds_are_those_of_the_specification(scores, counts, positives, norm):
    expected = oracle(scores, counts, positives, norm, 0.05)
    found = finite_sample_bounds(tally(scores, counts, positives), norm, 0.05)
    assert found == pytest.approx(expected, rel=1e-7, abs=1e-9)
    probs, labels = rows_of(scores, counts, positives)
    answer = certify(probs, labels, max_error=0.05, norm=norm, outputs=scores)
    assert (answer.lower_bound, answer.upper_bound) == pytest.approx(found)


def boundary_model(kind, n_outputs, max_error, rng):
    """Outputs, shares and rates of a model whose L2 error is ``max_error`` exactly."""
    if n_outputs == 1:
        return np.array([0.3]), np.ones(1), np.array([0.3 + max_error])
    scores = (np.arange(n_outputs) + 0.5) / n_outputs
    if kind == "rare":  # one bad output that a sample may miss
        share = np.full(n_outputs, (1 - (max_error / 0.8) ** 2) / (n_outputs - 1))
        share[0] = (max_error / 0.8) ** 2
        scores[0], rates = 0.1, scores.copy()
        rates[0] = 0.9
        return scores, share, rates
    share = rng.dirichlet(np.full(n_outputs, 0.7)) if kind == "uneven" else None
    share = np.full(n_outputs, 1 / n_outputs) if share is None else share
    return scores, share, scores + max_error * np.where(scores < 0.5, 1, -1)


def false_verdicts(bounds, n_outputs, n, kind, n_models):
    rng = np.random.default_rng([n_outputs, n, len(kind)])
    verified = refuted = 0
    for _ in range(n_models):
        scores, share, rates = boundary_model(kind, n_outputs, 0.1, rng)
        counts = rng.multinomial(n, share)
        low, high = bounds(tally(scores, counts, rng.binomial(counts, rates)))
        verified += high < 0.1
        refuted += low > 0.1
    return verified / n_models, refuted / n_models


@pytest.mark.parametrize("n_outputs", [1, 5, 20])
@pytest.mark.parametrize("n", [100, 1000, 10000])
def test_no_false_certificates_at_the_boundary(n_outputs, n):
    """2,000 models with an error of exactly what is asked; δ = 0.05."""
    kind = {100: "even", 1000: "uneven", 10000: "rare"}[n]
    rates = false_verdicts(lambda t: finite_sample_bounds(t, 2, 0.05), n_outputs, n, kind, 2000)
    assert max(rates) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "norm"), [("even", 1), ("even", 2), ("uneven", 1), ("uneven", 2), ("rare", 2)]
)
@pytest.mark.parametrize("n_outputs", [1, 5, 20, 100])
@pytest.mark.parametrize("n", [100, 1000, 10000])
def test_no_false_certificates_by_either_method(n_outputs, n, kind, norm):
    for bounds in (finite_sample_bounds, asymptotic_bounds):
        found = false_verdicts(lambda t, b=bounds: b(t, norm, 0.05), n_outputs, n, kind, 2000)
        assert max(found) <= 0.05


def test_asymptotic_bounds_are_closer_and_hold():
    rates = false_verdicts(lambda t: asymptotic_bounds(t, 2, 0.05), 5, 1000, "even", 1000)
    assert max(rates) <= 0.05
    t = tally([0.1, 0.3, 0.5, 0.7, 0.9], [200] * 5, [20, 60, 100, 140, 180])
    assert asymptotic_bounds(t, 2, 0.05).high < 0.7 * finite_sample_bounds(t, 2, 0.05).high


@pytest.mark.parametrize("method", ["finite-sample", "asymptotic"])
def test_the_three_verdicts(method):
    rng = np.random.default_rng(0)
    outputs = [0.2, 0.5, 0.8]
    probs = rng.choice(outputs, 20_000)
    labels = rng.random(20_000) < probs
    good = certify(probs, labels, max_error=0.05, outputs=outputs, method=method)
    assert (good.verdict, good.n_additional) == ("verified", 0)
    assert good.text.startswith("Verified: with 95% confidence, the calibration error is at most")
    wrong = certify(probs**3, labels, max_error=0.05, outputs=np.power(outputs, 3), method=method)
    assert (wrong.verdict, wrong.n_additional) == ("refuted", 0)
    assert wrong.lower_bound > 0.05
    few = certify(probs[:200], labels[:200], max_error=0.05, outputs=outputs, method=method)
    assert few.verdict == "not enough data"
    assert f"About {few.n_additional:,} more rows" in few.text
    for answer in (good, wrong, few):
        assert json.loads(json.dumps(answer.to_dict()))["verdict"] == answer.verdict


@pytest.mark.parametrize("method", ["finite-sample", "asymptotic"])
def test_continuous_outputs_are_never_verified(method):
    rng = np.random.default_rng(0)
    probs = rng.random(100_000)
    answer = certify(probs, rng.random(100_000) < probs, max_error=0.5, method=method)
    assert (answer.verdict, answer.upper_bound, answer.n_additional) == (
        "not enough data",
        1.0,
        None,
    )
    assert "only a lower bound" in answer.text
    assert "Prop. 3.3" in answer.notes["reason"]
    coarse = np.round(probs, 1)  # few distinct values are no declaration
    same = certify(coarse, rng.random(100_000) < coarse, max_error=0.5, method=method)
    assert same.verdict == "not enough data"
    wrong = certify(probs, rng.random(100_000) < probs**3, max_error=0.05, method=method)
    assert wrong.verdict == "refuted"
    assert wrong.lower_bound < tu.simulate.World(curve=tu.simulate.Power(3)).true_error(2)


def test_the_lower_bound_of_continuous_outputs_holds():
    world = tu.simulate.World(tu.simulate.Beta(2, 0.5), tu.simulate.Power(1.5))
    truth, wrong = world.true_error(2), 0
    for probs, labels in zip(*world.sample_many(200, 300, rng=1), strict=True):
        bins = tally_of_bins(Pairs(probs, labels, None))
        wrong += finite_sample_bounds(bins, 2, 0.05).low > truth
    assert wrong / 200 <= 0.05


@pytest.mark.parametrize("method", ["finite-sample", "asymptotic"])
@pytest.mark.parametrize("rates", [(0.2, 0.5, 0.8), (0.22, 0.5, 0.78), (0.35, 0.5, 0.65)])
def test_as_many_more_rows_as_it_says_decide(method, rates):
    scores, rng = np.array([0.2, 0.5, 0.8]), np.random.default_rng(1)
    counts = np.full(3, 60)
    probs, labels = rows_of(scores, counts, rng.binomial(counts, rates))
    settings = {"max_error": 0.06, "outputs": scores, "method": method}
    n_additional = certify(probs, labels, **settings).n_additional
    assert n_additional > 0
    counts = np.full(3, 20 * (180 + n_additional) // 3)
    probs, labels = rows_of(scores, counts, np.round(counts * rates).astype(int))
    assert certify(probs, labels, **settings).n_additional == 0


def test_no_number_of_rows_decides_at_the_boundary():
    probs, labels = rows_of([0.2, 0.8], [500, 500], [150, 350])  # plug-in error exactly 0.1
    plugin = certify(probs, labels, max_error=0.1, outputs=[0.2, 0.8])
    assert plugin.verdict == "not enough data"
    debiased = plugin.notes["debiased_error"]
    answer = certify(probs, labels, max_error=debiased, outputs=[0.2, 0.8])
    assert answer.n_additional is None
    assert "too close to" in answer.text
    assert "for any number of rows to decide" in answer.text


def test_outputs_of_a_recalibrator_and_of_short_floats():
    recalibrator = SimpleNamespace(outputs_=np.array([0.1, 0.7]))
    probs, labels = rows_of([0.1, 0.7], [300, 300], [30, 210])
    settings = {"max_error": 0.2}
    answer = certify(probs, labels, outputs=recalibrator, **settings)
    assert answer == certify(probs.astype(np.float32), labels, outputs=[0.7, 0.1, 0.1], **settings)
    matrix = np.column_stack([1 - probs, probs])
    seen = certify(matrix, labels, outputs=[0.1, 0.7], lens=tu.lens.Binary(), **settings)
    assert seen.upper_bound == pytest.approx(answer.upper_bound)


def test_an_unseen_output_may_be_as_wrong_as_can_be():
    probs, labels = rows_of([0.1, 0.7], [300, 300], [30, 210])
    known = certify(probs, labels, max_error=0.2, outputs=[0.1, 0.7])
    more = certify(probs, labels, max_error=0.2, outputs=[0.1, 0.7, 0.99])
    assert more.upper_bound > known.upper_bound
    assert more.notes["unseen_outputs"] == 1


def test_weights_are_for_the_asymptotic_method():
    probs, labels = rows_of([0.1, 0.7], [300, 300], [30, 210])
    settings = {"max_error": 0.2, "outputs": [0.1, 0.7]}
    with pytest.raises(InputError, match="`weights` cannot be used with method='finite-sample'"):
        certify(probs, labels, weights=np.ones(600), **settings)
    plain, weighted = (
        certify(probs, labels, weights=w, method="asymptotic", **settings)
        for w in (None, np.full(600, 2.5))
    )
    assert weighted.upper_bound == pytest.approx(plain.upper_bound, rel=1e-12)


def test_refusals():
    probs, labels = rows_of([0.1, 0.7], [3, 3], [0, 2])
    with pytest.raises(InputError, match=r"one of the declared `outputs`.*got 0.7 in row 3"):
        certify(probs, labels, max_error=0.1, outputs=[0.1, 0.2])
    clustered = tu.Forecasts.from_arrays(probs, labels, clusters=[0, 0, 1, 1, 2, 2])
    soft = tu.Forecasts.from_arrays(probs, labels.astype(float), soft_labels=True)
    cases = [
        ("`outputs` must be all outputs", {"outputs": [0.1, 1.7]}),
        ("`outputs` must be all outputs", {"outputs": "all"}),
        ("`max_error` must be a number above 0 and below 1", {"max_error": 0}),
        ("`norm` must be 1 or 2", {"norm": 3}),
        ("`method` must be", {"method": "bootstrap"}),
        ("`confidence_level` must be", {"confidence_level": 95}),
        ("`lens` must yield one score per row", {"lens": tu.lens.ClassWise()}),
    ]
    for message, setting in cases:
        with pytest.raises(InputError, match=message):
            certify(probs, labels, **{"max_error": 0.1, "outputs": [0.1, 0.7], **setting})
    for message, forecasts in (("requires independent rows", clustered), ("soft", soft)):
        with pytest.raises(InputError, match=message):
            certify(forecasts, max_error=0.1, outputs=[0.1, 0.7])


def test_trade_off_of_sharpness_and_certainty():
    rng = np.random.default_rng(0)
    probs = rng.random(20_000)
    labels = rng.random(20_000) < probs**2
    curve = trade_off(probs, labels, rng=0)
    assert curve["n_bins"].tolist() == list(range(10, 101, 5))
    assert np.all(curve["n_outputs"] <= curve["n_bins"])
    assert np.all(curve["error"] <= curve["upper_bound"])
    assert curve["upper_bound"][-1] > curve["upper_bound"][0]
    assert curve["brier"][-1] < 0.25
    again = trade_off(probs, labels, rng=0, method="finite-sample", n_bins=[10, 50])
    assert again["brier"].tolist() == curve["brier"][[0, 8]].tolist()
    assert np.all(again["upper_bound"] > curve["upper_bound"][[0, 8]])


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_a_score_may_differ_from_its_output_by_rounding_alone(kind: type):
    outputs, labels = np.array([0.1, 0.7]), np.tile([0, 1], 10)
    probs = np.repeat(outputs, 10).astype(kind)
    settings = {"max_error": 0.5, "outputs": outputs}
    certify(probs, labels, **settings)
    off = probs.copy()
    off[3] += kind(20 * np.finfo(kind).eps)
    with pytest.raises(InputError, match=r"one of the declared `outputs` in every row.* in row 3"):
        certify(off, labels, **settings)
