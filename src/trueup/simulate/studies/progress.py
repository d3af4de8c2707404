"""A line on the terminal that says how far the work is."""

from __future__ import annotations

import sys
import threading
import time

EVERY = 0.2  # seconds between two lines


class Progress:
    """Count finished batches; shown where asked for, by default on a terminal only."""

    def __init__(self, total: int, done: int, shown: bool | None) -> None:
        self._total, self._done, self._before = total, done, done
        terminal = sys.stderr is not None and sys.stderr.isatty()
        self._shown = terminal if shown is None else shown
        self._start = time.monotonic()
        self._last = 0.0
        self._lock = threading.Lock()

    def advance(self) -> None:
        """Say that one more batch is finished."""
        with self._lock:
            self._done += 1
            now = time.monotonic()
            if self._shown and (now - self._last >= EVERY or self._done == self._total):
                self._last = now
                sys.stderr.write(f"\r{self._line(now):<70}")
                sys.stderr.flush()

    def close(self) -> None:
        """End the line."""
        if self._shown and self._last:
            sys.stderr.write("\n")
            sys.stderr.flush()

    def _line(self, now: float) -> str:
        spent = now - self._start
        left = spent / (self._done - self._before) * (self._total - self._done)
        share = 100 * self._done // self._total
        count = f"{self._done} of {self._total} batches ({share}%)"
        return f"study: {count}, {_clock(spent)} spent, {_clock(left)} left"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
