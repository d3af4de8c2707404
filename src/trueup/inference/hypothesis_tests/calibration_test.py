"""Are these probabilities calibrated? One function for every test."""

from __future__ import annotations

from trueup.calls.hints import hinted
from trueup.calls.progress import Progress, stage, with_progress
from trueup.errors import must_be
from trueup.estimators.base import Metric, known_estimator
from trueup.forecasts import Forecasts
from trueup.inference.arguments import check_tail
from trueup.lens import Lens, is_lens
from trueup.results import CalibrationTestResult
from trueup.seeds import Seed, check_seed


@hinted
@with_progress("calibration test")
def calibration_test(
    probs: object,
    labels: object = None,
    *,
    statistic: Metric | Lens | None = None,
    method: str | None = None,
    n_resamples: int = 999,
    weights: object = None,
    logits: bool = False,
    tail: str = "resampling",
    rng: Seed = 0,
    progress: Progress = None,
) -> CalibrationTestResult:
    """Test the hypothesis that a model is calibrated.

    By default by the omnibus test, which combines six statistics that are each sensitive to another
    kind of error. Labels are drawn from the predictions ``n_resamples`` times (Vaicenavicius et al.
    2019, §4.3), and the p-value is the share of draws, the data among them, whose statistic is at
    least that of the data. So it is never 0 and, with predictions held fixed, exact: under the
    hypothesis P(p ≤ α) ≤ α for any number of rows. A statistic of few possible values ties with
    its resamples; ties count as large, which makes the test conservative, and is then noted.

    Parameters
    ----------
    probs, labels, weights
        As for every metric, or one `Forecasts`. Labels are classes, not probabilities.
    logits
        Whether the predictions are logits.
    statistic
        None for the omnibus test. A lens for the omnibus test of what it shows, such as
        ``TopLabel()``. Any other estimator, or a named metric, large where calibration is bad, for
        the consistency test of its ``pth_power``, before the root and with its sign: a debiased
        value clipped at 0 would tie with half of all resamples.
    method
        By default ``"omnibus"`` if ``statistic`` is None or a lens, else ``"consistency"``.
        ``"omnibus"``: six statistics of the same drawn labels, combined; exact. Against the five
        kinds of errors in docs/omnibus.md it has 88% to 98% of the power of the best of the six,
        which differs from kind to kind. ``statistic`` is a lens
        with one outcome per row, or None: then a matrix is tested by its top labels, by sums over
        classes and by every class together. ``parts`` of the result are the p-values of each
        statistic, and ``strongest`` is the smallest of them, which describes the data and is no
        second test. With ``clusters``, signs of whole clusters take the place of drawn labels:
        asymptotic in the number of clusters.
        ``"consistency"``: predictions fixed, labels drawn; exact. ``statistic`` is an estimator, or
        None for that of `rmsce_debiased`,
        ``BinnedError(binning=EqualMass(15), norm=2, debias=True)``.
        ``"consistency-unconditional"``: rows are drawn with replacement first, and copies of a row
        are moved apart by about 1e-9, as new rows would not tie; asymptotic.
        ``"cluster-signs"``: for forecasts with ``clusters``; the residuals of whole clusters
        change sign. Asymptotic in the number of clusters; for statistics of score − label:
        `BinnedError` without correction (the default here), `CumulativeError`, `SmoothError`.
        ``"cox"``: slope 1 and intercept 0 on the logit scale, the joint test of `cox`;
        asymptotic. ``"cox"``, ``"tcal"``, ``"spiegelhalter"``: ``statistic`` is a lens or None.
        ``"skce"``, ``"skce-block"``, ``"skce-distribution-free"``: a lens, a `KernelError` or
        None. ``"hosmer-lemeshow"``: a lens, a `BinnedError` or None. ``"ks"``: a lens, a
        `CumulativeError` or None.
    n_resamples
        The smallest possible p-value is 1/(1 + n_resamples).
    tail
        ``"resampling"``, or ``"asymptotic"`` for an approximation that goes below that p-value:
        for ``method="ks"`` (also in its Kuiper form) and ``"skce"`` alone. ``notes`` then have
        ``approximation``.
    rng
        A whole number, a Generator or None. The same seed gives the same p-value on any engine
        and number of threads.
    progress
        Whether to show progress: True, False, or a function of a report; None for the setting of
        `show_progress`.

    Notes
    -----
    For a matrix one label a row is drawn from the whole predicted distribution, then seen
    through the lens of the statistic: the hypothesis is canonical calibration. A statistic of
    the top label rejects only what the top label shows.

    Where every prediction is 0 or 1 the p-value is 1 if all came true, else the smallest, but for
    ``"skce-distribution-free"``, which is a bound for any model.

    All methods but ``"cluster-signs"`` and ``"omnibus"`` take rows as independent and refuse
    ``clusters``: rows of a cluster share what the predictions do not tell, and p-values that ignore
    it are too small. Signs of clusters need many of them, above all where scores are near 0 or 1.
    With fewer than 100 clusters both methods also draw labels from the predictions, with a
    dependence within clusters that is estimated. Their p-value counts, or two thirds of that of
    signs if this is larger (with fewer than 10 clusters, all of it). ``notes`` say
    ``rough`` for fewer than 10 clusters: k of them have 2^(k − 1) different patterns of signs, so
    p-values are at least 2^(1 − k). docs/cluster-tests.md has the false-positive rates.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.random.default_rng(0).random(1000)
    >>> y = np.random.default_rng(1).random(1000) < p
    >>> calibration_test(p, y, rng=0).pvalue > 0.05
    True
    >>> calibration_test(p**2, y, rng=0).pvalue
    0.001
    """
    from trueup.inference.hypothesis_tests.named_tests import TESTS  # which need scipy.special

    if method is not None and (not isinstance(method, str) or method not in TESTS):
        raise must_be("method", f"one of {', '.join(map(repr, TESTS))}", method)
    check_seed(rng)
    known = known_estimator(statistic, "statistic")
    chosen = statistic if known is None else known
    if method is None:
        method = "omnibus" if statistic is None or is_lens(statistic) else "consistency"
    asymptotic = check_tail(tail, method)
    forecasts = Forecasts.from_arrays(probs, labels, weights=weights, logits=logits)
    options = {"tail": tail} if asymptotic else {}
    with stage(f"{method} test"):
        return TESTS[method](
            forecasts, statistic=chosen, n_resamples=n_resamples, rng=rng, **options
        )
