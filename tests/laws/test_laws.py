"""All estimators through all laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import trueup as tu
from laws.estimators import ESTIMATORS, NAMED, Entry
from support.samples import KINDS, Sample, draw_binary, draw_matrix
from trueup import metrics
from trueup.engines import set_threads, using
from trueup.estimators.decomposition import ProperScore
from trueup.estimators.pairs_estimator import PairsEstimator

ALL = list(ESTIMATORS.values())
NAMES = list(ESTIMATORS)
every = pytest.mark.parametrize("entry", ALL, ids=NAMES)
additive = pytest.mark.parametrize(
    "entry", [e for e in ALL if e.additive], ids=[n for n, e in ESTIMATORS.items() if e.additive]
)
few = settings(max_examples=max(8, settings.default.max_examples // 5))  # many tests share them
seeds = st.integers(0, 10**6)
kinds = st.sampled_from(KINDS)


SLOW = (
    *("Tree", "Grid", "Triangles", "width", "skce", "gaussian", "Canonical", "TopK"),
    *("CurveError", "ici", "e50", "e90"),
)


def samples(entry: Entry, seed: int, kind: str, weighting: str = "none", n: int = 50):
    """Binary and three-class data for an estimator, as far as it takes them."""
    if entry.binary:
        yield draw_binary(seed, n, kind, weighting)
    if entry.matrix:
        yield draw_matrix(seed, n, 3, kind, weighting)


def value(entry: Entry, sample: Sample) -> float:
    return entry.estimator(sample.probs, sample.labels, weights=sample.weights)


def take(sample: Sample, rows: np.ndarray | slice) -> Sample:
    weights = None if sample.weights is None else sample.weights[rows]
    return Sample(sample.probs[rows], sample.labels[rows], weights)


def close(a: float, b: float) -> bool:
    # the root of a rounding error in the square is 1e-8, so squares are compared as well
    return a == pytest.approx(b, rel=1e-12, abs=1e-12) or a * a == pytest.approx(b * b, abs=1e-14)


def test_the_list_holds_every_named_metric():
    assert set(metrics.__all__) == set(NAMED)


@every
def test_zero_at_the_truth(entry: Entry):
    if not entry.zero:
        pytest.skip("proper scores, label-binned and smoothed errors have no zero here")
    if entry.binary:  # ten rows of each score k/10, k of them positive
        probs = np.repeat(np.arange(11) / 10, 10)
        labels = np.concatenate([np.arange(10) < k for k in range(11)])
        assert entry.estimator(probs, labels) == pytest.approx(0, abs=1e-12)
    if entry.matrix:
        rows = np.array([[5, 3, 2], [2, 2, 6], [1, 8, 1]])
        probs = np.repeat(rows / 10, 10, axis=0)
        labels = np.concatenate([np.repeat(np.arange(3), row) for row in rows])
        assert entry.estimator(probs, labels) == pytest.approx(0, abs=1e-8)


@every
def test_it_prints_as_the_call_that_makes_it(entry: Entry):
    if not isinstance(entry.estimator, tu.BinnedError | PairsEstimator | ProperScore):
        pytest.skip("a function")
    names = {n: getattr(tu, n) for n in tu.__all__} | vars(tu.lens) | vars(tu.bins) | {"math": math}
    assert eval(repr(entry.estimator), names) == entry.estimator


@every
@few
@given(seed=seeds, kind=kinds)
def test_between_zero_and_one(entry: Entry, seed: int, kind: str):
    if not entry.error:
        pytest.skip("not an error")
    for sample in samples(entry, seed, kind, "eighths"):
        assert -0.0 <= value(entry, sample) <= 1 + 1e-12


@every
@few
@given(seed=seeds, kind=kinds, weighting=st.sampled_from(["none", "eighths"]))
def test_the_order_of_rows_changes_nothing(entry: Entry, seed: int, kind: str, weighting: str):
    if entry.ordered:
        pytest.skip("takes rows in the order they come")
    for sample in samples(entry, seed, kind, weighting):
        shuffled = take(sample, np.random.default_rng(seed).permutation(len(sample.labels)))
        assert close(value(entry, sample), value(entry, shuffled))
        if isinstance(entry.estimator, tu.BinnedError | tu.SweepError):
            before = entry.estimator.table(sample.probs, sample.labels, weights=sample.weights)
            after = entry.estimator.table(shuffled.probs, shuffled.labels, weights=shuffled.weights)
            assert counts(before) == counts(after)


def counts(table) -> list:
    if isinstance(table, tu.tables.BinTables):
        return [None if t is None else counts(t) for t in table.tables]
    return table.count.tolist()


@every
@few
@given(seed=seeds, kind=kinds)
def test_repeated_rows_and_doubled_weights(entry: Entry, seed: int, kind: str):
    if not entry.plug_in:
        pytest.skip("debiased values know the sample size: repeated rows are not new data")
    for sample in samples(entry, seed, kind):
        once = value(entry, sample)
        estimator = entry.estimator
        bins = getattr(getattr(estimator, "binning", None), "n_bins", None)
        grows = bins == "auto" or "VarianceTree" in repr(estimator) or "width" in repr(estimator)
        twice = Sample(np.repeat(sample.probs, 2, axis=0), np.repeat(sample.labels, 2), None)
        if not grows:  # these make more bins of more rows
            assert close(value(entry, twice), once)
        two = Sample(sample.probs, sample.labels, np.full(len(sample.labels), 2.0))
        assert close(value(entry, two), once)
        third = Sample(sample.probs, sample.labels, np.full(len(sample.labels), 1 / 3))
        assert close(value(entry, third), once)


@every
@few
@given(seed=seeds, kind=kinds)
def test_whole_weights_are_repeated_rows(entry: Entry, seed: int, kind: str):
    counts_rows = ("auto", "Tree", "Sweep", "sweep")
    if not entry.plug_in or any(word in repr(entry.estimator) for word in counts_rows):
        pytest.skip("the sample size counts here")
    for sample in samples(entry, seed, kind, "whole", n=25):
        times = sample.weights.astype(int)
        repeated = Sample(
            np.repeat(sample.probs, times, axis=0), np.repeat(sample.labels, times), None
        )
        assert close(value(entry, sample), value(entry, repeated))


@every
@few
@given(seed=seeds, kind=kinds)
def test_rows_of_weight_zero_are_not_there(entry: Entry, seed: int, kind: str):
    for sample in samples(entry, seed, kind, "eighths"):
        keep = np.random.default_rng(seed).random(len(sample.labels)) < 0.6
        keep[0] = True
        zeroed = Sample(sample.probs, sample.labels, np.where(keep, sample.weights, 0))
        assert close(value(entry, zeroed), value(entry, take(sample, keep)))


@every
@few
@given(seed=seeds, kind=st.sampled_from(["smooth", "near_one"]))
def test_renaming_classes_changes_nothing(entry: Entry, seed: int, kind: str):
    if not (entry.symmetric and entry.matrix):
        pytest.skip("looks at particular classes")
    sample = draw_matrix(seed, 50, entry.most_classes, kind)
    order = np.random.default_rng(seed).permutation(entry.most_classes)
    renamed = Sample(sample.probs[:, order], np.argsort(order)[sample.labels], None)
    assert close(value(entry, sample), value(entry, renamed))


@every
@few
@given(seed=seeds, kind=kinds, weighting=st.sampled_from(["none", "eighths"]))
def test_engines_agree(entry: Entry, seed: int, kind: str, weighting: str):
    for sample in samples(entry, seed, kind, weighting):
        with using("reference"):
            reference = value(entry, sample)
        assert close(value(entry, sample), reference)


@every
def test_one_thread_and_two_give_the_same_bits(entry: Entry):
    slow = any(word in repr(entry.estimator) for word in SLOW)
    n = 2_000 if slow else 300_000
    for sample in samples(entry, 7, "smooth", n=n):
        values = []
        for threads in (1, 2, 3):
            set_threads(threads)
            try:
                values.append(value(entry, sample))
            finally:
                set_threads(None)
        assert values[0] == values[1] == values[2]


@every
@pytest.mark.parametrize("kind", KINDS)
def test_one_row(entry: Entry, kind: str):
    for sample in samples(entry, 3, kind, n=1):
        if sample.probs.max() > 0.95 and "0.05, 0.95" in repr(entry.estimator):
            continue  # nothing inside the region
        assert np.isfinite(value(entry, sample))


@every
@few
@given(seed=seeds, kind=kinds)
def test_forecasts_in_place_of_arrays(entry: Entry, seed: int, kind: str):
    for sample in samples(entry, seed, kind, "eighths"):
        forecasts = tu.Forecasts.from_arrays(sample.probs, sample.labels, weights=sample.weights)
        assert entry.estimator(forecasts) == value(entry, sample)


@additive
@few
@given(seed=seeds, kind=kinds, weighting=st.sampled_from(["none", "eighths"]))
def test_tables_of_parts_add_up(entry: Entry, seed: int, kind: str, weighting: str):
    for sample in samples(entry, seed, kind, weighting):
        table = entry.estimator.table
        whole = table(sample.probs, sample.labels, weights=sample.weights)
        parts = [take(sample, slice(0, 17)), take(sample, slice(17, None))]
        first, second = (table(s.probs, s.labels, weights=s.weights) for s in parts)
        total = first + second
        assert counts(total) == counts(whole)
        a, b = total.columns(), whole.columns()
        for name in a:
            np.testing.assert_allclose(
                np.asarray(a[name], object if name == "class" else float).astype(float),
                np.asarray(b[name], object if name == "class" else float).astype(float),
                rtol=1e-12,
                atol=1e-12,
            )


@given(seed=seeds, kind=kinds, norm=st.sampled_from([1, 2, 3.5, np.inf]))
def test_plug_in_never_exceeds_label_binned(seed: int, kind: str, norm: float):
    for binning in (tu.EqualWidth(5), tu.EqualMass(5)):
        for weighting in ("none", "eighths"):
            sample = draw_binary(seed, 40, kind, weighting)
            args = (sample.probs, sample.labels)
            plug_in = tu.BinnedError(None, binning, norm)(*args, weights=sample.weights)
            labels = tu.BinnedError(None, binning, norm, label_binned=True)
            assert plug_in <= labels(*args, weights=sample.weights)


@given(seed=seeds, kind=kinds)
def test_two_columns_are_the_binary_problem(seed: int, kind: str):
    sample = draw_binary(seed, 50, kind)
    columns = np.column_stack([1 - sample.probs, sample.probs])
    for binning in (tu.EqualWidth(15), tu.EqualMass(15)):
        for lens in (tu.lens.Binary(), tu.lens.OneVsRest(1)):
            estimator = tu.BinnedError(lens, binning)
            assert estimator(columns, sample.labels) == estimator(sample.probs, sample.labels)
    assert tu.SweepError(tu.lens.Binary())(columns, sample.labels) == tu.ece_sweep(
        sample.probs, sample.labels
    )


@given(seed=seeds)
def test_truth_minimises_the_proper_scores(seed: int):
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet([1, 1, 1])
    other = rng.dirichlet([1, 1, 1])
    labels = np.arange(3)  # one row of each class, weighted by how often it happens
    for score in (tu.brier, tu.log_loss):
        best = score(np.tile(truth, (3, 1)), labels, weights=truth)
        assert best <= score(np.tile(other, (3, 1)), labels, weights=truth) + 1e-12
