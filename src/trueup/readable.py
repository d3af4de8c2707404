"""Readable numbers: few digits, a plain 0, an estimate with its interval."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

SMALLEST_PVALUE = 1e-300
"""Smaller p-values have no digits that are known."""
LARGE, TINY = 1_000, 1e-6
"""From here on a number has no decimals; below, it is a power of ten."""

LONG_DECIMALS = re.compile(r"\b\d+\.\d{5,}(?:e[-+]?\d+)?")
"""Numbers inside a text with more digits than anybody reads."""


def amount(value: float) -> str:
    """Return a number to three decimals, or as many as show two digits.

    >>> amount(0.1234), amount(0.00001234), amount(0.0)
    ('0.123', '0.000012', '0.000')
    >>> amount(12345.6), amount(-8.04e-12)
    ('12,346', '−8.0e-12')
    """
    size = abs(value)
    if size >= LARGE:
        return minus(f"{value:,.0f}")
    if 0 < size < TINY:
        return f"{'−' if value < 0 else ''}{size:.1e}"
    digits = 3 if size <= 0 else max(3, 1 - math.floor(math.log10(size)))
    return minus(f"{value:.{digits}f}")


def minus(text: str) -> str:
    """Return a number with a minus sign instead of a hyphen, and without a negative zero.

    >>> minus("-0.12"), minus("-0.00"), minus("-1.2e-05")
    ('−0.12', '0.00', '−1.2e-05')
    """
    negative = text.startswith("-") and text.strip("-0.") != ""
    return f"{'−' if negative else ''}{text.removeprefix('-')}"


def percent(confidence_level: float) -> str:
    """Return a confidence level as a percentage.

    >>> percent(0.95), percent(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * confidence_level:.10g}%"


def short_number(value: Any) -> str:
    """Return a single number with three decimals or two significant digits; exactly 0 is "0".

    >>> short_number(0.0), short_number(0.17963), short_number(12), short_number(float("inf"))
    ('0', '0.180', '12', 'infinity')
    """
    if isinstance(value, int | np.integer) or value == 0:
        return minus(f"{int(value):,}")
    if math.isfinite(value):
        return amount(value)
    return "unknown" if math.isnan(value) else f"{'−' if value < 0 else ''}infinity"


def estimate_with_ends(estimate: float, low: float, high: float, confidence_level: float) -> str:
    """Return an estimate with its interval; an estimate of 0 is reported as below the upper end.

    >>> estimate_with_ends(0.17963, 0.1646, 0.1933, 0.95)
    '0.180 (95% CI 0.165 to 0.193)'
    >>> estimate_with_ends(0.0, 0.0, 0.0171, 0.95)
    'below 0.017 (95% confidence)'
    """
    level = percent(confidence_level)
    if estimate == low == 0 < high < math.inf:
        return f"below {short_number(high)} ({level} confidence)"
    if math.isnan(low) or math.isnan(high):
        return f"{short_number(estimate)} (no interval)"
    ends = f"{short_number(low)} to {short_number(high)}"
    return f"{short_number(estimate)} ({level} CI {ends})"


def estimate_cell(text: str, estimate: float, low: float, high: float) -> str:
    """Return an estimate for a table next to its interval; one of 0 is only below the upper end.

    >>> estimate_cell("0.0213", 0.0213, 0.01, 0.03), estimate_cell("0.0000", 0.0, 0.0, 0.0087)
    ('0.0213', '< 0.0087')
    """
    return f"< {high:.4f}" if estimate == low == 0 < high < math.inf else text


def pvalue_with_bound(pvalue: float, notes: Mapping[str, Any], sides: int = 1) -> str:
    """Return a p-value; the smallest that a resampling test can give is a bound.

    A two-sided test counts the resamples of the rarer tail twice.

    >>> pvalue_with_bound(0.34567, {}), pvalue_with_bound(0.001, {"n_resamples": 999})
    ('p = 0.346', 'p ≤ 0.001')
    """
    if math.isnan(pvalue):
        return "no p-value"
    n_resamples = notes.get("n_resamples")
    least = isinstance(n_resamples, int) and pvalue * (1 + n_resamples) <= sides + 1e-9
    return f"p {'≤' if least else '='} {pvalue:.3g}"


def pvalue_cell(pvalue: float, digits: int = 3) -> str:
    """Return a p-value for a table; one without known digits is only below a bound.

    >>> pvalue_cell(0.34567), pvalue_cell(2.2e-308), pvalue_cell(0.034567, 2)
    ('0.346', '< 1e-300', '0.035')
    """
    if pvalue < SMALLEST_PVALUE:
        return f"< {SMALLEST_PVALUE:g}"
    return f"{pvalue:.{digits}g}"


def clipped_rows(notes: Mapping[str, Any]) -> str:
    """Return how many probabilities of 0 a log loss clips, or an empty text.

    >>> clipped_rows({"clipped": 24}), clipped_rows({})
    ('24 probabilities of 0 clipped', '')
    """
    count = notes.get("clipped")
    if not isinstance(count, int) or count < 1:
        return ""
    return f"{count:,} probabilit{'y' if count == 1 else 'ies'} of 0 clipped"


def rounded_digits(text: str) -> str:
    """Return text with the long decimals in it cut to four significant digits.

    >>> rounded_digits("Beta(alpha=0.9910494974976612, beta=2.0, n=1234567)")
    'Beta(alpha=0.991, beta=2.0, n=1234567)'
    """
    return LONG_DECIMALS.sub(lambda found: f"{float(found[0]):.4g}", text)


def cell(value: Any) -> str:
    """Return a value of a table: four decimals, and more for a small number that is not 0.

    >>> cell(-0.12345), cell(0.0), cell(0.000012), cell("a")
    ('−0.1235', '0', '1.2e-05', 'a')
    """
    if not isinstance(value, float | np.floating):
        return str(value)
    number = float(value)
    if number == 0:
        return "0"
    return minus(f"{number:.1e}" if abs(number) < 5e-5 else f"{number:.4f}")
