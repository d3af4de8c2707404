"""A file imports only from the layers below its own, and no two files import each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"

# Bottom first. A layer is a file or a package of that name in src/trueup.
LAYERS = [
    "errors",
    "calls",
    "lazy",
    "atomic_write",
    "codec",
    "readable",
    "notebook",
    "specification",
    "checks",
    "seeds",
    "_typing",
    "engines",
    "newton",
    "tables",
    "results",
    "forecasts",
    "lens",
    "variance_tree",
    "bins",
    "estimators",
    "local",
    "metrics",
    "trace",
    "inference",
    "simulate",
    "recalibrate",
    "decisions",
    "explanation",
    "evaluation",
    "io",
    "datasets",
    "plotting",
    "cli",
    "__main__",
]

# (layer, layer it may reach up to): only inside a function, so that nothing is loaded early.
EXCEPTIONS = {("evaluation", "plotting")}

FILES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts): path
    for path in sorted(SOURCE.glob("trueup/**/*.py"))
}
# The top `__init__` re-exports every layer, so it belongs to none.
MODULES = sorted(set(FILES) - {"trueup.__init__"})


def layer(module: str) -> str:
    """The layer of ``trueup.<layer>[...]``; the name ``trueup`` alone is above every layer."""
    return module.split(".")[1] if "." in module else ""


def file_of(module: str) -> str:
    """The name in FILES of a module, which is ``….__init__`` for a package."""
    return module if module in FILES else f"{module}.__init__"


def imports(name: str, tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Every trueup module that a file imports, and whether it does so inside a function."""
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            targets = list(import_from(name, node))
        else:
            continue
        for target in targets:
            if target.split(".")[0] == "trueup":
                yield target, id(node) in inside


def import_from(name: str, node: ast.ImportFrom) -> Iterator[str]:
    """``from a import b`` loads the module a.b if there is one, and otherwise the module a."""
    base = node.module or ""
    if node.level:
        package = name.split(".")[: -node.level]
        base = ".".join([*package, base] if base else package)
    for alias in node.names:
        submodule = f"{base}.{alias.name}"
        yield submodule if is_module(submodule) else base


def is_module(name: str) -> bool:
    path = SOURCE.joinpath(*name.split("."))
    return file_of(name) in FILES or path.with_suffix(".pyx").exists()


def imports_of(name: str) -> list[tuple[str, bool]]:
    return list(imports(name, ast.parse(FILES[name].read_text(encoding="utf-8"))))


def complaints(name: str, found: list[tuple[str, bool]]) -> list[str]:
    """What is wrong with the imports of one file, in words."""
    own = layer(name)
    wrong = []
    for target, in_function in found:
        above = layer(target)
        if above not in LAYERS:
            wrong.append(f"{name} imports {target}, which is in no layer")
        elif LAYERS.index(above) > LAYERS.index(own) and not (
            in_function and (own, above) in EXCEPTIONS
        ):
            wrong.append(f"{name} ({own}) imports {target}, which is above it")
    return wrong


def test_there_is_something_to_check() -> None:
    assert "trueup.errors" in FILES


@pytest.mark.parametrize("name", MODULES)
def test_every_file_is_in_a_layer(name: str) -> None:
    assert layer(name) in LAYERS


@pytest.mark.parametrize("name", [name for name in MODULES if layer(name) in LAYERS])
def test_imports_go_down(name: str) -> None:
    assert complaints(name, imports_of(name)) == []


def test_no_cycles() -> None:
    graph = {
        name: {
            file_of(target)
            for target, in_function in imports_of(name)
            if file_of(target) in FILES
            and not (in_function and (layer(name), layer(target)) in EXCEPTIONS)
        }
        for name in MODULES
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("files import each other: " + " <- ".join(error.args[1]))


@pytest.mark.parametrize(
    ("name", "line", "n_complaints"),
    [
        ("trueup.tables", "from trueup.errors import must_be", 0),
        ("trueup.tables", "from trueup.lens import TopLabel", 1),
        ("trueup.tables", "from .lens import TopLabel", 1),
        ("trueup.engines.select", "from . import reference", 0),
        ("trueup.engines.select", "from ..bins import EqualMass", 1),
        ("trueup.engines.__init__", "from .select import engine", 0),
        ("trueup.tables", "import trueup.cli", 1),
        ("trueup.tables", "import trueup", 1),
        ("trueup.tables", "from trueup import BinnedError", 1),
        ("trueup.tables", "def f():\n    from trueup.cli import main", 1),
        ("trueup.evaluation", "from trueup.plotting import draw", 1),
        ("trueup.evaluation", "def plot():\n    from trueup.plotting import draw", 0),
        ("trueup.evaluation", "def plot():\n    from trueup.cli import main", 1),
        ("trueup.tables", "import numpy as np", 0),
    ],
)
def test_the_check_itself(name: str, line: str, n_complaints: int) -> None:
    assert len(complaints(name, list(imports(name, ast.parse(line))))) == n_complaints
