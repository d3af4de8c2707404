"""Bins with estimates of the noise in each, the input of every interval over bins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trueup._typing import Floats
from trueup.tables import BinTable, BinTables


@dataclass(frozen=True, eq=False)
class Bins:
    """Bins of one table or of all classes, with estimates of the noise in each.

    Attributes
    ----------
    share
        Weight in the average; for the bin of a class, the weight of the class times that of the
        bin.
    score, rate
        Mean score and mean label.
    q
        Σw²/(Σw)², which is 1/n without weights.
    noise
        Unbiased estimate of the noise in the squared gap. For a single row it does not exist: it is
        then 0, or ``spread`` if bins cannot be merged.
    spread
        Variance of a label, shrunk toward 1/4 (Laplace) so that a bin with equal labels has noise.
    dependence
        Largest factor by which dependence between the classes of a row can multiply a variance.
    debiasable
        Whether ``noise`` is unbiased; it is not if a row occurs several times in a bin.
    population
        Whether scores are random too; then ``spread`` is that of score − label.
    unseen
        For a population: the largest possible squared gap of a bin without rows; 0 if no bin is
        empty.
    """

    share: Floats
    score: Floats
    rate: Floats
    q: Floats
    noise: Floats
    spread: Floats
    dependence: float = 1.0
    debiasable: bool = True
    population: bool = False
    unseen: float = 0.0

    @classmethod
    def of(
        cls,
        table: BinTable | BinTables,
        *,
        independent: bool = True,
        population: bool = False,
    ) -> Bins:
        """Concatenate the bins of a table, or of all classes, without empty bins."""
        parts = [_of_table(part, share, population) for share, part in table.parts]
        classes = max(table.sets_per_row, 1 if independent else 2)
        # Scores of a row's classes depend on each other in ways that only Cauchy-Schwarz bounds.
        dependence = classes if population else min(classes, 2)
        names = ("share", "score", "rate", "q", "noise", "spread")
        return cls(
            **{name: np.concatenate([getattr(part, name) for part in parts]) for name in names},
            dependence=float(dependence),
            debiasable=independent,
            population=population,
            unseen=max(part.unseen for part in parts),
        )

    @property
    def gap(self) -> Floats:
        """Mean label − mean score."""
        return self.rate - self.score

    @property
    def error(self) -> Floats:
        """Standard error of each gap."""
        return np.sqrt(self.spread * self.q)


def _of_table(table: BinTable, share: float, population: bool) -> Bins:
    unseen = 0.0
    if population and not table.count.all():
        empty = table.count == 0
        farthest = np.maximum(table.edges[1:][empty], 1 - table.edges[:-1][empty])
        unseen = float(farthest.max()) ** 2
    table = table.nonempty()
    q, rate = table.concentration, table.mean_label
    smoothed = (rate + q) / (1 + 2 * q)
    spread = smoothed * (1 - smoothed)
    sums = table.sums
    if population:
        square = (sums.score2 - 2 * sums.cross + sums.label2) / table.weight
        variance = np.maximum(square - table.gap**2, 0)
        spread = np.maximum(spread, variance)
    else:
        variance = np.maximum(sums.label2 / table.weight - rate**2, 0)
    several = q < 1
    lone = spread if population else 0.0  # bins of a population are not merged: a guess must do
    noise = np.where(several, variance * q / np.where(several, 1 - q, 1), lone)
    return Bins(table.share * share, table.mean_score, rate, q, noise, spread, unseen=unseen)
