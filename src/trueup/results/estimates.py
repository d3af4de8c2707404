"""What estimators and decompositions found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from trueup.codec import plain
from trueup.notebook import FieldsShown
from trueup.readable import clipped_rows, short_number


@dataclass(frozen=True, eq=False)
class Estimate(FieldsShown):
    """What an estimator found.

    Attributes
    ----------
    value
        The estimate, on the scale users read: as a rule the root of ``max(0, pth_power)``.
    pth_power
        The averaged p-th power before the root (for the maximum norm the value itself). A
        debiased one may be negative, which says "no sign of error", and is kept here.
    table
        The statistics it was computed from, or None where there are none.
    notes
        Details such as ``n_bins_requested``, ``n_bins``, ``n_merged_bins`` and rows clipped.
    """

    value: float
    pth_power: float
    table: Any = None
    notes: dict[str, Any] = field(default_factory=dict)

    def _line(self) -> str:
        if self.value == 0 and self.pth_power < 0:
            return "0 (no sign of error after debiasing)"
        return "; ".join(filter(None, [short_number(self.value), clipped_rows(self.notes)]))


@dataclass(frozen=True, eq=False, repr=False)
class Decomposition(FieldsShown):
    """A proper score taken apart: miscalibration − discrimination + uncertainty (+ within).

    Attributes
    ----------
    score
        The mean score of the predictions; the terms add up to it.
    miscalibration
        What recalibration could gain; lower is better. With bins: reliability.
    discrimination
        What the predictions tell beyond the base rate; higher is better. With bins: resolution.
    uncertainty
        The score of the base rate, which no model changes.
    within
        What bins leave out, because scores differ inside them; 0 for the isotonic fit.
    table
        What the terms rest on: the curve of the isotonic fit, or the table of the bins.
    parts
        (name, share, Decomposition) of every class, for a lens of several; else None.
    notes
        Details such as the two terms inside ``within``, ``n_bins_requested``, ``n_bins`` and rows
        clipped.
    """

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    within: float
    table: Any = None
    parts: tuple[tuple[Any, float, Decomposition], ...] | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def skill(self) -> float:
        """1 − score/uncertainty: 1 at best, 0 for the base rate; NaN where uncertainty is 0."""
        return 1 - self.score / self.uncertainty if self.uncertainty > 0 else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON; NaN and infinity are None."""
        parts = None
        if self.parts is not None:
            parts = [
                {"name": name, "share": share, **part.to_dict()} for name, share, part in self.parts
            ]
        return super().to_dict() | {"parts": plain(parts)}

    def __repr__(self) -> str:
        """Print the sum, and how many rows were clipped; the terms of classes are in ``parts``."""
        terms = f"{self.miscalibration:.4f} miscalibration − {self.discrimination:.4f} "
        text = f"{self.score:.4f} = {terms}discrimination + {self.uncertainty:.4f} uncertainty"
        if self.within != 0:
            text += f" {'−' if self.within < 0 else '+'} {abs(self.within):.4f} within bins"
        clipped = self.notes.get("clipped", 0)
        return f"{text} (probability 0 clipped in {clipped:,} rows)" if clipped else text
