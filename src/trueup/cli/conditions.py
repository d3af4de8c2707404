"""Conditions for pipelines: `--fail-if 'ece_debiased > 0.02'` exits with code 1 if it holds."""

from __future__ import annotations

import difflib
import math
import operator
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import click

from trueup.cli.program import MET, OK, say
from trueup.errors import InputError, must_be

__all__ = ["Condition", "condition_option", "exit_code"]

OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
FORM = re.compile(r"\s*([A-Za-z][\w.]*)\s*(<=|>=|<|>)\s*(\S+)\s*")


@dataclass(frozen=True)
class Condition:
    """A comparison of a named number with a limit."""

    name: str
    sign: str
    limit: float

    @classmethod
    def of(cls, text: str) -> Condition:
        """Parse a condition.

        >>> Condition.of("ece_debiased.low > 0.02")
        Condition(name='ece_debiased.low', sign='>', limit=0.02)
        """
        found = FORM.fullmatch(text)
        limit = _number(found[3]) if found else None
        if found is None or limit is None:
            rule = "a name, one of < <= > >=, and a number"
            raise must_be("--fail-if", rule, text, hint="such as 'rmsce_debiased > 0.02'")
        return cls(found[1], found[2], limit)

    def check(self, names: Collection[str]) -> None:
        """Raise InputError unless the name of the condition is in ``names``."""
        if self.name in names:
            return
        near = difflib.get_close_matches(self.name, names, n=1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        hint = f"{meant}There are: {', '.join(sorted(names))}"
        raise InputError("--fail-if", f"has no number {self.name!r} to compare", hint=hint)

    def holds(self, values: Mapping[str, float | None]) -> bool:
        """Return whether the condition holds; raise InputError if its number is missing or NaN."""
        self.check(values)
        value = values[self.name]
        if value is None or math.isnan(value):
            rule = f"needs {self.name}, which could not be computed for these data"
            raise InputError("--fail-if", rule)
        return bool(OPERATORS[self.sign](value, self.limit))

    def __str__(self) -> str:
        """Return the condition as a user would type it."""
        return f"{self.name} {self.sign} {self.limit:g}"


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _conditions(
    ctx: click.Context, parameter: click.Parameter, texts: tuple[str, ...]
) -> tuple[Condition, ...]:
    return tuple(Condition.of(text) for text in texts)


condition_option = click.option(
    "--fail-if",
    "conditions",
    multiple=True,
    callback=_conditions,
    metavar="'NAME > NUMBER'",
    help="Exit with code 1 if the condition holds (<, <=, >, >=). Repeatable.",
)


def exit_code(conditions: Sequence[Condition], values: Mapping[str, float | None]) -> int:
    """Report the conditions that hold, and return the exit code."""
    met = [condition for condition in conditions if condition.holds(values)]
    for condition in met:
        say(f"failed, because {condition} holds: {condition.name} is {values[condition.name]:.6g}.")
    return MET if met else OK
