"""Outcomes drawn from the predictions, with which tests of calibration compare the data.

Scores and weights stay fixed, and outcomes are drawn. If the model is calibrated, the data are one
more such draw, so the p-value is exact for any number of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.engines.blocks import ENTRIES, Chunk, steps
from trueup.engines.draw_keys import class_limits, keys_of, limits_of
from trueup.engines.select import engine
from trueup.engines.threads import run
from trueup.errors import Argument, InputError, Verbatim, must_be
from trueup.forecasts import Forecasts
from trueup.inference.arguments import check_resamples
from trueup.lens import Cells, Lens, Pairs, is_lens
from trueup.seeds import Seed, seed_of

Outcomes = NDArray[np.bool_]

TINY = float(np.finfo(np.float64).tiny)
LEVEL = 0.05
MUCH_LESS = 0.03  # a size at that level that is called conservative
APPROXIMATE: dict[str, Any] = {
    "reference": "asymptotic",
    "approximation": True,
}  # notes of such a p-value
ENOUGH = 25.0  # variance of a sum, in squares of its largest term, from which it is taken as normal


@dataclass(frozen=True, eq=False)
class NullPairs:
    """Scores, outcomes and weights of one set of pairs, in float64."""

    p: Floats
    y: Outcomes
    w: Floats | None

    @classmethod
    def in_order(cls, pairs: Pairs) -> NullPairs:
        """Sort by score, so that the draws of a row do not depend on its position."""
        return pairs.once("in order", lambda: cls._sorted(pairs))

    @classmethod
    def _sorted(cls, pairs: Pairs) -> NullPairs:
        keys = (pairs.p,) if pairs.w is None else (pairs.w, pairs.p)
        order = np.lexsort(keys)
        w = None if pairs.w is None else pairs.w[order]
        return cls(pairs.p[order].astype(np.float64), pairs.y[order].astype(bool), w)

    @classmethod
    def as_given(cls, pairs: Pairs) -> NullPairs:
        """Keep the order of rows."""
        return cls(pairs.p.astype(np.float64), pairs.y.astype(bool), pairs.w)

    def weighted(self, terms: Floats, power: int = 1) -> Floats:
        """Return the terms of each row times its weight to a power."""
        return terms if self.w is None else terms * self.w**power

    @property
    def variance(self) -> Floats:
        """Return the variance of w(p − y) of each row of a calibrated model."""
        return self.weighted(self.p * (1 - self.p), 2)

    def residuals(self, y: Outcomes) -> Floats:
        """Return w(p − y) for (…, n) outcomes."""
        return self.weighted(np.subtract(self.p, y))

    @property
    def certain(self) -> bool:
        """Whether every outcome has a probability of 0 or 1, so that draws are constant."""
        return bool(((self.p == 0) | (self.p == 1)).all())

    @property
    def possible(self) -> bool:
        """Whether no outcome has a probability of 0."""
        return bool((np.where(self.y, self.p, 1 - self.p) > 0).all())

    def bin_starts(self, inner_edges: Floats) -> Ints:
        """Return the first row of every non-empty right-closed bin of scores, in order."""
        index = np.searchsorted(inner_edges, self.p, side="left")
        return np.flatnonzero(np.r_[True, index[1:] != index[:-1]])

    def bin_residuals(self, start: Ints, y: Outcomes) -> Floats:
        """Return Σ w(p − y) of every bin, for (…, n) outcomes."""
        return np.asarray(np.add.reduceat(self.residuals(y), start, axis=-1))

    def drawn(self, statistic: Callable[[Outcomes], Any], rng: Seed, n_resamples: int) -> Any:
        """Call ``statistic`` with (resamples, n) drawn outcomes, a few resamples at a time."""
        draw = partial(engine.draws.draw_labels, limits_of(self.p))
        return _drawn(draw, len(self.p), statistic, rng, n_resamples)


@dataclass(frozen=True, eq=False)
class NullRows:
    """Points of a simplex with the outcome and weight of each."""

    g: Floats
    y: Ints
    w: Floats | None

    @classmethod
    def of(cls, cells: Cells) -> NullRows:
        """Read all points; outcomes are classes, not probabilities."""
        w = None if cells.w is None else cells.w[cells.kept]
        return cls(cells.rows(cells.kept), cells.outcomes(cells.kept).argmax(axis=1), w)

    @property
    def certain(self) -> bool:
        """Whether every outcome has a probability of 0 or 1, so that draws are constant."""
        return bool((self.g.max(axis=1) == 1).all())

    @property
    def possible(self) -> bool:
        """Whether no outcome has a probability of 0."""
        return bool((self.g[np.arange(len(self.y)), self.y] > 0).all())

    def drawn(self, statistic: Callable[[Ints], Any], rng: Seed, n_resamples: int) -> Any:
        """Call ``statistic`` with (resamples, n) drawn outcomes, a few resamples at a time."""
        draw = partial(engine.draws.draw_classes, class_limits(self.g))
        return _drawn(draw, len(self.g), statistic, rng, n_resamples)


def _drawn(
    draw: Callable[[Any], Any], n: int, statistic: Callable[[Any], Any], rng: Seed, n_resamples: int
) -> Any:
    keys = keys_of(seed_of(rng), n_resamples)

    def some(first: int, last: int) -> Any:
        return statistic(np.stack([draw(key) for key in keys[first:last]]))

    return np.concatenate(run(some, resample_chunks(n_resamples, n), tell=True))


def null_problem(lens: Any, forecasts: Forecasts, *, in_order: bool = True) -> NullPairs | NullRows:
    """Return the problem that a lens induces; pairs are sorted by score on request."""
    if lens.induces == "pairs":
        pairs = lens.problem(forecasts)
        return NullPairs.in_order(pairs) if in_order else NullPairs.as_given(pairs)
    return NullRows.of(lens.cells(forecasts))


def lens_of_test(statistic: Any, test: str) -> Lens | None:
    """Return the lens that was passed as ``statistic`` to a test with a statistic of its own."""
    if statistic is None or is_lens(statistic):
        return statistic
    raise must_be("statistic", f"None or a lens for {test}", statistic)


def resample_chunks(n_resamples: int, n: int) -> list[Chunk]:
    """Cut resamples into chunks of bounded size, which depends on the number of rows alone."""
    return steps(n_resamples, max(1, ENTRIES // max(1, n)))


def resampled_pvalue(observed: float, drawn: Floats) -> float:
    """Return (1 + number of drawn statistics at least as large) / (1 + number drawn).

    Ties, up to rounding, count as larger, so the p-value of a statistic with few values is never
    too small.
    """
    slack = 1e-9 * abs(observed) + 1e-12 * float(np.abs(drawn).mean())
    return (1 + int(np.count_nonzero(drawn >= observed - slack))) / (1 + len(drawn))


def resampling_notes(drawn: Floats) -> dict[str, Any]:
    """Return the notes of a resampling p-value; ``conservative`` if ties make it so.

    Tied values cannot be distinguished, so that the fraction of calibrated data with a p-value of
    at most 5% may be far below 5%. This fraction is estimated from the draws.
    """
    notes: dict[str, Any] = {"reference": "resampling", "n_resamples": len(drawn)}
    ordered = np.sort(drawn)[::-1]
    allowed = int(LEVEL * (1 + len(drawn)) + 1e-9) - 1
    beyond = 0
    if allowed > 0:
        cut = float(ordered[allowed])
        beyond = int(np.count_nonzero(ordered > cut + 1e-9 * abs(cut)))
    if allowed < 0 or (1 + beyond) / (1 + len(drawn)) < MUCH_LESS:
        notes["conservative"] = True
    return notes


def certain_pvalue(agree: bool, n_resamples: int) -> float:
    """Return the p-value if every prediction is 0 or 1: any disagreement refutes the model."""
    return 1.0 if agree else 1 / (1 + n_resamples)


def null_of(lens: Lens) -> str:
    """Return the null hypothesis of a test with a lens."""
    if lens.induces == "pairs":
        return f"P(outcome | score) = score under {lens!r}, with independent rows"
    return f"outcomes follow the predicted distributions under {lens!r}, with independent rows"


def check_test(forecasts: Forecasts, n_resamples: object) -> None:
    """Raise InputError for data that tests by independent draws of labels cannot handle."""
    check_resamples(n_resamples)
    refuse_soft_labels(forecasts)
    if forecasts.clusters is not None:
        rule = ("This test assumes independent rows, but ", Argument("clusters"), " is set")
        raise InputError("clusters", rule, hint=("use ", Argument("method", "cluster-signs")))


def check_variance(variance: Floats, w: Floats | None) -> float:
    """Return the sum of the variances of rows; raise InputError if the sum is far from normal."""
    total = float(variance.sum())
    largest = 1.0 if w is None else float(w.max()) ** 2
    if total < ENOUGH * largest:
        rule = (
            f"needs outcomes with a total variance of {ENOUGH:g} times the largest squared weight"
        )
        got = Verbatim(f"{total / largest:.3g} times")
        raise InputError("tail", rule, got, hint=("use ", Argument("tail", "resampling")))
    return total


def refuse_soft_labels(forecasts: Forecasts) -> None:
    """Raise InputError for soft labels, because tests draw classes."""
    if forecasts.soft:
        raise must_be("labels", "classes for a test of calibration", Verbatim("soft labels"))


def check_lens_of_test(lens: Lens, *, simplex: bool) -> Lens:
    """Return a lens with one independent outcome per row; raise InputError for others."""
    kinds = ("pairs", "simplex") if simplex else ("pairs",)
    if lens.induces in kinds and lens.independent:
        return lens
    outcome = "outcome" if simplex else "score and outcome"
    hint = (Argument("method", "consistency"), " takes every lens; class_tests() tests each class")
    raise must_be("lens", f"yield a single {outcome} per row for this test", lens, hint=hint)
