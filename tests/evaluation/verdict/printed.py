"""Numbers and names as they are printed, and whether they are those that were recomputed."""

from __future__ import annotations

import ast
import math
import re
from typing import Any

AMOUNT = r"−?\d[\d,]*(?:\.\d+)?(?:e-\d+)?"
PVALUE = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?"
NAME = r"(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\s,;:()'\"]+(?: [^\s,;:()'\"]+)*?)"
PERCENT = r"\d+(?:\.\d+)?%"


def amount(name: str) -> str:
    """Return a pattern for a number with a name."""
    return f"(?P<{name}>{AMOUNT})"


def pvalue(name: str) -> str:
    """Return a pattern for a p-value with its sign, such as ``= 0.03``."""
    return f"(?P<{name}>[=≤<] {PVALUE})"


def interval(low: str, high: str) -> str:
    """Return a pattern for the ends of an interval."""
    return f"{amount(low)} to {amount(high)}"


def rows(name: str = "rows") -> str:
    """Return a pattern for a number of rows, and of clusters."""
    return rf"(?P<{name}>\d[\d,]* rows?(?: in \d[\d,]* clusters?)?)"


def number_of(text: str) -> float:
    """Return a printed number."""
    return float(text.replace("−", "-").replace(",", "").rstrip("%"))


def unit_of(text: str) -> float:
    """Return one unit of the last printed digit."""
    plain = text.replace("−", "").replace(",", "").rstrip("%")
    digits, _, power = plain.partition("e")
    decimals = len(digits.partition(".")[2])
    return 10.0 ** (int(power or 0) - decimals)


def assert_number(text: str, value: float) -> None:
    """Raise unless the text is the value to the printed digits, and not 0 for what is not 0."""
    assert math.isfinite(value), f"{text} is printed for {value}"
    off = abs(number_of(text) - value)
    assert off <= 0.5 * unit_of(text) * (1 + 1e-6) + 1e-12 * abs(value), f"{text} is not {value!r}"
    if "%" not in text:
        rounding = 0 < abs(value) < 1e-12  # of a difference
        assert rounding or (number_of(text) != 0) == (value != 0), f"{text} hides {value!r}"
    assert not re.fullmatch(r"−0(\.0*)?", text), text


def assert_pvalue(text: str, value: float, alpha: float) -> None:
    """Raise unless a p-value with its sign is true and on the printed side of the level."""
    sign, number = text.split(" ")
    if sign == "<":
        assert value < float(number)
        return
    if sign == "=":
        assert_number(number, value)
    else:
        assert value <= float(number) * (1 + 1e-9)
        assert float(number) - value <= unit_of(number)
    assert float(number) > 0
    assert (float(number) <= alpha) == (value <= alpha), f"{text} is on the other side of {alpha}"


def assert_level(text: str, level: float) -> None:
    """Raise unless a percentage is the confidence level."""
    assert text == f"{100 * level:.10g}%"


def assert_name(text: str, name: Any) -> None:
    """Raise unless the text is a name: as it is, or in quotes where it has signs of sentences."""
    if text[:1] in "'\"" and text:
        assert ast.literal_eval(text) == str(name)
        return
    assert text == str(name)
    assert text
    assert not re.search(r"[,;:()'\"]|\s\s|^\s|\s$| and ", text)
