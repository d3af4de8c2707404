"""Worlds and studies, power and advice, local errors, decisions and traces."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import trueup as tu
from studies.frozen.measures import ESTIMATORS
from studies.frozen.record import Record
from studies.frozen.samples import forecasts, sample, some
from trueup import decisions, local, simulate

WORLDS: dict[str, Any] = {
    "beta-power": simulate.World(simulate.Beta(2.8, 0.05), simulate.Power(2)),
    "uniform-log-odds": simulate.World(simulate.Uniform(0.2, 0.9), simulate.LogOdds(2, 1)),
    "uniform-logistic": simulate.World(simulate.Uniform(), simulate.Logistic(10, -5)),
    "points-steps": simulate.World(simulate.Points((0.2, 0.7)), simulate.Steps()),
    "empirical": simulate.World(simulate.Empirical((0.1, 0.4, 0.8)), simulate.Power(1.5)),
    "mixture-glm": simulate.World(
        simulate.LogisticMixture(1, 1), simulate.Glm("logit", "log", 0.1, 0.5)
    ),
    "noisy": simulate.World(simulate.Uniform(0.25, 0.75), simulate.Noisy(simulate.LogOdds(2, 1))),
    "published": simulate.PUBLISHED["resnet110_c10"],
    "published-calibrated": simulate.PUBLISHED["densenet40_c100_calibrated"],
}
SEVERAL_CLASSES: dict[str, Any] = {
    "table": simulate.PUBLISHED["vaicenavicius_table_1"],
    "dirichlet": simulate.DirichletWorld((0.5, 1.0, 2.0), temperature=1.5),
}
MEASURES: dict[str, Any] = {
    "ece": tu.BinnedError(),
    "rmsce-mass": tu.BinnedError(binning=tu.EqualMass(15), norm=2, debias=True),
    "sweep": tu.SweepError(),
    "named": tu.smooth_ece,
}


def worlds(record: Record) -> None:
    """Record true errors and draws of worlds."""
    for name, world in WORLDS.items():
        for norm in (1, 2, math.inf):
            record(f"world/{name}/true-error/{norm}", world.true_error, norm=norm)
            edges = [0.25, 0.5, 0.75]
            record(f"world/{name}/binned-error/{norm}", world.binned_error, edges, norm=norm)
        record(f"world/{name}/draw", world.sample_many, 3, 50, rng=1)
    for name, world in SEVERAL_CLASSES.items():
        record(f"world/{name}/draw", world.sample_many, 2, 50, rng=1)
        for lens, chosen in (("top", tu.lens.TopLabel()), ("classes", tu.lens.ClassWise())):
            record(f"world/{name}/true-error/{lens}", world.true_error, lens=chosen, norm=2)


def studies(record: Record) -> None:
    """Record studies, fitted worlds, power, sample sizes and advice."""
    for name, world in (WORLDS | SEVERAL_CLASSES).items():
        options: dict[str, Any] = {"n_datasets": 120, "rng": 2, "progress": False}
        record(f"study/{name}", simulate.study, world, MEASURES, [50, 200], **options)
    for name in some("binary", "binary-ties", "binary-weights", "four", "real-games"):
        fitted = record(f"world-fit/{name}", simulate.fit, forecasts(name))
        record(f"world-fit/{name}/true-error", lambda fitted=fitted: fitted.world.true_error(2))
    for name in some("binary", "four", "real-games"):
        data = forecasts(name)
        few: dict[str, Any] = {"n_datasets": 100, "rng": 3}
        record(f"power/{name}", tu.power, data, true_error=0.05, n=300, **few)
        record(f"sample-size/{name}", tu.sample_size, data, true_error=0.1, **few)
        record(f"advice/{name}", tu.recommend_estimator, data, n_datasets=40, rng=4)
    world = WORLDS["beta-power"]
    options = {"true_error": 0.03, "n": 200, "n_datasets": 100, "rng": 5}
    for key, statistic in (("ks", tu.CumulativeError()), ("sweep", tu.SweepError(norm=2))):
        record(f"power/world/{key}", tu.power, world, statistic=statistic, **options)


def local_errors(record: Record) -> None:
    """Record errors among rows with similar features."""
    for name in ("binary", "binary-weights", "binary-ties", "four"):
        given = sample(name)
        probs, labels, weights = given["probs"], given["labels"], given.get("weights")
        rng = np.random.default_rng(8)
        n = len(labels)
        for d in (1, 2, 3, 6):
            features = rng.normal(size=(n, d))
            for kernel in ("laplacian", "gaussian"):
                options: dict[str, Any] = {"kernel": kernel, "weights": weights}
                key = f"{name}/{d}/{kernel}"
                for named, function in (("lce", tu.lce), ("mlce", tu.mlce)):
                    record(f"local/{named}/{key}", function, probs, labels, features, **options)
                sweep = local.mlce_over_bandwidths
                record(f"local/sweep/{key}", sweep, probs, labels, features, **options)
        errors = {
            "mean": tu.LocalError(summary="mean", bandwidth=0.5),
            "quantile": tu.LocalError(tu.lens.TopLabel(), tu.EqualMass(6), summary=0.9),
            "pca": tu.LocalError(reduce=("pca", 2)),
            "as-they-are": tu.LocalError(standardize=False, kernel="gaussian"),
        }
        for key, error in errors.items():
            options = {"weights": weights}
            record(f"local/error/{name}/{key}", error.measure, probs, labels, features, **options)
            record(f"local/signed/{name}/{key}", error.gaps, probs, labels, features, **options)
        _by_group(record, name, features)


def _by_group(record: Record, name: str, features: np.ndarray) -> None:
    given = sample(name)
    probs, labels, weights = given["probs"], given["labels"], given.get("weights")
    groups = np.array(["a", "b", "c"])[np.arange(len(labels)) % 5 % 3]
    by_group = tu.LocalError(kernel="group")
    beside: dict[str, Any] = {"weights": weights}
    record(f"local/group/{name}", by_group.measure, probs, labels, groups, **beside)
    record(f"local/worst-group/{name}", local.max_group_mce, probs, labels, groups, **beside)
    models = {"a": probs, "b": probs**2, "c": probs**0.5}
    if probs.ndim == 2:
        models = {key: rows / rows.sum(axis=1, keepdims=True) for key, rows in models.items()}
    correlation = local.mlce_group_correlation
    options: dict[str, Any] = {"bandwidths": (None, 1.0), **beside}
    record(f"local/correlation/{name}", correlation, models, labels, groups, features, **options)
    table = tu.group_errors(probs, labels, groups, rng=0, n_resamples=99, **beside).table
    gaps = tu.LocalError().gaps(probs, labels, features, **beside)
    record(f"local/joined/{name}", local.with_local_errors, table, groups, gaps, **beside)


def decided(record: Record) -> None:
    """Record rewards, coverage, traces and rebinned tables."""
    for name in some("binary", "binary-ties", "binary-weights", "two", "four", "real-confidences"):
        data = forecasts(name)
        for lens, chosen in (("default", None), ("one-class", tu.lens.OneVsRest(1))):
            key = f"{name}/{lens}"
            record(f"decisions/rewards/{key}", decisions.abstention_rewards, data, lens=chosen)
            record(
                f"decisions/coverage/{key}", decisions.accuracy_coverage_curve, data, lens=chosen
            )
    p, y = sample("binary")["probs"], sample("binary")["labels"]
    models = {"raw": p, "less": p**1.5}
    for key, baseline in (("none", None), ("raw", "raw")):
        options: dict[str, Any] = {"baseline": baseline}
        record(f"decisions/compare/{key}", decisions.compare_rewards, models, y, **options)
    record("trace", _trace)
    for name in ("binary", "binary-ties", "binary-weights"):
        record(f"fine-table/{name}", _fine, name)
    record("sums-of-tables", _added)


def _trace() -> Any:
    p, y = sample("binary")["probs"], sample("binary")["labels"]
    added: dict[str, Any] = {"ece": tu.BinnedError(), "brier": tu.Brier(), "log": tu.LogLoss()}
    batches = tu.Trace(added)
    for step in range(3):
        for rows in np.array_split(np.arange(len(p)), 4):
            batches.update(p[rows] ** (1 + step / 4), y[rows])
        batches.record(step)
    sorted_rows: dict[str, Any] = {"smooth": tu.smooth_ece, "sweep": tu.SweepError()}
    whole = tu.Trace(sorted_rows)
    whole.record("one", p, y)
    return batches.table(), whole.table()


def _fine(name: str) -> Any:
    given = sample(name)
    fine = tu.tables.FineBinTable.from_arrays(given["probs"], given["labels"], given.get("weights"))
    return fine, fine.rebin(np.array([0.25, 0.5, 0.75])), fine.equal_mass(7)


def _added() -> Any:
    given, estimator = sample("four"), ESTIMATORS["binned/all-classes"]
    parts = [
        estimator.table(given["probs"][rows], given["labels"][rows])
        for rows in np.array_split(np.arange(len(given["labels"])), 3)
    ]
    return parts[0] + parts[1] + parts[2]
