"""The command line: each command a short function on the public API; `trueup --help` lists them."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import NoReturn

__all__ = ["main"]


def main() -> None:
    """Run the command `trueup` with the arguments of this process, and leave with its exit code."""
    _occupy_closed_streams()
    _clean_up_when_ended()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal without "…" must not end the work
            stream.reconfigure(errors="replace")
    try:
        from trueup.cli.program import program

        program.main()
    except KeyboardInterrupt:
        sys.exit(130)


def _occupy_closed_streams() -> None:
    """Open what `>&-` closed, or the next file would get its number, and what is printed."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):
                os.open(os.devnull, os.O_RDWR)


def _clean_up_when_ended() -> None:
    """Have SIGTERM and SIGHUP end the program as an error does, which removes temporary files."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # What ignores a signal, as nohup does, goes on ignoring it.
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _leave)


def _leave(number: int, _: FrameType | None) -> NoReturn:
    signal.signal(number, signal.SIG_DFL)  # a second one ends it at once
    sys.exit(128 + number)
