"""Bins as lists of row numbers, lowest scores first. Every decision is an exact comparison.

A bin rule is a function (scores, weights) -> bins. Empty bins are kept where the rule asks
for a fixed number of them; the errors skip them.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from .arithmetic import Floats, exact_mean, integer_weights

Bins = list[list[int]]
BinRule = Callable[[Floats, Floats | None], Bins]


def split_at(p: Floats, inner_edges: Floats) -> Bins:
    """Right-closed bins between ascending inner edges: an edge belongs to the bin below it."""
    bins: Bins = [[] for _ in range(len(inner_edges) + 1)]
    for i, score in enumerate(p):
        index = 0
        for edge in inner_edges:
            if float(edge) < float(score):
                index += 1
        bins[index].append(i)
    return bins


def uniform_edges(n_bins: int) -> list[float]:
    """All B+1 edges, each the float64 nearest to k/B."""
    return [k / n_bins for k in range(n_bins + 1)]


def uniform_width(p: Floats, n_bins: int) -> Bins:
    """B bins, empty ones included; 0 is in the first and 1 in the last."""
    return split_at(p, uniform_edges(n_bins)[1:-1])


def equal_mass_edges(p: Floats, n_bins: int, weights: Floats | None = None) -> list[float]:
    """Inner edges. Boundaries lie between two distinct scores, so never at rank 0 or n."""
    w = integer_weights(weights, len(p))
    scores = [float(v) for v in p]
    total = sum(w)
    boundaries = []
    rank = 0
    for score in sorted(set(scores))[:-1]:
        rank += sum(w[i] for i in range(len(scores)) if scores[i] == score)
        boundaries.append((rank, score))
    edges = set()
    for i in range(1, n_bins):
        best = None
        for rank, score in boundaries:
            distance = abs(n_bins * rank - i * total)
            # Ascending ranks and a strict "<": half-way stays with the lower boundary.
            if best is None or distance < best[0]:
                best = (distance, score)
        if best is not None:
            edges.add(best[1])
    return sorted(edges)


def equal_mass(p: Floats, n_bins: int, weights: Floats | None = None) -> Bins:
    """At most B bins, none of them empty, tied scores together."""
    return split_at(p, equal_mass_edges(p, n_bins, weights))


def fixed_edges(p: Floats, edges: Floats) -> Bins:
    """Bins [e0, e1], (e1, e2], ...; a score outside [e0, eB] is refused."""
    if min(p) < edges[0] or max(p) > edges[-1]:
        raise ValueError("a score lies outside the edges")
    return split_at(p, list(edges)[1:-1])


def auto_n_bins(n: int) -> int:
    """The smallest integer whose cube is at least n."""
    b = 1
    while b**3 < n:
        b += 1
    return b


def variance_tree(
    predictions: ArrayLike,
    min_samples: int = 1000,
    min_leaf: int = 1,
    weights: Floats | None = None,
) -> Bins:
    """Split at the mean of the dimension of highest variance while a cell holds > min_samples.

    Means and variances are exact and weighted; `min_samples` and `min_leaf` count rows. A
    split that leaves a side with fewer than `min_leaf` rows is not made, and no other
    dimension is tried. Works on (n,) scores and on (n, K) points; the left side comes first.
    """
    points = np.asarray(predictions, dtype=np.float64)
    if points.ndim == 1:
        points = points.reshape(-1, 1)
    w = integer_weights(weights, len(points))
    leaves: Bins = []
    waiting = [list(range(len(points)))]
    while waiting:
        rows = waiting.pop()
        sides = None
        if len(rows) > min_samples:
            sides = _split(points, w, rows)
        if sides is None or min(len(sides[0]), len(sides[1])) < min_leaf:
            leaves.append(rows)
        else:
            waiting.append(sides[1])
            waiting.append(sides[0])
    return leaves


def _split(points: np.ndarray, w: list[int], rows: list[int]) -> tuple[list[int], list[int]] | None:
    """(at most the mean, above it) along the first dimension of highest variance, if > 0."""
    best, best_variance, best_mean = -1, Fraction(0), Fraction(0)
    for d in range(points.shape[1]):
        column = [float(v) for v in points[:, d]]
        mean = exact_mean(column, w, rows)
        total = sum(w[i] for i in rows)
        variance = sum((w[i] * (Fraction(column[i]) - mean) ** 2 for i in rows), Fraction(0))
        variance /= total
        if variance > best_variance:
            best, best_variance, best_mean = d, variance, mean
    if best < 0:
        return None
    left = [i for i in rows if Fraction(float(points[i, best])) <= best_mean]
    right = [i for i in rows if Fraction(float(points[i, best])) > best_mean]
    return left, right


def simplex_grid(points: ArrayLike, n_bins: int) -> Bins:
    """Cells by the uniform bin of each of the first K-1 coordinates; only cells with rows."""
    matrix = np.asarray(points, dtype=np.float64)
    cells: dict[tuple[int, ...], list[int]] = {}
    inner = uniform_edges(n_bins)[1:-1]
    for i, row in enumerate(matrix):
        key = tuple(sum(1 for e in inner if e < v) for v in row[:-1])
        cells.setdefault(key, []).append(i)
    return [cells[key] for key in sorted(cells)]


def simplex_triangles(points: ArrayLike, per_side: int) -> Bins:
    """Triangles by geometry: each row is looked for in every triangle; only those with rows.

    Corners have whole coordinates, in units of the side. Coordinates within 1e-12 of an edge are
    moved onto it first, and the others scaled so that the row sums to 1 exactly.
    """
    triangles = _triangles(per_side)
    center = [Fraction(per_side, 3)] * 3
    cells: dict[object, list[int]] = {}
    for i, row in enumerate(np.asarray(points, dtype=np.float64)):
        q, on_edge = _moved_onto_edges([Fraction(float(v)) for v in row], per_side)
        holding = [t for t in triangles if _is_inside(q, t)]
        if all(on_edge) and q == center:
            cells.setdefault("center", []).append(i)
            continue
        if len(holding) > 1:
            inner_corner = all(on_edge) and min(q) > 0
            below = [
                k for k in range(3) if on_edge[k] and q[k] == (max(q) if inner_corner else q[k])
            ]
            holding = [t for t in holding if all(c[k] <= q[k] for c in t for k in below if q[k])]
            if inner_corner:
                above = [k for k in range(3) if k not in below]
                holding = [t for t in holding if all(c[k] >= q[k] for c in t for k in above)]
        assert len(holding) == 1, (row, holding)
        cells.setdefault(holding[0], []).append(i)
    return sorted(cells.values())


Corner = tuple[int, int, int]


def _triangles(per_side: int) -> list[tuple[Corner, Corner, Corner]]:
    found = []
    for a in range(per_side):
        for b in range(per_side - a):
            c = per_side - a - b
            found.append(((a + 1, b, c - 1), (a, b + 1, c - 1), (a, b, c)))
            if c >= 2:
                found.append(((a + 1, b, c - 1), (a, b + 1, c - 1), (a + 1, b + 1, c - 2)))
    return found


def _moved_onto_edges(row: list[Fraction], per_side: int) -> tuple[list[Fraction], list[bool]]:
    scaled = [v * per_side for v in row]
    on_edge = [abs(v - round(v)) <= Fraction(per_side, 10**12) for v in scaled]
    moved = [Fraction(round(v)) if on else v for v, on in zip(scaled, on_edge, strict=True)]
    fixed = sum(v for v, on in zip(moved, on_edge, strict=True) if on)
    free = sum(v for v, on in zip(moved, on_edge, strict=True) if not on)
    if free:
        factor = (per_side - fixed) / free
        moved = [v if on else v * factor for v, on in zip(moved, on_edge, strict=True)]
    return moved, on_edge


def _is_inside(q: list[Fraction], triangle: tuple[Corner, Corner, Corner]) -> bool:
    """Whether a point is on the inner side of all three sides, or on a side."""

    def turn(a: Corner, b: Corner, p: list[Fraction] | Corner) -> Fraction:
        return Fraction((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]))

    a, b, c = triangle
    sign = turn(a, b, c)
    return all(turn(s, t, q) * sign >= 0 for s, t in ((a, b), (b, c), (c, a)))


def merge_single_rows(p: Floats, bins: Bins, weights: Floats | None = None) -> Bins:
    """Empty bins go; then the lowest bin of one row joins its nearest neighbor, until none is.

    Nearest by mean score; distances within a billionth of each other, or within 1e-14, are a
    tie, which goes to the lower neighbor.
    """
    w = integer_weights(weights, len(p))
    left = [list(rows) for rows in bins if rows]
    while len(left) > 1 and any(len(rows) == 1 for rows in left):
        at = [len(rows) == 1 for rows in left].index(True)
        means = [exact_mean(p, w, rows) for rows in left]
        if at == 0:
            lower = 0
        elif at == len(left) - 1 or means[at] - means[at - 1] <= (means[at + 1] - means[at]) * (
            1 + Fraction(1, 10**9)
        ) + Fraction(1, 10**14):
            lower = at - 1
        else:
            lower = at
        left[lower : lower + 2] = [left[lower] + left[lower + 1]]
    return left
