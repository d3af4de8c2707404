"""Binomial numbers from uniform numbers, which are the same for every rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trueup._typing import Floats

NORMAL = 10.0  # variance from which a quantile comes from that of a normal distribution
FARTHEST = 9.0  # standard deviations from the mean, and as many more counts, that are looked at


@dataclass(frozen=True, eq=False)
class Quantiles:
    """Uniform numbers, one row per binomial distribution, and their normal quantiles."""

    uniform: Floats
    normal: Floats

    @classmethod
    def drawn(cls, shape: tuple[int, int], rng: np.random.Generator) -> Quantiles:
        """Draw numbers so that each row has one in every equally long part of [0, 1).

        They are spread more evenly than independent numbers (McKay et al. 1979).
        """
        from scipy.special import ndtri

        part = np.tile(np.arange(shape[1], dtype=np.int32), (shape[0], 1))
        rng.permuted(part, axis=1, out=part)
        uniform = rng.random(shape)
        uniform += part
        uniform /= shape[1]
        return cls(uniform, ndtri(uniform))

    def part(self, n_rows: int, columns: slice) -> Quantiles:
        """Return some of the numbers."""
        return Quantiles(self.uniform[:n_rows, columns], self.normal[:n_rows, columns])

    def of_binomial(self, size: Floats, rate: Floats) -> Floats:
        """Return the quantiles of Binomial(size, rate) of each row.

        If the variance is 10 or more, they are approximated by a normal distribution with the
        skewness of the binomial (Cornish & Fisher 1938), and are not whole numbers.
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
