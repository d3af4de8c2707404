"""`Explanation`: a few labeled lines, and the numbers in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trueup.notebook import FieldsShown


@dataclass(frozen=True, repr=False)
class Explanation(FieldsShown):
    """Description of a metric, a recalibrator or a test; it prints as at most eight lines.

    Attributes
    ----------
    name
        Name of the object.
    kind
        ``"metric"``, ``"recalibrator"`` or ``"test"``.
    summary
        A description in one line.
    lines
        Texts by label: its composition, its use, alternatives and so on.
    numbers
        Numbers in the lines, such as ``"expected"``, the mean value for a calibrated model with
        these scores.
    n
        Number of rows that the numbers are for.
    scores
        Description of the scores that the numbers are for.
    """

    name: str
    kind: str
    summary: str
    lines: Mapping[str, str]
    n: int
    scores: str
    numbers: Mapping[str, float] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Return the summary and the labeled lines, one per line."""
        width = max(map(len, self.lines), default=0)
        found = [f"{self.name}: {self.summary}"]
        found += [f"  {label:<{width}}  {text}" for label, text in self.lines.items()]
        return "\n".join(found)

    def __repr__(self) -> str:
        """Return the text."""
        return self.text


def summary_of(thing: object) -> str:
    """Return the first line of a docstring, or an empty text if there is no docstring."""
    return (getattr(thing, "__doc__", None) or "").strip().partition("\n")[0].strip()
