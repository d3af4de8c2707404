"""Explanation of the clinical measures: how to read slope, intercepts and O:E ratio."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from trueup.errors import InputError
from trueup.estimators.clinical import cox, oe_ratio
from trueup.explanation.explanation import Explanation, summary_of
from trueup.explanation.scores import Scores, digits
from trueup.forecasts import Forecasts
from trueup.lens import Binary
from trueup.readable import minus
from trueup.seeds import Seed

CLINICAL: Mapping[str, Callable[..., Any]] = {"cox": cox, "oe_ratio": oe_ratio}
ALIASES = {
    "slope": "cox",
    "calibration slope": "cox",
    "intercept": "cox",
    "calibration intercept": "cox",
    "in the large": "cox",
    "calibration in the large": "cox",
    "oe": "oe_ratio",
    "o:e": "oe_ratio",
    "o/e": "oe_ratio",
    "oe ratio": "oe_ratio",
    "o:e ratio": "oe_ratio",
}
"""Other names, in lower case and with spaces: those that tables and the verdict print."""

READING = {
    "cox": {
        "use it to": "say how a model is miscalibrated: too high or too low, too extreme or not "
        "extreme enough.",
        "slope": "1 is perfect. Below 1, the probabilities are too extreme: high ones too high, "
        "low ones too low. Above 1, they are not extreme enough.",
        "in the large": "0 is perfect. Above 0, the probabilities are too low on average; below 0, "
        "too high. It is the intercept with the slope held at 1.",
        "intercept": "0 is perfect if the slope is 1; with another slope, read the one in the "
        "large.",
    },
    "oe_ratio": {
        "use it to": "check the mean: the outcomes divided by the sum of the probabilities.",
        "O:E": "1 is perfect. Above 1, more outcomes occur than predicted; below 1, fewer.",
    },
}
INSTEAD = {
    "cox": "ici or smooth_ece, which also measure errors that no slope or intercept shows.",
    "oe_ratio": "oe_ratio_interval, which has an interval; cox, because errors at high and low "
    "scores cancel here.",
}


def clinical_name(what: object) -> str | None:
    """Return the name of a clinical measure, of its function or of an alias; None for others.

    >>> clinical_name("O:E"), clinical_name("calibration-in-the-large"), clinical_name(cox)
    ('oe_ratio', 'cox', 'cox')
    """
    if not isinstance(what, str):
        return next((name for name, measure in CLINICAL.items() if what is measure), None)
    plain = what.strip().lower()
    return plain if plain in CLINICAL else ALIASES.get(plain.replace("-", " ").replace("_", " "))


def explain_clinical(name: str, scores: Scores, n_draws: int, rng: Seed) -> Explanation:
    """Return how to read a clinical measure, and its range for calibrated models."""
    lines, numbers = dict(READING[name]), dict[str, float]()
    drawn = _drawn(name, scores, n_draws, rng)
    if drawn is not None and not np.isnan(drawn).all():
        numbers["expected"] = float(np.nanmean(drawn))
        low, high = (float(end) for end in np.nanquantile(drawn, [0.025, 0.975]))
        numbers |= {"low": low, "high": high}
        what = "slope" if name == "cox" else "ratio"
        lines["calibrated"] = (
            f"{what} {digits(low)} to {digits(high)} for 95% of calibrated models with "
            f"{scores.words} (n = {scores.n:,})."
        )
    if drawn is not None and scores.labelled:
        own = _values(name, scores.forecasts)
        numbers |= own
        lines["your value"] = ", ".join(
            f"{each.replace('_', ' ')} {minus(digits(value))}" for each, value in own.items()
        )
    lines["instead"] = INSTEAD[name]
    if not scores.labelled:
        test = ' explain("cox test") is the joint test;' if name == "cox" else ""
        lines["see also"] = f"help(trueup.{name});{test} docs/clinical.md."
    summary = summary_of(CLINICAL[name])
    return Explanation(name, "metric", summary, lines, scores.n, scores.words, numbers)


def _values(name: str, forecasts: Forecasts) -> dict[str, float]:
    """Return the numbers of a measure by name; the first is the one that is simulated."""
    if name == "oe_ratio":
        return {"ratio": oe_ratio(forecasts, lens=Binary())}
    found = cox(forecasts, lens=Binary())
    return {each: getattr(found, each) for each in ("slope", "in_the_large", "intercept")}


def _drawn(name: str, scores: Scores, n_draws: int, rng: Seed) -> Any:
    """Return the values for calibrated models; None if the measure needs other data."""
    try:
        drawn = scores.calibrated(scores.n, n_draws, rng)
        return np.array([next(iter(_values(name, each).values())) for each in drawn])
    except InputError:  # three classes, or only probabilities of 0
        return None
