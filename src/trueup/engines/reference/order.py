"""Functions that need the order of the scores: equal-mass edges and counts by distinct score.

Rows with the same score are never distinguished, so results do not depend on the order of rows.
Both zeros are the same score: it is returned as 0.0, never as -0.0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.engines.equal_mass import equal_mass_cuts
from trueup.engines.types import ScoreCounts


def equal_mass_edges(p: NDArray[Any], n_bins: int) -> Floats:
    """Return inner edges of at most ``n_bins`` bins with nearly equal numbers of rows."""
    value, count = np.unique(p, return_counts=True)
    return value[equal_mass_cuts(np.cumsum(count), n_bins)].astype(np.float64) + 0.0


def tied_scores(p: NDArray[Any], y: NDArray[Any]) -> ScoreCounts:
    """Count rows and positive labels of every distinct score, in increasing order of the score."""
    order = np.argsort(p, kind="stable")
    score = p[order]
    first = np.flatnonzero(np.r_[True, score[1:] != score[:-1]])
    positive = np.add.reduceat(y[order].astype(np.int64), first)
    count = np.diff(np.r_[first, len(p)])
    return ScoreCounts(score[first].astype(np.float64) + 0.0, count, positive)
