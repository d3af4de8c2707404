"""The triangle and the tetrahedron: cells where they belong, arrows from prediction to outcome."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.quiver import Quiver
from matplotlib.text import Text

import trueup as tu
from support.drawn import cropped, plain_axes
from trueup.errors import InputError
from trueup.plotting.simplex.arrows import SpaceArrow
from trueup.plotting.simplex.shares import share_norm
from trueup.plotting.simplex.tetrahedron import CORNERS as SPACE, plot_tetrahedron
from trueup.plotting.simplex.triangle import CORNERS, _polygon, plot_simplex
from trueup.tables import CellTable

LONG = ["the very long name of a class of things"] * 4


def sample(m, n=400, seed=0):
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.full(m, 0.7), n)
    return probs, np.array([rng.choice(m, p=row) for row in probs])


def table(m, binning, n=400):
    return tu.BinnedError(lens=tu.lens.Canonical(), binning=binning).table(*sample(m, n))


def area(points):
    x, y = (points @ CORNERS).T
    return 0.5 * abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))


def of_kind(ax, kind):
    return [artist for artist in ax.get_children() if type(artist) is kind]


@pytest.mark.parametrize("n_bins", [1, 2, 3, 7])
def test_cells_of_a_grid_fill_the_triangle(n_bins) -> None:
    edges = np.arange(n_bins + 1) / n_bins
    total = 0.0
    for i in range(n_bins):
        for j in range(n_bins):
            corners = _polygon(edges[[i, j]], edges[[i + 1, j + 1]])
            total += area(corners) if len(corners) else 0.0
    assert total == pytest.approx(np.sqrt(3) / 4, abs=1e-12)


def test_cells_of_a_tree_fill_the_triangle() -> None:
    cells = table(3, tu.bins.VarianceTree(20))
    found = [_polygon(low, high) for low, high in zip(cells.low, cells.high, strict=True)]
    assert cells.low.shape[1] == 3
    assert sum(map(area, found)) == pytest.approx(np.sqrt(3) / 4, abs=1e-12)
    for corners, mean in zip(found, cells.mean_score, strict=True):
        assert np.allclose(corners.sum(axis=1), 1)
        assert np.all(mean >= corners.min(axis=0) - 1e-12)
        assert np.all(mean <= corners.max(axis=0) + 1e-12)


@pytest.mark.parametrize("per_side", [1, 2, 3, 7, 10])
def test_triangles_fill_the_triangle_and_are_equal(per_side) -> None:
    some = (np.arange(2 * per_side + 1) + 0.5) / (3 * per_side)
    probs = np.array([(a, b, 1 - a - b) for a in some for b in some if a + b < 1])
    probs = np.concatenate([probs, probs[:, [1, 2, 0]], probs[:, [2, 0, 1]]])
    error = tu.BinnedError(tu.lens.Canonical(), tu.bins.SimplexTriangles(per_side))
    cells = error.table(probs, np.zeros(len(probs), int))
    found = [_polygon(low, high) for low, high in zip(cells.low, cells.high, strict=True)]
    assert len(found) == per_side**2
    np.testing.assert_allclose([area(each) for each in found], np.sqrt(3) / 4 / per_side**2)


def test_the_center_of_triangles_is_drawn_without_an_area() -> None:
    probs = np.array([[1 / 3, 1 / 3, 1 / 3], [0.2, 0.3, 0.5]])
    cells = tu.BinnedError(tu.lens.Canonical(), tu.bins.SimplexTriangles(3)).table(probs, [0, 1])
    ax = plot_simplex(cells)
    assert cropped(ax.figure) == []
    assert len(of_kind(ax, Quiver)[0].X) == 2


@pytest.mark.parametrize(
    "binning", [tu.bins.SimplexGrid(5), tu.bins.SimplexTriangles(5), tu.bins.VarianceTree(50)]
)
def test_arrows_and_colours_of_the_triangle_are_the_table(binning) -> None:
    cells = table(3, binning)
    ax = plot_simplex(cells, names=["a", "b", "c"])
    (arrows,) = of_kind(ax, Quiver)
    start = np.column_stack([arrows.X, arrows.Y])
    assert np.allclose(start, cells.mean_score @ CORNERS)
    end = start + np.column_stack([arrows.U, arrows.V])
    assert np.allclose(end, cells.mean_label @ CORNERS)
    (coloured,) = of_kind(ax, PolyCollection)
    assert np.array_equal(coloured.get_array(), cells.share)
    assert len(coloured.get_paths()) == cells.n_bins
    texts = [text.get_text() for text in ax.texts]
    assert texts[:3] == ["a", "b", "c"]
    where = np.array([text.get_position() for text in ax.texts[:3]])
    distance = np.linalg.norm(where[:, None] - CORNERS[None], axis=2)
    assert distance.argmin(axis=1).tolist() == [0, 1, 2]


def test_percentages_along_the_sides_rise_towards_their_corner() -> None:
    ax = plot_simplex(table(3, tu.bins.SimplexGrid(2)))
    for j in range(3):
        mine = ax.texts[3 + 3 * j : 6 + 3 * j]
        assert [text.get_text() for text in mine] == ["25%", "50%", "75%"]
        away = [np.linalg.norm(np.array(text.get_position()) - CORNERS[j]) for text in mine]
        assert away[0] > away[1] > away[2]


def test_arrows_of_the_tetrahedron_are_the_table() -> None:
    cells = table(4, tu.bins.SimplexGrid(4))
    ax = plot_tetrahedron(cells)
    arrows = of_kind(ax, SpaceArrow)
    assert np.allclose([arrow.ends[0] for arrow in arrows], cells.mean_score @ SPACE)
    assert np.allclose([arrow.ends[1] for arrow in arrows], cells.mean_label @ SPACE)
    assert np.allclose(np.linalg.norm(SPACE[:, None] - SPACE[None], axis=2), 1 - np.eye(4))
    ax.figure.canvas.draw()
    before = [arrow.get_path().vertices for arrow in arrows]
    ax.view_init(60, 20)
    ax.figure.canvas.draw()
    after = [arrow.get_path().vertices for arrow in arrows]
    assert all(not np.allclose(a[0], b[0]) for a, b in zip(before, after, strict=True))


def one_cell(m, outcome):
    ends = np.zeros((1, m - 1)), np.ones((1, m - 1))
    score, label = np.zeros((2, 1, m))
    score[0, 0], label[0, outcome] = 20.0, 20.0
    return CellTable(*ends, np.array([20]), np.array([20.0]), score, label)


@pytest.mark.parametrize(("m", "draw"), [(3, plot_simplex), (4, plot_tetrahedron)])
@pytest.mark.parametrize("outcome", [0, 1])
def test_all_scores_1_in_one_cell(m, draw, outcome) -> None:
    ax = draw(one_cell(m, outcome))
    assert cropped(ax.figure) == []


def test_a_cell_that_only_rounding_made_is_drawn_without_an_area() -> None:
    probs = np.array([[0.6 + 1e-9, 0.4 + 1e-9, 0.0], [0.2, 0.3, 0.5]])
    cells = tu.BinnedError(lens=tu.lens.Canonical(), binning=tu.bins.SimplexGrid(10)).table(
        probs, [0, 1]
    )
    ax = plot_simplex(cells)
    assert cropped(ax.figure) == []
    assert len(of_kind(ax, Quiver)[0].X) == 2


@pytest.mark.parametrize(
    ("m", "draw", "projection"), [(3, plot_simplex, None), (4, plot_tetrahedron, "3d")]
)
def test_long_names_stay_inside(m, draw, projection) -> None:
    cells = table(m, tu.bins.SimplexGrid(3), 20)
    assert cropped(draw(cells, names=LONG[:m]).figure) == []
    given = plain_axes(projection)
    assert draw(cells, names=LONG[:m], ax=given) is given
    assert cropped(given.figure) == []


@pytest.mark.parametrize("shares", [[1.0], [0.5, 0.5], [1e-7, 0.3], [0.002, 0.003], [0.05, 0.95]])
def test_the_scale_of_shares_holds_them_all(shares) -> None:
    norm = share_norm(np.array(shares))
    assert norm.vmin < norm.vmax <= 1
    assert norm.vmin <= min(shares) * (1 + 1e-9)
    assert norm.vmax >= max(shares) * (1 - 1e-9)


def test_formulas_in_names_are_not_read_as_such() -> None:
    ax = plot_simplex(table(3, tu.bins.SimplexGrid(2)), names=["$x^", "_b", 3])
    ax.figure.canvas.draw()
    assert isinstance(ax.texts[0], Text)


def test_refusals() -> None:
    cells = table(4, tu.bins.SimplexGrid(2))
    with pytest.raises(InputError, match="CellTable of 3 outcomes; got 4 outcomes"):
        plot_simplex(cells)
    with pytest.raises(InputError, match="CellTable of 4 outcomes"):
        plot_tetrahedron(np.zeros(3))
    with pytest.raises(InputError, match="4 names"):
        plot_tetrahedron(cells, names=["a"])
    with pytest.raises(InputError, match="3d"):
        plot_tetrahedron(cells, ax=plain_axes())
