"""Classes, groups and models: one row each, at their errors, with their intervals."""

from __future__ import annotations

import numpy as np
import pytest

import trueup as tu
from support.drawn import cropped, plain_axes, points_of
from trueup.errors import InputError
from trueup.plotting.common.style import OVER, UNDER
from trueup.plotting.row_charts.class_and_group_errors import plot_class_errors, plot_group_errors
from trueup.plotting.row_charts.comparison import plot_comparison
from trueup.tables import ResultTable

CLASSES = ResultTable(
    {
        "class": np.array(["cat", "dog", "eel", "fox"]),
        "error": np.array([0.02, 0.05, np.nan, 0.01]),
        "gap": np.array([-0.01, 0.04, np.nan, 0.0]),
        "low": np.array([0.0, 0.03, np.nan, 0.0]),
        "high": np.array([0.04, 0.08, np.nan, 0.02]),
        "adjusted_pvalue": np.array([0.2, 0.01, np.nan, 1.0]),
    }
)


def dots(ax):
    """Place, face and edge of every marker, from the top."""
    found = []
    for marks in ax.collections:
        if not hasattr(marks, "get_sizes") or not len(marks.get_sizes()):
            continue
        for x, y in marks.get_offsets():
            found.append((y, x, tuple(marks.get_facecolor()[0]), tuple(marks.get_edgecolor()[0])))
    return sorted(found)


def spans(ax):
    return np.array(
        [s[:, 0] for c in ax.collections if hasattr(c, "get_segments") for s in c.get_segments()]
    )


def names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_classes_stand_at_their_errors_worst_first() -> None:
    from matplotlib.colors import to_rgba

    ax = plot_class_errors(CLASSES, measure="ECE")
    assert names(ax) == ["dog", "cat", "fox"]
    assert [(y, x) for y, x, _, _ in dots(ax)] == [(0, 0.05), (1, 0.02), (2, 0.01)]
    (_, _, dog, dog_edge), (_, _, cat, cat_edge), _ = dots(ax)
    assert dog == dog_edge == to_rgba(UNDER)  # shown by the test: filled
    assert cat == to_rgba("white")
    assert cat_edge == to_rgba(OVER)
    assert np.allclose(spans(ax), [[0.03, 0.08], [0.0, 0.04], [0.0, 0.02]])
    assert ax.get_xlabel() == "ECE\n(1 class without predictions left out)"
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    assert cropped(ax.figure) == []


def test_over_and_under_differ_in_marker_too() -> None:
    ax = plot_class_errors(CLASSES)
    shapes = [
        marks.get_paths()[0].vertices.tolist()
        for marks in ax.collections
        if hasattr(marks, "get_sizes") and len(marks.get_sizes())
    ]
    assert len(shapes) == len({str(shape) for shape in shapes}) == 3
    without = plot_class_errors(CLASSES, alpha=None)
    assert all(face == edge for _, _, face, edge in dots(without))


@pytest.mark.parametrize("count", [40, 41, 1000])
def test_many_classes_are_the_worst_and_a_curve_of_all(count) -> None:
    rng = np.random.default_rng(0)
    error = rng.gamma(1.0, 0.01, count)
    table = ResultTable({"class": np.arange(count), "error": error, "gap": rng.normal(size=count)})
    ax = plot_class_errors(table)
    order = np.argsort(-error)
    shown = 40 if count == 40 else 20
    assert names(ax) == [str(k) for k in order[:shown]]
    assert np.allclose([x for _, x, _, _ in dots(ax)], error[order[:shown]])
    assert len(ax.child_axes) == (count > 40)
    if count > 40:
        (curve,) = ax.child_axes[0].lines
        assert np.allclose(points_of(curve), np.column_stack([1 + np.arange(count), error[order]]))
    assert cropped(ax.figure) == []


def test_tables_of_the_library_are_drawn() -> None:
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(3), 150)
    labels = np.array([rng.choice(3, p=row) for row in probs])
    for table in (
        tu.class_errors(tu.ece, probs, labels),
        tu.inference.class_tests(probs, labels, n_resamples=99, rng=0),
    ):
        ax = plot_class_errors(table)
        assert sorted(x for _, x, _, _ in dots(ax)) == sorted(table["error"])
    found = tu.group_errors(probs, labels, labels % 2, n_resamples=99, rng=0)
    ax = plot_group_errors(found.table, overall=0.02)
    assert sorted(x for _, x, _, _ in dots(ax)) == sorted(found.table["error"])
    assert {name.split(" (n = ")[1] for name in names(ax)} == {f"{n})" for n in found.table["n"]}
    assert names(ax)[0].startswith(str(found.group))
    assert set(ax.lines[0].get_xdata()) == {0.02}
    assert cropped(ax.figure) == []


