"""Interleaved medians: every contender takes its turn in every round, so noise hits all alike."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Task:
    """One row of the table: ours against a yardstick, and what the ratio may be at most.

    Where what is asked is seconds, not a ratio, ``seconds_at_most`` has them.
    """

    name: str
    ours: Callable[[], object]
    yardstick: str
    baseline: Callable[[], object]
    at_most: float = float("inf")
    rounds: int = 15
    peer: str = ""
    peer_call: Callable[[], object] | None = None
    seconds_at_most: float = float("inf")
    times: int = 1  # ours is called so often in its turn: a call of less than 1 ms, mostly cold

    def repeated(self) -> None:
        """Take our turn."""
        for _ in range(self.times):
            self.ours()


def medians(calls: list[Callable[[], object]], rounds: int) -> list[float]:
    """Median seconds of each call, called in turn, after one warm-up each."""
    for call in calls:
        call()
    seconds = np.empty((rounds, len(calls)))
    for r in range(rounds):
        for c, call in enumerate(calls):
            start = time.perf_counter()
            call()
            seconds[r, c] = time.perf_counter() - start
    return [float(x) for x in np.median(seconds, axis=0)]


def report(tasks: list[Task]) -> None:
    """Print the table; a row over its limit is marked with "!"."""
    columns = f"{'ours':>9} {'yardstick':>26} {'ratio':>8} {'at most':>8}   peer in the same run"
    head = f"{'task':<46} {columns}"
    print(head + "\n" + "-" * len(head))
    for task in tasks:
        seconds = medians([task.repeated, task.baseline], task.rounds)
        seconds[0] /= task.times
        if task.peer_call:  # apart: its idle threads would go on spinning into our turn
            seconds += medians([task.peer_call], 5)
        ratio = seconds[0] / seconds[1]
        yardstick = f"{task.yardstick} {_time(seconds[1])}"
        peer = (
            f"{task.peer} {_time(seconds[2])}, {seconds[2] / seconds[0]:.0f}x ours"
            if task.peer
            else ""
        )
        good = ratio <= task.at_most and seconds[0] <= task.seconds_at_most
        mark, limit = " " if good else "!", _ratio(task.at_most)
        if task.seconds_at_most < float("inf"):
            limit = _time(task.seconds_at_most)
        print(
            f"{task.name:<46} {_time(seconds[0]):>9} {yardstick:>26} {_ratio(ratio):>8} "
            f"{limit:>8} {mark} {peer}"
        )


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _ratio(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio >= 0.2 else f"1/{1 / ratio:.0f}"
