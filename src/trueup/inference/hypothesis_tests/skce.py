"""Tests with the squared kernel calibration error (Widmann, Lindsten & Zachariah 2019)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import ndtr

from trueup._typing import Floats
from trueup.errors import InputError
from trueup.estimators import KernelError
from trueup.estimators.kernel_errors.pair_sums import Kernel
from trueup.estimators.kernel_errors.residuals import PairMass, unit_weights
from trueup.forecasts import Forecasts
from trueup.inference.asymptotic.kernel_spectrum import spectrum_of_rows, spectrum_of_scores
from trueup.inference.hypothesis_tests.null_distribution import (
    APPROXIMATE,
    ENOUGH,
    TINY,
    NullPairs,
    NullRows,
    certain_pvalue,
    check_lens_of_test,
    check_test,
    check_variance,
    null_of,
    null_problem,
    resampled_pvalue,
    resampling_notes,
)
from trueup.inference.hypothesis_tests.skce_draws import BlockPairs, row_totals, score_totals
from trueup.lens import Binary, Canonical, Lens
from trueup.results import CalibrationTestResult
from trueup.seeds import Seed


def skce(
    forecasts: Forecasts,
    *,
    statistic: object,
    n_resamples: int,
    rng: Seed,
    tail: str = "resampling",
) -> CalibrationTestResult:
    r"""Test the unbiased squared kernel error, which detects any miscalibration with enough rows.

    Under calibration it is a degenerate U-statistic, whose limit is an infinite weighted sum of
    chi-squares. The paper approximates it by a bootstrap; here outcomes are drawn from the
    predictions, so the false-positive rate is exact even with 100 rows. The bandwidth depends on
    predictions alone and stays fixed.

    Cost of each resample: one scan for scores and the Laplacian kernel, otherwise all pairs of
    rows, times the number of classes on a simplex. Use `skce_block` for many rows with several
    classes.

    With ``tail="asymptotic"`` the p-value is an approximation for many rows: that of
    :math:`\sum_k \lambda_k (Z_k^2 - 1)`, with the eigenvalues λ of the kernel under the
    predictions. For scores, a factor corrects it for the skewness of rare outcomes. More than 1,000
    scores are merged into cells, and more than 2,000 rows of a simplex are sampled. The required
    variance of the outcomes is that of the KS test. ``n_resamples`` and ``rng`` are not used.
    Compared with a million draws at 200 and 1,000 rows, approximate p-values from 0.1 to 0.0001 are
    0.83 to 1.23 times the true ones (docs/tails.md).

    ``statistic`` may be a lens, or an unbiased `KernelError`.
    """
    estimator, lens = _chosen(statistic, forecasts, "unbiased")
    check_test(forecasts, n_resamples)
    found = estimator.measure_forecasts(forecasts)
    bandwidth = float(found.notes["bandwidth"])
    product = 1.0
    if lens == Canonical() and forecasts.n_classes == 2:
        # (1 − p, p) as a score: products of residuals are twice those of scores
        bandwidth /= 1.0 if estimator.distance == "tv" else math.sqrt(2)
        problem: Lens = Binary()
        product = 2.0
    else:
        problem = lens
    kernel = Kernel(estimator.kernel, bandwidth)
    rows = null_problem(problem, forecasts)
    notes: dict[str, Any]
    drawn = None
    if rows.certain:
        pvalue = certain_pvalue(rows.possible, n_resamples)
        notes = {"reference": "certain"}
    elif tail == "asymptotic":
        pvalue = _asymptotic(rows, kernel, estimator.distance == "tv")
        notes = APPROXIMATE.copy()
    else:
        totals = _all_totals(rows, kernel, estimator.distance == "tv", rng, n_resamples)
        pvalue, notes = resampled_pvalue(float(totals[0]), totals[1:]), resampling_notes(totals[1:])
        mass = _mass_of_pairs(rows)
        drawn = product * totals[1:] / mass if mass > 0 else totals[1:]
    notes = found.notes | notes
    return CalibrationTestResult(found.value, pvalue, "skce", null_of(lens), notes, drawn)


def _mass_of_pairs(rows: NullPairs | NullRows) -> float:
    """Return Σ w_i w_j over i ≠ j, with the weights of the sums in `_all_totals`."""
    w = rows.w if rows.w is None or isinstance(rows, NullPairs) else unit_weights(rows.w)
    return PairMass.of(len(rows.y), w).different


def _asymptotic(rows: NullPairs | NullRows, kernel: Kernel, total_variation: bool) -> float:
    """Return the p-value from the eigenvalues of the kernel."""
    if isinstance(rows, NullPairs):
        check_variance(rows.variance, rows.w)
        observed = float(score_totals(rows, kernel, rows.y[None])[0])
        found = spectrum_of_scores(rows, kernel)
    else:
        w = np.ones(len(rows.g)) if rows.w is None else rows.w
        check_variance(w**2 * (1 - np.einsum("ij,ij->i", rows.g, rows.g)), rows.w)
        labels = rows.y[None].astype(np.int32)
        observed = float(row_totals(rows, kernel, total_variation, labels)[0])
        found = spectrum_of_rows(rows, kernel, total_variation)
    return max(TINY, found.tail(observed))


def _all_totals(
    rows: NullPairs | NullRows, kernel: Kernel, total_variation: bool, rng: Seed, n_resamples: int
) -> Floats:
    """Return the sum over pairs of the data, then of each resample."""
    if isinstance(rows, NullPairs):
        pairs = rows
        drawn = pairs.drawn(lambda y: score_totals(pairs, kernel, y), rng, n_resamples)
        return np.concatenate([score_totals(pairs, kernel, pairs.y[None]), drawn])
    drawn = rows.drawn(lambda y: y.astype(np.int32), rng, n_resamples)
    labels = np.concatenate([rows.y[None].astype(np.int32), drawn])
    return row_totals(rows, kernel, total_variation, labels)


def skce_block(
    forecasts: Forecasts, *, statistic: object, n_resamples: int, rng: Seed
) -> CalibrationTestResult:
    """Test the mean of the kernel error over blocks of rows: cheap, and less powerful than `skce`.

    Blocks are independent, so their sum is nearly normal with mean 0 and a variance that follows
    from the predictions. (The paper uses the sample variance, which makes the test reject
    calibrated models whose scores are near 0 or 1.) If the variance is less than 25 times the
    square of the largest possible block, outcomes are drawn from the predictions instead. Blocks
    contain rows in the given order, which must not depend on labels.

    ``statistic`` may be a lens, or a `KernelError` of ``form="block"``; by default blocks of 2.
    """
    estimator, lens = _chosen(statistic, forecasts, "block")
    check_test(forecasts, n_resamples)
    found = estimator.measure_forecasts(forecasts)
    kernel = Kernel(estimator.kernel, float(found.notes["bandwidth"]))
    notes: dict[str, Any] = found.notes | {"block_size": estimator.block_size}
    rows = null_problem(lens, forecasts, in_order=False)
    blocks = BlockPairs.of(rows, kernel, estimator.distance == "tv", estimator.block_size)
    observed = float(blocks.totals(rows.y[None])[0])
    variance = blocks.variance
    drawn = None
    if variance == 0:
        notes["reference"] = "certain"
        pvalue = certain_pvalue(rows.possible, n_resamples)
    elif variance >= ENOUGH * blocks.largest**2:
        notes["reference"] = "normal"
        pvalue = max(TINY, float(ndtr(-observed / math.sqrt(variance))))
    else:
        totals = rows.drawn(blocks.totals, rng, n_resamples)
        notes |= resampling_notes(totals)
        pvalue = resampled_pvalue(observed, totals)
        drawn = totals / blocks.weight
    return CalibrationTestResult(found.value, pvalue, "skce-block", null_of(lens), notes, drawn)


def skce_distribution_free(
    forecasts: Forecasts, *, statistic: object, n_resamples: int, rng: Seed
) -> CalibrationTestResult:
    r"""Bound the p-value of the unbiased kernel error by Hoeffding's inequality, without draws.

    The bound is :math:`\exp(-\lfloor n/2 \rfloor t^2 / (2 B^2))` for a positive estimate t, else 1,
    with :math:`|h_{ij}| \le B`, which is 1 for scores and 2 on a simplex. It holds for every number
    of rows and is very conservative: a model is almost never rejected unless it is badly
    miscalibrated. ``rng`` and ``n_resamples`` are not used.
    """
    estimator, lens = _chosen(statistic, forecasts, "unbiased")
    check_test(forecasts, n_resamples)
    if forecasts.weights is not None:
        raise InputError("weights", "cannot be used with the distribution-free bound")
    found = estimator.measure_forecasts(forecasts)
    bound = estimator.bounds(forecasts).high
    n = int((1 + math.isqrt(1 + 8 * found.notes["pairs"])) // 2)  # of pairs: n(n − 1)/2
    pvalue = max(TINY, math.exp(-(n // 2) * max(0.0, found.value) ** 2 / (2 * bound**2)))
    notes = found.notes | {"conservative": True, "bound": bound}
    return CalibrationTestResult(
        found.value, pvalue, "skce-distribution-free", null_of(lens), notes
    )


def _chosen(statistic: object, forecasts: Forecasts, form: str) -> tuple[KernelError, Lens]:
    estimator = KernelError(form=form).or_given(statistic, "form")
    lens = estimator.lens_for(forecasts)
    return estimator.through(lens), check_lens_of_test(lens, simplex=True)
