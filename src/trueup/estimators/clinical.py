"""What clinical prediction models report: calibration slope, intercept and O:E ratio."""

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
from trueup.readable import estimate_with_ends

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
    joint_statistic, joint_pvalue
        Test of slope 1 and intercept 0 at once: twice the gain in log-likelihood and its p-value,
        with two degrees of freedom. NaN where the test does not exist, as `cox` says.
    joint_test
        ``"likelihood ratio"``, or ``"Wald"`` for weights, soft labels and clusters.
    n, n_clusters
        Rows that were fitted, and their clusters; 0 without clusters.
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
        """Return Wald intervals of the slope and of both intercepts.

        Each is the estimate plus and minus its standard error times a quantile: of the normal
        distribution, or with G clusters of Student's with G − 1 degrees of freedom. The ends are
        NaN where the standard error is.
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
            interval = "" if math.isnan(low) else f" (95% interval {low:.3f} to {high:.3f})"
            lines.append(f"{name:<12}  {value: .3f}{interval}")
        if not math.isnan(self.joint_pvalue):
            test = f"p = {self.joint_pvalue:.3g} ({self.joint_test} {self.joint_statistic:.2f})"
            lines.append(f"slope 1 and intercept 0: {test}")
        if self.note:
            lines.append(f"note: {self.note}")
        return "\n".join(lines)


@hinted
def cox(
    probs: object,
    labels: object = None,
    *,
    lens: Lens | None = None,
    weights: object = None,
    logits: bool = False,
) -> Cox:
    r"""Calibration slope and intercept: logistic regression of the labels on logit(p).

    Maximizes :math:`\sum_i w_i [y_i \eta_i - \log(1 + e^{\eta_i})]` with
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
    Use it to say *how* a model is off: too high or low (in the large), too extreme or not extreme
    enough (slope). A slope of 1 with an intercept of 0 does not prove calibration: only departures
    along that line are seen. Estimates are those of maximum likelihood, nearly unbiased except in
    small samples. Cost: two passes over the rows for each of about ten Newton steps.

    The joint test compares the fitted line with slope 1 and intercept 0 by twice the gain in
    log-likelihood (LR), which has a chi-square distribution with two degrees of freedom for a
    calibrated model. R's ``rms::val.prob`` prints the same test as the "U" statistic:
    U = (LR − 2)/n. LR stays finite where the scores order the labels perfectly or all labels are
    equal: the log-likelihood has a limit there. With one score only it has one degree of freedom.

    Logits are clipped at ± logit(ε), with ε that of the type the probabilities came in: ± 36.04
    for float64, ± 15.94 for float32. Nearer to 1 than ε no type can tell; 0 is treated alike, so
    that renaming the classes turns the sign of the intercept and nothing else.

    Standard errors are those of the observed information. Importance weights carry no sample size
    and soft labels no draws: with either, errors are by the sandwich formula, which scaling
    the weights does not change. Rows of one of the G ``clusters`` of a `Forecasts` depend on each
    other: the sandwich formula then adds up each cluster first, times G/(G − 1). In these three
    cases the joint test is Wald's with the sandwich covariance, referred to Hotelling's
    distribution with clusters. It is NaN without a maximum and below three clusters. `Pooled`
    pairs depend on each other: errors and the joint test are NaN.

    Measured at 1% to 3% prevalence and 200 to 12,000 rows (docs/clinical.md): the joint test
    rejects 4.5% to 5.8% of calibrated models at the 5% level, and 95% intervals cover 94% to 96%.
    With two expected events in 200 rows they cover 82%: 14% of these datasets have no event, and
    so no interval. The sandwich formula needs more events: the joint test rejects 8% with 29
    expected events and unequal weights, and with 12 of them in 20 clusters.

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
    r"""Ratio of observed to expected positives, Σ w y / Σ w p; 1 for a calibrated model.

    Above 1: more outcomes occur than are predicted. The coarsest of all measures: errors at high
    and low scores cancel. `trueup.inference.oe_ratio_interval` gives its interval. ``lens`` is
    that of `cox`. Cost: one pass over the rows.

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


def cluster_numbers(lens: Lens | None, forecasts: Forecasts) -> Ints | None:
    """Return the cluster of each pair as a number from 0, or None without clusters.

    None too for a lens that gives a row several pairs: no rows tell how those depend.
    """
    chosen = clinical_lens(lens, forecasts)
    if forecasts.clusters is None or not chosen.independent:
        return None
    clusters = forecasts.clusters
    if chosen.where is not None:
        clusters = clusters[chosen.inside(chosen.everywhere.problem(forecasts).p)]
    return np.unique(clusters, return_inverse=True)[1].reshape(-1)


def _logits(p: Floats, eps: float) -> tuple[Floats, int]:
    """Logits clipped at ± logit(eps), and how many were."""
    limit = math.log1p(-eps) - math.log(eps)
    with np.errstate(divide="ignore"):
        logits = np.log(p) - np.log1p(-p)
    return np.clip(logits, -limit, limit), int(np.sum((p < eps) | (p > 1 - eps)))
