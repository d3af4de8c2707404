"""Names of many groups along an axis: their order, and shortened texts that stay distinct."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np

from trueup.plotting.common.style import words

FEWEST_CUT = 4  # letters: a common start or end that is shorter stays
BORDER = re.compile(r"[^0-9A-Za-z]")
DATE = re.compile(r"(\d{4})[-/.]?(\d{2})(?:[-/.]?(\d{2}))?(?:[T ][0-9:.]+Z?)?")


def distinct_words(names: Sequence[Any], longest: int) -> list[str]:
    """Return names as text of at most ``longest`` letters, or more where they would be equal.

    Long names lose what all of them start or end with; then their middle.

    >>> distinct_words(["runs/llama-8b-boolq", "runs/llama-70b-boolq"], 10)
    ['8b', '70b']
    >>> distinct_words(["abcdefgh1ijklmnop", "abcdefgh2ijklmnop"], 10)
    ['abcdefgh1…mnop', 'abcdefgh2…mnop']
    """
    texts = [" ".join(str(name).split()) for name in names]
    if max(map(len, texts), default=0) > longest and len(set(texts)) > 1:
        texts = _without_common(texts)
    different = len(set(texts))
    for letters in range(longest, max(map(len, texts), default=0) + 1):
        short = [words(text, letters) for text in texts]
        if len(set(short)) == different:
            return short
    return [words(text, max(1, len(text))) for text in texts]


def _without_common(texts: list[str]) -> list[str]:
    """Cut the start and the end that all texts share, at a border between words."""
    start = _to_border(_common_start(texts))
    texts = [text[len(start) :] for text in texts]
    end = _to_border(_common_start([text[::-1] for text in texts]))
    cut = [text[: len(text) - len(end)] for text in texts]
    return cut if all(cut) else texts


def _common_start(texts: list[str]) -> str:
    """Return what all texts start with: what the first and the last in order do."""
    first, last = min(texts), max(texts)
    pairs = enumerate(zip(first, last, strict=False))
    return first[: next((k for k, (a, b) in pairs if a != b), min(len(first), len(last)))]


def _to_border(common: str) -> str:
    """The part of a common start up to its last border between words, if it is worth cutting."""
    ends = [found.end() for found in BORDER.finditer(common)]
    kept = common[: ends[-1]] if ends else ""
    return kept if len(kept) >= FEWEST_CUT else ""


def order_of(names: Sequence[Any]) -> list[int] | None:
    """Return places of names in their own order, of dates or numbers; None if they have none.

    >>> order_of(["day-2024-01-10.csv", "day-2024-01-02.csv"]), order_of(["b", "a"])
    ([1, 0], None)
    >>> order_of(["10", "9"]), order_of([2024, 2023])
    ([1, 0], [1, 0])
    """
    values = [_value(name) for name in names]
    if any(value is None for value in values):
        texts = [str(name) for name in names]
        values = [_value(text) for text in _around_digits(texts)]
    if any(value is None for value in values) or len({type(value) for value in values}) != 1:
        return None
    return sorted(range(len(names)), key=values.__getitem__)


def _around_digits(texts: list[str]) -> list[str]:
    """Cut the start and the end that all texts share, but no digits."""
    start = _common_start(texts).rstrip("0123456789-/.")
    texts = [text[len(start) :] for text in texts]
    end = _common_start([text[::-1] for text in texts])
    end = end[::-1].lstrip("0123456789-/")
    return [text[: len(text) - len(end)].strip(" -_/.") for text in texts]


def _value(name: Any) -> Any:
    """Return the value of a name that is a date or a number; None for other names."""
    if isinstance(name, date):
        return name.isoformat()
    if isinstance(name, np.datetime64):
        return str(name.astype("datetime64[us]"))
    if isinstance(name, bool | np.bool_):
        return None
    if isinstance(name, int | float | np.number):
        return float(name)
    text = str(name).strip()
    if found := DATE.fullmatch(text):
        year, month, day = (int(part or 1) for part in found.groups())
        if 1 <= month <= 12 and 1 <= day <= 31 and ("-" in text or "/" in text or day):
            return f"{year:04d}-{month:02d}-{day:02d} {text}"
    try:
        return float(text)
    except ValueError:
        return None
