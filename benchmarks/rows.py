"""What ``python -m benchmarks --against PATH`` measures: calls of the library, by name.

The two checkouts may call things differently, and an older one may lack this file, so it imports
nothing of `benchmarks` and finds renamed things in `named`, `parameter` and `of_logits` alone.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import trueup as tu
from trueup import inference, recalibrate, simulate

Call = Callable[[], object]
THREADS = 2


def named(*names: str) -> Any:
    """Return the first of these names that the library has, in any of its public packages."""
    for name in names:
        for home in (tu, inference, recalibrate, simulate, getattr(tu, "lens", None)):
            if hasattr(home, name):
                return getattr(home, name)
    raise AttributeError(f"trueup has none of {', '.join(names)}")


def parameter(function: Any, *names: str) -> str:
    """Return the first of these names that is a parameter of the function."""
    known = inspect.signature(function).parameters
    return next(name for name in names if name in known)


def of_logits(recalibrator: Any) -> Any:
    """Return a recalibrator of logits."""
    try:
        return recalibrator(logits=True)
    except TypeError:
        return recalibrator(input="logits")


@cache
def binary(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return scores that are too high, and labels."""
    rng = np.random.default_rng(0)
    p = rng.beta(3, 1, n)
    return p, (rng.random(n) < p**1.2).astype(np.int64)


