"""Diagrams as small as in a paper, zoomed in, with bins of few rows: nothing is in the way."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import trueup as tu
from support.drawn import cropped, overlapping, points_of
from trueup.errors import InputError
from trueup.inference import calibration_curve, consistency_band
from trueup.plotting import plot_calibration_curve, plot_reliability


def rare(n: int = 4000):
    """About 3% outcomes: 99% of the scores are below 0.3."""
    rng = np.random.default_rng(0)
    logit = rng.normal(-4.0, 1.1, n)
    return 1 / (1 + np.exp(-logit)), rng.random(n) < 1 / (1 + np.exp(0.61 - 0.76 * logit))


def wide(n: int = 1500):
    rng = np.random.default_rng(1)
    p = rng.random(n)
    return p, rng.random(n) < 0.2 + 0.6 * p


def segments(ax, gid: str):
    found = [np.array(c.get_segments()) for c in ax.collections if c.get_gid() == gid]
    return np.concatenate(found)


def line_of(ax, gid: str):
    return np.concatenate([points_of(line) for line in ax.lines if line.get_gid() == gid])


def diagram(data, ax, form: str = "classical"):
    tu.reliability_diagram(*data, ax=ax, form=form, stats=True, title="Model A", name="model A")


def curve(data, ax, form: str = ""):
    plot_calibration_curve(calibration_curve(*data), ax=ax, title="Model A", remark="n = 4,000")


@pytest.mark.parametrize("layout", [None, "constrained"])
@pytest.mark.parametrize("draw", [diagram, curve])
def test_two_panels_of_a_paper_have_no_overlapping_text(draw, layout) -> None:
    figure = Figure(figsize=(5.5, 2.6), layout=layout)
    FigureCanvasAgg(figure)
    for ax, data in zip(figure.subplots(1, 2), (rare(), wide()), strict=True):
        draw(data, ax)
    assert overlapping(figure) == []
    assert cropped(figure) == []
    sides = [ax.bbox.width / figure.dpi for ax in figure.axes[:2]]
    assert min(sides) > 0.9  # inches: the data keep most of the height


@pytest.mark.parametrize("form", ["classical", "deviation"])
@pytest.mark.parametrize("data", [rare, wide])
def test_a_small_figure_has_no_overlapping_text(data, form) -> None:
    ax = tu.reliability_diagram(*data(), size=(3.3, 2.6), form=form, stats=True, title="Model A")
    assert ax.figure.get_size_inches().tolist() == [3.3, 2.6]
    assert overlapping(ax.figure) == []
    assert cropped(ax.figure) == []
    (low, high), ticks = ax.get_xlim(), ax.get_xticks()
    assert 2 <= np.sum((low <= ticks) & (ticks <= high)) <= 5


def test_two_models_on_small_axes_have_no_overlapping_text() -> None:
    figure = Figure(figsize=(3.3, 2.6))
    FigureCanvasAgg(figure)
    ax = figure.subplots()
    p, y = wide()
    tu.reliability_diagram(p, y, ax=ax, name="first")
    tu.reliability_diagram(p**2, y, ax=ax, name="second", band=False)
    assert len(ax.child_axes) == 2
    assert overlapping(figure) == []
    assert cropped(figure) == []


def test_overlapping_texts_are_found() -> None:
    figure = Figure(figsize=(3, 3))
    FigureCanvasAgg(figure)
    figure.text(0.5, 0.5, "one")
    figure.text(0.52, 0.5, "two")
    assert overlapping(figure) == [("two", "one")]


def test_rare_outcomes_are_zoomed_in_on_and_the_axis_says_so() -> None:
    p, y = rare()
    table = tu.BinnedError().table(p, y)
    ax = plot_reliability(table, band=consistency_band(table))
    high = ax.get_xlim()[1]
    assert high < 0.5
    beyond = table.share[table.count > 0][table.mean_score[table.count > 0] > high].sum()
    assert 0 < beyond <= 0.01
    assert f"(zoomed in; {100 * beyond:.2g}%" in ax.child_axes[0].get_xlabel()
    bands = segments(ax, "band")
    assert len(bands) == np.sum((table.count > 0) & (table.mean_score <= high))
    assert (bands >= ax.get_ylim()[0]).all()
    assert (bands <= ax.get_ylim()[1]).all()
    full = plot_reliability(table, zoom="none")
    assert full.get_xlim() == (-0.03, 1.03)
    assert "zoomed" not in full.child_axes[0].get_xlabel()
    chosen = plot_reliability(table, zoom=(0.0, 0.1))
    assert np.allclose(chosen.get_xlim(), (-0.003, 0.103))


@pytest.mark.parametrize("form", ["classical", "deviation"])
def test_bands_and_whiskers_lie_inside_the_limits(form) -> None:
    for data in (rare(300), wide(60), rare()):
        ax = tu.reliability_diagram(*data, form=form, whiskers=True, n_bins=20)
        drawn = [np.array(c.get_segments()) for c in ax.collections if hasattr(c, "get_segments")]
        heights = np.concatenate([part[:, :, 1].ravel() for part in drawn])
        low, high = ax.get_ylim()
        assert low <= heights.min()
        assert heights.max() <= high


def test_bins_of_few_rows_are_small_and_hollow_and_no_line_goes_through_them() -> None:
    p = np.r_[np.full(40, 0.05), np.full(4, 0.35), np.full(5, 0.55), np.full(40, 0.95)]
    y = np.r_[np.arange(40) < 2, np.ones(4), np.zeros(5), np.arange(40) < 38]
    table = tu.BinnedError().table(p, y)
    ax = plot_reliability(table, band=consistency_band(table))
    assert np.allclose(line_of(ax, "reliability")[:, 0], [0.05, 0.55, 0.95])
    (few,) = (line for line in ax.lines if line.get_gid() == "reliability-few")
    (firm,) = (line for line in ax.lines if line.get_gid() == "reliability")
    assert np.allclose(points_of(few), [[0.35, 1.0]])
    assert few.get_linestyle() == "None"
    assert few.get_markerfacecolor() == "white"
    assert few.get_markersize() < 0.6 * firm.get_markersize()
    without = plot_reliability(table)
    (few,) = (line for line in without.lines if line.get_gid() == "reliability-few")
    assert few.get_markerfacecolor() == "white"


def test_what_is_not_a_range_or_a_size_is_told_in_a_sentence() -> None:
    p, y = wide(50)
    for zoom in ("near", (0.5, 0.2), (0, 2), 0.5):
        with pytest.raises(InputError, match='`zoom` must be "auto", "none" or two increasing'):
            tu.reliability_diagram(p, y, zoom=zoom)
    for size in (3, (3, 2, 1), (0.1, 5)):
        with pytest.raises(InputError, match=r"`size` must be a pair \(width, height\) in inches"):
            tu.reliability_diagram(p, y, size=size)
    with pytest.raises(InputError, match="`binning` must be"):
        tu.reliability_diagram(p, y, binning="equal")


def test_where_rows_are_wide_apart_in_few_bins_nothing_is_zoomed() -> None:
    """One bin has one mean, but its rows may take the whole axis."""
    p, y = wide()
    table = tu.BinnedError(binning=tu.EqualMass(1)).table(p, y)
    assert plot_reliability(table).get_xlim() == (-0.03, 1.03)
    close = tu.BinnedError(binning=tu.EqualMass(1)).table(0.1 * p, y)
    assert plot_reliability(close).get_xlim()[1] < 1


def test_where_all_bins_are_small_the_legend_shows_no_line() -> None:
    p, y = wide(20)
    ax = tu.reliability_diagram(p, y, name="mine")
    entries = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "mine\n(fewer than 5 rows)" in entries
    assert "mine" not in entries
