"""Folders hold few modules, no module is a scrap, and the tests mirror the tree."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE, TESTS = ROOT / "src" / "trueup", ROOT / "tests"
MOST_MODULES, FEWEST_LINES = 16, 30
# Folders of tests that are about no single package.
OF_NO_PACKAGE = {"examples", "golden", "laws", "oracles", "package", "papers", "studies", "support"}
FILES = [
    path
    for folder in (SOURCE, TESTS)
    for path in sorted(folder.glob("**/*.py*"))
    if path.suffix in (".py", ".pyx")
]
MODULES = [path for path in FILES if path.name != "__init__.py"]
FOLDERS = sorted({path.parent for path in MODULES})


def of_root(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("folder", FOLDERS, ids=of_root)
def test_a_folder_holds_few_modules(folder: Path) -> None:
    assert len([path for path in MODULES if path.parent == folder]) <= MOST_MODULES


@pytest.mark.parametrize("path", MODULES, ids=of_root)
def test_a_file_is_no_scrap(path: Path) -> None:
    n_lines = len(path.read_text(encoding="utf-8").splitlines())
    assert path.name == "__main__.py" or n_lines >= FEWEST_LINES


def test_tests_mirror_the_tree() -> None:
    folders = {path.relative_to(TESTS) for path in FOLDERS if path.is_relative_to(TESTS)}
    mirrored = {
        folder for folder in folders if folder.parts and folder.parts[0] not in OF_NO_PACKAGE
    }
    assert [str(folder) for folder in sorted(mirrored) if not (SOURCE / folder).is_dir()] == []


def test_every_folder_of_modules_is_a_package() -> None:
    folders = [folder for folder in FOLDERS if folder.is_relative_to(SOURCE)]
    assert [of_root(folder) for folder in folders if not (folder / "__init__.py").exists()] == []
