"""The engine that the tests of engines compare with the reference.

It is ``native``, or the one that the environment variable TESTED_ENGINE names.
"""

from __future__ import annotations

import os
from types import ModuleType

import pytest

from trueup.engines.select import load
from trueup.errors import CapabilityError

NAME = os.environ.get("TESTED_ENGINE", "native")

native_only = pytest.mark.skipif(NAME != "native", reason="about the native engine")


def module_under_test(module: str) -> ModuleType:
    """A module of that engine; if the engine is not built, the caller's tests are skipped."""
    try:
        return getattr(load(NAME), module)
    except CapabilityError as missing:
        pytest.skip(str(missing), allow_module_level=True)


def compiled_module(module: str, package: str = "kernels") -> ModuleType:
    """A kernel module, or a module of the native engine, for what only these have."""
    name = f"trueup.engines.{package}.{module}"
    return pytest.importorskip(name, reason="not built", exc_type=ImportError)
