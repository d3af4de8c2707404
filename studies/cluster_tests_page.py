"""The text of docs/cluster-tests.md and its tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from studies.cluster_worlds import NAMES, World
from studies.omnibus.page import table

TESTS = ("cluster signs", "omnibus")
AMOUNTS = {0.0: "none", 0.2: "moderate", 0.6: "strong"}
OTHER_FORMS = {
    "logit": "shared shift of logits, sd {:g}",
    "beta": "beta-binomial, {:g}",
    "some": "identical clusters, {:g}",
}

PAGE_TEXT = """# Tests of rows in clusters: false-positive rate and power

`python -m studies.cluster_tests {sets}` writes this page: {sets:,} datasets per number where no
other number is given, {draws} draws, level 5%. At 5% a standard error is {error:.2f} points with
{sets:,} datasets.

Rows of a cluster share a normal number: the label of a row is 1 if the normal distribution
function of √ρ·shared + √(1 − ρ)·own is below its score, so that P(label = 1 | score) is the score
for any ρ. ρ is 0 (none), 0.2 (moderate) or 0.6 (strong). Scores are independent: logit-normal
with standard deviation 1.5 (spread), uniform, beta(4, 1), and beta(1.18, 0.108), which is near 1.
The sizes of "unequal" clusters are lognormal, with a logarithm of standard deviation 1.

## Calibrated models that are rejected

`method="cluster-signs"` with its default statistic, and `method="omnibus"`:

{size}

{summary}

The default number of draws is {default_draws}. {more_draws_sets:,} datasets by {draws} and by
{default_draws} draws:

{more_draws}

### Other dependence

Dependence of another form, or other numbers of clusters; {other_sets:,} datasets.

- Shared shift: the logit of every row of a cluster moves by the same normal number. The score is
  the mean over such numbers.
- Beta-binomial: the rows of a cluster share the quantile of beta distributions whose means are
  their scores. The number is the intra-cluster correlation.
- Identical clusters: one number decides all labels in that fraction of clusters. Rows of the other
  clusters are independent.
- One score: all rows of a cluster have the same score. Few clusters then share a bin, signs show
  little, and tests are conservative.

{other}

{other_summary}

### Another statistic

`method="cluster-signs"` with `CumulativeError()`, strong dependence and {cumulative_sets:,}
datasets:

{cumulative}

### Little information

Strong dependence and few clusters, or scores so close to 1 that few rows have a label of 0,
beta(2.38, 0.038); {hard_sets:,} datasets. In 20 such clusters about 1.6 labels are 0. The signs of
five clusters have 16 patterns, apart from their direction, so hardly any p-value is below 5%.

{hard}

## Power

Logits are off by {shift}, dependence is moderate and scores are uniform; {power_sets:,} datasets:

{power}

"Independent rows" is the omnibus test of the same rows without clusters, which is not valid here.

## Unconditional resampling

Calibrated models that `method="consistency-unconditional"` rejects, {rows_draws} draws,
{rows_sets:,} datasets:

