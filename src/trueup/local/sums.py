"""Kernel sums over points in feature space, the most costly part of local methods.

At every query, the values of all points are summed, weighted by a kernel of their distance:

- ``"laplacian"``: exp(−‖x − x'‖₁ / scale), with scale = d·γ the kernel of Luo et al. (2022);
- ``"gaussian"``: exp(−‖x − x'‖₂² / (2·scale²)), with scale = γ (the paper names this kernel and
  gives no formula).

Laplacian sums in up to four dimensions are computed by an exact divide and conquer in O(n log^(d−1)
n), unless there are so few queries or points that summing all pairs is faster. Otherwise all pairs
are summed, in blocks, on all cores, or on the device of a torch tensor.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.checks import check_choice, is_number
from trueup.engines.select import engine, in_use
from trueup.engines.threads import get_threads
from trueup.engines.types import KernelSet, KernelTotals
from trueup.errors import Argument, InputError, Verbatim, must_be
from trueup.local.bandwidth import KERNELS, WITHIN, steepness

Kernel = Literal["laplacian", "gaussian"]

MOST_DIVIDED = 4
PAIRS_A_STEP = 8  # pairs that meet in the time the divide and conquer takes for a point at a level
SEEN = 460.0  # e^{−460} is 1e-200: nearest points beyond this many scales have no plain sums
FORGOTTEN = 45.0  # e^{−45} is 3e-20
FURTHEST = 1e100  # squares of distances stay finite, and those of scales above 0


@dataclass(frozen=True, eq=False)
class KernelSums:
    """Sums of kernel · values at every query, and the algorithm that computed them."""

    sums: Any  # (q, m), an array like the points
    nearest: Any  # (q,) distance of the nearest point where sums are relative to it, else None
    method: str  # "divide and conquer" or "brute force", with the device of tensors


def kernel_sums(
    points: Any,
    values: Any,
    queries: Any = None,
    *,
    kernel: Kernel = "laplacian",
    scale: float,
    relative: bool = False,
) -> KernelSums:
    """Sum the values of all points at every query, weighted by a kernel of their distance.

    Use it to build other local statistics. `LocalError` uses it for its errors.

    Parameters
    ----------
    points : array_like of shape (n, d)
        NumPy float64, or a torch tensor (float32 or float64) to compute on its device.
    values : array_like of shape (n, m)
        Values to sum. A point of weight 0 still counts as the nearest, so drop it first.
    queries : array_like of shape (q, d), optional
        Where to sum (default: at the points themselves, each of which then counts itself too).
    kernel : {"laplacian", "gaussian"}, default "laplacian"
        exp(−dist/h) with the L1 distance, or exp(−dist²/(2γ²)) with the Euclidean distance.
    scale : float
        h of the Laplacian, γ of the Gaussian kernel.
    relative : bool, default False
        Whether to divide the kernel by its value at the nearest point, exp(−(dist − dist_min)/h).
        Nothing then underflows however far a query is, and scale → 0 keeps only the nearest points.

    Returns
    -------
    KernelSums
        ``sums``, exact up to rounding: the error is below 1e-10 of the sum of absolute terms in
        float64. Terms below 1e-280 are dropped. If ``relative``, queries far from all points also
        drop terms whose kernel is below 1e-19 of that of the nearest point. ``nearest`` is the L1
        (Gaussian: Euclidean) distance of the nearest point if ``relative``; ``method`` is the
        algorithm.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([[0.0, 0.0], [0.0, 1.0]])
    >>> result = kernel_sums(points, np.ones((2, 1)), scale=1.0)
    >>> result.sums.round(3).tolist(), result.method
    ([[1.368], [1.368]], 'brute force')
    """
    bins = np.zeros(len(points), np.int64)
    at = None if queries is None else np.zeros(len(queries), np.int64)
    how: dict[str, Any] = {"kernel": kernel, "scale": scale, "relative": relative}
    return kernel_sums_by_bin(points, values, bins, queries, at, **how)


def kernel_sums_by_bin(
    points: Any,
    values: Any,
    bins: NDArray[Any],
    queries: Any = None,
    query_bins: NDArray[Any] | None = None,
    *,
    kernel: Kernel = "laplacian",
    scale: float,
    relative: bool = False,
) -> KernelSums:
    """Sum as `kernel_sums` does, but only over points in the same bin as the query.

    All bins are computed at once, so that threads have work even if one bin holds most points. A
    query whose bin is empty has sums of 0 and its nearest point at infinity.

    Parameters
    ----------
    points : array_like of shape (n, d)
        Points, as for `kernel_sums`.
    values : array_like of shape (n, m)
        Values to sum.
    bins : ndarray of int
        Bin of every point.
    queries : array_like of shape (q, d), optional
        Where to sum (default: at the points).
    query_bins : ndarray of int, optional
        Bin of every query.
    kernel : {"laplacian", "gaussian"}, default "laplacian"
        Kernel, as for `kernel_sums`.
    scale : float
        h of the Laplacian, γ of the Gaussian kernel.
    relative : bool, default False
        Whether to divide the kernel by its value at the nearest point.

    Returns
    -------
    KernelSums
        As for `kernel_sums`; ``method`` is that of the largest bin.

    Examples
    --------
    >>> import numpy as np
    >>> points, bins = np.array([[0.0], [0.0], [0.0]]), np.array([0, 0, 1])
    >>> kernel_sums_by_bin(points, np.ones((3, 1)), bins, scale=1.0).sums.ravel().tolist()
    [2.0, 2.0, 1.0]
    """
    _check(points, values, queries, kernel, scale)
    for name, each, rows in (("bins", bins, points), ("query_bins", query_bins, queries)):
        if each is not None and rows is not None and each.shape != (len(rows),):
            raise must_be(name, f"{len(rows)} whole numbers", _shape(each))
    if (queries is None) != (query_bins is None):
        rule = ("is required exactly if ", Argument("queries"), " is passed")
        raise InputError("query_bins", rule)
    if _is_tensor(points):
        from trueup.local.torch_sums import tensor_sums

        return KernelSums(
            *tensor_sums(points, values, bins, queries, query_bins, kernel, scale, relative),
            method=f"brute force on {points.device}",
        )
    power = 0
    if kernel == "gaussian":
        power, points, queries, scale = _in_reach(points, queries, scale)
    n = len(points) if queries is None else len(queries)
    sums = np.zeros((n, values.shape[1]))
    nearest = np.full(n, np.inf) if relative else None
    sets, rows = _sets(points, values, bins, queries, query_bins)
    found, method = _sums_of_sets(sets, kernel, scale, relative)
    for row, one in zip(rows, found, strict=True):
        sums[row] = one.sums
        if nearest is not None and one.nearest is not None:
            away = np.sqrt(one.nearest) if kernel == "gaussian" else one.nearest
            nearest[row] = np.ldexp(away, power)
    return KernelSums(sums, nearest, method)


def _in_reach(
    points: Floats, queries: Floats | None, scale: float
) -> tuple[int, Floats, Floats | None, float]:
    """Divide points and scale by 2^power if squared distances would overflow or underflow."""
    given = [points] if queries is None else [points, queries]
    largest = max(float(np.abs(each).max(initial=0)) for each in given)
    size, reach = np.frexp(largest)[1], np.frexp(FURTHEST)[1]
    if largest == 0 or abs(size) < reach:
        return 0, points, queries, scale
    # To a scale of about 1, unless points would then be too far away or too near.
    power = int(np.clip(np.frexp(scale)[1], size - reach, size + reach))
    with np.errstate(under="ignore"):
        moved = [np.ldexp(each, -power) for each in given]
        near = float(np.clip(np.ldexp(scale, -power), WITHIN.tiny, WITHIN.max))
    return power, moved[0], None if queries is None else moved[1], near


def _sums_of_sets(
    sets: list[KernelSet], kernel: Kernel, scale: float, relative: bool
) -> tuple[list[KernelTotals], str]:
    """Return the sums of every set, and the method of the largest set."""
    gaussian = kernel == "gaussian"
    steep = steepness(scale, kernel)
    divide = [_divides(one, kernel) for one in sets]
    divided = [one for one, yes in zip(sets, divide, strict=True) if yes]
    others = [one for one, yes in zip(sets, divide, strict=True) if not yes]
    by_blocks = iter(engine.kernel_sums.block_sums(others, steep, gaussian, relative))
    by_halves = iter(_divided(divided, steep, relative))
    found = [next(by_halves if yes else by_blocks) for yes in divide]
    largest = max(range(len(sets)), key=lambda i: len(sets[i].at), default=-1)
    wide = largest >= 0 and divide[largest]
    return found, "divide and conquer" if wide else "brute force"


def can_divide(n_dims: int, kernel: str) -> bool:
    """Return whether sums of arrays can be computed by divide and conquer."""
    return kernel == "laplacian" and n_dims <= MOST_DIVIDED and in_use() == "native"


def _divides(one: KernelSet, kernel: Kernel) -> bool:
    """Return whether divide and conquer is faster; both methods are exact."""
    d = one.points.shape[1]
    if not can_divide(d, kernel):
        return False
    n, q = len(one.points), len(one.at)
    levels = math.log2(n + q + 1) ** (d - 1) / math.factorial(d - 1)  # of ever smaller problems
    steps = (n + (0 if one.queries is None else q)) * levels
    return bool(n * q > PAIRS_A_STEP * steps)


def _divided(sets: list[KernelSet], steep: float, relative: bool) -> list[KernelTotals]:
    """Compute sums by divide and conquer, relative to the nearest point on request.

    If the kernel of the nearest point is not tiny, plain sums are divided by it; exponents up to
    460 limit their relative error to 1e-13. Otherwise, all points whose kernel is not negligible
    are summed directly.
    """
    plain = engine.kernel_sums.divided_sums(sets, steep)
    if not relative:
        return [KernelTotals(sums, None) for sums in plain]
    nearest = [np.zeros(len(s.points)) if s.queries is None else nearest_l1(s) for s in sets]
    far = [np.flatnonzero(distance > SEEN / steep) for distance in nearest]
    lost = [
        KernelSet(s.points, s.values, s.at[rows], away[rows] * (1 + 1e-12) + FORGOTTEN / steep)
        for s, away, rows in zip(sets, nearest, far, strict=True)
    ]
    again = engine.kernel_sums.block_sums(lost, steep, gaussian=False, relative=True)
    for sums, distance, rows, found in zip(plain, nearest, far, again, strict=True):
        sums *= np.exp(np.minimum(distance, SEEN / steep) * steep)[:, None]
        sums[rows], distance[rows] = found
    return [KernelTotals(*both) for both in zip(plain, nearest, strict=True)]


def _sets(
    points: Floats,
    values: Floats,
    bins: NDArray[Any],
    queries: Floats | None,
    query_bins: NDArray[Any] | None,
) -> tuple[list[KernelSet], list[Ints]]:
    """Return one set for every bin with points and queries, and the rows of its queries."""
    of_points = _rows_of(bins)
    if queries is None:
        rows = list(of_points.values())
        return [KernelSet(points[row], values[row]) for row in rows], rows
    of_queries = _rows_of(query_bins) if query_bins is not None else {}
    both = [b for b in of_queries if b in of_points]
    sets = [
        KernelSet(points[of_points[b]], values[of_points[b]], queries[of_queries[b]]) for b in both
    ]
    return sets, [of_queries[b] for b in both]


def _rows_of(bins: NDArray[Any]) -> dict[int, Ints]:
    """Return the rows of every non-empty bin, in increasing order."""
    if len(bins) == 0:
        return {}
    low, high = int(bins.min()), int(bins.max())
    narrow = (bins - low).astype(np.int16) if high - low < 2**15 else bins  # sorts in one pass
    rows = np.argsort(narrow, kind="stable")
    start = np.flatnonzero(np.diff(bins[rows], prepend=low - 1))
    return {int(bins[row[0]]): row for row in np.split(rows, start[1:])}


def _check(points: Any, values: Any, queries: Any, kernel: str, scale: float) -> None:
    check_choice("kernel", kernel, *KERNELS)
    for name, each in (("points", points), ("values", values), ("queries", queries)):
        if each is not None and not hasattr(each, "ndim"):
            raise must_be(name, "an array", type(each))
    if not is_number(scale) or not 0 < scale < np.inf:
        raise must_be("scale", "a positive finite number", scale)
    if points.ndim != 2 or points.shape[1] < 1:
        raise must_be("points", "a matrix with a column for each feature", _shape(points))
    if values.ndim != 2 or len(values) != len(points):
        raise must_be("values", "a matrix with a row for each point", _shape(values))
    if queries is not None and (queries.ndim != 2 or queries.shape[1] != points.shape[1]):
        rule = ("a matrix with as many columns as ", Argument("points"))
        raise must_be("queries", rule, _shape(queries))


def _shape(array: Any) -> Verbatim:
    return Verbatim(f"shape {tuple(array.shape)}")


def _is_tensor(array: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def nearest_l1(one: KernelSet) -> Floats:
    """Return the L1 distance of every query to its nearest point.

    Coordinates are added in order, as in all other sums. Duplicate points are removed, because a
    leaf of the tree would hold all of them, and a leaf is searched point by point.
    """
    from scipy.spatial import cKDTree

    tree = cKDTree(_distinct(one.points), balanced_tree=False, compact_nodes=False)
    distance, _ = tree.query(one.at, p=1, workers=get_threads())
    return np.asarray(distance, np.float64)


def _distinct(points: Floats) -> Floats:
    points = points[np.lexsort(points.T)]
    new = np.any(points[1:] != points[:-1], axis=1)
    return points[np.r_[True, new]]
