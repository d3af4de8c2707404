"""The table of per-class errors against the estimator on every one-vs-rest problem."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import trueup as tu
from support.samples import Sample, draw_matrix, matrix_samples

pytestmark = pytest.mark.usefixtures("each_engine")

METRICS = [
    tu.ece,
    tu.brier,
    tu.log_loss,
    tu.BinnedError(tu.lens.ClassWise(), tu.EqualMass(5), norm=2, debias=True),
    tu.SweepError(),
    tu.Brier(),
]


@given(matrix_samples)
def test_each_class_is_its_binary_problem(sample: Sample):
    for metric in METRICS:
        table = tu.class_errors(metric, sample.probs, sample.labels, weights=sample.weights)
        assert table["class"].tolist() == list(range(sample.probs.shape[1]))
        one = metric
        if hasattr(metric, "lens"):
            one = tu.BinnedError(None, tu.EqualMass(5), norm=2, debias=True)
            one = tu.SweepError() if isinstance(metric, tu.SweepError) else one
        rows = tu.Forecasts.from_arrays(sample.probs, sample.labels).rows(slice(None))
        for k, error in enumerate(table["error"]):
            labels = sample.labels == k
            assert error == pytest.approx(one(rows[:, k], labels, weights=sample.weights))
            assert table["mean_label"][k] == pytest.approx(
                np.average(labels, weights=sample.weights)
            )
        assert np.allclose(table["gap"], table["mean_label"] - table["mean_score"])


def test_the_average_is_the_class_wise_error():
    sample = draw_matrix(4, 300, 6, "smooth")
    table = tu.class_errors(tu.BinnedError(), sample.probs, sample.labels)
    assert table["share"] @ table["error"] == pytest.approx(tu.sce(sample.probs, sample.labels))


def test_by_predicted_class():
    sample = draw_matrix(5, 300, 4, "smooth")
    estimator = tu.BinnedError(tu.lens.TopLabelByClass())
    table = tu.class_errors(estimator, sample.probs, sample.labels)
    assert table["share"].sum() == pytest.approx(1)
    whole = estimator(sample.probs, sample.labels)
    assert table["share"] @ table["error"] == pytest.approx(whole)


def test_an_empty_region_has_no_error_to_show():
    probs = [[0.995, 0.005], [0.99, 0.01]]
    lens = tu.lens.ClassWise(where=(0.5, 1.0))
    table = tu.class_errors(tu.BinnedError(lens), probs, [0, 0])
    assert table["error"][0] == pytest.approx(0.0075)
    assert np.isnan(table["error"][1])


def test_binary_data_names_and_frames():
    table = tu.class_errors(tu.ece, [0.2, 0.9], [0, 1])
    assert table["class"].tolist() == [1]
    forecasts = tu.Forecasts.from_arrays([[0.7, 0.3], [0.2, 0.8]], ["a", "b"], classes=["a", "b"])
    table = tu.class_errors(tu.ece, forecasts)
    assert table["class"].tolist() == ["a", "b"]
    assert list(table.to_frame("pandas").columns) == list(table.columns())
    assert "mean_score" in repr(table)
    for lens in (tu.lens.Canonical(), tu.lens.OneVsRest(1), tu.lens.Pooled()):
        with pytest.raises(tu.InputError, match="have no lens, or Binary"):
            tu.class_errors(tu.BinnedError(lens, tu.bins.SimplexGrid(3)), forecasts)
    for nothing in (None, "ece", tu.BinnedError, tu.lens.TopLabel()):
        with pytest.raises(tu.InputError, match="an estimator, such as SweepError"):
            tu.class_errors(nothing, forecasts)


def test_a_region_is_kept_and_a_type_is_not_forgotten():
    sample = draw_matrix(6, 200, 3, "smooth")
    table = tu.class_errors(
        tu.BinnedError(tu.lens.TopLabel(where=(0.5, 1.0))), sample.probs, sample.labels
    )
    for k, error in enumerate(table["error"]):
        one = tu.BinnedError(tu.lens.OneVsRest(k, where=(0.5, 1.0)))
        assert error == pytest.approx(one(sample.probs, sample.labels))
    probs = np.eye(3, dtype=np.float32)[[0, 1, 2, 0]]
    for metric in (tu.log_loss, tu.LogLoss()):  # clipped at the smallest float32, not float64
        table = tu.class_errors(metric, probs, [1, 1, 2, 0])
        assert table["error"][0] == tu.log_loss(probs[:, 0], [0, 0, 0, 1])
