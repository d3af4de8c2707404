"""What every figure of bins, classes, groups and sums keeps to, whatever its table."""

from __future__ import annotations

import sys

import matplotlib
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import trueup as tu
from support.drawn import cropped, plain_axes, saved
from trueup.inference import confidence_band, consistency_band
from trueup.plotting.decomposition import plot_decomposition
from trueup.plotting.error_by_bins import plot_error_by_bins
from trueup.plotting.null_distribution import plot_null
from trueup.plotting.psce import plot_psce
from trueup.plotting.reliability import plot_reliability
from trueup.plotting.row_charts.class_and_group_errors import plot_class_errors, plot_group_errors
from trueup.plotting.row_charts.comparison import plot_comparison
from trueup.tables import ResultTable

NAMES = np.array(["first", "costs $5 or $6", "_hidden", "a name much too long to be shown in full"])


def _cases():
    rng = np.random.default_rng(0)
    p = rng.random(60)
    y = (rng.random(60) < p).astype(int)
    table = tu.BinnedError(binning=tu.EqualMass(6)).table(p, y)
    bands = {"band": consistency_band(table), "confidence": confidence_band(table)}
    error = np.array([0.01, 0.0, 0.03, 0.02])
    rows = {"error": error, "low": 0.5 * error, "high": 2 * error, "gap": error - 0.01}
    tests = {"pvalue": 10 * error, "adjusted_pvalue": 20 * error, "n": np.array([1, 20, 300, 4000])}
    many = {"class": np.arange(1000), "error": rng.random(1000), "gap": rng.normal(size=1000)}
    counts = {"n_bins": np.arange(1, 5), "error": error, "monotone": error > 0}
    edges = np.linspace(0, 0.05, 11)
    null = ResultTable({"low": edges[:-1], "high": edges[1:], "count": rng.integers(0, 99, 10)})
    parts = {name: tu.Brier().decompose(p, y) for name in NAMES}
    return {
        "reliability": lambda ax: plot_reliability(table, ax=ax, name=NAMES[1], **bands),
        "deviation": lambda ax: plot_reliability(table, ax=ax, form="deviation", **bands),
        "classes": lambda ax: plot_class_errors(
            ResultTable({"class": NAMES} | rows | tests), ax=ax
        ),
        "many": lambda ax: plot_class_errors(ResultTable(many), ax=ax),
        "groups": lambda ax: plot_group_errors(ResultTable({"group": NAMES} | rows | tests), ax=ax),
        "models": lambda ax: plot_comparison(ResultTable({"model": NAMES} | rows | tests), ax=ax),
        "psce": lambda ax: plot_psce(tu.PointwiseError().table(p, y), ax=ax),
        "bins": lambda ax: plot_error_by_bins(ResultTable(counts), chosen=3, ax=ax),
        "null": lambda ax: plot_null(null, 0.04, 0.01, ax=ax),
        "sum": lambda ax: plot_decomposition(tu.Brier().decompose(p, y), ax=ax),
        "sums": lambda ax: plot_decomposition(parts, ax=ax),
    }


CASES = _cases()
PARTS = sorted(CASES)


@pytest.mark.parametrize("name", PARTS)
def test_new_axes_hold_all_text_and_belong_to_no_global_list(name) -> None:
    ax = CASES[name](None)
    assert cropped(ax.figure) == []
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or pyplot.get_fignums() == []


@pytest.mark.parametrize("name", PARTS)
def test_given_axes_are_drawn_on_and_returned(name) -> None:
    ax = plain_axes()
    before = len(ax.get_children())
    assert CASES[name](ax) is ax
    assert len(ax.get_children()) > before
    assert cropped(ax.figure) == []


@pytest.mark.parametrize("layout", ["tight", "constrained"])
def test_all_fit_into_one_figure(layout) -> None:
    figure = Figure(figsize=(18, 24), layout=layout)
    FigureCanvasAgg(figure)
    for ax, name in zip(figure.subplots(4, 3).flat, PARTS, strict=False):
        CASES[name](ax)
    assert saved(figure, "png")
    boxes = [ax.get_tightbbox() for ax in figure.axes[: len(PARTS)]]
    assert cropped(figure) == []
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            apart = one.x0 > other.x1 or other.x0 > one.x1 or one.y0 > other.y1 or other.y0 > one.y1
            assert apart


@pytest.mark.parametrize("name", PARTS)
def test_no_setting_is_changed_and_no_table(name) -> None:
    before = dict(matplotlib.rcParams)
    first, second = (saved(CASES[name](None).figure, "png") for _ in range(2))
    assert dict(matplotlib.rcParams) == before
    assert first == second


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize(("kind", "start"), [("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_saved_without_a_warning(name, kind, start) -> None:
    assert saved(CASES[name](None).figure, kind).startswith(start)


@pytest.mark.parametrize("name", PARTS)
def test_both_axes_say_what_they_show(name) -> None:
    ax = CASES[name](None)
    below = ax.child_axes[0] if name in ("reliability", "deviation", "psce") else ax
    assert below.get_xlabel()
    assert ax.get_ylabel() or all(label.get_text() for label in ax.get_yticklabels())
