"""Tests of calibration: one function for every test."""

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

    The default is the omnibus test, which combines six statistics, each sensitive to another kind
    of error. Labels are drawn from the predictions ``n_resamples`` times (Vaicenavicius et al.
    2019, §4.3). The p-value is the fraction of draws, the data included, whose statistic is at
    least that of the data. It is never 0 and, with predictions held fixed, exact: under the
    hypothesis P(p ≤ α) ≤ α for any number of rows. If a statistic has few possible values, ties
    with its resamples count as large, which makes the test conservative; ``notes`` then say so. A
    large p-value is no evidence of calibration.

    Parameters
    ----------
    probs : array_like or Forecasts
        Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data.
    labels : array_like, optional
        Observed classes, shape (n,); soft labels cannot be tested. Omit them if `probs` is a
        `Forecasts`.
    statistic : Lens, Estimator or named metric, optional
        A lens selects the omnibus test of what it shows, such as ``TopLabel()``. Any other
        estimator, or a named metric, selects the consistency test of its ``pth_power``, before the
        root and with its sign: a debiased value clipped at 0 would tie with half of all resamples.
        It must be large for miscalibrated models.
    method : str, optional
        The default is ``"omnibus"`` if ``statistic`` is None or a lens, else ``"consistency"``. See
        Notes for all methods.
    n_resamples : int, default 999
        Number of resamples; the smallest possible p-value is 1/(1 + n_resamples).
    weights : array_like, optional
        Weight of each row (default: all rows count the same).
    logits : bool, default False
        Whether `probs` holds logits instead of probabilities.
    tail : {"resampling", "asymptotic"}, default "resampling"
        ``"asymptotic"`` is an approximation that can go below that p-value, for ``method="ks"``
        (also in its Kuiper form) and ``"skce"`` only. ``notes`` then have ``approximation``.
    rng : int, Generator or None, default 0
        Random seed. The same seed gives the same p-value on any engine and number of threads.
    progress : bool or callable, optional
        Whether to show progress: True, False, or a function that gets each report. The default is
        the setting of `show_progress`.

    Returns
    -------
    CalibrationTestResult
        Statistic, p-value, method and null hypothesis.

    Notes
    -----
    The methods:

    * ``"omnibus"``: six statistics of the same drawn labels, combined; exact. Against the five
      kinds of errors in docs/omnibus.md it has 88% to 98% of the power of the best of the six,
      which differs from kind to kind. ``statistic`` is None or a lens with one outcome per row.
      Without a lens, a matrix is tested by its top labels, by sums over classes and by every class
      together. The result has the p-value of each statistic in ``parts``. The smallest of them is
      ``strongest``; it describes the data and is no second test. With ``clusters``, signs of whole
      clusters replace drawn labels: asymptotic in the number of clusters.
    * ``"consistency"``: fixed predictions, drawn labels; exact. ``statistic`` is an estimator. The
      default is that of `rmsce_debiased`:
      ``BinnedError(binning=EqualMass(15), norm=2, debias=True)``.
    * ``"consistency-unconditional"``: rows are first resampled with replacement. Copies of a row
      are separated by about 1e-9, because new rows would not tie; asymptotic.
    * ``"cluster-signs"``: for forecasts with ``clusters``. The residuals of whole clusters change
      sign. Asymptotic in the number of clusters. For statistics of score − label: `BinnedError`
      without correction (the default here), `CumulativeError`, `SmoothError`.
    * ``"cox"``: slope 1 and intercept 0 on the logit scale, the joint test of `cox`; asymptotic.
    * ``"cox"``, ``"tcal"``, ``"spiegelhalter"``: ``statistic`` is a lens or None.
    * ``"skce"``, ``"skce-block"``, ``"skce-distribution-free"``: a lens, a `KernelError` or None.
    * ``"hosmer-lemeshow"``: a lens, a `BinnedError` or None.
    * ``"ks"``: a lens, a `CumulativeError` or None.

    For a matrix, one label per row is drawn from the whole predicted distribution and then passed
    through the lens of the statistic: the hypothesis is canonical calibration. A statistic of the
    top label rejects only what the top label shows.

    If every prediction is 0 or 1, the p-value is 1 if all predictions were right, else the smallest
    possible. ``"skce-distribution-free"`` is an exception, because it is a bound for any model.

    All methods except ``"cluster-signs"`` and ``"omnibus"`` assume independent rows and reject
    ``clusters``. Rows of a cluster share what the predictions do not explain, and p-values that
    ignore this are too small. Signs of clusters need many clusters, above all if scores are near 0
    or 1. With fewer than 100 clusters, or if fewer than about 50 have most of the variance of the
    labels, both methods also draw labels from the predictions, with an estimated dependence within
    clusters. The p-value is then that of the drawn labels, or that of the signs divided by up to 3
    if this is larger. The divisor is smaller the more rows share and the more clusters there are;
    with fewer than 10 clusters it is 1. There ``notes`` also say ``rough``: k clusters have
    2^(k − 1) different patterns of signs, so p-values are at least 2^(1 − k). docs/cluster-tests.md
    has the false-positive rates.

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
