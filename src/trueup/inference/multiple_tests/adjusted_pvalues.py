"""Adjustment of the p-values of many tests, which limits false rejections."""

from __future__ import annotations

import numpy as np

from trueup._typing import Floats, Ints
from trueup.errors import must_be
from trueup.forecasts.arrays import as_floats, as_numpy, refuse


def holm(pvalues: object) -> Floats:
    """Adjust p-values to limit the probability of any false rejection (Holm 1979).

    The i-th smallest of m p-values is multiplied by m − i + 1, raised to the largest one before it
    if necessary, and clipped at 1. The probability of any false rejection is then at most the
    level, for any dependence of the tests. Use it if a single false rejection matters.

    Parameters
    ----------
    pvalues : array_like
        The p-values of m tests.

    Returns
    -------
    ndarray
        Adjusted p-values in the same order.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(6).tolist()
    [0.03, 0.06, 0.06]
    """
    given = _checked(pvalues)
    order = np.argsort(given, kind="stable")
    raised = np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1))
    return _put_back(raised, order)


def benjamini_hochberg(pvalues: object) -> Floats:
    """Adjust p-values to control the false discovery rate (Benjamini & Hochberg 1995).

    The i-th smallest of m p-values is multiplied by m / i, and lowered to the smallest one after it
    if necessary. The expected fraction of false rejections among all rejections stays below the
    level for independent or positively dependent tests. Use it to select candidates among many
    tests.

    Parameters
    ----------
    pvalues : array_like
        The p-values of m tests.

    Returns
    -------
    ndarray
        Adjusted p-values in the same order.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(6).tolist()
    [0.03, 0.04, 0.04]
    """
    given = _checked(pvalues)
    order = np.argsort(given, kind="stable")
    m = len(given)
    scaled = given[order] * m / np.arange(1, m + 1)
    return _put_back(np.minimum.accumulate(scaled[::-1])[::-1], order)


def _checked(pvalues: object) -> Floats:
    given = as_floats("pvalues", as_numpy("pvalues", pvalues)).astype(np.float64)
    if given.ndim != 1:
        raise must_be("pvalues", "a list of numbers", pvalues)
    refuse("pvalues", "between 0 and 1", given, ~((given >= 0) & (given <= 1)))
    return given


def _put_back(values: Floats, order: Ints) -> Floats:
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(values, 1.0)
    return adjusted
