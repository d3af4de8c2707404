"""Measures of clinical prediction models: calibration slope, intercept and O:E ratio."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trueup._typing import Floats, Ints
from trueup.calls.hints import hinted
from trueup.checks import check_inside
from trueup.errors import Argument, InputError, must_be
from trueup.estimators.joint_test import joint_test
from trueup.estimators.logistic_fit import Outcomes, fit_intercept, fit_line
from trueup.forecasts import Forecasts
from trueup.lens import Binary, Lens, Pairs, check_lens
from trueup.notebook import FieldsShown
from trueup.readable import estimate_with_ends, minus, short_number

EPS_OF_TINY = {
    float(np.finfo(kind).tiny): float(np.finfo(kind).eps)
    for kind in (np.float16, np.float32, np.float64)
}


Ends = tuple[float, float]


class CoxIntervals(NamedTuple):
    """Wald intervals of Cox's recalibration, each as (low, high)."""

    slope: Ends
    intercept: Ends
    in_the_large: Ends


@dataclass(frozen=True)
class Cox(FieldsShown):
    """Result of `cox`: calibration slope and intercept with their standard errors.

    The model is P(y = 1) = σ(intercept + slope · logit p), fitted by maximum likelihood. For a
    calibrated model the slope is 1 and the intercept 0. A slope below 1 means that predictions are
    too extreme.

    Parameters
    ----------
    slope : float
        Calibration slope.
    intercept : float
        Calibration intercept.
    slope_error : float
        Standard error of the slope; NaN if there is no maximum.
    intercept_error : float
        Standard error of the intercept; NaN if there is no maximum.
    in_the_large : float
        Calibration-in-the-large: the intercept with the slope held at 1. A value above 0 means that
        predictions are too low on average.
    in_the_large_error : float
        Standard error of `in_the_large`.
    converged : bool
        Whether both maxima were found. False if a maximum does not exist, or if the likelihood is
        so flat that a standard error is 1000 times its parameter; ``note`` says why.
    clipped : int
        Number of rows whose probability is so close to 0 or 1 that its logit was clipped.
    note : str
        Why there is no clear maximum, or an empty string.
    joint_statistic : float
        Statistic of the joint test of slope 1 and intercept 0: twice the gain in log-likelihood.
        NaN if the test does not exist (see `cox`).
    joint_pvalue : float
        p-value of the joint test, with two degrees of freedom.
    joint_test : str
        ``"likelihood ratio"``, or ``"Wald"`` for weights, soft labels and clusters.
    n : int
        Number of rows fitted.
    n_clusters : int
        Number of clusters; 0 without clusters.

    Examples
    --------
    >>> result = cox([0.1, 0.3, 0.4, 0.6, 0.7, 0.9], [0, 1, 0, 1, 0, 0])
    >>> result.converged, round(result.slope, 4)
    (True, -0.1759)
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
    joint_statistic: float = math.nan
    joint_pvalue: float = math.nan
    joint_test: str = ""
    n: int = 0
    n_clusters: int = 0

    def intervals(self, confidence_level: float = 0.95) -> CoxIntervals:
        """Compute Wald intervals for the slope and both intercepts.

        Each interval is the estimate plus and minus its standard error times a quantile. The
        quantile is that of the normal distribution or, with G clusters, of Student's t with G − 1
        degrees of freedom. The ends are NaN if the standard error is NaN.

        Parameters
        ----------
        confidence_level : float, default 0.95
            Confidence level.

        Returns
        -------
        CoxIntervals
            ``slope``, ``intercept`` and ``in_the_large``, each with ``low`` and ``high``.
        """
        from scipy.special import ndtri, stdtrit

        level = check_inside("confidence_level", confidence_level, "0.95 stands for 95%")
        middle = (1 + level) / 2
        times = stdtrit(self.n_clusters - 1, middle) if self.n_clusters > 1 else ndtri(middle)

        def ends(value: float, error: float) -> Ends:
            return value - float(times) * error, value + float(times) * error

        return CoxIntervals(
            ends(self.slope, self.slope_error),
            ends(self.intercept, self.intercept_error),
            ends(self.in_the_large, self.in_the_large_error),
        )

    def _line(self) -> str:
        found = self.intervals()
        parts = [
            f"{name} {estimate_with_ends(value, *ends, 0.95)}"
            for name, value, ends in (
                ("slope", self.slope, found.slope),
                ("intercept", self.intercept, found.intercept),
                ("in the large", self.in_the_large, found.in_the_large),
            )
        ]
        return ", ".join([*parts, self.note] if self.note else parts)

    def __str__(self) -> str:
        """Show the estimates with 95% intervals and the joint test."""
        found = self.intervals()
        rows = {
            "slope": (self.slope, found.slope),
            "intercept": (self.intercept, found.intercept),
            "in the large": (self.in_the_large, found.in_the_large),
        }
        size = f"{self.n:,} rows" + (f", {self.n_clusters:,} clusters" if self.n_clusters else "")
        lines = [f"Cox calibration ({size})"]
        for name, (value, (low, high)) in rows.items():
            ends = (minus(f"{end:.3f}") for end in (low, high))
            interval = "" if math.isnan(low) else f" (95% interval {' to '.join(ends)})"
            lines.append(f"{name:<12}  {_aligned(value)}{interval}")
        if not math.isnan(self.joint_pvalue):
            test = f"p = {self.joint_pvalue:.3g} ({self.joint_test} {self.joint_statistic:.2f})"
            lines.append(f"slope 1 and intercept 0: {test}")
        if self.note:
            lines.append(f"note: {self.note}")
        return "\n".join(lines)


def _aligned(value: float) -> str:
    """A number to three decimals, with room for its sign."""
    text = minus(f"{value:.3f}") if math.isfinite(value) else short_number(value)
    return text if text[:1] in "−u" else f" {text}"


@hinted
def cox(
    probs: object,
    labels: object = None,
    *,
    lens: Lens | None = None,
    weights: object = None,
    logits: bool = False,
) -> Cox:
    r"""Compute the calibration slope and intercept: logistic regression of the labels on logit(p).

    It maximizes :math:`\sum_i w_i [y_i \eta_i - \log(1 + e^{\eta_i})]` with
    :math:`\eta = a + b \log\frac{p}{1 - p}` over both a and b, and over a alone with b = 1. Use it
    to say *how* a model is miscalibrated: too high or too low (in the large), too extreme or not
    extreme enough (slope). A slope of 1 with an intercept of 0 does not prove calibration, because
    only departures along that line are detected.

    Parameters
    ----------
    probs : array_like or Forecasts
        Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data.
    labels : array_like, optional
        Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
    lens : Lens, optional
        The part of a prediction to measure. The default is `Binary` for 1-D probabilities
        and two columns. More columns need a lens, such as ``OneVsRest(c)``.
    weights : array_like, optional
        Weight of each row (default: all rows count the same).
    logits : bool, default False
        Whether `probs` holds logits instead of probabilities.

    Returns
    -------
    Cox
        Slope, intercepts, standard errors and the joint test.

    Notes
    -----
    Estimates are maximum-likelihood estimates, nearly unbiased except in small samples. Cost: two
    passes over the data for each of about ten Newton steps.

    The joint test compares the fitted line with slope 1 and intercept 0 by twice the gain in
    log-likelihood (LR), which has a chi-square distribution with two degrees of freedom for a
    calibrated model. R's ``rms::val.prob`` prints the same test as the "U" statistic: U = (LR −
    2)/n. LR stays finite if the scores order the labels perfectly or if all labels are equal,
    because the log-likelihood then has a limit. With one distinct score it has one degree of
    freedom.

    Logits are clipped at ± logit(ε), where ε is the machine epsilon of the type of the
    probabilities: ± 36.04 for float64, ± 15.94 for float32. No value of the type is closer to 1
    than about ε. Probabilities near 0 are treated in the same way, so that renaming the classes
    only changes the sign of the intercept.

    Standard errors are those of the observed information. Importance weights do not determine a
    sample size, and soft labels are not random outcomes. With either, standard errors use the
    sandwich formula, which does not change if all weights are scaled. If a `Forecasts` has G
    ``clusters``, whose rows depend on each other, the sandwich formula adds up each cluster first
    and multiplies by G/(G − 1). In these three cases the joint test is Wald's with the sandwich
    covariance, referred to Hotelling's distribution with clusters. It is NaN without a maximum and
    with fewer than three clusters. The pairs of `Pooled` depend on each other, so their standard
    errors and joint test are NaN.

    Measured at 1% to 3% prevalence and 200 to 12,000 rows (docs/clinical.md): the joint test
    rejects 4.5% to 5.8% of calibrated models at the 5% level, and 95% intervals cover 94% to 96%.
    With two expected events in 200 rows they cover 82%, because 14% of these datasets have no event
    and therefore no interval. The sandwich formula needs more events: the joint test rejects 8%
    with 29 expected events and unequal weights, and 8% with 12 expected events in 20 clusters.

    If no finite maximum exists, the result is infinite or NaN, never a large finite number. Scores
    that order the labels perfectly give slope ± inf and intercept NaN. One distinct score gives NaN
    for both. Labels that are all equal give intercepts of ± inf and slope NaN.

    References
    ----------
    Cox 1958, "Two further applications of a model for binary regression"; Van Calster et al. 2016,
    "A calibration hierarchy for risk models was defined".

    Examples
    --------
    >>> result = cox([0.1, 0.3, 0.4, 0.6, 0.7, 0.9], [0, 1, 0, 1, 0, 0])
    >>> round(result.slope, 4), round(result.intercept, 4), round(result.in_the_large, 4)
    (-0.1759, -0.7029, -0.9568)
    >>> cox([0.1, 0.3, 0.7], [0, 0, 1]).note
    'the scores separate the labels perfectly, so the slope has no finite optimum'
    """
    forecasts = Forecasts.from_arrays(probs, labels, weights=weights, logits=logits)
    pairs = clinical_pairs(lens, forecasts)
    log_odds, clipped = _logits(pairs.p.astype(np.float64), EPS_OF_TINY[forecasts.tiny])
    # Of mean 1: Newton's method stops by the size of the likelihood.
    weight = np.ones(len(pairs)) if pairs.w is None else pairs.w / pairs.w.mean()
    clusters = cluster_numbers(lens, forecasts)
    robust = pairs.w is not None or pairs.soft or clusters is not None
    outcomes = Outcomes(log_odds, pairs.y.astype(np.float64), weight, robust, clusters)
    line, level = fit_line(outcomes), fit_intercept(outcomes)
    known = 1.0 if lens is None or lens.independent else math.nan
    joint = joint_test(outcomes, line)
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
        joint.statistic * known,
        joint.pvalue * known,
        joint.kind,
        len(pairs),
        0 if clusters is None else int(clusters.max()) + 1,
    )


@hinted
def oe_ratio(
    probs: object,
    labels: object = None,
    *,
    lens: Lens | None = None,
    weights: object = None,
    logits: bool = False,
) -> float:
    """Compute the ratio of observed to expected positives, Σ w y / Σ w p.

    The ratio is 1 for a calibrated model and above 1 if more outcomes occur than are predicted. Use
    it as a first check: it is the coarsest of all metrics, because errors at high and low scores
    cancel. `trueup.inference.oe_ratio_interval` gives its interval. Cost: one pass over the data.

    Parameters
    ----------
    probs : array_like or Forecasts
        Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data.
    labels : array_like, optional
        Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
    lens : Lens, optional
        The part of a prediction to measure. The default is `Binary` for 1-D probabilities
        and two columns. More columns need a lens, such as ``OneVsRest(c)``.
    weights : array_like, optional
        Weight of each row (default: all rows count the same).
    logits : bool, default False
        Whether `probs` holds logits instead of probabilities.

    Returns
    -------
    float
        The ratio.

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
    """Return the lens; the default is `Binary`, which requires at most two columns."""
    check_lens(lens)
    if lens is not None:
        return lens
    if forecasts.is_matrix and forecasts.n_classes > 2:
        rule = ("is required if ", Argument("probs"), " has more than two columns")
        raise InputError("lens", rule, hint="pass OneVsRest(c) for class c")
    return Binary()


