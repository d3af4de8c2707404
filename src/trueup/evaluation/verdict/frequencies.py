"""Natural frequencies: counts of outcomes among 1,000 rows like these."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueup._typing import Floats
from trueup.evaluation.sections import Frequency
from trueup.evaluation.verdict.wording import named, percent, rows_of
from trueup.forecasts import Forecasts
from trueup.forecasts.sample_data import rows_of_groups
from trueup.inference.confidence_intervals.rates import rate_interval
from trueup.lens import chosen_lens

FEWEST, MOST = 1_000, 1_000_000
EXPECTED = 10
"""A sentence counts by enough rows for this many of either outcome, predicted or observed."""
NEAR, NEAREST = 0.1, 0.005
"""Scores within this share of their mean, or this much, are near it."""
FEW_DECIMALS = 2
"""Decimals that both ends of a range of percentages may have."""
RAREST = 1e-8
ALMOST = {False: "just above 0%", True: "just below 100%"}
"""Probabilities nearer to 0 or 1 than `RAREST`, in words."""
OF_GROUP = "of group "
CALL = "call it as evaluate(probs, labels, groups=groups)"


def frequency_of_scores(
    forecasts: Forecasts, low: float, high: float, confidence_level: float
) -> Frequency:
    """Count outcomes among rows with scores above ``low`` and up to ``high``."""
    pairs = chosen_lens(None, forecasts).problem(forecasts)
    p = pairs.p.astype(np.float64)
    rows = np.flatnonzero((p > low) & (p <= high))
    w = None if pairs.w is None else pairs.w[rows]
    scores = f"with a {'confidence' if forecasts.is_matrix else 'predicted probability'} "
    scores += _near(p[rows], float(np.average(p[rows], weights=w)))
    return _counted(forecasts.take(rows), scores, confidence_level, expected=False)


def frequencies_of_groups(forecasts: Forecasts, confidence_level: float) -> tuple[Frequency, ...]:
    """Count the observed and the predicted outcomes of every group."""
    if forecasts.groups is None:
        return ()
    return tuple(
        _counted(forecasts.take(rows), f"{OF_GROUP}{named(name)}", confidence_level, expected=True)
        for name, rows in rows_of_groups(forecasts.groups, CALL)
    )


def _counted(rows: Forecasts, which: str, confidence_level: float, *, expected: bool) -> Frequency:
    pairs = chosen_lens(None, rows).problem(rows)
    score, rate = pairs.means
    low, high = rate_interval(pairs.y, pairs.w, rows.clusters, confidence_level)
    least = max(min(mean, 1 - mean) for mean in (score, rate))
    per = next((n for n in (FEWEST, 10_000, 100_000) if n * least >= EXPECTED), MOST)
    if least <= 0:
        per = FEWEST
    predicted, count, least, most = (round(per * each) for each in (score, rate, low, high))
    ends = f"{percent(confidence_level)} interval {least:,} to {most:,}, from {rows_of(rows.n)}"
    if expected and rows.is_matrix:
        found = f"{predicted:,} predictions should be right and {count:,} were ({ends})"
    elif expected:
        found = f"{predicted:,} outcomes were predicted and {count:,} occurred ({ends})"
    elif rows.is_matrix:
        found = f"the prediction was right in {count:,} ({ends})"
    else:
        found = f"the outcome occurred in {count:,} ({ends})"
    return Frequency(
        which, rows.n, per, score, rate, low, high, f"Among {per:,} rows {which}, {found}."
    )


def _near(p: Floats, mean: float) -> str:
    """Return the scores in words: near their mean, or from the smallest to the largest."""
    low, high = float(p.min()), float(p.max())
    reach = max(NEAREST, NEAR * min(mean, 1 - mean))
    if low == high:
        return f"of {_percent(low)}"
    if mean - low <= reach and high - mean <= reach:
        text = _percent(mean)
        return text if text in ALMOST.values() else f"near {text}"
    return _range(low, high)


def _range(low: float, high: float) -> str:
    """Return two probabilities in percent, with as many decimals as tell them from each other.

    Neither reads 0% or 100% if it is not; next to a very rare one, each has digits of its own.

    >>> _range(0.33, 0.946), _range(0.0023, 0.5), _range(0.0, 0.5), _range(0.00001, 0.5)
    ('from 33% to 95%', 'from 0.2% to 50.0%', 'from 0% to 50%', 'from 0.0010% to 50%')
    """
    for digits in range(FEW_DECIMALS + 1):
        first, last = (f"{100 * p:.{digits}f}" for p in (low, high))
        certain = (float(first) == 0) == (low == 0) and (float(last) == 100) == (high == 1)
        if first != last and certain:
            return f"from {first}% to {last}%"
    return f"from {_percent(low)} to {_percent(high)}"


def _percent(p: float) -> str:
    """Return a probability in percent, with two digits of its distance from 0 and 1.

    >>> _percent(0.1961), _percent(0.0234), _percent(0.99872), _percent(1.0), _percent(1e-12)
    ('20%', '2.3%', '99.87%', '100%', 'just above 0%')
    """
    rarer: Any = min(p, 1 - p)
    if 0 < rarer < RAREST:
        return ALMOST[p > 0.5]
    digits = 0 if rarer <= 0 else int(np.clip(-np.floor(np.log10(100 * rarer)) + 1, 0, 8))
    return f"{100 * p:.{digits}f}%"
