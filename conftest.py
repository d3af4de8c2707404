"""Where the kernels are not built, the files that need them are not searched for doctests."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

SOURCE = Path(__file__).parent / "src" / "trueup"
BUILT = all(find_spec(f"trueup.native.{path.stem}") for path in SOURCE.glob("native/*.pyx"))

# A failed import would leave half a module behind, and later tests would take it for the engine.
collect_ignore = (
    []
    if BUILT
    else [str(path) for path in SOURCE.glob("engines/*.py") if "trueup.native" in path.read_text()]
)
