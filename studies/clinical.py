"""Coverage of the clinical intervals and size of Cox's joint test: `python -m studies.clinical`.

The number of datasets per row is the argument, by default 4,000. Writes docs/clinical.md; the
numbers depend on the arguments and the seed alone.
"""

from __future__ import annotations

import math
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtr, ndtri

import trueup as tu
from trueup._typing import Floats
from trueup.atomic_write import write_atomically
from trueup.engines.threads import set_threads
from trueup.inference.confidence_intervals.oe_ratio import oe_ratio_interval

PAGE = Path(__file__).parents[1] / "docs" / "clinical.md"
SEED, LEVEL = 17, 0.05
QUANTILES = (np.arange(20_000) + 0.5) / 20_000
SHARED = 0.3  # of the variance of the latent normal variable of a row, with its cluster
PER_CLUSTER = 20
TITLES = ["slope", "in the large", "O:E", "joint test"]
TEXT = """# Clinical measures: coverage and size

`python -m studies.clinical {sets}` writes this page: {sets:,} datasets per row. The standard error
of a rate is {error:.4f} near 0.95 and near 0.05, and at most {widest:.3f} elsewhere.

The logits of the scores are normal with the given mean and standard deviation. The logit of the
probability of an outcome is intercept + slope × logit score. The columns give the coverage of the
95% intervals for the slope, for calibration-in-the-large and for the O:E ratio. The last column is
how often the joint test of slope 1 and intercept 0 has p ≤ 0.05: its false-positive rate for slope
1 and intercept 0, and its power elsewhere. If the fit has no maximum, the slope has no interval;
that counts as a miss.

## Independent rows

{independent}

## Weights

Exponential weights that are independent of the outcomes, n = 1,000.

{weighted}

## Clusters

Clusters of {per} rows: labels follow latent normal variables, {shared:.0%} of whose variance is
shared by the cluster. Intervals and the test take the clusters into account; the last column is the
false-positive rate of the joint test if clusters are ignored.

{clustered}
"""


class World(NamedTuple):
    """Normal logits of scores, and the line that the logits of outcomes follow."""

    mean: float
    sd: float
    intercept: float = 0.0
    slope: float = 1.0


RARE, RARER, SPREAD = World(-4.05, 1.1), World(-5.0, 0.9), World(0.0, 2.0)
EXTREME = RARE._replace(intercept=-0.61, slope=0.76)
WORLDS = (RARE, RARER, SPREAD, EXTREME)


@cache
def truth(world: World) -> tuple[float, float, float]:
    """Return slope, calibration-in-the-large and O:E of the population."""
    x = world.mean + world.sd * ndtri(QUANTILES)
    rate = expit(world.intercept + world.slope * x).mean()
    level = brentq(lambda a: expit(a + x).mean() - rate, -20, 20)
    return world.slope, float(level), float(rate / expit(x).mean())


def one(world: World, n: int, kind: str, seed: int) -> list[bool]:
    """Return which intervals cover, and whether the test rejects, on one dataset."""
    set_threads(1)
    rng = np.random.default_rng([SEED, seed, n])
    x = rng.normal(world.mean, world.sd, n)
    rate = expit(world.intercept + world.slope * x)
    given: dict[str, Floats] = {}
    uniform = rng.random(n)
    if kind == "weights":
        given["weights"] = rng.exponential(size=n)
    elif kind == "clusters":
        given["clusters"] = np.arange(n) // PER_CLUSTER
        own = rng.normal(size=given["clusters"][-1] + 1)[given["clusters"]]
        latent = math.sqrt(SHARED) * own + math.sqrt(1 - SHARED) * ndtri(uniform)
        uniform = ndtr(latent)
    labels = uniform < rate
    forecasts = tu.Forecasts.from_arrays(expit(x), labels, **given)
    found, ratio = tu.cox(forecasts), oe_ratio_interval(forecasts)
    ends = found.intervals()
    slope, level, oe = truth(world)
    covered = [
        low <= true <= high
        for true, (low, high) in (
            (slope, ends.slope),
            (level, ends.in_the_large),
            (oe, (ratio.low, ratio.high)),
        )
    ]
    naive = [tu.cox(expit(x), labels).joint_pvalue <= LEVEL] if kind == "clusters" else []
    return [*covered, found.joint_pvalue <= LEVEL, *naive]


def row(pool: ProcessPoolExecutor, sets: int, world: World, n: int, kind: str = "") -> str:
    """Return a line of a table."""
    found = np.array(list(pool.map(partial(one, world, n, kind), range(sets), chunksize=100)))
    rows = f"{n // PER_CLUSTER}" if kind == "clusters" else f"{n:,}"
    rates = [f"{share:.3f}" for share in found.mean(axis=0)]
    line = f"{world.intercept:g} + {world.slope:g} x"
    return cells([f"{world.mean:g}, {world.sd:g}", line, rows, *rates])


def cells(entries: list[str]) -> str:
    """Return a line of Markdown."""
    return f"| {' | '.join(entries)} |"


def table(size: str, rows: list[str], *more: str) -> str:
    """Return a table with its heads."""
    heads = ["mean, sd", "outcome logit", size, *TITLES, *more]
    return "\n".join([cells(heads), cells(["---"] * len(heads)), *rows])


def main(sets: int) -> None:
    """Write the page."""
    with ProcessPoolExecutor(2) as pool:
        independent = [row(pool, sets, w, n) for w in WORLDS for n in (200, 1_000, 12_000)]
        weighted = [row(pool, sets, w, 1_000, "weights") for w in (RARE, SPREAD)]
        clustered = [
            row(pool, sets, w, PER_CLUSTER * count, "clusters")
            for w in (RARE, SPREAD)
            for count in (20, 50, 200)
        ]
    page = TEXT.format(
        sets=sets,
        error=math.sqrt(LEVEL * (1 - LEVEL) / sets),
        widest=0.5 / math.sqrt(sets),
        per=PER_CLUSTER,
        shared=SHARED,
        independent=table("n", independent),
        weighted=table("n", weighted),
        clustered=table("clusters", clustered, "test without clusters"),
    )
    write_atomically(PAGE, page.encode())
    print(page)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4000)
