"""The part of the omnibus test with the smallest p-value, which is not a second test."""

from __future__ import annotations

from trueup.evaluation.verdict.score_ranges import between
from trueup.evaluation.verdict.wording import named
from trueup.results import CalibrationTestResult

PARTS = {
    "mean": "the mean residual",
    "slope": "the slope of the logits",
    "running sum": "the running sum of residuals",
    "bins": "the sum of squared residuals of score bins",
    "kernel": "the kernel sum of residuals of similar scores",
    "range of scores": "the largest residual of a range of scores",
}


def strongest(test: CalibrationTestResult | None) -> str:
    """Return a sentence, or an empty string if the test has no parts."""
    if test is None or "pvalue" not in test.strongest:
        return ""
    found = test.strongest
    if "scores" in found:
        low, high = found["scores"]
        part = f"the range of scores {between(float(low), float(high))}"
    else:
        part = PARTS[found["part"]]
    block = found.get("block")
    where = {"top label": " of the top label", "all classes": " summed over all classes"}
    if block is not None:
        part += where.get(block, f" of class {named(found.get('class'))}")
    p = f"p = {found['pvalue']:.2g}"
    return f"The strongest part of the omnibus test is {part} ({p}, descriptive)."
