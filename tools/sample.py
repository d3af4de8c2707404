"""Draw texts at random for a reader: paragraphs of docs, docstrings and messages.

``python -m tools.sample --count 50 --seed 1`` prints about as many of each kind, with their places.
Tables and texts of fewer than five words are not drawn.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tools.prose import ROOT, texts_of

FEWEST_WORDS = 5
KINDS = ("page", "docstring", "message")


class Sampled(NamedTuple):
    """A text, its kind and where it stands."""

    kind: str
    place: str
    words: str


def texts(root: Path) -> Iterator[Sampled]:
    """Yield every text that may be drawn."""
    for path in sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md")]):
        for text in texts_of(path.suffix, path.read_text("utf-8")):
            words = text.words.strip()
            if not words.startswith(("|", "#", "![")):
                yield Sampled("page", f"{path.relative_to(root)}:{text.first}", words)
    for path in sorted((root / "src").rglob("*.py")):
        content = path.read_text("utf-8")
        for text in texts_of(path.suffix, content):
            if text.kind == "docstring":
                yield Sampled("docstring", f"{path.relative_to(root)}:{text.first}", text.words)
        for line, words in _messages(ast.parse(content)):
            yield Sampled("message", f"{path.relative_to(root)}:{line}", words)


def _messages(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield strings that are no docstrings; what code inserts is shown in braces."""
    inside = {
        part
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
        if part is not node
    }
    docstrings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if node in inside or node in docstrings:
            continue
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, ast.unparse(node)[2:-1]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def drawn(root: Path, count: int, seed: int) -> list[Sampled]:
    """Draw about equally many texts of each kind."""
    chance = random.Random(seed)
    found = [text for text in texts(root) if len(text.words.split()) >= FEWEST_WORDS]
    some: list[Sampled] = []
    for place, kind in enumerate(KINDS):
        many = (count + place) // len(KINDS)
        some += chance.sample([text for text in found if text.kind == kind], many)
    return some


def main(arguments: list[str]) -> int:
    """Print the texts."""
    parser = argparse.ArgumentParser(prog="python -m tools.sample", description=__doc__)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, required=True)
    asked = parser.parse_args(arguments)
    for number, text in enumerate(drawn(ROOT, asked.count, asked.seed), start=1):
        print(f"[{number}] {text.kind}, {text.place}\n{text.words.strip()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
