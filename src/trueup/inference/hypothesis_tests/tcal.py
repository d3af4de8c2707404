"""T-Cal: the largest debiased squared error over bins of many widths."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from trueup._typing import Floats, Ints
from trueup.errors import Verbatim, must_be
from trueup.forecasts import Forecasts
from trueup.inference.hypothesis_tests.null_distribution import (
    NullPairs,
    NullRows,
    Outcomes,
    certain_pvalue,
    check_lens_of_test,
    check_test,
    lens_of_test,
    null_of,
    null_problem,
    resampled_pvalue,
    resampling_notes,
)
from trueup.lens import chosen_lens
from trueup.results import CalibrationTestResult
from trueup.seeds import Seed


def tcal(
    forecasts: Forecasts, *, statistic: object, n_resamples: int, rng: Seed
) -> CalibrationTestResult:
    r"""Adaptive test of Lee, Huang, Hassani & Dobriban, for errors of any smoothness.

    Each scale b has residuals :math:`r_i` of prediction minus outcome and :math:`2^b` equal-width
    bins (on a simplex: along each coordinate except the last). Its statistic is
    :math:`T_b = \sum_c \frac{1}{\sum_{i \in c} w_i} \sum_{i \ne j \in c} w_i w_j
    \langle r_i, r_j\rangle`, whose mean is 0 for a calibrated model: the debiased plug-in
    estimate of the squared error, times the number of rows. The test uses the largest
    :math:`T_b` in units of its standard deviation under the predictions, over the scales with at
    most n cells. (The paper uses up to n² cells, which hold single rows and carry no information.)

    The p-value compares this maximum with that of outcomes drawn from the predictions. It does not
    use the paper's asymptotic threshold or its α/B for each scale, so the false-positive rate is
    exact.

    ``statistic`` may be a lens: by default `Binary` for 1-D probabilities, `TopLabel` for a
    matrix. A simplex of K outcomes needs 2^(K−1) rows.

    References
    ----------
    Lee, Huang, Hassani & Dobriban 2023, "T-Cal: an optimal test for the calibration of predictive
    models".
    """
    check_test(forecasts, n_resamples)
    given = lens_of_test(statistic, "T-Cal")
    lens = check_lens_of_test(chosen_lens(given, forecasts), simplex=True)
    rows: Any = null_problem(lens, forecasts)
    scales = _score_scales(rows) if lens.induces == "pairs" else _simplex_scales(rows)
    notes: dict[str, Any] = {"reference": "certain"}
    drawn = None
    if rows.certain:
        found = 0.0 if rows.possible else math.inf
        pvalue = certain_pvalue(rows.possible, n_resamples)
    elif not scales.deviation.any():  # every row is alone: there is nothing to compare
        found, pvalue = 0.0, 1.0
    else:
        ratios = scales.ratios(scales.sums(rows.y[None]))[0]
        drawn = rows.drawn(lambda y: scales.ratios(scales.sums(y)).max(axis=1), rng, n_resamples)
        found, pvalue = float(ratios.max()), resampled_pvalue(float(ratios.max()), drawn)
        notes = resampling_notes(drawn)
        known = scales.bins[scales.deviation > 0]
        notes["n_bins"] = int(known[int(np.argmax(ratios))])
        notes["ratios"] = dict(zip(known.tolist(), ratios.tolist(), strict=True))
    return CalibrationTestResult(found, pvalue, "tcal", null_of(lens), notes, drawn)


class Scales(NamedTuple):
    """Scales to test: numbers of bins, the sd of each T_b, and T_b of (resamples, n) outcomes."""

    bins: Ints
    deviation: Floats
    sums: Callable[[Any], Floats]

    def ratios(self, sums: Floats) -> Floats:
        """Return T_b in standard deviations, for the scales with a positive one."""
        known = self.deviation > 0
        return np.asarray(sums[:, known] / self.deviation[known])


def _score_scales(rows: NullPairs) -> Scales:
    """Return dyadic bins of sorted scores; bins of a scale are pairs of the next finer bins."""
    finest = max(1, int(math.log2(len(rows.p))))
    cell = np.maximum(np.ceil(np.ldexp(rows.p, finest)).astype(np.int64) - 1, 0)
    starts, mass, deviation = [], [], []
    weight, variance = rows.weighted(np.ones(len(rows.p))), rows.variance
    square = variance**2
    for _ in range(finest):
        start = np.flatnonzero(np.r_[True, cell[1:] != cell[:-1]])
        weight, variance, square = (np.add.reduceat(x, start) for x in (weight, variance, square))
        cross = np.maximum(variance**2 - square, 0)  # Σ over i ≠ j of σ_i² σ_j²
        starts.append(start)
        mass.append(weight)
        deviation.append(math.sqrt(2 * float(np.sum(cross / weight**2))))
        cell = cell[start] >> 1

    def sums(y: Outcomes) -> Floats:
        residual = rows.residuals(y)
        square = residual**2
        found = np.empty((len(y), finest))
        for b, start in enumerate(starts):
            residual = np.add.reduceat(residual, start, axis=1)
            square = np.add.reduceat(square, start, axis=1)
            found[:, b] = ((residual**2 - square) / mass[b]).sum(axis=1)
        return found

    return Scales(2 ** np.arange(finest, 0, -1), np.array(deviation), sums)


def _simplex_scales(rows: NullRows) -> Scales:
    """Return dyadic cubes along each coordinate except the last."""
    n, m = rows.g.shape
    if 2 ** (m - 1) > n:
        rule = f"a lens with at most {int(math.log2(n)) + 1} outcomes for T-Cal with {n} rows"
        hint = "TopLabel() has one score"
        raise must_be("lens", rule, Verbatim(f"{m} outcomes"), hint=hint)
    finest = max(1, int(math.log2(n) / (m - 1)))
    w = np.ones(n) if rows.w is None else rows.w
    cells, mass, deviation = [], list[Floats](), []
    for b in range(finest, 0, -1):
        corner = np.maximum(np.ceil(np.ldexp(rows.g[:, :-1], b)).astype(np.int64) - 1, 0)
        cell = np.unique(corner, axis=0, return_inverse=True)[1].reshape(-1)
        cells.append(cell)
        mass.append(np.bincount(cell, w).astype(np.float64))
        deviation.append(math.sqrt(_simplex_variance(rows.g, w, cell, mass[-1])))
    own = np.einsum("ij,ij->i", rows.g, rows.g)
    row = np.arange(n)
    base = [_vector_sums(cell, w[:, None] * rows.g) for cell in cells]

    def one(y: Ints) -> list[float]:
        square = w**2 * (own - 2 * rows.g[row, y] + 1)  # w² |g − e_y|²
        found = []
        for cell, total, weight in zip(cells, base, mass, strict=True):
            label = np.bincount(cell * m + y, w, minlength=len(weight) * m).reshape(-1, m)
            pairs = ((total - label) ** 2).sum(axis=1) - np.bincount(cell, square)
            found.append(float(np.sum(pairs / weight)))
        return found

    def sums(y: Ints) -> Floats:
        return np.array([one(each) for each in y])

    return Scales(2 ** np.arange(finest, 0, -1), np.array(deviation), sums)


def _vector_sums(cell: Ints, terms: Floats) -> Floats:
    return np.column_stack([np.bincount(cell, column) for column in terms.T])


def _simplex_variance(g: Floats, w: Floats, cell: Ints, mass: Floats) -> float:
    """Return Σ_c (2/W_c²) Σ_{i ≠ j ∈ c} w_i² w_j² tr(C_i C_j), with C = diag(g) − g gᵀ."""
    squares = np.einsum("ij,ij->i", g, g)
    own = squares - 2 * np.einsum("ij,ij,ij->i", g, g, g) + squares**2  # tr(C_i C_i)
    order = np.argsort(cell, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(cell[order])) + 1)
    total = 0.0
    for rows, weight in zip(parts, mass, strict=True):
        if len(rows) > 1:
            scaled = w[rows, None] ** 2 * g[rows]
            spread = np.diag(scaled.sum(axis=0)) - np.einsum("ij,ik->jk", scaled, g[rows])
            cross = float(np.sum(spread**2)) - float(np.sum(w[rows] ** 4 * own[rows]))
            total += 2 * max(0.0, cross) / float(weight) ** 2
    return total
