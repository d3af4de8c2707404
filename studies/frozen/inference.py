"""Intervals, tests, comparisons, certificates, parts and bands."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import trueup as tu
from studies.frozen.measures import ESTIMATORS, METRICS
from studies.frozen.record import Record
from studies.frozen.samples import forecasts, sample, some
from trueup import inference
from trueup.inference.hypothesis_tests.sensitivity import sensitivity

RESAMPLES = 99
FEWEST_RESAMPLES = 39
"""The fewest that an interval of 95% takes. Streams do not depend on the number of resamples."""

INTERVALS = (
    "binary",
    "binary-ties",
    "binary-weights",
    "binary-clusters",
    "binary-soft",
    "binary-n1",
    "binary-0-1",
    "four",
    "four-weights",
    "four-clusters",
    "four-soft",
    "real-games",
    "real-cells",
)
CLUSTERED = ("binary-clusters", "four-clusters")
BOOTSTRAPS = ("percentile", "basic", "bca")
COSTLY = ("ece_kde", "skce", "psce", "ici", "e50", "e90")
COSTS_SHOWN = ("binary", "binary-n1", "four")
"""Samples for which costly metrics are resampled, too."""

TESTED: dict[str, Any] = {
    "ece": tu.ece,
    "mce": tu.mce,
    "rmsce": tu.rmsce,
    "ece_debiased": tu.ece_debiased,
    "ece_sweep": tu.ece_sweep,
    "sce": tu.sce,
    "marginal_error_debiased": tu.marginal_error_debiased,
    "smooth_ece": tu.smooth_ece,
    "ks_error": tu.ks_error,
    "kuiper": tu.kuiper,
    "mmce": tu.mmce,
    "ece_kde": tu.ece_kde,
    "binned/width": tu.BinnedError(binning=tu.EqualWidth(10), norm=2),
    "binned/norm-inf": ESTIMATORS["binned/norm-inf"],
    "binned/residual": ESTIMATORS["binned/residual"],
    "binned/label": ESTIMATORS["binned/label"],
    "binned/tree": ESTIMATORS["binned/tree"],
    "binned/one-class": tu.BinnedError(tu.lens.OneVsRest(1), tu.EqualMass(10), norm=2, debias=True),
    "binned/top-by-class": ESTIMATORS["binned/top-by-class"],
    "binned/pooled": ESTIMATORS["binned/pooled"],
    "binned/whole-tree": ESTIMATORS["binned/whole-tree"],
    "binned/whole-grid": ESTIMATORS["binned/whole-grid"],
    "sweep/all-classes": ESTIMATORS["sweep/all-classes"],
    "kernel/top": ESTIMATORS["kernel/top"],
    "brier": tu.Brier(),
}

NAMED_TESTS: dict[str, Any] = {
    "consistency/default": ("consistency", None),
    "unconditional/default": ("consistency-unconditional", None),
    "unconditional/ks_error": ("consistency-unconditional", tu.ks_error),
    "cluster-signs/default": ("cluster-signs", None),
    "cluster-signs/cumulative": ("cluster-signs", tu.CumulativeError()),
    "cluster-signs/smooth": ("cluster-signs", tu.SmoothError()),
    "tcal/default": ("tcal", None),
    "tcal/top": ("tcal", tu.lens.TopLabel()),
    "tcal/whole": ("tcal", tu.lens.Canonical()),
    "spiegelhalter/default": ("spiegelhalter", None),
    "spiegelhalter/one-class": ("spiegelhalter", tu.lens.OneVsRest(1)),
    "hosmer-lemeshow/default": ("hosmer-lemeshow", None),
    "hosmer-lemeshow/bins": ("hosmer-lemeshow", tu.BinnedError(binning=tu.EqualMass(8))),
    "ks/default": ("ks", None),
    "ks/kuiper": ("ks", tu.CumulativeError(statistic="kuiper")),
    "skce/default": ("skce", None),
    "skce/top": ("skce", tu.lens.TopLabel()),
    "skce/gaussian": ("skce", tu.KernelError(kernel="gaussian", bandwidth=0.3)),
    "skce-block/default": ("skce-block", None),
    "skce-block/blocks": ("skce-block", tu.KernelError(form="block", block_size=5)),
    "skce-distribution-free/default": ("skce-distribution-free", None),
}


def intervals(record: Record) -> None:
    """Record intervals of named metrics by every method, for both targets."""
    for name in some(*INTERVALS):
        data = forecasts(name)
        for metric, function in METRICS.items():
            key = f"interval/{name}/{metric}"
            few: dict[str, Any] = {"n_resamples": FEWEST_RESAMPLES, "rng": 1}
            for target in ("conditional", "population"):
                options: dict[str, Any] = {"method": "analytic", "target": target}
                record(f"{key}/analytic/{target}", tu.interval, function, data, **options)
            if metric in COSTLY and name not in COSTS_SHOWN:
                continue
            record(f"{key}/auto", tu.interval, function, data, target="population", **few)
            for method in BOOTSTRAPS if name in ("binary", "binary-weights", "four") else ():
                record(f"{key}/{method}", tu.interval, function, data, method=method, **few)
    for name in some("binary", "binary-weights", "two", "four", "real-games"):
        for key, estimator in ESTIMATORS.items():
            for target in ("conditional", "population"):
                options = {
                    "method": "analytic",
                    "target": target,
                    "confidence_level": 0.9,
                }
                key_of_one = f"interval-of-estimator/{name}/{key}/{target}"
                record(key_of_one, tu.interval, estimator, forecasts(name), **options)
    own = {"n_resamples": RESAMPLES, "rng": np.random.default_rng(5)}
    record("interval/own-function", tu.interval, _mean_score, forecasts("binary"), **own)


def _mean_score(data: tu.Forecasts) -> float:
    return float(np.mean(data.scores))


def tests(record: Record) -> None:
    """Record tests of calibration by every method, and with many statistics."""
    few: dict[str, Any] = {"n_resamples": RESAMPLES, "rng": 2}
    shown = (
        "binary",
        "binary-ties",
        "binary-weights",
        "binary-clusters",
        "binary-soft",
        "binary-0-1",
        "binary-0-1-right",
        "binary-n1",
        "binary-n7",
        "binary-float32",
        "two",
        "four",
        "four-ties",
        "four-weights",
        "four-clusters",
        "four-0-1",
        "four-names",
    )
    for name in some(*shown, "hundred", "real-games", "real-confidences", "real-cells"):
        for key, (method, statistic) in NAMED_TESTS.items():
            costly = name == "hundred" and key.startswith("skce/")
            refused = key.startswith("cluster") and name not in ("binary", *CLUSTERED)
            if costly or refused:
                continue
            options: dict[str, Any] = {"method": method, "statistic": statistic, **few}
            record(f"test/{name}/{key}", tu.calibration_test, forecasts(name), **options)
    for name in some("binary", "binary-ties", "binary-weights", "two", "four", "four-weights"):
        for key, statistic in TESTED.items():
            options = {"statistic": statistic, **few}
            record(f"test/{name}/statistic/{key}", tu.calibration_test, forecasts(name), **options)
    chance = np.random.default_rng(3)
    record("test/binary/generator", tu.calibration_test, forecasts("binary"), rng=chance)


def comparisons(record: Record) -> None:
    """Record paired comparisons of models on the same rows."""
    few: dict[str, Any] = {"n_resamples": RESAMPLES, "rng": 3}
    measures: dict[str, Any] = {
        "default": None,
        "ece": tu.ece,
        "sce": tu.sce,
        "rmsce": tu.rmsce,
        "mce": tu.mce,
    }
    measures["marginal_error_debiased"] = tu.marginal_error_debiased
    measures["ece_sweep"] = tu.ece_sweep
    for name in some("binary", "binary-weights", "binary-clusters", "four", "four-weights"):
        given = sample(name)
        beside: dict[str, Any] = {k: v for k, v in given.items() if k not in ("probs", "labels")}
        other = given["probs"] ** 1.3
        other /= other.sum(axis=1, keepdims=True) if other.ndim == 2 else 1
        models = {
            "a": forecasts(name),
            "b": tu.Forecasts.from_arrays(other, given["labels"], **beside),
            "c": tu.Forecasts.from_arrays((given["probs"] + other) / 2, given["labels"], **beside),
        }
        for key, measure in measures.items():
            options: dict[str, Any] = {"estimator": measure, **few}
            record(f"compare/{name}/{key}", tu.compare, models["a"], models["b"], **options)
            record(f"compare-many/{name}/{key}", inference.compare_many, models, **options)


def certificates(record: Record) -> None:
    """Record certificates with and without outputs, and the trade-off."""
    rng = np.random.default_rng(4)
    outputs = np.array([0.1, 0.3, 0.6, 0.9])
    p = rng.choice(outputs, 3000)
    y = rng.random(3000) < p
    weights = rng.random(3000) + 0.5
    for max_error in (0.005, 0.02, 0.05, 0.2):
        for norm in (1, 2):
            for method in ("finite-sample", "asymptotic"):
                options: dict[str, Any] = {"max_error": max_error, "norm": norm, "method": method}
                key = f"{max_error}/{norm}/{method}"
                record(f"certify/outputs/{key}", tu.certify, p, y, outputs=outputs, **options)
                wrong = {"outputs": outputs**2, "weights": weights, **options}
                record(f"certify/weights/{key}", tu.certify, p**2, y, **wrong)
                record(f"certify/bins/{key}", tu.certify, forecasts("binary"), **options)
                record(f"certify/four/{key}", tu.certify, forecasts("four"), **options)
    for name in some("binary", "four", "real-games"):
        for method in ("asymptotic", "finite-sample"):
            for norm in (1, 2):
                options = {
                    "n_bins": (5, 10, 20),
                    "norm": norm,
                    "method": method,
                    "rng": 5,
                }
                key = f"trade-off/{name}/{method}/{norm}"
                record(key, inference.trade_off, forecasts(name), **options)


def parts(record: Record) -> None:
    """Record tests of classes and bins, errors of groups, and bands."""
    few: dict[str, Any] = {"n_resamples": RESAMPLES, "rng": 6}
    measures: dict[str, Any] = {
        "default": None,
        "ece": tu.ece,
        "ece_sweep": tu.ece_sweep,
        "ks_error": tu.ks_error,
    }
    measures |= {"width": tu.BinnedError(binning=tu.EqualWidth(10))}
    for name in some("binary", "binary-weights", "two", "four", "four-weights", "hundred"):
        for key, measure in measures.items():
            options: dict[str, Any] = {"statistic": measure, **few}
            record(f"class-tests/{name}/{key}", inference.class_tests, forecasts(name), **options)
            record(f"bin-tests/{name}/{key}", inference.bin_tests, forecasts(name), **options)
    for name in some("binary", "binary-weights", "four"):
        given = sample(name)
        groups = np.array(["north", "south", "west"])[np.arange(len(given["labels"])) % 7 % 3]
        for key, measure in measures.items():
            options = {"estimator": measure, "weights": given.get("weights"), **few}
            arrays = given["probs"], given["labels"], groups
            record(f"groups/{name}/{key}", tu.group_errors, *arrays, **options)
    for name in some("binary", "binary-ties", "binary-weights", "four", "binary-n7"):
        for key in ("binned", "binned/mass", "binned/tree"):
            table = ESTIMATORS[key].table(forecasts(name))
            for options in ({}, {"simultaneous": True, "confidence_level": 0.9}):
                path = f"{name}/{key}/{len(options)}"
                record(f"band/consistency/{path}", inference.consistency_band, table, **options)
                for method in ("wilson", "clopper-pearson"):
                    both: dict[str, Any] = {"method": method, **options}
                    record(f"band/{method}/{path}", inference.confidence_band, table, **both)


def together(record: Record) -> None:
    """Record inference for many metrics at once, adjusted p-values and sensitivity."""
    several = ["ece", "rmsce_debiased", "ece_sweep", "smooth_ece", "ks_error", "mmce", "brier"]
    for name in some("binary", "binary-ties", "binary-weights", "four", "real-games"):
        chosen = [METRICS[key] for key in several]
        few: dict[str, Any] = {"n_resamples": RESAMPLES, "rng": 7}
        found = record(
            f"infer/{name}/count", inference.estimate_many, chosen, forecasts(name), **few
        )
        for key, one in zip(several, found or [], strict=False):
            record.keep(f"infer/{name}/{key}/interval", one.interval)
            record.keep(f"infer/{name}/{key}/test", one.test)
        record(f"sensitivity/{name}", _sensitivity, name)
    pvalues = [0.001, 0.2, 0.04, 0.03, 1.0, math.nan, 0.01]
    for key, adjust in (("holm", inference.holm), ("bh", inference.benjamini_hochberg)):
        record(f"adjust/{key}", adjust, pvalues[:5])
        record(f"adjust/{key}/nan", adjust, pvalues)


def _sensitivity(name: str) -> dict[str, Any]:
    found = sensitivity(forecasts(name), n_resamples=RESAMPLES, rng=8)
    return {
        "null": found.null,
        "observed": found.observed,
        "threshold": found.threshold,
        "rows": found.rows,
        "smallest-error": found.smallest_error(power=0.8),
        "smallest-error-half": found.smallest_error(power=0.5),
        "rows-for": found.rows_for(0.02),
    }
