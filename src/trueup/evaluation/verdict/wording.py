"""Formats of numbers in sentences: digits, intervals and percentages."""

from __future__ import annotations

import math
import re
from typing import Any

from trueup.readable import (
    SMALLEST_PVALUE,
    amount as amount,
    minus as minus,
    percent as percent,
)
from trueup.results import Interval
from trueup.tables import ResultTable

ROUNDING = 1e-12
PLAIN_NAME = r"[^\s,;:()'\"]+( [^\s,;:()'\"]+)*"
"""What can stand in a sentence without quotes."""


def signed(value: float) -> str:
    """Return a difference with its sign.

    >>> signed(0.0234), signed(-0.0234), signed(0.0), signed(1e-17)
    ('+0.023', '−0.023', '0.000', '0.000')
    """
    return f"{'+' if value > ROUNDING else ''}{difference(value)}"


def difference(value: float) -> str:
    """Return a number; one that differs from 0 only by rounding becomes 0.

    >>> difference(0.0234), difference(-1e-17)
    ('0.023', '0.000')
    """
    return amount(value if abs(value) > ROUNDING else 0.0)


def span(low: float, high: float) -> str:
    """Return the ends of an interval."""
    return f"{amount(low)} to {amount(high)}"


def interval_of(ends: Interval) -> str:
    """Return an interval with its confidence level."""
    return f"{percent(ends.confidence_level)} interval {span(ends.low, ends.high)}"


def estimate_of(ends: Interval) -> str:
    """Return an estimate with its interval; an estimate of 0 is reported as below the upper end.

    >>> estimate_of(Interval(0.0, 0.0171, 0.0, 0.95, "analytic", "the error"))
    'below 0.017 (95% confidence)'
    >>> estimate_of(Interval(0.01, 0.03, 0.02, 0.95, "analytic", "the error"))
    '0.020 (95% interval 0.010 to 0.030)'
    """
    if ends.estimate == 0:
        return f"below {amount(ends.high)} ({percent(ends.confidence_level)} confidence)"
    return f"{amount(ends.estimate)} ({interval_of(ends)})"


def pvalue_of(pvalue: float, alpha: float) -> str:
    """Return a p-value with enough digits to show on which side of the level it is.

    >>> pvalue_of(0.0496, 0.05), pvalue_of(0.0504, 0.05), pvalue_of(0.3, 0.05)
    ('0.05', '0.0504', '0.3')
    """

    def same_side(text: str) -> bool:
        return (float(text) <= alpha) == (pvalue <= alpha)

    digits = next((d for d in (2, 3, 4) if same_side(f"{pvalue:.{d}g}")), 5)
    return f"{pvalue:.{digits}g}"


def bound_of(pvalue: float, alpha: float) -> str:
    """Return an upper bound on a p-value: rounded up, with the digits of `pvalue_of`.

    >>> bound_of(0.001, 0.05), bound_of(1 / 300, 0.05), bound_of(0.0625, 0.05)
    ('0.001', '0.0034', '0.063')
    """
    for digits in range(2, 6):
        size = 10.0 ** (math.floor(math.log10(pvalue)) + 1 - digits)
        text = f"{math.ceil(pvalue / size * (1 - 1e-9)) * size:.{digits}g}"
        if (float(text) <= alpha) == (pvalue <= alpha):
            return text
    return pvalue_of(pvalue, alpha)


def equals(pvalue: float, alpha: float) -> str:
    """Return a p-value after an equals sign, or a bound if it is below all that can be computed.

    >>> equals(0.0496, 0.05), equals(2.2e-308, 0.05)
    ('= 0.05', '< 1e-300')
    """
    if pvalue < SMALLEST_PVALUE:
        return f"< {SMALLEST_PVALUE:g}"
    return f"= {pvalue_of(pvalue, alpha)}"


def named(name: Any) -> str:
    """Return the name of a class or group, in quotes if it could be read as part of the sentence.

    >>> named("left"), named("St. Mary"), named(3), named("a, b"), named(""), named("x and y")
    ('left', 'St. Mary', '3', "'a, b'", "''", "'x and y'")
    """
    text = str(name)
    plain = re.fullmatch(PLAIN_NAME, text) and text.isprintable() and " and " not in text
    return text if plain else repr(text)


def reaches_zero(table: ResultTable, k: int) -> bool:
    """Return whether the interval of a class or group starts at 0 and its mean gap is known."""
    return float(table["low"][k]) <= 0 and "gap_se" in table


def error_of_part(table: ResultTable, k: int, alpha: float) -> str:
    """Return the error of a class or group, with its interval if that starts at 0."""
    error, low, high = (float(table[name][k]) for name in ("error", "low", "high"))
    if not reaches_zero(table, k):
        return f"error {amount(error)}"
    return f"error {amount(error)}, {percent(1 - alpha)} interval {span(low, high)}"


def gap_of_part(table: ResultTable, k: int, alpha: float) -> str:
    """Return the mean gap of a class or group, with its standard error and its p-value."""
    gap, se = (float(table[name][k]) for name in ("gap", "gap_se"))
    tested = equals(float(table["gap_pvalue"][k]), alpha)
    return f"{signed(gap)} (standard error {amount(se)}, p {tested})"


def rows_of(many: int) -> str:
    """Return a number of rows in words.

    >>> rows_of(1), rows_of(1000)
    ('1 row', '1,000 rows')
    """
    return f"{many:,} row{'s' * (many != 1)}"


def listed(words: list[Any]) -> str:
    """Join words to a list with "and" before the last.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *first, last = map(str, words)
    return f"{', '.join(first)} and {last}" if first else last
