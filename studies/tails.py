"""Asymptotic tails compared with long resampling: `python -m studies.tails [draws]`.

For KS, Kuiper and SKCE: labels are drawn from the scores, by default a million times. At the value
that a share of the draws reaches, the page has the approximate p-value divided by that share.
Writes docs/tails.md; the numbers depend on the arguments and the seed alone.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from scipy.special import expit

import trueup as tu
from trueup._typing import Floats
from trueup.atomic_write import write_atomically
from trueup.estimators.kernel_errors.pair_sums import Kernel
from trueup.inference.asymptotic.kernel_spectrum import spectrum_of_scores
from trueup.inference.hypothesis_tests.ks import approximate_tail
from trueup.inference.hypothesis_tests.null_distribution import NullPairs
from trueup.lens import Pairs

PAGE = Path(__file__).parents[1] / "docs" / "tails.md"
SEED, CHUNK = 19, 5_000
SHARES = (0.1, 0.01, 0.001, 0.0001)
LOGITS = {
    "uniform": lambda rng, n: np.log(1 / rng.random(n) - 1),
    "confident": lambda rng, n: rng.normal(0, 4, n),
    "rare (3%)": lambda rng, n: rng.normal(-4.05, 1.1, n),
    "near 1": lambda rng, n: rng.gamma(2, 2, n),
}
CASES = [
    ("uniform", 200),
    ("uniform", 1_000),
    ("confident", 1_000),
    ("near 1", 1_000),
    ("rare (3%)", 1_000),
]
TEXT = """# Asymptotic tails: p-values compared with long resampling

`python -m studies.tails {draws}` writes this page, from {draws:,} draws of the labels per row.

`calibration_test(..., method="ks" or "skce", tail="asymptotic")` gives approximate p-values below
the 1/(1 + n_resamples) of a resampling test. Each column is for a true p-value: the fraction of
draws in which the statistic reaches a certain value. The entries are the approximate p-value at
that value, divided by the true one. Above 1, the approximation is conservative. The relative
standard errors of the columns are {errors}.

{table}
"""


def drawn(p: Floats, matrix: Floats, draws: int) -> dict[str, Floats]:
    """Return the three statistics of calibrated labels, sorted from the largest."""
    rng = np.random.default_rng([SEED, len(p)])
    found: dict[str, list[Floats]] = {"KS": [], "Kuiper": [], "SKCE": []}
    single = matrix.astype(np.float32)
    for _ in range(draws // CHUNK):
        residual = p.astype(np.float32) - (rng.random((CHUNK, len(p)), np.float32) < p)
        found["SKCE"].append(np.einsum("ri,ri->r", residual @ single, residual))
        np.cumsum(residual, axis=1, out=residual)
        high = np.maximum(residual.max(axis=1), 0)
        low = np.minimum(residual.min(axis=1), 0)
        found["KS"].append(np.maximum(high, -low))
        found["Kuiper"].append(high - low)
    return {name: np.sort(np.concatenate(parts))[::-1] for name, parts in found.items()}


def rows_of(name: str, n: int, draws: int) -> list[str]:
    """Return the lines of one set of scores."""
    p = np.sort(expit(LOGITS[name](np.random.default_rng([SEED, n, 1]), n)))
    labels = np.random.default_rng(SEED).random(n) < p
    bandwidth = float(tu.KernelError(form="unbiased").measure(p, labels).notes["bandwidth"])
    matrix = np.exp(-np.abs(p[:, None] - p) / bandwidth)
    np.fill_diagonal(matrix, 0)
    rows = NullPairs.in_order(Pairs(p, labels, None))
    spectrum = spectrum_of_scores(rows, Kernel("laplacian", bandwidth))
    deviation = math.sqrt(float(rows.variance.sum()))
    tails = {
        "KS": lambda x: approximate_tail("ks", rows, x / deviation),
        "Kuiper": lambda x: approximate_tail("kuiper", rows, x / deviation),
        "SKCE": spectrum.tail,
    }
    lines = []
    for statistic, values in drawn(p, matrix, draws).items():
        at = [float(values[round(share * draws) - 1]) for share in SHARES]
        ratios = [f"{tails[statistic](x) / s:.2f}" for x, s in zip(at, SHARES, strict=True)]
        lines.append(cells([name, f"{n:,}", f"{deviation**2:.1f}", statistic, *ratios]))
    print(*lines, sep="\n", flush=True)
    return lines


def cells(entries: list[str]) -> str:
    """Return a line of Markdown."""
    return f"| {' | '.join(entries)} |"


def main(draws: int) -> None:
    """Write the page."""
    heads = ["scores", "n", "variance", "statistic", *(f"p = {share:g}" for share in SHARES)]
    lines = [line for name, n in CASES for line in rows_of(name, n, draws)]
    errors = ", ".join(f"{1 / math.sqrt(share * draws):.1%}" for share in SHARES)
    table = "\n".join([cells(heads), cells(["---"] * len(heads)), *lines])
    write_atomically(PAGE, TEXT.format(draws=draws, errors=errors, table=table).encode())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
