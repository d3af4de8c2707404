"""Files of figures: checked before the work, and written whole or not at all."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueup.cli.data_options import check_output
from trueup.errors import InputError, must_be

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["RESOLUTION", "check_picture", "save_figure", "size_of", "zoom_of"]

FORMATS = ("png", "svg", "pdf")
RESOLUTION = 150


def check_picture(path: str, *inputs: str) -> None:
    """Refuse, before the work, a file that no picture can be written to."""
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in FORMATS:
        raise InputError(None, "the output file must end in *.png, *.svg or *.pdf", path)
    check_output(path, *inputs)
    from trueup.plotting.common.style import need_matplotlib

    need_matplotlib()


def size_of(text: str | None) -> tuple[float, float] | None:
    """Return the width and height that were typed as 3.3x2.6; None if nothing was typed."""
    if text is None:
        return None
    width, _, height = text.lower().replace(",", "x").partition("x")
    try:
        return float(width), float(height)
    except ValueError:
        rule = "width and height in inches"
        raise must_be("--size", rule, text, hint="type --size 3.3x2.6") from None


def zoom_of(text: str | None) -> Any:
    """Return the zoom that was typed: auto, none, or limits such as 0,0.2."""
    if text in (None, "auto", "none"):
        return text
    low, _, high = str(text).partition(",")
    try:
        return float(low), float(high)
    except ValueError:
        rule = "auto, none, or two numbers from 0 to 1"
        raise must_be("--zoom", rule, text, hint="type --zoom 0,0.2") from None


def save_figure(figure: Figure, path: str, dpi: int = RESOLUTION) -> None:
    """Write a figure to a file, completely or not at all."""
    from trueup.atomic_write import write_atomically

    file = io.BytesIO()
    figure.savefig(file, format=Path(path).suffix.lower().lstrip("."), dpi=dpi)
    write_atomically(path, file.getvalue())
