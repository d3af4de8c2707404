"""Arrows between points in 3D, with heads of equal size. Importing this needs matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.patches import FancyArrowPatch
from mpl_toolkits.mplot3d import proj3d

from trueup._typing import Floats

__all__ = ["SpaceArrow"]


class SpaceArrow(FancyArrowPatch):
    """Arrow from one point in 3D to another, which turns with the axes.

    The heads of matplotlib's own 3D arrows grow with the length of the arrow.
    """

    def __init__(self, start: Floats, end: Floats, **kwargs: Any) -> None:
        super().__init__((0, 0), (0, 0), shrinkA=0, shrinkB=0, **kwargs)
        self.ends = np.stack([start, end])
        self.set_in_layout(False)  # its position is unknown before drawing

    def do_3d_projection(self) -> float:
        """Project the arrow onto the figure; return its smallest depth, for the drawing order."""
        axes: Any = self.axes
        x, y, depth = proj3d.proj_transform(*self.ends.T, axes.M)
        self.set_positions((x[0], y[0]), (x[1], y[1]))
        return float(np.min(depth))
