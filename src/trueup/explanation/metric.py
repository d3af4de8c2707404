"""Explanation of a metric: its values for calibrated models, and alternatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueup._typing import Floats
from trueup.estimators.base import Estimator
from trueup.explanation.explanation import Explanation, summary_of
from trueup.explanation.scores import Scores, digits
from trueup.inference.hypothesis_tests.consistency_resampling import induced_problem
from trueup.metrics.declare import NAMED
from trueup.seeds import Seed

MORE = 4  # times as many rows, to show how the bias shrinks
MOST_FOR_MORE = 25_000


def explain_metric(
    given: Any, estimator: Estimator, scores: Scores, n_draws: int, rng: Seed
) -> Explanation:
    """Return a description of an estimator, or of the metric ``given``, and its bias."""
    metric = _named(given, estimator)
    name = getattr(metric, "__name__", repr(estimator))
    forecasts = scores.forecasts
    drawn = _values(estimator, scores, scores.n, n_draws, rng)
    mean, error = float(drawn.mean()), float(drawn.std(ddof=1) / np.sqrt(n_draws))
    low, high = (float(end) for end in np.quantile(drawn, [0.025, 0.975]))
    numbers = {"expected": mean, "standard_error": error, "low": low, "high": high}
    lines = {
        "computed by": repr(estimator),
        "looks at": estimator.lens_for(forecasts).label,
        "use it to": _as_purpose(getattr(metric, "use", "")),
        _label(estimator): (
            f"{_about(mean, error)} on average for a calibrated model with {scores.words} "
            f"(n = {scores.n:,}); 95%: {digits(low)} to {digits(high)}."
        ),
    }
    if scores.labelled:
        value = estimator.measure_forecasts(forecasts).value
        numbers["value"] = value
        lines["your value"] = _compared(value, drawn, same_n=scores.n == forecasts.n)
    if scores.n <= MOST_FOR_MORE:
        n = MORE * scores.n
        more = float(_values(estimator, scores, n, max(2, n_draws // 2), rng).mean())
        numbers["expected_with_more_rows"] = more
        lines["more rows"] = f"{digits(more)} on average at n = {n:,}."
    lines["instead"] = getattr(metric, "instead", "")
    lines = {label: text for label, text in lines.items() if text}
    if not scores.labelled and metric is not None:
        lines["see also"] = f"help(trueup.{name}); docs/measures.md."
    summary = summary_of(metric or type(estimator))
    return Explanation(name, "metric", summary, lines, scores.n, scores.words, numbers)


def _named(given: Any, estimator: Estimator) -> Any:
    """Return the named metric that was passed, or one with the same estimator; else None."""
    if NAMED.get(getattr(given, "__name__", "")) is given:
        return given
    return next((each for each in NAMED.values() if each.estimator() == estimator), None)


def _values(estimator: Estimator, scores: Scores, n: int, n_draws: int, rng: Seed) -> Floats:
    """Return the values for calibrated models with these scores."""
    # Where one outcome per row is enough, labels of whole rows need not be drawn.
    induced, problem = induced_problem(estimator, scores.forecasts)
    binary = Scores(problem, n, scores.given, scores.labelled)
    found = binary.calibrated(n, n_draws, rng)
    return np.array([induced.measure_forecasts(each).value for each in found])


def _label(estimator: Estimator) -> str:
    """Return the name of the expected value for a calibrated model: bias, or mean for a score."""
    return "calibrated" if estimator.score_name else "bias"


def _about(mean: float, error: float) -> str:
    """Return a simulated mean, or 0 with its standard error if noise explains the mean."""
    if abs(mean) <= 2 * error:
        return f"0 (standard error {digits(error)})"
    return digits(mean)


def _as_purpose(use: str) -> str:
    """Return a sentence in the form that follows "use it to"."""
    return use[:1].lower() + use[1:]


def _compared(value: float, drawn: Floats, *, same_n: bool) -> str:
    if not same_n:
        return f"{digits(value)}, with another number of rows."
    above = int((drawn >= value).sum())
    return f"{digits(value)}; {above:,} of {len(drawn):,} calibrated models get at least that."
