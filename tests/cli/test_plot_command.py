"""`trueup plot`: every picture that can be asked for."""

from __future__ import annotations

import numpy as np
import pytest

from command_line import overconfident, three_classes
from trueup import Forecasts
from trueup.cli.pictures import KINDS, draw, save_figure
from trueup.errors import InputError
from trueup.evaluation import Evaluation, evaluate

OF_THREE = sorted(set(KINDS) - {"groups", "local", "recalibration"})


@pytest.fixture(scope="module")
def three() -> Evaluation:
    columns = three_classes()
    probs = np.column_stack([columns[name] for name in columns if name != "label"])
    data = Forecasts.of(probs, columns["label"], classes=["dog", "cat", "eel"])
    return evaluate(data, metrics=(), n_resamples=99, recalibrate=False, advice=False)


@pytest.fixture(scope="module")
def with_more() -> Evaluation:
    columns = overconfident()
    features = np.random.default_rng(0).normal(size=(600, 2))
    groups = np.arange(600) % 3
    data = Forecasts.of(columns["p"], columns["y"], features=features, groups=groups)
    return evaluate(data, metrics=(), n_resamples=99, advice=False)


@pytest.mark.parametrize("kind", OF_THREE)
def test_every_picture_of_three_classes(three, kind, tmp_path) -> None:
    save_figure(draw(three, kind), str(tmp_path / "picture.svg"))
    assert (tmp_path / "picture.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize("kind", ["groups", "local", "recalibration"])
def test_pictures_of_more(with_more, kind, tmp_path) -> None:
    save_figure(draw(with_more, kind), str(tmp_path / "picture.pdf"))
    assert (tmp_path / "picture.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("kind", "said"), [("groups", "pass --groups"), ("local", "pass --features")]
)
def test_pictures_that_need_more(three, kind, said) -> None:
    with pytest.raises(InputError, match=f"there are: overview, .*{said}"):
        draw(three, kind)


def test_the_command(run, files) -> None:
    result = run("plot", "wrong.csv", "-o", "p.png")
    assert (files / "p.png").read_bytes().startswith(b"\x89PNG")
    assert result.stdout == ""
    assert "the picture is in p.png" in result.stderr
    result = run("plot", "wrong.csv", "--kind", "simplex", "-o", "s.png", code=2)
    assert "three or four classes" in result.stderr


@pytest.mark.parametrize(("path", "said"), [("picture", "*.png"), ("no/p.png", "no directory")])
def test_refused_before_the_file_is_read(run, files, path, said) -> None:
    assert said in run("plot", "missing.csv", "-o", path, code=2).stderr
