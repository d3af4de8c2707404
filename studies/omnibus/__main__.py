"""Write the page."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from studies.omnibus import columns, matrices
from studies.omnibus.datasets import LEVEL, error_of_ratio, many, tuned
from studies.omnibus.page import PAGE_TEXT, table
from trueup.atomic_write import write_atomically
from trueup.inference.omnibus.statistics import NAMES

PAGE = Path(__file__).parents[2] / "docs" / "omnibus.md"
ROWS = 1000
SIZES = (30, 100, ROWS)
OF_POWER = ("spread", "confident", "cifar100")
WITH_WEIGHTS = ("spread", "cifar100")
OTHER_SIZES = (0.85, 1.15)
ROWS_OF_MATRICES = 300
TUNED_MATRICES = 100
RATIO_AT = matrices.DRAWS.index(1999)


def power_of_columns(pool: ProcessPoolExecutor, sets: int) -> dict[str, Any]:
    """Return the tables of power for one column, and the numbers of their text."""
    rows, ratios, errors, best = [], [], [], []
    others: dict[float, list[tuple[float, float]]] = {factor: [] for factor in OTHER_SIZES}
    for world in OF_POWER:
        for error, most in columns.MOST.items():
            about = (world, ROWS, False, error)
            size = tuned(pool, columns.pvalues, most, columns.best_single, *about)
            rejected = many(pool, columns.pvalues, sets, *about, size)
            power = rejected.mean(axis=0)
            strongest = rejected[:, 1 + int(power[1:].argmax())]
            best.append(strongest.mean())
            ratios.append(power[0] / best[-1])
            errors.append(error_of_ratio(rejected[:, 0], strongest))
            numbers = [*power[1:], power[0], ratios[-1]]
            rows.append([world, error, f"{size:.3f}", *texts(numbers), f"{errors[-1]:.3f}"])
            for factor, found in others.items():
                few = many(pool, columns.pvalues, sets // 4, *about, factor * size).mean(axis=0)
                found.append((few[1:].max(), few[0] / few[1:].max()))
    lowest = int(np.argmin(ratios))
    found = others | {1.0: list(zip(best, ratios, strict=True))}
    sizes = [
        [f"{factor:g}", *texts(np.mean(found[factor], axis=0)), f"{min(r for _, r in pairs):.3f}"]
        for factor, pairs in sorted(found.items())
    ]
    heads = ["scores", "error", "its size", *NAMES, "omnibus", "ratio to the best", "its error"]
    return {
        "power": table(heads, rows),
        "mean": np.mean(ratios),
        "mean_error": math.sqrt(sum(e**2 for e in errors)) / len(errors),
        "least": ratios[lowest],
        "least_error": errors[lowest],
        "sizes": table(["size", "mean power of the best", "mean ratio", "lowest ratio"], sizes),
    }


def power_of_matrices(pool: ProcessPoolExecutor, sets: int) -> str:
    """Return the table of power for ten classes."""

    def best_single(rejected: np.ndarray) -> float:
        return float(rejected[:, 0, 1:].mean(axis=0).max())

    rows = []
    for error, most in matrices.MOST.items():
        few = (ROWS, matrices.DRAWS[:1], error)
        size = tuned(pool, matrices.pvalues, most, best_single, *few, sets=TUNED_MATRICES)
        rejected = many(pool, matrices.pvalues, sets, ROWS, matrices.DRAWS, error, size)
        singles = rejected[:, RATIO_AT, 1:]
        power = singles.mean(axis=0)
        strongest = singles[:, int(power.argmax())].astype(float)
        test = rejected[:, :, 0].astype(float)
        ratio = test[:, RATIO_AT].mean() / strongest.mean()
        of_blocks = power.reshape(len(matrices.BLOCKS), len(NAMES)).max(axis=1)
        numbers = texts([*of_blocks, *test.mean(axis=0), ratio])
        spread = error_of_ratio(test[:, RATIO_AT], strongest)
        rows.append([error, f"{size:.3f}", *numbers, f"{spread:.3f}"])
    singles_of = [f"best single, {block}" for block in matrices.BLOCKS]
    tests = [f"omnibus, {draws:,} draws" for draws in matrices.DRAWS]
    return table(["error", "its size", *singles_of, *tests, "ratio to the best", "its error"], rows)


def false_positives(pool: ProcessPoolExecutor, sets: int) -> dict[str, Any]:
    """Return the table of calibrated models that are rejected, and the numbers of its text."""

    def rates(world: str, *, weighted: bool) -> list[float]:
        about = (columns.pvalues, sets, world)
        return [float(many(pool, *about, n, weighted, "", 0.0)[:, 0].mean()) for n in SIZES]

    found = {world: rates(world, weighted=False) for world in columns.SCORES}
    weighted = {f"{world}, weights": rates(world, weighted=True) for world in WITH_WEIGHTS}
    means = zip(SIZES, np.mean(list(found.values()), axis=0), strict=True)
    rows = [[name, *(f"{x:.4f}" for x in each)] for name, each in (found | weighted).items()]
    draws = matrices.DRAWS[: RATIO_AT + 1]
    rejected = many(pool, matrices.pvalues, sets, ROWS_OF_MATRICES, draws, "", 0.0)[:, :, 0]
    of_matrices = zip(draws, rejected.mean(axis=0), strict=True)
    return {
        "size": table(["scores", *(f"n = {n:,}" for n in SIZES)], rows),
        "means": ", ".join(f"{100 * rate:.2f}% at n = {n:,}" for n, rate in means),
        "matrix_size": ", ".join(f"{100 * x:.2f}% with {few:,} draws" for few, x in of_matrices),
    }


def texts(numbers: Sequence[float] | np.ndarray) -> list[str]:
    """Return numbers with three decimals."""
    return [f"{x:.3f}" for x in numbers]


def main(sets: int) -> None:
    """Compute all tables and write the page."""
    with ProcessPoolExecutor(2) as pool:
        facts = false_positives(pool, 2 * sets) | power_of_columns(pool, sets)
        facts["matrices"] = power_of_matrices(pool, sets // 2)
    of_null = 100 * math.sqrt(LEVEL * (1 - LEVEL) / (2 * sets))
    page = PAGE_TEXT.format(
        **facts,
        sets=sets,
        other_sets=sets // 4,
        matrix_sets=sets // 2,
        null_sets=2 * sets,
        rows=ROWS,
        rows_of_matrices=ROWS_OF_MATRICES,
        draws=columns.DRAWS,
        ratio_draws=matrices.DRAWS[RATIO_AT],
        error=math.sqrt(0.25 / sets),
        one=of_null,
        pooled=of_null / math.sqrt(len(columns.SCORES)),
    )
    write_atomically(PAGE, page.encode())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
