"""Rows that were kept, and the weighted mean of what happened around a new row."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from trueup.engines.base import Floats, Ints
from trueup.local.bandwidth import scale_of
from trueup.local.sums import kernel_sums_by_bin


@dataclass(frozen=True, eq=False)
class Around:
    """What is around new rows, in their bins, relative to the nearest row there.

    Attributes
    ----------
    weight, total
        Sums of weights and of values × weights, each times k(x, x_i) / k(x, nearest).
    nearest
        Distance of the nearest row of the bin; infinite where the bin is empty.
    """

    weight: Floats
    total: Floats
    nearest: Floats


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Points in bins with weights and weighted values; a bandwidth of None sees all of a bin."""

    points: Floats
    bins: Ints
    weights: Floats
    totals: Floats
    kernel: str
    bandwidth: float | None

    @property
    def scale(self) -> float:
        """What distances are divided by."""
        if self.bandwidth is None:
            return math.inf
        return scale_of(self.bandwidth, self.points.shape[1], self.kernel)

    def around(self, points: Floats | None, bins: Ints) -> Around:
        """Return the sums around new points; without points, those over their bins."""
        values = np.column_stack([self.weights, self.totals])
        if points is None or math.isinf(self.scale):
            most = 1 + max(int(bins.max(initial=0)), int(self.bins.max(initial=0)))
            sums = np.zeros((most, 2))
            np.add.at(sums, self.bins, values)
            weight, total = sums[bins].T
            return Around(weight, total, np.where(weight > 0, 0.0, np.inf))
        found = kernel_sums_by_bin(
            self.points,
            values,
            self.bins,
            points,
            bins,
            kernel=self.kernel,  # type: ignore[arg-type]
            scale=self.scale,
            relative=True,
        )
        return Around(found.sums[:, 0], found.sums[:, 1], found.nearest)

    def similarity(self, distance: Floats) -> Floats:
        """Return the kernel of distances; 0 at infinity whatever the bandwidth."""
        with np.errstate(over="ignore", invalid="ignore"):
            apart = distance / self.scale
            exponent = apart * apart / 2 if self.kernel == "gaussian" else apart
        return np.where(np.isinf(distance), 0.0, np.exp(-exponent))
