"""Reliability diagrams show the numbers of their tables, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

import trueup as tu
from support.drawn import cropped, plain_axes, points_of
from trueup.errors import InputError
from trueup.inference import confidence_band, consistency_band
from trueup.plotting.common.figures import Room
from trueup.plotting.common.style import VERMILION
from trueup.plotting.reliability import plot_reliability
from trueup.tables import BinTable

WIDTH = tu.BinnedError(binning=tu.EqualWidth(10))
MASS = tu.BinnedError(binning=tu.EqualMass(8))
GIDS = ("reliability", "reliability-few")
TREE = tu.BinnedError(binning=tu.bins.VarianceTree())


def sample(n: int = 600, power: float = 2.0):
    rng = np.random.default_rng(0)
    p = 0.15 + 0.8 * rng.random(n)
    return p, (rng.random(n) < p**power).astype(int)


def observed(ax):
    """Points of all bins, in order: those on the line, and those of bins of few rows."""
    found = [points_of(line) for line in ax.lines if line.get_gid() in GIDS]
    points = np.concatenate(found)
    return points[np.argsort(points[:, 0])]


def diamonds(ax):
    found = [points_of(line) for line in ax.lines if line.get_marker() == "D"]
    return np.concatenate(found) if found else np.zeros((0, 2))


def segments(ax, name):
    (bars,) = (c for c in ax.collections if name in (c.get_label(), c.get_gid()))
    return np.array(bars.get_segments())


def strip_of(ax):
    (strip,) = ax.child_axes
    return strip


@pytest.mark.parametrize("estimator", [WIDTH, MASS, TREE], ids=["width", "mass", "tree"])
@pytest.mark.parametrize("form", ["classical", "deviation"])
def test_points_bars_and_whiskers_are_the_numbers_given(estimator, form) -> None:
    table = estimator.table(*sample())
    full = table.count > 0
    band, around = consistency_band(table), confidence_band(table)
    ax = plot_reliability(table, band=band, confidence=around, form=form)
    base = table.mean_score[full] if form == "deviation" else 0.0
    score = table.mean_score[full]
    assert np.allclose(observed(ax), np.column_stack([score, table.mean_label[full] - base]))
    for columns, label in (
        (band, "band"),
        (around, "confidence interval"),
    ):
        drawn = segments(ax, label)
        assert np.allclose(drawn[:, :, 0], score[:, None])
        ends = np.column_stack([columns["low"][full] - base, columns["high"][full] - base])
        assert np.allclose(drawn[:, :, 1].T - ends.T, 0)
    outside = (table.mean_label < band["low"]) | (table.mean_label > band["high"])
    assert outside.any()
    assert np.allclose(diamonds(ax)[:, 0], table.mean_score[outside])
    (marked,) = (line for line in ax.lines if line.get_marker() == "D")
    assert marked.get_markerfacecolor() == VERMILION
    low, high = ax.get_ylim()
    assert low < observed(ax)[:, 1].min()
    assert observed(ax)[:, 1].max() < high


def test_bars_of_equal_width_bins_are_shares_over_their_edges() -> None:
    table = WIDTH.table(*sample())
    assert not table.count.all()  # the lowest is empty
    bars = strip_of(plot_reliability(table)).patches
    full = table.count > 0
    assert np.allclose([bar.get_height() for bar in bars], table.share[full])
    assert np.allclose([bar.get_x() for bar in bars], table.edges[:-1][full])
    assert np.allclose([bar.get_width() for bar in bars], 0.1)


@pytest.mark.parametrize("estimator", [MASS, TREE], ids=["mass", "tree"])
def test_uneven_bins_have_stems_at_their_mean_score(estimator) -> None:
    table = estimator.table(*sample())
    (stems,) = strip_of(plot_reliability(table)).collections
    tips = np.array(stems.get_segments())[:, 1]
    full = table.count > 0
    assert np.allclose(tips, np.column_stack([table.mean_score[full], table.share[full]]))


def test_the_strip_shares_the_x_axis_and_lies_in_the_place_of_the_axes() -> None:
    ax = plain_axes()
    place = ax.get_position()
    plot_reliability(MASS.table(*sample()), ax=ax, zoom="auto")
    strip = strip_of(ax)
    assert strip.get_xlim() == ax.get_xlim()
    assert cropped(ax.figure) == []
    inside = ax.figure.transFigure.inverted()
    low = inside.transform((0, strip.bbox.y0))[1]
    assert place.y0 - 1e-6 <= low
    assert strip.bbox.y1 < ax.bbox.y0
    assert isinstance(ax.get_axes_locator(), Room)
    assert plot_reliability(MASS.table(*sample()), histogram=False).child_axes == []


def test_the_classical_form_is_a_unit_square_unless_zoomed() -> None:
    rng = np.random.default_rng(1)
    p = 0.008 * rng.random(5000)
    table = MASS.table(p, (rng.random(5000) < p).astype(int))
    wide, close = plot_reliability(table, zoom="none"), plot_reliability(table)
    assert wide.get_aspect() == 1
    assert wide.get_xlim() == wide.get_ylim() == (-0.03, 1.03)
    assert close.get_xlim() == close.get_ylim()
    assert close.get_xlim()[1] < 0.02
    assert observed(close).max() < close.get_xlim()[1]
    spread = WIDTH.table(*sample())
    assert plot_reliability(spread, zoom="auto").get_xlim() == (-0.03, 1.03)


def test_several_models_are_told_apart_and_have_a_strip_each() -> None:
    tables = {name: WIDTH.table(*sample(power=power)) for name, power in (("a", 1.0), ("b", 3.0))}
    ax = None
    for name, table in tables.items():
        ax = plot_reliability(table, name=name, ax=ax, band=consistency_band(table))
    first, second = (line for line in ax.lines if line.get_gid() == "reliability")
    assert (first.get_marker(), first.get_linestyle()) != (
        second.get_marker(),
        second.get_linestyle(),
    )
    entries = [text.get_text() for text in ax.get_legend().get_texts()]
    assert {"a", "b", "calibrated"} <= set(entries)
    assert len(entries) == len(set(entries))
    assert len(ax.child_axes) == 2
    for strip, table in zip(ax.child_axes, tables.values(), strict=True):
        heights = [bar.get_height() for bar in strip.patches]
        assert np.allclose(heights, table.share[table.count > 0])
    assert [strip.get_xlabel() for strip in ax.child_axes] == ["", "mean predicted probability"]
    ax.figure.canvas.draw()
    upper, lower = (strip.bbox for strip in ax.child_axes)
    assert ax.bbox.y0 > upper.y1 > upper.y0 > lower.y1
    assert cropped(ax.figure) == []


def test_a_value_on_the_edge_of_its_range_is_inside() -> None:
    table = tu.BinnedError(binning=tu.EqualWidth(1)).table([0.5] * 4, [1, 1, 1, 1])
    band = consistency_band(table)
    assert band["high"][0] == 1
    assert len(diamonds(plot_reliability(table, band=band))) == 0


AWKWARD = {
    "one row": ([0.4], [1]),
    "all 1.0": (np.ones(50), np.r_[np.ones(40), np.zeros(10)].astype(int)),
    "all 0": (np.zeros(5), np.zeros(5, int)),
    "one class": (np.linspace(0, 1, 20), np.ones(20, int)),
    "n = 20": sample(20),
    "ties": (np.repeat([0.9, 0.95], 30), np.tile([0, 1, 1], 20)),
}


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("form", ["classical", "deviation"])
@pytest.mark.parametrize("zoom", ["none", "auto"])
def test_awkward_tables_are_drawn_whole(name, form, zoom) -> None:
    for estimator in (WIDTH, MASS):
        table = estimator.table(*AWKWARD[name])
        bands = {"band": consistency_band(table), "confidence": confidence_band(table)}
        ax = plot_reliability(table, form=form, zoom=zoom, **bands)
        assert cropped(ax.figure) == []
        assert len(observed(ax)) == np.count_nonzero(table.count)
        (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
        x, y = observed(ax).T
        assert ((left < x) & (x < right) & (low < y) & (y < high)).all()


def test_a_table_without_rows_is_only_a_diagonal() -> None:
    table = MASS.table(*sample())
    none = BinTable(table.edges, 8, type(table.sums)(*(0 * moment for moment in table.sums)))
    ax = plot_reliability(none)
    assert len(observed(ax)) == 0
    assert cropped(ax.figure) == []


def test_wrong_input_is_told_in_a_sentence() -> None:
    table = MASS.table(*sample())
    family = tu.BinnedError(lens=tu.lens.ClassWise()).table([[0.2, 0.8]], [1])
    with pytest.raises(InputError, match="`table` must be a BinTable"):
        plot_reliability(family)
    other = consistency_band(WIDTH.table(*sample()))
    with pytest.raises(InputError, match="`band` must be the band of this table, with 8 rows"):
        plot_reliability(table, band=other)
    with pytest.raises(InputError, match="'low' and 'high'"):
        plot_reliability(table, band=tu.tables.ResultTable({"low": np.zeros(8)}))
    with pytest.raises(InputError, match='`form` must be "classical" or "deviation"'):
        plot_reliability(table, form="bars")
