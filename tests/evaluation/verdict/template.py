"""Templates of sentences: a pattern, and a function that recomputes what it states."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from evaluation.verdict.facts import Facts

Check = Callable[[Facts, re.Match[str]], None]
ENDS = re.compile(r"\.(?= )|\.$")


@dataclass(frozen=True)
class Template:
    """One sentence: the question it answers, how it reads, and whether it is true."""

    name: str
    question: str
    pattern: re.Pattern[str]
    check: Check


TEMPLATES: dict[str, Template] = {}


def template(question: str, pattern: str, name: str = "") -> Callable[[Check], Check]:
    """Register the function as what recomputes the sentences of a pattern."""

    def registered(check: Check) -> Check:
        found = Template(name or check.__name__, question, re.compile(pattern), check)
        # A module that is searched for doctests is imported a second time.
        known = TEMPLATES.get(found.name, found)
        assert known.pattern == found.pattern, f"two templates are named {found.name}"
        TEMPLATES[found.name] = found
        return check

    return registered


def matching(question: str, sentence: str) -> list[tuple[Template, re.Match[str]]]:
    """Return the templates of a question that a sentence matches."""
    found = (
        (each, each.pattern.fullmatch(sentence))
        for each in TEMPLATES.values()
        if each.question == question
    )
    return [(each, match) for each, match in found if match]


def sentences_of(question: str, answer: str) -> list[str]:
    """Split an answer into sentences that templates match; where none does, at the next stop.

    Names may hold stops, so the shortest beginning that some template matches is a sentence.
    """
    found: list[str] = []
    while answer:
        stops = [match.end() for match in ENDS.finditer(answer)]
        assert stops, f"{answer!r} does not end with a stop"
        end = next((e for e in stops if matching(question, answer[:e])), stops[0])
        found.append(answer[:end])
        answer = answer[end:].removeprefix(" ")
    return found
