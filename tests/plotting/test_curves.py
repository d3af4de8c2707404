"""Traces, rewards, coverage, local errors and studies: lines lie where the tables say."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import PathCollection, PolyCollection

import trueup as tu
from support.drawn import cropped, points_of
from trueup.decisions import abstention_rewards, accuracy_coverage_curve, compare_rewards
from trueup.errors import InputError
from trueup.local import LocalError, mlce_over_bandwidths
from trueup.plotting.common.series import series_look
from trueup.plotting.local_errors import MOST_POINTS, plot_lce_cdf, plot_lce_landscape, plot_mlce
from trueup.plotting.rewards import plot_coverage, plot_rewards
from trueup.plotting.study import plot_study
from trueup.plotting.trace import plot_trace
from trueup.simulate import Power, Uniform, World, study
from trueup.tables import ResultTable

RNG = np.random.default_rng(0)
SCORES = RNG.random(60)
LABELS = RNG.random(60) < SCORES**2
FEATURES = RNG.normal(size=(60, 2))


def lines(ax):
    """Lines with an entry in the legend, or the only one, by name."""
    return {line.get_label(): line for line in ax.lines}


def test_looks_of_twenty_series_all_differ() -> None:
    looks = [series_look(i) for i in range(20)]
    assert len({(look.marker, look.dashes) for look in looks}) == 20


def test_trace_is_the_table_in_the_order_of_steps() -> None:
    steps = np.array([3, 1, 2])
    values = {"ece": np.array([0.1, 0.3, np.nan]), "log_loss": np.array([np.inf, 2.0, 1.0])}
    ax = plot_trace(ResultTable({"step": steps, "rows": np.full(3, 9), **values}))
    drawn = lines(ax)
    assert set(drawn) == {"ece", "log_loss"}
    assert np.array_equal(points_of(drawn["ece"]), [[1, 0.3], [2, np.nan], [3, 0.1]], True)
    assert np.array_equal(points_of(drawn["log_loss"]), [[1, 2], [2, 1], [3, np.nan]], True)


def test_trace_of_named_steps() -> None:
    trace = tu.Trace({"ece": tu.BinnedError()})
    for number in range(40):
        trace.record(f"epoch {number} of a long training", SCORES, LABELS)
    ax = plot_trace(trace.table())
    assert ax.get_ylabel() == "ece"
    assert points_of(ax.lines[0])[:, 0].tolist() == list(range(40))
    shown = [text.get_text() for text in ax.get_xticklabels()]
    assert shown[0].startswith("epoch 0")
    assert len(shown) <= 8
    assert cropped(ax.figure) == []


def test_trace_of_chosen_metrics_and_refusals() -> None:
    columns = ResultTable({"step": np.arange(2), "a": np.zeros(2), "b": np.ones(2)})
    assert [line.get_label() for line in plot_trace(columns, metrics=["b"]).lines] == ["b"]
    with pytest.raises(InputError, match="'c'"):
        plot_trace(columns, metrics=["c"])
    with pytest.raises(InputError, match="metric"):
        plot_trace(ResultTable({"step": np.arange(2), "rows": np.arange(2)}))
    with pytest.raises(InputError, match="row or more"):
        plot_trace(tu.Trace({"ece": tu.BinnedError()}).table())


def test_landscape_draws_every_row_up_or_down() -> None:
    table = LocalError().table(SCORES, LABELS, FEATURES)
    ax = plot_lce_landscape(table)
    over, under, exact = (c for c in ax.collections if isinstance(c, PathCollection))
    assert len(exact.get_offsets()) == 0
    where = np.column_stack([table["x1"], table["x2"]])
    assert np.array_equal(over.get_offsets(), where[table["gap"] < 0])
    assert np.array_equal(under.get_offsets(), where[table["gap"] > 0])
    assert np.array_equal(under.get_array(), table["gap"][table["gap"] > 0])
    low, high = over.get_clim()
    assert low == -high < 0
    assert under.get_clim() == (low, high)
    up, down = over.get_paths()[0].vertices, under.get_paths()[0].vertices
    assert up[:-1, 1].max() == -down[:-1, 1].min()
    assert not np.allclose(up, down)


def test_landscape_of_many_rows_in_hexagons() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.random((2, MOST_POINTS + 1))
    ax = plot_lce_landscape(ResultTable({"age": x, "$cost": y, "gap": x - 0.5}), x="age", y="$cost")
    (hexagons,) = (c for c in ax.collections if isinstance(c, PolyCollection))
    centre, mean = hexagons.get_offsets(), hexagons.get_array()
    assert np.abs(centre[:, 0] - 0.5 - mean).max() < 1 / 36
    (dots,) = (c for c in ax.collections if isinstance(c, PathCollection))
    assert len(dots.get_offsets()) == np.sum(mean > 0)
    assert cropped(ax.figure) == []


@pytest.mark.parametrize("gap", [np.zeros(3), np.full(3, np.nan), np.array([0.0, 0.0, 0.4])])
def test_landscape_of_no_error_or_none_known(gap) -> None:
    ax = plot_lce_landscape(ResultTable({"x1": np.arange(3), "x2": np.ones(3), "gap": gap}))
    assert cropped(ax.figure) == []
    assert ax.collections[0].get_clim()[1] in (1.0, 0.4)


def test_landscape_needs_two_features() -> None:
    with pytest.raises(InputError, match="x2"):
        plot_lce_landscape(LocalError().table(SCORES, LABELS, FEATURES[:, 0]))


def test_cdf_reaches_each_share_at_its_error() -> None:
    before = ResultTable({"absolute": np.array([0.3, 0.1, np.nan, 0.2, 0.2])})
    after = LocalError().table(SCORES, LABELS, FEATURES)
    drawn = lines(plot_lce_cdf({"before": before, "after": after}))
    expected = [[0, 0], [0.1, 0.25], [0.2, 0.5], [0.2, 0.75], [0.3, 1]]
    assert np.allclose(points_of(drawn["before"]), expected)
    assert drawn["before"].get_drawstyle() == "steps-post"
    assert np.allclose(points_of(drawn["after"])[1:, 0], np.sort(after["absolute"]))


def test_mlce_is_the_table() -> None:
    table = mlce_over_bandwidths(SCORES, LABELS, FEATURES, bandwidths=[1.6, 0.1, 0.4])
    order = [1, 2, 0]
    for summary in ("max", "q90"):
        ax = plot_mlce({"model": table}, summary=summary)
        expected = np.column_stack([table["bandwidth"], table[summary]])[order]
        assert np.array_equal(points_of(lines(ax)["model"]), expected)
        assert ax.get_xscale() == "log"
    with pytest.raises(InputError, match="summary"):
        plot_mlce(table, summary="sum")


def test_rewards_of_one_and_of_several_models() -> None:
    table = abstention_rewards(SCORES, LABELS)
    drawn = lines(plot_rewards(table))
    for label, column in (
        ("realized", "mean_reward"),
        ("expected from confidences", "promised"),
        ("oracle abstention", "perfect"),
    ):
        expected = np.column_stack([table["ratio"], table[column]])
        assert np.array_equal(points_of(drawn[label]), expected)
    assert set(points_of(drawn["always abstain"])[:, 1]) == {-1}
    assert set(lines(plot_rewards({"a": table, "b": table}))) == {"a", "b", "always abstain"}


def test_rewards_side_by_side() -> None:
    models = {"sure": np.sqrt(SCORES), "humble": SCORES}
    table = compare_rewards(models, LABELS, baseline="sure")
    ax = plot_rewards(table)
    assert np.array_equal(lines(ax)["humble"].get_ydata(), table["humble"])
    assert ax.get_ylabel() == "total reward above that of sure"
    assert plot_rewards(compare_rewards(models, LABELS)).get_ylabel() == "total reward"
    with pytest.raises(InputError, match="model"):
        plot_rewards(ResultTable({"ratio": np.array([2.0])}))


def test_coverage_is_the_table_and_the_few_surest_rows_set_no_limits() -> None:
    table = accuracy_coverage_curve(SCORES, LABELS)
    drawn = lines(plot_coverage(table))
    assert np.array_equal(drawn["accuracy"].get_xdata(), table["coverage"])
    assert np.array_equal(drawn["accuracy"].get_ydata(), table["accuracy"])
    assert np.array_equal(drawn["mean confidence"].get_ydata(), table["confidence"])
    assert plot_coverage(table).get_ylim()[0] <= table["confidence"].min()
    rough = {"coverage": np.array([0.001, 0.5, 1.0]), "accuracy": np.array([0.0, 0.9, 0.8])}
    low, high = plot_coverage({"rough": ResultTable(rough)}).get_ylim()
    assert 0.7 < low < 0.8
    assert high > 1


def test_study_is_the_table() -> None:
    world = World(Uniform(), Power(2))
    measures = {"ece": tu.BinnedError(), "sweep": tu.SweepError(), "own": tu.ks_error}
    found = study(world, measures, n=[100, 30], n_datasets=5, progress=False)
    for value in ("bias", "rmse"):
        ax = plot_study(found, value=value)
        drawn = {k: v for k, v in lines(ax).items() if k in measures}
        assert set(drawn) == {"ece", "sweep"}  # of the third no truth is known
        for name, line in drawn.items():
            rows = sorted(found.select(measure=name), key=lambda row: row.n)
            expected = [[row.n, getattr(row, value)] for row in rows]
            assert np.allclose(points_of(line), expected)
        bars = ax.collections[0].get_segments()
        first = sorted(found.select(measure="ece"), key=lambda row: row.n)[0]
        centre, se = getattr(first, value), getattr(first, f"{value}_se")
        assert np.allclose(bars[0][:, 1], [centre - 2 * se, centre + 2 * se])


def test_study_of_one_n_is_seen() -> None:
    found = study(World(Uniform(), Power(2)), {"ece": tu.BinnedError()}, n=100, n_datasets=2)
    assert plot_study(found).get_xlim() == (50, 200)


def test_twenty_entries_and_how_many_more() -> None:
    columns = {f"metric {i} with a name that is long": np.arange(3.0) for i in range(25)}
    ax = plot_trace(ResultTable({"step": np.arange(3)} | columns))
    entries = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(ax.lines) == 25
    assert len(entries) == 21
    assert entries[-1] == "… and 5 more"
    assert cropped(ax.figure) == []


def test_study_of_several_worlds_needs_one() -> None:
    worlds = {"a": World(Uniform(), Power(2)), "b": World(Uniform(), Power(3))}
    found = study(worlds, {"ece": tu.BinnedError(), "own": tu.ks_error}, n=30, n_datasets=2)
    with pytest.raises(InputError, match="'a', 'b'"):
        plot_study(found)
    ax = plot_study(found, world="b", measures=["ece"])
    assert ax.get_title(loc="left") == "b"
    assert cropped(ax.figure) == []
    with pytest.raises(InputError, match="known truth"):
        plot_study(found, world="b", measures=["own"])


@pytest.mark.parametrize("tables", [{}, [1, 2], {"a": {"ratio": [1]}}])
def test_tables_that_are_none(tables) -> None:
    with pytest.raises(InputError, match="ResultTable"):
        plot_coverage(tables)
