"""Curves: what a bin-free estimator saw along the score, ready to be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from trueup.tables.columns import ResultTable


@dataclass(frozen=True, eq=False, repr=False)
class Curve(ResultTable):
    """Columns with one row per point, in increasing order of the score.

    Curves of several classes stand below each other, told apart by the column ``class``.
    """

    kind: ClassVar[str] = "curve"

    @classmethod
    def stacked(cls, names: Sequence[Any], curves: Sequence[Curve | None]) -> Curve | None:
        """Put the curves of several classes together; classes without one are left out."""
        present = [(n, c) for n, c in zip(names, curves, strict=True) if c is not None]
        if not present:
            return None
        label = np.array([name for name, _ in present])
        data = {"class": np.repeat(label, [len(curve) for _, curve in present])}
        for key in present[0][1].data:
            data[key] = np.concatenate([curve[key] for _, curve in present])
        return cls(data)
