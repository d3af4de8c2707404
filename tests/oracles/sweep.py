"""Monotonic sweep (Roelofs, Algorithm 1), literally: every b from 2 to n is tried in turn."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

from .arithmetic import Floats, Ints, exact_mean, integer_weights
from .bins import Bins, equal_mass, uniform_width
from .errors import combine, plug_in_power, rooted
from .lenses import class_wise


class Sweep(NamedTuple):
    """The b the sweep stopped at, its non-empty bins, how many they are, and the L_p error."""

    b: int
    bins: Bins
    bins_made: int
    value: float


def sweep(
    p: Floats,
    y: Floats,
    norm: float = 1,
    weights: Floats | None = None,
    scheme: str = "mass",
) -> Sweep:
    """Stop at the first b whose mean labels are not non-decreasing; answer with b - 1 bins."""
    n = len(p)
    b = 1
    for tried in range(2, n + 1):
        if not is_monotone(y, _bins(p, tried, weights, scheme), weights):
            break
        b = tried
    bins = [rows for rows in _bins(p, b, weights, scheme) if rows]
    value = rooted(plug_in_power(p, y, bins, norm, weights), norm)
    return Sweep(b, bins, len(bins), value)


def is_monotone(y: Floats, bins: Bins, weights: Floats | None = None) -> bool:
    """Mean labels of the non-empty bins never fall, compared as exact fractions."""
    w = integer_weights(weights, len(y))
    means = [exact_mean(y, w, rows) for rows in bins if rows]
    return all(means[j] <= means[j + 1] for j in range(len(means) - 1))


def _bins(p: Floats, b: int, weights: Floats | None, scheme: str) -> Bins:
    if scheme == "mass":
        return equal_mass(p, b, weights)
    if scheme == "width":
        return uniform_width(p, b)
    raise ValueError("scheme must be 'mass' or 'width'")


def class_wise_sweep(
    probs: ArrayLike,
    labels: Ints,
    norm: float = 1,
    weights: Floats | None = None,
    scheme: str = "mass",
    class_weights: Floats | None = None,
) -> float:
    """A sweep of its own for every class; p-th powers averaged, then one root."""
    powers = []
    for p, y in class_wise(probs, labels):
        powers.append(plug_in_power(p, y, sweep(p, y, norm, weights, scheme).bins, norm, weights))
    return rooted(combine(powers, class_weights, norm), norm)
