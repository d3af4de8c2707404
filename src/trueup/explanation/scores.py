"""The scores for the numbers of an explanation: the caller's, or uniform ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from trueup.engines.draw_keys import keys_of
from trueup.forecasts import Forecasts
from trueup.forecasts.arrays import as_numpy
from trueup.inference.hypothesis_tests.consistency_resampling import label_drawer
from trueup.seeds import Seed, generator_of

N_UNIFORM = 1000


@dataclass(frozen=True)
class Scores:
    """Forecasts of some number of rows, to draw calibrated datasets from.

    Attributes
    ----------
    forecasts
        The caller's rows, or uniform scores.
    n
        Number of rows of a drawn dataset.
    given, labelled
        Whether the caller passed scores, and labels for them.
    """

    forecasts: Forecasts
    n: int
    given: bool
    labelled: bool

    @classmethod
    def of(cls, probs: object, labels: object, n: int | None, logits: bool, rng: Seed) -> Scores:
        """Return the caller's scores, or uniform ones; n rows of them, or all."""
        if probs is None:
            many = N_UNIFORM if n is None else n
            uniform = generator_of(rng).random(many)
            return cls(Forecasts.from_arrays(uniform, uniform > 0.5), many, False, False)
        ready = isinstance(probs, Forecasts)
        labelled = ready or labels is not None
        if not labelled:
            labels = np.zeros(len(as_numpy("probs", probs)), np.int64)
        found = Forecasts.from_arrays(probs, labels, logits=logits)
        return cls(found, found.n if n is None else n, True, labelled)

    @property
    def words(self) -> str:
        """Which scores these are."""
        return "these scores" if self.given else "uniform scores"

    def calibrated(self, n: int, n_draws: int, rng: Seed) -> Iterator[Forecasts]:
        """Yield datasets of n rows whose labels are drawn from the scores.

        If n differs from the number of rows, rows are drawn with replacement.
        """
        generator = generator_of(rng)
        seed = int(generator.integers(1 << 63))
        for key in keys_of(seed, n_draws):
            rows = self.forecasts
            if n != rows.n:
                rows = rows.take(generator.integers(rows.n, size=n))
            (labels,) = label_drawer(rows)(np.array([key]))
            yield rows.with_labels(labels)


def digits(value: float) -> str:
    """Return a number with three significant digits, or in scientific notation below 1e-5.

    >>> digits(0.012345), digits(0), digits(1.0), digits(-0.0000012)
    ('0.0123', '0', '1', '-1.2e-06')
    """
    if value == 0 or abs(value) < 1e-5:
        return f"{value:.2g}"
    shown = f"{value:.{max(0, 2 - int(np.floor(np.log10(abs(value)))))}f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown
