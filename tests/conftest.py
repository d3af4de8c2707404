"""How hard hypothesis searches, and a fixture that runs a test on every engine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from trueup.engines import using
from trueup.errors import RAISE, CapabilityError

# What an evaluation would report as an internal error is raised here, so that a test sees it.
os.environ[RAISE] = "1"

# No deadline: the first call of a kernel may import, and machines are shared.
COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("everyday", COMMON, max_examples=50)
settings.register_profile("brief", COMMON, max_examples=5)
# The same examples every time, so that a failure is never the luck of the draw.
settings.register_profile("ci", COMMON, max_examples=50, derandomize=True)
settings.register_profile("thorough", COMMON, max_examples=2000)

# `--hypothesis-profile` on the command line is applied after this, and wins.
settings.load_profile("ci" if os.environ.get("CI") == "true" else "everyday")


# Real predictions lie next to the repository and not in it, because their licenses differ.
DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of real predictions; tests that need it are skipped where it is absent."""
    if not DATA.is_dir():
        pytest.skip("the folder of real predictions, shared/data next to the repository, is absent")
    return DATA


@pytest.fixture
def make_file(tmp_path: Path) -> Callable[..., Path]:
    """Write a file: ``make_file("p.csv", text or bytes)``."""

    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture(params=["reference", "native"])
def each_engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run a test on every engine; the native one may not be built."""
    try:
        block = using(request.param)
        block.__enter__()
    except CapabilityError as missing:
        pytest.skip(str(missing))
    yield request.param
    block.__exit__(None, None, None)
