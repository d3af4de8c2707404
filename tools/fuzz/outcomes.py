"""What a damaged file may do: end in one clear sentence, soon, and touch nothing else."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trueup import CapabilityError, InputError

SECONDS = 20
LONGEST_MESSAGE = 1100
FORBIDDEN = (
    "pickle.find_class",
    "marshal.loads",
    "socket.connect",
    "os.system",
    "subprocess.Popen",
)
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

watched: list[Path] = []
forbidden: list[str] = []


class DefectError(Exception):
    """What a file must not do, in words."""


class HangError(BaseException):
    """It took too long; no `except Exception` may stop this."""


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    """Note what reading a file must not do; an audit hook, which cannot be taken away again."""
    if not watched:
        return
    if event in FORBIDDEN:
        forbidden.append(f"{event} {arguments[:1]}")
    elif event == "open" and isinstance(arguments[0], str) and (arguments[2] or 0) & WRITES:
        allowed = (str(watched[0]), tempfile.gettempdir(), os.devnull)
        if not os.path.abspath(arguments[0]).startswith(allowed):
            forbidden.append(f"open for writing {arguments[0]!r}")


sys.addaudithook(watch)


@contextmanager
def limited(folder: Path) -> Iterator[None]:
    """Turn warnings into errors, stop what takes too long, and watch what is touched."""
    timed = hasattr(signal, "SIGALRM") and threading.current_thread() is threading.main_thread()

    def stop(*_: object) -> None:
        raise HangError

    before = signal.signal(signal.SIGALRM, stop) if timed else None
    if timed:
        signal.alarm(SECONDS)
    watched.append(folder)
    forbidden.clear()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    except HangError:
        raise DefectError(f"took more than {SECONDS} s") from None
    finally:
        watched.clear()
        if timed:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
    if forbidden:
        raise DefectError(f"did what it must not: {forbidden[0]}")


def checked(folder: Path, path: Path | None, work: Callable[[], Any]) -> Any:
    """Do the work on a damaged file; return what it returns, or None where it is refused.

    Without a path, the work has no file to name.

    Raises
    ------
    DefectError
        Where it ends in anything but its result or one sentence that names the file.
    """
    try:
        with limited(folder):
            return work()
    except DefectError:
        raise
    except (InputError, OSError, CapabilityError) as error:
        if path is not None:
            refuse_message(str(error), path)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        where = traceback.extract_tb(error.__traceback__)[-1]
        told = f"{type(error).__name__}: {error} ({where.filename}:{where.lineno})"
        raise DefectError(told) from error
    return None


def refuse_message(text: str, path: Path) -> None:
    """Raise an error unless a message is one printable sentence that names the file."""
    if not text.isprintable():
        raise DefectError(f"a message with control characters: {text!r}")
    if len(text) > LONGEST_MESSAGE:
        raise DefectError(f"a message of {len(text)} characters")
    if str(path) not in text:
        raise DefectError(f"a message that does not name the file: {text}")
