"""Where real predictions lie: beside the repository, and not in it, for their licences differ."""

from __future__ import annotations

from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"


@pytest.fixture(scope="session")
def data() -> Path:
    """Folder of real predictions; tests that need it are skipped where it is absent."""
    if not DATA.is_dir():
        pytest.skip("the folder of real predictions, shared/data beside the repository, is absent")
    return DATA
