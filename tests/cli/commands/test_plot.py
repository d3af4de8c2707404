"""`trueup plot`: every figure that can be requested."""

from __future__ import annotations

import io

import numpy as np
import pytest

from support.command_line import overconfident, three_classes
from trueup import Forecasts
from trueup.cli.commands.plot import OF_ONE_MODEL
from trueup.cli.figures import save_figure
from trueup.errors import InputError
from trueup.evaluation import Evaluation, evaluate
from trueup.evaluation.on_demand import PARTS, OnDemand
from trueup.evaluation.settings import Settings
from trueup.io import write_table
from trueup.plotting.overview import figure_of, parts_of
from trueup.plotting.registry import FIGURES, KINDS

OF_MORE = ("groups", "local", "recalibration")
OF_THREE = sorted(set(OF_ONE_MODEL) - set(OF_MORE))


@pytest.fixture(scope="module")
def three_rows() -> Forecasts:
    columns = three_classes()
    probs = np.column_stack([columns[name] for name in columns if name != "label"])
    return Forecasts.from_arrays(probs, columns["label"], classes=["dog", "cat", "eel"])


@pytest.fixture(scope="module")
def three(three_rows) -> Evaluation:
    return evaluate(three_rows, n_resamples=99, recalibrate=False, advice=False)


@pytest.fixture(scope="module")
def more_rows() -> Forecasts:
    columns = overconfident()
    features = np.random.default_rng(0).normal(size=(600, 2))
    groups = np.arange(600) % 3
    return Forecasts.from_arrays(columns["p"], columns["y"], features=features, groups=groups)


@pytest.fixture(scope="module")
def with_more(more_rows) -> Evaluation:
    return evaluate(more_rows, n_resamples=99, advice=False)


def on_demand(forecasts: Forecasts) -> OnDemand:
    return OnDemand(forecasts, Settings.checked(n_resamples=99))


def png(figure) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


@pytest.mark.parametrize("kind", OF_THREE)
def test_every_picture_of_three_classes(three, kind, tmp_path) -> None:
    save_figure(three.plot(kind), str(tmp_path / "picture.svg"))
    assert (tmp_path / "picture.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize("kind", OF_MORE)
def test_pictures_of_more(with_more, kind, tmp_path) -> None:
    save_figure(with_more.plot(kind), str(tmp_path / "picture.pdf"))
    assert (tmp_path / "picture.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("kind", "said"), [("groups", "`groups` to evaluate"), ("local", "`features` to evaluate")]
)
def test_pictures_that_need_more(three, three_rows, kind, said) -> None:
    for parts in (parts_of(three), on_demand(three_rows)):
        with pytest.raises(InputError, match=f"available: overview, .*{said}"):
            figure_of(parts, kind)


@pytest.mark.parametrize("kind", sorted({*OF_THREE, *OF_MORE} - {"overview"}))
def test_a_picture_is_that_of_the_whole_evaluation(
    three, three_rows, with_more, more_rows, kind
) -> None:
    found, data = (with_more, more_rows) if kind in OF_MORE else (three, three_rows)
    assert png(figure_of(on_demand(data), kind)) == png(found.plot(kind))


def test_models_have_a_picture_and_other_words_have_none(with_more) -> None:
    both = evaluate(
        labels=[0, 1] * 50,
        models={"a": np.full(100, 0.4), "b": np.full(100, 0.6)},
        n_resamples=99,
        recalibrate=False,
        advice=False,
    )
    assert both.plot("models").axes
    with pytest.raises(InputError, match="`kind` 'models' is not available"):
        with_more.plot("models")
    with pytest.raises(InputError, match="`kind` must be one of 'overview', "):
        with_more.plot("pie")


def test_a_picture_computes_only_what_it_needs(three_rows) -> None:
    parts = on_demand(three_rows)
    figure_of(parts, "reliability")
    made = {name for name in PARTS if parts.made(name) is not None}
    assert made == {"reliability", "band"}
    with pytest.raises(InputError, match="available: overview, reliability"):
        figure_of(parts, "local")
    assert made == {name for name in PARTS if parts.made(name) is not None}


def test_every_entry_names_parts_that_there_are() -> None:
    named = {part for entry in FIGURES for part in (*entry.needs, *entry.uses)}
    assert named - set(PARTS) == {"models"}
    assert set(OF_ONE_MODEL) == set(KINDS) - {"models"}


def test_the_command(run, files) -> None:
    result = run("plot", "wrong.csv", "-o", "p.png")
    assert (files / "p.png").read_bytes().startswith(b"\x89PNG")
    assert result.stdout == ""
    assert "saved the figure to p.png" in result.stderr
    result = run("plot", "wrong.csv", "--kind", "simplex", "-o", "s.png", code=2)
    assert "three or four classes" in result.stderr


@pytest.mark.parametrize(("path", "said"), [("picture", ".png"), ("no/p.png", "no directory")])
def test_refused_before_the_file_is_read(run, files, path, said) -> None:
    assert said in run("plot", "missing.csv", "-o", path, code=2).stderr


def test_title_name_size_resolution_and_zoom(run, files) -> None:
    from matplotlib.image import imread

    options = ("--title", "Mine", "--name", "model", "--size", "3.3x2.6", "--dpi", "100")
    run("plot", "wrong.csv", "-o", "p.png", *options, "--zoom", "0,0.5", "--stats")
    assert imread(files / "p.png").shape[:2] == (260, 330)
    run("plot", "wrong.csv", "-o", "p.svg", "--kind", "curve", "--zoom", "none", "--size", "3,3")
    assert (files / "p.svg").read_bytes().startswith(b"<?xml")
    for option, value, said in (
        ("--size", "large", "--size must be width and height in inches; got 'large'"),
        ("--zoom", "near", "--zoom must be auto, none, or two numbers"),
        ("--zoom", "0.5,0.2", "two increasing numbers"),
        ("--dpi", "1", "--dpi"),
    ):
        assert said in run("plot", "wrong.csv", "-o", "p.png", option, value, code=2).stderr


def test_the_overview_names_its_file(run, files) -> None:
    run("plot", "wrong.csv", "-o", "p.svg", "--kind", "overview")
    assert b"wrong.csv" in (files / "p.svg").read_bytes()


@pytest.mark.parametrize("kind", ["reliability", "curve", "groups", "overview"])
def test_groups_that_a_figure_does_not_show_are_told(run, tmp_path, kind) -> None:
    write_table(tmp_path / "g.csv", {**overconfident(), "site": np.arange(600) % 3})
    hint = "the groups are not shown in this kind of figure; --kind groups shows them."
    told = run("plot", "g.csv", "--groups", "site", "--kind", kind, "-o", "g.svg").stderr
    assert told.count(hint) == (kind in ("reliability", "curve"))
    assert hint not in run("plot", "g.csv", "--kind", "reliability", "-o", "p.svg").stderr


def test_rows_that_crowd_in_few_bins_are_told_what_shows_more(run, tmp_path) -> None:
    rng = np.random.default_rng(0)
    probs = 0.1 * rng.random(300)
    labels = (rng.random(300) < probs).astype(int)
    write_table(tmp_path / "rare.csv", {"p": probs, "y": labels})
    hint = "a few bins hold 99% of the rows; --kind equal-mass or --kind curve shows more."
    assert hint in run("plot", "rare.csv", "-o", "p.png").stderr
    assert hint not in run("plot", "rare.csv", "-o", "p.png", "--kind", "equal-mass").stderr
