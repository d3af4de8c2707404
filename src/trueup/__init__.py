"""trueup: are your model's probabilities true? Measure it, prove it, fix it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from trueup.lazy import module_of_names

# Names and their modules stand once, in the stub, where editors and mypy read them as well.
_MODULE_OF = module_of_names(__file__)

__all__ = sorted([*_MODULE_OF, "__version__"])


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("trueup")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'trueup' has no attribute {name!r}")
    module = _MODULE_OF[name]
    if module == "trueup":
        return import_module(f"trueup.{name}")
    value = getattr(import_module(module), name)
    if isinstance(value, type):
        from trueup.calls.hints import hint_at_creation

        hint_at_creation(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
