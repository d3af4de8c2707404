"""The distance of the nearest point in up to four dimensions."""

from __future__ import annotations

import numpy as np

from trueup._typing import Floats
from trueup.engines.threads import get_threads
from trueup.engines.types import KernelSet


def nearest_l1(one: KernelSet) -> Floats:
    """L1 distance of every query to its nearest point.

    Coordinates are added in order, as everywhere. Points that coincide are taken once: a leaf of
    the tree holds all of them, however many, and is searched one by one.
    """
    from scipy.spatial import cKDTree

    tree = cKDTree(_distinct(one.points), balanced_tree=False, compact_nodes=False)
    distance, _ = tree.query(one.at, p=1, workers=get_threads())
    return np.asarray(distance, np.float64)


def _distinct(points: Floats) -> Floats:
    points = points[np.lexsort(points.T)]
    new = np.any(points[1:] != points[:-1], axis=1)
    return points[np.r_[True, new]]
