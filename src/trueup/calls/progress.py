"""Progress of long computations: named stages and the time left.

A long computation reports its stages here, independently of their display. If progress is not
displayed, a report only reads one variable. It is displayed if the caller requests it, with
``progress=`` or `show_progress`, and by default in a notebook.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from itertools import count
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from trueup.calls.display import display_for, in_notebook
from trueup.errors import must_be, printable

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
NO_GUESS = 0.02  # share of the work before which the time left is not known


@dataclass(frozen=True)
class Report:
    """Progress of the work at one moment.

    Attributes
    ----------
    work, stage
        Name of the work and of its current stage, such as ``"evaluate"`` and
        ``"tests (3 of 6)"``.
    fraction
        Fraction of the work that is done, from 0 to 1; approximate if stages differ in length.
    spent, left
        Seconds since the start, and estimated seconds until the end. The estimate is None if it
        is not known yet.
    """

    work: str
    stage: str
    fraction: float
    spent: float
    left: float | None

    def __str__(self) -> str:
        """Return the report as one line.

        >>> print(Report("evaluate", "tests (3 of 6)", 0.25, 10.0, 30.0))
        evaluate, 25%, about 30 s left: tests (3 of 6)
        """
        left = f"{_clock(self.spent)} so far"
        if self.left is not None:
            left = f"about {_clock(self.left)} left" if self.fraction < 1 else "done"
        share = f"{100 * self.fraction:.0f}%" if self.fraction > 0 else ""
        told = ", ".join(part for part in (self.work, share, left) if part)
        return f"{told}: {self.stage}" if self.stage else told


Progress = bool | Callable[[Report], object] | None
"""True to show progress, False to hide it, a function of a `Report`, or None (the setting)."""


@dataclass
class _Frame:
    """A part of the work: its range of the total, and the place reached within it."""

    name: str
    low: float
    high: float
    place: float
    unit: float = 0.0  # share of all that a stage of weight 1 has; 0: stages have no share
    stages: int = 0
    begun: int = 0


class _Watch:
    """Work whose progress is displayed."""

    def __init__(self, work: str) -> None:
        self.work, self.start = work, time.monotonic()
        self.frame = _Frame("", 0.0, 1.0, 0.0)
        self.outer: list[_Frame] = []
        self.counting = False
        self.done = 0.0
        self.told: Callable[[], None] = lambda: None

    def reach(self, fraction: float) -> None:
        self.done = max(self.done, fraction)

    def report(self) -> Report:
        spent = time.monotonic() - self.start
        done = min(self.done, 1.0)
        left = spent * (1 - done) / done if done >= NO_GUESS else None
        names = [frame.name for frame in (*self.outer, self.frame) if frame.name]
        return Report(self.work, ", ".join(names), done, spent, left)


_watch: ContextVar[_Watch | None] = ContextVar("trueup_progress", default=None)
_setting: Progress = None


class show_progress:  # noqa: N801 - called like a function
    """Show the progress of long computations, from now on or inside a ``with`` block.

    A terminal has a line with the stage, the fraction that is done and the time left. A notebook
    has a bar. Both are removed at the end. Work of less than a second shows nothing.

    Parameters
    ----------
    progress : bool, callable or None, default True
        True, False, or a function that is called with a `Report` at every stage. None (default of
        every function) shows a bar in notebooks and nothing elsewhere.

    Examples
    --------
    >>> import trueup as tu
    >>> stages = []
    >>> with tu.show_progress(lambda report: stages.append(report.stage)):
    ...     result = tu.interval(tu.ks_error, [0.2, 0.7] * 20, [0, 1] * 20, n_resamples=39)
    >>> stages[0]
    'rows drawn again (1 of 2)'
    """

    def __init__(self, progress: Progress = True) -> None:
        global _setting
        check_progress(progress)
        self._before = _setting
        _setting = progress

    def __enter__(self) -> show_progress:
        """Return the setting, which applies already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Restore the previous setting."""
        global _setting
        _setting = self._before


def check_progress(progress: object) -> None:
    """Raise InputError unless ``progress`` is None, a boolean or a function."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise must_be("progress", "True, False, None or a function of a report", progress)


def with_progress(work: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a decorator that shows progress as a function's parameter ``progress`` requests."""

    def wrapped(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **options: P.kwargs) -> R:
            progress: Any = options.pop("progress", None)
            if progress is None and _setting is None and not in_notebook():
                return function(*args, **options)
            with watched(progress, work):
                return function(*args, **options)

        return call

    return wrapped


@contextmanager
def watched(progress: Progress, work: str, *, at_once: bool = False) -> Iterator[None]:
    """Show the progress of the work inside the block; change nothing if a block is nested."""
    check_progress(progress)
    if _watch.get() is not None:
        yield
        return
    watch = _Watch(printable(work))
    display = display_for(_setting if progress is None else progress)
    if display is None:
        watch.counting = True  # nothing inside is told, whatever the setting
    else:
        watch.told = lambda: display.stage(watch.report())
        display.start(watch.report, at_once)
    token = _watch.set(watch)
    try:
        yield
        watch.reach(1.0)
    finally:
        _watch.reset(token)
        if display is not None:
            display.close(watch.report())


@contextmanager
def stages(total: float, number: int = 0) -> Iterator[None]:
    """Divide the work inside the block into stages whose weights add up to ``total``."""
    watch = _watch.get()
    if watch is None or watch.counting or total <= 0:
        yield
        return
    frame = watch.frame
    before = frame.unit, frame.stages, frame.begun
    rest = frame.high - frame.place
    frame.unit, frame.stages, frame.begun = rest / total, number or round(total), 0
    try:
        yield
    finally:
        frame.unit, frame.stages, frame.begun = before


@contextmanager
def stage(name: str, weight: float = 1.0) -> Iterator[None]:
    """Name the work inside the block; inside `stages`, count it with its weight."""
    watch = _watch.get()
    if watch is None or watch.counting:
        yield
        return
    outer = watch.frame
    share = min(weight * outer.unit, outer.high - outer.place) if outer.unit else 0.0
    high = outer.place + share if outer.unit else outer.high
    if outer.unit:
        outer.begun += 1
        name = f"{name} ({outer.begun} of {outer.stages})" if outer.stages > 1 else name
    watch.outer.append(outer)
    watch.frame = _Frame(printable(name), outer.place, high, outer.place)
    watch.told()
    try:
        yield
    finally:
        watch.frame = watch.outer.pop()
        if outer.unit:
            outer.place = high
            watch.reach(high)


@contextmanager
def counted(total: int) -> Iterator[Callable[[], None] | None]:
    """Yield a function to call, from any thread, after each of ``total`` parts; None if unwatched.

    Stages inside the parts are not reported, because several parts may run at once.
    """
    watch = _watch.get()
    if watch is None or watch.counting or total < 1:
        yield None
        return
    frame, numbers = watch.frame, count(1)  # counts one by one, whichever threads ask
    share = (frame.high - frame.place) / total
    watch.counting = True

    def tick() -> None:
        watch.reach(frame.place + min(next(numbers), total) * share)

    try:
        yield tick
    finally:
        watch.counting = False


def told(items: Sequence[T]) -> Iterator[T]:
    """Yield items, and count each as an equal part of the current work."""
    with counted(len(items)) as tick:
        for item in items:
            yield item
            if tick is not None:
                tick()


def _clock(seconds: float) -> str:
    """Return a duration in words.

    >>> _clock(3.4), _clock(75), _clock(4000)
    ('3 s', '1 min 15 s', '1 h 6 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
