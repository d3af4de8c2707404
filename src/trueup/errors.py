"""What goes wrong, and the one way to say it: "`name` must be …; got …. Hint: …"."""

from __future__ import annotations

__all__ = ["CapabilityError", "InputError", "Words", "must_be"]


class InputError(ValueError):
    """The data or an argument breaks a rule; the message says which, where, and what to do."""


class Words(str):
    """A description to print as it stands, where a plain string would be quoted."""


class CapabilityError(RuntimeError):
    """What was asked needs what is not there: an optional package, the rows, a compiler."""


def must_be(
    name: str, rule: str, got: object, *, row: int | None = None, hint: str = ""
) -> InputError:
    """Build the error to raise when the argument ``name`` breaks ``rule``.

    >>> print(must_be("probs", "between 0 and 1", 1.5, row=3, hint="pass logits= for raw scores"))
    `probs` must be between 0 and 1; got 1.5 in row 3. Hint: pass logits= for raw scores.
    """
    where = "" if row is None else f" in row {row}"
    verb = "" if rule.startswith(("have ", "hold ", "sum ")) else "be "
    return InputError(f"`{name}` must {verb}{rule}; got {_short(got)}{where}.{_advice(hint)}")


def _advice(hint: str) -> str:
    if not hint:
        return ""
    return f" Hint: {hint}" if hint.endswith((".", "?")) else f" Hint: {hint}."


def _short(got: object) -> str:
    """A value as a person would write it, never longer than a line."""
    if isinstance(got, Words):
        return str(got)
    if isinstance(got, type):
        return f"the class {got.__name__}"
    if getattr(got, "size", 2) == 1 and hasattr(got, "item"):
        # A float in its own precision: 1.1 as float32 is 1.1, not 1.100000023841858.
        is_float = getattr(getattr(got, "dtype", None), "kind", "") == "f"
        text = str(got.reshape(())) if is_float else repr(got.item())  # type: ignore[attr-defined]
    else:
        text = " ".join(repr(got).split())
    return text if len(text) <= 80 else text[:77] + "..."
