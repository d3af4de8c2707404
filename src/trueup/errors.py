"""What goes wrong, and the one way to say it: "`name` must be …; got …. Hint: …"."""

from __future__ import annotations

__all__ = ["CapabilityError", "InputError", "Words", "must_be"]


class InputError(ValueError):
    """The data or an argument breaks a rule; the message says which, where, and what to do."""


class Words(str):
    """A description to print as it stands, where a plain string would be quoted."""


class CapabilityError(RuntimeError):
    """What was asked needs something that is not there: an optional package, the rows, a compiler."""


def must_be(
    name: str, rule: str, got: object, *, row: int | None = None, hint: str = ""
) -> InputError:
    """Build the error to raise when the argument ``name`` breaks ``rule``.

    >>> print(must_be("probs", "between 0 and 1", 1.5, row=3, hint="pass logits= for raw scores"))
    `probs` must be between 0 and 1; got 1.5 in row 3. Hint: pass logits= for raw scores.
    """
    where = "" if row is None else f" in row {row}"
    advice = f" Hint: {hint.rstrip('.')}." if hint else ""
    verb = "" if rule.startswith(("have ", "sum ")) else "be "
    return InputError(f"`{name}` must {verb}{rule}; got {_short(got)}{where}.{advice}")


def _short(got: object) -> str:
    """A value as a person would write it, never longer than a line."""
    if isinstance(got, Words):
        return str(got)
    if getattr(got, "size", 2) == 1 and hasattr(got, "item"):
        got = got.item()
    text = repr(got)
    return text if len(text) <= 80 else text[:77] + "..."
