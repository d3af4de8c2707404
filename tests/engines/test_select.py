"""Which engine answers, that all have the same functions, and that another one can be added."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import trueup as tu
from support.engine_under_test import native_only
from trueup.engines import reference, select
from trueup.engines.select import engine, in_use, load, register, using
from trueup.errors import CapabilityError, InputError

TESTS = Path(__file__).parents[1]
MODULES = sorted(module.name for module in pkgutil.iter_modules(reference.__path__))

# A plugin that pytest loads before it collects tests. It may keep one case of each test function.
PLUGIN = """
import os
from trueup.engines import register

register("forwarding", "forwarding_engine")

def pytest_collection_modifyitems(items):
    if os.environ["CASES"] == "one":
        items[:] = {(item.path, item.function.__name__): item for item in reversed(items)}.values()
"""


def functions(module: ModuleType) -> dict[str, FunctionType]:
    """The public functions that a module defines."""
    return {
        name: value
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and not name.startswith("_")
        and value.__module__ == module.__name__
    }


@pytest.fixture
def forwarding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An engine whose modules forward to the reference, as the next engine could begin."""
    folder = tmp_path / "forwarding_engine"
    folder.mkdir()
    names = ", ".join(MODULES)
    (folder / "__init__.py").write_text(f"from forwarding_engine import {names}\n")
    for name in MODULES:
        lines = f"from trueup.engines.reference.{name} import *\n"
        (folder / f"{name}.py").write_text(lines)
    (folder / "plugin.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(select, "PACKAGES", dict(select.PACKAGES))
    yield str(tmp_path)
    for name in [name for name in sys.modules if name.startswith("forwarding_engine")]:
        del sys.modules[name]


def test_the_reference_names_all_its_modules() -> None:
    assert [name for name in MODULES if not hasattr(reference, name)] == []


@pytest.mark.parametrize("name", MODULES)
def test_signatures_are_those_of_the_reference(name: str) -> None:
    try:
        package = load("native")
    except CapabilityError as missing:
        pytest.skip(str(missing))
    ours, theirs = functions(getattr(package, name)), functions(getattr(reference, name))
    assert set(ours) == set(theirs)
    for function in theirs:
        assert inspect.signature(ours[function]) == inspect.signature(theirs[function]), function


def test_engines_and_kernels_use_the_same_file_names() -> None:
    folders = {
        name: {path.stem for path in Path(select.__file__).parent.glob(f"{name}/*.py*")}
        for name in ("reference", "native", "kernels")
    }
    compiled = {"__init__", *MODULES}
    assert folders["reference"] == folders["native"] == compiled
    sources = {path.stem for path in Path(select.__file__).parent.glob("kernels/*.pyx")}
    assert set(MODULES) <= sources


@native_only
def test_the_native_engine_is_used_where_it_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRUEUP_ENGINE", raising=False)
    monkeypatch.setattr(select, "_in_use", None)
    try:
        load("native")
    except CapabilityError:
        assert in_use() == "reference"
    else:
        assert in_use() == "native"


def test_an_engine_that_is_not_built_is_replaced_by_the_reference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("TRUEUP_ENGINE", raising=False)
    monkeypatch.setattr(select, "_in_use", None)
    monkeypatch.setitem(select.PACKAGES, "native", "trueup.engines.missing")
    assert in_use() == "reference"
    with pytest.raises(CapabilityError, match="compiled engine is not available"):
        load("native")


def test_using_ends_with_its_block() -> None:
    before = in_use()
    with using("reference"):
        assert in_use() == "reference"
        assert engine.bins is reference.bins
    assert in_use() == before
    with pytest.raises(ZeroDivisionError), using("reference"):
        raise ZeroDivisionError
    assert in_use() == before


def test_a_bad_engine_is_refused() -> None:
    found = subprocess.run(
        [sys.executable, "-c", "import trueup as tu; tu.ece([.5], [1])"],
        env=os.environ | {"TRUEUP_ENGINE": "gpu"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    rule = '`TRUEUP_ENGINE` must be "native" or "reference"; got \'gpu\'.'
    assert rule in found.stderr.splitlines()[-1]


def test_another_engine_is_known_by_its_name(forwarding: str) -> None:
    with pytest.raises(InputError, match='"native" or "reference"'):
        load("forwarding")
    register("forwarding", "forwarding_engine")
    assert set(vars(load("forwarding"))) >= set(MODULES)
    p, y = [0.2, 0.8, 0.4], [0, 1, 1]
    with using("reference"):
        expected = tu.ece(p, y)
    with using("forwarding"):
        assert in_use() == "forwarding"
        assert engine.bins is importlib.import_module("forwarding_engine.bins")
        assert tu.ece(p, y) == expected


@native_only
@pytest.mark.parametrize("cases", ["one", pytest.param("all", marks=pytest.mark.slow)])
def test_another_engine_passes_the_tests_of_engines(forwarding: str, cases: str) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([forwarding, *sys.path])}
    environment |= {"TESTED_ENGINE": "forwarding", "CASES": cases}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "forwarding_engine.plugin"]
    command += ["-p", "no:cacheprovider", "-m", "not slow", "--hypothesis-profile=brief"]
    command += [str(TESTS / "engines" / f"test_{name}.py") for name in MODULES]
    found = subprocess.run(
        command, env=environment, cwd=TESTS.parent, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout
