"""The count of rejected phrases: what is searched, and that it only falls."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tools.prose import ERRORS, check, hits_of

BAD = "as " + "everywhere"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "src").mkdir()
    return tmp_path


def rules(path: Path, content: str) -> list[str]:
    path.write_text(content, "utf-8")
    return [f"{hit.line} {hit.rule}" for hit in hits_of(path)]


def test_python_is_searched_in_docstrings_strings_and_comments(tree: Path) -> None:
    content = f'''"""Right.

    >>> "{BAD}"
    """
# This is {BAD}.
a = "so, {BAD}."
b = f"{{a}} {BAD}"
c = "{BAD.replace(" ", "_")}"
d = "{BAD}"  # prose: ok
def f():
    """Say what,
    {BAD}, `{BAD}` and ``{BAD}``."""
'''
    found = rules(tree / "a.py", content)
    assert found == ["5 elliptic", "6 elliptic", "7 elliptic", "11 elliptic"]


def test_markdown_is_searched_outside_code(tree: Path) -> None:
    content = f"# Title\n\n```\n{BAD}\n```\n\nHere, as\neverywhere. `{BAD}`\n\n  * {BAD}\n"
    assert rules(tree / "a.md", content) == ["7 elliptic", "10 elliptic"]


@pytest.mark.parametrize(
    ("summary", "n"), [("Is it so?", 1), ("What\n    of lines?", 1), ("Fit `a?`.\n\n    Why?", 0)]
)
def test_a_summary_is_no_question(tree: Path, summary: str, n: int) -> None:
    assert rules(tree / "a.py", f'def f():\n    """{summary}"""\n') == ["2 question"] * n


def test_case_and_beginnings(tree: Path) -> None:
    start = "Refu" + "se"
    assert rules(tree / "a.py", f'"""{start} all."""') == ["1 refuse"]
    assert rules(tree / "a.py", f'"""We {start.lower()} all."""') == []
    assert rules(tree / "a.py", f'"""{BAD.upper()}"""') == ["1 elliptic"]


def test_counts_may_only_fall(tree: Path) -> None:
    file, page = tree / "counts.json", tree / "docs" / "page.md"
    file.write_text("{}")
    page.write_text(f"{BAD}\n\n{BAD}")
    passed, report = check(tree, file)
    assert not passed
    assert report[-1] == "docs/page.md: 2 rejected phrases, 0 allowed"
    assert not check(tree, file, update=True)[0]  # an update allows no more than before
    file.write_text(json.dumps({"docs/page.md": 2}))
    assert check(tree, file) == (True, [])
    page.write_text(BAD)
    passed, report = check(tree, file)
    assert passed
    assert "--update" in report[0]
    assert check(tree, file, update=True) == (True, [])
    assert json.loads(file.read_text()) == {"docs/page.md": 1}
    page.write_text("Good.")
    check(tree, file, update=True)
    assert json.loads(file.read_text()) == {}


def test_files_that_move_take_their_counts_along(tree: Path) -> None:
    file = tree / "counts.json"
    file.write_text(json.dumps({"docs/page.md": 2, "docs/other.md": 1}))
    (tree / "src" / "page.md").write_text(f"{BAD}\n\n{BAD}")
    (tree / "docs" / "other.md").write_text(BAD)
    assert not check(tree, file)[0]
    assert check(tree, file, update=True) == (True, [])
    assert json.loads(file.read_text()) == {"docs/other.md": 1, "src/page.md": 2}


def test_patterns_are_those_of_words() -> None:
    assert len(ERRORS) > 20
    for pattern in ERRORS.values():
        assert not re.search(pattern, "The interval covers the population value.", re.IGNORECASE)
