"""How often the verdict of `evaluate` is wrong: `python -m studies.verdict [data sets a cell]`.

Calibrated models: how often it speaks against them. Models that are wrong by a temperature, by just
the error that a calibrated data set of the same world was said to show four times in five: how
often it finds that. Of the evaluation only the tests that decide are run, which is what `against`
rests on in these worlds. Writes docs/verdict.md; the numbers depend on the arguments and the seed.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit

import trueup as tu
from trueup.atomic_write import write_atomically
from trueup.engines.threads import set_threads
from trueup.evaluation.findings import Settings, findings, headline
from trueup.inference import holm
from trueup.inference.hypothesis_tests.sensitivity import sensitivity

PAGE = Path(__file__).parents[1] / "docs" / "verdict.md"
SEED = 8
SIZES = (100, 1000)
LEVEL, RESAMPLES = 0.95, 999
BINARY = {
    "uniform": lambda rng, n: rng.random(n),
    "piled near 1": lambda rng, n: rng.beta(2.8, 0.05, n),
    "two decimals": lambda rng, n: rng.random(n).round(2),
}
CLASSES = {"3 classes": 3, "10 classes": 10}
TEMPERATURES = {"over-confident": 2.0, "under-confident": 0.5}
ABOUT = """# How often the verdict is wrong

`python -m studies.verdict {sets}`: {sets:,} data sets a cell, a level of 5 %; the standard error of
a share near 5 % is {small:.1f} points, of one near 80 % {large:.1f}.

Share of calibrated models that `evaluate` speaks against:

| scores | n = 100 | n = 1,000 |
|---|---|---|
{calibrated}

Share of models found that are wrong by a temperature, to the error that the verdict of calibrated
scores calls findable four times in five (root mean square over the scores, n = 1,000):

| scores | over-confident | under-confident |
|---|---|---|
{found}
"""


class Cell(NamedTuple):
    """Scores, rows, how they are wrong, and how many data sets."""

    scores: str
    n: int
    wrong: str
    sets: int


def share_against(cell: Cell) -> float:
    """Share of data sets that the verdict speaks against."""
    set_threads(1)
    against = 0
    for r in range(cell.sets):
        rng = np.random.default_rng([SEED, cell.n, r])
        asked = Settings(15, LEVEL, RESAMPLES, r)
        decide = findings(tu.Forecasts.from_arrays(*_drawn(cell, rng)), [], asked)
        against += holm([found.pvalue for found in decide]).min() <= 1 - LEVEL
    return against / cell.sets


def _drawn(cell: Cell, rng: np.random.Generator) -> tuple[Any, Any]:
    if cell.scores in CLASSES:
        g = rng.dirichlet(np.ones(CLASSES[cell.scores]), cell.n)
        above = rng.random(cell.n)[:, None] > np.cumsum(g, axis=1)
        return g, np.minimum(above.sum(axis=1), g.shape[1] - 1)
    p = BINARY[cell.scores](rng, cell.n)
    rate = p
    if cell.wrong:
        seen = sensitivity(p, rng.random(cell.n) < p, statistic=headline(15), rng=rng)
        error = seen.smallest_error(0.8)
        assert error is not None
        inside = np.clip(p, 1e-12, 1 - 1e-12)
        shift = expit(logit(inside) / TEMPERATURES[cell.wrong]) - inside
        strength = error / np.sqrt(np.mean(shift**2))
        rate = np.clip(p + strength * shift, 0, 1)
    return p, rng.random(cell.n) < rate


def page(cells: list[Cell], shares: list[float]) -> str:
    """Return the whole page."""
    share = {cell[:3]: found for cell, found in zip(cells, shares, strict=True)}
    calibrated = [
        f"| {name} | {share[name, 100, '']:.1%} | {share[name, 1000, '']:.1%} |"
        for name in (*BINARY, *CLASSES)
    ]
    found = [
        f"| {name} | " + " | ".join(f"{share[name, 1000, w]:.0%}" for w in TEMPERATURES) + " |"
        for name in ("uniform", "two decimals")
    ]
    small, large = (100 * np.sqrt(p * (1 - p) / cells[0].sets) for p in (0.05, 0.8))
    return ABOUT.format(
        sets=cells[0].sets,
        small=small,
        large=large,
        calibrated="\n".join(calibrated),
        found="\n".join(found),
    )


def main() -> None:
    """Run the study and write the page."""
    sets = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    cells = [Cell(name, n, "", sets) for name in (*BINARY, *CLASSES) for n in SIZES]
    cells += [
        Cell(name, 1000, w, sets) for name in ("uniform", "two decimals") for w in TEMPERATURES
    ]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        shares = list(pool.map(share_against, cells))
    text = page(cells, shares)
    write_atomically(PAGE, text.encode())
    print(text)


if __name__ == "__main__":
    main()
