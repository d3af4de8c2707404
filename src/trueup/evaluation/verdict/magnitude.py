"""The size and direction of the error; every number refers to the rows that are named."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from trueup.evaluation.clinical import ALL_ROWS
from trueup.evaluation.verdict.evidence import NOT_TESTED, Evidence
from trueup.evaluation.verdict.halves import Part
from trueup.evaluation.verdict.wording import amount, difference, equals, estimate_of, percent, span

HIGH = {-1: "too high", 1: "too low"}


def magnitude(evidence: Evidence) -> str:
    """Return the size of the error, its direction and, for one column, the clinical numbers."""
    found = [_size(evidence), _direction(evidence)]
    if evidence.multiclass:
        found.append(_classes(evidence))
    found.append(_clinical(evidence))
    return " ".join(text for text in found if text)


def _size(evidence: Evidence) -> str:
    ends = evidence.headline.interval
    what = "top-label calibration error" if evidence.multiclass else "calibration error"
    level = percent(ends.confidence_level)
    if ends.estimate == 0:
        return f"The {what} is below {amount(ends.high)} (debiased RMS, {level} confidence)."
    size = f"debiased RMS; {level} interval {span(ends.low, ends.high)}"
    return f"The estimated {what} is {amount(ends.estimate)} ({size})."


def _direction(evidence: Evidence) -> str:
    """Return "too high", "too extreme" … if the gaps are larger than their noise."""
    if evidence.multiclass:
        return _of_confidences(evidence.halves.all, evidence.rejected)
    whole, lower, upper = evidence.halves.all, evidence.halves.lower, evidence.halves.upper
    plain = f"mean prediction is {amount(whole.mean_score)}, the observed rate "
    plain += amount(whole.mean_label)
    if lower is None or upper is None:
        lower = upper = whole
    signs = (lower.sign, upper.sign) if evidence.rejected else (0, 0)
    if signs == (0, 0):
        return f"The {plain}."
    if signs[0] == signs[1]:
        return f"Probabilities are {HIGH[signs[0]]}: the {plain}."
    if 0 not in signs:
        how = "too extreme" if signs[0] > 0 else "not extreme enough"
        low, high = _means("the", lower), _means("the", upper)
        return f"Probabilities are {how}: up to the median score, {low}; above it, {high}."
    half, part = ("lower", lower) if signs[0] else ("upper", upper)
    return f"Scores in the {half} half are {HIGH[part.sign]}: {_means('their', part)}."


def _of_confidences(whole: Part, rejected: bool) -> str:
    confidence, accuracy = amount(whole.mean_score), amount(whole.mean_label)
    if not (rejected and whole.sign):
        return f"The mean confidence is {confidence}, the accuracy {accuracy}."
    over = "overconfident" if whole.sign < 0 else "underconfident"
    return f"The model is {over}: mean confidence {confidence}, accuracy {accuracy}."


def _means(whose: str, part: Part) -> str:
    score, label = amount(part.mean_score), amount(part.mean_label)
    return f"{whose} mean prediction is {score}, {whose} observed rate {label}"


def _classes(evidence: Evidence) -> str:
    every = evidence.all_classes
    if every is None or not evidence.miscalibrated:
        return ""
    return f"The class-wise error is {estimate_of(every.interval)}."


def _clinical(evidence: Evidence) -> str:
    """State O:E ratio, calibration-in-the-large, slope and their joint test for all rows."""
    table = evidence.clinical
    if table is None:
        return ""
    row = {name: table[name][0] for name in table}
    assert row["group"] == ALL_ROWS
    level = percent(1 - evidence.alpha)
    measures = {
        "O:E ratio": ("oe", "oe_low", "oe_high"),
        "calibration-in-the-large": ("in_the_large", "in_the_large_low", "in_the_large_high"),
        "calibration slope": ("slope", "slope_low", "slope_high"),
    }
    found: list[str] = []
    for name, (value, low, high) in measures.items():
        if all(math.isfinite(row[each]) for each in (value, low, high)):
            interval = f"{level} interval " if not found else ""
            ends = span(float(row[low]), float(row[high]))
            words = _of_slope(evidence, row) if value == "slope" else ""
            found.append(f"{name} {difference(float(row[value]))} ({interval}{ends}){words}")
    if not found:
        return ""
    text = ", ".join(found)
    if evidence.multiclass:  # two columns
        text = f"for{evidence.of_second_class.removeprefix(' of')}, {text}"
    text += _joint_test(evidence, float(row["joint_pvalue"]))
    return f"{text[0].upper()}{text[1:]}."


def _of_slope(evidence: Evidence, row: Mapping[str, Any]) -> str:
    """Say what a slope means whose interval excludes 1, unless the tests show no evidence."""
    if not (evidence.rejected or evidence.status == NOT_TESTED):
        return ""
    if row["slope_low"] > 1:
        return ": the probabilities are not extreme enough"
    return ": the probabilities are too extreme" if row["slope_high"] < 1 else ""


def _joint_test(evidence: Evidence, pvalue: float) -> str:
    """State the joint test; mark a small p-value that decides nothing as unadjusted."""
    if not math.isfinite(pvalue) or evidence.status == NOT_TESTED:
        return ""
    text = f"; the joint test of slope 1 and intercept 0 has p {equals(pvalue, evidence.alpha)}"
    if pvalue <= evidence.alpha and not evidence.miscalibrated:
        text += " before adjustment for multiple testing"
    return text
