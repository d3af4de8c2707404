"""What code must know about an estimator, lens, binning or table is a method or field of it.

Outside their own packages nothing asks of which class such a value is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "trueup"
HOME_MODULES = ("trueup.estimators", "trueup.lens", "trueup.tables", "trueup.bins", "trueup.local")
HOMES = ("estimators", "lens", "tables", "bins.py", "local")

# (file, what it asks): why a method or field would be worse.
EXCEPTIONS: dict[tuple[str, str], str] = {}
MOST_EXCEPTIONS = 5


def files(*homes: str) -> list[Path]:
    found = [SOURCE / home for home in homes]
    return [path for home in found for path in ([home] if home.is_file() else home.rglob("*.py"))]


@cache
def classes() -> set[str]:
    """Names of all classes of estimators, lenses, binnings and tables, and groups of them."""
    roots = {"Estimator", "Lens", "Binning", "Table"}
    bases: dict[str, set[str]] = {}
    for path in files(*HOMES):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases[node.name] = {getattr(base, "id", "") for base in node.bases}
    known = set(roots)
    while more := {name for name, of in bases.items() if of & known} - known:
        known |= more
    return known


def names_in(node: ast.AST) -> set[str]:
    return {
        each.id if isinstance(each, ast.Name) else each.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Name | ast.Attribute)
    }


def questions(tree: ast.Module, known: set[str]) -> Iterator[tuple[int, str]]:
    """Where a file asks for the class of a value of which it should ask something else."""
    # A class of the same name from elsewhere, such as a curve of `simulate`, is another thing.
    foreign = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and not (node.module or "").startswith(HOME_MODULES)
        for alias in node.names
    }
    aliases = known - foreign
    for node in ast.walk(tree):  # TUPLE = (BinTable, CellTable)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple | ast.BinOp):
            parts = {getattr(part, "id", "") for part in ast.walk(node.value)}
            if parts & known:
                aliases |= {getattr(target, "id", "") for target in node.targets}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1:
            if node.func.id in ("isinstance", "issubclass") and names_in(node.args[1]) & aliases:
                yield node.lineno, ast.unparse(node)
            if node.func.id == "hasattr" and ast.unparse(node.args[1]) in ASKED_OF_VALUES:
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            of_class = any(
                isinstance(side, ast.Call) and getattr(side.func, "id", "") in ("type", "repr")
                for side in sides
            ) or any(isinstance(side, ast.Attribute) and side.attr == "__name__" for side in sides)
            if of_class and set().union(*map(names_in, sides)) & aliases:
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.MatchClass) and names_in(node.cls) & aliases:
            yield node.lineno, ast.unparse(node)


ASKED_OF_VALUES = ("'lens'", "'norm'", "'binning'", "'debias'", "'table'", "'tables'", "'edges'")


def found() -> list[tuple[str, int, str]]:
    known, own = classes(), set(files(*HOMES))
    return [
        (path.relative_to(SOURCE).as_posix(), line, text)
        for path in sorted(SOURCE.rglob("*.py"))
        if path not in own
        for line, text in questions(ast.parse(path.read_text(encoding="utf-8")), known)
    ]


def test_nothing_asks_for_classes_outside_their_packages():
    wrong = [
        f"{name}:{line}: {text}" for name, line, text in found() if (name, text) not in EXCEPTIONS
    ]
    assert not wrong, "\n".join(wrong)


def test_exceptions_are_few_and_needed():
    assert len(EXCEPTIONS) <= MOST_EXCEPTIONS
    assert set(EXCEPTIONS) == {(name, text) for name, _, text in found()} & set(EXCEPTIONS)
    assert all(EXCEPTIONS.values())


@pytest.mark.parametrize(
    "code",
    [
        "isinstance(x, BinnedError)",
        "isinstance(x, int | lens.TopLabel)",
        "issubclass(x, Table)",
        "type(x) is Brier",
        "type(x) in (Binary, TopLabel)",
        "KINDS = (Binary, TopLabel)\ntype(x) in KINDS",
        "type(x).__name__ == BinnedError.__name__",
        "hasattr(x, 'lens')",
        "match x:\n    case EqualMass():\n        pass",
    ],
)
def test_the_check_sees_every_way_to_ask(code: str):
    assert list(questions(ast.parse(code), classes()))


@pytest.mark.parametrize("code", ["isinstance(x, int)", "lens == Binary()", "x.induces == 'pairs'"])
def test_the_check_leaves_other_questions_alone(code: str):
    assert not list(questions(ast.parse(code), classes()))
