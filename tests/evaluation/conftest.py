"""Small evaluations of many kinds of data, each made once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import trueup as tu

N = 300
FAST: dict[str, Any] = {"n_resamples": 99, "recalibrate": False, "advice": False}


def drawn(g: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels that follow the predicted distributions."""
    return np.minimum(
        (rng.random(len(g))[:, None] > np.cumsum(g, axis=1)).sum(axis=1), len(g.T) - 1
    )


def _kinds() -> dict[str, tuple[tuple[Any, ...], dict[str, Any]]]:
    rng = np.random.default_rng(0)
    p, g = rng.random(N), rng.dirichlet(np.ones(3), N)
    y, z = (rng.random(N) < p).astype(int), drawn(g, rng)
    wide = rng.dirichlet(np.full(100, 0.1), N)
    soft = tu.Forecasts.from_arrays(g, rng.dirichlet(np.ones(3), N), soft_labels=True)
    mixed = np.array([["a", 1, 7][k] for k in z], object)
    full = FAST | {"recalibrate": True, "advice": True}
    return {
        "binary": ((p, y), full),
        "three": ((g, z), FAST | {"recalibrate": True}),
        "names": ((g, np.array(["<a>", "b", "c"])[z]), FAST | {"classes": ["<a>", "b", "c"]}),
        "floats": ((g, np.array([1.0, 2.0, 3.5])[z]), FAST | {"classes": [1.0, 2.0, 3.5]}),
        "mixed": ((g, mixed), FAST | {"classes": ["a", 1, 7]}),
        "hundred": ((wide, drawn(wide, rng)), FAST),
        "weights": ((p, y), FAST | {"weights": p + 0.1}),
        "clusters": ((p, y), FAST | {"clusters": np.arange(N) // 3, "recalibrate": True}),
        "soft": ((soft,), FAST),
        "groups": ((p, y), FAST | {"groups": np.where(p > 0.5, "x", "y"), "n_bins": 8}),
        "features": ((p[:60], y[:60]), FAST | {"features": rng.normal(size=(60, 3))}),
        "models": ((None, y), FAST | {"models": {"one": p, "two": p**2}}),
        "certain": ((np.ones(20), np.ones(20, int)), FAST),
        "one row": (([0.7], [1]), FAST),
    }


KINDS = _kinds()


@cache
def found_of(kind: str) -> tu.Evaluation:
    """Return the evaluation of one kind of data."""
    given, options = KINDS[kind]
    return tu.evaluate(*given, **options)


@pytest.fixture(scope="session")
def found() -> Callable[[str], tu.Evaluation]:
    """Evaluations by kind of data, made when first asked for."""
    return found_of


@pytest.fixture(params=list(KINDS))
def each(request: pytest.FixtureRequest) -> tu.Evaluation:
    """Every kind of data."""
    return found_of(request.param)


@pytest.fixture(scope="session")
def data() -> Callable[[str], tu.Forecasts]:
    """Checked data of a kind."""

    def of(kind: str) -> tu.Forecasts:
        given, options = KINDS[kind]
        names = ("weights", "groups", "features", "clusters", "classes")
        return tu.Forecasts.from_arrays(*given, **{k: v for k, v in options.items() if k in names})

    return of
