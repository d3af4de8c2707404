"""Every estimator against its naive oracle, on data full of traps, on both engines."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import trueup as tu
from oracles import bins, classes, errors, lenses, scores, sweep
from support.samples import Sample, binary_samples, matrix_samples

NORMS = [1, 2, 3, 1.5, math.inf]


def close(a: float, b: float, tolerance: float = 1e-12) -> bool:
    return a == pytest.approx(b, rel=tolerance, abs=tolerance)


pytestmark = pytest.mark.usefixtures("each_engine")


def binnings(n_bins):
    return [
        (tu.EqualWidth(n_bins), lambda p, w: bins.uniform_width(p, n_bins)),
        (tu.EqualMass(n_bins), lambda p, w: bins.equal_mass(p, n_bins, w)),
        (
            tu.bins.FixedEdges([0, 0.2, 0.5, 1]),
            lambda p, w: bins.fixed_edges(p, [0, 0.2, 0.5, 1]),
        ),
    ]


@given(binary_samples, st.sampled_from([1, 2, 5, 15, 40]), st.sampled_from(NORMS))
def test_plug_in_and_label_binned(sample: Sample, n_bins: int, norm: float):
    p, y, w = sample.probs, sample.labels, sample.weights
    for binning, rule in binnings(n_bins):
        found = rule(p, w)
        ours = tu.BinnedError(binning=binning, norm=norm)(p, y, weights=w)
        assert close(ours, errors.plug_in(p, y, found, norm, w))
        ours = tu.BinnedError(binning=binning, norm=norm, label_binned=True)(p, y, weights=w)
        assert close(ours, errors.label_binned(p, y, found, norm, w))


@given(binary_samples, st.sampled_from([1, 2, 5, 15, 40]))
def test_debiased(sample: Sample, n_bins: int):
    p, y, w = sample.probs, sample.labels, sample.weights
    for binning, rule in binnings(n_bins):
        found = rule(p, w)
        for norm, debias, oracle in (
            (1, True, errors.debiased_l1(p, y, found, w)),
            (2, True, errors.debiased_squared(p, y, found, w)),
            (2, "residual", errors.debiased_squared(p, y, found, w, residual=True)),
        ):
            estimator = tu.BinnedError(binning=binning, norm=norm, debias=debias)
            estimate = estimator.measure(p, y, weights=w)
            assert close(estimate.pth_power, oracle, 1e-11)
            assert estimate.value == max(0.0, estimate.pth_power) ** (1 / norm)


@given(matrix_samples, st.sampled_from([1, 4, 15]), st.sampled_from(NORMS))
def test_class_wise(sample: Sample, n_bins: int, norm: float):
    probs, y, w = sample.probs, sample.labels, sample.weights
    k = probs.shape[1]
    for class_weights in (None, list(range(1, k + 1))):
        for binning, rule in binnings(n_bins):
            lens = tu.lens.ClassWise(class_weights)
            ours = tu.BinnedError(lens, binning, norm)(probs, y, weights=w)
            oracle = classes.class_wise_error(probs, y, rule, norm, False, class_weights, w)
            assert close(ours, oracle)
            if norm in (1, 2):
                estimate = tu.BinnedError(lens, binning, norm, debias=True).measure(
                    probs, y, weights=w
                )
                oracle = classes.class_wise_power(probs, y, rule, norm, True, class_weights, w)
                assert close(estimate.pth_power, oracle, 1e-11)


@given(matrix_samples, st.sampled_from([1, 4, 15]), st.sampled_from(NORMS))
def test_top_label_and_given_the_predicted_class(sample: Sample, n_bins: int, norm: float):
    probs, y, w = sample.probs, sample.labels, sample.weights
    p, right = lenses.top_label(probs, y)
    for binning, rule in binnings(n_bins):
        ours = tu.BinnedError(tu.lens.TopLabel(), binning, norm)(probs, y, weights=w)
        assert close(ours, errors.plug_in(p, right, rule(p, w), norm, w))
        ours = tu.BinnedError(tu.lens.TopLabelByClass(), binning, norm)(probs, y, weights=w)
        assert close(ours, classes.top_label_given_error(probs, y, rule, norm, False, w))


@given(matrix_samples, st.sampled_from([1, 3, 10]))
def test_simplex_errors(sample: Sample, size: int):
    probs, y, w = sample.probs, sample.labels, sample.weights
    k = probs.shape[1]
    induced = [(tu.lens.Canonical(), lenses.canonical(probs, y))]
    if k > 2:
        induced.append((tu.lens.TopK(2), lenses.top_k(probs, y, 2)))
        groups = [[0, k - 1], list(range(1, k - 1))]
        induced.append((tu.lens.Partition(groups), lenses.partition(probs, y, groups)))
    for lens, (points, outcome) in induced:
        grid = bins.simplex_grid(points, size)
        for distance, oracle in (
            ("tv", classes.total_variation),
            ("squared", classes.squared_euclidean),
            (lambda r, g: np.abs(r - g).max(axis=1), lambda r, g: np.abs(r - g).max()),
        ):
            estimator = tu.BinnedError(lens, tu.bins.SimplexGrid(size), distance=distance)
            ours = estimator(probs, y, weights=w)
            assert close(ours, classes.simplex_error(points, outcome, grid, oracle, w))


@given(matrix_samples, st.sampled_from([1, 4, 15]))
def test_named_class_wise_metrics(sample: Sample, n_bins: int):
    probs, y, w = sample.probs, sample.labels, sample.weights
    assert close(tu.sce(probs, y, n_bins=n_bins, weights=w), classes.sce(probs, y, n_bins, w))
    assert close(tu.ace(probs, y, n_bins=n_bins, weights=w), classes.ace(probs, y, n_bins, w))
    for literal in (False, True):
        ours = tu.tace(probs, y, n_bins=n_bins, literal=literal, weights=w)
        assert close(ours, classes.tace(probs, y, n_bins, 0.01, w, literal))
    for ours, debias in ((tu.marginal_error, False), (tu.marginal_error_debiased, True)):
        oracle = classes.marginal_error(probs, y, n_bins, debias, w)
        assert close(ours(probs, y, n_bins=n_bins, weights=w) ** 2, oracle**2)


@given(binary_samples, st.sampled_from(NORMS))
def test_sweep(sample: Sample, norm: float):
    p, y, w = sample.probs, sample.labels, sample.weights
    estimate = tu.SweepError(norm=norm).measure(p, y, weights=w)
    scores, rates = np.unique(p), []
    for score in scores:
        rates.append(np.average(y[p == score], weights=None if w is None else w[p == score]))
    if w is not None and np.all(np.diff(rates) >= 0):
        # every b is monotone: the finest bins, which n equal-mass bins of weighted rows may not be
        finest = [np.flatnonzero(p == score).tolist() for score in scores]
        assert estimate.notes["n_bins"] == len(finest)
        assert close(estimate.value, errors.plug_in(p, y, finest, norm, w))
        return
    oracle = sweep.sweep(p, y, norm, w)
    assert (estimate.notes["chosen"], estimate.notes["n_bins"]) == (oracle.b, oracle.bins_made)
    assert close(estimate.value, oracle.value)


@given(binary_samples, st.sampled_from(NORMS))
def test_equal_width_sweep(sample: Sample, norm: float):
    p, y = sample.probs, sample.labels
    oracle = sweep.sweep(p, y, norm, None, "width")
    estimate = tu.SweepError(norm=norm, binning="equal-width").measure(p, y)
    assert (estimate.notes["chosen"], estimate.notes["n_bins"]) == (oracle.b, oracle.bins_made)
    assert close(estimate.value, oracle.value)


@given(matrix_samples)
def test_class_wise_sweep(sample: Sample):
    ours = tu.SweepError(tu.lens.ClassWise())(sample.probs, sample.labels)
    assert close(ours, sweep.class_wise_sweep(sample.probs, sample.labels))


@given(st.one_of(binary_samples, matrix_samples))
def test_proper_scores(sample: Sample):
    probs, y, w = sample.probs, sample.labels, sample.weights
    assert close(tu.brier(probs, y, weights=w), scores.brier(probs, y, w))
    value, clipped = scores.log_loss(probs, y, w)
    estimate = tu.LogLoss().measure(probs, y, weights=w)
    assert close(estimate.value, value)
    assert estimate.notes["clipped"] == clipped


def test_a_sweep_of_very_uneven_weights_ends():
    """No more bins are tried than there are rows, whatever the weights."""
    for weights in ([1e9, 1, 1], [1e6, 0.37, 0.411]):
        found = tu.SweepError().measure([0.1, 0.2, 0.3], [0, 1, 0], weights=weights)
        assert found.notes["chosen"] <= 3
