"""Local errors on a GPU: run `PYTHONPATH=src python -m benchmarks.gpu.local` where torch sees one.

There are 50,000 rows with 50 features in 15 confidence bins, most of them in the highest. Measured
are `lce`, from CUDA tensors to one error per row, and the sums alone, plain and relative to the
nearest point. `lce` is to stay below half a second. Some rows are compared with the CPU in float64.
NumPy and torch are enough; kernels need not be compiled. Without a GPU a few rows run on the CPU.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from trueup.engines import in_use
from trueup.local import kernel_sums_by_bin, lce

GPU = torch.cuda.is_available()
DEVICE = "cuda" if GPU else "cpu"
ROWS, ROUNDS = (50_000, 5) if GPU else (1_000, 1)
FEATURES, BINS, CHECKED = 50, 15, 300
BANDWIDTH, SECONDS = 0.4, 0.5
WITHIN = {torch.float32: 1e-5, torch.float64: 1e-10}
SCALE = BANDWIDTH * FEATURES


def sample() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Confidences, most of them close to 1, whether they were right, and standard features."""
    rng = np.random.default_rng(0)
    confidence = rng.beta(2.8, 0.05, ROWS)
    features = rng.standard_normal((ROWS, FEATURES)).astype(np.float32).astype(np.float64)
    return confidence, rng.random(ROWS) < confidence, features / features.std(axis=0)


def on_cpu(
    points: np.ndarray, values: np.ndarray, bins: np.ndarray, rows: np.ndarray, relative: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of values at some rows, and those of absolute values: deviations are shares of them."""
    both = np.c_[values, np.abs(values)]
    found = kernel_sums_by_bin(
        points, both, bins, points[rows], bins[rows], scale=SCALE, relative=relative
    )
    return found.sums[:, :2], found.sums[:, 2:]


def report(
    name: str, dtype: torch.dtype, call: Callable[[], Any], away: Callable[[Any], float]
) -> None:
    """Print seconds and the largest deviation; what is over its limit is marked with "!"."""
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        found = call()
        if GPU:
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    deviation = away(found)
    missed = deviation > WITHIN[dtype] or (GPU and name == "lce" and np.median(seconds) > SECONDS)
    print(
        f"{name:<14} {dtype!s:<14} median {np.median(seconds):.3f} s (first {seconds[0]:.3f} s), "
        f"largest deviation {deviation:.1e} of {WITHIN[dtype]:.0e} {'!' if missed else ''}"
    )


def main() -> None:
    """Print a line for each measure and precision."""
    confidence, right, points = sample()
    bins = np.searchsorted(np.arange(1, BINS) / BINS, confidence)
    values = np.c_[np.ones(ROWS), confidence - right]
    share = np.bincount(bins).max() / ROWS
    name = torch.cuda.get_device_name() if GPU else "CPU"
    print(f"{ROWS:,} rows, {FEATURES} features, {BINS} bins (largest {share:.0%}), {name}")
    print(f"checked against the {in_use()} engine in float64 at {CHECKED} rows")
    rows = np.random.default_rng(1).choice(ROWS, CHECKED, replace=False)
    expected = {
        relative: on_cpu(points, values, bins, rows, relative) for relative in (False, True)
    }
    sums, _ = expected[False]
    errors = np.abs(sums[:, 1] / sums[:, 0])
    p, y = (torch.as_tensor(each, device=DEVICE) for each in (confidence, right))
    for dtype in WITHIN:
        x = torch.as_tensor(points, dtype=dtype, device=DEVICE)
        report(
            "lce",
            dtype,
            lambda x=x: lce(p, y, x, bandwidth=BANDWIDTH, n_bins=BINS),
            lambda found: float(np.abs(found[rows] - errors).max()),
        )
        v = torch.as_tensor(values, dtype=dtype, device=DEVICE)
        for relative, (total, size) in expected.items():
            report(
                "relative sums" if relative else "sums",
                dtype,
                lambda x=x, v=v, relative=relative: kernel_sums_by_bin(
                    x, v, bins, scale=SCALE, relative=relative
                ).sums.cpu(),
                lambda found, total=total, size=size: float(
                    (np.abs(found.numpy()[rows] - total) / size).max()
                ),
            )
    if GPU:
        print(f"peak memory {torch.cuda.max_memory_allocated() / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()
