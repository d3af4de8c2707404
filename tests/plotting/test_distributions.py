"""Curves of single predictions, errors by bins, null distributions and sums of scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import trueup as tu
from support.drawn import cropped, points_of
from trueup.errors import InputError
from trueup.plotting.decomposition import plot_decomposition
from trueup.plotting.error_by_bins import plot_error_by_bins
from trueup.plotting.null_distribution import plot_null
from trueup.plotting.psce import plot_psce
from trueup.results import Decomposition
from trueup.tables import ResultTable


def scores(n: int = 300):
    rng = np.random.default_rng(0)
    p = 0.2 + 0.6 * rng.random(n)
    return p, (rng.random(n) < p).astype(int)


def solid(ax):
    return [line for line in ax.lines if line.get_gid() == "psce"]


def test_the_curve_is_that_of_the_estimator_and_ends_at_the_scores() -> None:
    p, y = scores()
    curve = tu.PointwiseError().table(p, y)
    ax = plot_psce(curve)
    (line,) = solid(ax)
    x, accuracy = points_of(line).T
    firm = np.isfinite(accuracy)
    assert np.array_equal(x, curve["score"])
    assert np.array_equal(accuracy[firm], curve["mean_label"][firm])
    assert np.array_equal(firm, (x > p.min() - 0.01) & (x < p.max() + 0.01))
    calibrated, dotted, _ = ax.lines
    assert len(calibrated.get_xdata()) == 2
    assert dotted.get_linestyle() != line.get_linestyle()
    drawn = np.isfinite(dotted.get_ydata())
    assert np.array_equal(drawn, (x > p.min() - 0.01) & (x < p.max() + 0.01))
    assert np.array_equal(dotted.get_ydata()[drawn], curve["mean_label"][drawn])
    (nearby,) = ax.child_axes[0].collections
    assert np.isclose(nearby.get_paths()[0].vertices[:, 1].max(), curve["weight"].max())
    assert cropped(ax.figure) == []


def test_curves_of_classes_are_told_apart_or_thin() -> None:
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(9), 60)
    labels = rng.integers(0, 9, 60)
    curve = tu.PointwiseError().table(probs, labels)
    assert solid(plot_psce(curve)) == []
    ax = plot_psce(curve, only=[3, 5])
    assert [line.get_label() for line in solid(ax)] == ["3", "5"]
    (others,) = (c for c in ax.collections if c.get_label() == "7 other classes")
    assert len(others.get_segments()) == 7
    first = curve["class"] == 0
    everywhere = np.column_stack([curve["score"], curve["mean_label"]])[first]
    low, high = probs[:, 0].min() - 0.01, probs[:, 0].max() + 0.01  # of a grid of 101 points
    reached = (low < everywhere[:, 0]) & (everywhere[:, 0] < high)
    assert reached.sum() < len(reached)
    assert np.allclose(others.get_segments()[0], everywhere[reached])
    few = tu.PointwiseError().table(probs[:, :3] / probs[:, :3].sum(1, keepdims=True), labels % 3)
    assert len(solid(plot_psce(few))) == 3
    with pytest.raises(InputError, match="`only` must be names of classes"):
        plot_psce(curve, only=["cat"])


@pytest.mark.parametrize("p", [np.ones(20), np.zeros(20), np.full(20, 0.5), np.repeat([0, 1], 10)])
def test_few_distinct_scores_have_a_curve(p) -> None:
    ax = plot_psce(tu.PointwiseError().table(p, np.tile([0, 1, 1, 1], 5)))
    (line,) = solid(ax)
    assert np.isfinite(line.get_ydata()).any()
    assert cropped(ax.figure) == []


BINS = ResultTable(
    {
        "n_bins": np.array([5, 1, 2, 10]),
        "error": np.array([0.02, 0.0, 0.01, 0.05]),
        "low": np.array([0.01, 0.0, 0.0, 0.03]),
        "high": np.array([0.03, 0.01, 0.02, 0.08]),
        "monotone": np.array([True, True, True, False]),
    }
)


def test_errors_stand_at_their_numbers_of_bins() -> None:
    ax = plot_error_by_bins(BINS, chosen=5)
    line, choice = ax.lines
    assert np.array_equal(points_of(line), [[1, 0], [2, 0.01], [5, 0.02], [10, 0.05]])
    assert set(choice.get_xdata()) == {5}
    assert choice.get_label() == "selected by sweep: 5"
    band, rising, falling = ax.collections
    assert np.array_equal(rising.get_offsets(), [[1, 0], [2, 0.01], [5, 0.02]])
    assert np.array_equal(falling.get_offsets(), [[10, 0.05]])
    assert falling.get_facecolor()[0, :3].tolist() == [1, 1, 1]
    assert {tuple(v) for v in band.get_paths()[0].vertices} >= {(5, 0.01), (5, 0.03), (10, 0.08)}
    assert cropped(ax.figure) == []


def test_many_bins_stand_by_their_ratio_and_estimators_apart() -> None:
    number = np.tile([1, 10, 100, 1000], 2)
    table = ResultTable(
        {
            "n_bins": number,
            "error": number / 1000,
            "estimator": np.repeat(["plug-in", "debiased"], 4),
        }
    )
    ax = plot_error_by_bins(table)
    assert ax.get_xscale() == "log"
    assert [line.get_label() for line in ax.lines] == ["plug-in", "debiased"]
    assert len({(line.get_linestyle(), line.get_color()) for line in ax.lines}) == 2
    one = plot_error_by_bins(ResultTable({"n_bins": np.array([7]), "error": np.array([np.nan])}))
    assert one.get_xlim()[0] < 7 < one.get_xlim()[1]
    assert cropped(ax.figure) + cropped(one.figure) == []
    with pytest.raises(InputError, match="`chosen` must be a whole number"):
        plot_error_by_bins(BINS, chosen=0)


NULL = ResultTable(
    {
        "low": np.array([0.0, 0.01, 0.02]),
        "high": np.array([0.01, 0.02, 0.03]),
        "count": np.array([50, 30, 20]),
    }
)


@pytest.mark.parametrize("value", [-0.5, 0.0, 0.015, 0.03, 3.0])
def test_bars_are_the_counts_and_the_observed_value_is_marked(value) -> None:
    ax = plot_null(NULL, value, 0.01)
    assert [bar.get_height() for bar in ax.patches] == [50, 30, 20]
    if abs(value) < 1:
        assert np.allclose([bar.get_x() for bar in ax.patches], NULL["low"], atol=0.002)
    (mark,) = ax.lines
    (text,) = ax.texts
    assert text.get_text().endswith("p = 0.01")
    if value in (-0.5, 3.0):  # further away than twice the spread of the bars
        left, right = ax.get_xlim()
        assert left < mark.get_xdata()[0] < right
        assert mark.get_marker() == (">" if value > 0 else "<")
        assert not ax.collections
        assert f"observed: {value:g}, beyond the axis".replace("-", "−") in text.get_text()
        bars = max(spans(ax))[1] - min(spans(ax))[0]
        assert bars > 0.5 * (right - left)
    else:
        assert mark.get_xdata()[0] == value
        (line,) = ax.collections
        assert set(line.get_segments()[0][:, 0]) == {value}
    assert cropped(ax.figure) == []
    ax.figure.canvas.draw()
    top = ax.transData.transform([[0, 50]])[0, 1]
    assert text.get_window_extent().y0 > top  # above all bars
    assert ax.bbox.x0 <= text.get_window_extent().x0
    assert text.get_window_extent().x1 <= ax.bbox.x1


def test_a_statistic_that_never_changes_can_be_seen() -> None:
    still = ResultTable({"low": np.zeros(1), "high": np.zeros(1), "count": np.array([99])})
    (bar,) = plot_null(still, 0.0).patches
    assert bar.get_width() > 0
    with pytest.raises(InputError, match="`observed` must be a finite number"):
        plot_null(still, np.nan)


def test_the_result_of_a_test_is_plotted_from_its_draws() -> None:
    p, y = scores()
    for power in (1, 3):
        result = tu.calibration_test(p**power, y, statistic=tu.ece, n_resamples=199)
        ax = plot_null(result)
        draws = result.null_draws
        bars = [(*span, bar.get_height()) for span, bar in zip(spans(ax), ax.patches, strict=True)]
        assert len(bars) == 40
        assert sum(height for *_, height in bars) == 199
        for low, high, height in bars[1:-1]:
            inside = np.sum((draws >= low - 1e-12) & (draws < high - 1e-12))
            edge = np.sum(np.abs(draws - low) < 1e-9) + np.sum(np.abs(draws - high) < 1e-9)
            assert abs(inside - height) <= edge
        assert min(low for low, *_ in bars) == pytest.approx(draws.min())
        assert max(high for _, high, _ in bars) == pytest.approx(draws.max())
        (text,) = ax.texts
        assert text.get_text().startswith(f"observed: {result.statistic:.2g}"[:12])
        assert ("p ≤ 0.005" in text.get_text()) == (result.pvalue == 1 / 200)
        assert ax.get_xlabel() == "statistic of the consistency test"
        assert ax.get_ylabel() == "resamples under\nthe null hypothesis"
        assert cropped(ax.figure) == []
    assert plot_null(result, measure="ECE").get_xlabel() == "ECE"


def test_results_that_cannot_be_plotted_are_refused() -> None:
    p, y = scores()
    result = tu.calibration_test(p, y, n_resamples=19)
    for name in ("observed", "pvalue"):
        with pytest.raises(InputError, match=f"`{name}` must be omitted for the result of a test"):
            plot_null(result, **{name: 0.5})
    with pytest.raises(InputError, match="with null draws; got the result of a cox test"):
        plot_null(tu.calibration_test(p, y, method="cox"))
    with pytest.raises(InputError, match="`observed` must be a finite number"):
        plot_null(NULL)
    still = replace(result, statistic=5.0, null_draws=np.full(19, 5.0))
    assert sum(bar.get_height() for bar in plot_null(still).patches) == 19


def spans(ax):
    return [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches]


def test_bars_of_one_sum_begin_where_the_last_ends() -> None:
    found = Decomposition(0.20, 0.03, 0.08, 0.25, 0.0)
    ax = plot_decomposition(found, score="Brier score")
    expected = [(0, 0.25), (0.17, 0.25), (0.17, 0.20), (0, 0.20)]
    assert np.allclose(spans(ax), expected)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["uncertainty", "− discrimination", "+ miscalibration", "= Brier score"]
    assert [t.get_text() for t in ax.texts] == ["0.2500", "0.0800", "0.0300", "0.2000"]
    assert cropped(ax.figure) == []


def test_terms_of_several_begin_at_zero_and_differ_in_hatch() -> None:
    p, y = scores()
    found = {"a": tu.Brier().decompose(p, y), "b": tu.Brier().decompose(p**2, y)}
    ax = plot_decomposition(found)
    terms = ("uncertainty", "discrimination", "miscalibration")
    expected = [(0, getattr(one, term)) for one in found.values() for term in terms]
    assert np.allclose(spans(ax), expected)
    assert len({bar.get_hatch() for bar in ax.patches}) == 3
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(terms)
    assert cropped(ax.figure) == []


def test_awkward_sums_are_drawn() -> None:
    p, y = scores()
    bins = tu.Brier().decompose(p, y, binning=tu.EqualMass(5))
    ax = plot_decomposition(bins)
    assert len(ax.patches) == 5
    assert np.isclose(spans(ax)[3][1 if bins.within > 0 else 0], bins.score)
    nothing = plot_decomposition(Decomposition(0.0, 0.0, 0.0, 0.0, 0.0))
    assert cropped(ax.figure) + cropped(nothing.figure) == []
    for wrong in ({}, {"a": 1.0}, 0.5):
        with pytest.raises(InputError, match="`found` must be a Decomposition"):
            plot_decomposition(wrong)


def test_the_smallest_pvalue_that_the_resamples_can_give_is_a_bound() -> None:
    texts = [plot_null(NULL, 0.05, pvalue).texts[0].get_text() for pvalue in (1 / 101, 2 / 101)]
    assert texts[0].endswith("p ≤ 0.0099")
    assert texts[1].endswith("p = 0.0198")


def test_small_statistics_are_written_in_full() -> None:
    tiny = ResultTable({**NULL.data, "low": NULL["low"] / 1000, "high": NULL["high"] / 1000})
    ax = plot_null(tiny, 1.5e-5)
    assert ax.texts[0].get_text() == "observed: 0.000015"
    ax.figure.canvas.draw()
    assert ax.xaxis.get_offset_text().get_text() == ""
    assert "0.000010" in [label.get_text() for label in ax.get_xticklabels()]


def test_a_curve_is_zoomed_like_a_diagram_and_a_single_score_is_a_point() -> None:
    rng = np.random.default_rng(0)
    p = 0.1 * rng.random(500)
    y = rng.random(500) < p
    curve = tu.PointwiseError().table(p, y)
    ax = plot_psce(curve)
    assert 0.1 < ax.get_xlim()[1] < 0.5
    assert ax.child_axes[0].get_xlabel() == "predicted probability\n(zoomed in)"
    assert plot_psce(curve, zoom="none").get_xlim() == (-0.03, 1.03)
    one = plot_psce(tu.PointwiseError().table(np.ones(30), np.arange(30) > 2))
    assert any(line.get_marker() == "o" for line in one.lines)
