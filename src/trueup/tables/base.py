"""The base class of tables: printing, argument checks and conversion to data frames."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, ClassVar, Literal, Self, get_args

from trueup.checks import check_schema
from trueup.codec import Stored
from trueup.errors import CapabilityError, must_be
from trueup.notebook import TableShown

Library = Literal["pandas", "polars", "pyarrow"]
LIBRARIES: tuple[Library, ...] = get_args(Library)
SCHEMA = 1


def check_version(data: object) -> None:
    """Raise InputError unless `to_dict` of this version of the format wrote ``data``."""
    values = data if isinstance(data, Mapping) else {}
    found = values.get("schema")
    if found is None and any(isinstance(value, list) for value in values.values()):
        found = 0  # the first versions wrote the table alone
    if type(found) is not int:
        raise must_be("data", "a dictionary from `to_dict`", data)
    check_schema("data", found, SCHEMA, "make the table again")


class Table(TableShown, Stored):
    """Base class of all tables.

    ``induced`` is the kind of problem that a table of sums belongs to, as in `Lens.induces`; it is
    empty for result tables. ``hint`` is added to the message if an argument is not such a table.
    """

    induced: ClassVar[str] = ""
    hint: ClassVar[str] = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values that `from_dict` reads back, ready for JSON."""
        return {"schema": SCHEMA, **super().to_dict()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        check_version(data)
        return super().from_dict(data)

    def columns(self) -> dict[str, Any]:
        """Return the columns of the table by name.

        Returns
        -------
        dict of str to ndarray
            The columns.
        """
        raise NotImplementedError

    def to_frame(self, library: Library | None = None) -> Any:
        """Return the columns as a data frame.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            Library to use (default: the first that is installed).

        Returns
        -------
        DataFrame
            The data frame, or a pyarrow table.
        """
        return frame_of(self.columns(), library)

    @classmethod
    def expect(cls, value: object, name: str = "table", rule: str = "", hint: str = "") -> Self:
        """Return an argument; raise InputError unless it is a table of this kind.

        Parameters
        ----------
        value : object
            The argument.
        name : str, default "table"
            Its name.
        rule : str, optional
            Rule for the message.
        hint : str, optional
            Hint for the message.

        Returns
        -------
        Table
            The argument.
        """
        if isinstance(value, cls):
            return value
        kind = f"{'an' if cls.__name__[0] in 'AEIOU' else 'a'} {cls.__name__}"
        raise must_be(name, rule or kind, value, hint=hint or cls.hint)


def frame_of(columns: Mapping[str, Any], library: Library | None) -> Any:
    """Build a pandas, polars or pyarrow table; the default is the first one installed."""
    if library is not None and library not in LIBRARIES:
        raise must_be("library", "one of pandas, polars, pyarrow", library)
    present = [name for name in LIBRARIES if find_spec(name) is not None]
    chosen = library or next(iter(present), None)
    if chosen is None or chosen not in present:
        wanted = library or "pandas"
        raise CapabilityError(f"A data frame needs {wanted}. Hint: pip install {wanted}.")
    import narwhals.stable.v1 as nw

    return nw.from_dict(dict(columns), backend=chosen).to_native()
