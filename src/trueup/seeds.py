"""Checks of seeds, and conversion to generators or numbers."""

from __future__ import annotations

import numpy as np

from trueup.checks import is_whole
from trueup.errors import must_be

Seed = int | np.random.Generator | None
"""The same whole number gives the same numbers again; None gives others each time."""

RandomState = Seed | np.random.RandomState
"""What scikit-learn passes as ``random_state``, and a Generator."""


def check_seed(rng: object) -> None:
    """Raise InputError unless ``rng`` is a seed, a generator or None."""
    _check("rng", rng, "a numpy Generator")


def generator_of(rng: Seed) -> np.random.Generator:
    """Return a generator: the one passed, or a new one from a seed."""
    check_seed(rng)
    return np.random.default_rng(rng)


def seed_of(rng: Seed) -> int:
    """Return the seed of the draws, a number from the generator."""
    return int(generator_of(rng).integers(1 << 63))


def check_random_state(random_state: object) -> None:
    """Raise InputError unless ``random_state`` is a seed, a generator of either kind or None."""
    if not isinstance(random_state, np.random.RandomState):
        _check("random_state", random_state, "a numpy Generator, a numpy RandomState")


def generator_of_state(random_state: RandomState) -> np.random.Generator:
    """Return the generator of a ``random_state``, as scikit-learn passes it."""
    check_random_state(random_state)
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(1 << 31))
    return np.random.default_rng(random_state)


def _check(name: str, value: object, generators: str) -> None:
    if value is None or isinstance(value, np.random.Generator) or is_whole(value, 0):
        return
    hint = f"pass numpy.random.default_rng({name}) for any other NumPy seed"
    plain = isinstance(value, int | float | str)
    rule = f"a whole number of at least 0, {generators} or None"
    raise must_be(name, rule, value, hint="" if plain else hint)
