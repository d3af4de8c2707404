"""Chunks of data run on threads, and their results are returned in order.

How data is cut depends on its size alone (`blocks.cut`), and partial results are combined in the
order of their chunks. So results are bit-for-bit identical on any number of threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, lru_cache
from typing import TypeVar

from trueup.calls.progress import counted
from trueup.engines.blocks import Chunk
from trueup.errors import must_be

Result = TypeVar("Result")

_threads: int | None = None
_here = threading.local()


def run(
    task: Callable[[int, int], Result], chunks: list[Chunk], *, tell: bool = False
) -> list[Result]:
    """Call ``task(start, stop)`` for every chunk; return the results in the chunks' order.

    ``tell`` means that these chunks are most of the current work, so that their progress is
    reported.
    """
    if not tell:
        return _run(task, chunks)
    with counted(len(chunks)) as tick:
        if tick is None:
            return _run(task, chunks)

        def told(start: int, stop: int) -> Result:
            found = task(start, stop)
            tick()
            return found

        return _run(told, chunks)


def _run(task: Callable[[int, int], Result], chunks: list[Chunk]) -> list[Result]:
    workers = min(get_threads(), len(chunks))
    if workers < 2 or getattr(_here, "busy", False):  # a task's own chunks stay on its thread
        return [task(start, stop) for start, stop in chunks]
    answers: dict[int, Result] = {}
    waiting = iter(range(len(chunks)))  # shared: a free thread takes the next chunk

    def work() -> None:
        _here.busy = True
        try:
            for i in waiting:
                answers[i] = task(*chunks[i])
        finally:
            _here.busy = False

    others = _start(work, workers - 1)
    try:
        work()
    finally:
        for other in others:
            if not other.cancel():  # one that has not begun has nothing left to do
                other.result()
    return [answers[i] for i in range(len(chunks))]


def get_threads() -> int:
    """Return the number of threads in use.

    It is the number passed to `set_threads`, else the environment variable ``TRUEUP_THREADS``, else
    the number of cores.

    Returns
    -------
    int
        Number of threads.

    Examples
    --------
    >>> set_threads(2)
    >>> get_threads()
    2
    >>> set_threads(None)
    """
    return _threads if _threads is not None else _default_threads()


def set_threads(n: int | None) -> None:
    """Set the number of threads; results do not depend on it.

    Parameters
    ----------
    n : int or None
        Number of threads. None restores the default.

    Examples
    --------
    >>> set_threads(1)
    >>> get_threads()
    1
    >>> set_threads(None)
    """
    global _threads
    if n is not None and (not isinstance(n, int) or isinstance(n, bool) or n < 1):
        raise must_be("n", "a whole number of at least 1, or None", n)
    _threads = n


def _start(work: Callable[[], None], many: int) -> list[Future[None]]:
    """Start ``many`` worker threads; start none if the interpreter is shutting down."""
    started: list[Future[None]] = []
    try:
        for _ in range(many):
            started.append(_pool(get_threads()).submit(work))
    except RuntimeError:  # no new work is taken any more: this thread does it all
        pass
    return started


@cache
def _default_threads() -> int:
    asked = os.environ.get("TRUEUP_THREADS", "")
    if asked:
        if not (asked.isascii() and asked.isdigit() and int(asked) > 0):
            raise must_be("TRUEUP_THREADS", "a whole number of at least 1", asked)
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@lru_cache(maxsize=1)  # one pool: another number of threads lets go of the one before
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(1, threads - 1), thread_name_prefix="trueup")


if hasattr(os, "register_at_fork"):  # a forked child has none of its parent's threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
