"""Results of estimators and decompositions."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from trueup.codec import plain
from trueup.notebook import FieldsShown
from trueup.readable import clipped_rows, short_number


@dataclass(frozen=True, eq=False)
class Estimate(FieldsShown):
    """Result of an estimator: value, table and notes.

    Parameters
    ----------
    value : float
        The estimate, usually the root of ``max(0, pth_power)``.
    pth_power : float
        The averaged p-th power before the root (for the maximum norm, the value itself). A debiased
        power may be negative, which is no evidence of miscalibration; it is kept here.
    table : object, optional
        The statistics that the value was computed from.
    notes : dict
        Details such as ``n_bins_requested``, ``n_bins``, ``n_merged_bins`` and the number of rows
        clipped.

    Examples
    --------
    >>> import trueup as tu
    >>> estimate = tu.ece.estimator().measure([0.9, 0.9, 0.9, 0.9, 0.2], [1, 1, 1, 0, 0])
    >>> round(estimate.value, 6), estimate.table.count.sum().item()
    (0.16, 5)
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
    """Decomposition of a proper score: miscalibration − discrimination + uncertainty (+ within).

    Parameters
    ----------
    score : float
        Mean score of the predictions; the terms add up to it.
    miscalibration : float
        What recalibration could gain; lower is better. With bins: reliability.
    discrimination : float
        What the predictions add to the base rate; higher is better. With bins: resolution.
    uncertainty : float
        Score of the base rate, which does not depend on the model.
    within : float
        Part of the score that bins hide, because scores differ inside them; 0 for the isotonic fit.
    table : object, optional
        The curve of the isotonic fit, or the table of the bins.
    parts : tuple, optional
        (name, share, Decomposition) of every class, for a lens with several classes.
    notes : dict
        Details such as the two terms inside ``within``, ``n_bins_requested``, ``n_bins`` and the
        number of rows clipped.

    Examples
    --------
    >>> import trueup as tu
    >>> result = tu.Brier().decompose([0.1, 0.4, 0.6, 0.8], [0, 1, 0, 1])
    >>> round(result.miscalibration, 6), round(result.skill, 6)
    (0.0675, 0.23)
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
        """1 − score/uncertainty: 1 at best, 0 for the base rate; NaN if uncertainty is 0."""
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
        return self._line()

    def _line(self) -> str:
        terms = f"{self.miscalibration:z.4f} miscalibration − {self.discrimination:z.4f} "
        text = f"{self.score:z.4f} = {terms}discrimination + {self.uncertainty:z.4f} uncertainty"
        if self.within != 0:
            text += f" {'−' if self.within < 0 else '+'} {abs(self.within):z.4f} within bins"
        clipped = self.notes.get("clipped", 0)
        return f"{text} (probability 0 clipped in {clipped:,} rows)" if clipped else text
