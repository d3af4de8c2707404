"""README.md and docs/start.md as a newcomer uses them: all blocks, in order, in an empty folder."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import trueup as tu
from trueup import datasets, recalibrate
from trueup.metrics import NAMED

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
START = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
MOST_LINES = 149
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What installs, or runs the whole of `make`, is left to other tests and to a fresh clone.
INSTALL = ("python3 -m venv ", ". .venv/bin/activate", "pip install ", "make ")
LANGUAGES = {"sh", "python", "text"}


class Block(NamedTuple):
    """A code block, and the text block right behind it: what it prints."""

    language: str
    code: str
    line: int
    printed: str


def blocks(page: str) -> list[Block]:
    found = list(FENCE.finditer(page))
    listed = []
    for place, match in enumerate(found):
        language, code = match.groups()
        if language == "text":
            continue
        after = found[place + 1] if place + 1 < len(found) else None
        between = page[match.end() : after.start()] if after else "."
        shown = after.group(2) if after and after.group(1) == "text" and not between.strip() else ""
        line = page.count("\n", 0, match.start()) + 2
        listed.append(Block(language, code, line, shown))
    return listed


def commands(code: str) -> list[str]:
    """The lines of a shell block that are not of the installation."""
    return [line for line in code.splitlines() if line and not line.startswith(INSTALL)]


@pytest.fixture
def shell(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, dict[str, str]]:
    """An empty folder to be in, and an environment with the program on the path."""
    programs, folder = tmp_path_factory.mktemp("bin"), tmp_path_factory.mktemp("empty")
    monkeypatch.chdir(folder)
    program = programs / "trueup"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m trueup "$@"\n')
    program.chmod(0o755)
    source = str(Path(tu.__file__).parents[1])
    paths = [source, *filter(None, [os.environ.get("PYTHONPATH")])]
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": os.pathsep.join(paths)}
    return folder, environment


def words(text: str) -> str:
    return " ".join(text.split())


def run_shell(block: Block, folder: Path, environment: dict[str, str]) -> None:
    printed = []
    for line in commands(block.code):
        done = subprocess.run(
            ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"line {block.line}: {line}\n{done.stderr}"
        printed.append(done.stdout)
    assert words(block.printed) in words(" ".join(printed)), f"line {block.line}"


def run_python(block: Block, names: dict[str, object]) -> None:
    test = doctest.DocTestParser().get_doctest(block.code, names, "page", "page", block.line)
    assert test.examples, f"line {block.line}: nothing to run"
    report: list[str] = []
    result = doctest.DocTestRunner().run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    assert result.failed == 0, "".join(report)


def run_all(page: str, folder: Path, environment: dict[str, str]) -> None:
    names: dict[str, object] = {}
    for block in blocks(page):
        if block.language == "sh":
            run_shell(block, folder, environment)
        else:
            run_python(block, names)


posix = pytest.mark.skipif(os.name != "posix", reason="the commands are those of a POSIX shell")


@posix
def test_every_block_runs_in_order(shell) -> None:
    run_all(README, *shell)
    assert (shell[0] / "reliability.png").stat().st_size > 1000


def tasks() -> dict[str, str]:
    """The sections of docs/start.md that are a task."""
    parts = re.split(r"^## (\d)\. .*$", START, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@posix
@pytest.mark.slow
@pytest.mark.parametrize("task", ["1", "2", "3", "4", "5"])
def test_a_task_of_the_first_ten_minutes(task: str, shell) -> None:
    folder, environment = shell
    text = tasks()[task].partition("\n## ")[0]
    run_all(text, folder, environment)
    if task == "3":
        assert len((folder / "groups.csv").read_text().splitlines()) == 21
    if task == "4":
        assert (folder / "reliability.png").stat().st_size > 1000


@pytest.mark.parametrize("task", ["1", "2", "3", "4", "5"])
def test_a_task_takes_at_most_three_commands_or_lines(task: str) -> None:
    """Behind the first block, which makes the example data."""
    data, first, *_ = blocks(tasks()[task].partition("\n## ")[0])
    assert data.code.strip()
    assert 1 <= len(first.code.strip().splitlines()) <= 3


def test_blocks_are_of_languages_that_are_run() -> None:
    assert {language for language, _ in FENCE.findall(README)} == LANGUAGES
    shown = [block.printed for block in blocks(README) if block.printed]
    assert len(shown) == sum(language == "text" for language, _ in FENCE.findall(README))


def test_only_lines_of_the_installation_are_left_out() -> None:
    lines = [
        line
        for block in blocks(README)
        if block.language == "sh"
        for line in block.code.split("\n")
    ]
    left_out = [line for line in lines if line.startswith(INSTALL)]
    assert {line.partition("#")[0].strip() for line in left_out} == {
        "python3 -m venv .venv",
        ". .venv/bin/activate",
        "pip install '.[plot]'",
        "make demo",
        "make test",
    }
    assert "pip install trueup" not in README  # until it is published


def test_nobody_is_told_to_install_what_is_not_published() -> None:
    texts = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md")]
    assert len(texts) > 300
    wrong = [path.name for path in texts if "pip install trueup" in path.read_text("utf-8")]
    assert wrong == []


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= MOST_LINES


def test_links_and_figures_exist() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_names_in_code_exist() -> None:
    names = set(re.findall(r"`tu\.(\w+)", README))
    assert len(names) > 10
    assert [name for name in names if not hasattr(tu, name)] == []


def test_every_figure_of_the_comparison_is_on_the_page_it_names() -> None:
    section = README.partition("## How it compares")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if "](docs/" in line and line.startswith("|")]
    assert len(rows) >= 4
    for row in rows:
        (page,) = re.findall(r"\]\((docs/[^)]+)\)", row)
        cells = "|".join(row.split("|")[2:])
        figures = re.findall(r"\d+\.\d+%?", cells)
        text = (ROOT / page).read_text(encoding="utf-8")
        assert figures
        assert [figure for figure in figures if figure not in text] == [], row


def test_counts_are_right() -> None:
    methods = [
        getattr(recalibrate, name)
        for name in recalibrate.__all__
        if isinstance(getattr(recalibrate, name), type)
    ]
    of_others = ["AutoCalibration", "CalibratedModel", "IdentityCalibration", "Recalibrator"]
    own = {kind.__name__ for kind in methods if "compose" not in kind.__module__} - set(of_others)
    assert f"{len(NAMED)} metrics" in README
    assert f"{len(own)} methods" in README
    known = datasets.clinic().known
    assert f"O:E ratio of {known['oe_ratio']:.3f} and a slope of {known['slope']:g}" in words(
        README
    )


def test_help_names_where_to_start() -> None:
    listed = re.findall(r"^    (\w+)(?:\.\w+)?\(.*?\) +\w", tu.__doc__ or "", re.MULTILINE)
    names = list(listed)
    assert len(names) == 10
    assert [name for name in names if not hasattr(tu, name)] == []
