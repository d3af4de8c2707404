"""The answers in sentences, by question, and the verdict, which combines them."""

from __future__ import annotations

from collections.abc import Mapping

from trueup.evaluation.verdict.advice import expected_gain, precision, recommendation
from trueup.evaluation.verdict.calibrated import calibrated
from trueup.evaluation.verdict.evidence import Evidence
from trueup.evaluation.verdict.locations import location
from trueup.evaluation.verdict.magnitude import magnitude
from trueup.evaluation.verdict.wording import named
from trueup.tables import ResultTable

OF_VERDICT = ("calibrated", "magnitude", "frequency", "location", "recommendation")


def answers_of(evidence: Evidence, frequency: str) -> dict[str, str]:
    """Return the sentences by question, in the order in which a reader would ask."""
    return {
        "calibrated": calibrated(evidence),
        "magnitude": magnitude(evidence),
        "frequency": frequency,
        "location": location(evidence),
        "precision": precision(evidence),
        "recommendation": recommendation(evidence),
        "expected_gain": expected_gain(evidence),
    }


def verdict_of(answers: Mapping[str, str]) -> str:
    """Return one paragraph: the result and the recommendation."""
    return " ".join(answers[name] for name in OF_VERDICT if answers[name])


def verdict_of_models(verdicts: Mapping[str, str], comparison: ResultTable) -> str:
    """Return which model is best, if the data show it, and the verdict for the first model."""
    rank: dict[str, int] = {}
    for which in ("first", "second"):
        for name, place in zip(comparison[which], comparison[f"{which}_rank"], strict=True):
            rank[str(name)] = int(place)
    best = [name for name in verdicts if rank[name] == 1]
    name, verdict = next(iter(verdicts.items()))
    than = "another" if len(best) == len(verdicts) else " or ".join(map(named, best))
    which = f"None of the {len(verdicts)} models is shown to be better calibrated than {than}."
    return f"{which} Verdict for {named(name)}, the first model: {verdict}"
