"""Certificates: bounds that verify or refute a limit on the calibration error of a model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from trueup.bins import EqualMass
from trueup.calls.hints import hinted
from trueup.checks import check_choice, is_number, is_whole
from trueup.errors import Argument, InputError, Verbatim, must_be
from trueup.estimators.base import Ends
from trueup.forecasts import Forecasts
from trueup.inference.arguments import check_inside, check_level
from trueup.inference.certification.error_bounds import asymptotic_bounds, finite_sample_bounds
from trueup.inference.certification.model_outputs import (
    Tally,
    declared_outputs,
    rounding_of,
    tally_of_bins,
    tally_of_outputs,
    which_output,
)
from trueup.lens import Lens, Pairs, check_lens, chosen_lens
from trueup.results import Certificate
from trueup.seeds import Seed, check_seed
from trueup.tables import ResultTable

VERIFIED, REFUTED, OPEN = "verified", "refuted", "not enough data"
MOST_ROWS = 1e12
CONTINUOUS = (
    "unless all outputs are declared with `outputs=`, the model may produce any score, and binning "
    "then gives only a lower bound on its error (Kumar et al. 2019, Prop. 3.3), so no amount of "
    "data can verify it"
)


@hinted
def certify(
    probs: object,
    labels: object = None,
    *,
    max_error: float,
    norm: int = 2,
    outputs: object = None,
    confidence_level: float = 0.95,
    method: str = "finite-sample",
    lens: Lens | None = None,
    weights: object = None,
    logits: bool = False,
) -> Certificate:
    """Verify or refute that the calibration error is at most ``max_error``.

    Use it if a limit must be guaranteed, with data on which neither the model nor its recalibrator
    was fitted. The bounds refer to the error of all future predictions, Σ P(s)·abs(s − P(y = 1 |
    s))^p. A test that does not reject is no such guarantee.

    Parameters
    ----------
    probs : array_like or Forecasts
        Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data.
    labels : array_like, optional
        Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
    max_error : float
        The largest acceptable error.
    norm : {2, 1}, default 2
        2 for the root mean squared error, 1 for the mean absolute error.
    outputs : array_like or object, optional
        All outputs that the model can give under the lens, or a fitted recalibrator with
        ``outputs_``. This is a declaration: a sample does not show all possible outputs, so they
        are never inferred from ``probs``.
    confidence_level : float, default 0.95
        1 − δ. With finite-sample bounds, a model whose error is above ``max_error`` is verified
        with probability at most δ, and a model whose error is not above it is refuted with
        probability at most δ. With asymptotic bounds both hold approximately.
    method : {"finite-sample", "asymptotic"}, default "finite-sample"
        ``"finite-sample"`` bounds hold for every n. ``"asymptotic"`` bounds, the ends of the
        interval for the binned error with one bin per output, are much tighter.
    lens : Lens, optional
        Lens with one score per row. The default is that of every estimator: `Binary` for 1-D
        probabilities, `TopLabel` for a matrix.
    weights : array_like, optional
        Importance weights, for the asymptotic method only: weights carry no sample size.
    logits : bool, default False
        Whether `probs` holds logits instead of probabilities.

    Returns
    -------
    Certificate
        Bounds and verdict. ``n_additional`` is None if no number of additional rows would decide,
        provided that the error equals its estimate. Without ``outputs`` the verdict is never
        ``"verified"``: 15 equal-mass bins give a lower bound on the error, which can refute, and
        the upper bound is 1.

    Notes
    -----
    ``n_additional`` assumes the present fractions and the present debiased error: it is an
    estimate, not a guarantee. The confidence level does not hold if you repeat the certification
    until you get the verdict that you want.

    References
    ----------
    Kumar, Liang & Ma 2019, §5 and Prop. 3.3; Clopper & Pearson 1934.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> probs = rng.choice([0.2, 0.8], 20_000)
    >>> labels = rng.random(20_000) < probs
    >>> certify(probs, labels, max_error=0.05, outputs=[0.2, 0.8]).text.split(", ")[1]
    'the calibration error is at most 0.0152'
    >>> certify(probs, labels, max_error=0.05).verdict
    'not enough data'
    """
    asked = check_inside("max_error", max_error)
    level = _checked_level(norm, confidence_level, method)
    forecasts = Forecasts.from_arrays(probs, labels, weights=weights, logits=logits)
    pairs = _independent_pairs(forecasts, lens, method)
    if outputs is None:
        tally = tally_of_bins(pairs)
    else:
        declared = declared_outputs(outputs)
        index = which_output(pairs.p, declared, rounding_of(forecasts))
        tally = tally_of_outputs(declared, index, pairs)
    return _certificate(tally, asked, int(norm), level, method)


def trade_off(
    probs: object,
    labels: object = None,
    *,
    n_bins: Sequence[int] = tuple(range(10, 101, 5)),
    confidence_level: float = 0.95,
    norm: int = 2,
    method: str = "asymptotic",
    lens: Lens | None = None,
    logits: bool = False,
    rng: Seed = 0,
) -> ResultTable:
    """Compute the Brier score and the certified bound of histogram binning by number of bins.

    Histogram binning (equal-mass bins; the output of a bin is its rate of positives) is fitted on a
    random half of the rows and evaluated on the other half (Kumar et al. 2019, Fig. 17). More bins
    predict better, up to a point, but are harder to verify. A bound that was selected as the
    smallest of many is too small: certify the selected model on separate data.

    Parameters
    ----------
    probs : array_like or Forecasts
        Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data.
    labels : array_like, optional
        Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
    n_bins : sequence of int
        Numbers of bins to try (default 10 to 100 in steps of 5).
    confidence_level : float, default 0.95
        Confidence level of the bounds.
    norm : {2, 1}, default 2
        2 for the root mean squared error, 1 for the mean absolute error.
    method : {"asymptotic", "finite-sample"}, default "asymptotic"
        Kind of bounds, as for `certify`.
    lens : Lens, optional
        Lens with one score per row. The default is that of every estimator.
    logits : bool, default False
        Whether `probs` holds logits instead of probabilities.
    rng : int, Generator or None, default 0
        Random seed; the same seed gives the same result.

    Returns
    -------
    ResultTable
        One row per number of bins: ``n_bins``, ``n_outputs`` (bins with the same rate are one
        output), ``brier``, ``error`` (the debiased L2 error) and ``upper_bound``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> probs = rng.random(4000)
    >>> curve = trade_off(probs, rng.random(4000) < probs**2, n_bins=(5, 20), rng=0)
    >>> bool(curve["brier"][1] < curve["brier"][0])
    True
    """
    level = _checked_level(norm, confidence_level, method)
    numbers = _checked_numbers(n_bins)
    check_seed(rng)
    forecasts = Forecasts.from_arrays(probs, labels, logits=logits)
    pairs = _independent_pairs(forecasts, lens, method)
    if len(pairs) < 2:
        raise must_be("probs", "have at least two rows, one for each half", Verbatim("one"))
    order = np.random.default_rng(rng).permutation(len(pairs))
    fitted, judged = (pairs.take(np.sort(half)) for half in np.array_split(order, 2))
    rows = [_judge(b, fitted, judged, int(norm), level, method) for b in numbers]
    names = ("n_bins", "n_outputs", "brier", "error", "upper_bound")
    return ResultTable.from_rows(rows, names)


def _judge(
    n_bins: int, fitted: Pairs, judged: Pairs, norm: int, confidence_level: float, method: str
) -> tuple[int, int, float, float, float]:
    """Fit histogram binning on one half, and return the row of the table from the other half."""
    bins = EqualMass(n_bins).bin_table(fitted)
    declared, output_of_bin = np.unique(bins.mean_label, return_inverse=True)
    bin_of_row = np.searchsorted(bins.edges[1:-1], judged.p.astype(np.float64))
    index = output_of_bin.reshape(-1)[bin_of_row]
    tally = tally_of_outputs(declared, index, judged)
    w = np.ones(len(judged)) if judged.w is None else judged.w
    brier = float(np.average((declared[index] - judged.y) ** 2, weights=w))
    high = _bounds(method, norm, confidence_level)(tally).high
    return n_bins, len(declared), brier, math.sqrt(tally.debiased), high


def _certificate(
    tally: Tally, max_error: float, norm: int, confidence_level: float, method: str
) -> Certificate:
    bounds = _bounds(method, norm, confidence_level)
    low, high = found = bounds(tally)
    verdict = VERIFIED if high <= max_error else REFUTED if low > max_error else OPEN
    n_additional = _still_needed(tally, bounds, max_error) if verdict == OPEN else 0
    notes: dict[str, Any] = {
        "n": int(tally.n),
        "norm": norm,
        "target": "the population calibration error",
        "debiased_error": math.sqrt(tally.debiased),
    }
    if tally.binned:
        notes |= {"n_bins": len(tally.score), "reason": CONTINUOUS}
    else:
        unseen = int(np.sum(tally.count == 0))
        notes |= {"n_outputs": len(tally.score), "unseen_outputs": unseen}
    sentence = _sentence(verdict, found, n_additional, max_error, confidence_level, tally)
    return Certificate(
        verdict, max_error, high, low, n_additional, confidence_level, method, sentence, notes
    )


def _bounds(method: str, norm: int, confidence_level: float) -> Callable[[Tally], Ends]:
    delta = 1 - confidence_level
    if method == "asymptotic":
        return lambda tally: asymptotic_bounds(tally, norm, delta)
    return lambda tally: finite_sample_bounds(tally, norm, delta)


def _still_needed(tally: Tally, bounds: Callable[[Tally], Ends], max_error: float) -> int | None:
    """Return about how many more rows would decide; None if more than 10^12 would be needed."""

    def decides(times: float) -> bool:
        low, high = bounds(tally.grown(times))
        return high <= max_error or low > max_error

    most = MOST_ROWS / tally.n
    times = 2.0
    while not decides(times):
        times *= 2
        if times > most:
            return None
    few, enough = times / 2, times
    while enough / few > 1.001:
        middle = math.sqrt(few * enough)
        few, enough = (few, middle) if decides(middle) else (middle, enough)
    return max(1, math.ceil((enough - 1) * tally.n))


def _sentence(
    verdict: str,
    bounds: Ends,
    n_additional: int | None,
    max_error: float,
    level: float,
    tally: Tally,
) -> str:
    percent, limit = f"{100 * level:g}%", f"{max_error:g}"
    error, low, high = "the calibration error is at", f"{bounds.low:.4f}", f"{bounds.high:.4f}"
    if verdict == VERIFIED:
        start = f"Verified: with {percent} confidence, {error} most {high}"
        return f"{start}, within the limit of {limit}."
    if verdict == REFUTED:
        start = f"Refuted: with {percent} confidence, {error} least {low}"
        return f"{start}, above the limit of {limit}."
    if tally.binned:
        start = f"Not verified: {CONTINUOUS}. With {percent} confidence, {error} least {low}"
        if n_additional is None:
            return f"{start}. Declare `outputs`, or bin the model's outputs first."
        return f"{start}; about {n_additional:,} more rows may refute {limit}."
    start = f"Not enough data: {error} least {low} and at most {high}"
    start = f"{start} ({percent} confidence for each bound)."
    if n_additional is None:
        return f"{start} It appears too close to {limit} for any number of rows to decide."
    return f"{start} About {n_additional:,} more rows would settle whether it is within {limit}."


def _checked_level(norm: object, confidence_level: object, method: object) -> float:
    check_choice("method", method, "finite-sample", "asymptotic")
    if not is_number(norm) or norm not in (1, 2):
        raise must_be("norm", "1 or 2", norm)
    return check_level(confidence_level)


def _checked_numbers(n_bins: Any) -> list[int]:
    rule = "a list of whole numbers of at least 1"
    try:
        numbers = list(n_bins)
    except TypeError:
        raise must_be("n_bins", rule, n_bins, hint="pass (10,) for one number of bins") from None
    if not numbers or not all(is_whole(number, 1) for number in numbers):
        raise must_be("n_bins", rule, n_bins)
    return [int(number) for number in numbers]


def _independent_pairs(forecasts: Forecasts, lens: Lens | None, method: str) -> Pairs:
    """One score and one outcome per row, all rows independent of each other."""
    check_lens(lens)
    lens = chosen_lens(lens, forecasts)
    if not lens.one_score:
        raise must_be("lens", "yield one score per row, to certify a model", lens)
    if forecasts.soft:
        raise must_be("labels", "classes, to certify a model", Verbatim("soft labels"))
    if forecasts.clusters is not None:
        rule = ("Certification requires independent rows, but ", Argument("clusters"), " is set")
        raise InputError("clusters", rule)
    if forecasts.weights is not None and method == "finite-sample":
        exact, rough = Argument("method", "finite-sample"), Argument("method", "asymptotic")
        raise InputError("weights", ("cannot be used with ", exact), hint=("pass ", rough))
    return lens.problem(forecasts)
