"""Ranges of scores in words, with enough digits to distinguish their ends, 0 and 1."""

from __future__ import annotations

MOST_DIGITS = 6
ALMOST = {False: "just above 0", True: "just below 1"}


def between(low: float, high: float) -> str:
    """Return the scores between two bounds.

    >>> between(0.1, 0.1674), between(0.0, 0.05), between(0.95, 1.0), between(0.0, 1.0)
    ('from 0.10 to 0.17', 'up to 0.05', 'above 0.95', 'from 0 to 1')
    >>> between(0.99, 1 - 1e-9), between(1 - 1e-8, 1 - 1e-9), between(1 - 1e-9, 1.0)
    ('from 0.99 to just below 1', 'just below 1', 'next to 1')
    """
    digits = next((d for d in range(2, MOST_DIGITS) if round(low, d) < round(high, d)), MOST_DIGITS)
    first, last = bound(low, digits), bound(high, digits)
    if (low, high) == (0.0, 1.0):
        return "from 0 to 1"
    if low == 0.0:
        return "next to 0" if last == ALMOST[False] else f"up to {last}"
    if high == 1.0:
        return "next to 1" if first == ALMOST[True] else f"above {first}"
    return first if first == last and first in ALMOST.values() else f"from {first} to {last}"


def bound(score: float, least: int) -> str:
    """Return a bound with enough decimals to distinguish it from 0 and 1, or in words.

    >>> bound(0.1, 2), bound(0.99971, 2), bound(1 - 1e-9, 2), bound(1e-12, 3), bound(1.0, 2)
    ('0.10', '0.9997', 'just below 1', 'just above 0', '1')
    """
    if score in (0.0, 1.0):
        return f"{score:.0f}"
    for digits in range(least, MOST_DIGITS + 1):
        if 0 < round(score, digits) < 1:
            return f"{score:.{digits}f}"
    return ALMOST[score > 0.5]


def one_score(score: float) -> str:
    """Return the only score of a bin, or the common score if all differ by less than a millionth.

    >>> one_score(0.3), one_score(0.95), one_score(1 - 1e-9), one_score(8e-12), one_score(1.0)
    ('of 0.3', 'of 0.95', 'just below 1', 'just above 0', 'of 1')
    """
    for digits in range(4, MOST_DIGITS + 2):
        text = f"{score:.{digits}g}"
        if 1e-6 < score < 1 and 0 < float(text) < 1:
            return f"of {text}" if "e" not in text else f"of {score:.{MOST_DIGITS + 1}f}"
    return ALMOST[score > 0.5] if 0 < score < 1 else f"of {score:.0f}"
