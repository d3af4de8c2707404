"""Which part of the omnibus test has the smallest p-value: a description, not a second test."""

from __future__ import annotations

from trueup.evaluation.verdict.wording import amount
from trueup.results import CalibrationTestResult

PARTS = {
    "mean": "the mean residual",
    "slope": "the slope of the logits",
    "running sum": "the running sum of residuals",
    "bins": "the residuals of 15 bins",
    "kernel": "the residuals of nearby scores",
}


def strongest(test: CalibrationTestResult | None) -> str:
    """Return a sentence, or nothing where the test has no parts."""
    if test is None or "pvalue" not in test.strongest:
        return ""
    found = test.strongest
    if "scores" in found:
        low, high = found["scores"]
        part = f"the range of scores from {amount(low)} to {amount(high)}"
    else:
        part = PARTS[found["part"]]
    block = found.get("block")
    where = {"top label": " of the top label", "all classes": " summed over all classes"}
    if block is not None:
        part += where.get(block, f" of class {found.get('class')}")
    p = f"p = {found['pvalue']:.2g}"
    return f"The strongest part of the omnibus test is {part} ({p}, descriptive)."
