"""Rows counted by score, for the tests of engines that work on them.

Scores have ties or none, and 0 and 1 among them.
"""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from trueup.engines.reference.order import tied_scores

seeds = st.integers(0, 10**6)
sizes = st.one_of(st.integers(1, 5), st.integers(6, 300))
decimals = st.sampled_from([0, 1, 2, 17])


def counted_rows(seed: int, n: int, digits: int):
    """Scores with and without ties, 0 and 1 among them, and how many rows have each."""
    rng = np.random.default_rng(seed)
    p = rng.random(n).round(digits)
    p[rng.random(n) < 0.1] = 0
    p[rng.random(n) < 0.1] = 1
    y = rng.random(n) < p ** rng.choice([0.5, 1, 2])
    return p, y, tied_scores(p, y)


def codes(p, y):
    """Rows in order, each with twice the number of its score, plus 1 for a label of 1."""
    order = np.lexsort((y, p))
    value, number = np.unique(p[order], return_inverse=True)
    return p[order], value, (2 * number.reshape(-1) + y[order]).astype(np.int32)
