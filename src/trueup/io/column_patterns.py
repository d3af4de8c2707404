"""The selection of columns by name, by a list of names, or by a pattern such as ``p_*``."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase

from trueup.errors import Argument, Verbatim, must_be
from trueup.io.file_errors import listed, refusal

ColumnNames = str | Sequence[str] | None

MOST_COMPARED = 1000  # names among which one that is spelled alike is looked for
BREAK = re.compile(r"[_.\-\s:/\[(=|]")  # what stands between a prefix and the name of a class


def pick(option: str, asked: str | Sequence[str], names: Sequence[str], shown: str) -> list[str]:
    """Return the requested columns in the given order; `ordered` sorts those of a pattern."""
    if isinstance(asked, str) and asked in names:
        asked = [asked]
    parts = asked.split(",") if isinstance(asked, str) else list(asked)
    if not parts or not all(isinstance(part, str) and part.strip() for part in parts):
        raise must_be(option, "names of columns, or a pattern such as 'p_*'", asked)
    known, picked = Counter(names), dict[str, None]()  # not lists: there may be many columns
    for part in parts:
        name = part if part in known else part.strip()
        picked |= dict.fromkeys([name] if name in known else _matches(option, name, names, shown))
    for name in picked:
        if known[name] > 1:
            raise twice(name, names, shown)
    return list(picked)


def pick_one(option: str, asked: str | Sequence[str], names: Sequence[str], shown: str) -> str:
    """Return the requested column; raise InputError if the option names several."""
    picked = pick(option, asked, names, shown)
    if len(picked) > 1:
        raise must_be(option, "one column", Verbatim(listed(picked))).replace(file=shown)
    return picked[0]


def ordered(names: Sequence[str]) -> list[str]:
    """Return names sorted by their numbers (p_2 before p_10), or unchanged if not all have one.

    Names with words stay in the order of the file, to which class numbers refer.

    >>> ordered(["p_10", "p_2", "p_1"]), ordered(["p_dog", "p_cat"])
    (['p_1', 'p_2', 'p_10'], ['p_dog', 'p_cat'])
    """
    numbers = remainders(names)
    if all(number.isdecimal() for number in numbers):
        return [name for _, name in sorted(zip(map(int, numbers), names, strict=True))]
    return list(names)


def remainders(names: Sequence[str]) -> list[str]:
    """Return names without the prefix and suffix that all share, cut at a break such as ``_``.

    >>> remainders(["p_cat", "p_car"]), remainders(["cat_prob", "dog_prob"]), remainders(["c1"])
    (['cat', 'car'], ['cat', 'dog'], ['c1'])
    """
    if len(names) == 1:
        at = list(BREAK.finditer(names[0][1:-1]))
        return [names[0][at[0].end() + 1 :]] if at else list(names)
    start = _common_start(names)
    digits = [name[len(start.rstrip("0123456789")) :] for name in names]
    if all(rest.isdecimal() for rest in digits):
        return digits
    breaks = list(BREAK.finditer(start))
    head = breaks[-1].end() if breaks else 0
    rests = [name[head:] for name in names]
    end = _common_start([rest[::-1] for rest in rests])[::-1]
    tail = BREAK.search(end) or re.search(r"[\])]+$", end)
    cut = len(end) - tail.start() if tail else 0
    rests = [rest[: len(rest) - cut] for rest in rests]
    return rests if all(rests) else list(names)


def _common_start(texts: Sequence[str]) -> str:
    low, high = min(texts), max(texts)  # what these share, all between them do
    same = (k for k, (a, b) in enumerate(zip(low, high, strict=False)) if a != b)
    return low[: next(same, min(len(low), len(high)))]


def _matches(option: str, part: str, names: Sequence[str], shown: str) -> list[str]:
    found = [name for name in names if fnmatchcase(name, part)]
    if found:
        return ordered(found)
    near = difflib.get_close_matches(part, names[:MOST_COMPARED], n=1, cutoff=0.7)
    folded = [name for name in names if name.lower() == part.lower()] or near
    hint = f"is it {folded[0]!r}?" if folded else f"its columns are {listed(names)}"
    kind = "columns like" if set(part) & set("*?[") else "column"
    raise refusal(shown, (f"has no {kind} {part!r} (", Argument(option), ")"), hint=hint)


def twice(name: str, names: Sequence[str], shown: str) -> Exception:
    """Build the error about a name that several columns share."""
    hint = "give its columns different names"
    return refusal(shown, f"has {list(names).count(name)} columns called {name!r}", hint=hint)