MODELS = ResultTable(
    {
        "model": np.array(["plain", "a model with $ and _ in a name that goes on", "third"]),
        "error": np.array([0.03, 0.01, 0.02]),
        "low": np.array([0.02, 0.0, 0.02]),
        "high": np.array([0.05, 0.02, np.nan]),
        "pvalue": np.array([0.001, 0.4, np.nan]),
    }
)


def test_models_stand_best_first_with_their_pvalues() -> None:
    ax = plot_comparison(MODELS)
    assert [x for _, x, _, _ in dots(ax)] == [0.01, 0.02, 0.03]
    assert set(ax.lines[0].get_xdata()) == {0.01}
    assert [text.get_text() for text in ax.texts] == ["p = 0.4", "p = 0.001"]
    assert [text.get_position()[1] for text in ax.texts] == [0, 2]
    assert cropped(ax.figure) == []
    ax.figure.canvas.draw()
    data = ax.transData.transform([[0.05, 0]])[0, 0]
    assert all(text.get_window_extent().x0 > data for text in ax.texts)
    other = plot_comparison(MODELS, reference=0.04)
    assert set(other.lines[0].get_xdata()) == {0.04}


def test_awkward_rows_are_drawn() -> None:
    one = {"error": np.array([0.0])}
    for draw, name in (
        (plot_class_errors, "class"),
        (plot_group_errors, "group"),
        (plot_comparison, "model"),
    ):
        assert len(dots(draw(ResultTable({name: np.array(["x"])} | one)))) == 1
        none = ResultTable({name: np.array(["x"]), "error": np.array([np.nan])})
        assert dots(draw(none)) == []
        for table in (none, ResultTable({name: np.array(["long " * 20]), **one})):
            assert cropped(draw(table).figure) == []
            assert cropped(draw(table, ax=plain_axes()).figure) == []


def test_wrong_input_is_told_in_a_sentence() -> None:
    with pytest.raises(
        InputError, match="`columns` must be a ResultTable with 'class' and 'error'"
    ):
        plot_class_errors({"class": [1]})
    with pytest.raises(InputError, match="without 'group'"):
        plot_group_errors(CLASSES)
    with pytest.raises(InputError, match="a row or more"):
        plot_comparison(ResultTable({"model": np.array([]), "error": np.array([])}))
    with pytest.raises(InputError, match="`alpha` must be a number between 0 and 1, or None"):
        plot_class_errors(CLASSES, alpha=5)


def test_an_error_of_0_is_only_known_to_be_below_the_end_of_its_interval() -> None:
    table = ResultTable(
        {
            "group": np.array(["a", "b", "c"]),
            "error": np.array([0.0, 0.02, 0.0]),
            "low": np.array([0.0, 0.0, 0.0]),
            "high": np.array([0.034, 0.05, 0.0]),
            "adjusted_pvalue": np.array([0.3, 0.01, 1.0]),
        }
    )
    ax = plot_group_errors(table)
    assert [text.get_text() for text in ax.texts if text.get_gid() == "bound"] == ["below 0.034"]
    entries = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "interval,\nconservative near 0" in entries  # b is rejected, and its interval reaches 0
    calm = plot_group_errors(ResultTable(table.data | {"adjusted_pvalue": np.full(3, 0.5)}))
    assert "interval" in [text.get_text() for text in calm.get_legend().get_texts()]
    assert cropped(ax.figure) == []
    models = ResultTable(
        {"model": table["group"], **{k: table[k] for k in ("error", "low", "high")}}
    )
    label = plot_comparison(models, reference=0.0).get_xlabel()
    assert label == "calibration error\n(intervals are conservative near 0)"


def test_the_smallest_pvalue_of_a_test_by_resampling_is_a_bound() -> None:
    columns = {name: MODELS[name] for name in ("model", "error", "low", "high")}
    draws = np.array([999.0, 999.0, np.nan])
    table = ResultTable({**columns, "pvalue": np.array([0.001, 0.4, 0.01]), "n_resamples": draws})
    texts = {text.get_text() for text in plot_comparison(table).texts}
    assert texts == {"p ≤ 0.001", "p = 0.4", "p = 0.01"}


def test_long_names_of_groups_have_room_in_a_figure_of_their_own() -> None:
    names = [
        f"Llama-{size}B-Instruct_{task}_seed-1" for size in (8, 70) for task in ("boolq", "mmlu")
    ]
    table = ResultTable({"group": np.array(names), "error": np.arange(4) / 100})
    ax = plot_group_errors(table)
    assert not any("…" in text.get_text() for text in ax.get_yticklabels())
    assert cropped(ax.figure) == []
