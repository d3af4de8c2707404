"""Spiegelhalter's test: the Brier score compared with its mean under the predictions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from trueup._typing import Bits, Floats, Ints
from trueup.engines.blocks import row_blocks
from trueup.engines.draw_keys import class_limits, keys_of
from trueup.engines.select import engine
from trueup.engines.threads import run
from trueup.forecasts import Forecasts
from trueup.inference.hypothesis_tests.null_distribution import (
    ENOUGH,
    TINY,
    certain_pvalue,
    check_lens_of_test,
    check_test,
    lens_of_test,
    null_of,
    resample_chunks,
    resampled_pvalue,
    resampling_notes,
)
from trueup.lens import Binary, Canonical, Lens
from trueup.results import CalibrationTestResult
from trueup.seeds import Seed, seed_of

FLAT = 1e-12  # differences of probabilities that are rounding alone


class Block(NamedTuple):
    """Some rows: their distributions, outcomes and weights."""

    g: Floats
    y: Ints
    w: Floats | float


def spiegelhalter(
    forecasts: Forecasts, *, statistic: object, n_resamples: int, rng: Seed
) -> CalibrationTestResult:
    r"""Compare the Brier score with its mean under the predictions, in a two-sided test.

    :math:`z = \sum_i w_i d_i(y_i) / \sqrt{\sum_i w_i^2 \sum_k g_{ik} d_i(k)^2}` with
    :math:`d_i(k) = 2(\sum_l g_{il}^2 - g_{ik})`, the squared distance from :math:`g_i` to outcome
    k, minus its mean; for scores :math:`d(y) \propto (y - p)(1 - 2p)`. A negative z means that the
    score is better than predicted, as for an underconfident model. The test detects overall over-
    and underconfidence, but not errors that leave the mean Brier score unchanged.

    The p-value is from the normal distribution if the variance of the sum is at least 25 times the
    square of its largest possible term. Otherwise outcomes are drawn from the predictions.
    ``statistic`` may be a lens; by default `Binary` for 1-D probabilities, `Canonical` for a
    matrix.

    References
    ----------
    Spiegelhalter 1986, "Probabilistic prediction in patient management and clinical trials".
    """
    check_test(forecasts, n_resamples)
    lens = lens_of_test(statistic, "Spiegelhalter's test") or (
        Canonical() if forecasts.is_matrix else Binary()
    )
    check_lens_of_test(lens, simplex=True)
    excess = variance = largest = 0.0
    agree = True
    for g, y, w in _blocks(forecasts, lens):
        away = _deviations(g)
        own = away[np.arange(len(y)), y]
        excess += float(np.sum(w * own))
        variance += float(np.sum(w**2 * np.einsum("ij,ij->i", g, away**2)))
        largest = max(largest, float(np.max(2 * w)))
        agree = agree and not own.any()
    notes: dict[str, Any] = {"excess": excess, "variance": variance}
    drawn = None
    if variance == 0:  # nothing but one score is possible
        notes["reference"] = "certain"
        z = 0.0 if agree else math.copysign(math.inf, excess)
        pvalue = certain_pvalue(agree, n_resamples)
    elif variance >= ENOUGH * largest**2:
        notes["reference"] = "normal"
        z = excess / math.sqrt(variance)
        pvalue = max(TINY, 2 * float(ndtr(-abs(z))))
    else:
        z = excess / math.sqrt(variance)
        excesses = _drawn_excesses(forecasts, lens, keys_of(seed_of(rng), n_resamples))
        notes |= resampling_notes(np.abs(excesses))
        pvalue = resampled_pvalue(abs(excess), np.abs(excesses))
        drawn = excesses / math.sqrt(variance)
    return CalibrationTestResult(z, pvalue, "spiegelhalter", null_of(lens), notes, drawn)


def _drawn_excesses(forecasts: Forecasts, lens: Lens, keys: Bits) -> Floats:
    """Return Σ w d of outcomes drawn from the predictions, for each resample."""
    sums, first = np.zeros(len(keys)), 0
    for block in _blocks(forecasts, lens):
        sums += _drawn_in_block(block, first, keys)
        first += len(block.y)
    return sums


def _drawn_in_block(block: Block, first: int, keys: Bits) -> Floats:
    away, limit, row = _deviations(block.g), class_limits(block.g), np.arange(len(block.y))

    def some(start: int, stop: int) -> list[float]:
        drawn = (engine.draws.draw_classes(limit, key, first) for key in keys[start:stop])
        return [float(np.sum(block.w * away[row, y])) for y in drawn]

    return np.concatenate(run(some, resample_chunks(len(keys), len(row)), tell=True))


def _deviations(g: Floats) -> Floats:
    """Return the squared distance of each row to each outcome, minus the mean."""
    away: Floats = 2 * (np.einsum("ij,ij->i", g, g)[:, None] - g)
    away[np.abs(away) < FLAT] = 0.0  # a flat row has the same score whatever happens
    return away


def _blocks(forecasts: Forecasts, lens: Any) -> Iterator[Block]:
    if lens.induces == "pairs":
        pairs = lens.problem(forecasts)
        for where in row_blocks(len(pairs), 2):
            p = pairs.p[where].astype(np.float64)
            w = 1.0 if pairs.w is None else pairs.w[where]
            yield Block(np.column_stack([1 - p, p]), pairs.y[where].astype(np.int64), w)
        return
    cells = lens.cells(forecasts)
    for where in row_blocks(len(cells.kept), cells.m):
        rows = cells.kept[where]
        w = 1.0 if cells.w is None else cells.w[rows]
        yield Block(cells.rows(rows), cells.outcomes(rows).argmax(axis=1), w)
