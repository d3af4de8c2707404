"""Tests of calibration: one function for every test."""

from __future__ import annotations

from typing import Any

from trueup.calls.hints import hinted
from trueup.calls.progress import Progress, stage, with_progress
from trueup.errors import must_be
from trueup.estimators.base import Metric, known_estimator
from trueup.forecasts import Forecasts
from trueup.inference.arguments import check_tail
from trueup.inference.hypothesis_tests.calibration_functions import (
    CalibrationFunction,
    check_calibration_function,
)
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
    calibration_function: CalibrationFunction | None = None,
    rng: Seed = 0,
    progress: Progress = None,
) -> CalibrationTestResult:
    r"""Test the hypothesis that a model is calibrated.

    The default is the omnibus test, which combines six statistics, each sensitive to a different
    kind of error. Labels are drawn from the predictions ``n_resamples`` times (Vaicenavicius et al.
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
        The default is ``"omnibus"`` if ``statistic`` is None or a lens, else ``"consistency"``;
        with ``calibration_function`` always ``"consistency"``. See Notes for all methods.
    n_resamples : int, default 999
        Number of resamples; the smallest possible p-value is 1/(1 + n_resamples).
    weights : array_like, optional
        Weight of each row (default: all rows count the same).
    logits : bool, default False
        Whether `probs` holds logits instead of probabilities.
    tail : {"resampling", "asymptotic"}, default "resampling"
        ``"asymptotic"`` is an approximation that can be below the smallest resampling p-value, for
        ``method="ks"`` (also in its Kuiper form) and ``"skce"`` only. ``notes`` then have
        ``approximation``.
    calibration_function : callable, optional
        Function ρ that maps predictions, (n,) or (n, K), to the probabilities from which labels are
        drawn, of the same shape. It may return (n, 2) for (n,), so the ``transform`` of a
        recalibrator is one. The null hypothesis is then "labels follow ρ(predictions)" in place of
        calibration. For the consistency methods only. See Notes.
    rng : int, Generator or None, default 0
        Random seed. The same seed gives the same p-value on any engine and number of threads.
    progress : bool or callable, optional
        Whether to show progress: True, False, or a function that gets each report. The default is
        the setting of `show_progress`.

    Returns
    -------
    CalibrationTestResult
        Statistic, p-value, method, null hypothesis, and the draws of the statistic under it.

    Notes
    -----
    The methods:

    * ``"omnibus"``: six statistics of the same drawn labels, combined; exact. For the five kinds of
      errors in docs/omnibus.md it has 88% to 98% of the power of the best of the six, which is
      different for each kind. ``statistic`` is None or a lens with one outcome per row. Without a
      lens, a matrix is tested by its top labels, by sums over classes and by every class together.
      The result has the p-value of each statistic in ``parts``. The smallest of them is
      ``strongest``; it describes the data and is not a second test. With ``clusters``, signs of
      whole clusters replace drawn labels: asymptotic in the number of clusters.
    * ``"consistency"``: fixed predictions, drawn labels; exact. ``statistic`` is an estimator. The
      default is that of `rmsce_debiased`:
      ``BinnedError(binning=EqualMass(15), norm=2, debias=True)``.
    * ``"consistency-unconditional"``: rows are first resampled with replacement. Copies of a row
      are separated by about 1e-9, because new rows would not tie; asymptotic.
    * ``"cluster-signs"``: for forecasts with ``clusters``. The residuals of whole clusters change
      sign. Asymptotic in the number of clusters. For statistics of score − label: `BinnedError`
      without correction (the default here), `CumulativeError`, `SmoothError`.
    * ``"cox"``: the joint test of `cox`, slope 1 and intercept 0 on the logit scale; asymptotic.
    * ``"tcal"``, ``"spiegelhalter"``: ``statistic`` is a lens or None, as for ``"cox"``.
    * ``"skce"``, ``"skce-block"``, ``"skce-distribution-free"``: a lens, a `KernelError` or None.
    * ``"hosmer-lemeshow"``: a lens, a `BinnedError` or None.
    * ``"ks"``: a lens, a `CumulativeError` or None.

    For a matrix, one label per row is drawn from the whole predicted distribution and then passed
    through the lens of the statistic: the hypothesis is canonical calibration. A statistic of the
    top label rejects only what the top label shows.

    With ``calibration_function`` ρ (Vaicenavicius et al. 2019, §4.2), labels :math:`y_i^\rho` are
    drawn from :math:`\rho(g_i)`, and the statistic h compares them with the predictions
    :math:`g_i` themselves. The draws :math:`h(\{(g_i, y_i^\rho)\}_i)` show how an estimate of the
    calibration error is distributed if ρ is the true calibration function. The p-value is
    :math:`(1 + \#\{h(D^\rho) \ge h(D)\}) / (1 + R)` for R draws. It is small if the error of the
    data is larger than ρ explains. A different error of the same size stays undetected: to test
    whether labels follow ρ in every respect, test the probabilities ρ(g) without this argument.
    The paper also resamples predictions, as ``"consistency-unconditional"`` does; ρ is then that of
    the drawn rows.

    If every prediction is 0 or 1, the p-value is 1 if all predictions are correct, and the smallest
    possible one otherwise. ``"skce-distribution-free"`` is an exception, because it is a bound for
    any model.

    All methods except ``"cluster-signs"`` and ``"omnibus"`` assume independent rows and reject
    ``clusters``. Rows of a cluster share what the predictions do not explain, and p-values that
    ignore this are too small. Cluster signs need many clusters, especially if scores are near 0 or
    1. With fewer than 100 clusters both methods also draw labels from the predictions, with an
    estimated dependence within clusters. The result is then the larger of two numbers: the p-value
    of the drawn labels, and two thirds of the p-value of the signs (with fewer than 10 clusters,
    the whole p-value of the signs). With fewer than 10 clusters ``notes`` say ``rough``: k clusters
    have 2^(k − 1) different patterns of signs, so p-values are at least 2^(1 − k).
    docs/cluster-tests.md has the false-positive rates.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.random.default_rng(0).random(1000)
    >>> y = np.random.default_rng(1).random(1000) < p
    >>> calibration_test(p, y, rng=0).pvalue > 0.05
    True
    >>> calibration_test(p**2, y, rng=0).pvalue
    0.001

    The error of these predictions is what one expects if the true rate is their square root:

    >>> calibration_test(p**2, y, calibration_function=np.sqrt).pvalue > 0.05
    True
    """
    from trueup.inference.hypothesis_tests.named_tests import TESTS  # which need scipy.special

    if method is not None and (not isinstance(method, str) or method not in TESTS):
        raise must_be("method", f"one of {', '.join(map(repr, TESTS))}", method)
    check_seed(rng)
    known = known_estimator(statistic, "statistic")
    chosen = statistic if known is None else known
    if method is None:
        simple = statistic is None or is_lens(statistic)
        method = "omnibus" if simple and calibration_function is None else "consistency"
    asymptotic = check_tail(tail, method)
    forecasts = Forecasts.from_arrays(probs, labels, weights=weights, logits=logits)
    options: dict[str, Any] = {"tail": tail} if asymptotic else {}
    options |= check_calibration_function(calibration_function, method)
    with stage(f"{method} test"):
        return TESTS[method](
            forecasts, statistic=chosen, n_resamples=n_resamples, rng=rng, **options
        )