{rows}
"""

Rates = Mapping[str, np.ndarray]
Worlds = Mapping[str, Sequence[World]]


def page(sets: Mapping[str, int], worlds: Worlds, found: Rates, settings: dict[str, Any]) -> str:
    """Return the page, from the share of datasets that each test rejects in each world."""
    level = settings["level"]
    return PAGE_TEXT.format(
        sets=sets["size"],
        error=100 * math.sqrt(level * (1 - level) / sets["size"]),
        **{f"{part.replace(' ', '_')}_sets": number for part, number in sets.items()},
        size=_size(worlds["size"], found["size"]),
        summary=_summary(worlds["size"], found["size"]),
        more_draws=_more_draws(worlds["more draws"], found["more draws"], settings),
        other=_other(worlds["other"], found["other"]),
        other_summary=_extremes("In these worlds", found["other"]),
        cumulative=table(
            ["clusters of 5", "scores", "rejected"],
            [
                [str(world.n_clusters), NAMES[world.scores], *_rates(rates)]
                for world, rates in zip(worlds["cumulative"], found["cumulative"], strict=True)
            ],
        ),
        hard=table(
            ["scores", "clusters of 5", *TESTS],
            [
                [world.scores, str(world.n_clusters), *_rates(rates)]
                for world, rates in zip(worlds["hard"], found["hard"], strict=True)
            ],
        ),
        power=table(
            ["clusters", "rows in each", *TESTS, "independent rows"],
            [
                [str(world.n_clusters), str(world.rows), *(f"{rate:.3f}" for rate in rates)]
                for world, rates in zip(worlds["power"], found["power"], strict=True)
            ],
        ),
        rows=_rows(worlds["rows"], found["rows"]),
        **settings,
    )


def _rates(rates: np.ndarray) -> list[str]:
    return [f"{rate:.4f}" for rate in rates]


def _size(worlds: Sequence[World], rates: np.ndarray) -> str:
    """Return a line per kind of clusters: rates of the first test for all scores, then others."""
    by_kind: dict[tuple[Any, ...], list[np.ndarray]] = {}
    for world, found in zip(worlds, rates, strict=True):
        by_kind.setdefault(world[1:], []).append(found)
    lines = [
        [str(n), f"{rows}, {sizes}", AMOUNTS[amount], *_rates(np.array(found).T.reshape(-1))]
        for (n, rows, sizes, _, amount), found in by_kind.items()
    ]
    heads = ["clusters", "rows in each", "dependence"]
    heads += [f"{test}, {name}" for test in TESTS for name in NAMES.values()]
    return table(heads, lines)


def _extremes(where: str, rates: np.ndarray) -> str:
    sentences = []
    for test, found in zip(TESTS, rates.T, strict=True):
        mean, least, most = (100 * x for x in (found.mean(), found.min(), found.max()))
        sentences.append(f"{where}, {test}: {mean:.1f}% on average, {least:.1f}% to {most:.1f}%.")
    return "\n".join(sentences)


def _summary(worlds: Sequence[World], rates: np.ndarray) -> str:
    numbers = np.array([world.n_clusters for world in worlds])
    return "\n".join(
        _extremes(f"With {n} clusters", rates[numbers == n]) for n in np.unique(numbers)
    )


def _more_draws(worlds: Sequence[World], rates: np.ndarray, settings: dict[str, Any]) -> str:
    lines = [
        [str(world.n_clusters), NAMES[world.scores], AMOUNTS[world.amount], *_rates(found)]
        for world, found in zip(worlds, rates, strict=True)
    ]
    draws = (settings["draws"], settings["default_draws"])
    heads = ["clusters of 5", "scores", "dependence"]
    return table([*heads, *(f"{test}, {many} draws" for many in draws for test in TESTS)], lines)


def _other(worlds: Sequence[World], rates: np.ndarray) -> str:
    lines = []
    for world, found in zip(worlds, rates, strict=True):
        form = OTHER_FORMS.get(world.form, AMOUNTS.get(world.amount, "")).format(world.amount)
        rows = f"{world.rows}, {world.sizes}"
        lines.append([str(world.n_clusters), rows, form, NAMES[world.scores], *_rates(found)])
    return table(["clusters", "rows in each", "dependence", "scores", *TESTS], lines)


def _rows(worlds: Sequence[World], rates: np.ndarray) -> str:
    by_scores: dict[str, dict[int, float]] = {}
    for world, found in zip(worlds, rates, strict=True):
        by_scores.setdefault(world.scores, {})[world.rows] = float(found[0])
    numbers = list(next(iter(by_scores.values())))
    lines = [
        [NAMES[scores], *(f"{of_scores[n]:.4f}" for n in numbers)]
        for scores, of_scores in by_scores.items()
    ]
    return table(["scores", *(f"n = {n:,}" for n in numbers)], lines)
