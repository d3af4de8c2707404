from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from trueup.cli.commands.demo import FILES, in_words
from trueup.evaluation import Evaluation


@pytest.mark.parametrize(
    ("probs", "said"),
    [
        ([[0.9, 0.1], [0.1, 0.9]], "mean confidence 90.0%, accuracy 50.0%: overconfident."),
        ([0.4, 0.4], "mean confidence 60.0%, accuracy 100.0%: underconfident."),
        ([1.0, 0.0], "mean confidence 100.0%, accuracy 50.0%: overconfident."),
    ],
)
def test_in_words(probs, said) -> None:
    assert in_words(np.array(probs), np.array([0, 0])) == said


@pytest.mark.slow
def test_demo_says_what_it_found_and_where(run, tmp_path: Path) -> None:
    text = " ".join(run("demo", "--dir", "here").stdout.split())
    assert "All results are in here" in text
    assert "random forest after TemperatureScaling" in text
    for folder in ("tumors", "digits"):
        for names in FILES:
            for name in names.split(", "):
                assert list((tmp_path / "here" / folder).glob(name)), name
        before, after = (
            Evaluation.from_json(tmp_path / "here" / folder / f"{name}.json")
            for name in ("before", "after")
        )
        assert after.estimates[0].value < before.estimates[0].value
