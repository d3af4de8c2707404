"""Where chance comes in: a seed, a generator, or neither."""

from __future__ import annotations

import numpy as np

from trueup.errors import must_be
from trueup.specification import is_whole

Seed = int | np.random.Generator | None


def check_seed(rng: object) -> None:
    """Refuse what is neither a seed nor a generator nor None."""
    if not (rng is None or isinstance(rng, np.random.Generator) or is_whole(rng, 0)):
        hint = "pass numpy.random.default_rng(rng) for any other seed of NumPy's"
        rule = "a whole number of at least 0, a numpy Generator or None"
        raise must_be("rng", rule, rng, hint="" if isinstance(rng, int | float | str) else hint)


def seed_of(rng: Seed) -> int:
    """Return the seed of the draws: one number of the generator given or made."""
    check_seed(rng)
    return int(np.random.default_rng(rng).integers(1 << 63))
