"""A file with a given content, and the folder of real predictions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"


@pytest.fixture
def real() -> Path:
    if not DATA.is_dir():
        pytest.skip("the folder of real predictions, shared/data beside the repository, is absent")
    return DATA


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Path]:
    """Write a file: ``make("p.csv", text or bytes)``."""

    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
