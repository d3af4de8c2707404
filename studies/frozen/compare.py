"""What differs between two runs: groups of keys, with the largest relative difference of each."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from studies.frozen.record import Entries, scalars

ROUNDING = 1e-14
GROUP_DEPTH = 2
EXAMPLES = 3
WIDTH = 60
KINDS = ("larger", "sign", "rounding", "text", "removed", "added")
HEADINGS = {
    "larger": f"numbers that differ by more than {ROUNDING:g} relative, or in shape or sign of NaN",
    "sign": "numbers that differ in their sign alone",
    "rounding": f"numbers that differ by at most {ROUNDING:g} relative",
    "text": "texts, errors and types that differ",
    "removed": "keys of the first run alone",
    "added": "keys of the second run alone",
}


def compare(before: Entries, after: Entries, renames: Mapping[str, str] | None = None) -> str:
    """Return a report of all differences; nothing where there are none.

    ``renames`` maps regular expressions for parts of keys of the first run to what stands there in
    keys of the second.
    """
    for old, new in (renames or {}).items():
        before = {re.sub(old, new, key): leaf for key, leaf in before.items()}
    found = list(differences(before, after))
    lines = []
    for kind in KINDS:
        groups: dict[str, list[tuple[str, float]]] = defaultdict(list)
        for key, its_kind, relative in found:
            if its_kind == kind:
                groups["/".join(key.split("/")[:GROUP_DEPTH])].append((key, relative))
        if groups:
            lines.append(f"{HEADINGS[kind]}: {sum(map(len, groups.values()))}")
        for name, members in groups.items():
            lines += _lines_of_group(name, kind, members, before, after)
    if not found:
        return ""
    same = sum(key in after for key in before) - sum(kind in KINDS[:4] for _, kind, _ in found)
    return "\n".join([*lines, f"{same} entries are bit-for-bit identical"])


def differences(before: Entries, after: Entries) -> Iterator[tuple[str, str, float]]:
    """Yield (key, kind, relative difference) for every entry that is not identical."""
    for key in before:
        if key not in after:
            yield key, "removed", math.nan
        elif json.dumps(before[key]) != json.dumps(after[key]):
            yield key, *_difference(before[key], after[key])
    for key in after:
        if key not in before:
            yield key, "added", math.nan


def _difference(before: Any, after: Any) -> tuple[str, float]:
    first, second = list(scalars(before)), list(scalars(after))
    if not (all(map(_is_number, first)) and all(map(_is_number, second))):
        return "text", math.nan
    if len(first) != len(second):
        return "larger", math.inf
    largest = max(map(relative_difference, first, second))
    if largest <= ROUNDING:
        return "rounding", largest
    opposite = max(map(relative_difference, first, (-number for number in second)))
    return ("sign" if opposite == 0 else "larger"), largest


def relative_difference(a: float, b: float) -> float:
    """Return abs(a − b) divided by the larger magnitude; 0 for two NaN, infinity for one."""
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    found = abs(a - b) / max(abs(a), abs(b))
    return found if math.isfinite(found) else math.inf


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _lines_of_group(
    name: str, kind: str, members: list[tuple[str, float]], before: Entries, after: Entries
) -> Iterator[str]:
    largest = max(relative for _, relative in members)
    size = "" if math.isnan(largest) else f", largest relative difference {largest:.1e}"
    yield f"  {name}: {len(members)}{size}"
    for key, relative in sorted(members, key=lambda each: -each[1] if each[1] else 0)[:EXAMPLES]:
        both = kind not in ("removed", "added")
        shown = _both(before[key], after[key]) if both else ""
        yield f"    {key}{shown}" + ("" if math.isnan(relative) else f" ({relative:.1e})")


def _both(before: Any, after: Any) -> str:
    first, second = list(scalars(before)), list(scalars(after))
    if len(first) == len(second) > 1:  # of arrays show the first place that differs
        place = next(
            i for i, (a, b) in enumerate(zip(first, second, strict=True)) if repr(a) != repr(b)
        )
        return f"[{place}]: {_short(first[place])} → {_short(second[place])}"
    return f": {_short(before)} → {_short(after)}"


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= WIDTH else f"{text[:WIDTH]}…"
