"""Recalibrators from options of the command line: `--method histogram --param n_bins=20`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from trueup.errors import called, must_be

if TYPE_CHECKING:
    from trueup.recalibrate import Recalibrator

__all__ = ["METHODS", "load_calibrator", "make"]

METHODS = {
    "auto": "AutoCalibration",
    "temperature": "TemperatureScaling",
    "platt": "PlattScaling",
    "beta": "BetaCalibration",
    "vector": "VectorScaling",
    "matrix": "MatrixScaling",
    "dirichlet": "DirichletCalibration",
    "isotonic": "IsotonicCalibration",
    "histogram": "HistogramBinning",
    "scaling-binning": "ScalingBinning",
    "bayesian-binning": "BayesianBinning",
    "venn-abers": "VennAbers",
    "mmce": "MMCEScaling",
    "local": "LocalCalibration",
}
SET = ("logits", "normalize", "classes")  # by options of their own


def make(method: str, texts: Sequence[str]) -> Recalibrator:
    """Make a recalibrator with parameters from ``texts`` such as "n_bins=20"."""
    from trueup import recalibrate

    made: Recalibrator = getattr(recalibrate, METHODS[method])()
    known = [name for name in made.get_params(deep=False) if name not in SET]
    params = dict(_parameter(text) for text in texts)
    for name in params:
        if name not in known:
            rule = f"name a parameter of {method}: {', '.join(known) or 'it has none'}"
            raise must_be("--param", rule, name)
    made.set_params(**params)
    return made


def load_calibrator(path: str) -> Recalibrator:
    """Load a recalibrator that `trueup fit` saved."""
    from trueup.recalibrate import load_recalibrator

    with called({"path": "CALIBRATOR"}):
        loaded: Recalibrator = load_recalibrator(path)
    return loaded


def _parameter(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip() or not value.strip():
        raise must_be("--param", "a name, = and a value", text, hint="such as n_bins=20")
    return name.strip(), _value(value.strip())


def _value(text: str) -> Any:
    """Return a number, true, false or null read as JSON; return any other text unchanged."""
    try:
        return json.loads(text)
    except ValueError:
        return text
