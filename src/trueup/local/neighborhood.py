"""Stored rows, and the weighted mean of their values around a new row."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from trueup._typing import Floats, Ints
from trueup.local.bandwidth import scale_of
from trueup.local.device import Device, sums_on
from trueup.tables import ResultTable

FAR = 0.01
"""A row is far from the data where even the nearest row of its bin is less similar than this."""


class Around(NamedTuple):
    """Sums around new rows in their bins, relative to the nearest row there."""

    weight: Floats  # sum of weights, each times k(x, x_i) / k(x, nearest)
    total: Floats  # sum of values × weights, times the same
    nearest: Floats  # distance of the nearest row of the bin; infinite where the bin is empty


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Points in bins with weights and weighted values; with bandwidth None, a whole bin is used."""

    points: Floats
    bins: Ints
    weights: Floats
    totals: Floats
    kernel: str
    bandwidth: float | None

    @property
    def scale(self) -> float:
        """The divisor of distances."""
        if self.bandwidth is None:
            return math.inf
        return scale_of(self.bandwidth, self.points.shape[1], self.kernel)

    def around(self, points: Floats | None, bins: Ints, device: Device | None = None) -> Around:
        """Return the sums around new points, computed on a device; without points, over bins."""
        if points is not None and math.isfinite(self.scale):
            return self._met(points, bins, device, self.scale)
        most = 1 + max(int(bins.max(initial=0)), int(self.bins.max(initial=0)))
        sums = np.zeros((most, 2))
        np.add.at(sums, self.bins, np.column_stack([self.weights, self.totals]))
        weight, total = sums[bins].T
        return Around(weight, total, np.where(weight > 0, 0.0, np.inf))

    def nearest(
        self, points: Floats | None, bins: Ints, device: Device | None = None
    ) -> ResultTable:
        """Return the bin of new points, its weight, and distance and kernel of the nearest row."""
        if points is not None and math.isinf(self.scale):  # any scale tells what is nearest
            distance = self._met(points, bins, device, 1.0).nearest
        else:
            distance = self.around(points, bins, device).nearest
        similarity = self.similarity(distance)
        weight = np.bincount(self.bins, self.weights, minlength=int(bins.max(initial=0)) + 1)
        return ResultTable(
            {
                "bin": bins,
                "weight": weight[bins],
                "nearest": distance,
                "similarity": similarity,
                "far": similarity < FAR,
            }
        )

    def _met(self, points: Floats, bins: Ints, device: Device | None, scale: float) -> Around:
        kept = (self.points, np.column_stack([self.weights, self.totals]), self.bins)
        how: dict[str, Any] = {"kernel": self.kernel, "scale": scale, "relative": True}
        found = sums_on(device, *kept, points, bins, **how)
        return Around(found.sums[:, 0], found.sums[:, 1], found.nearest)

    def similarity(self, distance: Floats) -> Floats:
        """Return the kernel of distances; it is 0 at infinity for every bandwidth."""
        with np.errstate(over="ignore", invalid="ignore"):
            apart = distance / self.scale
            exponent = apart * apart / 2 if self.kernel == "gaussian" else apart
        return np.where(np.isinf(distance), 0.0, np.exp(-exponent))

    def is_whole(self) -> bool:
        """Whether there is a finite point, a positive weight, and values for every row."""
        floats = (self.points, self.weights, self.totals)
        same = all(each.dtype == np.float64 and len(each) == len(self.bins) for each in floats)
        return (
            same
            and self.points.ndim == 2
            and bool(np.isfinite(self.points).all() and (self.weights > 0).all())
            and bool(((self.totals >= 0) & (self.totals <= self.weights)).all())
        )
