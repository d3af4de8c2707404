"""What the second answer states: the size of the error, its direction, and clinical measures."""

from __future__ import annotations

import math
import re

from evaluation.verdict.facts import Facts, Half
from evaluation.verdict.printed import (
    NAME,
    PERCENT,
    amount,
    assert_level,
    assert_name,
    assert_number,
    assert_pvalue,
    interval,
    pvalue,
)
from evaluation.verdict.template import template
from oracles.verdict.formulas import ratio_ends

Q = "magnitude"
LEVEL = f"(?P<level>{PERCENT})"
WHAT = "(?P<what>top-label calibration error|calibration error)"


def assert_interval(m: re.Match[str], low: float, high: float) -> None:
    """Raise unless the ends are these."""
    assert_number(m["low"], low)
    assert_number(m["high"], high)


def _what(f: Facts, m: re.Match[str]) -> None:
    assert (m["what"] == "calibration error") == (f.matrix is None)
    assert_level(m["level"], f.level)


@template(
    Q,
    rf"The estimated {WHAT} is {amount('e')} \(debiased RMS; {LEVEL} interval "
    rf"{interval('low', 'high')}\)\.",
)
def size(f: Facts, m: re.Match[str]) -> None:
    _what(f, m)
    assert f.error > 0
    assert_number(m["e"], f.error)
    assert_interval(m, f.ends.low, f.ends.high)


@template(Q, rf"The {WHAT} is below {amount('high')} \(debiased RMS, {LEVEL} confidence\)\.")
def size_of_nothing(f: Facts, m: re.Match[str]) -> None:
    _what(f, m)
    assert f.error == 0
    assert_number(m["high"], f.ends.high)


def _means(m: re.Match[str], half: Half) -> None:
    assert_number(m["score"], half.score)
    assert_number(m["rate"], half.rate)


MEANS = f"the mean prediction is {amount('score')}, the observed rate {amount('rate')}"


@template(Q, rf"The mean prediction is {amount('score')}, the observed rate {amount('rate')}\.")
def means(f: Facts, m: re.Match[str]) -> None:
    assert f.matrix is None
    _means(m, f.all_rows)
    assert not f.rejected or [half.sign for half in f.halves] == [0, 0]


@template(Q, rf"Probabilities are (?P<how>too high|too low): {MEANS}\.")
def too_high(f: Facts, m: re.Match[str]) -> None:
    assert f.matrix is None
    assert f.rejected
    sign = {"too high": -1, "too low": 1}[m["how"]]
    assert [half.sign for half in f.halves] == [sign, sign]
    _means(m, f.all_rows)


@template(
    Q,
    r"Probabilities are (?P<how>too extreme|not extreme enough): up to the median score, the mean "
    rf"prediction is {amount('low_score')}, the observed rate {amount('low_rate')}; above it, the "
    rf"mean "
    rf"prediction is {amount('score')}, the observed rate {amount('rate')}\.",
)
def too_extreme(f: Facts, m: re.Match[str]) -> None:
    assert f.matrix is None
    assert f.rejected
    lower, upper = f.halves
    assert (lower.sign, upper.sign) == {"too extreme": (1, -1), "not extreme enough": (-1, 1)}[
        m["how"]
    ]
    assert_number(m["low_score"], lower.score)
    assert_number(m["low_rate"], lower.rate)
    _means(m, upper)


@template(
    Q,
    r"Scores in the (?P<half>lower|upper) half are (?P<how>too high|too low): their mean "
    r"prediction is "
    rf"{amount('score')}, their observed rate {amount('rate')}\.",
)
def one_half(f: Facts, m: re.Match[str]) -> None:
    assert f.matrix is None
    assert f.rejected
    this, other = f.halves if m["half"] == "lower" else f.halves[::-1]
    assert other.sign == 0
    assert this.sign == {"too high": -1, "too low": 1}[m["how"]]
    _means(m, this)


