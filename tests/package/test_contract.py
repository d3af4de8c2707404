"""What code must know about an estimator, lens, binning or table is a method or field of it.

Outside its own package nothing asks of which class such a value is, or whether it has what only
some of these classes have.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from trueup.bins import Binning
from trueup.estimators import Estimator
from trueup.lens import Lens
from trueup.tables.base import Table

SOURCE = Path(__file__).parents[2] / "src" / "trueup"
ROOTS = (Estimator, Lens, Binning, Table)
OF_A_TEXT = ("count", "endswith", "find", "index", "partition", "removeprefix", "startswith")
OF_A_PATTERN = ("fullmatch", "match", "search")

# (file, what it asks): why a method or field would be worse.
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("codec.py", "hasattr(value, 'to_dict')"): (
        "a value of any class, the caller's too, may write itself; tables are among them"
    ),
}
MOST_EXCEPTIONS = 5


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def home_of(module: str) -> str:
    """The package, or the file of its own, that a module belongs to."""
    return module.split(".")[1] if "." in module else ""


@cache
def classes() -> dict[str, type]:
    """All classes of estimators, lenses, binnings and tables in the source, by name."""
    for path in SOURCE.rglob("*.py"):
        if re.search(r"^class ", path.read_text(encoding="utf-8"), re.MULTILINE):
            with suppress(ImportError):  # a figure, where matplotlib is not installed
                import_module(module_of(path))
    found, waiting = {}, list(ROOTS)
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if (SOURCE.parent / f"{kind.__module__.replace('.', '/')}.py").is_file():
            found[kind.__name__] = kind
    return found


@cache
def attributes() -> dict[str, set[str]]:
    """What values of these classes have: every public attribute and method, and where it is."""
    found: dict[str, set[str]] = {}
    for kind in classes().values():
        own = {field.name for field in fields(kind)} if is_dataclass(kind) else set()
        for name in {*dir(kind), *own}:
            if not name.startswith("_"):
                found.setdefault(name, set()).add(home_of(kind.__module__))
    return found


class Questions:
    """Where a file asks for the class of a value of which it should ask something else."""

    def __init__(self, tree: ast.Module, module: str = "") -> None:
        self.tree, self.home = tree, home_of(module)
        known = {name: kind for name, kind in classes().items() if self._elsewhere(kind)}
        defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
        self.named = re.compile(rf"\b({'|'.join(known)})\b")
        self.names = set(known) - defined  # of these classes, and of tuples of them
        self.told: set[str] = set()  # variables that hold the name or the text of a value
        self.attributes = {n for n, homes in attributes().items() if self.home not in homes}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                self._import(node)
            elif isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value:
                self._assign(node)

    def _elsewhere(self, kind: type) -> bool:
        return home_of(kind.__module__) != self.home

    def _import(self, node: ast.ImportFrom) -> None:
        """A class of the same name from elsewhere is another thing; one by another name is not."""
        for alias in node.names:
            thing: Any = None
            if node.module is not None and node.module.split(".")[0] == "trueup":
                with suppress(ImportError):
                    thing = getattr(import_module(node.module), alias.name, None)
            parts = thing if isinstance(thing, tuple) else (thing,)
            kinds = [each for each in parts if isinstance(each, type)]
            ours = any(each in classes().values() and self._elsewhere(each) for each in kinds)
            (self.names.add if ours else self.names.discard)(alias.asname or alias.name)

    def _assign(self, node: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> None:
        """KINDS = (BinTable, CellTable), and name = type(x).__name__."""
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        given = {each.id for each in targets if isinstance(each, ast.Name)}
        value = node.value
        kinds = ast.Name | ast.Attribute | ast.Tuple | ast.List | ast.Set | ast.BinOp
        if isinstance(value, kinds) and self._mentions(value) and not self._of_class(value):
            self.names |= given
        elif isinstance(value, ast.Call | ast.Attribute) and self._of_class(value):
            self.told |= given

    def _mentions(self, *nodes: ast.AST) -> bool:
        """Whether one of these classes stands there, by its name or that of its module."""
        return any(
            (isinstance(each, ast.Name) and each.id in self.names)
            or (isinstance(each, ast.Attribute) and each.attr in self.names)
            for node in nodes
            for each in ast.walk(node)
        )

    def _of_class(self, *nodes: ast.AST) -> bool:
        """Whether there is the class of a value, its name, or the text that names it."""
        return any(
            (isinstance(each, ast.Call) and getattr(each.func, "id", "") in ("type", "repr"))
            or (isinstance(each, ast.Attribute) and each.attr in ("__class__", "__name__"))
            or (isinstance(each, ast.FormattedValue) and each.conversion == ord("r"))
            or (isinstance(each, ast.Name) and each.id in self.told)
            for node in nodes
            for each in ast.walk(node)
        )

    def _names_in_text(self, *nodes: ast.AST) -> bool:
        """Whether a text there is, or holds, the name of one of these classes."""
        return any(
            isinstance(each, ast.Constant)
            and isinstance(each.value, str)
            and self.named.search(each.value)
            for node in nodes
            for each in ast.walk(node)
        )

    def _asks(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            return self._asks_by_call(node)
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            return self._of_class(*sides) and (
                self._mentions(*sides) or self._names_in_text(*sides)
            )
        if isinstance(node, ast.MatchClass):
            return self._mentions(node.cls)
        if isinstance(node, ast.Match):
            patterns = [case.pattern for case in node.cases]
            return self._of_class(node.subject) and (
                self._mentions(*patterns) or self._names_in_text(*patterns)
            )
        if isinstance(node, ast.Dict):
            keys = [key for key in node.keys if isinstance(key, ast.Name | ast.Attribute)]
            return self._mentions(*keys)
        if isinstance(node, ast.Subscript):  # {"BinnedError": …}[type(x).__name__]
            return self._of_class(node.slice) and self._names_in_text(node.value)
        if isinstance(node, ast.FunctionDef):  # @shown.register, by the type of the argument
            registers = any(getattr(each, "attr", "") == "register" for each in node.decorator_list)
            hints = [each.annotation for each in node.args.args[:1] if each.annotation is not None]
            return registers and self._mentions(*hints)
        return False

    def _asks_by_call(self, node: ast.Call) -> bool:
        name, args = getattr(node.func, "id", ""), node.args
        if name in ("isinstance", "issubclass") and len(args) == 2:
            return self._mentions(args[1])
        if (name == "hasattr" and len(args) == 2) or (name == "getattr" and len(args) == 3):
            return isinstance(args[1], ast.Constant) and args[1].value in self.attributes
        method = getattr(node.func, "attr", "")
        if method == "register":
            return self._mentions(*args[:1])
        by_text = method in (*OF_A_TEXT, *OF_A_PATTERN, "get")
        return by_text and self._of_class(node) and self._names_in_text(node)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        for node in ast.walk(self.tree):
            if self._asks(node):
                yield getattr(node, "lineno", 0), ast.unparse(node).partition("\n")[0]


@cache
def found() -> list[tuple[str, int, str]]:
    return [
        (path.relative_to(SOURCE).as_posix(), line, text)
        for path in sorted(SOURCE.rglob("*.py"))
        for line, text in Questions(ast.parse(path.read_text(encoding="utf-8")), module_of(path))
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
        # through the package, by another name, or of another package
        "import trueup as tu\nisinstance(x, tu.BinnedError)",
        "import trueup\nisinstance(x, trueup.estimators.BinnedError)",
        "from trueup import BinnedError\nisinstance(x, BinnedError)",
        "from trueup import BinnedError as Binned\nisinstance(x, Binned)",
        "from trueup.evaluation.on_demand import BinnedError\nisinstance(x, BinnedError)",
        "Kind = BinnedError\nisinstance(x, Kind)",
        "isinstance(x, LocalError)",
        # other ways to the class
        "type(x) == Brier",
        "type(x) != Brier",
        "x.__class__ is Brier",
        "x.__class__ == tu.Brier",
        "Brier in type(x).__mro__",
        "WORDS = {Brier: 'score', BinnedError: 'error'}",
        "WORDS = {tu.Brier: 'score'}",
        "match type(x):\n    case tu.Brier:\n        pass",
        "@singledispatch\ndef f(x): ...\n@f.register\ndef _(x: BinnedError): ...",
        "@f.register(BinnedError)\ndef _(x): ...",
        "f.register(BinnedError, g)",
        # its name, or its text
        "type(x).__name__ == 'BinnedError'",
        "'BinnedError' != x.__class__.__name__",
        "type(x).__name__ in ('Brier', 'LogLoss')",
        "name = type(x).__name__\nname == 'BinnedError'",
        "repr(x).startswith('BinnedError(')",
        "shown = repr(x)\nshown.startswith('BinnedError(')",
        "'VarianceTree' in repr(x)",
        "f'{x!r}'.startswith('EqualMass')",
        "re.match('EqualMass', repr(x))",
        "{'Brier': 1}[type(x).__name__]",
        "{'Brier': 1}.get(type(x).__name__)",
        "match type(x).__name__:\n    case 'Brier':\n        pass",
        # what only some of these classes have
        "hasattr(x, 'powers_for_labels')",
        "hasattr(x, 'class_number')",
        "hasattr(x, 'min_leaf')",
        "getattr(x, 'norm', None)",
        "getattr(x, 'equal_shares', False)",
        "getattr(x, 'n_bins_requested', 0)",
    ],
)
def test_the_check_sees_every_way_to_ask(code: str):
    assert list(Questions(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "isinstance(x, int)",
        "lens == Binary()",
        "x.induces == 'pairs'",
        "class Table: ...\nisinstance(x, Table)",
        "from trueup.io.table import Table\nisinstance(x, Table)",
        "DEFAULT = BinnedError()\nx == DEFAULT",
        "DEFAULTS = {'ece': BinnedError}",
        "type(x).__name__ == 'RecordBatch'",
        "hint = 'such as BinnedError()' if repr(x) else ''",
        "getattr(x, 'norm')",
        "hasattr(x, 'predict_proba')",
        "'BinnedError' in NAMES",
    ],
)
def test_the_check_leaves_other_questions_alone(code: str):
    assert not list(Questions(ast.parse(code)))


@pytest.mark.parametrize(
    ("module", "asks"),
    [("trueup.estimators.base", False), ("trueup.local.sums", True), ("trueup.lens.pairs", True)],
)
def test_a_class_may_be_asked_for_in_its_own_package_alone(module: str, asks: bool):
    assert bool(list(Questions(ast.parse("isinstance(x, BinnedError)"), module))) == asks
