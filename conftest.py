"""Where the kernels are not built, the engine that needs them is not searched for doctests."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

ENGINES = Path(__file__).parent / "src" / "trueup" / "engines"
BUILT = all(find_spec(f"trueup.engines.kernels.{path.stem}") for path in ENGINES.glob("*/*.pyx"))

collect_ignore = [] if BUILT else [str(ENGINES / "native")]
