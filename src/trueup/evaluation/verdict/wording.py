"""Numbers in sentences: as many digits as they need, intervals and percentages."""

from __future__ import annotations

import math
from typing import Any

from trueup.results import Interval
from trueup.tables import ResultTable

MOST_DIGITS = 8


def amount(value: float) -> str:
    """Return a number to three decimals, or as many as show two digits.

    >>> amount(0.1234), amount(0.00001234), amount(0.0)
    ('0.123', '0.000012', '0.000')
    """
    size = abs(value)
    digits = 3 if size <= 0 else max(3, 1 - math.floor(math.log10(size)))
    return minus(f"{value:.{digits}f}")


def minus(text: str) -> str:
    """Return a number with a minus sign instead of a hyphen, and without a negative zero.

    >>> minus("-0.12"), minus("-0.00")
    ('−0.12', '0.00')
    """
    negative = text.startswith("-") and text.strip("-0.") != ""
    return text.replace("-", "−" if negative else "")


def percent(confidence_level: float) -> str:
    """Return a confidence level as a percentage.

    >>> percent(0.95), percent(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * confidence_level:.10g}%"


def span(low: float, high: float) -> str:
    """Return the ends of an interval."""
    return f"{amount(low)} to {amount(high)}"


def interval_of(ends: Interval) -> str:
    """Return an interval with its confidence level."""
    return f"{percent(ends.confidence_level)} interval {span(ends.low, ends.high)}"


def estimate_of(ends: Interval) -> str:
    """Return an estimate with its interval; an estimate of 0 is only known to be below its end.

    >>> estimate_of(Interval(0.0, 0.0171, 0.0, 0.95, "analytic", "the error"))
    'below 0.017 (95% confidence)'
    >>> estimate_of(Interval(0.01, 0.03, 0.02, 0.95, "analytic", "the error"))
    '0.020 (95% interval 0.010 to 0.030)'
    """
    if ends.estimate == 0:
        return f"below {amount(ends.high)} ({percent(ends.confidence_level)} confidence)"
    return f"{amount(ends.estimate)} ({interval_of(ends)})"


def pvalue_of(pvalue: float, alpha: float) -> str:
    """Return a p-value with as many digits as show on which side of the level it is.

    >>> pvalue_of(0.0496, 0.05), pvalue_of(0.0504, 0.05), pvalue_of(0.3, 0.05)
    ('0.05', '0.0504', '0.3')
    """

    def same_side(text: str) -> bool:
        return (float(text) <= alpha) == (pvalue <= alpha)

    digits = next((d for d in (2, 3, 4) if same_side(f"{pvalue:.{d}g}")), 5)
    return f"{pvalue:.{digits}g}"


def error_of_part(table: ResultTable, k: int, alpha: float) -> str:
    """Return the error of a class or group; where its interval reaches 0, its mean gap as well."""
    error, low, high = (float(table[name][k]) for name in ("error", "low", "high"))
    if low > 0 or "gap_se" not in table:
        return f"error {amount(error)}"
    gap, se = minus(f"{table['gap'][k]:+.3g}"), f"{table['gap_se'][k]:.2g}"
    tested = pvalue_of(float(table["gap_pvalue"][k]), alpha)
    ends = f"{percent(1 - alpha)} interval {span(low, high)}"
    return f"error {amount(error)}, {ends}; mean gap {gap}, standard error {se}, p = {tested}"


def listed(words: list[Any]) -> str:
    """Return words in a list with "and" before the last.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *first, last = map(str, words)
    return f"{', '.join(first)} and {last}" if first else last
