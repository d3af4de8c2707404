"""Nixon et al. 2019, §4, on public networks: `python -m studies.nixon [splits]`.

They compare recalibrators by several calibration errors and find temperature scaling best by ECE
and vector scaling best by SCE and ACE (Table 1; in Table 2 vector scaling is best by ECE as well).
Here the 10,000 predictions of each network for CIFAR-100 and CIFAR-10 are split in halves at
random: one fits the recalibrators, the other measures. Means over the splits, which use the same
rows again and again: the standard errors are of the splitting alone.

Writes docs/nixon.md. The numbers depend on the number of splits and the seed alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import trueup as tu

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data" / "netcal_cifar_probs.npz"
SPLITS, SEED = 10, 2019
METHODS: dict[str, Callable[[], Any]] = {
    "original": tu.IdentityCalibration,
    "temperature": tu.TemperatureScaling,
    "vector": tu.VectorScaling,
    "matrix": tu.MatrixScaling,
    "isotonic": tu.IsotonicCalibration,
    "histogram": tu.HistogramBinning,
}
METRICS: dict[str, Callable[..., float]] = {
    "ece": tu.ece,
    "sce": tu.sce,
    "ace": tu.ace,
    "tace": tu.tace,
    "brier": tu.brier,
    "log loss": lambda probs, labels: _log_loss(probs, labels),
}
POINTS = 100  # errors are shown in points, scores as they are


def _log_loss(probs: NDArray[Any], labels: NDArray[Any]) -> float:
    """Infinite if an observed class had probability 0, as its definition says."""
    return (
        float("inf")
        if (probs[np.arange(len(labels)), labels] == 0).any()
        else tu.log_loss(probs, labels)
    )


def split_errors(
    probs: NDArray[Any], labels: NDArray[Any], splits: int
) -> dict[str, NDArray[np.float64]]:
    """(splits, metrics) errors of each method on the halves it was not fitted to."""
    rng = np.random.default_rng(SEED)
    found: dict[str, list[list[float]]] = {name: [] for name in METHODS}
    for _ in range(splits):
        order = rng.permutation(len(labels))
        fit, test = np.split(order, 2)
        for name, make in METHODS.items():
            fixed = make().fit(probs[fit], labels[fit]).predict_proba(probs[test])
            found[name].append([metric(fixed, labels[test]) for metric in METRICS.values()])
    return {name: np.array(rows) for name, rows in found.items()}


def table(found: dict[str, NDArray[np.float64]]) -> list[str]:
    """Markdown rows of means ± standard errors; the best of each column is bold."""
    scale = np.array([1 if name in ("brier", "log loss") else POINTS for name in METRICS])
    means = {name: scale * rows.mean(axis=0) for name, rows in found.items()}
    with np.errstate(invalid="ignore"):
        errors = {
            name: scale * rows.std(axis=0, ddof=1) / np.sqrt(len(rows))
            for name, rows in found.items()
        }
    best = np.min(list(means.values()), axis=0)
    lines = [f"| method | {' | '.join(METRICS)} |", "|---" * (1 + len(METRICS)) + "|"]
    for name, row in means.items():
        cells = [
            _cell(mean, error, best=mean == least)
            for mean, error, least in zip(row, errors[name], best, strict=True)
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def _cell(mean: float, error: float, *, best: bool) -> str:
    if np.isinf(mean):
        return "∞"
    return f"{'**' if best else ''}{mean:.3f}{'**' if best else ''} ± {error:.3f}"


def finding(found: dict[str, dict[str, NDArray[np.float64]]]) -> list[str]:
    """Say, network by network, which of temperature and vector is better by each of his errors."""
    lines = []
    for network, rows in found.items():
        parts = []
        for number, name in enumerate(list(METRICS)[:3]):
            apart = POINTS * (rows["vector"] - rows["temperature"])[:, number]
            error = apart.std(ddof=1) / np.sqrt(len(apart))
            best = min(rows, key=lambda each: rows[each][:, number].mean())
            parts.append(f"{name} {apart.mean():+.3f} ± {error:.3f} (best: {best})")
        lines.append(f"* {network}: {', '.join(parts)}.")
    return lines


def main(splits: int) -> None:
    """Write the page."""
    if not DATA.exists():
        sys.exit("the folder of real predictions, shared/data next to the repository, is missing")
    data = np.load(DATA, allow_pickle=False)
    text = [
        "# Recalibrators ranked by several metrics (Nixon et al. 2019)",
        "",
        f"`python -m studies.nixon {splits}` writes this page. In each of {splits} random splits "
        "of the 10,000 predictions of a network,",
        "one half fits the recalibrators and the other evaluates them. Entries are mean ± standard "
        "error over the splits, the best in bold. Errors are",
        "in percentage points, and ∞ means that an observed class had probability 0 in some split. "
        "Nixon et al. find temperature scaling best by ECE",
        "and vector scaling best by SCE and ACE in their Table 1; in their Table 2, vector scaling "
        "is best by ECE and SCE, but not by ACE.",
        "",
        "Vector − temperature scaling, in points; negative numbers favor vector scaling:",
        "",
    ]
    every: dict[str, dict[str, NDArray[np.float64]]] = {}
    tables: list[str] = []
    for name in sorted(key[:-3] for key in data if key.endswith("__p")):
        found = split_errors(data[f"{name}__p"], data[f"{name}__y"].astype(int), splits)
        every[name] = found
        tables += ["", f"## {name}", "", *table(found)]
    page = "\n".join([*text, *finding(every), *tables]) + "\n"
    (ROOT / "docs" / "nixon.md").write_text(page)
    print(page)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SPLITS)
