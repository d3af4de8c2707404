"""Batches of datasets, each with its own stream of random numbers.

A stream depends on the seed, the world, n and the number of the batch, so that neither the other
configurations of a study nor the order of the work can change a draw.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from trueup.engines.blocks import Chunk, steps
from trueup.simulate.worlds.world import World

BATCH_ROWS = 1 << 16  # scores and labels of a batch stay in cache
BATCH_SETS = 100  # so that small datasets with slow measures are distributed, and saved, too
LONGEST = 2000  # characters of an identity that are written out


def batches(n: int, n_datasets: int) -> list[Chunk]:
    """Split ``n_datasets`` datasets of ``n`` rows into batches whose size depends on n alone."""
    return steps(n_datasets, min(BATCH_SETS, max(1, BATCH_ROWS // n)))


def stream(seed: int, world: str, n: int, batch: int) -> np.random.Generator:
    """Return the generator of one batch; ``world`` is its identity."""
    digest = hashlib.sha256(f"{world}\n{n}".encode()).digest()
    key = (int.from_bytes(digest[:8], "little"), batch)
    return np.random.default_rng(np.random.SeedSequence(entropy=seed, spawn_key=key))


def world_identity(world: object) -> str:
    """Return the identity of a world: worlds with the same distribution have the same identity."""
    if isinstance(world, World) and type(world).sample_many is World.sample_many:
        return identity(("World", world.scores, world.curve))
    return identity(world)


def identity(value: object) -> str:
    """Describe a value by a complete repr without addresses, the same in every run.

    A function is described by its name alone.
    """
    text = _described(value)
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}… sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _described(value: Any) -> str:
    if is_dataclass(value) and not isinstance(value, type):
        return _call(value, {field.name: getattr(value, field.name) for field in fields(value)})
    if isinstance(value, np.ndarray):
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"array({value.dtype.str}, {value.shape}, sha256:{digest})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k!r}: {_described(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "(" + ", ".join(map(_described, value)) + ")"
    if isinstance(value, partial):
        return f"partial({_described((value.func, value.args, value.keywords))})"
    if hasattr(value, "__qualname__"):
        owner = getattr(value, "__self__", None)
        bound = owner is not None and not isinstance(owner, ModuleType)
        prefix = _described(owner) if bound else str(getattr(value, "__module__", ""))
        return f"{prefix}.{value.__qualname__}"
    if isinstance(value, np.generic):
        return repr(value.item())
    if vars(type(value)).get("__repr__", object.__repr__) is object.__repr__:
        return _call(value, getattr(value, "__dict__", {}))
    return repr(value)


def _call(value: object, inside: Mapping[str, Any]) -> str:
    arguments = ", ".join(f"{name}={_described(inner)}" for name, inner in inside.items())
    return f"{type(value).__qualname__}({arguments})"
