"""What every table has: it can be shown, and asked for by functions that take a table."""

from __future__ import annotations

from typing import ClassVar, Self

from trueup.codec import Stored
from trueup.errors import must_be
from trueup.showing import TableShown


class Table(TableShown, Stored):
    """Base of all tables.

    ``induced`` is the kind of problem that a table of sums is of, as `Lens.induces`; empty for
    columns of results. ``hint`` helps who passes something else.
    """

    induced: ClassVar[str] = ""
    hint: ClassVar[str] = ""

    @classmethod
    def expect(cls, value: object, name: str = "table", rule: str = "", hint: str = "") -> Self:
        """Return the argument ``name``; raise InputError unless it is a table of this kind."""
        if isinstance(value, cls):
            return value
        kind = f"{'an' if cls.__name__[0] in 'AEIOU' else 'a'} {cls.__name__}"
        raise must_be(name, rule or kind, value, hint=hint or cls.hint)
