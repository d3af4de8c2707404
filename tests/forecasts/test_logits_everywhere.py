"""`logits=True` is a flag of every function that takes predictions."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import numpy as np
import pytest

import trueup as tu
from oracles.arithmetic import softmax
from trueup import decisions, inference, local, simulate
from trueup.metrics import NAMED

MODULES = (tu, inference, decisions, local, simulate)


def takes_predictions() -> Iterator[tuple[str, object]]:
    for module in MODULES:
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing) and {"probs", "probs_a"} & {*parameters(thing)}:
                yield f"{module.__name__}.{name}", thing


def parameters(function: object) -> list[str]:
    return list(inspect.signature(function).parameters)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", sorted(dict(takes_predictions())))
def test_every_function_of_predictions_has_the_flag(name: str) -> None:
    assert "logits" in parameters(dict(takes_predictions())[name])


def test_a_softmax_before_or_inside_is_the_same() -> None:
    rng = np.random.default_rng(0)
    z, y = rng.normal(0, 2, (200, 3)), rng.integers(0, 3, 200)
    P = softmax(z)
    for name in sorted(set(NAMED) - {"ici", "e50", "e90"}):
        inside = NAMED[name](z, y, logits=True)
        assert inside == pytest.approx(NAMED[name](P, y), abs=1e-12), name
    for function in (tu.calibration_test, inference.hypothesis_tests.sensitivity.sensitivity):
        found = function(z, y, logits=True, n_resamples=99, rng=0)
        again = function(P, y, n_resamples=99, rng=0)
        assert repr(found) == repr(again) or found.observed == pytest.approx(again.observed)
    ends, again = (
        tu.interval(tu.ece, *data)
        for data in ((tu.Forecasts.from_arrays(z, y, logits=True),), (P, y))
    )
    assert ends.low == pytest.approx(again.low, abs=1e-12)
    assert tu.interval(tu.ece, z, y, logits=True).low == ends.low
