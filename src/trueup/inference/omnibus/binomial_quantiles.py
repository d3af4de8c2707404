"""Binomial numbers from uniform ones: the same random numbers for every rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trueup._typing import Floats

NORMAL = 10.0  # variance from which a quantile comes from that of a normal distribution
FARTHEST = 9.0  # standard deviations from the mean, and as many more counts, that are looked at


@dataclass(frozen=True, eq=False)
class Quantiles:
    """Numbers in [0, 1), a row per binomial distribution, and the same of a normal one."""

    uniform: Floats
    normal: Floats

    @classmethod
    def drawn(cls, shape: tuple[int, int], rng: np.random.Generator) -> Quantiles:
        """Draw numbers, one of each row in every part of [0, 1) of the same length.

        So they are spread more evenly than independent ones (McKay et al. 1979).
        """
        from scipy.special import ndtri

        part = rng.permuted(np.tile(np.arange(shape[1]), (shape[0], 1)), axis=1)
        uniform = (part + rng.random(shape)) / shape[1]
        return cls(uniform, ndtri(uniform))

    def part(self, n_rows: int, columns: slice) -> Quantiles:
        """Return some of the numbers."""
        return Quantiles(self.uniform[:n_rows, columns], self.normal[:n_rows, columns])

    def of_binomial(self, size: Floats, rate: Floats) -> Floats:
        """Return the quantiles of Binomial(size, rate) of each row.

        Where the variance is 10 or more they are those of a normal distribution with the skewness
        of the binomial (Cornish & Fisher 1938), which are no whole numbers.
        """
        found = np.empty(self.uniform.shape)
        variance = size * rate * (1 - rate)
        near = variance >= NORMAL
        for row in np.flatnonzero(~near):
            found[row] = _exact(self.uniform[row], size[row], rate[row], variance[row])
        if near.any():
            skew, z = (1 - 2 * rate[near, None]) / 6, self.normal[near]
            shape = np.sqrt(variance[near, None]) + skew * z
            found[near] = (size * rate)[near, None] - skew + z * shape
        return found


def _exact(uniform: Floats, size: float, rate: float, variance: float) -> Floats:
    from scipy.special import betainc

    mean, far = size * rate, FARTHEST * (np.sqrt(variance) + 1)
    first, last = max(np.floor(mean - far), 0.0), min(np.ceil(mean + far), size)
    count = np.arange(first, last)
    upto = 1 - betainc(count + 1, size - count, rate)
    return np.asarray(first + np.searchsorted(upto, uniform, side="right"), np.float64)
