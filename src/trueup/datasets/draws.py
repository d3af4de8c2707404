"""Random numbers that are the same on every platform and with every version of NumPy.

They come from a hash of whole numbers and use no function of the C library but `exp` and `log`,
whose last digits differ between platforms. Results of these are rounded before they are used.
"""

from __future__ import annotations

from zlib import crc32

import numpy as np

from trueup._typing import Floats, Ints
from trueup.engines.draw_keys import STEP, keys_of, mixed

DIGITS = 6
"""Decimals of true probabilities, so that labels do not depend on the last digit of `exp`."""


class Draws:
    """Streams of random numbers for a dataset and a seed; each call uses a new stream.

    >>> Draws("clinic", 0).uniform(2).round(4).tolist()
    [0.16, 0.0055]
    """

    def __init__(self, name: str, seed: int) -> None:
        salt = mixed(np.array([crc32(name.encode())], np.uint64))
        self._seed, self._stream = int(mixed(salt + np.uint64(seed))[0]), 0

    def uniform(self, n: int) -> Floats:
        """Return n numbers from [0, 1), each a multiple of 2^-53."""
        self._stream += 1
        key = keys_of(self._seed, self._stream)[-1]
        row = np.arange(1, n + 1, dtype=np.uint64)
        return np.asarray((mixed(key + row * STEP) >> np.uint64(11)) * 2.0**-53)

    def normal(self, n: int) -> Floats:
        """Return n numbers with mean 0 and variance 1, nearly normal: sums of 12 uniform ones."""
        total = self.uniform(n)
        for _ in range(11):
            total = total + self.uniform(n)
        return total - 6.0

    def choice(self, shares: list[float], n: int) -> Ints:
        """Return n whole numbers, k with probability ``shares[k]``; shares sum to 1."""
        edges = np.cumsum(shares)[:-1]
        return np.searchsorted(edges, self.uniform(n), side="right")

    def labels(self, true_probs: Floats) -> Ints:
        """Return a label for each row of (n,) or (n, K) true probabilities."""
        u = self.uniform(len(true_probs))
        if true_probs.ndim == 1:
            return (u < true_probs).astype(np.int64)
        edges = true_probs[:, :-1].cumsum(axis=1)
        return np.asarray((u[:, None] >= edges).sum(axis=1))


def logistic(x: Floats) -> Floats:
    """Return 1/(1 + e^-x), rounded."""
    return np.asarray(np.round(1 / (1 + np.exp(-x)), DIGITS))


def logit(p: Floats) -> Floats:
    """Return log p/(1 − p)."""
    return np.asarray(np.log(p / (1 - p)))
