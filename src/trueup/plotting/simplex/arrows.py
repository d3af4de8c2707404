"""Arrows between points in space, with heads of one size. Needs matplotlib to be imported."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.patches import FancyArrowPatch
from mpl_toolkits.mplot3d import proj3d

from trueup._typing import Floats

__all__ = ["SpaceArrow"]


class SpaceArrow(FancyArrowPatch):
    """An arrow from one point in space to another, which turns with the axes.

    matplotlib's own arrows in space have heads that grow with their length.
    """

    def __init__(self, start: Floats, end: Floats, **kwargs: Any) -> None:
        super().__init__((0, 0), (0, 0), shrinkA=0, shrinkB=0, **kwargs)
        self.ends = np.stack([start, end])
        self.set_in_layout(False)  # its position is unknown before drawing

    def do_3d_projection(self) -> float:
        """Place the arrow on the paper; return how near it is."""
        axes: Any = self.axes
        x, y, depth = proj3d.proj_transform(*self.ends.T, axes.M)
        self.set_positions((x[0], y[0]), (x[1], y[1]))
        return float(np.min(depth))
