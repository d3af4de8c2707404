"""Intervals of trueup and of Sun et al. 2024: `python -m studies.widths [repetitions]`.

Both are for the L2 binned error, here over the same 15 equal-mass bins. Theirs, implemented from
the definitions, has with residuals u = y − p, shares s_b and sizes n_b

    T  = Σ s_b (ū_b² − (mean u² − ū_b²) / (n_b − 1)),   T₊ = max(T, 0),
    σ² = Σ s_b (4 ū_b² mean u² − 3 ū_b⁴) − (Σ s_b ū_b²)²,   e = σ/√n.

Above is T₊ + z e, z the quantile of 1 − α/2. Below, with z' that of 1 − α, is T₊ − z e where that
is at least T₊/2, else max(T₊ − z' e, 0) where T₊ < 2 z' e, else T₊/2. Where T₊ is within z' null
deviations √(2 Σ v_b²)/n of 0, v_b the mean of p(1 − p), 0 belongs to it too. Roots are taken.

Theirs is for new rows, ours for these scores or, with `target="population"`, for new rows. Writes
docs/widths.md; the numbers depend on the repetitions and the seed alone.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

import trueup as tu
from studies.coverage import LEVEL, SIZES, WORLDS, true_error
from trueup.atomic_write import write_atomically
from trueup.engines.select import engine
from trueup.engines.threads import set_threads
from trueup.estimators.base import root_of
from trueup.estimators.binned_errors.bias_correction import plugin_power
from trueup.simulate.studies.random_streams import stream, world_identity
from trueup.simulate.worlds.published import PUBLISHED

PAGE = Path(__file__).parents[1] / "docs" / "widths.md"
SEED = 24
POPULATION = 200_000
ESTIMATOR = tu.BinnedError(binning=tu.EqualMass(15), norm=2, debias=True)
ABOUT = """# Interval widths compared with Sun et al. (2024)

Sun, Chaudhari, Barnett & Dobriban 2024 ("A confidence interval for the ℓ₂ expected calibration
error") propose an interval for the same error as `tu.interval(tu.rmsce_debiased, …)`.
`python -m studies.widths` compares both at 95%, with {repetitions:,} datasets per setting and the
same 15 equal-mass bins. Entries are coverage and mean width. The standard error of a coverage of
95% is {error:.1f} points. The target *these scores* is the error for the scores of the dataset in
their bins, with random labels. The target *new rows* is the error for {population:,} other rows
of the world (the simulated model) in the same bins, so that scores are random too. The interval of
Sun et al. is designed for new rows.

{summary}

| world | n | ours, these scores | theirs, these scores | ours, new rows | theirs, new rows |
|---|---|---|---|---|---|
"""


class Cell(NamedTuple):
    """A world, the rows of a dataset, and how many datasets."""

    world: str
    n: int
    sets: int


def sun_interval(p: Any, y: Any, edges: Any, level: float) -> tuple[float, float]:
    """Return the interval of Sun et al. 2024 for the L2 binned error."""
    n, u = len(p), y - p
    which = np.searchsorted(edges, p)
    count = np.bincount(which, minlength=len(edges) + 1)
    full = count > 0
    count = count[full]
    mean, square, noise = (
        np.bincount(which, each, len(full))[full] / count for each in (u, u * u, p * (1 - p))
    )
    share = count / n
    value = share @ (mean**2 - (square - mean**2) / np.maximum(count - 1, 1))
    value = max(float(value), 0.0)
    spread = share @ (4 * mean**2 * square - 3 * mean**4) - (share @ mean**2) ** 2
    error = np.sqrt(max(spread, 0.0) / n)
    two_sided, one_sided = ndtri([(1 + level) / 2, level])
    high = value + two_sided * error
    if value >= 2 * two_sided * error:
        low = value - two_sided * error
    elif value >= 2 * one_sided * error:
        low = value / 2
    else:
        low = max(value - one_sided * error, 0.0)
    if value < one_sided * np.sqrt(2 * np.sum(noise**2)) / n:
        low = 0.0
    return float(np.sqrt(low)), float(np.sqrt(high))


def measure(cell: Cell) -> list[float]:
    """Coverage and mean width: ours and theirs of these scores, ours and theirs of new rows."""
    set_threads(1)
    world: Any = PUBLISHED[cell.world]
    chance = stream(SEED, world_identity(world), cell.n, 0)
    many, complement = world.scores.sample((POPULATION,), chance)
    rates = world.curve(many, complement)
    total = np.zeros((4, 2))
    for _ in range(cell.sets):
        score, complement = world.scores.sample((cell.n,), chance)
        truth = world.curve(score, complement)
        label = chance.random(cell.n) < truth
        forecasts = tu.Forecasts.from_arrays(score, label)
        edges = ESTIMATOR.measure(forecasts).table.edges[1:-1]
        here = true_error(ESTIMATOR, edges, score, truth, label)
        sums = engine.bins.bin_sums(many, rates, None, edges)
        new = root_of(plugin_power(tu.tables.BinTable.from_sums(edges, sums), 2), 2)
        theirs = sun_interval(score, label, edges, LEVEL)
        for row, true, (low, high) in (
            (0, here, _ends(forecasts, "conditional")),
            (1, here, theirs),
            (2, new, _ends(forecasts, "population")),
            (3, new, theirs),
        ):
            total[row] += low - 1e-12 <= true <= high + 1e-12, high - low
    return [float(x) for x in (total / cell.sets).ravel()]


def _ends(forecasts: Any, target: str) -> tuple[float, float]:
    found = tu.interval(ESTIMATOR, forecasts, confidence_level=LEVEL, target=target)
    return found.low, found.high


def page(cells: list[Cell], found: list[list[float]]) -> str:
    """Return the whole page."""
    values = np.reshape(found, (-1, 4, 2))
    calibrated = np.array([cell.world.endswith("_calibrated") for cell in cells])
    lines = [
        "| lowest coverage, mean width | ours, these scores | theirs | ours, new rows | theirs |"
    ]
    lines.append("|---|---|---|---|---|")
    for words, rows in (("miscalibrated worlds", ~calibrated), ("calibrated twins", calibrated)):
        parts = zip(values[rows, :, 0].min(axis=0), values[rows, :, 1].mean(axis=0), strict=True)
        lines.append(
            f"| {words} | {' | '.join(f'{low:.3f}, {width:.4f}' for low, width in parts)} |"
        )
    error = 100 * np.sqrt(LEVEL * (1 - LEVEL) / cells[0].sets)
    text = ABOUT.format(
        repetitions=cells[0].sets, error=error, population=POPULATION, summary="\n".join(lines)
    )
    for cell, row in zip(cells, values, strict=True):
        numbers = " | ".join(f"{held:.3f}, {width:.4f}" for held, width in row)
        text += f"| {cell.world} | {cell.n} | {numbers} |\n"
    return text


def main() -> None:
    """Run the study and write the page."""
    sets = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    cells = [Cell(world, n, sets) for world in WORLDS for n in SIZES]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(measure, cells))
    text = page(cells, found)
    write_atomically(PAGE, text.encode())
    print(text)


if __name__ == "__main__":
    main()
