"""What the first answer states: the status, p-values, and how many tests reject."""

from __future__ import annotations

import re

from evaluation.verdict.facts import Facts, Part
from evaluation.verdict.printed import (
    AMOUNT,
    NAME,
    PVALUE,
    amount,
    assert_level,
    assert_name,
    assert_number,
    assert_pvalue,
    interval,
    number_of,
    pvalue,
    rows,
)
from evaluation.verdict.template import template

Q = "calibrated"
TESTED = rf"\(p {pvalue('p')}, {rows()}\)"
NONE = f"There is no evidence of miscalibration at this sample size {TESTED}; "
NAMED_PVALUES = rf"(?P<each>\w[\w-]* {PVALUE}(?:, \w[\w-]* {PVALUE}){{0,2}})"
REASONS = {
    "other tests": (
        r"(?P<k>\d+) of (?P<m>\d+) other (?P<tests>tests?) (?P<verb>rejects?) calibration "
        rf"\((?P<smallest>smallest )?Holm-adjusted p: {NAMED_PVALUES}\)"
    ),
    "one part": (
        rf"(?P<kind>class|group) (?P<names>{NAME}) is shown to be miscalibrated \(Holm-adjusted "
        rf"p = (?P<least>{PVALUE})\)"
    ),
    "some parts": (
        rf"(?P<kind>classes|groups) (?P<names>{NAME}(?:, {NAME})? and {NAME}) are shown to "
        rf"be miscalibrated \(smallest Holm-adjusted p = (?P<least>{PVALUE})\)"
    ),
    "many parts": (
        r"(?P<k>\d+) of (?P<m>\d+) (?P<kind>classes|groups) are shown to be miscalibrated, "
        rf"among them (?P<names>{NAME}, {NAME} and {NAME}) "
        rf"\(smallest Holm-adjusted p = (?P<least>{PVALUE})\)"
    ),
}


def assert_tested(f: Facts, m: re.Match[str]) -> None:
    """The deciding p-value and the number of rows; `test_omnibus` recomputes the p-value."""
    assert f.omnibus is not None
    assert_pvalue(m["p"], f.omnibus, f.alpha)
    least = 1 / (1 + f.evaluation.test.notes["n_resamples"])
    assert m["p"].startswith("≤") == (f.omnibus <= least * (1 + 1e-9))
    assert m["rows"] == f.rows


@template(Q, rf"The probabilities are (?P<small>slightly )?miscalibrated {TESTED}\.")
def miscalibrated(f: Facts, m: re.Match[str]) -> None:
    assert_tested(f, m)
    assert f.status == "miscalibrated"
    assert f.omnibus <= f.alpha
    assert not f.impossible.any()
    assert bool(m["small"]) == f.small


@template(
    Q,
    r"(?P<k>\d[\d,]*) observed (?P<outcomes>outcomes?) had a predicted probability of 0, so the "
    r"probabilities cannot all be right\.",
)
def impossible_outcomes(f: Facts, m: re.Match[str]) -> None:
    assert number_of(m["k"]) == f.impossible.sum() > 0
    assert (m["outcomes"] == "outcome") == (m["k"] == "1")


def _rest(f: Facts, m: re.Match[str]) -> None:
    many = int(f.impossible.sum())
    assert (m["these"] == "this row") == (many == 1)
    assert_pvalue(m["p"], f.rest_pvalue, f.alpha)
    assert m["rows"] == f"{f.n - many:,} row" + "s" * (f.n - many != 1)


@template(Q, rf"Apart from (?P<these>this row|these rows), they are miscalibrated {TESTED}\.")
def rest_is_miscalibrated(f: Facts, m: re.Match[str]) -> None:
    _rest(f, m)
    assert f.rest_pvalue <= f.alpha


@template(
    Q,
    r"Apart from (?P<these>this row|these rows), there is no evidence of miscalibration "
    rf"{TESTED}\.",
)
def rest_shows_nothing(f: Facts, m: re.Match[str]) -> None:
    _rest(f, m)
    assert f.rest_pvalue > f.alpha


def _names_and_pvalues(text: str) -> list[tuple[str, str]]:
    return [tuple(each.split(" ")) for each in text.split(", ")]


def _other_tests(f: Facts, m: re.Match[str]) -> None:
    assert int(m["k"]) == len(f.rejecting)
    assert int(m["m"]) == len(f.raw)
    assert (m["tests"] == "tests") == (len(f.raw) != 1)
    assert (m["verb"] == "rejects") == (len(f.rejecting) == 1)
    assert bool(m["smallest"]) == (len(f.rejecting) > 3)
    shown = _names_and_pvalues(m["each"])
    expected = sorted(f.rejecting, key=lambda name: (f.adjusted[name], f.raw[name]))[:3]
    assert [name for name, _ in shown] == expected
    for name, p in shown:
        assert_pvalue(f"= {p}", f.adjusted[name], f.alpha)


def _parts(f: Facts, m: re.Match[str]) -> None:
    parts = f.classes if m["kind"] in ("class", "classes") else f.groups
    bad = f.bad(parts)
    assert_pvalue(f"= {m['least']}", min(each.adjusted for each in bad), f.alpha)
    names = [each[1] for each in re.finditer(rf"({NAME})(?:, | and |$)", m["names"])]
    assert len(names) == min(3, len(bad))
    for name, each in zip(names, bad, strict=False):
        assert_name(name, each.name)
    if "k" in m.groupdict():
        assert (int(m["k"]), int(m["m"])) == (len(bad), len(parts))
        assert len(bad) > 3
    else:
        assert len(names) == len(bad)


