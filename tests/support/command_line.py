"""Predictions whose answer is known, and JSON as machines read it, for tests of commands."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from click.testing import Result


def overconfident(n: int = 600, seed: int = 0) -> dict[str, np.ndarray]:
    """One probability per row, too far from 1/2: a temperature of 2 corrects it."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(size=n)
    y = rng.random(n) < 1 / (1 + np.exp(-logit))
    return {"p": 1 / (1 + np.exp(-2 * logit)), "y": y.astype(int)}


def calibrated(n: int = 600, seed: int = 0) -> dict[str, np.ndarray]:
    """One probability a row, all of them true."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return {"p": p, "y": (rng.random(n) < p).astype(int)}


def three_classes(n: int = 600, seed: int = 0) -> dict[str, np.ndarray]:
    """Calibrated probabilities of three classes, whose names are not in alphabetical order."""
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet([1, 1, 1], n)
    number = (rng.random((n, 1)) > probs.cumsum(axis=1)).sum(axis=1)
    names = ("dog", "cat", "eel")
    columns = {f"p_{name}": probs[:, k] for k, name in enumerate(names)}
    return {**columns, "label": np.array(names, object)[number]}


def json_of(result: Result) -> Any:
    """What was written for machines: strictly JSON, and nothing else."""

    def refuse(constant: str) -> None:
        pytest.fail(f"{constant} is not JSON")

    return json.loads(result.stdout, parse_constant=refuse)
