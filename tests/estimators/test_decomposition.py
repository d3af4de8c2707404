"""Decompositions of scores: exact sums, oracles, lenses, and invalid input."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from sklearn.isotonic import IsotonicRegression

import trueup as tu
from oracles import bins, isotonic, lenses, murphy
from support.samples import Sample, binary_samples, draw_matrix, matrix_samples
from trueup.engines import set_threads, using
from trueup.results import Decomposition

SCORES = [tu.Brier(), tu.LogLoss()]
BINNINGS = [
    (tu.EqualWidth(7), lambda p, w: bins.uniform_width(p, 7)),
    (tu.EqualMass(5), lambda p, w: bins.equal_mass(p, 5, w)),
    (tu.bins.FixedEdges([0.2, 0.5]), lambda p, w: bins.fixed_edges(p, [0, 0.2, 0.5, 1])),
]
TERMS = ("score", "miscalibration", "discrimination", "uncertainty", "within")
each_score = pytest.mark.parametrize("score", SCORES, ids=repr)
each_binning = pytest.mark.parametrize("binning", [None, *(b for b, _ in BINNINGS)], ids=repr)


def terms(found: Decomposition) -> list[float]:
    return [getattr(found, name) for name in TERMS]


def close(a: Decomposition, b: Decomposition, tolerance: float = 1e-12) -> bool:
    return terms(a) == pytest.approx(terms(b), rel=tolerance, abs=tolerance)


def adds_up(found: Decomposition) -> bool:
    score, lost, gain, uncertainty, within = terms(found)
    assert min(lost, gain, uncertainty) >= 0
    return score == pytest.approx(lost - gain + uncertainty + within, rel=1e-12, abs=1e-12)


@pytest.mark.usefixtures("each_engine")
@given(binary_samples)
def test_isotonic_parts_by_fractions(sample: Sample):
    p, y, w = sample.probs, sample.labels, sample.weights
    for score, oracle in zip(SCORES, (isotonic.corp_brier, isotonic.corp_log_loss), strict=True):
        found = score.decompose(p, y, weights=w)
        assert terms(found)[:4] == pytest.approx(list(oracle(p, y, w)), rel=1e-12, abs=1e-12)
        assert found.within == 0
        assert adds_up(found)
        assert found.score == pytest.approx(score(p, y, weights=w), rel=1e-13)


def exact_reliability(p: np.ndarray, y: np.ndarray, rows_of_bins: list, w: np.ndarray | None):
    """Mean divergence of bin means, from means in fractions: 1 − mean keeps its digits near 0."""
    weight = [Fraction(1)] * len(p) if w is None else [Fraction(float(v)) for v in w]
    found = []
    for rows in filter(None, rows_of_bins):
        mass = sum(weight[i] for i in rows)
        f = sum(weight[i] * Fraction(float(p[i])) for i in rows) / mass
        rate = sum(weight[i] * int(y[i]) for i in rows) / mass
        for a, b in ((rate, f), (1 - rate, 1 - f)):
            if a:
                ratio = math.log(a) - math.log(max(float(b), np.finfo(float).tiny))
                found.append(float(mass / sum(weight) * a) * ratio)
    return math.fsum(found)


@pytest.mark.usefixtures("each_engine")
@given(binary_samples)
def test_binned_parts_by_naive_sums(sample: Sample):
    p, y, w = sample.probs, sample.labels, sample.weights
    for binning, rule in BINNINGS:
        rows = rule(p, w)
        squared = murphy.murphy_brier(p, y, rows, w)
        found = tu.Brier().decompose(p, y, binning=binning, weights=w)
        within = squared.within_bin_variance - squared.within_bin_covariance
        assert terms(found) == pytest.approx([*squared[:4], within], rel=1e-11, abs=1e-13)
        for name in ("within_bin_variance", "within_bin_covariance"):
            assert found.notes[name] == pytest.approx(getattr(squared, name), rel=1e-6, abs=1e-16)
        assert adds_up(found)
        logarithmic = murphy.murphy_log_loss(p, y, rows, w)
        found = tu.LogLoss().decompose(p, y, binning=binning, weights=w)
        assert adds_up(found)
        naive = [logarithmic.score, *logarithmic[2:4]]
        assert [found.score, found.discrimination, found.uncertainty] == pytest.approx(naive)
        exact = exact_reliability(p, y, rows, w)
        assert found.miscalibration == pytest.approx(exact, rel=1e-11, abs=1e-12)
        means = [np.average(p[r], weights=None if w is None else w[r]) for r in rows if r]
        if all(1e-6 < mean < 1 - 1e-6 for mean in means):  # else 1 − mean is lost in the oracle
            assert found.miscalibration == pytest.approx(logarithmic.reliability, abs=1e-10)
            assert found.within == pytest.approx(logarithmic.within_bin, abs=1e-10)


def test_spread_inside_bins_is_not_lost_in_rounding():
    """Squares of scores near 1 differ by less than float64 tells."""
    p = 1 - np.array([1, 2, 3, 4]) * 1e-12
    notes = tu.Brier().decompose(p, [1, 1, 0, 1], binning=tu.EqualWidth(1)).notes
    assert notes["within_bin_variance"] == pytest.approx(1.25e-24, rel=1e-3)
    assert notes["within_bin_covariance"] == pytest.approx(2 * 0.125e-12, rel=1e-3)


@given(st.integers(0, 10**6), st.sampled_from([20, 300]))
def test_scikit_learn_gives_the_same_parts(seed: int, n: int):
    rng = np.random.default_rng(seed)
    p, w = np.round(rng.random(n), 2), rng.random(n) + 0.01
    y = (rng.random(n) < p).astype(int)
    fit = IsotonicRegression().fit(p, y, sample_weight=w).predict(p)
    base = np.full(n, np.average(y, weights=w))
    given, best, plain = (np.average((q - y) ** 2, weights=w) for q in (p, fit, base))
    found = tu.Brier().decompose(p, y, weights=w)
    assert terms(found)[:4] == pytest.approx([given, given - best, plain - best, plain], abs=1e-13)


@each_score
@each_binning
@given(sample=binary_samples, seed=st.integers(0, 10**6))
def test_soft_labels_add_up(score, binning, sample: Sample, seed: int):
    soft = np.round(np.random.default_rng(seed).random(len(sample.probs)), 1)
    data = tu.Forecasts.from_arrays(sample.probs, soft, weights=sample.weights, soft_labels=True)
    found = score.decompose(data, binning=binning)
    assert adds_up(found)
    assert found.score == pytest.approx(score(data), rel=1e-12, abs=1e-15)
    if binning is None and score == tu.Brier():
        oracle = isotonic.corp_brier(sample.probs, soft, sample.weights)
        assert terms(found)[:4] == pytest.approx(list(oracle), abs=1e-12)


@each_score
@each_binning
@given(sample=binary_samples)
def test_the_same_data_in_other_forms(score, binning, sample: Sample):
    p, y, w = sample.probs, sample.labels, sample.weights
    found = score.decompose(p, y, weights=w, binning=binning)
    soft = tu.Forecasts.from_arrays(p, y.astype(float), weights=w, soft_labels=True)
    assert close(found, score.decompose(soft, binning=binning))
    columns = np.column_stack([1 - p, p])
    assert close(found, score.decompose(columns, y, weights=w, binning=binning))
    times = np.random.default_rng(len(p)).integers(1, 4, len(p))
    repeated = score.decompose(np.repeat(p, times), np.repeat(y, times), binning=binning)
    assert close(repeated, score.decompose(p, y, weights=times / 3, binning=binning))


@each_score
@each_binning
@given(sample=binary_samples)
def test_engines_and_the_order_of_rows(score, binning, sample: Sample):
    p, y, w = sample.probs, sample.labels, sample.weights
    found = score.decompose(p, y, weights=w, binning=binning)
    with using("reference"):
        assert close(found, score.decompose(p, y, weights=w, binning=binning))
    order = np.random.default_rng(3).permutation(len(p))
    shuffled = None if w is None else w[order]
    assert close(found, score.decompose(p[order], y[order], weights=shuffled, binning=binning))


@each_score
@each_binning
def test_threads_change_no_bit(score, binning):
    rng = np.random.default_rng(8)
    p = rng.random(150_000)
    y = rng.random(150_000) < p
    found = []
    for threads in (1, 2, 3):
        set_threads(threads)
        try:
            found.append(terms(score.decompose(p, y, binning=binning)))
        finally:
            set_threads(None)
    assert found[0] == found[1] == found[2]


@each_score
@each_binning
@given(sample=matrix_samples)
def test_classes_are_averaged(score, binning, sample: Sample):
    probs, y, w = sample.probs, sample.labels, sample.weights
    k = probs.shape[1]
    class_weights = list(range(1, k + 1))
    found = score.decompose(
        probs, y, lens=tu.lens.ClassWise(class_weights), binning=binning, weights=w
    )
    assert adds_up(found)
    for c, (name, share, part) in enumerate(found.parts):
        assert (name, share) == (c, pytest.approx((c + 1) / sum(class_weights)))
        alone = score.decompose(probs, y, lens=tu.lens.OneVsRest(c), binning=binning, weights=w)
        assert close(part, alone)
    assert found.to_dict() == json.loads(json.dumps(found.to_dict()))


@given(matrix_samples)
def test_brier_of_several_classes_is_k_times_the_average(sample: Sample):
    k = sample.probs.shape[1]
    found = tu.Brier().decompose(sample.probs, sample.labels, weights=sample.weights)
    total = tu.brier(sample.probs, sample.labels, weights=sample.weights)
    assert (found.parts is None) == (k == 2)
    assert (1 if k == 2 else k) * found.score == pytest.approx(total, rel=1e-12, abs=1e-15)


@each_score
@each_binning
@given(sample=matrix_samples)
def test_top_label_lenses(score, binning, sample: Sample):
    probs, y, w = sample.probs, sample.labels, sample.weights
    p, right = lenses.top_label(probs, y)
    p, right = np.array(p), np.array(right).astype(int)
    found = score.decompose(probs, y, lens=tu.lens.TopLabel(), binning=binning, weights=w)
    assert close(found, score.decompose(p, right, binning=binning, weights=w), 1e-11)
    given_class = score.decompose(
        probs, y, lens=tu.lens.TopLabelByClass(), binning=binning, weights=w
    )
    assert adds_up(given_class)
    assert given_class.score == pytest.approx(found.score, rel=1e-12, abs=1e-15)
    assert len(given_class.table.columns()["class"]) > 0


def test_logits_and_both_columns_are_read_exactly():
    """1 − p is 0 in float64 for a logit of 40, and −log of it is not 708 but 40."""
    logits = np.array([-2.0, 40.0, 1.0, 3.0])
    data = tu.Forecasts.from_arrays(logits, [0, 0, 1, 1], logits=True)
    found = tu.LogLoss().decompose(data)
    assert found.score == tu.LogLoss()(data)
    assert found.score < 15
    assert found.notes["clipped"] == 0
    columns = [[0.9, 0.1], [1e-17, 1.0], [0.3, 0.7], [0.1, 0.9]]
    assert tu.LogLoss().decompose(columns, [0, 0, 1, 1]).score == tu.log_loss(columns, [0, 0, 1, 1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_certain_mistakes_are_clipped_and_counted(dtype):
    p = np.array([0.0, 1.0, 0.5, 0.0], dtype)
    found = tu.LogLoss().decompose(p, [1, 0, 1, 0])
    assert found.notes == {"clipped": 2}
    assert found.score == tu.log_loss(p, [1, 0, 1, 0])
    assert adds_up(found)
    binned = tu.LogLoss().decompose(p, [1, 0, 1, 0], binning=tu.EqualWidth(4))
    assert binned.notes == {"n_bins_requested": 4, "n_bins": 4, "clipped": 2}
    assert binned.within == pytest.approx(0, abs=1e-12)  # one score in each bin
    assert adds_up(binned)
    three = np.array([[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0]], dtype)
    assert tu.LogLoss().decompose(three, [1, 1, 0]).notes == {"clipped": 2}


@each_score
@pytest.mark.parametrize("label", [0, 1])
def test_constant_labels_have_no_uncertainty(score, label: int):
    for weights in (None, [0.1, 0.2, 0.3]):
        found = score.decompose([0.2, 0.5, 0.9], [label] * 3, weights=weights)
        assert (found.discrimination, found.uncertainty) == (0, 0)
        assert found.miscalibration == found.score
        assert math.isnan(found.skill)
    soft = tu.Forecasts.from_arrays([0.2, 0.5, 0.9], [0.3] * 3, soft_labels=True)
    assert tu.Brier().decompose(soft).uncertainty == 0


@each_score
@each_binning
def test_one_row(score, binning):
    found = score.decompose([0.3], [1], binning=binning)
    assert found.score == pytest.approx(0.49 if score == tu.Brier() else -math.log(0.3))
    assert terms(found)[1:] == pytest.approx([found.score, 0, 0, 0])


@each_score
def test_a_calibrated_table_has_no_miscalibration(score):
    p = np.repeat(np.arange(11) / 10, 10)
    y = np.concatenate([np.arange(10) < k for k in range(11)])
    found = score.decompose(p, y)
    assert found.miscalibration == pytest.approx(0, abs=1e-15)
    assert found.skill == pytest.approx(found.discrimination / found.uncertainty)
    assert found.table["mean_label"].tolist() == pytest.approx((np.arange(11) / 10).tolist())


def test_a_class_outside_the_region_adds_nothing():
    probs = [[0.9, 0.06, 0.04], [0.8, 0.15, 0.05], [0.1, 0.88, 0.02]]
    found = tu.Brier().decompose(probs, [0, 1, 1], lens=tu.lens.ClassWise(where=(0.05, 1.0)))
    assert [part.score > 0 for _, _, part in found.parts] == [True, True, False]
    assert found.parts[2][2].table is None
    assert set(found.table["class"].tolist()) == {0, 1}


def test_it_prints_the_sum():
    p, y = [0.1, 0.4, 0.6, 0.8], [0, 1, 0, 1]
    found = tu.Brier().decompose(p, y)
    text = "0.1925 = 0.0675 miscalibration − 0.1250 discrimination + 0.2500 uncertainty"
    assert repr(found) == str(found) == text
    binned = tu.Brier().decompose(p, y, binning=tu.EqualWidth(1))
    assert repr(binned).endswith("uncertainty − 0.0581 within bins")
    assert binned.to_dict()["table"]["n_bins_requested"] == 1


@each_score
def test_what_is_refused(score):
    three = [[0.2, 0.3, 0.5], [0.5, 0.3, 0.2]]
    with pytest.raises(tu.InputError, match="`lens` must yield scores, not points on the simplex"):
        score.decompose(three, [2, 0], lens=tu.lens.Canonical())
    with pytest.raises(tu.InputError, match="`lens` must be a lens"):
        score.decompose(three, [2, 0], lens=tu.lens.ClassWise)
    with pytest.raises(tu.InputError, match="`binning` must be a binning of scores"):
        score.decompose([0.2], [1], binning=15)


def test_averages_hold_the_terms_of_their_parts():
    sample = draw_matrix(3, 80, 4, "smooth")
    found = tu.Brier().decompose(sample.probs, sample.labels, binning=tu.EqualMass(3))
    for name in ("within_bin_variance", "within_bin_covariance"):
        parts = sum(share * part.notes[name] for _, share, part in found.parts)
        assert found.notes[name] == pytest.approx(parts, rel=1e-12)
    assert found.within == pytest.approx(
        found.notes["within_bin_variance"] - found.notes["within_bin_covariance"], rel=1e-12
    )


def test_soft_labels_of_impossible_outcomes_are_counted():
    forecasts = tu.Forecasts.from_arrays(
        [0.0, 1.0, 0.5, 0.0], [0.5, 0.5, 0.5, 0.0], soft_labels=True
    )
    assert tu.LogLoss().decompose(forecasts).notes["clipped"] == 2
