"""The notebook in examples/ runs, and every result shows itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "first_look.ipynb"


@pytest.fixture(scope="module")
def ran() -> Any:
    nbformat = pytest.importorskip("nbformat", reason="notebooks need nbformat")
    nbclient = pytest.importorskip("nbclient", reason="notebooks need nbclient")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return notebook


def shown(notebook: Any, code: str) -> dict[str, Any]:
    """What the cell with this code shows, by MIME type."""
    cell = next(cell for cell in notebook.cells if code in cell.source)
    found: dict[str, Any] = {}
    for output in cell.outputs:
        found |= output.get("data", {})
        if output.output_type == "stream":
            found[output.name] = output.text
    return found


def test_an_evaluation_shows_its_answers_and_tables(ran: Any) -> None:
    page = shown(ran, "before = tu.evaluate")["text/html"]
    assert "Is it calibrated?" in page
    assert "rmsce_debiased" in page


def test_the_pictures_show_themselves(ran: Any) -> None:
    assert len(shown(ran, "before.plot()")["image/png"]) > 10_000


def test_results_and_tables_show_themselves(ran: Any) -> None:
    assert "difference" in shown(ran, "tu.compare")["text/html"]
    assert "mean_score" in shown(ran, "after.tables")["text/html"]


def test_the_words_are_printed(ran: Any) -> None:
    assert (
        "evidence" in shown(ran, "after = ")["stdout"]
        or "miscal" in shown(ran, "after = ")["stdout"]
    )


def test_no_outputs_are_stored() -> None:
    assert '"outputs": []' in NOTEBOOK.read_text(encoding="utf-8")
    assert "image/png" not in NOTEBOOK.read_text(encoding="utf-8")
