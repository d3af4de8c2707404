"""Metrics, estimators, errors by class, decompositions and clinical measures."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import trueup as tu
from studies.frozen.record import Record
from studies.frozen.samples import available, forecasts, sample, some

METRICS: dict[str, Callable[..., float]] = {
    "ece": tu.ece,
    "mce": tu.mce,
    "rmsce": tu.rmsce,
    "ece_debiased": tu.ece_debiased,
    "rmsce_debiased": tu.rmsce_debiased,
    "ece_sweep": tu.ece_sweep,
    "rmsce_sweep": tu.rmsce_sweep,
    "sce": tu.sce,
    "ace": tu.ace,
    "tace": tu.tace,
    "marginal_error": tu.marginal_error,
    "marginal_error_debiased": tu.marginal_error_debiased,
    "smooth_ece": tu.smooth_ece,
    "ece_kde": tu.ece_kde,
    "ks_error": tu.ks_error,
    "kuiper": tu.kuiper,
    "skce": tu.skce,
    "mmce": tu.mmce,
    "psce": tu.psce,
    "ici": tu.ici,
    "e50": tu.e50,
    "e90": tu.e90,
    "brier": tu.brier,
    "log_loss": tu.log_loss,
}

OPTIONS: dict[str, tuple[Callable[..., float], dict[str, Any]]] = {
    "ece/7-bins": (tu.ece, {"n_bins": 7}),
    "ece/auto": (tu.ece, {"n_bins": "auto"}),
    "mce/7-bins": (tu.mce, {"n_bins": 7}),
    "rmsce/7-bins": (tu.rmsce, {"n_bins": 7}),
    "ece_debiased/auto": (tu.ece_debiased, {"n_bins": "auto"}),
    "rmsce_debiased/7-bins": (tu.rmsce_debiased, {"n_bins": 7}),
    "sce/7-bins": (tu.sce, {"n_bins": 7}),
    "ace/7-bins": (tu.ace, {"n_bins": 7}),
    "tace/threshold": (tu.tace, {"threshold": 0.1}),
    "tace/literal": (tu.tace, {"literal": True}),
    "marginal_error/7-bins": (tu.marginal_error, {"n_bins": 7}),
    "marginal_error_debiased/7-bins": (tu.marginal_error_debiased, {"n_bins": 7}),
    "skce/bandwidth": (tu.skce, {"bandwidth": 0.3}),
    "mmce/bandwidth": (tu.mmce, {"bandwidth": 0.2}),
    "mmce/weighted": (tu.mmce, {"weighted": True}),
    "psce/decay": (tu.psce, {"decay": 0.5}),
    "ici/one-class": (tu.ici, {"lens": tu.lens.OneVsRest(1)}),
    "e50/one-class": (tu.e50, {"lens": tu.lens.OneVsRest(1)}),
    "e90/one-class": (tu.e90, {"lens": tu.lens.OneVsRest(1)}),
}

FIXED = tu.bins.FixedEdges([0, 0.1, 0.25, 0.5, 0.75, 0.9, 1])
TREE = tu.bins.VarianceTree(min_samples=20)

ESTIMATORS: dict[str, Any] = {
    "binned": tu.BinnedError(),
    "binned/norm-3": tu.BinnedError(binning=FIXED, norm=3),
    "binned/norm-inf": tu.BinnedError(binning=FIXED, norm=math.inf),
    "binned/mass": tu.BinnedError(binning=tu.EqualMass("auto")),
    "binned/tree": tu.BinnedError(binning=TREE),
    "binned/label": tu.BinnedError(binning=FIXED, label_binned=True),
    "binned/label-norm-2": tu.BinnedError(binning=tu.EqualMass(7), norm=2, label_binned=True),
    "binned/debias": tu.BinnedError(binning=FIXED, debias=True),
    "binned/debias-norm-2": tu.BinnedError(binning=FIXED, norm=2, debias=True),
    "binned/residual": tu.BinnedError(binning=FIXED, norm=2, debias="residual"),
    "binned/equal-shares": tu.BinnedError(binning=tu.EqualMass(9), equal_shares=True),
    "binned/one-class": tu.BinnedError(tu.lens.OneVsRest(1), FIXED),
    "binned/top": tu.BinnedError(tu.lens.TopLabel(), FIXED),
    "binned/top-where": tu.BinnedError(tu.lens.TopLabel(where=(0.3, 1.0)), tu.EqualMass(4)),
    "binned/top-by-class": tu.BinnedError(tu.lens.TopLabelByClass(), tu.EqualMass(4), norm=2),
    "binned/pooled": tu.BinnedError(tu.lens.Pooled(), FIXED),
    "binned/all-classes": tu.BinnedError(tu.lens.ClassWise(), FIXED, norm=2),
    "binned/all-classes-inf": tu.BinnedError(tu.lens.ClassWise(), FIXED, norm=math.inf),
    "binned/all-classes-where": tu.BinnedError(tu.lens.ClassWise(where=(0.05, 0.95)), FIXED),
    "binned/class-weights": tu.BinnedError(tu.lens.ClassWise([1, 2, 3, 4]), FIXED),
    "binned/whole-tree": tu.BinnedError(tu.lens.Canonical(), TREE),
    "binned/whole-grid": tu.BinnedError(tu.lens.Canonical(), tu.bins.SimplexGrid(4)),
    "binned/whole-squared": tu.BinnedError(
        tu.lens.Canonical(), tu.bins.SimplexGrid(3), distance="squared"
    ),
    "binned/top-k": tu.BinnedError(tu.lens.TopK(2), TREE, norm=2),
    "binned/partition": tu.BinnedError(tu.lens.Partition(((0, 2), (1, 3))), TREE),
    "binned/binary": tu.BinnedError(tu.lens.Binary(), FIXED),
    "sweep/inf": tu.SweepError(norm=math.inf),
    "sweep/width": tu.SweepError(binning="equal-width"),
    "sweep/all-classes": tu.SweepError(tu.lens.ClassWise()),
    "density/all-classes": tu.DensityError(tu.lens.ClassWise(), norm=2),
    "density/bandwidth": tu.DensityError(norm=3, bandwidth=0.05),
    "smooth/all-classes": tu.SmoothError(tu.lens.ClassWise(where=(0.05, 1.0))),
    "smooth/top-by-class": tu.SmoothError(tu.lens.TopLabelByClass()),
    "kernel/top": tu.KernelError(tu.lens.TopLabel(), bandwidth=0.3, form="biased"),
    "kernel/gaussian": tu.KernelError(tu.lens.ClassWise(), "gaussian", 0.2, "biased"),
    "kernel/whole": tu.KernelError(tu.lens.Canonical(), bandwidth=0.3, form="biased"),
    "kernel/whole-tv": tu.KernelError(tu.lens.Canonical(), distance="tv"),
    "kernel/whole-gaussian": tu.KernelError(tu.lens.Canonical(), "gaussian"),
    "kernel/top-k": tu.KernelError(tu.lens.TopK(1), bandwidth=0.2),
    "kernel/block": tu.KernelError(form="block", block_size=5),
    "mmce/all-classes": tu.MMCE(tu.lens.ClassWise()),
    "mmce/weighted": tu.MMCE(weighted=True),
    "cumulative/all-classes": tu.CumulativeError(tu.lens.ClassWise(), "kuiper"),
    "pointwise": tu.PointwiseError(),
    "pointwise/top": tu.PointwiseError(tu.lens.TopLabel(), decay=0.5),
    "curve/top": tu.CurveError(tu.lens.TopLabel()),
    "curve/all-classes": tu.CurveError(tu.lens.ClassWise(), quantile=1.0, span=0.5),
    "brier": tu.Brier(),
    "log-loss": tu.LogLoss(),
}

MEASURED = (
    "binary",
    "binary-ties",
    "binary-weights",
    "binary-soft",
    "binary-0-1",
    "binary-n1",
    "two",
    "four",
    "four-ties",
    "four-weights",
    "four-soft",
    "four-names",
    "hundred",
    "real-games",
    "real-cells",
)


def metrics(record: Record) -> None:
    """Record every named metric of every sample, checked and as raw arrays."""
    for name in available():
        for metric, function in METRICS.items():
            record(f"metric/{name}/{metric}", function, forecasts(name))
        for metric, (function, options) in OPTIONS.items():
            record(f"metric/{name}/{metric}", function, forecasts(name), **options)
    for name in ("binary-weights", "binary-float32", "four-weights", "four-float32"):
        given = sample(name)
        for metric, function in METRICS.items():
            key = f"metric-of-arrays/{name}/{metric}"
            record(key, function, given["probs"], given["labels"], weights=given.get("weights"))


def estimators(record: Record) -> None:
    """Record value, power, table and notes of estimators through all lenses."""
    for name in some(*MEASURED):
        for key, estimator in ESTIMATORS.items():
            record(f"estimator/{name}/{key}", estimator.measure, forecasts(name))
        record(f"pointwise-errors/{name}", tu.PointwiseError().errors, forecasts(name))
        for key in ("binned", "binned/all-classes", "binned/whole-grid", "pointwise"):
            record(f"columns/{name}/{key}", _columns, ESTIMATORS[key], forecasts(name))


def _columns(estimator: Any, data: tu.Forecasts) -> dict[str, Any]:
    return dict(estimator.table(data).to_frame("pandas").to_dict("list"))


def classes(record: Record) -> None:
    """Record the error of each class."""
    chosen = {name: METRICS[name] for name in ("ece", "rmsce_debiased", "ece_sweep", "smooth_ece")}
    chosen |= {name: METRICS[name] for name in ("ks_error", "mmce", "skce", "brier", "log_loss")}
    chosen |= {name: ESTIMATORS[name] for name in ("binned/top-by-class", "binned/debias")}
    chosen |= {name: ESTIMATORS[name] for name in ("sweep/width", "binned/all-classes-where")}
    for name in some("binary", "four", "four-weights", "four-names", "hundred", "real-cells"):
        for key, estimator in chosen.items():
            record(f"classes/{name}/{key}", tu.class_errors, estimator, forecasts(name))


def scores(record: Record) -> None:
    """Record decompositions of proper scores, with the isotonic fit and with bins."""
    binnings: dict[str, Any] = {"isotonic": None, "mass": tu.EqualMass(10), "fixed": FIXED}
    lenses: dict[str, Any] = {
        "default": None,
        "top": tu.lens.TopLabel(),
        "all-classes": tu.lens.ClassWise(),
        "top-by-class": tu.lens.TopLabelByClass(),
        "one-class": tu.lens.OneVsRest(1),
    }
    small = [name for name in MEASURED if name != "hundred"]  # its tables would be very many
    for name in some(*small, "binary-logits", "four-logits"):
        for score, proper in (("brier", tu.Brier()), ("log-loss", tu.LogLoss())):
            for fit, binning in binnings.items():
                for lens, chosen in lenses.items():
                    key = f"decomposition/{name}/{score}/{fit}/{lens}"
                    options: dict[str, Any] = {"lens": chosen, "binning": binning}
                    record(key, proper.decompose, forecasts(name), **options)


def clinical(record: Record) -> None:
    """Record the Cox slope and the ratio of observed to expected outcomes."""
    for name in available():
        for lens, chosen in (("default", None), ("one-class", tu.lens.OneVsRest(1))):
            record(f"cox/{name}/{lens}", tu.cox, forecasts(name), lens=chosen)
            record(f"ratio/{name}/{lens}", tu.oe_ratio, forecasts(name), lens=chosen)


def checks(record: Record) -> None:
    """Record which input metrics, recalibrators and `evaluate` take, and what they answer."""
    rows = np.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1], [0.1, 0.1, 0.8], [0.3, 0.4, 0.3]])
    p, y, three = np.array([0.1, 0.4, 0.8, 0.9]), np.array([0, 0, 1, 1]), np.array([1, 0, 2, 2])
    given: dict[str, tuple[object, object]] = {
        "lists": (p.tolist(), y.tolist()),
        "bool-labels": (p, y.astype(bool)),
        "float-labels": (p, y.astype(float)),
        "float16": (p.astype(np.float16), y),
        "column": (p[:, None], y),
        "above-1": (p + 0.2, y),
        "just-above-1": (p / 0.9 * (1 + 1e-9), y),
        "below-0": (p - 0.2, y),
        "nan": (np.where(p > 0.5, np.nan, p), y),
        "inf": (np.where(p > 0.5, np.inf, p), y),
        "short-labels": (p, y[:3]),
        "label-2": (p, y * 2),
        "label-minus-1": (p, y - 1),
        "label-half": (p, y / 2),
        "text-labels": (p, np.array(["no", "no", "yes", "yes"])),
        "empty": (p[:0], y[:0]),
        "no-labels": (p, None),
        "rows": (rows, three),
        "rows-one-hot": (rows, np.eye(3)[three]),
        "rows-from-1": (rows, three + 1),
        "rows-names": (rows, np.array(["b", "a", "c", "c"])),
        "rows-float16": (rows.astype(np.float16), three),
        "rows-float32": (rows.astype(np.float32), three),
        "rows-off-1e-9": (rows * (1 + 1e-9), three),
        "rows-off-1e-6": (rows * (1 + 1e-6), three),
        "rows-off-5e-4": (rows * (1 + 5e-4), three),
        "rows-off-1e-2": (rows * 1.01, three),
        "rows-float32-off-1e-6": ((rows * (1 + 1e-6)).astype(np.float32), three),
        "rows-float32-off-5e-4": ((rows * (1 + 5e-4)).astype(np.float32), three),
        "rows-negative": (rows - [0.2, 0, -0.2], three),
        "rows-label-3": (rows, three + np.array([0, 0, 0, 1])),
        "rows-three-axes": (rows[None], three),
    }
    for key, (probs, labels) in given.items():
        record(f"check/ece/{key}", tu.ece, probs, labels)
        record(f"check/temperature/{key}", _temperature, probs, labels)
        record(f"check/weights/{key}", tu.brier, probs, labels, weights=[1, 2, 0, 1])
    for key, weights in (
        ("negative", [1, -1, 1, 1]),
        ("nan", [1, np.nan, 1, 1]),
        ("zero", [0] * 4),
    ):
        record(f"check/bad-weights/{key}", tu.ece, p, y, weights=weights)


def _temperature(probs: object, labels: object) -> tuple[float, object]:
    fitted = tu.TemperatureScaling().fit(probs, labels)
    return fitted.temperature_, fitted.predict_proba(probs)
