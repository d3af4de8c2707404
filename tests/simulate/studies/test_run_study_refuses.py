"""What a study refuses, in whole sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import trueup as tu
from trueup.simulate.studies.run_study import study
from trueup.simulate.worlds.calibration_curves import Power
from trueup.simulate.worlds.score_distributions import Uniform
from trueup.simulate.worlds.world import World

FLAT = World(Uniform(), Power(2))
WIDTH = tu.BinnedError(binning=tu.EqualWidth(8), norm=2)


def mean_gap(probs: np.ndarray, labels: np.ndarray) -> float:
    return float(probs.mean() - labels.mean())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"n": 0},
            "`n` must be a whole number of at least 1, or several that are distinct; got 0.",
        ),
        (
            {"n": [5, 5]},
            "`n` must be a whole number of at least 1, or several that are distinct; got [5, 5].",
        ),
        ({"n_datasets": 0}, "`n_datasets` must be a whole number of at least 1; got 0."),
        ({"workers": 0}, "`workers` must be a whole number of at least 1; got 0."),
        (
            {"measures": [WIDTH]},
            "`measures` must be a mapping of names to functions; got [BinnedError(lens=None, "
            'binning=EqualWidth(n_bins=8), norm=2)]. Hint: such as {"ece": tu.BinnedError()}.',
        ),
        ({"worlds": {"w": 3}}, "`worlds` must be a world, or worlds by name; got 3."),
        (
            {"rng": "x"},
            "`rng` must be a whole number of at least 0, a numpy Generator or None; got 'x'.",
        ),
        (
            {"rng": None, "path": "never.jsonl"},
            "`rng` must be a whole number if a path is given, to resume the study; got None.",
        ),
        ({"truth": {"x": 1.0}}, "`truth` must name m; got ['x']."),
        (
            {"truth": 0.5},
            "`truth` must be a function of the world, or a number or such a function for each "
            "measure; got 0.5.",
        ),
        (
            {"measures": {"m": tu.BinnedError}},
            "`measures` must contain instances, not classes; got the class "
            "BinnedError. Hint: call the class of 'm'.",
        ),
        (
            {"measures": {"m": lambda p, y: "high"}},
            "`measures` must be functions that return a number, or a mapping or record of numbers; "
            "got 'high'. Hint: check the function 'm'.",
        ),
        (
            {"measures": {"m": lambda p, y: {"x": 1.0}, "m.x": WIDTH}},
            "`measures` must be functions that return uniquely named numbers, with the same names "
            "for every dataset; got ['m.x', 'm.x'].",
        ),
    ],
)
def test_refused_arguments(change: dict[str, Any], sentence: str) -> None:
    arguments = {"worlds": FLAT, "measures": {"m": mean_gap}, "n": 10, "n_datasets": 3} | change
    with pytest.raises(tu.InputError) as refused:
        study(**arguments)
    assert str(refused.value) == sentence
