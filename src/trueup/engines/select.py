"""The choice of the engine: ``engine.bins.bin_sums(...)`` calls the engine in use."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from trueup.errors import CapabilityError, must_be

__all__ = ["engine", "in_use", "load", "register", "using"]

PACKAGES = {"native": "trueup.engines.native", "reference": "trueup.engines.reference"}


class Loaded(NamedTuple):
    """Name of an engine and its package."""

    name: str
    package: ModuleType


class _InUse:
    """The modules of the engine in use at the time of the call."""

    def __getattr__(self, module: str) -> Any:
        found = getattr(_current().package, module)
        vars(self)[module] = found  # until another engine is used
        return found


if TYPE_CHECKING:  # all engines have the modules and signatures of the reference
    from trueup.engines import reference as engine
else:
    engine = _InUse()

_in_use: Loaded | None = None


def in_use() -> str:
    """Return the name of the engine in use, such as ``"native"`` or ``"reference"``.

    Returns
    -------
    str
        Name of the engine.

    Examples
    --------
    >>> with using("reference"):
    ...     in_use()
    'reference'
    """
    return _current().name


@contextmanager
def using(name: str) -> Iterator[None]:
    """Use an engine inside a ``with`` block.

    Parameters
    ----------
    name : str
        ``"native"``, ``"reference"`` or the name of a registered engine.

    Yields
    ------
    None
        Nothing; the previous engine is in use again after the block.

    Examples
    --------
    >>> with using("reference"):
    ...     in_use()
    'reference'
    """
    before = _current()
    _use(Loaded(name, load(name)))
    try:
        yield
    finally:
        _use(before)


def register(name: str, package: str) -> None:
    """Register an engine, for `using` and for the environment variable ``TRUEUP_ENGINE``.

    Parameters
    ----------
    name : str
        Name of the engine.
    package : str
        Import path of a package with the modules and functions of `trueup.engines.reference`. It is
        imported at first use.

    Examples
    --------
    >>> register("plain", "trueup.engines.reference")
    >>> with using("plain"):
    ...     in_use()
    'plain'
    """
    PACKAGES[name] = package


def load(name: str, argument: str = "name") -> ModuleType:
    """Import the package of an engine."""
    if name not in PACKAGES:
        raise must_be(argument, " or ".join(f'"{known}"' for known in PACKAGES), name)
    try:
        return importlib.import_module(PACKAGES[name])
    except ImportError as error:
        if name != "native":
            raise
        raise CapabilityError(
            "The compiled engine is not available; results are identical without it. "
            "Hint: reinstall trueup with a C compiler."
        ) from error


def _use(loaded: Loaded | None) -> None:
    global _in_use
    _in_use = loaded
    vars(engine).clear()


def _current() -> Loaded:
    """Return the engine in use; at the first call, choose the fastest that can be loaded."""
    global _in_use
    if _in_use is None:
        name = os.environ.get("TRUEUP_ENGINE", "")
        _in_use = Loaded(name, load(name, "TRUEUP_ENGINE")) if name else _fastest()
    return _in_use


def _fastest() -> Loaded:
    try:
        return Loaded("native", load("native"))
    except CapabilityError:
        return Loaded("reference", load("reference"))
