"""`Explanation`: a few labelled lines, and the numbers in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trueup.notebook import FieldsShown


@dataclass(frozen=True, repr=False)
class Explanation(FieldsShown):
    """What a metric, a recalibrator or a test is; printing it shows at most eight lines.

    Attributes
    ----------
    name
        What is explained.
    kind
        ``"metric"``, ``"recalibrator"`` or ``"test"``.
    summary
        What it is, in one line.
    lines
        Text by label: how it is composed, what to use it for, what to use instead and so on.
    numbers
        What was computed for the lines, such as ``"expected"``, the mean value of a calibrated
        model with these scores.
    n
        Number of rows that the numbers are for.
    scores
        Which scores the numbers are for, in words.
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
        """The summary and the labelled lines, one below the other."""
        width = max(map(len, self.lines), default=0)
        found = [f"{self.name}: {self.summary}"]
        found += [f"  {label:<{width}}  {text}" for label, text in self.lines.items()]
        return "\n".join(found)

    def __repr__(self) -> str:
        """Return the text."""
        return self.text


def summary_of(thing: object) -> str:
    """Return the first line of a docstring; nothing where there is none."""
    return (getattr(thing, "__doc__", None) or "").strip().partition("\n")[0].strip()
