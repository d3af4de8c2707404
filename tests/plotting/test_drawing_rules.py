"""What every drawing of curves and simplexes keeps to, whatever its table."""

from __future__ import annotations

import sys

import matplotlib
import numpy as np
import pytest

import trueup as tu
from support.drawn import cropped, plain_axes, saved
from trueup.decisions import abstention_rewards, accuracy_coverage_curve, compare_rewards
from trueup.local import LocalError, mlce_over_bandwidths
from trueup.plotting.local_errors import plot_lce_cdf, plot_lce_landscape, plot_mlce
from trueup.plotting.recalibrations import plot_recalibrations
from trueup.plotting.rewards import plot_coverage, plot_rewards
from trueup.plotting.simplex.tetrahedron import plot_tetrahedron
from trueup.plotting.simplex.triangle import plot_simplex
from trueup.plotting.study import plot_study
from trueup.plotting.trace import plot_trace
from trueup.plotting.trade_off import plot_trade_off
from trueup.simulate import Power, Uniform, World, study
from trueup.tables import ResultTable

NAMES = ["before", "after $5 of_effort", "_a name that is much too long to be shown in full"]


def _tables():
    rng = np.random.default_rng(0)
    n = 40
    p, where = rng.random(n), rng.normal(size=(n, 2))
    y = rng.random(n) < p
    models = {name: p ** (1 + k) for k, name in enumerate(NAMES)}
    cells = {
        m: tu.BinnedError(lens=tu.lens.Canonical(), binning=tu.bins.SimplexGrid(3)).table(
            rng.dirichlet(np.ones(m), n), rng.integers(0, m, n)
        )
        for m in (3, 4)
    }
    steps = np.arange(30)
    found = study(World(Uniform(), Power(2)), {"ece": tu.BinnedError()}, n=[50, 90], n_datasets=3)
    return {
        "simplex": (plot_simplex, cells[3]),
        "tetrahedron": (plot_tetrahedron, cells[4]),
        "trace": (plot_trace, ResultTable({"step": steps} | dict.fromkeys(NAMES, 2.0 ** (-steps)))),
        "landscape": (plot_lce_landscape, LocalError().table(p, y, where)),
        "cdf": (
            plot_lce_cdf,
            {name: LocalError().table(q, y, where) for name, q in models.items()},
        ),
        "mlce": (
            plot_mlce,
            {name: mlce_over_bandwidths(q, y, where) for name, q in models.items()},
        ),
        "rewards": (plot_rewards, {name: abstention_rewards(q, y) for name, q in models.items()}),
        "totals": (plot_rewards, compare_rewards(models, y, baseline=NAMES[2])),
        "coverage": (
            plot_coverage,
            {name: accuracy_coverage_curve(q, y) for name, q in models.items()},
        ),
        "trade-off": (plot_trade_off, tu.inference.trade_off(p, y, n_bins=(2, 4, 8), rng=0)),
        "recalibrations": (plot_recalibrations, tu.AutoCalibration().fit(p, y).table_),
        "study": (plot_study, found),
    }


@pytest.fixture(scope="module")
def tables():
    return _tables()


CASES = [
    "simplex",
    "tetrahedron",
    "trace",
    "landscape",
    "cdf",
    "mlce",
    "rewards",
    "totals",
    "coverage",
    "trade-off",
    "recalibrations",
    "study",
]


@pytest.fixture(params=CASES)
def case(request, tables):
    draw, table = tables[request.param]
    return draw, table, "3d" if request.param == "tetrahedron" else None


def test_new_axes_hold_all_text_and_belong_to_no_global_list(case) -> None:
    draw, table, _ = case
    ax = draw(table)
    assert cropped(ax.figure) == []
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or pyplot.get_fignums() == []


def test_given_axes_are_drawn_on_and_returned(case) -> None:
    draw, table, projection = case
    ax = plain_axes(projection)
    before = len(ax.get_children())
    assert draw(table, ax=ax) is ax
    assert len(ax.get_children()) > before
    assert cropped(ax.figure) == []


def test_no_setting_is_changed(case) -> None:
    draw, table, _ = case
    before = dict(matplotlib.rcParams)
    saved(draw(table).figure, "png")
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize(("kind", "start"), [("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89")])
def test_saved_without_a_warning(case, kind, start) -> None:
    draw, table, _ = case
    assert saved(draw(table).figure, kind).startswith(start)


def test_series_are_told_apart_in_grey(tables) -> None:
    for name in ("trace", "cdf", "mlce", "rewards", "coverage"):
        draw, table = tables[name]
        marks = [(line.get_marker(), line.get_linestyle()) for line in draw(table).lines]
        assert len(set(marks)) == len(marks)


def test_names_are_shown_as_written_and_not_too_long(tables) -> None:
    draw, table = tables["mlce"]
    entries = [text.get_text() for text in draw(table).get_legend().get_texts()]
    assert len(entries) == 3
    assert entries[1] == r"after \$5 of_effort"
    assert max(map(len, entries)) < 35
