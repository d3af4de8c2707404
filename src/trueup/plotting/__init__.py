"""Plots of tables: every function takes tables, plots on matplotlib axes and returns the axes.

These functions compute no statistics: the numbers plotted are the numbers reported. `plot_overview`
plots an overview of an `Evaluation`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from trueup.lazy import module_of_names

_MODULE_OF = module_of_names(__file__)

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'trueup.plotting' has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return __all__
