"""Names that a package imports on first use, read from the stub next to its `__init__`."""

from __future__ import annotations

import ast
from pathlib import Path


def module_of_names(init: str) -> dict[str, str]:
    """Return the module of every name that a package's stub, ``__init__.pyi``, re-exports.

    ``from a import *`` stands for the names that the stub of the package ``a`` declares.
    """
    source = Path(init).parent
    root = source.parent
    found: dict[str, str] = {}
    for node in _statements(source):
        if not isinstance(node, ast.ImportFrom) or node.module is None:
            continue
        for alias in node.names:
            if alias.name == "*":
                found |= dict.fromkeys(
                    _declared(root.joinpath(*node.module.split("."))), node.module
                )
            else:
                found[alias.asname or alias.name] = node.module
    return found


def _declared(package: Path) -> list[str]:
    """Names of the public variables that a stub declares."""
    declared = (node.target for node in _statements(package) if isinstance(node, ast.AnnAssign))
    return [each.id for each in declared if isinstance(each, ast.Name) and each.id[0] != "_"]


def _statements(package: Path) -> list[ast.stmt]:
    return ast.parse((package / "__init__.pyi").read_text(encoding="utf-8")).body
