"""Small frozen results, reached by attribute and ready for JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Estimate"]


@dataclass(frozen=True)
class Estimate:
    """What an estimator found.

    Attributes
    ----------
    value
        The estimate, on the scale users read: the root of ``max(0, power)``.
    power
        The averaged p-th power before the root (for the maximum norm the value itself). A
        debiased one may be negative, which says "no sign of error", and is kept here.
    table
        The statistics it was computed from, or None where there are none.
    notes
        What a reader should know: bins asked and made, bins merged, rows clipped, bins chosen.
    """

    value: float
    power: float
    table: Any = None
    notes: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON."""
        table = None if self.table is None else self.table.to_dict()
        return {"value": self.value, "power": self.power, "table": table, "notes": self.notes}