def _reasons(f: Facts) -> int:
    """How many kinds of tests reject: other tests, classes and groups."""
    return sum(map(bool, (f.rejecting, f.bad(f.classes), f.bad(f.groups))))


DISAGREE = "The tests disagree: the omnibus test shows no evidence of miscalibration "
for reason, pattern in REASONS.items():
    check = _other_tests if reason == "other tests" else _parts

    def disagree(f: Facts, m: re.Match[str], check=check) -> None:
        assert_tested(f, m)
        assert f.omnibus > f.alpha
        assert f.status == "tests disagree"
        assert f.evaluation.answers[Q].count("In addition, ") == _reasons(f) - 1
        check(f, m)

    def in_addition(f: Facts, m: re.Match[str], check=check) -> None:
        assert f.status == "tests disagree"
        assert _reasons(f) > 1
        check(f, m)

    template(Q, rf"{DISAGREE}{TESTED}, but {pattern}\.", f"disagree: {reason}")(disagree)
    if reason != "other tests":  # these come first
        template(Q, rf"In addition, {pattern}\.", f"in addition: {reason}")(in_addition)


def _none(f: Facts, m: re.Match[str]) -> None:
    assert_tested(f, m)
    assert f.omnibus > f.alpha
    assert f.status == "no evidence"


@template(
    Q,
    NONE
    + rf"the test(?P<top> of the top label)? would miss an error smaller than {amount('x')} more "
    r"than 20% of the time\.",
)
def no_evidence_of_less(f: Facts, m: re.Match[str]) -> None:
    """The detectable error itself is that of `sensitivity`, tested where it is made."""
    _none(f, m)
    assert bool(m["top"]) == (f.evaluation.overview.kind == "multiclass")
    assert_number(m["x"], f.evaluation.detectable_error.error)


@template(Q, NONE + r"with this few rows, even a large error would usually go undetected\.")
def no_evidence_of_anything(f: Facts, m: re.Match[str]) -> None:
    _none(f, m)
    assert f.evaluation.detectable_error.error is None


@template(Q, NONE + rf"the interval is compatible with an error of up to {amount('high')}\.")
def no_evidence_by_interval(f: Facts, m: re.Match[str]) -> None:
    _none(f, m)
    assert f.evaluation.detectable_error is None
    assert_number(m["high"], f.ends.high)


@template(
    Q,
    r"However, (?P<k>\d+) of (?P<m>\d+) other (?P<tests>tests?) (?P<verb>has|have) p ≤ "
    r"(?P<alpha>[\d.]+) "
    rf"\((?P<smallest>smallest: )?{NAMED_PVALUES}\), which multiple testing may explain \(smallest "
    rf"Holm-adjusted p = (?P<least>{PVALUE})\)\.",
)
def explained(f: Facts, m: re.Match[str]) -> None:
    small = sorted((name for name, p in f.raw.items() if p <= f.alpha), key=f.raw.__getitem__)
    assert f.status == "no evidence"
    assert (int(m["k"]), int(m["m"])) == (len(small), len(f.raw))
    assert (m["verb"] == "has") == (len(small) == 1)
    assert (m["tests"] == "tests") == (len(f.raw) != 1)
    assert_number(m["alpha"], f.alpha)
    assert bool(m["smallest"]) == (len(small) > 3)
    shown = _names_and_pvalues(m["each"])
    assert [name for name, _ in shown] == small[:3]
    for name, p in shown:
        assert_pvalue(f"= {p}", f.raw[name], f.alpha)
    assert min(f.adjusted.values()) > f.alpha
    assert_pvalue(f"= {m['least']}", min(f.adjusted.values()), f.alpha)


@template(Q, r"No test was run \(soft labels cannot be tested\)\.")
def soft_labels(f: Facts, m: re.Match[str]) -> None:
    assert f.soft
    assert f.omnibus is None
    assert not f.raw


@template(Q, r"No test was run \(a test needs more than (?P<k>\d+) (?P<clusters>clusters?)\)\.")
def too_few_clusters(f: Facts, m: re.Match[str]) -> None:
    assert int(m["k"]) == f.n_clusters
    assert (m["clusters"] == "cluster") == (f.n_clusters == 1)
    assert 2.0 ** (1 - f.n_clusters) > f.alpha  # the smallest p-value of signs of clusters
    assert f.omnibus is None


def _interval_shows(f: Facts, m: re.Match[str]) -> None:
    assert f.status == "not tested"
    assert (m["what"] == "top-label error") == (f.matrix is not None)
    assert (m["shows"] == "excludes") == (f.ends.low > 0)


SHOWS = r"The interval for the (?P<what>top-label error|error) (?P<shows>excludes|includes) 0"


@template(Q, rf"{SHOWS}\.")
def interval_shows(f: Facts, m: re.Match[str]) -> None:
    _interval_shows(f, m)
    assert f.matrix is None or f.class_wise_ends.low <= 0


@template(
    Q,
    rf"{SHOWS}; the interval for the class-wise error excludes 0: {amount('e')} "
    rf"\((?P<level>{AMOUNT}%) interval {interval('low', 'high')}\)\.",
)
def intervals_show(f: Facts, m: re.Match[str]) -> None:
    _interval_shows(f, m)
    assert f.class_wise_ends.low > 0
    assert_level(m["level"], f.level)
    assert_number(m["e"], f.class_wise)
    assert_number(m["low"], f.class_wise_ends.low)
    assert_number(m["high"], f.class_wise_ends.high)


def bad_of(f: Facts, kind: str) -> tuple[list[Part], list[Part]]:
    """Return all classes or groups, and those that are rejected."""
    parts = f.classes if kind in ("class", "classes") else f.groups
    return parts, f.bad(parts)
