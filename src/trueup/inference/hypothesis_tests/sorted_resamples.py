"""Resamples of a binary problem that is sorted only once: resampled rows, or drawn labels.

Rows that are sorted by score stay sorted when some are drawn repeatedly. So a resample is a count
for every distinct score, and needs no sort. Draws belong to positions in the sorted order, so they
do not depend on the input order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Bits, Floats
from trueup.engines.blocks import steps
from trueup.engines.draw_keys import keys_of, limits_of
from trueup.engines.memory import FRESH, Scratch
from trueup.engines.select import engine
from trueup.engines.threads import run
from trueup.estimators.base import Estimator
from trueup.estimators.ties import TiedScores
from trueup.forecasts import Forecasts
from trueup.inference.hypothesis_tests.calibration_functions import of_outcomes
from trueup.lens import Pairs
from trueup.lens.induced import once

AT_ONCE = 8  # resamples a thread takes at a time
Resample = Callable[[np.uint64, Scratch], TiedScores]


@dataclass(frozen=True, eq=False)
class SortedPairs:
    """Sorted scores with the data that resamples of their rows need."""

    groups: TiedScores  # of the data as they are
    limit: Bits  # of each row, to draw its label
    code: NDArray[np.int32]  # of each row: twice the number of its score, plus 1 for a label of 1

    @classmethod
    def of(cls, pairs: Pairs) -> SortedPairs:
        """Sort pairs with labels 0 and 1 and no weights; the result is stored if it is small."""
        return pairs.once("sorted", lambda: cls._sorted(pairs))

    @classmethod
    def _sorted(cls, pairs: Pairs) -> SortedPairs:
        groups = TiedScores.of(pairs)
        rows_by_label = np.column_stack([groups.rank - groups.hits, groups.hits])
        code = np.arange(rows_by_label.size, dtype=np.int32)
        limit = np.repeat(limits_of(groups.value), groups.rank)
        return cls(groups, limit, np.repeat(code, rows_by_label.reshape(-1)))

    @classmethod
    def following(cls, pairs: Pairs, probs: Floats) -> SortedPairs:
        """Sort pairs whose labels are drawn with other probabilities than their scores."""
        groups = TiedScores.of(pairs)
        order = np.lexsort((probs, pairs.p))  # draws must not depend on the order of rows
        number = np.arange(len(groups.value), dtype=np.int32)
        return cls(groups, limits_of(probs[order]), 2 * np.repeat(number, groups.rank))

    def with_drawn_labels(self, key: np.uint64, room: Scratch = FRESH) -> TiedScores:
        """Draw every label with its score as probability."""
        value, rank = self.groups.value, self.groups.rank
        hits = engine.draws.draw_hits(self.limit, self.code, len(value), key, room)
        return TiedScores(value, rank, hits, rows=len(self.code), room=room)

    def with_drawn_rows(self, key: np.uint64, room: Scratch = FRESH) -> TiedScores:
        """Draw as many rows as there are, with replacement."""
        drawn = engine.draws.resample_scores(self.groups.value, self.code, key, room)
        n = len(self.code)
        return TiedScores(drawn.value, drawn.count, drawn.positive, rows=n, room=room)


def sorted_problem(
    statistic: Estimator, forecasts: Forecasts, law: Forecasts | None = None
) -> SortedPairs | None:
    """Return the sorted problem of a statistic; None for another kind of statistic.

    It must use one outcome per row, without weights, clusters and soft labels. Labels are drawn
    from the predictions of ``law``, by default the forecasts themselves.
    """
    if not statistic.takes_ties:
        return None
    if forecasts.soft or forecasts.weights is not None or forecasts.clusters is not None:
        return None
    lens = statistic.lens_for(forecasts)
    if not lens.one_outcome or lens.where is not None:  # a region holds a random number of rows
        return None
    if law is None:
        return SortedPairs.of(lens.problem(forecasts))
    return SortedPairs.following(lens.problem(forecasts), of_outcomes(lens, forecasts, law))


def values_of(statistic: Estimator, powers: Floats) -> Floats:
    """Return powers on the scale that users see."""
    return np.array([statistic.value_of(power) for power in powers.tolist()])


def null_powers(
    statistics: Sequence[Estimator], problem: SortedPairs, seed: int, n_resamples: int
) -> list[Floats]:
    """Return the power of each statistic for the data, then for drawn labels; computed once."""
    found: dict[Estimator, Floats] = once(problem, ("null powers", seed, n_resamples), dict)
    new = [each for each in statistics if each not in found]
    drawn = powers_of(new, problem.with_drawn_labels, seed, n_resamples)
    for each, powers in zip(new, drawn, strict=True):
        found[each] = np.concatenate([[each.power_of_ties(problem.groups)], powers])
    return [found[each] for each in statistics]


def powers_of(
    statistics: Sequence[Estimator],
    resample: Resample,
    seed: int,
    n_resamples: int,
) -> Floats:
    """Return (statistics, resamples) powers; every resample is drawn once for all of them."""
    if not statistics:
        return np.empty((0, n_resamples))
    keys = keys_of(seed, n_resamples)
    rooms: list[Scratch] = []  # handed on from chunk to chunk

    def some(first: int, last: int) -> list[list[float]]:
        try:
            room = rooms.pop()
        except IndexError:
            room = Scratch()
        drawn = (resample(key, room) for key in keys[first:last])
        powers = [[each.power_of_ties(groups) for each in statistics] for groups in drawn]
        rooms.append(room)
        return powers

    powers = [row for part in run(some, steps(n_resamples, AT_ONCE), tell=True) for row in part]
    return np.ascontiguousarray(np.array(powers, np.float64).T)
