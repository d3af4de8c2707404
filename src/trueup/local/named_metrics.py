"""Local errors by name: `lce` for each row, `mlce`, and errors over many bandwidths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trueup._typing import Floats
from trueup.bins import EqualWidth
from trueup.calls.hints import hinted
from trueup.checks import check_choice
from trueup.forecasts import Forecasts
from trueup.lens import Lens
from trueup.local.bandwidth import KERNELS, checked_bandwidths, default_bandwidth
from trueup.local.device import device_of
from trueup.local.local_error import LocalError, summary_of
from trueup.tables import ResultTable

OCTAVES = np.arange(-6, 9)
"""Bandwidths of a sweep, in doublings from the default: from nearly individual to global."""


@hinted
def lce(
    probs: object,
    labels: object = None,
    features: object = None,
    *,
    bandwidth: float | None = None,
    kernel: str = "laplacian",
    n_bins: int = 15,
    standardize: bool = True,
    weights: object = None,
    logits: bool = False,
) -> Floats:
    r"""Local calibration error: the calibration error around each row.

    :math:`|\sum_i (p_i - y_i) k(x, x_i)| / \sum_i k(x, x_i)` over the rows in the confidence bin of
    x, x itself included. `LocalError` defines k and has more options; `LocalError().gaps` keeps the
    sign, which separates over- from underconfidence.

    Use it to find where a model that is calibrated overall is miscalibrated. Around rows with few
    neighbors it is mostly noise.

    Parameters
    ----------
    probs : array_like or Forecasts
        Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data, with
        its features.
    labels : array_like, optional
        Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
    features : array_like, optional
        Features of each row, shape (n, d), or n groups for ``kernel="group"``. Omit them if `probs`
        is a `Forecasts`.
    bandwidth : float, optional
        Bandwidth of the kernel (default: a rule of thumb).
    kernel : {"laplacian", "gaussian", "group"}, default "laplacian"
        Kernel of the distance between features, as for `LocalError`.
    n_bins : int, default 15
        Number of equal-width bins of the confidence.
    standardize : bool, default True
        Whether to divide each feature by its standard deviation.
    weights : array_like, optional
        Weight of each row (default: all rows count the same).
    logits : bool, default False
        Whether `probs` holds logits instead of probabilities.

    Returns
    -------
    ndarray
        One error per row, in the order of the rows; NaN for a row of weight 0.

    References
    ----------
    Luo et al. 2022, "Local calibration: metrics and recalibration", eq. 4.

    Examples
    --------
    >>> lce([0.7] * 4, [1, 1, 0, 0], [0.0, 0.0, 9.0, 9.0]).round(3)
    array([0.3, 0.3, 0.7, 0.7])
    """
    estimator = LocalError(None, EqualWidth(n_bins), kernel, bandwidth, standardize=standardize)
    return np.abs(estimator.gaps(probs, labels, features, weights=weights, logits=logits))


@hinted
def mlce(
    probs: object,
    labels: object = None,
    features: object = None,
    *,
    bandwidth: float | None = None,
    kernel: str = "laplacian",
    n_bins: int = 15,
    standardize: bool = True,
    weights: object = None,
    logits: bool = False,
) -> float:
    """Maximum local calibration error: the largest `lce` of any row.

    Use it to compare models at one bandwidth, and see `mlce_over_bandwidths` first. For small
    bandwidths it approaches the largest error of a single row, for large ones `mce`. Sampling noise
    alone gives a large value, especially for a small bandwidth.

    Parameters
    ----------
    probs : array_like or Forecasts
        Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data, with
        its features.
    labels : array_like, optional
        Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
    features : array_like, optional
        Features of each row, shape (n, d), or n groups for ``kernel="group"``. Omit them if `probs`
        is a `Forecasts`.
    bandwidth : float, optional
        Bandwidth of the kernel (default: a rule of thumb).
    kernel : {"laplacian", "gaussian", "group"}, default "laplacian"
        Kernel of the distance between features, as for `LocalError`.
    n_bins : int, default 15
        Number of equal-width bins of the confidence.
    standardize : bool, default True
        Whether to divide each feature by its standard deviation.
    weights : array_like, optional
        Weight of each row (default: all rows count the same).
    logits : bool, default False
        Whether `probs` holds logits instead of probabilities.

    Returns
    -------
    float
        The largest error.

    References
    ----------
    Luo et al. 2022, "Local calibration: metrics and recalibration", eq. 5.

    Examples
    --------
    >>> round(mlce([0.7] * 4, [1, 1, 0, 0], [0.0, 0.0, 9.0, 9.0]), 3)
    0.7
    """
    estimator = LocalError(None, EqualWidth(n_bins), kernel, bandwidth, standardize=standardize)
    return estimator(probs, labels, features, weights=weights, logits=logits)


@hinted
def mlce_over_bandwidths(
    probs: object,
    labels: object = None,
    features: object = None,
    *,
    bandwidths: Sequence[float] | None = None,
    kernel: str = "laplacian",
    n_bins: int = 15,
    lens: Lens | None = None,
    standardize: bool = True,
    reduce: object = None,
    weights: object = None,
    logits: bool = False,
) -> ResultTable:
    """Compute local errors for a range of bandwidths.

    Use it to choose a bandwidth: one at which the errors have decreased from 1, but ``mass`` is
    still well below the number of rows in a bin.

    Parameters
    ----------
    probs : array_like or Forecasts
        Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data, with
        its features.
    labels : array_like, optional
        Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
    features : array_like, optional
        Features of each row, shape (n, d), or n groups for ``kernel="group"``. Omit them if `probs`
        is a `Forecasts`.
    bandwidths : sequence of float, optional
        Bandwidths (default: 15 around `default_bandwidth`, each twice the previous one).
    kernel : {"laplacian", "gaussian", "group"}, default "laplacian"
        Kernel of the distance between features, as for `LocalError`.
    n_bins : int, default 15
        Number of equal-width bins of the confidence.
    lens : Lens, optional
        Lens with one score per row, as for `LocalError`.
    standardize : bool, default True
        Whether to divide each feature by its standard deviation.
    reduce : str, tuple or transformer, optional
        Reduction of the features, as for `LocalError`.
    weights : array_like, optional
        Weight of each row (default: all rows count the same).
    logits : bool, default False
        Whether `probs` holds logits instead of probabilities.

    Returns
    -------
    ResultTable
        One row per bandwidth: ``bandwidth``, ``max`` (MLCE), ``mean``, ``median`` and ``q90`` of
        the errors, and ``mass``, the median sum of weights × similarities: roughly the number of
        rows that an error is averaged over.

    Examples
    --------
    >>> table = mlce_over_bandwidths(
    ...     [0.7] * 4, [1, 1, 0, 0], [0.0, 0.0, 9.0, 9.0], bandwidths=[0.2, 100]
    ... )
    >>> table["max"].round(3)
    array([0.7  , 0.205])
    """
    check_choice("kernel", kernel, *KERNELS)
    binning = EqualWidth(n_bins)
    estimator = LocalError(lens, binning, kernel, standardize=standardize, reduce=reduce)
    forecasts = Forecasts.from_arrays(
        probs, labels, features=features, weights=weights, logits=logits
    )
    problem = estimator.problem(forecasts, device_of(features))
    if bandwidths is None:
        bandwidths = (default_bandwidth(problem.n_dims, kernel) * 2.0**OCTAVES).tolist()
    rows, w = [], problem.pairs.w
    for gamma in checked_bandwidths(bandwidths):
        sums = problem.sums(kernel, gamma)
        found = (summary_of(np.abs(sums.gap), w, each) for each in ("max", "mean", 0.5, 0.9))
        rows.append([float(gamma), *found, summary_of(sums.mass, w, 0.5)])
    return ResultTable.from_rows(rows, ("bandwidth", "max", "mean", "median", "q90", "mass"))
