"""What studies compute by themselves, against loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from studies.widths import sun_interval


def loops(p: np.ndarray, y: np.ndarray, edges: np.ndarray) -> tuple[float, float, float]:
    """T as a mean over pairs of rows, σ/√n and the null deviation, term by term."""
    n, total, spread, mean_square, null = len(p), 0.0, 0.0, 0.0, 0.0
    for b in range(len(edges) + 1):
        rows = [i for i in range(n) if int(np.sum(p[i] > edges)) == b]
        if not rows:
            continue
        u = [float(y[i] - p[i]) for i in rows]
        many, mean = len(u), sum(u) / len(u)
        if many > 1:
            pairs = sum(u[i] * u[j] for i in range(many) for j in range(many) if i != j)
            total += many / n * pairs / (many * (many - 1))
        square = sum(each * each for each in u) / many
        spread += many / n * (4 * mean**2 * square - 3 * mean**4)
        mean_square += many / n * mean**2
        null += (sum(p[i] * (1 - p[i]) for i in rows) / many) ** 2
    return total, np.sqrt((spread - mean_square**2) / n), np.sqrt(2 * null) / n


@pytest.mark.parametrize("power", [1.0, 1.3, 2.0, 4.0])
def test_the_interval_of_sun_et_al(power: float) -> None:
    """All branches: far from 0, between, near 0, and within the noise of calibrated scores."""
    rng = np.random.default_rng(int(10 * power))
    p = rng.random(200)
    y = (rng.random(200) < p**power).astype(int)
    edges = np.array([0.2, 0.4, 0.6, 0.8])
    total, error, null = loops(p, y, edges)
    value, two, one = max(total, 0.0), norm.ppf(0.975), norm.ppf(0.95)
    low = max(value - one * error, 0.0)
    if value >= 2 * two * error:
        low = value - two * error
    elif value >= 2 * one * error:
        low = value / 2
    low = 0.0 if value < one * null else low
    found = sun_interval(p, y, edges, 0.95)
    np.testing.assert_allclose(found, np.sqrt([low, value + two * error]), rtol=1e-10, atol=1e-12)
