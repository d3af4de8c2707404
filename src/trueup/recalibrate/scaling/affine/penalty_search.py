"""Search for the penalty strengths with the lowest cross-validated log loss."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from trueup._typing import Floats, Ints
from trueup.engines.threads import run
from trueup.recalibrate.scaling.affine.fit import AffineData, fit_roughly, penalty_amount
from trueup.recalibrate.scaling.affine.trust_region import Limits

DECADES = 9  # of strengths, from one that all but forbids to one that all but allows
TOLERANCE = 1e-4  # gradient, for logits of unit size, of fits that are only compared
WORK = 2e11  # of one of them
WORSE_IN_A_ROW = 2  # then still weaker penalties are not tried
BETTER = 1e-6  # what a weaker penalty must gain, relative: ties go to the stronger


class Strengths(NamedTuple):
    """Chosen λ and μ, and the log loss of every pair that was tried."""

    strength: float
    mu: float
    tried: list[dict[str, float]]


def folds_of(features: Floats, labels: Ints, n_folds: int) -> Ints:
    """Return the fold of each row: classes are spread evenly, and equal rows stay together.

    Rows of a class are sorted and then assigned in turn. Folds therefore do not depend on the order
    of the rows, and a row of weight 2 is equivalent to two equal rows.
    """
    bits = np.ascontiguousarray(features + 0.0).view(np.uint64)  # −0 is 0
    # Big-endian bits with negative numbers turned round are in the order of the numbers.
    bits = np.where(bits >> np.uint64(63), ~bits, bits | np.uint64(1 << 63)).astype(">u8")
    whole = bits.view(np.dtype((np.void, 8 * bits.shape[1]))).reshape(-1)
    number = np.unique(whole, return_inverse=True)[1].reshape(-1).astype(np.int64)
    # Sorted by class first, so that every class is dealt out in turn.
    group = np.unique(labels * len(features) + number, return_inverse=True)[1].reshape(-1)
    return np.asarray(group % n_folds, dtype=np.int64)


def search_strengths(
    data: AffineData,
    fold: Ints,
    kind: str,
    strength: float | None,
    mu: float | None,
) -> Strengths:
    """Find the best powers of ten for strengths that are None.

    Both strengths are decreased together until that no longer helps. From the best pair, changes of
    either strength by one power of ten are then tried until no neighbor is better. With a single
    fold there is nothing to compare, and the strongest pair is returned.
    """
    ladders = _ladders(data, kind, strength, mu)
    if fold.max() == 0:
        return Strengths(ladders[0][0], ladders[1][0], [])
    table = _Table(data, fold, kind, ladders)
    best, worse = (0, 0), 0
    for step in range(1, max(len(ladder) for ladder in ladders)):
        place = (min(step, len(ladders[0]) - 1), min(step, len(ladders[1]) - 1))
        if table.is_better(place, best):
            best, worse = place, 0
        else:
            worse += 1
        if worse == WORSE_IN_A_ROW:
            break
    while True:
        neighbours = [(best[0] + i, best[1] + j) for i, j in ((-1, 0), (1, 0), (0, -1), (0, 1))]
        better = [place for place in neighbours if table.is_better(place, best)]
        if not better:
            return Strengths(ladders[0][best[0]], ladders[1][best[1]], table.rows())
        best = min(better, key=table.loss)


def _ladders(
    data: AffineData, kind: str, strength: float | None, mu: float | None
) -> tuple[list[float], list[float]]:
    """Return candidates of λ and μ: those passed, or powers of ten from a weight of 1 down."""

    def ladder(given: float | None, unit: float) -> list[float]:
        top = math.ceil(math.log10(unit))
        powers = range(top, top - DECADES, -1)
        return [10.0**power for power in powers] if given is None else [given]

    k = data.n_classes
    entries = k * (k + 1) if kind == "l2" else k * (k - 1)
    return ladder(strength, entries * data.size**2), ladder(mu, k)


class _Table:
    """Cross-validated log loss of pairs of strengths, each computed on request."""

    def __init__(
        self, data: AffineData, fold: Ints, kind: str, ladders: tuple[list[float], list[float]]
    ) -> None:
        self._kind, self._ladders = kind, ladders
        n_folds = int(fold.max()) + 1
        self._train = [data.take(np.flatnonzero(fold != number)) for number in range(n_folds)]
        tests = [np.flatnonzero(fold == number) for number in range(n_folds)]
        self._test = [(float(data.weight[rows].sum()), data.take(rows)) for rows in tests]
        self._target = data.size if kind == "l2" else data.start
        # The next fit starts where the best so far ended.
        self._warm = [data.diagonal(self._target)] * n_folds
        self._losses: dict[tuple[int, int], float] = {}

    def is_better(self, place: tuple[int, int], than: tuple[int, int]) -> bool:
        """Return whether a pair exists and is better than another, clearly so if it is weaker."""
        if any(not 0 <= i < len(self._ladders[side]) for side, i in enumerate(place)):
            return False
        ahead = self.loss(than) - self.loss(place)
        return ahead > BETTER * (1 + self.loss(than))

    def loss(self, place: tuple[int, int]) -> float:
        """Return the mean log loss of held-out rows."""
        if place not in self._losses:
            points = self._fits(place)
            loss = math.fsum(
                weight * test.loss(point)
                for (weight, test), point in zip(self._test, points, strict=True)
            )
            if loss <= min(self._losses.values(), default=math.inf):
                self._warm = points
            self._losses[place] = loss
        return self._losses[place]

    def rows(self) -> list[dict[str, float]]:
        """Return the pairs that were tried, the strongest first."""
        return [
            {"lambda": self._ladders[0][i], "mu": self._ladders[1][j], "log_loss": loss}
            for (i, j), loss in sorted(self._losses.items())
        ]

    def _fits(self, place: tuple[int, int]) -> list[Floats]:
        strength, mu = (ladder[i] for ladder, i in zip(self._ladders, place, strict=True))

        def one(first: int, last: int) -> Any:
            train = self._train[first]
            amount = penalty_amount(train, self._kind, strength, mu)
            limits = Limits(TOLERANCE * max(1.0, train.size), train.products(WORK))
            return fit_roughly(train, amount, self._target, self._warm[first], limits)

        return run(one, [(number, number + 1) for number in range(len(self._train))])
