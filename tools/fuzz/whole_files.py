"""Files that are right, of every format, from which damaged ones are made."""

from __future__ import annotations

import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from trueup.evaluation import evaluate
from trueup.io import write_table
from trueup.recalibrate import (
    BayesianBinning,
    BetaCalibration,
    DirichletCalibration,
    GroupwiseCalibration,
    HistogramBinning,
    IsotonicCalibration,
    OneVsRestCalibration,
    PlattScaling,
    ScalingBinning,
    TemperatureScaling,
    VectorScaling,
    VennAbers,
)

ROWS = 12
SUFFIXES = ("csv", "tsv", "csv.gz", "json", "jsonl", "npz", "parquet")


def _tables() -> dict[str, dict[str, Any]]:
    rng = np.random.default_rng(0)
    p = rng.random(ROWS).round(3)
    probs = rng.dirichlet(np.ones(3), ROWS)
    names = np.array(["cat", "dog", "eel"], object)
    return {
        "binary": {
            "p": p,
            "y": (rng.random(ROWS) < p).astype(int),
            "g": names[np.arange(ROWS) % 2],
        },
        "classes": {
            **{f"p_{name}": probs[:, k] for k, name in enumerate(names)},
            "label": names[np.arange(ROWS) % 3],
            "w": rng.random(ROWS) + 0.5,
        },
        "matrix": {"p": probs, "y": np.arange(ROWS) % 3, "logits": np.log(probs)},
        "confidence": {"confidence": p, "prediction": names[np.arange(ROWS) % 3], "label": names},
    }


def whole_tables() -> dict[str, bytes]:
    """Return files of predictions by their names."""
    return _written_tables(tuple(SUFFIXES) + (("arrow",) if find_spec("pyarrow") else ()))


@cache
def _written_tables(suffixes: tuple[str, ...]) -> dict[str, bytes]:
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, columns in _tables().items():
            rows = len(next(iter(columns.values())))
            columns = {key: np.resize(x, (rows, *x.shape[1:])) for key, x in columns.items()}
            for suffix in suffixes:
                path = Path(folder, f"{name}.{suffix}")
                write_table(path, columns)
                found[path.name] = path.read_bytes()
    found["records.json"] = b'[{"p": 0.25, "y": 1}, {"p": 0.5, "y": 0}, {"p": 0.75, "y": 1}]'
    found["lists.jsonl"] = b'{"p": [0.25, 0.75], "y": 1}\n{"p": [0.5, 0.5], "y": 0}\n'
    found["quoted.csv"] = b'\xef\xbb\xbf"p","y, of a"\r\n"0.25",1\r\n0.5,"0"\r\n\r\n0.75,"1"\r\n'
    return found


@cache
def whole_recalibrators() -> dict[str, bytes]:
    """Return files of recalibrators by their names."""
    rng = np.random.default_rng(0)
    n = 60
    probs = rng.dirichlet(np.ones(3), n)
    labels = np.array(["a", "b", "c"])[rng.integers(0, 3, n)]
    p, y = probs[:, 0], (labels == "a").astype(int)
    large = IsotonicCalibration().fit(probs, labels)
    large.more_ = rng.normal(size=(200, 50))  # so large that it is saved as safetensors
    fitted = {
        "platt": PlattScaling().fit(p, y),
        "beta": BetaCalibration().fit(p, y),
        "isotonic": IsotonicCalibration().fit(probs, labels),
        "histogram": HistogramBinning(n_bins=5).fit(p, y),
        "scaling-binning": ScalingBinning(n_bins=5).fit(p, y),
        "bayesian": BayesianBinning().fit(p, y),
        "venn-abers": VennAbers().fit(p, y),
        "temperature": TemperatureScaling().fit(probs, labels),
        "vector": VectorScaling().fit(probs, labels),
        "dirichlet": DirichletCalibration().fit(probs, labels),
        "one-vs-rest": OneVsRestCalibration(PlattScaling()).fit(probs, labels),
        "groups": GroupwiseCalibration(PlattScaling(), min_rows=5).fit(
            p, y, groups=np.array(["u", "v"])[np.arange(n) % 2]
        ),
        "large": large,
    }
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, recalibrator in fitted.items():
            path = Path(folder, name)
            recalibrator.save(path)
            found[name] = path.read_bytes()
    return found


@cache
def whole_evaluation() -> bytes:
    """Return the file of an evaluation."""
    rng = np.random.default_rng(0)
    p = rng.random(60)
    groups = np.array(["u", "v"])[np.arange(60) % 2]
    return evaluate(p, rng.random(60) < p, groups=groups, n_resamples=39).to_json().encode()