@template(Q, rf"The mean confidence is {amount('score')}, the accuracy {amount('rate')}\.")
def confidence(f: Facts, m: re.Match[str]) -> None:
    assert f.matrix is not None
    assert not (f.rejected and f.all_rows.sign)
    _means(m, f.all_rows)


@template(
    Q,
    r"The model is (?P<how>over|under)confident: mean confidence "
    rf"{amount('score')}, accuracy {amount('rate')}\.",
)
def overconfident(f: Facts, m: re.Match[str]) -> None:
    assert f.matrix is not None
    assert f.rejected
    assert f.all_rows.sign == {"over": -1, "under": 1}[m["how"]]
    _means(m, f.all_rows)


@template(
    Q, rf"The class-wise error is {amount('e')} \({LEVEL} interval {interval('low', 'high')}\)\."
)
def class_wise(f: Facts, m: re.Match[str]) -> None:
    assert f.status == "miscalibrated"
    assert_level(m["level"], f.level)
    assert f.class_wise > 0
    assert_number(m["e"], f.class_wise)
    assert_interval(m, f.class_wise_ends.low, f.class_wise_ends.high)


@template(Q, rf"The class-wise error is below {amount('high')} \({LEVEL} confidence\)\.")
def class_wise_of_nothing(f: Facts, m: re.Match[str]) -> None:
    assert f.status == "miscalibrated"
    assert_level(m["level"], f.level)
    assert f.class_wise == 0
    assert_number(m["high"], f.class_wise_ends.high)


MEASURES = {
    "oe": "O:E ratio",
    "large": "[Cc]alibration-in-the-large",
    "slope": "[Cc]alibration slope",
}
ENDS = {
    k: rf"{v} {amount(k)} \((?:{PERCENT} interval )?{interval(f'{k}_low', f'{k}_high')}\)"
    for k, v in MEASURES.items()
}
ENDS["slope"] += "(?:: the probabilities are (?P<extreme>too extreme|not extreme enough))?"
LIST = "".join(rf"(?:(?:^|(?<=\w, )|, |){each})?" for each in ENDS.values())
JOINT = (
    rf"(?:; the joint test of slope 1 and intercept 0 has p {pvalue('joint')}"
    r"(?P<raw> before adjustment for multiple testing)?)?"
)


@template(
    Q,
    rf"(?:For class (?P<name>{NAME}), )?(?=O:E|[Cc]alibration-|[Cc]alibration "
    rf"slope){LIST}{JOINT}\.",
)
def clinical(f: Facts, m: re.Match[str]) -> None:
    """Of one column, or of the second of two."""
    p, y = f.p, f.y
    assert (m["name"] is None) == (f.matrix is None)
    if f.matrix is not None:
        assert f.matrix.shape[1] == 2
        assert_name(m["name"], f.options.get("classes", [0, 1])[1])
        p, y = f.matrix[:, 1], f.one_hot[:, 1]
    expected = {"large": f.cox.in_the_large, "slope": f.cox.slope, "oe": (math.nan,) * 3}
    if p.any():
        ends = ratio_ends(y, p, f.w, f.clusters, f.weighted, f.level)
        expected["oe"] = (float(f.w @ y / (f.w @ p)), *ends)
    for name, values in expected.items():
        assert (m[name] is None) == any(map(math.isnan, values)), name
        for which, value in zip(("", "_low", "_high"), values, strict=True):
            if m[name] is not None:
                assert_number(m[f"{name}{which}"], value)
    level = re.findall(rf"({PERCENT}) interval", m[0])
    assert len(level) == 1  # with the first measure, for all of them
    assert_level(level[0], f.level)
    _, low, high = f.cox.slope
    extreme = "too extreme" if high < 1 else "not extreme enough" if low > 1 else None
    assert m["extreme"] == (extreme if f.rejected or f.status == "not tested" else None)
    joint = f.cox.joint_pvalue
    assert (m["joint"] is None) == (math.isnan(joint) or f.status == "not tested")
    if m["joint"] is not None:
        assert_pvalue(m["joint"], joint, f.alpha)
        assert bool(m["raw"]) == (joint <= f.alpha and f.status != "miscalibrated")
