"""Colors, new axes, words and formats that all figures share."""

from __future__ import annotations

import builtins
import pickle
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from support.drawn import cropped, plain_axes, saved
from trueup.errors import CapabilityError, InputError
from trueup.plotting.common import style


def lightness(colour: str) -> float:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue


def test_importing_plotting_loads_no_matplotlib() -> None:
    code = "import sys, trueup.plotting.reliability as r; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_without_matplotlib_one_sentence_says_what_to_do(monkeypatch) -> None:
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(CapabilityError, match=r"pip install matplotlib"):
        style.on(None, (4, 3))


def test_looks_differ_in_marker_dashes_and_colour() -> None:
    for part in zip(*style.LOOKS, strict=True):
        assert len(set(map(str, part))) == len(style.LOOKS)
    assert style.look(len(style.LOOKS) + 1) == style.look(1)
    assert abs(lightness(style.BLUE) - lightness(style.ORANGE)) > 0.2
    assert style.OVER_MARKER != style.UNDER_MARKER


def test_a_notebook_shows_new_axes_and_their_figure() -> None:
    ax = style.on(None, (4, 3))
    assert ax._repr_png_().startswith(b"\x89PNG")
    assert ax.figure._repr_png_().startswith(b"\x89PNG")
    assert pickle.loads(pickle.dumps(ax)).figure.get_figwidth() == 4


def test_what_is_not_axes_is_refused_with_a_hint() -> None:
    with pytest.raises(InputError, match="pass one of its entries"):
        style.on(np.array([1]), (4, 3))
    with pytest.raises(InputError, match="projection"):
        style.on(plain_axes(), (4, 3), "3d")


@pytest.mark.parametrize("layout", [None, "tight", "constrained"])
def test_a_legend_stays_in_the_place_of_its_axes(layout) -> None:
    figure = Figure(figsize=(8, 3.5), layout=layout)
    FigureCanvasAgg(figure)
    for ax in figure.subplots(1, 2):
        ax.plot([0, 1], [0, 1], label="some rather long name")
        ax.plot([0, 1], [1, 0], label="_hidden")
        legend = style.legend_beside(ax)
        assert [text.get_text() for text in legend.get_texts()] == ["some rather long name"]
    assert saved(figure, "png")
    first, second = figure.axes
    assert first.get_legend().get_window_extent().x1 <= second.bbox.x0
    assert first.get_legend().get_window_extent().x0 >= first.bbox.x1
    assert cropped(figure) == []


def test_no_legend_without_entries() -> None:
    assert style.legend_beside(plain_axes()) is None


def test_words_are_drawn_as_written() -> None:
    ax = style.on(None, (4, 3))
    ax.plot([0, 1], [0, 1], label=style.words("_costs $5 or $6"))
    legend = style.legend_beside(ax)
    assert legend.get_texts()[0].get_text() == r" _costs \$5 or \$6"
    assert saved(ax.figure, "svg")
    assert style.words("two\nlines") == "two lines"
    assert len(style.words("x" * 300)) == style.LONGEST_NAME


def test_numbers_and_percentages() -> None:
    assert [style.number(v) for v in (0.0, 1.0, 0.00123456)] == ["0", "1", "0.00123"]
    ax = plain_axes()
    style.percent_axis(ax.yaxis)
    assert ax.yaxis.get_major_formatter()(0.125, 0) == "12.5%"
    style.number_axis(ax.xaxis)
    ax.set_xlim(0.99999, 1.00001)
    ax.figure.canvas.draw()
    assert ax.xaxis.get_offset_text().get_text() == ""
