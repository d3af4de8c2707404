"""Columns as a data frame of whichever library the user has."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Literal, get_args

from trueup.errors import CapabilityError, must_be

Library = Literal["pandas", "polars", "pyarrow"]
LIBRARIES: tuple[Library, ...] = get_args(Library)


def frame_of(columns: Mapping[str, Any], library: Library | None) -> Any:
    """Build a pandas, polars or pyarrow table; by default the first of these that is installed."""
    if library is not None and library not in LIBRARIES:
        raise must_be("library", "one of pandas, polars, pyarrow", library)
    present = [name for name in LIBRARIES if find_spec(name) is not None]
    chosen = library or next(iter(present), None)
    if chosen is None or chosen not in present:
        wanted = library or "pandas"
        raise CapabilityError(f"A data frame needs {wanted}. Hint: pip install {wanted}.")
    import narwhals.stable.v1 as nw

    return nw.from_dict(dict(columns), backend=chosen).to_native()
