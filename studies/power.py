"""Power, sample sizes and sensitivity against tests of drawn datasets.

``python -m studies.power SETS`` tests SETS datasets per configuration (default 2,000; a tenth of
them for the smooth error, whose test is slow) and writes docs/power.md.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtri

import trueup as tu
from trueup.atomic_write import write_atomically
from trueup.inference import calibration_test
from trueup.inference.hypothesis_tests.sensitivity import TEMPERATURES, sensitivity
from trueup.simulate import Beta, Power, SampleSize, World

PAGE = Path(__file__).parents[1] / "docs" / "power.md"
LEVEL, ASKED = 0.05, 0.8
SLOW = 10  # times fewer datasets for a slow test

PAGE_TEXT = """# Power, sample size and sensitivity

`python -m studies.power {sets}` writes this page. Every proportion is from {sets:,} datasets
({slow:,} for `smooth_ece`, half as many for n = 10,000 below "Sensitivity"). They are drawn and
tested one by one with `calibration_test` and 999 draws at 5%. ± is one standard error.

## Power

Scores have density a c^(a − 1); outcomes have probability c + t (c^d − c), where t is
chosen so that the L2 error has the given value. `power` draws 1,000 datasets. The last column is
the difference divided by its standard error.

{power}

## Sample size

`sample_size` for a power of 0.8, with its 95% interval, and the proportion of datasets of that size
that the test rejects. The last column is the difference between that proportion and 0.8, in
standard errors. These include the uncertainty of the sample size itself.

{size}

## Sensitivity

The smallest error that `sensitivity` says is detected with probability 0.8, and the proportion of
datasets with that error that the omnibus test rejects. The error has the shape of a temperature of
2 (overconfident) or ½ (underconfident). "None": the scores leave no room for such an error. Scores
are logit-normal (sd 1.5), beta(4, 1) and beta(1.18, 0.108); weights are exponential.

{sensitivity}

## Time

Time in seconds on one thread in this run, for beta(2, 1) scores and 1,000 datasets:

{times}
"""

WORLDS = {"a = 2, d = 1.5": (2.0, 1.5), "a = 1, d = 2": (1.0, 2.0), "a = 8, d = 2": (8.0, 2.0)}
STATISTICS: dict[str, Any] = {
    "omnibus": None,
    "rmsce_debiased": tu.rmsce_debiased,
    "ks_error": tu.ks_error,
    "smooth_ece": tu.smooth_ece,
}
CONFIGURATIONS = [
    ("a = 2, d = 1.5", 0.05, 1000),
    ("a = 1, d = 2", 0.1, 200),
    ("a = 8, d = 2", 0.015, 2000),
]
LARGE = ("a = 2, d = 1.5", 0.012, 10_000)
SIZED = [
    ("a = 2, d = 1.5", 0.05, "omnibus"),
    ("a = 2, d = 1.5", 0.05, "rmsce_debiased"),
    ("a = 1, d = 2", 0.05, "omnibus"),
    ("a = 8, d = 2", 0.02, "omnibus"),
    ("a = 8, d = 2", 0.02, "ks_error"),
]
SCORES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "spread": lambda rng, n: expit(rng.normal(0, 1.5, n)),
    "beta(4, 1)": lambda rng, n: rng.beta(4, 1, n),
    "cifar100": lambda rng, n: rng.beta(1.18, 0.108, n).clip(0, 1 - 1e-12),
}
SIZES = (300, 1000, 10_000)


def world_of(name: str) -> World:
    """Return the simulated model that is handed to `power`."""
    a, d = WORLDS[name]
    return World(Beta(a, 1.0), Power(d))


def drawn(
    name: str, error: float, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw scores and outcomes with an L2 error, without a `World`."""
    a, d = WORLDS[name]
    squared = a / (a + 2 * d) - 2 * a / (a + d + 1) + a / (a + 2)  # E (c^d − c)²
    p = rng.random(n) ** (1 / a)
    return p, rng.random(n) < p + error / math.sqrt(squared) * (p**d - p)


def share(found: Sequence[bool]) -> tuple[float, float]:
    """Return a share and its standard error."""
    smoothed = (1 + sum(found)) / (2 + len(found))
    return sum(found) / len(found), math.sqrt(smoothed * (1 - smoothed) / len(found))


def rejected(name: str, error: float, n: int, test: str, sets: int) -> tuple[float, float]:
    """Return the share of datasets that a test rejects."""
    options = {"method": "omnibus"} if test == "omnibus" else {"statistic": STATISTICS[test]}
    rng = np.random.default_rng([n, sets])
    return share(
        [
            calibration_test(*drawn(name, error, n, rng), rng=seed, **options).pvalue <= LEVEL
            for seed in range(sets)
        ]
    )


