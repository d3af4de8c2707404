"""Explanation of a test: how often it rejects calibrated models with these scores."""

from __future__ import annotations

import math

from trueup.errors import InputError
from trueup.explanation.explanation import Explanation
from trueup.explanation.scores import Scores
from trueup.inference.hypothesis_tests.named_tests import TESTS, USES
from trueup.seeds import Seed

LEVEL = 0.05
N_RESAMPLES = 99


def explain_test(name: str, scores: Scores, n_draws: int, rng: Seed) -> Explanation:
    """Return a description of a test, and its false-positive rate for some scores."""
    use, instead = USES[name]
    lines = {
        "called by": f'calibration_test(probs, labels, method="{name}")',
        "use it to": use[:1].lower() + use[1:],
    }
    numbers: dict[str, float] = {}
    rejected = _rejected(name, scores, n_draws, rng)
    if rejected is not None:
        rate = rejected / n_draws
        error = math.sqrt(max(rate * (1 - rate), LEVEL * (1 - LEVEL)) / n_draws)
        numbers |= {"false_positive_rate": rate, "standard_error": error}
        lines["rejects"] = (
            f"{rate:.1%} of calibrated models with {scores.words} (n = {scores.n:,}) at "
            f"α = 5%; standard error {error:.1%}."
        )
    if scores.labelled and scores.n == scores.forecasts.n:
        pvalue = TESTS[name](scores.forecasts, statistic=None, n_resamples=999, rng=rng).pvalue
        numbers["pvalue"] = pvalue
        lines["your p-value"] = f"{pvalue:.2g}"
    lines["instead"] = instead
    lines["see also"] = "help(trueup.calibration_test); docs/inference.md."
    summary = "Hypothesis test of calibration."
    return Explanation(name, "test", summary, lines, scores.n, scores.words, numbers)


def _rejected(name: str, scores: Scores, n_draws: int, rng: Seed) -> int | None:
    """Return how many calibrated datasets the test rejects; None if it needs other data."""
    count = 0
    for k, drawn in enumerate(scores.calibrated(scores.n, n_draws, rng)):
        try:
            found = TESTS[name](drawn, statistic=None, n_resamples=N_RESAMPLES, rng=k)
        except InputError:  # such as a test of clusters without clusters
            return None
        count += found.pvalue <= LEVEL
    return count
