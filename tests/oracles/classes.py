"""Errors of more than one class: class-wise, given the predicted class, Nixon's, simplex cells."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from .arithmetic import Floats, Ints, float_weights, same_shape
from .bins import BinRule, Bins, equal_mass, uniform_width
from .errors import Weights, combine, debiased_power, plug_in_power, rooted
from .lenses import Pairs, binary, class_wise, top_label_given

Distance = Callable[[np.ndarray, np.ndarray], float]


def class_wise_power(
    probs: ArrayLike,
    labels: Ints,
    rule: BinRule,
    norm: float = 1,
    debias: bool = False,
    class_weights: Weights = None,
    weights: Weights = None,
) -> float:
    """Average over classes of the p-th powers, each class with bins of its own; not rooted."""
    measure = debiased_power if debias else plug_in_power
    powers = [measure(p, y, rule(p, weights), norm, weights) for p, y in class_wise(probs, labels)]
    return combine(powers, class_weights, norm)


def class_wise_error(
    probs: ArrayLike,
    labels: Ints,
    rule: BinRule,
    norm: float = 1,
    debias: bool = False,
    class_weights: Weights = None,
    weights: Weights = None,
) -> float:
    """`class_wise_power` and one root of max(0, .)."""
    power = class_wise_power(probs, labels, rule, norm, debias, class_weights, weights)
    return rooted(power, norm)


def marginal_error(
    probs: ArrayLike,
    labels: Ints,
    n_bins: int = 15,
    debias: bool = False,
    weights: Weights = None,
) -> float:
    """Kumar Def. 2.4 with w_k = 1/K: class-wise L2 on equal-mass bins; 1-D: binary."""

    def rule(p: Floats, w: Weights) -> Bins:
        return equal_mass(p, n_bins, w)

    if np.ndim(probs) == 1:
        p, y = binary(probs, labels)
        measure = debiased_power if debias else plug_in_power
        return rooted(measure(p, y, rule(p, weights), 2, weights), 2)
    return class_wise_error(probs, labels, rule, 2, debias, None, weights)


def top_label_given_error(
    probs: ArrayLike,
    labels: Ints,
    rule: BinRule,
    norm: float = 1,
    debias: bool = False,
    weights: Weights = None,
) -> float:
    """Share-weighted average over predicted classes of p-th powers, then one root."""
    measure = debiased_power if debias else plug_in_power
    w = float_weights(weights, len(labels))
    powers, shares = [], []
    for p, y, moved in top_label_given(probs, labels, w).values():
        powers.append(measure(p, y, rule(p, moved), norm, moved))
        shares.append(math.fsum(moved))
    return rooted(combine(powers, shares, norm), norm)


def _one_vs_rest_problems(probs: ArrayLike, labels: Ints) -> list[Pairs]:
    return [binary(probs, labels)] if np.ndim(probs) == 1 else class_wise(probs, labels)


def sce(probs: ArrayLike, labels: Ints, n_bins: int = 15, weights: Weights = None) -> float:
    """Nixon 5.1: mean over classes of the equal-width ECE."""
    problems = _one_vs_rest_problems(probs, labels)
    total = 0.0
    for p, y in problems:
        total += plug_in_power(p, y, uniform_width(p, n_bins), 1, weights)
    return total / len(problems)


def ace(
    probs: ArrayLike,
    labels: Ints,
    n_ranges: int = 15,
    weights: Weights = None,
    literal: bool = False,
) -> float:
    """Nixon 5.2: TACE on every prediction, zeros included."""
    return tace(probs, labels, n_ranges, -math.inf, weights, literal)


def tace(
    probs: ArrayLike,
    labels: Ints,
    n_ranges: int = 15,
    threshold: float = 0.01,
    weights: Weights = None,
    literal: bool = False,
) -> float:
    """Nixon 5.3 on predictions strictly above the threshold, equal-mass ranges per class.

    `literal`: 1/(KR) with R the ranges asked for, not the shares. A class with nothing above
    the threshold adds 0 and still counts in K.
    """
    problems = _one_vs_rest_problems(probs, labels)
    w = float_weights(weights, len(labels))
    total = 0.0
    for p, y in problems:
        rows = [i for i in range(len(p)) if p[i] > threshold]
        if not rows:
            continue
        above, hits, mass = p[rows], y[rows], [w[i] for i in rows]
        ranges = equal_mass(above, n_ranges, mass)
        if literal:
            for r in ranges:
                total += plug_in_power(above, hits, [r], 1, mass) / n_ranges
        else:
            total += plug_in_power(above, hits, ranges, 1, mass)
    return total / len(problems)


def total_variation(r: np.ndarray, g: np.ndarray) -> float:
    """Half the sum of absolute differences."""
    return 0.5 * math.fsum(abs(a - b) for a, b in zip(r, g, strict=True))


def squared_euclidean(r: np.ndarray, g: np.ndarray) -> float:
    """Sum of squared differences."""
    return math.fsum((a - b) ** 2 for a, b in zip(r, g, strict=True))


def simplex_error(
    points: ArrayLike,
    outcomes: Ints,
    cells: Bins,
    distance: Distance = total_variation,
    weights: Weights = None,
    worst: bool = False,
) -> float:
    """Vaicenavicius eq. 6: sum of share * d(outcome frequencies, mean prediction).

    No root is taken. `worst`: the largest d of any cell instead of the average.
    """
    matrix = np.asarray(points, dtype=np.float64)
    same_shape(matrix, outcomes)
    w = float_weights(weights, len(matrix))
    n_outcomes = matrix.shape[1]
    total = math.fsum(w[i] for rows in cells for i in rows)
    shares, gaps = [], []
    for rows in cells:
        if not rows:
            continue
        mass = math.fsum(w[i] for i in rows)
        r, g = [], []
        for k in range(n_outcomes):
            r.append(math.fsum(w[i] for i in rows if outcomes[i] == k) / mass)
            g.append(math.fsum(w[i] * matrix[i, k] for i in rows) / mass)
        shares.append(mass / total)
        gaps.append(float(distance(np.array(r), np.array(g))))
    if worst:
        return max(gaps)
    return math.fsum(s * d for s, d in zip(shares, gaps, strict=True))
