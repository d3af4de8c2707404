"""Bands on reliability diagrams, as numbers.

A *consistency* band lies around the diagonal and shows where the points of a calibrated model would
be. A *confidence* band lies around the estimate and shows where the true rates may be. They answer
different questions; do not confuse them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from trueup._typing import Floats
from trueup.checks import check_choice, check_flag
from trueup.errors import Argument, InputError
from trueup.inference.arguments import check_level, check_resamples
from trueup.inference.confidence_intervals.binned_errors import clopper_pearson
from trueup.inference.resampled_bands import RowsOfTable
from trueup.seeds import Seed
from trueup.tables import BinTable, ResultTable

ROUNDING = 1e-9  # of a number of rows, that a sum of scores may be off


def consistency_band(
    table: BinTable,
    *,
    confidence_level: float = 0.95,
    simultaneous: bool = False,
    method: str = "binomial",
    scores: object = None,
    weights: object = None,
    n_resamples: int = 999,
    rng: Seed = 0,
) -> ResultTable:
    r"""Compute the range of each bin's mean label under calibration.

    Use it in a reliability diagram: a bin outside the band is evidence of miscalibration. By
    default it comes from the binomial distribution with the number of rows and the mean score of
    the bin, widened if necessary to contain that mean. With weights the number of rows is the
    effective one, :math:`(\sum w)^2 / \sum w^2`, rounded down. If scores differ inside a bin, sums
    vary less than a binomial, so a band that contains the mean covers at least ``confidence_level``
    of calibrated models (Hoeffding 1956). With weights this is approximate.

    With ``method="resampling"`` labels are drawn from the scores of the rows ``n_resamples`` times
    (consistency resampling). The ends are the k-th smallest and the k-th largest mean label of the
    bin among R resamples, widened if necessary to contain the mean score, with
    :math:`k = \lfloor (R + 1)(1 - c) / 2 \rfloor` at confidence level c. At c = 0.9 they are the
    5th and 95th percentiles, as in Vaicenavicius et al. 2019, Fig. 4. The band covers at least
    ``confidence_level`` of calibrated models, also with weights. It is narrower than the binomial
    one if scores differ a lot inside a bin. Scores and bins stay fixed; the paper also resamples
    the scores.

    Parameters
    ----------
    table : BinTable
        Table of bins, such as ``estimator.table(probs, labels)``.
    confidence_level : float, default 0.95
        Confidence level of each bin or, with ``simultaneous``, of all bins together.
    simultaneous : bool, default False
        Whether the level holds for all bins together (Bonferroni).
    method : {"binomial", "resampling"}, default "binomial"
        Where the ends come from.
    scores : array_like, optional
        Scores of the rows of the table, shape (n,), which ``"resampling"`` requires. For a table of
        top labels they are ``probs.max(axis=1)``.
    weights : array_like, optional
        Weights of the rows, if the table has weights; for ``"resampling"`` only.
    n_resamples : int, default 999
        Number of resamples.
    rng : int, Generator or None, default 0
        Random seed of the resamples.

    Returns
    -------
    ResultTable
        ``mean_score``, ``low`` and ``high`` of each bin; NaN in an empty bin.

    Examples
    --------
    >>> import trueup as tu
    >>> table = tu.ece.estimator(n_bins=2).table([0.2] * 50 + [0.8] * 50, [0, 1] * 50)
    >>> band = consistency_band(table)
    >>> band["low"].round(2).tolist(), band["high"].round(2).tolist()
    ([0.1, 0.68], [0.32, 0.9])

    The same by resampling:

    >>> p = [0.2] * 50 + [0.8] * 50
    >>> band = consistency_band(table, method="resampling", scores=p)
    >>> band["low"].round(2).tolist(), band["high"].round(2).tolist()
    ([0.1, 0.68], [0.32, 0.9])
    """
    miss = _miss(table, confidence_level, simultaneous)
    check_choice("method", method, "binomial", "resampling")
    if method == "resampling":
        drawn_from = RowsOfTable.checked(table, scores, weights)
        check_resamples(n_resamples, 1 - miss)
        full, low, high = drawn_from.ends(miss, n_resamples, rng)
        return _columns(table, full, low, high, ("mean_score",))
    for name, value in (("scores", scores), ("weights", weights)):
        if value is not None:
            hint = ("pass ", Argument("method", "resampling"))
            raise InputError(name, "cannot be used with the binomial band", hint=hint)
    full, size = _sizes(table)
    rows = np.floor(size + ROUNDING)
    score = np.clip(table.mean_score[full], 0, 1)
    mean = rows * score
    low, high = (_binomial_quantile(q, rows, score) for q in (miss / 2, 1 - miss / 2))
    low = np.minimum(np.maximum(low, 0), np.floor(mean + ROUNDING))
    high = np.maximum(high, np.ceil(mean - ROUNDING))
    return _columns(table, full, low / rows, high / rows, ("mean_score",))


def confidence_band(
    table: BinTable,
    *,
    confidence_level: float = 0.95,
    simultaneous: bool = False,
    method: str = "wilson",
) -> ResultTable:
    r"""Compute a confidence interval for the true rate of each bin, given its labels.

    Use it to show how precise the rate of each bin is, in addition to `consistency_band`.

    Parameters
    ----------
    table : BinTable
        Table of bins, such as ``estimator.table(probs, labels)``.
    confidence_level : float, default 0.95
        Confidence level of each bin or, with ``simultaneous``, of all bins together.
    simultaneous : bool, default False
        Whether the level holds for all bins together (Bonferroni).
    method : {"wilson", "clopper-pearson"}, default "wilson"
        ``"wilson"`` is the score interval: its coverage is correct on average, sometimes a little
        above the level and sometimes below. ``"clopper-pearson"`` is wider, and its coverage is
        never below the level. With weights both use the effective number of rows, :math:`(\sum w)^2
        / \sum w^2`, and are approximate.

    Returns
    -------
    ResultTable
        ``mean_score``, ``mean_label``, ``low`` and ``high`` of each bin; NaN in an empty bin.

    Examples
    --------
    >>> import trueup as tu
    >>> table = tu.ece.estimator(n_bins=2).table([0.2] * 50 + [0.8] * 50, [0, 1] * 50)
    >>> band = confidence_band(table)
    >>> band["low"].round(2).tolist(), band["high"].round(2).tolist()
    ([0.37, 0.37], [0.63, 0.63])
    """
    check_choice("method", method, "wilson", "clopper-pearson")
    miss = _miss(table, confidence_level, simultaneous)
    full, size = _sizes(table)
    rate = np.clip(table.mean_label[full], 0, 1)
    if method == "wilson":
        low, high = _wilson(rate, size, miss)
    else:
        low, high = clopper_pearson(rate * size, (1 - rate) * size, miss / 2)
    return _columns(table, full, low, high, ("mean_score", "mean_label"))


def _binomial_quantile(q: float, n: Floats, p: Floats) -> Floats:
    """Return the smallest k with P(X ≤ k) ≥ q, starting from SciPy's approximate inverse.

    It equals `scipy.stats.binom.ppf`, but importing `scipy.stats` takes longer than plotting a
    figure.
    """
    from scipy.special import bdtrik, betaincc

    k = np.nan_to_num(np.ceil(bdtrik(q, n, p)))  # NaN for p = 0
    k = np.where(betaincc(k + 1, np.maximum(n - k, 0), p) < q, np.minimum(k + 1, n), k)
    below = np.maximum(k - 1, 0)
    return np.asarray(np.where(betaincc(below + 1, n - below, p) >= q, below, k))


def _wilson(rate: Floats, size: Floats, miss: float) -> tuple[Floats, Floats]:
    from scipy.special import ndtri

    z = -float(ndtri(miss / 2))
    middle = (rate + z * z / (2 * size)) / (1 + z * z / size)
    half = z * np.sqrt(rate * (1 - rate) / size + (z / (2 * size)) ** 2) / (1 + z * z / size)
    low = np.where(rate == 0, 0.0, np.maximum(middle - half, 0))
    return low, np.where(rate == 1, 1.0, np.minimum(middle + half, 1))


def _miss(table: Any, confidence_level: Any, simultaneous: Any) -> float:
    """Return the probability with which the band of a bin may miss."""
    BinTable.expect(table)
    miss = 1 - check_level(confidence_level)
    check_flag("simultaneous", simultaneous)
    return miss / max(1, int(np.count_nonzero(table.count))) if simultaneous else miss


def _sizes(table: BinTable) -> tuple[Any, Floats]:
    """Return which bins contain rows, and the effective number of rows of each."""
    full = table.count > 0
    return full, np.maximum(1 / table.concentration[full], 1.0)


def _columns(
    table: BinTable, full: Any, low: Floats, high: Floats, names: tuple[str, ...]
) -> ResultTable:
    columns = {name: getattr(table, name) for name in names}
    for name, ends in (("low", low), ("high", high)):
        columns[name] = np.full(table.n_bins, math.nan)
        columns[name][full] = ends
    return ResultTable(columns)
