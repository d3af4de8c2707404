"""Check the docstrings of everything public by rules of numpydoc: no docstring may break one.

``python -m tools.docstrings`` fails and lists what breaks a rule. Public are the names in the
``__all__`` of `trueup`, of the modules named there and of ``trueup.io``, and the public methods of
their classes. Examples are asked of functions and classes: the example of a class shows its
methods. A method that overrides one of a base class needs no Parameters and Returns of its own,
because those of the base class hold.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

from numpydoc.validate import validate

PACKAGE = "trueup"
RULES = {
    "GL08": "there is a docstring",
    "PR01": "all parameters are documented",
    "PR02": "no other parameters are documented",
    "PR04": "parameters have types",
    "RT01": "what is returned is documented",
    "EX01": "there is an example",
    "SS03": "the summary ends with a period",
    "SS04": "the summary starts without a space",
    "SS05": "the summary of a function starts with an infinitive or a noun",
    "SS06": "the summary is one line",
}
NOT_OF_METHODS = {"EX01"}
NOT_OF_OVERRIDES = {"EX01", "PR01", "RT01"}


class Documented(NamedTuple):
    """Something public: the path that imports it, and the rules that it need not follow."""

    path: str
    exempt: frozenset[str] = frozenset()


def public_modules(package: ModuleType) -> list[ModuleType]:
    """Return a package and the modules that it offers, and the one for files."""
    offered = [getattr(package, name) for name in package.__all__]
    io = [import_module(f"{PACKAGE}.io")] if package.__name__ == PACKAGE else []
    return [package, *filter(inspect.ismodule, offered), *io]


def documented(package: ModuleType) -> Iterator[Documented]:
    """Yield the public functions, classes and methods, each once."""
    seen: set[int] = set()
    for module in public_modules(package):
        for name in module.__all__:
            value, path = getattr(module, name), f"{module.__name__}.{name}"
            if id(value) in seen or not (inspect.isclass(value) or inspect.isfunction(value)):
                continue
            seen.add(id(value))
            yield Documented(path)
            if inspect.isclass(value):
                yield from _methods(value, path, package.__name__, seen)


def _methods(cls: type, path: str, package: str, seen: set[int]) -> Iterator[Documented]:
    """Yield the public methods and properties of a class and of its base classes in the package."""
    for place, owner in enumerate(cls.__mro__):
        for name, value in vars(owner).items():
            own = owner.__module__.partition(".")[0] == package and id(value) not in seen
            if name.startswith("_") or not own or not _has_docstring_of_its_own(value):
                continue
            if any(name in vars(nearer) for nearer in cls.__mro__[:place]):
                continue
            seen.add(id(value))
            overrides = any(name in vars(base) for base in owner.__mro__[1:])
            exempt = NOT_OF_OVERRIDES if overrides else NOT_OF_METHODS
            yield Documented(f"{path}.{name}", frozenset(exempt))


def _has_docstring_of_its_own(value: Any) -> bool:
    kinds = (classmethod, staticmethod, property, cached_property)
    return inspect.isfunction(value) or isinstance(value, kinds)


def broken_rules(one: Documented) -> list[str]:
    """Return what the docstring lacks, a line each."""
    result = validate(one.path)
    return [
        f"{one.path}: {code}: {message}"
        for code, message in result["errors"]
        if code in RULES and code not in one.exempt
    ]


def main() -> int:
    """Check the package; return the exit code."""
    found = list(documented(import_module(PACKAGE)))
    report = [line for one in found for line in broken_rules(one)]
    print("\n".join(report) or f"The docstrings of {len(found)} public names follow numpydoc.")
    return int(bool(report))


if __name__ == "__main__":
    sys.exit(main())