def power_rows(sets: int) -> list[list[str]]:
    """Compare `power` with tests of datasets."""
    rows = []
    every = [(*each, test) for each in CONFIGURATIONS for test in STATISTICS]
    for name, error, n, test in [*every, (*LARGE, "omnibus"), (*LARGE, "rmsce_debiased")]:
        found = tu.power(world_of(name), true_error=error, n=n, statistic=STATISTICS[test], rng=1)
        many = sets // SLOW if test == "smooth_ece" else sets
        tested, noise = rejected(name, error, n, test, many)
        off = (found.power - tested) / math.hypot(noise, found.standard_error)
        both = plus_minus(found.power, found.standard_error), plus_minus(tested, noise)
        rows.append([name, f"{error:g}", f"{n:,}", test, *both, f"{off:+.1f}"])
        print(*rows[-1], flush=True)
    return rows


def size_rows(sets: int) -> list[list[str]]:
    """Test datasets of the size found."""
    rows = []
    for name, error, test in SIZED:
        found = tu.sample_size(world_of(name), true_error=error, statistic=STATISTICS[test], rng=1)
        tested, noise = rejected(name, error, found.n, test, sets)
        of_log = math.log(found.high / found.low) / (2 * 1.96)
        off = (tested - ASKED) / math.hypot(noise, of_log * slope_at(found))
        size = f"{found.n:,} [{found.low:,}, {found.high:,}]"
        rows.append([name, f"{error:g}", test, size, plus_minus(tested, noise), f"{off:+.1f}"])
        print(*rows[-1], flush=True)
    return rows


def slope_at(found: SampleSize) -> float:
    """Return how fast the power rises with log n at the power asked for."""
    near = [each for each in found.tried if each.n_datasets == found.tried[-1].n_datasets]
    probit = ndtri([np.clip(each.power, 0.001, 0.999) for each in near])
    slope = np.polyfit(np.log([each.n for each in near]), probit, 1)[0]
    return float(slope * math.exp(-0.5 * ndtri(ASKED) ** 2) / math.sqrt(2 * math.pi))


def sensitivity_rows(sets: int) -> list[list[str]]:
    """Test datasets with the smallest error that is detected."""
    rows = []
    settings = [(name, n, False) for name in SCORES for n in SIZES]
    for name, n, weighted in [*settings, *((name, 1000, True) for name in SCORES)]:
        rng = np.random.default_rng([n, weighted])
        p = SCORES[name](rng, n)
        w = rng.exponential(size=n) + 0.05 if weighted else None
        found = sensitivity(p, rng.random(n) < p, weights=w, rng=1)
        for temperature in TEMPERATURES:
            error = found._smallest(temperature, ASKED)
            about = [name, f"{n:,}", "yes" if weighted else "no", f"{temperature:g}"]
            if error is None:
                rows.append([*about, "none", ""])
                continue
            shift = expit(logit(p) / temperature) - p
            rate = p + shift * error / math.sqrt(np.average(shift**2, weights=w))
            many = sets if n < 10_000 else sets // 2
            tests = (
                calibration_test(p, rng.random(n) < rate, weights=w, method="omnibus", rng=seed)
                for seed in range(many)
            )
            tested = share([test.pvalue <= LEVEL for test in tests])
            rows.append([*about, f"{error:.4f}", plus_minus(*tested)])
            print(*rows[-1], flush=True)
    return rows


def time_rows() -> list[list[str]]:
    """Measure the time of each function."""
    world, rows = world_of("a = 2, d = 1.5"), []
    for test, statistic in STATISTICS.items():
        for n in (1000, 10_000):
            if n == 1000 or test != "smooth_ece":
                options: dict[str, Any] = {"true_error": 0.02, "statistic": statistic}
                taken = seconds(lambda n=n, options=options: tu.power(world, n=n, **options))
                rows.append([f"power, {test}, n = {n:,}", taken])
    for error in (0.1, 0.05, 0.02):
        taken = seconds(lambda error=error: tu.sample_size(world, true_error=error))
        rows.append([f"sample_size, omnibus, true error {error:g}", taken])
    for n in SIZES:
        p = world.sample(n, rng=0)
        taken = seconds(lambda p=p: sensitivity(p).smallest_error())
        rows.append([f"sensitivity and its smallest error, n = {n:,}", taken])
    return rows


def seconds(call: Callable[[], object]) -> str:
    """Return the time of one call."""
    start = time.process_time()
    call()
    return f"{time.process_time() - start:.2f}"


def plus_minus(value: float, error: float) -> str:
    """Return a share with its standard error."""
    return f"{value:.3f} ± {error:.3f}"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [heads, ["---"] * len(heads), *rows])


def main(sets: int) -> None:
    """Write the page."""
    page = PAGE_TEXT.format(
        sets=sets,
        slow=sets // SLOW,
        power=table(
            ["scores and curve", "L2 error", "n", "test", "`power`", "tested", "difference"],
            power_rows(sets),
        ),
        size=table(
            ["scores and curve", "L2 error", "test", "`sample_size`", "tested", "distance"],
            size_rows(sets),
        ),
        sensitivity=table(
            ["scores", "n", "weights", "temperature", "smallest error", "tested"],
            sensitivity_rows(sets),
        ),
        times=table(["call", "seconds"], time_rows()),
    )
    write_atomically(PAGE, page.encode())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
