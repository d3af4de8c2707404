"""Residuals with the points they sit at, bin by bin: what every local error is computed from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from trueup._typing import Floats, Ints
from trueup.errors import Argument, InputError, must_be, required
from trueup.forecasts import Forecasts
from trueup.forecasts.arrays import describe, is_missing
from trueup.lens import Lens, Pairs
from trueup.local.bandwidth import default_bandwidth, scale_of
from trueup.local.device import Device, sums_on
from trueup.local.features import some_columns


class LocalSums(NamedTuple):
    """Around each row: the kernel-weighted mean of observed − predicted, and the weight near."""

    gap: Floats
    mass: Floats
    bandwidth: float | None
    method: str


@dataclass(frozen=True, eq=False)
class LocalProblem:
    """Scores and outcomes in confidence bins, with a point, or a group, for each."""

    rows: Ints  # numbers of the rows of the forecasts that are looked at
    pairs: Pairs
    edges: Floats  # inner edges of the bins
    bins: Ints  # the bin of each row
    points: Floats  # (n, d) standardised and reduced features; no columns for groups
    groups: Ints | None  # the number of each row's group, for the kernel of groups
    device: Device | None = None  # where the sums are found; None for here

    @property
    def n_dims(self) -> int:
        """Dimensions of the points."""
        return int(self.points.shape[1])

    def sums(self, kernel: str, bandwidth: float | None) -> LocalSums:
        """Return the weighted mean of y − p around each row and the row itself (eq. 4 of Luo)."""
        p, y, w = self.pairs.p, self.pairs.y, self.pairs.w
        weight = np.ones(len(p)) if w is None else w
        residual = weight * (p.astype(np.float64) - y.astype(np.float64))
        values = np.column_stack([weight, residual])
        gamma = bandwidth
        if self.groups is None and gamma is None:
            gamma = default_bandwidth(self.n_dims, kernel)
        scale = math.inf if gamma is None else scale_of(gamma, self.n_dims, kernel)
        if math.isinf(scale):
            sums, method = self._within_cells(values), "sums of groups"
        else:
            found = sums_on(
                self.device,
                self.points,
                values,
                self.bins,
                kernel=kernel,  # type: ignore[arg-type]
                scale=scale,
            )
            sums, method = found.sums, found.method
        mass = sums[:, 0]
        gap = 0.0 - np.clip(sums[:, 1] / mass, -1, 1)  # a difference, so that no gap is −0.0
        return LocalSums(gap, mass, gamma, method)

    def _within_cells(self, values: Floats) -> Floats:
        """Sums over all rows of the same bin and group: every similarity is 1 or 0."""
        cell = self.bins if self.groups is None else self.groups * (len(self.edges) + 1) + self.bins
        _, place = np.unique(cell, return_inverse=True)
        place = place.reshape(-1)
        return np.column_stack([np.bincount(place, column)[place] for column in values.T])


def group_numbers(forecasts: Forecasts) -> Ints:
    """Numbers 0 … G−1 of the groups, which must be known for every row."""
    if forecasts.groups is None:
        set_in = (Argument("groups"), " in Forecasts.from_arrays")
        raise required("features", ("pass the group of each row, or set ", *set_in))
    if forecasts.groups.ndim != 1:
        raise must_be("features", "one group per row", describe(forecasts.groups))
    numbers: dict[Any, int] = {}
    found = np.empty(forecasts.n, np.int64)
    for row, name in enumerate(forecasts.groups.tolist()):
        if is_missing(name):
            raise must_be("features", "have a group in every row", name, row=row)
        found[row] = numbers.setdefault(name, len(numbers))
    return found


def features_of(forecasts: Forecasts) -> Floats:
    """Return the features, which there must be, in float64."""
    if forecasts.features is None:
        name = Argument("features")
        raise required("features", ("pass ", name, ", or set ", name, " in Forecasts.from_arrays"))
    return some_columns(forecasts.features)


def pairs_and_rows(lens: Lens, forecasts: Forecasts) -> tuple[Pairs, Ints]:
    """Return the pairs in the region of a lens, and the rows they come from."""
    if not lens.one_score:
        hint = "OneVsRest(c) evaluates one class, TopLabel() the predicted one"
        raise must_be("lens", "yield one score per row", lens, hint=hint)
    every = lens.everywhere.pairs(forecasts)
    if lens.where is None:
        return every, np.arange(len(every))
    rows = np.flatnonzero(lens.inside(every.p))
    if len(rows) == 0:
        raise InputError("where", "selects no predictions")
    return every.take(rows), rows
