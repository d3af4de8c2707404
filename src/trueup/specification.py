"""Frozen values whose repr is the call that makes them."""

from __future__ import annotations

import math
from dataclasses import MISSING, Field, fields

import numpy as np


class Specification:
    """Base class of lenses, binnings and estimators; the repr is the call that makes the value.

    Keyword-only fields are omitted if they have their default.
    """

    def __repr__(self) -> str:
        """Return the call that makes this value."""
        shown = [f for f in fields(self) if not (f.kw_only and self._is_default(f))]  # type: ignore[arg-type]
        inside = ", ".join(f"{f.name}={_written(getattr(self, f.name))}" for f in shown)
        return f"{type(self).__name__}({inside})"

    def _is_default(self, field: Field[object]) -> bool:
        if field.default_factory is not MISSING:
            return bool(getattr(self, field.name) == field.default_factory())
        value = getattr(self, field.name)
        return value is field.default or bool(value == field.default)


def _written(value: object) -> str:
    """Return a value as source code that may use ``math``."""
    if isinstance(value, tuple):
        inside = ", ".join(_written(item) for item in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and math.isinf(value):
        return "math.inf" if value > 0 else "-math.inf"
    return repr(value)
