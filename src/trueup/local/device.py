"""Kernel sums in main memory, or on the device of torch features."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from trueup._typing import Floats, Ints
from trueup.local.bandwidth import WITHIN
from trueup.local.sums import KernelSums, can_divide, kernel_sums_by_bin

HERE = ("cpu", "mps")  # the engine is as fast and more exact; "mps" has no float64 to add up in
FURTHEST = {4: 1e15, 8: 1e100}  # by the bytes of a number: squares of distances stay finite
SMALLEST = 1e-30  # of the largest value: float32 would lose it


class Device(NamedTuple):
    """A torch device, and the precision of computations on it."""

    name: Any  # a torch.device
    dtype: Any  # torch.float32 or torch.float64

    def tensor(self, array: Floats) -> Any:
        """Return the array on the device, moved near 0 if the precision needs it."""
        import torch

        most = FURTHEST[self.dtype.itemsize]
        return torch.as_tensor(np.clip(array, -most, most), dtype=self.dtype, device=self.name)


def device_of(features: object) -> Device | None:
    """Return the device of features that are a tensor outside main memory; None for all others.

    Numbers of up to 32 bits are worked with in float32, all others in float64.
    """
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(features, torch.Tensor) or features.device.type in HERE:
        return None
    short = features.is_floating_point() and features.dtype.itemsize <= 4
    return Device(features.device, torch.float32 if short else torch.float64)


def sums_on(
    device: Device | None,
    points: Floats,
    values: Floats,
    bins: Ints,
    queries: Floats | None = None,
    query_bins: Ints | None = None,
    *,
    kernel: str,
    scale: float,
    relative: bool = False,
) -> KernelSums:
    """Sum arrays as `kernel_sums_by_bin` does, or over all pairs on a device, if there is one.

    Divide and conquer is used where it applies, because no device sums all pairs as fast.
    """
    how: dict[str, Any] = {"kernel": kernel, "scale": scale, "relative": relative}
    if device is None or can_divide(points.shape[1], kernel):
        return kernel_sums_by_bin(points, values, bins, queries, query_bins, **how)
    import torch

    # Powers of two change no digit, and keep float32 from overflowing.
    power = np.frexp(np.abs(points).max(initial=0.0))[1]
    powers = np.frexp(np.abs(values).max(axis=0, initial=0.0))[1]
    with np.errstate(over="ignore", under="ignore"):
        x, v = np.ldexp(points, -power), np.ldexp(values, -powers)
        at = None if queries is None else np.ldexp(queries, -power)
        how["scale"] = float(np.clip(np.ldexp(scale, -power), WITHIN.tiny, WITHIN.max))
    if np.abs(v[v != 0]).min(initial=1.0) < SMALLEST:
        device = Device(device.name, torch.float64)
    x, v, at = (None if each is None else device.tensor(each) for each in (x, v, at))
    found = kernel_sums_by_bin(x, v, bins, at, query_bins, **how)
    nearest = None if found.nearest is None else np.ldexp(_array(found.nearest), power)
    return KernelSums(np.ldexp(_array(found.sums), powers), nearest, found.method)


def _array(tensor: Any) -> Floats:
    return np.asarray(tensor.cpu().numpy(), np.float64)
