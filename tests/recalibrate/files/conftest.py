"""Files of recalibrators, and how to load bytes under watch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.saved_files import EXAMPLES, armed, example
from trueup.errors import InputError
from trueup.recalibrate.base import Recalibrator
from trueup.recalibrate.files.save_and_load import load_recalibrator


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Recalibrator, bytes]]:
    folder = tmp_path_factory.mktemp("saved")
    made = {}
    for name in EXAMPLES:
        model = example(name)
        model.save(folder / name)
        load_recalibrator(folder / name)  # whatever is loaded late is loaded now
        made[name] = (model, (folder / name).read_bytes())
    return made


@pytest.fixture
def attempt(tmp_path: Path) -> Callable[[bytes], Any]:
    """Load these bytes under watch: what was read, or None after one clear sentence."""
    path = tmp_path / "model"

    def load_bytes(content: bytes) -> Any:
        path.write_bytes(content)
        armed[:] = [path]
        try:
            return load_recalibrator(path)
        except InputError as error:
            text = str(error)
            assert text.startswith("`path` must be a recalibrator saved by trueup; got ")
            assert text.endswith(".")
            assert "\n" not in text
            assert str(path) in text
            assert len(text) < 600
            return None
        finally:
            armed.clear()

    return load_bytes
