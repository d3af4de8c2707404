"""Consistency bars by resampling: mean labels of bins if labels are drawn from the scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.engines.draw_keys import keys_of
from trueup.errors import InputError, Verbatim, must_be, required
from trueup.forecasts import Forecasts
from trueup.forecasts.arrays import as_numpy
from trueup.inference.hypothesis_tests.binned_resamples import bins_of, sums_of_drawn_labels
from trueup.lens import Binary, Pairs
from trueup.seeds import Seed, seed_of
from trueup.tables import BinTable

ROUNDING = 1e-6  # relative, by which the mean score of a bin may be off


@dataclass(frozen=True, eq=False)
class RowsOfTable:
    """Scores and weights of the rows that a table of bins sums."""

    table: BinTable
    pairs: Pairs
    index: NDArray[Any]  # the bin of each row

    @classmethod
    def checked(cls, table: BinTable, scores: object, weights: object) -> Self:
        """Sort the rows by score; raise InputError unless they have the bins of the table."""
        if scores is None:
            raise required("scores", "pass the predictions that the table was made of")
        given = _pairs(scores, weights)
        order = np.lexsort((given.p,) if given.w is None else (given.w, given.p))
        w = None if given.w is None else given.w[order]
        pairs = Pairs(given.p[order], given.y, w)
        index = bins_of(pairs, table)
        count = np.bincount(index, minlength=table.n_bins)
        away = np.flatnonzero(count != table.count)
        if len(away):
            b = int(away[0])
            rule = f"be those of the table, which has {int(table.count[b]):,} rows in bin {b}"
            raise InputError("scores", f"must {rule}", Verbatim(f"{int(count[b]):,}"))
        rows = cls(table, pairs, index)
        mean = rows.means(pairs.p[None])[0]
        full = table.count > 0
        off = np.abs(mean[full] - table.mean_score[full]) > ROUNDING
        if off.any():
            b = int(np.flatnonzero(full)[off][0])
            rule = f"be those of the table, with mean {table.mean_score[b]:.4g} in bin {b}"
            hint = "pass the weights of the rows, if the table has weights"
            raise InputError("scores", f"must {rule}", Verbatim(f"{mean[b]:.4g}"), hint=hint)
        return rows

    def means(self, terms: Floats) -> Floats:
        """Return the mean of (draws, n) terms in every bin."""
        w = np.ones(len(self.pairs.p)) if self.pairs.w is None else self.pairs.w
        sums = [np.bincount(self.index, w * each, self.table.n_bins) for each in terms]
        return self._divided(np.array(sums))

    def ends(self, miss: float, n_resamples: int, rng: Seed) -> tuple[Any, Floats, Floats]:
        """Return which bins contain rows, and the ends of each, which miss with a probability.

        A calibrated model is one more draw, so its mean label is below the k-th smallest of R draws
        with a probability of at most k/(R + 1).
        """
        keys = keys_of(seed_of(rng), n_resamples)
        full = self.table.count > 0
        sums = sums_of_drawn_labels(self.pairs, self.index, self.table.n_bins, keys)
        drawn = np.sort(self._divided(sums)[:, full], axis=0)
        k = max(1, int(miss / 2 * (n_resamples + 1) + 1e-9))
        mean = self.table.mean_score[full]
        return full, np.minimum(drawn[k - 1], mean), np.maximum(drawn[-k], mean)

    def _divided(self, sums: NDArray[Any]) -> Floats:
        w = self.pairs.w
        total = np.bincount(self.index, w, self.table.n_bins)
        return np.asarray(sums / np.where(total > 0, total, 1.0))


def _pairs(scores: object, weights: object) -> Pairs:
    """Return checked scores and weights."""
    shape = as_numpy("scores", scores).shape
    if len(shape) != 1:
        hint = "the score of a row is that of the lens, such as probs.max(axis=1) for the top label"
        raise must_be("scores", "have shape (n,)", Verbatim(f"shape {shape}"), hint=hint)
    labels = np.zeros(shape, np.int64)
    try:
        forecasts = Forecasts.from_arrays(scores, labels, weights=weights)
    except InputError as error:
        raise error.about("scores", instead_of="probs") from None
    pairs: Pairs = Binary().problem(forecasts)
    return pairs
