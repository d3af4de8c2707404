"""The joint test of slope 1 and intercept 0, and the intervals of `cox`."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.special import expit

import trueup as tu
from oracles import clinical as oracle
from support.samples import Sample, binary_samples, draw_binary, draw_matrix

EPS = 2.0**-52


def clinical(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rare outcomes, whose scores are too extreme."""
    rng = np.random.default_rng(seed)
    x = rng.normal(-4.05, 1.1, n)
    return expit(x), rng.random(n) < expit(-0.61 + 0.76 * x)


@settings(max_examples=20)
@given(binary_samples)
def test_the_likelihood_ratio_is_that_of_a_search(sample: Sample) -> None:
    p, y = np.clip(sample.probs, EPS, 1 - EPS), sample.labels
    found = tu.cox(sample.probs, y)
    statistic, pvalue = oracle.likelihood_ratio(p, y)
    assert found.joint_test == "likelihood ratio"
    assert found.n == len(y)
    assert found.joint_statistic == pytest.approx(statistic, rel=1e-5, abs=1e-4)
    assert found.joint_pvalue == pytest.approx(pvalue, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize(
    ("p", "y", "best"),
    [
        ([0.1, 0.3, 0.7], [0, 0, 1], 0.0),
        ([0.1, 0.3, 0.7], [1, 1, 0], 0.0),
        ([0.1, 0.3, 0.7], [0, 0, 0], 0.0),
        ([0.1, 0.3, 0.3, 0.3, 0.7], [0, 0, 1, 1, 1], math.log(1 / 3) + 2 * math.log(2 / 3)),
        ([0.3, 0.3, 0.3, 0.3], [0, 1, 0, 0], 3 * math.log(3 / 4) + math.log(1 / 4)),
    ],
)
def test_the_likelihood_has_a_limit_without_a_maximum(p, y, best: float) -> None:
    found, at = tu.cox(p, y), np.where(np.array(y) == 1, p, 1 - np.array(p))
    assert not found.converged
    assert found.joint_statistic == pytest.approx(2 * (best - np.log(at).sum()), rel=1e-12)
    degrees = 1 if min(p) == max(p) else 2
    assert found.joint_pvalue == pytest.approx(
        oracle.chi2.sf(found.joint_statistic, degrees), rel=1e-9
    )


def test_the_statistic_of_rms_val_prob() -> None:
    """U = (LR − 2)/n, where LR is the difference of two deviances; here by scikit-learn."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss

    p, y = clinical(3_000, 1)
    x = np.log(p / (1 - p))[:, None]
    fit = LogisticRegression(C=np.inf, tol=1e-12, solver="newton-cholesky", max_iter=500).fit(x, y)
    gain = 2 * len(y) * (log_loss(y, p) - log_loss(y, fit.predict_proba(x)))
    assert tu.cox(p, y).joint_statistic == pytest.approx(gain, rel=1e-6)


@given(st.integers(0, 10**6), st.sampled_from(["weights", "clusters", "both"]))
def test_wald_and_standard_errors_by_loops(seed: int, kind: str) -> None:
    p, y = clinical(400, seed)
    rng = np.random.default_rng(seed)
    w = None if kind == "clusters" else rng.random(400) + 0.1
    clusters = None if kind == "weights" else rng.integers(5, 25, 400)
    found = tu.cox(tu.Forecasts.from_arrays(p, y, weights=w, clusters=clusters))
    if not found.converged:
        assert math.isnan(found.joint_pvalue)
        return
    line = (found.intercept, found.slope)
    covariance = oracle.sandwich(p, y, line, w, clusters)
    expected = np.sqrt(np.diag(covariance))
    assert [found.intercept_error, found.slope_error] == pytest.approx(expected, rel=1e-7)
    count = 0 if clusters is None else len(set(clusters.tolist()))
    assert found.n_clusters == count
    statistic, pvalue = oracle.wald(line, covariance, count)
    assert found.joint_test == "Wald"
    assert found.joint_statistic == pytest.approx(statistic, rel=1e-6)
    assert found.joint_pvalue == pytest.approx(pvalue, rel=1e-5)


def test_soft_labels_get_the_sandwich() -> None:
    p, _ = clinical(300, 2)
    soft = np.random.default_rng(3).random(300)
    found = tu.cox(tu.Forecasts.from_arrays(p, soft, soft_labels=True))
    line = (found.intercept, found.slope)
    statistic, _ = oracle.wald(line, oracle.sandwich(p, soft, line))
    assert found.joint_test == "Wald"
    assert found.joint_statistic == pytest.approx(statistic, rel=1e-6)


def test_clusters_of_one_row_are_rows_and_their_names_do_not_matter() -> None:
    p, y = clinical(500, 4)
    alone = tu.cox(tu.Forecasts.from_arrays(p, y, clusters=np.arange(500)))
    rows = tu.cox(p, y, weights=np.ones(500))
    assert alone.slope == rows.slope
    assert alone.slope_error == pytest.approx(rows.slope_error * math.sqrt(500 / 499), rel=1e-9)
    names = [f"ward {number}" for number in np.arange(500) // 7]
    named = tu.cox(tu.Forecasts.from_arrays(p, y, clusters=names))
    numbered = tu.cox(tu.Forecasts.from_arrays(p, y, clusters=np.arange(500) // 7))
    assert named.slope_error == pytest.approx(numbered.slope_error, rel=1e-9)


def test_clusters_widen_what_copies_would_narrow() -> None:
    p, y = clinical(800, 5)
    once = tu.cox(p, y, weights=np.ones(800))
    copies = tu.Forecasts.from_arrays(
        np.tile(p, 4), np.tile(y, 4), clusters=np.tile(np.arange(800), 4)
    )
    found = tu.cox(copies)
    assert found.slope_error == pytest.approx(once.slope_error * math.sqrt(800 / 799), rel=1e-7)
    assert found.joint_pvalue > tu.cox(np.tile(p, 4), np.tile(y, 4)).joint_pvalue


def test_clusters_follow_the_rows_of_a_region() -> None:
    p, y = clinical(600, 6)
    clusters = np.random.default_rng(7).integers(0, 40, 600)
    inside = p > 0.01
    whole = tu.Forecasts.from_arrays(p, y, clusters=clusters)
    part = tu.Forecasts.from_arrays(p[inside], y[inside], clusters=clusters[inside])
    assert tu.cox(whole, lens=tu.lens.Binary(where=(0.01, 1.0))) == tu.cox(part)


@pytest.mark.parametrize("count", [1, 2])
def test_few_clusters_have_no_joint_test(count: int) -> None:
    p, y = clinical(400, 8)
    found = tu.cox(tu.Forecasts.from_arrays(p, y, clusters=np.arange(400) % count))
    assert found.n_clusters == count
    assert math.isnan(found.joint_pvalue)
    assert math.isnan(found.slope_error) == (count == 1)


def test_pairs_that_depend_on_each_other_have_no_test() -> None:
    sample = draw_matrix(6, 80, 3, "smooth")
    for clusters in (None, np.arange(80) % 9):
        given_ = tu.Forecasts.from_arrays(sample.probs, sample.labels, clusters=clusters)
        found = tu.cox(given_, lens=tu.lens.Pooled())
        assert math.isnan(found.joint_pvalue)
        assert math.isnan(found.slope_error)


def test_the_clinical_example_is_found() -> None:
    pvalues = [tu.cox(*clinical(12_000, seed)).joint_pvalue for seed in range(10)]
    assert np.median(pvalues) < 1e-5
    assert sum(pvalue < 1e-3 for pvalue in pvalues) >= 9


def test_intervals() -> None:
    p, y = clinical(2_000, 9)
    for clusters in (None, np.arange(2_000) % 30):
        found = tu.cox(tu.Forecasts.from_arrays(p, y, clusters=clusters))
        for level in (0.5, 0.95, 0.99):
            tail = (1 + level) / 2
            times = oracle.norm.ppf(tail) if clusters is None else oracle.t.ppf(tail, 29)
            ends = found.intervals(level)
            for name in ("slope", "intercept", "in_the_large"):
                value, error = getattr(found, name), getattr(found, f"{name}_error")
                expected = (value - times * error, value + times * error)
                assert getattr(ends, name) == pytest.approx(expected, rel=1e-9)
    with pytest.raises(tu.InputError, match=r"0\.95 stands for 95%"):
        found.intervals(95)


def test_the_text_shows_every_number() -> None:
    p, y = clinical(12_000, 10)
    found = tu.cox(p, y)
    lines = str(found).splitlines()
    low, high = found.intervals().slope
    assert lines[0] == "Cox calibration (12,000 rows)"
    assert lines[1] == f"slope         {found.slope: .3f} (95% interval {low:.3f} to {high:.3f})"
    joint = f"p = {found.joint_pvalue:.3g} (likelihood ratio {found.joint_statistic:.2f})"
    assert lines[4] == f"slope 1 and intercept 0: {joint}"
    separated = str(tu.cox([0.1, 0.3, 0.7], [0, 0, 1])).splitlines()
    assert separated[1] == "slope          infinity"
    assert separated[-1].startswith("note: the scores separate the labels perfectly")
    clustered = tu.Forecasts.from_arrays(p, y, clusters=np.arange(12_000) % 50)
    assert str(tu.cox(clustered)).startswith("Cox calibration (12,000 rows, 50 clusters)")


def test_random_samples_have_a_pvalue_in_range() -> None:
    for seed in range(60):
        sample = draw_binary(seed, 1 + seed % 12, "certain", "none")
        found = tu.cox(sample.probs, sample.labels)
        assert 0 < found.joint_pvalue <= 1
        assert found.joint_statistic >= 0
