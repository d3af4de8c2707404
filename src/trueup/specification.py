"""Frozen values whose repr is their specification: what you read is what you would type."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields


class Specification:
    """Base of lenses, binnings and estimators: prints as the call that makes it.

    Keyword-only fields are left out while they hold their default.
    """

    def __repr__(self) -> str:
        """Return the call that makes this value."""
        shown = [f for f in fields(self) if not (f.kw_only and self._is_default(f))]  # type: ignore[arg-type]
        inside = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in shown)
        return f"{type(self).__name__}({inside})"

    def _is_default(self, field: Field[object]) -> bool:
        if field.default_factory is not MISSING:
            return bool(getattr(self, field.name) == field.default_factory())
        value = getattr(self, field.name)
        return value is field.default or bool(value == field.default)
