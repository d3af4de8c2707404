"""What every drawing of curves and simplexes keeps to, whatever its table."""

from __future__ import annotations

import sys

import matplotlib
import numpy as np
import pytest

import trueup as tu
from support.drawn import cropped, plain_axes, saved
from trueup.decisions import accuracy_coverage, compare_rewards, unsure_rewards
from trueup.local import LocalError, mlce_over_bandwidths
from trueup.simulate import Power, Uniform, World, study
from trueup.tables import Columns
from trueup.views.local_errors import draw_lce_cdf, draw_lce_landscape, draw_mlce
from trueup.views.recalibrations import draw_recalibrations
from trueup.views.rewards import draw_coverage, draw_rewards
from trueup.views.simplex.tetrahedron import draw_tetrahedron
from trueup.views.simplex.triangle import draw_simplex
from trueup.views.study import draw_study
from trueup.views.trace import draw_trace
from trueup.views.trade_off import draw_trade_off

NAMES = ["before", "after $5 of_effort", "_a name that is much too long to be shown in full"]


def _tables():
    rng = np.random.default_rng(0)
    n = 40
    p, where = rng.random(n), rng.normal(size=(n, 2))
    y = rng.random(n) < p
    models = {name: p ** (1 + k) for k, name in enumerate(NAMES)}
    cells = {
        m: tu.BinnedError(lens=tu.Canonical(), binning=tu.SimplexGrid(3)).table(
            rng.dirichlet(np.ones(m), n), rng.integers(0, m, n)
        )
        for m in (3, 4)
    }
    steps = np.arange(30)
    found = study(World(Uniform(), Power(2)), {"ece": tu.BinnedError()}, n=[50, 90], n_sets=3)
    return {
        "simplex": (draw_simplex, cells[3]),
        "tetrahedron": (draw_tetrahedron, cells[4]),
        "trace": (draw_trace, Columns({"step": steps} | dict.fromkeys(NAMES, 2.0 ** (-steps)))),
        "landscape": (draw_lce_landscape, LocalError().table(p, y, where)),
        "cdf": (
            draw_lce_cdf,
            {name: LocalError().table(q, y, where) for name, q in models.items()},
        ),
        "mlce": (
            draw_mlce,
            {name: mlce_over_bandwidths(q, y, where) for name, q in models.items()},
        ),
        "rewards": (draw_rewards, {name: unsure_rewards(q, y) for name, q in models.items()}),
        "totals": (draw_rewards, compare_rewards(models, y, baseline=NAMES[2])),
        "coverage": (draw_coverage, {name: accuracy_coverage(q, y) for name, q in models.items()}),
        "trade-off": (draw_trade_off, tu.inference.trade_off(p, y, n_bins=(2, 4, 8), rng=0)),
        "recalibrations": (draw_recalibrations, tu.AutoCalibration().fit(p, y).table_),
        "study": (draw_study, found),
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
