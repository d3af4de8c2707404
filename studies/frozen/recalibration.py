"""Recalibrators: what they learn and answer, saved and loaded, chosen and cross-fitted."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import trueup as tu
from studies.frozen.record import Record
from studies.frozen.samples import Sample, binary, forecasts, matrix, sample, some

LOGITS: dict[str, Any] = {"logits": True}

RECALIBRATORS: dict[str, Callable[..., Any]] = {
    "none": tu.IdentityCalibration,
    "temperature": tu.TemperatureScaling,
    "platt": tu.PlattScaling,
    "platt/smoothed": lambda **kwargs: tu.PlattScaling(target="platt", **kwargs),
    "platt/squared": lambda **kwargs: tu.PlattScaling(loss="squared", **kwargs),
    "beta": tu.BetaCalibration,
    "beta/ab": lambda **kwargs: tu.BetaCalibration(parameters="ab", **kwargs),
    "beta/am": lambda **kwargs: tu.BetaCalibration(parameters="am", **kwargs),
    "vector": tu.VectorScaling,
    "vector/strength": lambda **kwargs: tu.VectorScaling(strength=0.1, **kwargs),
    "matrix": tu.MatrixScaling,
    "matrix/l2": lambda **kwargs: tu.MatrixScaling(penalty="l2", strength=0.01, **kwargs),
    "dirichlet": lambda **kwargs: tu.DirichletCalibration(n_folds=3, **kwargs),
    "dirichlet/strength": lambda **kwargs: tu.DirichletCalibration(
        strength=0.01, intercept_strength=0.1, **kwargs
    ),
    "isotonic": tu.IsotonicCalibration,
    "isotonic/accuracy": lambda **kwargs: tu.IsotonicCalibration(
        accuracy_preserving=True, **kwargs
    ),
    "histogram": tu.HistogramBinning,
    "histogram/width": lambda **kwargs: tu.HistogramBinning(
        n_bins=8, binning="equal-width", **kwargs
    ),
    "histogram/top": lambda **kwargs: tu.HistogramBinning(lens="top-label", **kwargs),
    "scaling-binning": tu.ScalingBinning,
    "scaling-binning/top": lambda **kwargs: tu.ScalingBinning(lens="top-label", **kwargs),
    "scaling-binning/split": lambda **kwargs: tu.ScalingBinning(
        scaling=tu.TemperatureScaling(), split=True, random_state=3, **kwargs
    ),
    "bayesian": tu.BayesianBinning,
    "venn-abers": tu.VennAbers,
    "venn-abers/squared": lambda **kwargs: tu.VennAbers(loss="squared", **kwargs),
    "mmce": tu.MMCEScaling,
    "per-class": lambda **kwargs: tu.OneVsRestCalibration(tu.PlattScaling(), **kwargs),
    "top-label": lambda **kwargs: tu.TopLabelCalibration(tu.IsotonicCalibration(), **kwargs),
}

FITTED = (
    "binary",
    "binary-ties",
    "binary-weights",
    "binary-float32",
    "binary-0-1",
    "binary-n1",
    "two",
    "four",
    "four-ties",
    "four-weights",
    "four-float32",
    "four-names",
    "four-0-1",
    "real-games",
    "real-cells",
)
FEW = ("hundred", "real-images-10")
QUICK = ("none", "temperature", "platt", "vector", "isotonic", "histogram", "scaling-binning")

ANSWERS = ("predict", "predict_marginals", "predict_confidence", "predict_interval")
LEARNED = ("outputs_", "coefficients_", "slope_", "intercept_")


def fits(record: Record) -> None:
    """Record what each recalibrator learns, and its answers for other rows."""
    for name in some(*FITTED, *FEW):
        for key in QUICK if name in FEW else RECALIBRATORS:
            record(f"fit/{name}/{key}", _fit, RECALIBRATORS[key], sample(name), new_rows(name))
    for name in ("binary-logits", "four-logits"):
        for key, make in RECALIBRATORS.items():
            given = sample(name)
            new = given["logits"][:50]
            asked = {"probs": given["logits"], "labels": given["labels"]}
            record(f"fit/{name}/{key}", _fit, make, asked, new, **LOGITS)
    for name in ("binary", "binary-weights", "four", "four-names"):
        record(f"fit-checked/{name}", _answer_checked, name)


def new_rows(name: str) -> np.ndarray:
    """Return rows that no sample holds, of as many classes."""
    probs = sample(name)["probs"]
    if probs.ndim == 1:
        return np.concatenate([[0.0, 1e-300, 0.5, 1.0], binary(100, seed=1)["probs"]])
    rows = matrix(probs.shape[1], 40, seed=1)["probs"]
    return np.concatenate([np.eye(probs.shape[1])[:2], rows])


def _fit(make: Callable[..., Any], given: Sample, new: np.ndarray, **options: Any) -> Any:
    if "classes" in given:
        options["classes"] = given["classes"]
    fitted = make(**options).fit(given["probs"], given["labels"], given.get("weights"))
    return answers_of(fitted, new)


def answers_of(fitted: Any, new: np.ndarray) -> dict[str, Any]:
    """Return what was learned, what is noted, and every kind of answer."""
    found: dict[str, Any] = {"learned": learned_by(fitted), "probs": fitted.predict_proba(new)}
    for name in (*ANSWERS, *LEARNED):
        try:
            value = getattr(fitted, name)
            found[name] = value(new) if callable(value) else value
        except (AttributeError, ValueError):  # not of this method, or not of these classes
            continue
    return found


def learned_by(fitted: Any) -> dict[str, Any]:
    """Return the learned attributes, those of inner recalibrators included."""
    found = {k: v for k, v in vars(fitted).items() if k.endswith("_") and not k.startswith("_")}
    return {name: _plain(value) for name, value in found.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, tu.Recalibrator):
        return learned_by(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return value


def _answer_checked(name: str) -> Any:
    given = sample(name)
    options: dict[str, Any] = {"classes": given["classes"]} if "classes" in given else {}
    fitted = tu.TemperatureScaling(**options).fit(forecasts(name))
    return fitted.temperature_, fitted.notes_, fitted.predict_proba(given["probs"])


def grouped(record: Record) -> None:
    """Record copies by group and local recalibration."""
    local: dict[str, dict[str, Any]] = {
        "default": {},
        "gaussian": {"kernel": "gaussian", "bandwidth": 0.5, "n_bins": 5},
    }
    for name in ("binary", "four", "four-weights"):
        given, new = sample(name), new_rows(name)
        rng = np.random.default_rng(7)
        features = rng.normal(size=(len(given["probs"]), 2))
        around = rng.normal(size=(len(new), 2))
        asked = given["probs"], given["labels"], given.get("weights")
        record(f"fit-groups/{name}", _by_group, asked, new)
        for key, options in local.items():
            method = tu.LocalCalibration(**options)
            record(f"fit-local/{name}/{key}", _local, method, asked, features, new, around)


def _by_group(asked: Any, new: np.ndarray) -> np.ndarray:
    copies = tu.GroupwiseCalibration(tu.PlattScaling(), min_rows=50)
    probs, labels, weights = asked
    fitted = copies.fit(probs, labels, weights, groups=np.arange(len(probs)) % 3)
    return fitted.predict_proba(new, groups=np.arange(len(new)) % 3)


def _local(local: Any, asked: Any, features: Any, new: Any, around: Any) -> dict[str, Any]:
    fitted = local.fit(*asked, features=features)
    return {
        "probs": fitted.predict_proba(new, features=around),
        "confidence": fitted.predict_confidence(new, features=around),
        "neighbors": fitted.neighbours(new, features=around),
        "learned": learned_by(fitted),
    }


def chosen(record: Record) -> None:
    """Record the automatic choice, cross-fitted classifiers and scorers."""
    for name in some("binary", "four", "four-weights", "real-games"):
        record(f"auto/{name}", _auto, name)
    record("auto/brier", _auto, "binary", rank_by="brier", cv=3)
    some_of_them = [tu.TemperatureScaling(), tu.IsotonicCalibration()]
    record("auto/candidates", _auto, "four", candidates=some_of_them)
    record("model", _models)
    for metric in ("ece", "log_loss", "rmsce_debiased"):
        record(f"scorer/{metric}", _scored, metric)


def _auto(name: str, **options: Any) -> Any:
    given = sample(name)
    auto = tu.AutoCalibration(**options)
    fitted = auto.fit(given["probs"], given["labels"], given.get("weights"))
    return {
        "probs": fitted.predict_proba(new_rows(name)),
        "table": fitted.table_,
        "explanation": fitted.explanation_,
        "notes": fitted.notes_,
    }


def _data() -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import make_classification

    X, y = make_classification(400, n_classes=3, n_informative=5, random_state=0)
    return X, y


def _models() -> dict[str, Any]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB

    X, y = _data()
    makers: dict[str, Any] = {
        "cross-fitted": (GaussianNB(), tu.TemperatureScaling(), {"cv": 3}),
        "ensemble": (GaussianNB(), tu.IsotonicCalibration(), {"cv": 3, "ensemble": True}),
        "logits": (LogisticRegression(), tu.VectorScaling(**LOGITS), {"cv": 3}),
        "frozen": (GaussianNB().fit(X[::2], y[::2]), tu.BetaCalibration(), {"cv": "frozen"}),
    }
    found = {}
    for key, (classifier, recalibrator, options) in makers.items():
        model = tu.CalibratedModel(classifier, recalibrator, **options).fit(X[1::2], y[1::2])
        found[key] = {
            "probs": model.predict_proba(X[:100]),
            "predict": model.predict(X[:100]),
            "notes": model.notes_,
        }
    return found


def _scored(metric: str) -> list[float]:
    from sklearn.model_selection import cross_val_score
    from sklearn.naive_bayes import GaussianNB

    return list(cross_val_score(GaussianNB(), *_data(), cv=3, scoring=tu.make_scorer(metric)))


def saved(record: Record) -> None:
    """Record what a saved and loaded recalibrator has learned and answers."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("binary", "four", "four-names"):
            given, new = sample(name), new_rows(name)
            for key, make in RECALIBRATORS.items():
                path = Path(folder) / f"{name}-{key.replace('/', '-')}.json"
                record(f"saved/{name}/{key}", _round_trip, make, given, new, path)
        large = Path(folder) / "large.safetensors"
        rows = {"probs": matrix(4, 6000)["probs"], "labels": matrix(4, 6000)["labels"]}
        record("saved/large", _round_trip, tu.VennAbers, rows, new_rows("four"), large)


def _round_trip(make: Callable[..., Any], given: Sample, new: np.ndarray, path: Path) -> Any:
    options: dict[str, Any] = {"classes": given["classes"]} if "classes" in given else {}
    fitted = make(**options).fit(given["probs"], given["labels"])
    fitted.save(path)
    loaded = tu.load_recalibrator(path)
    return {
        "probs": loaded.predict_proba(new),
        "same": bool((loaded.predict_proba(new) == fitted.predict_proba(new)).all()),
        "is-json": path.read_bytes()[:1] == b"{",
    }
