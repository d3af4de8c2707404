"""Rejections of the test of a debiased squared error if the true rates were different."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from trueup._typing import Floats
from trueup.engines.blocks import steps
from trueup.inference.hypothesis_tests.null_distribution import Outcomes
from trueup.tables import BinTable

DRAWS_AT_ONCE = 100  # a multiple of 4, in which BLAS takes rows: values are those of one draw


@dataclass(frozen=True, eq=False)
class BinnedDetections:
    """Rejections of many draws with changed rates, for a threshold that changes as 1/rows."""

    table: BinTable
    threshold: float
    negligible: ClassVar[float] = 0.0

    @property
    def score(self) -> Floats:
        """Mean score of each bin."""
        return self.table.mean_score

    @property
    def share(self) -> Floats:
        """Fraction of the weight in each bin."""
        return self.table.share

    def detections(self, gap: Floats, rows: float, n_draws: int) -> Iterator[Outcomes]:
        """Return which draws are rejected if the rates of the bins are off by a gap, in parts."""
        score = np.clip(self.score, 0, 1)
        rate = np.clip(score + gap, 0, 1)
        sizes = effective_sizes(self.table)
        all_rows = float(np.sum(sizes))
        size = np.maximum(np.floor(sizes * rows / all_rows + 1e-9), 1)
        whole, chance = size.astype(np.int64), np.random.default_rng(0)
        for first, last in steps(n_draws, DRAWS_AT_ONCE):
            mean = chance.binomial(whole, rate, (last - first, len(size))) / size
            noise = mean * (1 - mean) / np.maximum(size - 1, 1)
            value = ((score - mean) ** 2 - noise) @ self.share
            yield value > self.threshold * all_rows / rows


def effective_sizes(table: BinTable) -> Floats:
    """Return the number of rows of each bin; with weights, the effective number."""
    return np.maximum(1 / table.concentration, 1.0)
