"""Local sums on a GPU: run `python -m benchmarks.gpu.local` where torch sees one.

50,000 points with 50 features in 15 confidence bins, all sums a local calibration error needs;
the time is to stay below half a second. Some rows are compared with the CPU in float64.
"""

from __future__ import annotations

import time

import numpy as np
import torch

from trueup.engines import in_use
from trueup.local.sums import kernel_sums, kernel_sums_by_bin

ROWS, FEATURES, BINS, CHECKED, ROUNDS = 50_000, 50, 15, 300, 5


def sample() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, {1, residual} and bins: most confidences are close to 1."""
    rng = np.random.default_rng(0)
    confidence = rng.beta(2.8, 0.05, ROWS)
    residual = confidence - (rng.random(ROWS) < confidence)
    bins = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    return rng.standard_normal((ROWS, FEATURES)), np.c_[np.ones(ROWS), residual], bins


def expected(points, values, bins, rows, relative):
    """Sums on the CPU at some rows, and of absolute values: deviations are shares of these."""
    both, scale = np.c_[values, np.abs(values)], 0.4 * FEATURES
    out = np.empty((len(rows), 4))
    for b in np.unique(bins[rows]):
        here, at = bins == b, bins[rows] == b
        found = kernel_sums(
            points[here], both[here], points[rows[at]], scale=scale, relative=relative
        )
        out[at] = found.sums
    return out[:, :2], out[:, 2:]


def main() -> None:
    """Print a line for each precision, plain and relative."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    name = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    points, values, bins = sample()
    share = np.bincount(bins).max() / ROWS
    print(f"{ROWS:,} rows, {FEATURES} features, {BINS} bins (largest {share:.0%}), {name}")
    print(f"checked against the {in_use()} engine in float64 at {CHECKED} rows")
    rows = np.random.default_rng(1).choice(ROWS, CHECKED, replace=False)
    for relative in (False, True):
        right, size = expected(points, values, bins, rows, relative)
        for dtype in (torch.float32, torch.float64):
            x, v = (torch.as_tensor(a, dtype=dtype, device=device) for a in (points, values))
            seconds = []
            for _ in range(ROUNDS if device == "cuda" else 1):
                start = time.perf_counter()
                found = kernel_sums_by_bin(x, v, bins, scale=0.4 * FEATURES, relative=relative).sums
                if device == "cuda":
                    torch.cuda.synchronize()
                seconds.append(time.perf_counter() - start)
            away = np.abs(found.cpu().numpy()[rows] - right) / size
            kind = "relative" if relative else "plain"
            print(
                f"{kind:<9} {dtype!s:<14} median {np.median(seconds):.3f} s "
                f"(first {seconds[0]:.3f} s), largest deviation {away.max():.1e}"
            )
    if device == "cuda":
        print(f"peak memory {torch.cuda.max_memory_allocated() / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()
