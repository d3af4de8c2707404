"""A lineup holds the data once, at the place that its caption tells."""

from __future__ import annotations

import numpy as np
import pytest

import trueup as tu
from support.drawn import cropped, points_of
from trueup.errors import InputError

ERROR = tu.BinnedError(binning=tu.EqualMass(10))


def sample(n: int = 400):
    rng = np.random.default_rng(0)
    p = rng.random(n)
    return p, (rng.random(n) < p**3).astype(int)


def panels(figure):
    lines = [line for ax in figure.axes for line in ax.lines if line.get_gid() == "reliability"]
    return [points_of(line) for line in lines]


def test_the_data_are_at_their_place_and_only_there() -> None:
    p, y = sample()
    table = ERROR.table(p, y)
    places = set()
    for seed in range(3):
        figure = tu.lineup(p, y, rng=seed)
        drawn = panels(figure)
        assert len(drawn) == 20
        own = [np.allclose(points[:, 1], table.mean_label) for points in drawn]
        assert np.flatnonzero(own).tolist() == [figure.place - 1]
        assert all(np.allclose(points[:, 0], table.mean_score) for points in drawn)
        (caption,) = (text for text in figure.texts if text.get_gid() == "caption")
        assert caption.get_text() == f"The data are in panel {figure.place}."
        assert caption.get_rotation() == 180
        places.add(figure.place)
    assert len(places) > 1
    assert tu.lineup(p, y, rng=2).place == figure.place


def test_other_panels_are_of_calibrated_models() -> None:
    p, y = sample(4000)
    figure = tu.lineup(p, y, rng=0)
    gaps = [np.abs(points[:, 1] - points[:, 0]).mean() for points in panels(figure)]
    assert np.argmax(gaps) == figure.place - 1
    others = np.delete(gaps, figure.place - 1)
    assert others.max() < 0.04
    assert cropped(figure) == []


def test_a_matrix_shows_its_top_label_and_fewer_panels_fit() -> None:
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(3), 300)
    figure = tu.lineup(probs, rng.integers(0, 3, 300), n_panels=7, size=(6, 3), rng=0)
    assert len(panels(figure)) == len(figure.axes) == 7
    assert min(panels(figure)[0][:, 0]) > 1 / 3
    assert figure.get_size_inches().tolist() == [6, 3]


def test_what_cannot_be_drawn_is_told_in_a_sentence() -> None:
    p, y = sample(50)
    with pytest.raises(InputError, match="rows in clusters"):
        tu.lineup(tu.Forecasts.from_arrays(p, y, clusters=np.arange(50) // 2))
    with pytest.raises(InputError, match="`lens` must yield one score per row"):
        tu.lineup(np.column_stack([1 - p, p]), y, lens=tu.lens.ClassWise())
    with pytest.raises(InputError, match="`n_panels` must be a whole number"):
        tu.lineup(p, y, n_panels=1)


def test_no_line_goes_through_bins_of_few_rows() -> None:
    p, y = sample(30)
    figure = tu.lineup(p, y, n_panels=2, n_bins=10, rng=0)
    assert sum(len(points) for points in panels(figure)) == 0
    few = [line for ax in figure.axes for line in ax.lines if line.get_gid() == "reliability-few"]
    assert {line.get_linestyle() for line in few} == {"None"}
    assert [len(line.get_xdata()) for line in few] == [10, 10]


@pytest.mark.parametrize("plot", [tu.lineup, tu.reliability_diagram])
def test_labels_that_are_names_of_classes(plot) -> None:
    rng = np.random.default_rng(0)
    probs, numbers = rng.dirichlet(np.ones(3), 300), rng.integers(0, 3, 300)
    classes = ["dog", "cat", "eel"]
    names = np.array(classes)[numbers]
    drawn = [plot(probs, names, classes=classes, rng=0), plot(probs, numbers, rng=0)]
    first, second = (
        [line.get_xydata() for axes in each.figure.axes for line in axes.lines] for each in drawn
    )
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    with pytest.raises(InputError, match=r"Hint: pass `classes`, the names in the order"):
        plot(probs, names)
    with pytest.raises(InputError, match="among the names in `classes`"):
        plot(probs, names, classes=["dog", "cat", "ant"])
