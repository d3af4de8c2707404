"""What clinical prediction models report: calibration slope, intercept and O:E ratio."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from trueup._typing import Floats
from trueup.errors import Argument, InputError, must_be
from trueup.estimators.logistic_fit import Outcomes, fit_intercept, fit_line
from trueup.forecasts import Forecasts
from trueup.lens import Binary, Lens, Pairs, check_lens
from trueup.notebook import FieldsShown

EPS_OF_TINY = {
    float(np.finfo(kind).tiny): float(np.finfo(kind).eps)
    for kind in (np.float16, np.float32, np.float64)
}


@dataclass(frozen=True)
class Cox(FieldsShown):
    """Cox's recalibration: P(y = 1) = σ(intercept + slope · logit p), by maximum likelihood.

    Attributes
    ----------
    slope, intercept
        1 and 0 for a calibrated model. A slope below 1: predictions are too extreme.
    slope_error, intercept_error
        Standard errors; NaN where there is no maximum.
    in_the_large, in_the_large_error
        Calibration-in-the-large: the intercept with the slope held at 1. Above 0: predictions are
        too low on average.
    converged
        Whether both maxima were found. False where one does not exist, or where the likelihood is
        so flat that a standard error is 1000 times its parameter: ``note`` says why.
    clipped
        Rows whose probability is so near to 0 or 1 that its logit was clipped.
    note
        Why there is no clear maximum, or an empty string.
    """

    slope: float
    intercept: float
    slope_error: float
    intercept_error: float
    in_the_large: float
    in_the_large_error: float
    converged: bool
    clipped: int
    note: str = ""


def cox(
    probs: object,
    labels: object = None,
    *,
    lens: Lens | None = None,
    weights: object = None,
    logits: bool = False,
) -> Cox:
    r"""Calibration slope and intercept: logistic regression of the labels on logit(p).

    Maximises :math:`\sum_i w_i [y_i \eta_i - \log(1 + e^{\eta_i})]` with
    :math:`\eta = a + b \log\frac{p}{1 - p}` over both a and b, and over a alone with b = 1.

    Parameters
    ----------
    probs, labels, weights
        As for every metric; a `Forecasts` in place of the first two.
    logits
        Whether the predictions are logits.
    lens
        What part of the prediction is looked at; by default `Binary` for 1-D probabilities and
        two columns. More columns need one, such as ``OneVsRest(c)``.

    Notes
    -----
    Use it to say *how* a model is off: too high or low (in the large), too extreme or too timid
    (slope). A slope of 1 with an intercept of 0 does not prove calibration: only departures along
    that line are seen. Estimates are those of maximum likelihood, nearly unbiased but in small
    samples. Cost: two reads of the rows for each of about ten Newton steps.

    Logits are clipped at ± logit(ε), with ε that of the type the probabilities came in: ± 36.04
    for float64, ± 15.94 for float32. Nearer to 1 than ε no type can tell; 0 is treated alike, so
    that renaming the classes turns the sign of the intercept and nothing else.

    Standard errors are those of the observed information. Importance weights carry no sample size
    and soft labels no draws: with either, errors are by the sandwich formula, which scaling
    the weights does not change. `Pooled` pairs depend on each other: NaN.

    Without a finite maximum there is no silent large number. Scores that order the labels
    perfectly: slope ± inf and intercept NaN. One score only: both NaN. Labels that are all equal:
    both intercepts ± inf, slope NaN.

    References
    ----------
    Cox 1958, "Two further applications of a model for binary regression"; Van Calster et al.
    2016, "A calibration hierarchy for risk models was defined".

    Examples
    --------
    >>> result = cox([0.1, 0.3, 0.4, 0.6, 0.7, 0.9], [0, 1, 0, 1, 0, 0])
    >>> round(result.slope, 4), round(result.intercept, 4), round(result.in_the_large, 4)
    (-0.1759, -0.7029, -0.9568)
    >>> cox([0.1, 0.3, 0.7], [0, 0, 1]).note
    'the scores order the labels perfectly: the larger the slope, the better the fit'
    """
    forecasts = Forecasts.from_arrays(probs, labels, weights=weights, logits=logits)
    pairs = clinical_pairs(lens, forecasts)
    log_odds, clipped = _logits(pairs.p.astype(np.float64), EPS_OF_TINY[forecasts.tiny])
    # Of mean 1: Newton's method stops by the size of the likelihood.
    weight = np.ones(len(pairs)) if pairs.w is None else pairs.w / pairs.w.mean()
    robust = pairs.w is not None or pairs.soft
    outcomes = Outcomes(log_odds, pairs.y.astype(np.float64), weight, robust)
    line, level = fit_line(outcomes), fit_intercept(outcomes)
    known = 1.0 if lens is None or lens.independent else math.nan
    return Cox(
        line.slope,
        line.intercept,
        line.slope_error * known,
        line.intercept_error * known,
        level.intercept,
        level.intercept_error * known,
        line.converged and level.converged,
        clipped,
        line.note or level.note,
    )


def oe_ratio(
    probs: object,
    labels: object = None,
    *,
    lens: Lens | None = None,
    weights: object = None,
    logits: bool = False,
) -> float:
    r"""Ratio of observed to expected positives, Σ w y / Σ w p; 1 for a calibrated model.

    Above 1: more happens than is predicted. The coarsest of all measures: errors at high and low
    scores cancel. Its relative standard error is at most about one over the root of the number of
    positives. ``lens`` as for `cox`. Cost: one read.

    References
    ----------
    Steyerberg & Vergouwe 2014, "Towards better clinical prediction models".

    Examples
    --------
    >>> round(oe_ratio([0.1, 0.3, 0.6], [0, 1, 1]), 6)
    2.0
    """
    pairs = clinical_pairs(
        lens, Forecasts.from_arrays(probs, labels, weights=weights, logits=logits)
    )
    p, y = pairs.p.astype(np.float64), pairs.y.astype(np.float64)
    if pairs.w is not None:
        p, y = p * pairs.w, y * pairs.w
    expected = float(p.sum())
    if expected == 0:
        raise InputError(
            "probs", "must contain a positive value; the ratio is undefined if all are zero"
        )
    return float(y.sum()) / expected


def clinical_lens(lens: Lens | None, forecasts: Forecasts) -> Lens:
    """Return the lens, by default Binary where there are two classes."""
    check_lens(lens)
    if lens is not None:
        return lens
    if forecasts.is_matrix and forecasts.n_classes > 2:
        rule = ("is required if ", Argument("probs"), " has more than two columns")
        raise InputError("lens", rule, hint="pass OneVsRest(c) for class c")
    return Binary()


def clinical_pairs(lens: Lens | None, forecasts: Forecasts) -> Pairs:
    """Return the one set of pairs that a clinical measure looks at."""
    chosen = clinical_lens(lens, forecasts)
    if chosen.induces != "pairs":
        raise must_be("lens", "yield one set of scores, such as OneVsRest(c)", chosen)
    return chosen.pairs(forecasts)


def _logits(p: Floats, eps: float) -> tuple[Floats, int]:
    """Logits clipped at ± logit(eps), and how many were."""
    limit = math.log1p(-eps) - math.log(eps)
    with np.errstate(divide="ignore"):
        logits = np.log(p) - np.log1p(-p)
    return np.clip(logits, -limit, limit), int(np.sum((p < eps) | (p > 1 - eps)))
