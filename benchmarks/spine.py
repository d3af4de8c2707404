"""The binned errors and the sweep, validation included."""

from __future__ import annotations

from functools import partial

import numpy as np

import trueup as tu
from benchmarks.timing import Task

N_SCORES = 10**6
ROWS, CLASSES = 200_000, 100


def tasks() -> list[Task]:
    """All rows of the table."""
    rng = np.random.default_rng(0)
    return [*_scores(rng), *_matrices(rng), *_equal_mass(rng), *_sweeps(rng)]


def _scores(rng: np.random.Generator) -> list[Task]:
    p = rng.random(N_SCORES)
    y = (rng.random(N_SCORES) < p).astype(np.int64)
    return [
        Task(
            "ece, 10^6 float64 scores, int64 labels",
            lambda: tu.ece(p, y),
            "p.sum() + y.sum()",
            lambda: p.sum() + y.sum(),
            4,
            rounds=101,
            peer="torchmetrics",
            peer_call=_torchmetrics(p, y, "binary"),
        )
    ]


def _matrices(rng: np.random.Generator) -> list[Task]:
    logits = rng.normal(size=(ROWS, CLASSES)).astype(np.float32) * 3
    peaked = np.exp(logits - logits.max(axis=1, keepdims=True))
    peaked /= peaked.sum(axis=1, keepdims=True)
    flat = rng.dirichlet(np.ones(CLASSES), ROWS).astype(np.float32)
    labels = rng.integers(0, CLASSES, ROWS)
    hit = rng.random(ROWS) < 0.7
    labels[hit] = peaked.argmax(axis=1)[hit]
    rows = []
    for kind, probs in (("", peaked), (", flat rows", flat)):
        peer = _torchmetrics(probs, labels, "multiclass") if not kind else None
        for name, limit in (("ece", 2.2), ("sce", 6), ("ace", 25)):
            with_peer = (
                {"peer": "torchmetrics", "peer_call": peer} if peer and name == "ece" else {}
            )
            rows.append(
                Task(
                    f"{name}, 200,000 x 100 float32{kind}",
                    partial(getattr(tu, name), probs, labels),
                    "P.sum()",
                    lambda probs=probs: probs.sum(),
                    limit,
                    **with_peer,
                )
            )
    return rows


def _equal_mass(rng: np.random.Generator) -> list[Task]:
    n = 10**7
    estimator = tu.BinnedError(binning=tu.EqualMass(15))
    rows = []
    for kind, p in (
        ("uniform", rng.random(n)),
        ("Beta(2.78, 0.048)", rng.beta(2.78, 0.048, n)),
        ("3 decimals", np.round(rng.random(n), 3)),
    ):
        y = rng.random(n) < p
        rows.append(
            Task(
                f"equal-mass ece, 10^7 scores, {kind}",
                lambda p=p, y=y: estimator(p, y),
                "np.argsort",
                lambda p=p: np.argsort(p),
                1 / 10,
                rounds=3,
            )
        )
    return rows


def _sweeps(rng: np.random.Generator) -> list[Task]:
    from probcal.metrics import ece_sweep as peer_sweep

    n = N_SCORES
    p = rng.random(n)
    separable = (p > 0.5).astype(np.int64)
    swapped = separable.copy()
    middle = np.argsort(p)[n // 2 + 1000 : n // 2 + 1002]
    swapped[middle] = [1, 0]
    families = [
        ("calibrated", p, (rng.random(n) < p).astype(np.int64)),
        ("separable", p, separable),
        ("one pair swapped", p, swapped),
        ("2 decimals", np.round(p, 2), (rng.random(n) < p).astype(np.int64)),
        ("4 decimals", np.round(p, 4), (rng.random(n) < p).astype(np.int64)),
    ]
    return [
        Task(
            f"ece_sweep, 10^6 scores, {kind}",
            lambda p=p, y=y: tu.ece_sweep(p, y),
            "probcal (100 bins)",
            lambda p=p, y=y: peer_sweep(y, p),
            1 / 40,
            rounds=3,
        )
        for kind, p, y in families
    ]


def _torchmetrics(probs: np.ndarray, labels: np.ndarray, task: str):
    import torch
    from torchmetrics.functional.classification import (
        binary_calibration_error,
        multiclass_calibration_error,
    )

    p, y = torch.from_numpy(probs), torch.from_numpy(labels)
    if task == "binary":
        return lambda: binary_calibration_error(p, y, n_bins=15)
    return lambda: multiclass_calibration_error(p, y, num_classes=probs.shape[1], n_bins=15)
