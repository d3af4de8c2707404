"""Figure files: checked before the work, and written atomically."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from trueup.cli.data_options import check_output
from trueup.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["check_figure_file", "save_figure"]

FORMATS = ("png", "svg", "pdf")
RESOLUTION = 150


def check_figure_file(path: str, *inputs: str) -> None:
    """Raise an error, before the work, if a figure cannot be written to this file."""
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in FORMATS:
        raise InputError(None, "the output file must end in .png, .svg or .pdf", path)
    check_output(path, *inputs)
    from trueup.plotting.common.style import need_matplotlib

    need_matplotlib()


def save_figure(figure: Figure, path: str) -> None:
    """Write a figure to a file, completely or not at all."""
    from trueup.atomic_write import write_atomically

    file = io.BytesIO()
    figure.savefig(file, format=Path(path).suffix.lower().lstrip("."), dpi=RESOLUTION)
    write_atomically(path, file.getvalue())
