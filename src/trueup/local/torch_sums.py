"""Kernel sums of torch tensors, on their device: all points, block by block.

The differences of the pairs in a block take a fixed amount of memory, whatever the number of
points. It is large on a GPU, where every block costs several kernel launches. On a CPU, the
differences of one coordinate fit in a cache. Distances are taken from differences (|a|² + |b|² −
2ab would lose close points) in the precision of the tensors; blocks are added in float64. Products
are taken column by column: a matrix product might be rounded to TF32.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trueup.errors import Argument, Verbatim, must_be
from trueup.local.bandwidth import steepness

if TYPE_CHECKING:
    from torch import Tensor

GPU_BYTES = 1 << 29
CPU_BYTES = 1 << 19
MOST_ROWS = 4096


def tensor_sums(
    points: Any,
    values: Any,
    bins: NDArray[Any],
    queries: Any,
    query_bins: NDArray[Any] | None,
    kernel: str,
    scale: float,
    relative: bool,
) -> tuple[Tensor, Tensor | None]:
    """Return sums at every query over the points of its bin, and distances of the nearest point.

    Sums are float64 for float64 points and float32 for float32 ones, on the same device.
    """
    import torch

    _check(points, values, queries)
    within = torch.finfo(points.dtype)
    steep = min(max(steepness(scale, kernel), within.tiny), within.max)
    at, at_bins = (points, bins) if queries is None or query_bins is None else (queries, query_bins)
    sums = torch.zeros((len(at), values.shape[1]), dtype=torch.float64, device=points.device)
    nearest = torch.full((len(at),), torch.inf, dtype=points.dtype, device=points.device)
    for b in np.unique(at_bins if isinstance(at_bins, np.ndarray) else at_bins.cpu().numpy()):
        rows, others = (_rows(which, b, points.device) for which in (at_bins, bins))
        if len(others) == 0:
            continue
        x, y, v = at[rows].T.contiguous(), points[others].T.contiguous(), values[others]
        if relative:
            sums[rows], nearest[rows] = _relative(x, y, v, kernel, steep)
        elif queries is None:
            sums[rows] = _symmetric(x, v, kernel, steep)
        else:
            sums[rows] = _plain(x, y, v, kernel, steep)
    if kernel == "gaussian":
        nearest = nearest.sqrt()
    return sums.to(points.dtype), nearest if relative else None


def _plain(x: Tensor, y: Tensor, values: Tensor, kernel: str, steep: float) -> Tensor:
    sums = _zeros(x, values)
    for rows in _blocks(x):
        for columns in _blocks(y):
            weight = _kernel(_distances(x[:, rows], y[:, columns], kernel), steep)
            _add_products(sums[rows], weight, values[columns])
    return sums


def _symmetric(x: Tensor, values: Tensor, kernel: str, steep: float) -> Tensor:
    """Return sums at the points themselves; each block above the diagonal is used twice."""
    sums = _zeros(x, values)
    blocks = list(_blocks(x))
    for i, rows in enumerate(blocks):
        for columns in blocks[i:]:
            weight = _kernel(_distances(x[:, rows], x[:, columns], kernel), steep)
            _add_products(sums[rows], weight, values[columns])
            if columns is not rows:
                _add_products(sums[columns], weight.T, values[rows])
    return sums


def _relative(
    x: Tensor, y: Tensor, values: Tensor, kernel: str, steep: float
) -> tuple[Tensor, Tensor]:
    """Sums of e^{−(distance − smallest)·steep}, rescaled when nearer points are found."""
    import torch

    sums = _zeros(x, values)
    nearest = torch.full_like(x[0], torch.inf)
    for rows in _blocks(x):
        for columns in _blocks(y):
            away = _distances(x[:, rows], y[:, columns], kernel)
            nearer = torch.minimum(nearest[rows], away.min(dim=1).values)
            sums[rows] *= _kernel(nearest[rows] - nearer, steep)[:, None]
            nearest[rows] = nearer
            away -= nearer[:, None]
            _add_products(sums[rows], _kernel(away, steep), values[columns])
    return sums, nearest


def _distances(x: Tensor, y: Tensor, kernel: str) -> Tensor:
    """Return L1 or squared Euclidean distances (a, b) of coordinates (d, a) and (d, b)."""
    import torch

    step = _at_once(x)
    distance: Tensor = torch.zeros((), dtype=x.dtype, device=x.device)
    for k in range(0, len(x), step):
        away = x[k : k + step, :, None] - y[k : k + step, None, :]
        if kernel == "gaussian":
            part = away.mul_(away).sum(dim=0) if step > 1 else away.mul_(away)[0]
        else:
            part = torch.linalg.vector_norm(away, 1, dim=0)
        distance = part.add_(distance)
    return distance


def _at_once(x: Tensor) -> int:
    """Return the number of coordinates per step."""
    return 1 if x.device.type == "cpu" else len(x)


def _kernel(away: Tensor, steep: float) -> Tensor:
    return away.mul_(-steep).exp_()


def _add_products(sums: Tensor, weight: Tensor, values: Tensor) -> None:
    for column in range(values.shape[1]):
        sums[:, column] += weight.mv(values[:, column])


def _blocks(x: Tensor) -> Iterator[slice]:
    """Return ranges of points such that the differences of any two ranges fit in memory."""
    n = x.shape[1]
    room = CPU_BYTES if x.device.type == "cpu" else GPU_BYTES
    most = int((room / (_at_once(x) * x.element_size())) ** 0.5)
    size = max(1, min(MOST_ROWS, most))
    return (slice(i, min(i + size, n)) for i in range(0, n, size))


def _zeros(x: Tensor, values: Tensor) -> Tensor:
    import torch

    return torch.zeros((x.shape[1], values.shape[1]), dtype=torch.float64, device=x.device)


def _rows(bins: Any, b: int, device: Any) -> Tensor:
    import torch

    if isinstance(bins, torch.Tensor):
        return torch.nonzero(bins == int(b))[:, 0].to(device)
    return torch.as_tensor(np.flatnonzero(bins == b), device=device)


def _check(points: Tensor, values: Tensor, queries: Tensor | None) -> None:
    import torch

    if points.dtype not in (torch.float32, torch.float64):
        raise must_be("points", "float32 or float64", Verbatim(str(points.dtype)))
    for name, other in (("values", values), ("queries", queries)):
        if other is None:
            continue
        if not isinstance(other, torch.Tensor) or other.dtype != points.dtype:
            rule = (f"a tensor of {points.dtype}, as ", Argument("points"), " is")
            raise must_be(name, rule, type(other))
        if other.device != points.device:
            rule = (f"on {points.device}, as ", Argument("points"), " is")
            raise must_be(name, rule, Verbatim(str(other.device)))
