"""Every accepted kind of input gives the same number as its values in NumPy's float64."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch

import trueup as tu

N, K = 240, 3
RNG = np.random.default_rng(20)
# Multiples of 1/16: exact in every float type, bfloat16 included, and rows sum to 1 exactly.
CUTS = np.sort(RNG.integers(0, 17, (N, K - 1)), axis=1)
MATRIX = np.diff(np.hstack([np.zeros((N, 1)), CUTS, np.full((N, 1), 16)]), axis=1) / 16
LABELS = RNG.integers(0, K, N)
SCORES = RNG.integers(0, 17, N) / 16
BINARY = RNG.integers(0, 2, N)
CERTAIN = RNG.integers(0, 2, N)  # probabilities 0 and 1
ONE_HOT = np.eye(K)[RNG.integers(0, K, N)]


class OnlyArray:
    """Knows nothing but ``__array__``."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self._array if dtype is None else self._array.astype(dtype)


class OnlyDlpack:
    """Knows nothing but ``__dlpack__``."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


class Sub(torch.Tensor):
    """A subclass from a module of its own."""


def read_only(a: np.ndarray) -> np.ndarray:
    copy = a.copy()
    copy.flags.writeable = False
    return copy


def sliced(a: np.ndarray) -> np.ndarray:
    """Every second row and column of a larger array."""
    wide = np.full(tuple(2 * size for size in a.shape), np.nan)
    view = wide[tuple(slice(None, None, 2) for _ in a.shape)]
    view[:] = a
    return view


def backwards(a: np.ndarray) -> np.ndarray:
    return a[::-1].copy()[::-1]


def torch_strided(a: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(a.T.copy()).T if a.ndim == 2 else torch.from_numpy(a.repeat(2))[::2]


def frame(library: Any) -> Callable[[np.ndarray], Any]:
    """The columns of a matrix, or one series."""

    def make(a: np.ndarray) -> Any:
        if a.ndim == 2:
            return library.DataFrame({f"p_{k}": a[:, k] for k in range(a.shape[1])})
        return library.Series("p", a) if library is pl else library.Series(a, name="p")

    return make


def nullable(a: np.ndarray) -> Any:
    return frame(pd)(a).astype("Float64")


def arrow(a: np.ndarray) -> Any:
    if a.ndim == 1:
        return pa.array(a)
    return pa.table({f"p_{k}": a[:, k] for k in range(a.shape[1])})


def chunked(a: np.ndarray) -> Any:
    if a.ndim == 1:
        return pa.chunked_array([a[:100], a[100:]])
    return pa.concat_tables([arrow(a[:100]), arrow(a[100:])])


def batch(a: np.ndarray) -> Any:
    return arrow(a) if a.ndim == 1 else arrow(a).combine_chunks().to_batches()[0]


def of_jax(a: np.ndarray) -> Any:
    import jax.numpy as jnp

    return jnp.asarray(a)


JAX = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed")
EXACT: dict[str, Callable[[np.ndarray], Any]] = {
    "lists": np.ndarray.tolist,
    "tuples": lambda a: tuple(a.tolist() if a.ndim == 1 else map(tuple, a.tolist())),
    "list of arrays": list,
    "float16": lambda a: a.astype(np.float16),
    "float32": lambda a: a.astype(np.float32),
    "float64": lambda a: a,
    "longdouble": lambda a: a.astype(np.longdouble),
    "objects": lambda a: a.astype(object),
    "big-endian float64": lambda a: a.astype(">f8"),
    "big-endian float32": lambda a: a.astype(">f4"),
    "read-only": read_only,
    "sliced": sliced,
    "backwards": backwards,
    "Fortran order": np.asfortranarray,
    "transposed": lambda a: a.T.copy().T,
    "masked array without a masked entry": lambda a: np.ma.masked_invalid(a),
    "pandas": frame(pd),
    "pandas nullable": nullable,
    "pandas Index": lambda a: frame(pd)(a) if a.ndim == 2 else pd.Index(a),
    "pandas array": lambda a: frame(pd)(a) if a.ndim == 2 else pd.array(a, dtype="Float64"),
    "polars": frame(pl),
    "polars float32": lambda a: frame(pl)(a.astype(np.float32)),
    "pyarrow": arrow,
    "pyarrow in chunks": chunked,
    "pyarrow batch": batch,
    "torch": torch.from_numpy,
    "torch float32": lambda a: torch.from_numpy(a).float(),
    "torch float16": lambda a: torch.from_numpy(a).half(),
    "torch bfloat16": lambda a: torch.from_numpy(a).bfloat16(),
    "torch requires_grad": lambda a: torch.from_numpy(a).requires_grad_(),
    "torch Parameter": lambda a: torch.nn.Parameter(torch.from_numpy(a)),
    "torch subclass": lambda a: torch.from_numpy(a).as_subclass(Sub).requires_grad_(),
    "torch strided": torch_strided,
    "array_api_strict": array_api_strict.asarray,
    "__array__": OnlyArray,
    "__dlpack__": OnlyDlpack,
}
KINDS = [*(pytest.param(make, id=name) for name, make in EXACT.items())]
KINDS.append(pytest.param(of_jax, id="JAX", marks=JAX))


@pytest.mark.parametrize("make", KINDS)
def test_probs_of_every_kind(make: Callable[[np.ndarray], Any]) -> None:
    assert tu.ece(make(SCORES), BINARY) == tu.ece(SCORES, BINARY)
    assert tu.ece(make(MATRIX), LABELS) == tu.ece(MATRIX, LABELS)
    assert tu.sce(make(MATRIX), LABELS) == tu.sce(MATRIX, LABELS)


@pytest.mark.parametrize("make", KINDS)
def test_weights_of_every_kind(make: Callable[[np.ndarray], Any]) -> None:
    assert tu.ece(SCORES, BINARY, weights=make(SCORES)) == tu.ece(SCORES, BINARY, weights=SCORES)


@pytest.mark.parametrize("make", KINDS)
def test_soft_labels_of_every_kind(make: Callable[[np.ndarray], Any]) -> None:
    f = tu.Forecasts.from_arrays(MATRIX, make(MATRIX), soft_labels=True)
    np.testing.assert_array_equal(f.labels, MATRIX)


@pytest.mark.parametrize("kind", [np.bool_, np.int8, np.uint8, np.int16, np.int32, np.uint64])
def test_whole_probabilities(kind: type) -> None:
    assert tu.ece(CERTAIN.astype(kind), BINARY) == tu.ece(CERTAIN.astype(float), BINARY)
    assert tu.sce(ONE_HOT.astype(kind), LABELS) == tu.sce(ONE_HOT, LABELS)


@pytest.mark.parametrize(
    "short",
    [
        lambda a: (a.astype(np.float16), a.astype(np.float16)),
        lambda a: (a.astype(np.float32), a.astype(np.float32)),
        lambda a: (torch.from_numpy(a).half(), torch.from_numpy(a).half().numpy()),
        lambda a: (torch.from_numpy(a).bfloat16(), torch.from_numpy(a).bfloat16().float().numpy()),
    ],
    ids=["float16", "float32", "torch float16", "torch bfloat16"],
)
def test_short_floats_are_worth_what_they_round_to(short: Callable[[np.ndarray], Any]) -> None:
    p = np.random.default_rng(1).random(N)
    rounded, same = short(p)
    assert tu.ece(rounded, BINARY) == tu.ece(same.astype(np.float64), BINARY)
    rows = np.random.default_rng(2).dirichlet(np.ones(K), N)
    rounded, same = short(rows)
    got = tu.Forecasts.from_arrays(rounded, LABELS, normalize=True)
    wide = tu.Forecasts.from_arrays(same.astype(np.float64), LABELS, normalize=True)
    for metric in (tu.ece, tu.sce, tu.brier):
        assert metric(got) == metric(wide)


def test_forecasts_pass_through() -> None:
    f = tu.Forecasts.from_arrays(MATRIX, LABELS)
    assert tu.Forecasts.from_arrays(f) is f
    assert repr(f) == "Forecasts(240 samples, 3 classes)"
    weighed = tu.Forecasts.from_arrays(SCORES, BINARY, weights=SCORES + 1, groups=BINARY)
    assert repr(weighed) == "Forecasts(240 samples, binary, with weights, groups)"