def clinical_pairs(lens: Lens | None, forecasts: Forecasts) -> Pairs:
    """Return the one set of pairs that a clinical measure evaluates."""
    chosen = clinical_lens(lens, forecasts)
    if chosen.induces != "pairs":
        raise must_be("lens", "yield one set of scores, such as OneVsRest(c)", chosen)
    return chosen.pairs(forecasts)


def cluster_numbers(lens: Lens | None, forecasts: Forecasts) -> Ints | None:
    """Return the cluster of each pair as a number from 0, or None without clusters.

    Return None too for a lens that yields several pairs per row.
    """
    chosen = clinical_lens(lens, forecasts)
    if forecasts.clusters is None or not chosen.independent:
        return None
    clusters = forecasts.clusters
    if chosen.where is not None:
        clusters = clusters[chosen.inside(chosen.everywhere.problem(forecasts).p)]
    return np.unique(clusters, return_inverse=True)[1].reshape(-1)


def _logits(p: Floats, eps: float) -> tuple[Floats, int]:
    """Return logits clipped at ± logit(eps), and how many were clipped."""
    limit = math.log1p(-eps) - math.log(eps)
    with np.errstate(divide="ignore"):
        logits = np.log(p) - np.log1p(-p)
    return np.clip(logits, -limit, limit), int(np.sum((p < eps) | (p > 1 - eps)))
