"""`import trueup` stays cheap: heavy packages are loaded where they are used, not before."""

from __future__ import annotations

import json
import subprocess
import sys

# One loads in about a second; `import trueup` may take 150 ms more than `import numpy`.
NEVER_AT_IMPORT = {
    "sklearn",
    "scipy",
    "matplotlib",
    "pandas",
    "polars",
    "torch",
    "duckdb",
    "pyarrow",
    "narwhals",
}
NEVER_BY_NAME = {"sklearn", "scipy", "matplotlib", "pandas", "polars", "torch"}


def loaded_by(program: str) -> set[str]:
    """The top-level packages in memory after a fresh interpreter ran ``program``."""
    report = "import json, sys; print(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"
    result = subprocess.run(
        [sys.executable, "-c", f"{program}\n{report}"], capture_output=True, text=True, check=True
    )
    return set(json.loads(result.stdout.splitlines()[-1]))


def test_import_trueup_loads_nothing_heavy() -> None:
    loaded = loaded_by("import trueup")
    assert "trueup" in loaded
    assert not loaded & NEVER_AT_IMPORT


def test_touching_every_name_loads_nothing_heavy() -> None:
    # Recalibrators are scikit-learn estimators: they alone load it.
    names = (
        "names = {name for name in trueup.__all__ "
        "if trueup._MODULE_OF.get(name) != 'trueup.recalibrate'}"
    )
    touch = f"import trueup\n{names}\nfor name in names - {{'recalibrate'}}: getattr(trueup, name)"
    assert not loaded_by(touch) & NEVER_BY_NAME


def test_the_check_itself() -> None:
    assert "scipy" in loaded_by("import scipy")
