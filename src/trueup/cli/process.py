"""The process around the program: closed streams, and signals that end it."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import NoReturn

__all__ = ["clean_up_when_ended", "ended_by", "occupy_closed_streams"]

ENDING = ("SIGTERM", "SIGHUP")
received: list[int] = []


def occupy_closed_streams() -> None:
    """Reopen streams that `>&-` closed, or the next file would get their number and output."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):
                os.open(os.devnull, os.O_RDWR)


def clean_up_when_ended() -> None:
    """Have SIGTERM and SIGHUP end the program as an error does, which removes temporary files."""
    for name in ENDING:
        number = getattr(signal, name, None)
        # What ignores a signal, as nohup does, goes on ignoring it.
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _leave)


def ended_by() -> int | None:
    """Return the exit code of a signal that was received, or None.

    Libraries turn the exception that a signal raises inside them into one of their own.
    """
    return 128 + received[0] if received else None


def _leave(number: int, _: FrameType | None) -> NoReturn:
    received.append(number)
    signal.signal(number, signal.SIG_DFL)  # a second one ends the program at once
    sys.exit(128 + number)
