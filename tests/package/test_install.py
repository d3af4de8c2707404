"""The package installs where nothing can be compiled, and then computes with NumPy."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from trueup import engines

ROOT = Path(__file__).parents[2]
NEEDED = ["pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"]
PIP_WHEEL = (
    "-m pip wheel -q --disable-pip-version-check "
    "--no-build-isolation --no-deps --no-index -w dist ."
)

PROGRAM = """
import trueup as tu, trueup.engines
print(tu.__file__)
print(trueup.engines.in_use())
print(round(tu.ece([.2, .8], [0, 1]), 12))
"""


def run(*arguments: str, cwd: Path, **environment: str) -> str:
    """What Python prints, given these arguments."""
    result = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.skipif(
    not all(importlib.util.find_spec(tool) for tool in ("pip", "setuptools", "Cython")),
    reason="building a wheel without network needs pip, setuptools and Cython installed",
)
@pytest.mark.skipif(sys.platform == "win32", reason="MSVC does not look at CC")
def test_install_without_a_compiler(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    # Generated C goes along, with its time: translating it again would take most of the test.
    shutil.copytree(
        ROOT / "src",
        tree / "src",
        ignore=shutil.ignore_patterns("*.so", "*.egg-info", "__pycache__"),
    )
    for name in NEEDED:
        shutil.copy2(ROOT / name, tree / name)
    installed = tmp_path / "installed"
    run(*PIP_WHEEL.split(), cwd=tree, CC="false", CXX="false")
    (path,) = (tree / "dist").glob("trueup-*.whl")
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        wheel.extractall(installed)
    assert "trueup/py.typed" in names
    assert not [name for name in names if name.endswith((".so", ".pyd"))]

    printed = run("-c", PROGRAM, cwd=tmp_path, PYTHONPATH=str(installed), TRUEUP_ENGINE="")
    where, engine, value = printed.splitlines()
    assert Path(where).is_relative_to(installed)
    assert engine == "reference"
    assert float(value) == 0.2


@pytest.mark.skipif(
    shutil.which((sysconfig.get_config_var("CC") or "cc").split()[0]) is None
    or not Path(sysconfig.get_path("include"), "Python.h").exists(),
    reason="no C compiler or no Python headers here",
)
@pytest.mark.skipif("TRUEUP_ENGINE" in os.environ, reason="TRUEUP_ENGINE has chosen the engine")
def test_kernels_are_built_where_there_is_a_compiler() -> None:
    # They are optional at install, so without this a broken build would pass unseen.
    assert engines.in_use() == "native"
