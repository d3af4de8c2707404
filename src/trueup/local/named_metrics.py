"""Local errors by name: `lce` around each row, `mlce` at worst, and over many bandwidths."""

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
    r"""Local calibration error: how wrong is the confidence among rows like this one?

    :math:`|\sum_i (p_i - y_i) k(x, x_i)| / \sum_i k(x, x_i)` over the rows in the confidence bin
    of x, x among them; `LocalError` says what k is, and has more to choose. Returns one error for
    each row as given, NaN for one of weight 0. `LocalError().gaps` tells over- from
    under-confidence.

    Use it to find where a model that is calibrated on the whole is not. Around rows with few
    neighbours it is mostly noise.

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

    Small bandwidths give the largest error of a single row, large ones `mce`; by chance alone it
    is far from 0, and more so the smaller the bandwidth.
    Compare models at one bandwidth, and look at `mlce_over_bandwidths` first.

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
    """Return local errors for a range of bandwidths: where is the step from individual to global?

    One row for each: ``bandwidth``, ``max`` (MLCE), ``mean``, ``median`` and ``q90`` of the
    errors, and ``mass``, the median sum of weights × similarities: about how many rows an error
    is averaged over. Choose a bandwidth where the errors are past their fall from 1, and the mass
    is still well below the rows of a bin. By default 15 bandwidths, each twice the one before,
    around `default_bandwidth`.

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
