"""Traces over training steps: batches add up to the whole, and nothing is kept but sums."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st

import trueup as tu
from support.samples import KINDS, draw_binary, draw_matrix

FIXED = tu.bins.FixedEdges([0, 0.1, 0.5, 1])
ADDING = [
    tu.BinnedError(),
    tu.BinnedError(norm=2, debias=True),
    tu.BinnedError(binning=FIXED, norm=np.inf),
    tu.BinnedError(tu.lens.ClassWise(), FIXED),
    tu.BinnedError(tu.lens.TopLabelByClass(), FIXED),
    tu.BinnedError(tu.lens.Canonical(), tu.bins.SimplexGrid(3)),
    tu.Brier(),
    tu.LogLoss(),
]

OF_THREE = tu.BinnedError(tu.lens.Canonical(), tu.bins.SimplexTriangles(3))


@given(st.integers(0, 10**6), st.sampled_from(KINDS), st.sampled_from(["none", "eighths"]))
def test_batches_add_up_to_the_whole(seed: int, kind: str, weighting: str):
    for sample in (
        draw_binary(seed, 60, kind, weighting),
        draw_matrix(seed, 60, 3, kind, weighting),
    ):
        adding = [*ADDING, OF_THREE] if sample.probs.ndim == 2 else ADDING
        trace = tu.Trace(adding)
        for rows in (slice(0, 7), slice(7, 40), slice(40, 60)):
            weights = None if sample.weights is None else sample.weights[rows]
            trace.update(sample.probs[rows], sample.labels[rows], weights=weights)
        found = trace.record("end")
        for estimator in adding:
            whole = estimator(sample.probs, sample.labels, weights=sample.weights)
            assert found[repr(estimator)] == pytest.approx(whole, rel=1e-9, abs=1e-9)


def test_any_metric_of_a_whole_step():
    trace = tu.Trace({"sweep": tu.ece_sweep, "mass": tu.BinnedError(binning=tu.EqualMass(5))})
    for step in range(3):
        sample = draw_binary(step, 50, "smooth")
        found = trace.record(step, sample.probs, sample.labels)
        assert found["sweep"] == tu.ece_sweep(sample.probs, sample.labels)
    table = trace.table()
    assert list(table.columns()) == ["step", "rows", "sweep", "mass"]
    assert table["step"].tolist() == [0, 1, 2]
    assert table["rows"].tolist() == [50, 50, 50]
    assert list(trace.to_frame("polars")["step"]) == [0, 1, 2]
    assert len(trace) == 3
    assert repr(trace) == "Trace of sweep, mass over 3 steps"


def test_state_does_not_grow_with_the_data():
    trace = tu.Trace([tu.BinnedError(), tu.Brier()])
    sample = draw_binary(0, 100, "smooth")
    trace.update(sample.probs, sample.labels)
    size = len(pickle.dumps(trace))
    for _ in range(20):
        trace.update(sample.probs, sample.labels)
    assert len(pickle.dumps(trace)) < size + 100  # larger counts have more digits
    resumed = pickle.loads(pickle.dumps(trace))
    assert resumed.record(1) == trace.record(1)


def test_refusals_leave_the_step_as_it_was():
    trace = tu.Trace({"sweep": tu.SweepError(), "ece": tu.BinnedError()})
    trace.update([0.2, 0.7], [0, 1])
    with pytest.raises(tu.InputError, match="'sweep' needs all rows"):
        trace.update([0.2, 0.7], [0, 1])
    with pytest.raises(tu.InputError, match="between 0 and 1"):
        trace.update([0.2, 1.7], [0, 1])
    assert trace.record(0)["ece"] == tu.ece([0.2, 0.7], [0, 1])
    with pytest.raises(tu.InputError, match=r"call update\(probs, labels\) first"):
        trace.record(1)


def test_batches_of_a_step_are_of_one_kind():
    trace = tu.Trace([tu.Brier()])
    trace.update([[0.2, 0.3, 0.5]], [0])
    for probs, words in (([0.2], "binary scores"), ([[0.2, 0.3, 0.1, 0.4]], "4 columns")):
        said = rf"other batches of the step \(3 columns\); got {words}"
        with pytest.raises(tu.InputError, match=said):
            trace.update(probs, [0])
    assert trace.record("all") == {"Brier()": tu.brier([[0.2, 0.3, 0.5]], [0])}


def test_steps_keep_their_names():
    trace = tu.Trace([tu.ece, tu.Brier()])
    for step in ("first", (2, "b"), 3):
        trace.record(step, [0.2, 0.7], [0, 1])
    assert trace.table()["step"].tolist() == ["first", (2, "b"), 3]
    assert list(trace.table()) == ["step", "rows", "ece", "Brier()"]


@pytest.mark.parametrize(
    ("metrics", "words"),
    [
        ({}, "must not be empty"),
        ([tu.BinnedError], "contain a function"),
        ({"step": tu.ece}, 'not use the reserved names "step"'),
        ({1: tu.ece}, "not use the reserved names"),
        ([tu.Brier(), tu.Brier()], "must not contain duplicates"),
        ("ece", "a dictionary or a list"),
        (tu.BinnedError(), "a dictionary or a list"),
        ({"ece": 3}, "contain a function under 'ece'"),
    ],
)
def test_metrics_that_are_none(metrics, words):
    with pytest.raises(tu.InputError, match=words):
        tu.Trace(metrics)


def test_named_metrics_add_up() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(300)
    y = (rng.random(300) < p).astype(int)
    metrics = {"nll": tu.log_loss, "brier": tu.brier, "ece": tu.ece, "mce": tu.mce}
    trace = tu.Trace(metrics)
    for start in range(0, 300, 100):
        trace.update(p[start : start + 100], y[start : start + 100])
    result = trace.record("epoch 1")
    for name, metric in metrics.items():
        assert result[name] == pytest.approx(metric(p, y), rel=1e-12)


def test_traces_of_several_processes_are_merged() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(300)
    y = (rng.random(300) < p).astype(int)
    metrics = {"nll": tu.log_loss, "ece": tu.BinnedError()}
    parts = [tu.Trace(metrics) for _ in range(3)]
    for k, part in enumerate(parts[:2]):
        part.update(p[k::2], y[k::2])
    main = tu.Trace(metrics)
    main.merge(*pickle.loads(pickle.dumps(parts)))  # the last has seen nothing
    result = main.record(1)
    assert result["nll"] == pytest.approx(tu.log_loss(p, y), rel=1e-12)
    assert result["ece"] == pytest.approx(tu.ece(p, y), rel=1e-12)
    assert main.table()["rows"].tolist() == [300]


def test_what_cannot_be_merged() -> None:
    one, other = tu.Trace([tu.ece]), tu.Trace([tu.brier])
    with pytest.raises(tu.InputError, match="`others` must be traces of the same metrics"):
        one.merge(other)
    with pytest.raises(tu.InputError, match="`others` must be traces"):
        one.merge({"ece": 1})  # type: ignore[arg-type]
    binary, matrix = tu.Trace([tu.ece]), tu.Trace([tu.ece])
    binary.update([0.2, 0.7], [0, 1])
    matrix.update([[0.2, 0.3, 0.5]], [1])
    with pytest.raises(tu.InputError, match="`others` must match the other batches of the step"):
        binary.merge(matrix)
    whole, more = tu.Trace([tu.ks_error]), tu.Trace([tu.ks_error])
    whole.update([0.2, 0.7], [0, 1])
    more.update([0.2, 0.7], [0, 1])
    with pytest.raises(tu.InputError, match="'ks_error' needs all rows"):
        whole.merge(more)
