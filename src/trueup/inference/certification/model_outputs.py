"""Rows grouped by the output of the model, the input of the bounds on its error."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.bins import EqualMass
from trueup.errors import must_be
from trueup.forecasts import Forecasts
from trueup.lens import Pairs


@dataclass(frozen=True, eq=False)
class Tally:
    """Rows grouped by output, or by bin if outputs are continuous.

    Attributes
    ----------
    score
        The output, or the mean score of a bin.
    share
        Its fraction of the rows, or of the total weight.
    count
        Its number of rows; with weights, the effective number (Σw)²/Σw².
    rate
        Mean label; arbitrary if there is no row.
    n
        All rows.
    binned
        Whether scores differ within a bin, so that only a lower bound can be computed.
    """

    score: Floats
    share: Floats
    count: Floats
    rate: Floats
    n: float
    binned: bool = False

    @property
    def noise(self) -> Floats:
        """The part of each squared gap due to sampling noise; for a single row, all of it."""
        spread = self.rate * (1 - self.rate)
        more = np.maximum(self.count - 1, 1e-300)
        return np.where(self.several, spread / more, (self.score - self.rate) ** 2)

    @property
    def several(self) -> NDArray[np.bool_]:
        """Whether there are at least two rows, so that the variance of labels can be estimated."""
        return self.count > 1 + 1e-9

    @property
    def plugin(self) -> float:
        """Σ share · gap²."""
        return float(np.sum(self.share * (self.score - self.rate) ** 2))

    @property
    def debiased(self) -> float:
        """Σ share · (gap² − noise), at least 0 and at most the plug-in."""
        return min(max(0.0, self.plugin - float(np.sum(self.share * self.noise))), self.plugin)

    def grown(self, times: float) -> Tally:
        """Return what ``times`` as many rows would look like if nothing else changes.

        Fractions stay. The part of the squared gaps that sampling noise explains decreases as 1/n,
        and the rest, the debiased error, stays.
        """
        now = self.plugin
        kept = 1.0 if now == 0 else (self.debiased + (now - self.debiased) / times) / now
        rate = self.score + (self.rate - self.score) * math.sqrt(kept)
        return replace(self, count=self.count * times, rate=rate, n=self.n * times)


def declared_outputs(outputs: Any) -> Floats:
    """Return the distinct outputs that a model is declared to have, in increasing order."""
    rule = "all outputs the model can give: numbers between 0 and 1, or an object with `outputs_`"
    given = getattr(outputs, "outputs_", outputs)
    try:
        declared = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise must_be("outputs", rule, outputs) from None
    inside = declared.ndim == 1 and declared.size > 0 and np.all((declared >= 0) & (declared <= 1))
    if not inside:
        raise must_be("outputs", rule, outputs)
    return np.unique(declared)


def rounding_of(forecasts: Forecasts) -> float:
    """Return how far a score may be from its output, given the type of the predictions."""
    kinds = (np.float16, np.float32, np.float64)
    kind = next(k for k in kinds if float(np.finfo(k).tiny) <= forecasts.tiny)
    return 8 * float(np.finfo(kind).eps)


def which_output(p: Any, declared: Floats, rounding: float) -> Ints:
    """Return the index of each row's output; raise InputError for a score that is no output."""
    score = p.astype(np.float64)
    above = np.clip(np.searchsorted(declared, score), 1, max(1, len(declared) - 1))
    above = np.minimum(above, len(declared) - 1)
    below = np.maximum(above - 1, 0)
    nearer_below = np.abs(score - declared[below]) <= np.abs(score - declared[above])
    index = np.where(nearer_below, below, above)
    foreign = np.abs(score - declared[index]) > rounding
    if foreign.any():
        row = int(np.argmax(foreign))
        rule = "one of the declared `outputs` in every row"
        raise must_be("probs", rule, p[row], row=row, hint="declare every output of the model")
    return np.asarray(index)


def tally_of_outputs(declared: Floats, index: Ints, pairs: Pairs) -> Tally:
    """Group rows by the number of their output."""
    w = np.ones(len(pairs)) if pairs.w is None else pairs.w
    weight, weight2, label = (np.bincount(index, x, len(declared)) for x in (w, w * w, w * pairs.y))
    seen = weight > 0
    count = np.divide(weight**2, weight2, out=np.zeros(len(declared)), where=seen)
    rate = np.divide(label, weight, out=declared.copy(), where=seen)
    n = w.sum() ** 2 / np.sum(w * w)
    return Tally(declared, weight / w.sum(), count, rate, float(n))


def tally_of_bins(pairs: Pairs) -> Tally:
    """Group rows with continuous scores in 15 equal-mass bins."""
    table = EqualMass(15).bin_table(pairs).nonempty()
    n = table.weight.sum() ** 2 / table.sums.weight2.sum()
    count = 1 / table.concentration
    return Tally(table.mean_score, table.share, count, table.mean_label, float(n), binned=True)
