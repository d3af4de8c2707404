"""The arguments of a study, checked, and what its numbers depend on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from trueup.checks import is_whole
from trueup.engines.select import in_use
from trueup.errors import must_be
from trueup.simulate.studies.batch_scoring import Measure
from trueup.simulate.studies.random_streams import BATCH_ROWS, BATCH_SETS, identity, world_identity


def worlds_by_name(worlds: Any) -> dict[str, Any]:
    """Return worlds by name; one alone is named by its repr."""
    named = dict(worlds) if isinstance(worlds, Mapping) else {repr(worlds): worlds}
    if not named:
        raise must_be("worlds", "a world, or worlds by name", worlds)
    for name, world in named.items():
        draws = hasattr(world, "sample_many") or hasattr(world, "sample")
        if not isinstance(name, str) or not draws or not hasattr(world, "true_error"):
            raise must_be("worlds", "a world, or worlds by name", world)
    return named


def check_measures(measures: Any) -> None:
    """Refuse what is not a mapping of names to functions."""
    good = isinstance(measures, Mapping) and len(measures) > 0
    if not good or not all(isinstance(k, str) and callable(m) for k, m in measures.items()):
        hint = 'such as {"ece": tu.BinnedError()}'
        raise must_be("measures", "a mapping of names to functions", measures, hint=hint)
    for name, measure in measures.items():
        if isinstance(measure, type):
            hint = f"call the class of {name!r}"
            raise must_be("measures", "contain instances, not classes", measure, hint=hint)


def sizes_of(n: Any) -> list[int]:
    """Return the numbers of rows, one or several."""
    several = isinstance(n, Sequence | np.ndarray) and not isinstance(n, str)
    sizes = list(n) if several else [n]
    if not sizes or not all(is_whole(size, 1) for size in sizes) or len(set(sizes)) < len(sizes):
        raise must_be("n", "a whole number of at least 1, or several that are distinct", n)
    return [int(size) for size in sizes]


def seed_of(rng: Any, path: Any) -> int:
    """Return the seed itself, or one drawn from what was given."""
    if is_whole(rng, 0):
        return int(rng)
    if path is not None:
        raise must_be("rng", "a whole number where a path is given, to resume with", rng)
    if rng is None:
        return int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
    if not isinstance(rng, np.random.Generator):
        raise must_be("rng", "a whole number of at least 0, a numpy Generator or None", rng)
    return int(rng.integers(1 << 63))


DRAWS = 2  # to be raised when a world comes to draw other numbers from the same seed


def settings_of(
    worlds: Mapping[str, Any], measures: Mapping[str, Measure], n_datasets: int, seed: int
) -> dict[str, Any]:
    """What the numbers of a batch depend on, down to the last bit."""
    return {
        "rng": seed,
        "n_datasets": n_datasets,
        "worlds": {name: world_identity(world) for name, world in worlds.items()},
        "measures": {name: identity(measure) for name, measure in measures.items()},
        "versions": {"trueup": version("trueup"), "numpy": np.__version__, "engine": in_use()},
        "draws": DRAWS,
        "batches": [BATCH_ROWS, BATCH_SETS],
    }
