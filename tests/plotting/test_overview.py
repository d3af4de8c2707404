"""The whole of an evaluation on one page, for every kind of data."""

from __future__ import annotations

from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

import trueup as tu
from support.drawn import cropped, saved
from trueup.errors import InputError
from trueup.plotting.overview import plot_overview
from trueup.plotting.row_charts.comparison import errors_of, models_of

FAST = {"n_resamples": 99, "recalibrate": False, "advice": False}


def _cases():
    rng = np.random.default_rng(0)
    p, g = rng.random(200), rng.dirichlet(np.ones(3), 200)
    y, z = (rng.random(200) < p).astype(int), rng.integers(0, 3, 200)
    wide = rng.dirichlet(np.full(60, 0.1), 200)
    soft = tu.Forecasts.from_arrays(g, rng.dirichlet(np.ones(3), 200), soft_labels=True)
    names = ["first $x$", "_second", "a name much too long to be shown in full on any axis"]
    groups = np.array(["one", "two"])[y]
    return {
        "binary": ((p, y), {"recalibrate": True}),
        "names": ((g, np.array(names)[z]), {"classes": names, "groups": groups}),
        "many classes": ((wide, rng.integers(0, 60, 200)), {"metrics": ["ece"]}),
        "models": (
            (),
            {"labels": y, "models": {"raw with a very long name of its own": p, "$squared": p**2}},
        ),
        "clusters": ((p, y), {"clusters": np.arange(200) // 4}),
        "soft": ((soft,), {}),
        "certain": ((np.ones(20), np.ones(20, int)), {}),
        "one row": (([0.7], [1]), {}),
        "constant": ((np.full(50, 0.3), np.arange(50) % 2), {}),
    }


CASES = _cases()


@pytest.fixture(scope="module", params=list(CASES))
def evaluation(request: pytest.FixtureRequest) -> tu.Evaluation:
    given, options = CASES[request.param]
    return tu.evaluate(*given, **(FAST | options))


def test_the_page_holds_all_text_and_changes_no_setting(evaluation) -> None:
    before = dict(matplotlib.rcParams)
    figure = evaluation.plot()
    assert isinstance(figure, Figure)
    assert saved(figure, "png").startswith(b"\x89PNG")
    assert cropped(figure) == []
    assert dict(matplotlib.rcParams) == before
    titles = [ax.get_title(loc="left") for ax in figure.axes if ax.get_title(loc="left")]
    assert len(titles) >= 4
    assert len(set(titles)) == len(titles)


def test_the_page_can_be_drawn_from_json() -> None:
    given, options = CASES["names"]
    evaluation = tu.evaluate(*given, **(FAST | options))
    again = tu.Evaluation.from_json(evaluation.to_json())
    assert saved(plot_overview(again), "png") == saved(plot_overview(evaluation), "png")


def test_numbers_drawn_are_those_reported(evaluation) -> None:
    errors = errors_of(evaluation.estimates)
    for k, name in enumerate(errors["model"]):
        finding = evaluation.estimate(str(name))
        ends = (finding.interval.low, finding.interval.high)
        assert (errors["error"][k], errors["low"][k], errors["high"][k]) == (finding.value, *ends)
    models = models_of(evaluation.models)
    assert models["model"].tolist() == list(evaluation.models)
    for k, model in enumerate(evaluation.models.values()):
        assert models["error"][k] == model.estimates[0].value


def filled(figure) -> bool:
    """Whether the panels fill their grid: every row reaches the right side."""
    panels = [ax for ax in figure.axes if ax.get_subplotspec() is not None]
    grid = panels[0].get_subplotspec().get_gridspec()
    cells = {
        (row, column)
        for ax in panels
        for row in ax.get_subplotspec().rowspan
        for column in ax.get_subplotspec().colspan
    }
    return len(cells) == grid.nrows * grid.ncols


def test_the_page_has_the_verdict_as_headline_and_no_empty_cell(evaluation) -> None:
    figure = evaluation.plot(name="file $1.csv")
    name, *sentence = figure.get_suptitle().splitlines()
    assert name == r"file \$1.csv"
    first = " ".join(sentence).replace(r"\$", "$")
    assert evaluation.verdict.startswith(first)
    assert first
    assert filled(figure)


@pytest.fixture(scope="module")
def binary() -> tu.Evaluation:
    given, options = CASES["binary"]
    return tu.evaluate(*given, **(FAST | options))


def test_recalibrators_are_on_the_page_if_the_verdict_recommends_one(binary) -> None:
    assert binary.recalibration is not None
    for gain, advised in (("", False), ("This lowers the log loss.", True)):
        found = replace(binary, answers={**binary.answers, "expected_gain": gain})
        titles = [ax.get_title(loc="left") for ax in found.plot().axes]
        assert any("Recalibrators" in title for title in titles) == advised


def test_figures_take_a_title_a_name_a_size_and_what_else_they_have(binary) -> None:
    found = binary
    figure = found.plot("reliability", title="T $1", name="mine", size=(3.3, 2.6), stats=True)
    (ax,) = figure.axes[:1]
    assert figure.get_size_inches().tolist() == [3.3, 2.6]
    assert ax.get_title(loc="left") == r"T \$1"
    assert "mine" in [text.get_text() for text in ax.get_legend().get_texts()]
    (remark,) = (text.get_text() for text in ax.texts if text.get_gid() == "remark")
    ece = found.estimate("ece")
    assert f"ECE {ece.value:.3f} (95% CI {ece.interval.low:.3f} to" in remark
    assert remark.endswith("n = 200")
    null = found.plot("null", name="mine", size=(4, 3))
    assert null.axes[0].get_title(loc="left") == "mine"
    assert null.get_size_inches().tolist() == [4, 3]
    with pytest.raises(InputError, match=r"`zoom` is an option of reliability, .*, not of null"):
        found.plot("null", zoom="none")
    with pytest.raises(InputError, match="`stats` is an option of reliability, deviation, not of"):
        found.plot("curve", stats=True)


def titles_of(figure) -> list[str]:
    return [ax.get_title(loc="left") for ax in figure.axes if ax.get_title(loc="left")]


def test_where_rows_crowd_in_few_bins_the_first_panel_has_bins_of_equal_mass() -> None:
    rng = np.random.default_rng(0)
    p = 0.1 * rng.random(600)
    crowded = tu.evaluate(p, rng.random(600) < p, **FAST)
    assert titles_of(crowded.plot())[0] == "Reliability diagram (equal-mass bins)"
    spread = tu.evaluate(8 * p, rng.random(600) < 8 * p, **FAST)
    titles = titles_of(spread.plot())
    assert titles[0] == "Reliability diagram (equal-width bins)"
    assert "Reliability diagram (equal-mass bins)" not in titles
