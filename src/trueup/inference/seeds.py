"""Where chance comes in: a seed, a generator, or neither."""

from __future__ import annotations

import numpy as np

from trueup.errors import must_be

Seed = int | np.random.Generator | None


def seed_of(rng: Seed) -> int:
    """Return the seed of the draws: one number of the generator given or made."""
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(1 << 63))
    whole = isinstance(rng, int | np.integer) and not isinstance(rng, bool)
    if rng is not None and not (whole and int(rng) >= 0):
        raise must_be("rng", "a whole number of at least 0, a numpy Generator or None", rng)
    return int(np.random.default_rng(rng).integers(1 << 63))
