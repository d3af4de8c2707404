"""The page of the coverage study: lowest cells first, then one table for each estimator."""

from __future__ import annotations

import math

Cells = dict[str, dict[int, list[float]]]

ABOUT = """# Coverage of the intervals

A {level:.0%} interval should cover its target in {level:.0%} of datasets.
`python -m studies.coverage` writes this page: the coverage over {repetitions:,} datasets for each
world and n, in the ten worlds (simulated models) of Roelofs et al. (2022) and in their calibrated
twins. The target is the binned error for the scores and bins of the dataset, with random labels;
for the sweep, it uses the selected bins. It is a lower bound on the true calibration error for
these scores. Before an interval for an L2 or a debiased error is computed, single-row bins are
merged; the target is then the error in the merged bins.

*Naive* is a percentile bootstrap ({resamples} resamples of rows) of the plug-in error in the same
bins, for the same target, over {naive:,} of the datasets. The plug-in error is biased upwards,
and resampling adds the bias once more. The standard error is that of a coverage of {level:.0%}.
"""


def page(totals: dict[str, Cells], repetitions: int, level: float, resamples: int) -> str:
    """Return the whole page."""
    some = next(iter(next(iter(totals.values())).values()))
    naive = int(next(iter(some.values()))[4])
    text = [
        ABOUT.format(level=level, repetitions=repetitions, resamples=resamples, naive=naive),
        *_lowest(totals, level),
    ]
    for name, cells in totals.items():
        text += ["", *_table(name, cells)]
    return "\n".join(text) + "\n"


def _lowest(totals: dict[str, Cells], level: float) -> list[str]:
    lines = [
        "| estimator | lowest coverage | standard error | world | n | lowest naive |",
        "|---|---|---|---|---|---|",
    ]
    for name, cells in totals.items():
        every = [(world, n, sums) for world, sizes in cells.items() for n, sums in sizes.items()]
        world, n, sums = min(every, key=lambda each: _coverage(each[2][:4]))
        least = _coverage(sums[:4])
        error = math.sqrt(level * (1 - level) / sums[0])
        naive = min(_coverage(each[2][4:]) for each in every)
        lines.append(f"| {name} | {least:.4f} | {error:.4f} | {world} | {n} | {naive:.3f} |")
    return lines


def _table(name: str, cells: Cells) -> list[str]:
    sizes = sorted(next(iter(cells.values())))
    heads = [f"n = {n} | width | naive | width" for n in sizes]
    lines = [
        f"## {name}",
        "",
        f"| world | {' | '.join(heads)} |",
        "|---" * (1 + 4 * len(sizes)) + "|",
    ]
    for world, row in cells.items():
        numbers = []
        for n in sizes:
            ours, naive = row[n][:4], row[n][4:]
            numbers += [f"{_coverage(ours):.3f}", f"{ours[3] / ours[0]:.4f}"]
            numbers += [f"{_coverage(naive):.2f}", f"{naive[3] / naive[0]:.4f}"]
        lines.append(f"| {world} | {' | '.join(numbers)} |")
    return lines


def _coverage(sums: list[float]) -> float:
    sets, low, high, _ = sums
    return 1 - (low + high) / sets