@cache
def matrix(n: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of an overconfident model, and labels."""
    logits, labels = logits_of(n, n_classes)
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True), labels


@cache
def logits_of(n: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return logits 1.4 times too large, and labels."""
    rng = np.random.default_rng(1)
    logits = 1.5 * rng.normal(size=(n, n_classes))
    odds = np.exp(logits)
    upto = (odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1)[:, :-1]
    return 1.4 * logits, (rng.random((n, 1)) >= upto).sum(axis=1)


def rows() -> dict[str, Call]:
    """Return the calls by name; the first call of each may prepare what later ones use."""
    return metrics() | uncertainty() | evaluations() | recalibrations() | others()


def metrics() -> dict[str, Call]:
    """Metrics of many rows, and of few, where checks and Python are most of the cost."""
    mass, all_classes = tu.EqualMass(15), named("ClassWise")()
    debiased = tu.BinnedError(binning=mass, norm=2, debias=True)
    of_all_classes = tu.BinnedError(all_classes, mass, norm=2, debias=True)
    return {
        "ece, 1e6": lambda: tu.ece(*binary(10**6)),
        "ece, 1e5 x 10": lambda: tu.ece(*matrix(10**5, 10)),
        "ece, 1e4 x 1000": lambda: tu.ece(*matrix(10**4, 1000)),
        "sce, 1e5 x 10": lambda: tu.sce(*matrix(10**5, 10)),
        "equal mass, 1e6": lambda: debiased(*binary(10**6)),
        "equal mass, 1e5 x 10": lambda: of_all_classes(*matrix(10**5, 10)),
        "ece_sweep, 1e6": lambda: tu.ece_sweep(*binary(10**6)),
        "smooth_ece, 1e6": lambda: tu.smooth_ece(*binary(10**6)),
        "ece_kde, 1e5": lambda: tu.ece_kde(*binary(10**5)),
        "ks_error, 1e6": lambda: tu.ks_error(*binary(10**6)),
        "skce, 1e6": lambda: tu.skce(*binary(10**6)),
        "skce, 2000 x 10": lambda: tu.skce(*matrix(2000, 10)),
        "psce, 1e5 x 10": lambda: tu.psce(*matrix(10**5, 10)),
        "brier decomposition, 1e6": lambda: tu.Brier().decompose(*binary(10**6)),
        "ece, 100": lambda: tu.ece(*binary(100)),
        "rmsce_debiased, 100 x 5": lambda: tu.rmsce_debiased(*matrix(100, 5)),
    }


def uncertainty() -> dict[str, Call]:
    """Intervals, tests, comparisons and certificates."""
    test, together = tu.calibration_test, named("estimate_many", "infer")
    several = [tu.ece, tu.rmsce_debiased, tu.ece_sweep, tu.smooth_ece, tu.ks_error, tu.mmce]
    few: dict[str, Any] = {"n_resamples": 199, "rng": 0}
    all_classes: dict[str, Any] = {"statistic": tu.marginal_error_debiased, **few}
    p, y = binary(10**5)
    tenths: dict[str, Any] = {"outputs": np.arange(11) / 10, "max_error": 0.02}
    return {
        "analytic interval, 1e6": lambda: tu.interval(tu.rmsce_debiased, *binary(10**6)),
        "bootstrap interval, 1e4": lambda: tu.interval(tu.smooth_ece, *binary(10**4), **few),
        "consistency test, 1e5": lambda: test(p, y, rng=0),
        "consistency test, 1e4 x 10": lambda: test(*matrix(10**4, 10), **all_classes),
        "skce test, 1000 x 4": lambda: test(*matrix(1000, 4), method="skce", **few),
        "tcal test, 2e4": lambda: test(*binary(20_000), method="tcal", **few),
        "many metrics at once, 1e4": lambda: together(several, *binary(10**4), **few),
        "compare, 1e5": lambda: tu.compare(p, p**1.1, y, **few),
        "certify, 1e5": lambda: tu.certify(np.round(p, 1), y, **tenths),
    }


def evaluations() -> dict[str, Call]:
    """The whole report, with and without recalibration."""
    plain: dict[str, Any] = {"recalibrate": False, "advice": False}
    return {
        "evaluate, 1e5 x 10": lambda: tu.evaluate(*matrix(10**5, 10)),
        "evaluate plain, 1e5 x 10": lambda: tu.evaluate(*matrix(10**5, 10), **plain),
        "evaluate, 1e5": lambda: tu.evaluate(*binary(10**5)),
        "evaluate plain, 500": lambda: tu.evaluate(*binary(500), **plain),
    }


def recalibrations() -> dict[str, Call]:
    """Fits of all recalibrators, and answers of some."""
    sizes: dict[str, tuple[Any, int, int]] = {
        "temperature": (tu.TemperatureScaling, 20_000, 100),
        "platt": (tu.PlattScaling, 20_000, 10),
        "beta": (tu.BetaCalibration, 20_000, 10),
        "vector": (tu.VectorScaling, 10_000, 50),
        "matrix": (tu.MatrixScaling, 3_000, 20),
        "dirichlet": (tu.DirichletCalibration, 2_000, 6),
        "isotonic": (tu.IsotonicCalibration, 20_000, 20),
        "histogram": (tu.HistogramBinning, 20_000, 50),
        "scaling-binning": (tu.ScalingBinning, 10_000, 10),
        "bayesian binning": (tu.BayesianBinning, 5_000, 4),
        "Venn-Abers": (tu.VennAbers, 20_000, 10),
        "mmce": (tu.MMCEScaling, 10_000, 10),
    }
    found: dict[str, Call] = {"fit temperature, 20000 x 100 logits": _fit_logits}
    for name, (recalibrator, n, k) in sizes.items():
        found[f"fit {name}, {n} x {k}"] = partial(_fit, recalibrator, n, k)
    for name in ("temperature", "isotonic", "histogram"):
        recalibrator, n, k = sizes[name]
        found[f"predict {name}, {n} x {k}"] = partial(_predict, recalibrator, n, k)
    return found


def _fit(recalibrator: Any, n: int, k: int) -> Any:
    return recalibrator().fit(*matrix(n, k))


_fitted = cache(_fit)


def _predict(recalibrator: Any, n: int, k: int) -> Any:
    return _fitted(recalibrator, n, k).predict_proba(matrix(n, k)[0])


def _fit_logits() -> Any:
    return of_logits(tu.TemperatureScaling).fit(*logits_of(20_000, 100))


def others() -> dict[str, Call]:
    """Local errors, simulation, files, and the command line from its start."""
    features = np.random.default_rng(2).normal(size=(20_000, 3))
    world = simulate.PUBLISHED["resnet110_c10"]
    measures = {"ece": tu.ece, "sweep": tu.ece_sweep}
    sets = parameter(simulate.study, "n_datasets", "n_sets")
    many: dict[str, Any] = {sets: 300, "progress": False}
    return {
        "lce, 20000 x 3": lambda: tu.lce(*binary(20_000), features),
        "study, 300 sets of 2000": lambda: simulate.study(world, measures, 2000, **many),
        "read CSV, 2e5": lambda: tu.read(_csv(200_000)),
        "import": lambda: _python("-c", "import trueup; trueup.ece; trueup.evaluate"),
        "command --help": lambda: _python("-m", "trueup", "--help"),
        "command plot, 5000": _plot,
    }


def _plot() -> None:
    path = str(_csv(5_000))
    _python("-m", "trueup", "plot", path, "-o", f"{path}.png")


@cache
def _csv(n: int) -> Path:
    path = Path(_folder().name) / f"{n}.csv"
    np.savetxt(path, np.column_stack(binary(n)), "%.6f,%d", header="p,y", comments="")
    return path


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()  # removed when this process ends


def _python(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
