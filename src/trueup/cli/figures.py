"""Figure files: checked before the work, and written atomically."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueup.cli.data_options import Files, check_output
from trueup.cli.program import say
from trueup.errors import InputError, must_be

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["RESOLUTION", "check_figure_file", "save_figure", "size_of", "zoom_of"]

FORMATS = ("png", "svg", "pdf")
RESOLUTION = 150
NO_DATE: dict[str, dict[str, Any]] = {
    "png": {},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}
MOST_SIGNS = 10
MISSING_SIGN = re.compile(r"Glyph (\d+) .*missing from")


def check_figure_file(path: str, *inputs: Files, option: str = "--output") -> None:
    """Raise an error before the work starts if no figure can be written to ``path``."""
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in FORMATS:
        raise InputError(None, "the output file must end in .png, .svg or .pdf", path)
    check_output(path, *inputs, option=option)
    from trueup.plotting.common.style import need_matplotlib

    need_matplotlib()


def size_of(text: str | None) -> tuple[float, float] | None:
    """Return the width and height from a text such as 3.3x2.6; None for None."""
    if text is None:
        return None
    width, _, height = text.lower().replace(",", "x").partition("x")
    try:
        return float(width), float(height)
    except ValueError:
        rule = "width and height in inches"
        raise must_be("--size", rule, text, hint="type --size 3.3x2.6") from None


def zoom_of(text: str | None) -> Any:
    """Return the zoom from a text: auto, none, or limits such as 0,0.2."""
    if text in (None, "auto", "none"):
        return text
    low, _, high = str(text).partition(",")
    try:
        return float(low), float(high)
    except ValueError:
        rule = "auto, none, or two numbers from 0 to 1"
        raise must_be("--zoom", rule, text, hint="type --zoom 0,0.2") from None


def save_figure(figure: Figure, path: str, dpi: int = RESOLUTION) -> None:
    """Write a figure to a file atomically."""
    import matplotlib

    from trueup.atomic_write import write_atomically

    suffix = Path(path).suffix.lower().lstrip(".")
    file = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "trueup"}), _missing_signs_told():
        # Without a date and with fixed names, the same figure is the same file.
        figure.savefig(file, format=suffix, dpi=dpi, metadata=NO_DATE[suffix])
    write_atomically(path, file.getvalue())


@contextmanager
def _missing_signs_told() -> Iterator[None]:
    """Report the characters that the font lacks in one sentence; pass other warnings on."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    missing = dict[str, None]()
    for each in caught:
        found = MISSING_SIGN.match(str(each.message))
        if found:
            missing[chr(int(found[1]))] = None
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    if missing:
        some = " ".join(list(missing)[:MOST_SIGNS])
        more = " and others" * (len(missing) > MOST_SIGNS)
        say(f"the font lacks {some}{more}, so the figure shows boxes instead.")
