"""Kernel sums of torch tensors equal those of arrays."""

from __future__ import annotations

import numpy as np
import pytest

from trueup.errors import InputError
from trueup.local import torch_sums
from trueup.local.sums import kernel_sums, kernel_sums_by_bin

torch = pytest.importorskip("torch")

WITHIN = {torch.float64: 1e-12, torch.float32: 1e-5}


def sample(n, d, seed=0):
    rng = np.random.default_rng(seed)
    points, values = rng.standard_normal((n, d)), rng.standard_normal((n, 2))
    points[n // 2 :] = points[: n - n // 2]
    return points, values, rng.integers(0, 3, n)


@pytest.mark.parametrize("dtype", WITHIN)
@pytest.mark.parametrize("d", [2, 50])
@pytest.mark.parametrize("kernel", ["laplacian", "gaussian"])
@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("room", [1 << 14, 1 << 24])
def test_tensors_equal_arrays(monkeypatch, dtype, d, kernel, relative, apart, room):
    """In few blocks and in many, at the points themselves and at queries."""
    monkeypatch.setattr(torch_sums, "CPU_BYTES", room)
    points, values, bins = sample(150, d)
    queries, _, query_bins = sample(90, d, seed=1)
    query_bins[:3] = 7
    scale = 0.4 * d if kernel == "laplacian" else 0.4 * d**0.5
    how = {"kernel": kernel, "scale": scale, "relative": relative}
    there = (queries, query_bins) if apart else ()
    expected = kernel_sums_by_bin(points, values, bins, *there, **how)
    size = kernel_sums_by_bin(points, np.abs(values), bins, *there, **how).sums
    if apart:
        there = (torch.as_tensor(queries, dtype=dtype), torch.as_tensor(query_bins))
    x, v = (torch.as_tensor(a, dtype=dtype) for a in (points, values))
    found = kernel_sums_by_bin(x, v, torch.as_tensor(bins) if apart else bins, *there, **how)
    assert found.method == "brute force on cpu"
    assert found.sums.dtype == dtype
    assert (np.abs(found.sums.numpy() - expected.sums) <= WITHIN[dtype] * size).all()
    if relative:
        np.testing.assert_allclose(found.nearest.numpy(), expected.nearest, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", WITHIN)
@pytest.mark.parametrize("kernel", ["laplacian", "gaussian"])
@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e300])
def test_extreme_scales(dtype, kernel, scale):
    points = torch.tensor([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0]], dtype=dtype)
    values = torch.tensor([[1.0], [2.0], [4.0]], dtype=dtype)
    queries = torch.tensor([[0.0, 0.5], [0.0, 0.0], [9.0, 9.0]], dtype=dtype)
    found = kernel_sums(points, values, queries, kernel=kernel, scale=scale, relative=True)
    assert found.sums[:, 0].tolist() == ([3.0, 1.0, 4.0] if scale < 1 else [7.0] * 3)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"points": torch.ones((3, 2), dtype=torch.float16)}, "`points` must be float32 or"),
        ({"values": torch.ones((3, 1))}, "`values` must be a tensor of torch.float64"),
        ({"queries": np.ones((3, 2))}, "`queries` must be a tensor of torch.float64"),
    ],
)
def test_refuses(change, words):
    one = torch.ones((3, 1), dtype=torch.float64)
    with pytest.raises(InputError) as refused:
        kernel_sums(**{"points": one.expand(3, 2), "values": one, "scale": 1.0} | change)
    assert words in str(refused.value)
