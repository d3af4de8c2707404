"""Intervals of errors on a simplex from their cells, without resampling.

In a cell the outcome fractions are r = E[r] + ε, where ε is multinomial noise. Total variation is
the largest difference over sets of outcomes, so noise changes it by at most as much as the fraction
of some set. Its variance is at most t(1 − t)/n, where t is the fraction of the most common outcome,
or 1/2 if that is larger. All bounds are for norms of normal noise, as in `binned_errors`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from trueup._typing import Floats
from trueup.estimators.base import Ends
from trueup.inference.confidence_intervals.binned_errors import CLEAR, HALF_NORMAL, norm_noise
from trueup.tables import CellTable


@dataclass(frozen=True, eq=False)
class _Cells:
    """Cells with the noise of their outcome fractions, which are shrunk toward equal ones."""

    share: Floats
    gap: Floats  # (C, m) outcome share − mean prediction
    spread: Floats  # (C, m) variance of each share
    error: Floats  # (C,) largest standard error of the share of any set of outcomes

    @classmethod
    def of(cls, table: CellTable) -> _Cells:
        n, m = table.count[:, None].astype(np.float64), table.score.shape[1]
        smoothed = (n * table.mean_label + 2 / m) / (n + 2)
        commonest = np.maximum(smoothed.max(axis=1), 0.5)
        return cls(
            table.share,
            table.mean_label - table.mean_score,
            smoothed * (1 - smoothed) / n,
            np.sqrt(commonest * (1 - commonest) / table.count),
        )

    def middle(self, clear: float) -> Floats:
        """Upper bound on the median distance due to noise, for outcomes whose sign is not clear."""
        error = np.sqrt(self.spread)
        unclear = np.abs(self.gap) <= clear * error
        return np.asarray(0.5 * HALF_NORMAL * np.sum(error * unclear, axis=1))


def cell_ends(table: CellTable, distance: str, norm: float, level: float) -> Ends:
    """Return the interval of (Σ s d^p)^(1/p): any p for ``"tv"``, p = 1 for ``"squared"``."""
    from scipy.special import ndtri

    cells = _Cells.of(table)
    miss = (1 - level) / 2
    z = float(ndtri(1 - miss))
    if distance == "squared":
        return _squared(cells, z)
    away = 0.5 * np.abs(cells.gap).sum(axis=1)
    if math.isinf(norm):
        # Which cell is the worst is no matter of chance; that none seems worse than it is, is.
        surer = float(ndtri(1 - miss / len(away)))
        low = float((away - cells.middle(math.inf) - surer * cells.error).max())
        return Ends(max(0.0, low), min(1.0, float((away + z * cells.error).max())))
    plugin = float(np.sum(cells.share * away**norm) ** (1 / norm))
    if norm == 1:
        lipschitz, middle = (
            float(np.sqrt(np.sum((cells.share * cells.error) ** 2))),
            float(np.sum(cells.share * cells.middle(CLEAR))),
        )
    else:
        # Minkowski: a distance is at most its median and a normal variable beyond it.
        lipschitz, beyond = norm_noise(cells.share, cells.error, norm)
        each = cells.middle(math.inf)
        middle = float(np.sum(cells.share * each**norm) ** (1 / norm)) + beyond
    low, high = plugin - middle - z * lipschitz, plugin + z * lipschitz
    return Ends(max(0.0, low), min(1.0, high))


def _squared(cells: _Cells, z: float) -> Ends:
    """Return ends for Σ s ‖δ‖², from those of its root, a norm of δ + ε.

    The variance in any direction is at most twice that of the most variable outcome (Gershgorin).
    """
    plugin = math.sqrt(float(np.sum(cells.share[:, None] * cells.gap**2)))
    middle = math.sqrt(float(np.sum(cells.share[:, None] * cells.spread)))
    lipschitz = math.sqrt(float((cells.share * 2 * cells.spread.max(axis=1)).max()))
    low, high = max(0.0, plugin - middle - z * lipschitz), plugin + z * lipschitz
    return Ends(low**2, min(2.0, high**2))
