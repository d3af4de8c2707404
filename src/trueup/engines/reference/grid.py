"""Rows spread onto a grid, and areas of smooth curves on it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.engines.blocks import row_blocks
from trueup.engines.memory import FRESH, Scratch
from trueup.engines.sums import folded
from trueup.engines.types import Spread

COLUMNS = 4  # shares of a row


def spread(p: NDArray[Any], y: NDArray[Any], w: Floats | None, size: int) -> Spread:
    """Return sums of w, wy and w(p − y) at the grid points j/size, spread by B-splines.

    A row is spread over its four nearest points with cubic B-spline weights, which are positive and
    sum to 1 (0 ≤ u < 1 from the point below: (1−u)³/6, ⅔ − u²(1−u/2), and their mirror images).
    Weights at points outside [0, 1] are reflected back, so nothing is lost.
    """
    totals = np.zeros((3, size + 4))
    for block in row_blocks(len(p), COLUMNS):
        score, label = p[block].astype(np.float64), y[block].astype(np.float64)
        weight = np.ones(len(score)) if w is None else w[block]
        _share_out(score, (weight, weight * label, weight * (score - label)), totals)
    return Spread(*folded(totals))


def spread_residual(p: NDArray[Any], y: NDArray[Any], w: Floats | None, size: int) -> Floats:
    """Return sums of w(p − y) alone, as in `spread`."""
    return spread(p, y, w, size).residual


def spread_terms(value: Floats, term: Floats, size: int, scratch: Scratch = FRESH) -> Floats:
    """Return sums of terms at non-decreasing values, as in `spread`."""
    totals = np.zeros((1, size + 4))
    for block in row_blocks(len(value), COLUMNS):
        _share_out(value[block], (term[block],), totals)
    return np.asarray(folded(totals)[0])


def _share_out(score: Floats, terms: tuple[Floats, ...], totals: Floats) -> None:
    """Add each of several terms of every row to the four points around its score."""
    points = totals.shape[1]
    place = score * (points - 4)
    below = place.astype(np.int64)
    u = place - below
    v = 1 - u
    shares = (v**3 / 6, 2 / 3 - u * u * (1 - u / 2), 2 / 3 - v * v * (1 - v / 2), u**3 / 6)
    for total, term in zip(totals, terms, strict=True):
        for k, share in enumerate(shares):
            total += np.bincount(below + k, share * term, minlength=points)


def absolute_area(height: Floats) -> float:
    """Return ∫|r| over [0, 1] for a smooth r, level at both ends, from equally spaced values.

    Between two points, r is replaced by the parabola through both values whose mean is that of the
    polynomial through the six nearest points. If the parabola has zeros, the areas between them are
    added separately.
    """
    first, last = height[:-1], height[1:]
    mirrored = np.concatenate([height[2:0:-1], height, height[-2:-4:-1]])
    mean = 802 * (first + last)
    mean -= 93 * (mirrored[1:-4] + mirrored[4:-1])
    mean += 11 * (mirrored[:-5] + mirrored[5:])
    mean /= 1440
    area, distance, low = np.abs(mean), np.abs(height), np.signbit(height)
    # A parabola of one sign has a mean of at least a sixth of the sum of its ends.
    zeros = (low[:-1] ^ low[1:]) | (6 * area < distance[:-1] + distance[1:])
    here = np.flatnonzero(zeros)
    area[here] = _areas(first[here], last[here], mean[here])
    return float(area.mean())


def _areas(first: Floats, last: Floats, mean: Floats) -> Floats:
    """Return ∫|q| over [0, 1] for parabolas q with these values at 0 and 1 and these means."""
    start, bend = 6 * mean - 4 * first - 2 * last, 3 * (first + last - 2 * mean)
    # q(t) = first + start·t + bend·t². One without zeros is cut at its vertex: no harm done.
    root = np.sqrt(np.maximum(start * start - 4 * first * bend, 0))
    half = -0.5 * (start + np.copysign(root, start))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        zeros = np.stack([half / bend, first / half])
    t = np.sort(np.clip(np.nan_to_num(zeros), 0, 1), axis=0)
    below = t * (first + t * (start / 2 + t * bend / 3))
    return np.asarray(np.abs(below[0]) + np.abs(below[1] - below[0]) + np.abs(mean - below[1]))
