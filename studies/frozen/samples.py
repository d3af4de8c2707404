"""Fixed inputs: what `Forecasts.from_arrays` takes, by name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import trueup as tu

REAL = Path(__file__).parents[3] / "shared" / "data"
"""Real predictions next to the checkout, if there are any."""

Sample = dict[str, Any]


def binary(n: int = 500, seed: int = 0) -> Sample:
    """Scores of a model that is too high everywhere."""
    rng = np.random.default_rng([1, seed])
    p = rng.beta(2.0, 1.0, n)
    return {"probs": p, "labels": (rng.random(n) < p**1.5).astype(np.int64)}


def matrix(n_classes: int, n: int, seed: int = 0, temperature: float = 1.6) -> Sample:
    """Rows of a model whose logits are too large by a factor."""
    rng = np.random.default_rng([n_classes, seed])
    logits = 1.5 * rng.normal(size=(n, n_classes))
    labels = _drawn(_softmax(logits), rng)
    return {"probs": _softmax(temperature * logits), "labels": labels}


def _softmax(logits: np.ndarray) -> np.ndarray:
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def _drawn(probs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    upto = probs.cumsum(axis=1)[:, :-1]
    return np.asarray((rng.random((len(probs), 1)) >= upto).sum(axis=1))


def _weighted(sample: Sample) -> Sample:
    n = len(sample["probs"])
    return {**sample, "weights": np.random.default_rng(2).gamma(2.0, 1.0, n)}


def _clustered(sample: Sample, size: int = 10) -> Sample:
    return {**sample, "clusters": np.arange(len(sample["probs"])) // size}


def _soft(sample: Sample) -> Sample:
    probs = sample["probs"]
    soft = 0.9 * probs**1.2 if probs.ndim == 1 else 0.9 * probs + 0.1 / probs.shape[1]
    return {"probs": probs, "labels": soft, "soft_labels": True}


def _float32(sample: Sample) -> Sample:
    return {**sample, "probs": sample["probs"].astype(np.float32)}


def _tied(sample: Sample) -> Sample:
    probs = sample["probs"]
    if probs.ndim == 1:
        return {**sample, "probs": np.round(probs, 1)}
    parts = np.floor(16 * probs)
    parts[np.arange(len(parts)), probs.argmax(axis=1)] += 16 - parts.sum(axis=1)
    return {**sample, "probs": parts / 16}


def _certain(sample: Sample, *, right: bool) -> Sample:
    """Probabilities of 0 and 1 alone; where they are not all right, labels stay as they are."""
    probs, labels = sample["probs"], sample["labels"]
    if probs.ndim == 1:
        return {"probs": (labels if right else probs > 0.5).astype(float), "labels": labels}
    return {"probs": np.eye(probs.shape[1])[probs.argmax(axis=1)], "labels": labels}


def _first(sample: Sample, n: int) -> Sample:
    return {name: value[:n] for name, value in sample.items()}


def _logits(sample: Sample) -> Sample:
    probs = sample["probs"]
    odds = np.log(probs) if probs.ndim == 2 else np.log(probs) - np.log1p(-probs)
    return {"logits": odds, "labels": sample["labels"]}


def _named(sample: Sample) -> Sample:
    names = ["dog", "cat", "eel", "ant"]
    return {**sample, "labels": np.array(names)[sample["labels"]], "classes": names}


MADE: dict[str, Callable[[], Sample]] = {
    "binary": binary,
    "binary-ties": lambda: _tied(binary()),
    "binary-weights": lambda: _weighted(binary()),
    "binary-clusters": lambda: _clustered(binary()),
    "binary-soft": lambda: _soft(binary()),
    "binary-float32": lambda: _float32(binary()),
    "binary-logits": lambda: _logits(binary()),
    "binary-0-1": lambda: _certain(binary(60), right=False),
    "binary-0-1-right": lambda: _certain(binary(60), right=True),
    "binary-n1": lambda: _first(binary(), 1),
    "binary-n7": lambda: _first(binary(), 7),
    "two": lambda: matrix(2, 400),
    "four": lambda: matrix(4, 400),
    "four-ties": lambda: _tied(matrix(4, 400)),
    "four-weights": lambda: _weighted(matrix(4, 400)),
    "four-clusters": lambda: _clustered(matrix(4, 400)),
    "four-soft": lambda: _soft(matrix(4, 400)),
    "four-float32": lambda: _float32(matrix(4, 400)),
    "four-logits": lambda: _logits(matrix(4, 400)),
    "four-names": lambda: _named(matrix(4, 400)),
    "four-0-1": lambda: _certain(matrix(4, 60), right=False),
    "four-n1": lambda: _first(matrix(4, 400), 1),
    "hundred": lambda: matrix(100, 300),
    "hundred-float32": lambda: _float32(matrix(100, 300)),
}


def _games() -> Sample:
    data = _arrays("fivethirtyeight_games")
    return {
        "probs": data["wnba_games__p"],
        "labels": data["wnba_games__y"],
        "groups": data["wnba_games__season"],
    }


def _confidences() -> Sample:
    """Stated by a language model: few distinct values."""
    data = _arrays("llm_verbal_confidence")
    rows = np.flatnonzero((data["llm"] == 0) & (data["stated"] >= 0) & (data["stated"] <= 1))
    return {"probs": data["stated"][rows[:1000]], "labels": data["correct"][rows[:1000]]}


def _images(model: str, n: int) -> Sample:
    data = _arrays("netcal_cifar_probs")
    probs = data[f"{model}__p"][:n].astype(np.float64)
    return {"probs": probs / probs.sum(axis=1, keepdims=True), "labels": data[f"{model}__y"][:n]}


def _cells() -> Sample:
    path = REAL / "tabular" / "hpc_cv.csv"
    table = np.genfromtxt(path, delimiter=",", skip_header=1, dtype=str)[::4]
    names = ["VF", "F", "M", "L"]
    probs = table[:, 2:6].astype(float)
    probs /= probs.sum(axis=1, keepdims=True)
    return {"probs": probs, "labels": table[:, 0], "classes": names}


@cache
def _arrays(name: str) -> dict[str, np.ndarray]:
    with np.load(REAL / f"{name}.npz", allow_pickle=False) as data:
        return {key: data[key] for key in data}


FOUND: dict[str, Callable[[], Sample]] = {
    "real-games": _games,
    "real-confidences": _confidences,
    "real-images-10": lambda: _images("wideresnet_16_4_cifar_10", 1000),
    "real-images-100": lambda: _images("densenet_bc_100_cifar_100", 300),
    "real-cells": _cells,
}
"""Subsets of real predictions; see the page next to them."""


@cache
def sample(name: str) -> Sample:
    """Return the arguments of `Forecasts.from_arrays`; a missing file raises an error."""
    return (MADE | FOUND)[name]()


@cache
def forecasts(name: str) -> Any:
    """Return a sample as checked data."""
    given = dict(sample(name))
    if "logits" in given:
        return tu.Forecasts.from_arrays(given.pop("logits"), logits=True, **given)
    return tu.Forecasts.from_arrays(**given)


@cache
def available() -> tuple[str, ...]:
    """Return the names of all samples, except those whose file is missing."""
    names = list(MADE)
    for name in FOUND:
        try:
            sample(name)
        except FileNotFoundError as error:
            print(f"without {name}: {error}", file=sys.stderr)
        else:
            names.append(name)
    return tuple(names)


def some(*names: str) -> list[str]:
    """Return those of the names that are available."""
    return [name for name in names if name in available()]
