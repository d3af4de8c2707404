"""What the answers about frequencies and places state: counts, ranges, classes and groups."""

from __future__ import annotations

import re

import numpy as np

from evaluation.verdict.facts import Facts, Part
from evaluation.verdict.printed import (
    NAME,
    PERCENT,
    PVALUE,
    amount,
    assert_level,
    assert_name,
    assert_number,
    assert_pvalue,
    interval,
    number_of,
    pvalue,
)
from evaluation.verdict.sentences_of_tests import bad_of
from evaluation.verdict.template import template
from oracles.verdict.formulas import Array, gap_of, ratio_ends

LEVEL = f"(?P<level>{PERCENT})"
COUNT = r"\d[\d,]*"
ENDS = (
    rf"\({LEVEL} interval (?P<low>{COUNT}) to (?P<high>{COUNT}), from (?P<n>{COUNT}) "
    rf"(?P<rows>rows?)\)"
)
SCORES = (
    rf"(?P<scores>of {PERCENT}|near {PERCENT}|from (?:{PERCENT}|just above 0%) to "
    rf"(?:{PERCENT}|just below 100%)|just above 0%|just below 100%)"
)
AMONG = rf"Among (?P<per>{COUNT}) rows"


def _counted(f: Facts, m: re.Match[str], rows: Array) -> None:
    """The count per 1,000 rows and its interval, of the rows that the sentence is about."""
    p, y, w = f.p[rows], f.y[rows], f.w[rows]
    score, rate = np.average(p, weights=w), min(1.0, np.average(y, weights=w))
    most = max(min(score, 1 - score), min(rate, 1 - rate))
    per = next((k for k in (1_000, 10_000, 100_000) if k * most >= 10), 1_000_000)
    assert number_of(m["per"]) == (per if most > 0 else 1_000)
    clusters = None if f.clusters is None else f.clusters[rows]
    low, high = ratio_ends(y, None, w, clusters, f.weighted, f.level)
    per = number_of(m["per"])
    for name, value in (("count", rate), ("low", low), ("high", high), ("predicted", score)):
        if name in m.groupdict():
            assert abs(number_of(m[name]) - per * value) <= 0.5 + 1e-6, name
    assert_level(m["level"], f.level)
    assert number_of(m["n"]) == len(rows)
    assert (m["rows"] == "row") == (len(rows) == 1)


def _percent(text: str, value: float) -> None:
    if text == "just above 0%":
        assert 0 < value < 1e-8
    elif text == "just below 100%":
        assert 0 < 1 - value < 1e-8
    else:
        assert_number(text, 100 * value)
        assert (number_of(text) in (0, 100)) == (value in (0, 1))


def _of_scores(f: Facts, m: re.Match[str]) -> None:
    """Rows of the bin that the place names, or of the bin with the median row."""
    worst = f.outside if f.status == "miscalibrated" else None
    if worst is None:
        upto = np.cumsum([len(each) for each in f.bins.rows])
        worst = int(np.argmax(2 * upto >= f.n))
    rows = f.bins.rows[worst]
    p = f.p[rows]
    words = m["scores"].split(" ")
    mean = float(np.average(p, weights=f.w[rows]))
    if words[0] == "of":
        assert p.min() == p.max()
        _percent(words[1], p[0])
    elif words[0] == "from":
        first, last = m["scores"].removeprefix("from ").split(" to ")
        _percent(first, p.min())
        _percent(last, p.max())
    else:
        _percent(m["scores"].removeprefix("near "), mean)
        assert np.abs(p - mean).max() <= max(0.005, 0.1 * min(mean, 1 - mean))
    _counted(f, m, rows)


@template(
    "frequency",
    rf"{AMONG} with a predicted probability {SCORES}, the outcome occurred in (?P<count>{COUNT}) "
    rf"{ENDS}\.",
)
def outcomes(f: Facts, m: re.Match[str]) -> None:
    assert f.matrix is None
    _of_scores(f, m)


@template(
    "frequency",
    rf"{AMONG} with a confidence {SCORES}, the prediction was right in (?P<count>{COUNT}) {ENDS}\.",
)
def right_predictions(f: Facts, m: re.Match[str]) -> None:
    assert f.matrix is not None
    _of_scores(f, m)


def _of_group(f: Facts, m: re.Match[str]) -> None:
    for name, rows in f.rows_of_groups.items():
        if m["name"] in (str(name), repr(str(name))):
            assert_name(m["name"], name)
            _counted(f, m, rows)
            return
    raise AssertionError(f"there is no group {m['name']}")


@template(
    "frequencies of groups",
    rf"{AMONG} of group (?P<name>{NAME}), (?P<predicted>{COUNT}) outcomes were predicted and "
    rf"(?P<count>{COUNT}) occurred {ENDS}\.",
)
def outcomes_of_group(f: Facts, m: re.Match[str]) -> None:
    assert f.matrix is None
    _of_group(f, m)


@template(
    "frequencies of groups",
    rf"{AMONG} of group (?P<name>{NAME}), (?P<predicted>{COUNT}) predictions should be right and "
    rf"(?P<count>{COUNT}) were {ENDS}\.",
)
def predictions_of_group(f: Facts, m: re.Match[str]) -> None:
    assert f.matrix is not None
    _of_group(f, m)


Q = "location"


@template(Q, r"All (?P<what>scores|confidences) fall into one bin\.")
def one_bin(f: Facts, m: re.Match[str]) -> None:
    assert (m["what"] == "scores") == (f.matrix is None)
    assert len(f.bins.rows) == 1
    assert f.p.min() == f.p.max()
    assert f.n > 1


@template(Q, r"No range of scores stands out\.")
def no_range(f: Facts, m: re.Match[str]) -> None:
    assert f.outside is None
    assert f.matrix is None


BOUND = r"(?:[\d.]+|just above 0|just below 1)"
WHICH = (
    rf"(?P<what>Scores|Confidences) (?P<range>from {BOUND} to {BOUND}|up to {BOUND}|above {BOUND}|"
    r"of [\d.]+|next to 0|next to 1|just above 0|just below 1)"
)
SHARE = r"(?P<share>\d+)% of (?P<of>rows|total weight)"
OF_BIN = (
    rf"(?:mean prediction|mean confidence) {amount('score')}, (?:observed rate|accuracy) "
    rf"{amount('rate')}"
)


def _bound(text: str, value: float) -> None:
    if text.startswith("just"):
        assert 0 < value < 1
        assert abs(value - (text == "just below 1")) < 1e-6
        return
    assert_number(text, value)
    assert (float(text) in (0, 1)) == (value in (0, 1))


def _range(f: Facts, text: str, worst: int) -> None:
    """The bounds are those of the bin, and no two of them look the same."""
    p, edges = f.p[f.bins.rows[worst]], f.bins.edges
    low, high = edges[worst], edges[worst + 1]
    kind, *_ = text.split(" ")
    if kind == "of":
        assert np.ptp(p) < 1e-5
        assert_number(text.removeprefix("of "), float(p.mean()))
        assert (float(text.removeprefix("of ")) in (0, 1)) == (p.mean() in (0, 1))
    elif kind in ("just", "next"):
        near = 1.0 if text.endswith("1") else 0.0
        assert np.abs(p - near).max() < 1e-6
        assert kind == "next" or not np.any(p == near)
    elif kind == "up":
        assert worst == 0
        _bound(text.removeprefix("up to "), high)
    elif kind == "above":
        assert worst == len(f.bins.rows) - 1
        _bound(text.removeprefix("above "), low)
    else:
        first, last = text.removeprefix("from ").split(" to ")
        assert first != last
        _bound(first, low)
        _bound(last, high)


def _place(f: Facts, m: re.Match[str], most: str) -> None:
    worst = f.outside
    assert worst is not None
    assert (m["what"] == "Scores") == (f.matrix is None)
    assert ("confidence" in m[0].split("(")[1] or "accuracy" in m[0]) == (f.matrix is not None)
    _range(f, m["range"], worst)
    assert abs(float(m["share"]) - 100 * f.bins.share[worst]) <= 0.5 + 1e-9
    assert (m["of"] == "total weight") == f.weighted
    assert_number(m["score"], f.bins.score[worst])
    assert_number(m["rate"], f.bins.label[worst])
    assert (m["verb"] == most) == (int(np.argmax(f.contributions)) == worst)


@template(Q, rf"{WHICH} (?P<verb>contribute most|stand out) \({SHARE}\): {OF_BIN}\.")
def range_of_rejected(f: Facts, m: re.Match[str]) -> None:
    """Of a status where tests disagree, nor is noise named."""
    assert f.rejected or (f.status == "tests disagree" and m["verb"] == "stand out")
    _place(f, m, "contribute most")


@template(Q, rf"{WHICH} (?P<verb>deviate most) \({SHARE}\): {OF_BIN}\.")
def range_where_tests_disagree(f: Facts, m: re.Match[str]) -> None:
    assert f.status == "tests disagree"
    _place(f, m, "deviate most")


@template(
    Q,
    rf"{WHICH} (?P<verb>deviate most|stand out) \({SHARE}: {OF_BIN}\), but this may be sampling "
    rf"noise\.",
)
def range_of_noise(f: Facts, m: re.Match[str]) -> None:
    assert not f.rejected
    assert f.status != "tests disagree"
    _place(f, m, "deviate most")


NOTE = (
    r"(?P<note> \(tested by class frequency only: errors that cancel within a class go "
    r"undetected\))?"
)


def _note(f: Facts, m: re.Match[str]) -> None:
    by_frequency = f.evaluation.settings.get("test_of_classes") == "frequency"
    assert bool(m["note"]) == (by_frequency and "class" in m[0].split("(")[0])


@template(Q, rf"No (?P<kind>class|group) stands out{NOTE}\.")
def no_part(f: Facts, m: re.Match[str]) -> None:
    parts, bad = bad_of(f, m["kind"])
    assert len(parts) > 1
    assert not bad
    _note(f, m)


PART = (
    rf"(?P<kind_of>class|group) (?P<name>{NAME}) \(error {amount('e')}(?:, {LEVEL} interval "
    rf"{interval('low', 'high')})?\)"
)
ANY_PART = re.sub(r"\?P<\w+>", "?:", PART)


@template(
    Q,
    r"(?P<k>\d+) of (?P<m>\d+) (?P<kind>classes|groups) (?P<verb>is|are) shown to be "
    r"miscalibrated"
    rf"(?: \((?P<smallest>smallest )?Holm-adjusted p = (?P<p>{PVALUE})\))?: "
    rf"(?P<more>the largest errors are in )?(?P<each>{ANY_PART}(?:; {ANY_PART})*){NOTE}\.",
)
def parts(f: Facts, m: re.Match[str]) -> None:
    whole, bad = bad_of(f, m["kind"])
    assert (int(m["k"]), int(m["m"])) == (len(bad), len(whole))
    assert (m["verb"] == "is") == (len(bad) == 1)
    assert (m["p"] is None) == (f.status == "tests disagree")  # the first sentence has it
    if m["p"] is not None:
        assert bool(m["smallest"]) == (len(bad) > 1)
        assert_pvalue(f"= {m['p']}", min(each.adjusted for each in bad), f.alpha)
    assert bool(m["more"]) == (len(bad) > 3)
    found = list(re.finditer(PART, m["each"]))
    assert len(found) == min(3, len(bad))
    for shown, part in zip(found, bad, strict=False):
        assert shown["kind_of"] == {"classes": "class", "groups": "group"}[m["kind"]]
        assert_name(shown["name"], part.name)
        assert_number(shown["e"], part.error)
        assert (shown["low"] is None) == (part.low > 0)
        if part.low <= 0:
            assert_level(shown["level"], f.level)
            assert_number(shown["low"], part.low)
            assert_number(shown["high"], part.high)
    _note(f, m)
    assert f.evaluation.answers[Q].count("Mean gap") == sum(
        any(each.low <= 0 for each in some[:3]) for some in (f.bad(f.classes), f.bad(f.groups))
    )


GAP = (
    rf"(?P<kind_of>class|group) (?P<name>{NAME}) (?P<gap>[+−]?[\d.]+) \(standard error "
    rf"{amount('se')}, p {pvalue('p')}\)"
)
ANY_GAP = re.sub(r"\?P<\w+>", "?:", GAP)


@template(
    Q, rf"Mean (?P<gaps>gaps?) \(observed − predicted\): (?P<each>{ANY_GAP}(?:; {ANY_GAP})*)\."
)
def gaps(f: Facts, m: re.Match[str]) -> None:
    found = list(re.finditer(GAP, m["each"]))
    assert (m["gaps"] == "gap") == (len(found) == 1)
    _, bad = bad_of(f, found[0]["kind_of"])
    unclear: list[Part] = [each for each in bad[:3] if each.low <= 0]
    assert len(found) == len(unclear)
    for shown, part in zip(found, unclear, strict=True):
        assert_name(shown["name"], part.name)
        gap, se, p = gap_of(part.p, part.y, part.w, f.weighted)
        assert_number(shown["gap"].removeprefix("+"), gap)
        assert shown["gap"].startswith("+") == (gap > 0)
        assert_number(shown["se"], se)
        assert_pvalue(shown["p"], p, f.alpha)


@template(
    Q,
    rf"With (?P<k>{COUNT}) groups and (?P<draws>{COUNT}) resamples, no group can reach "
    rf"significance after "
    r"Holm adjustment\.",
)
def too_many_groups(f: Facts, m: re.Match[str]) -> None:
    """The smallest p-value of a resampling test, times the number of groups, is above the level."""
    assert number_of(m["k"]) == len(f.rows_of_groups)
    draws = f.evaluation.settings["resamples_of_groups"]
    assert number_of(m["draws"]) == draws
    assert len(f.rows_of_groups) / (1 + draws) > f.alpha
    assert not f.bad(f.groups)


@template(
    Q, r"Group errors were not computed: (?P<why>labels are probabilities|rows come in clusters)\."
)
def no_groups(f: Facts, m: re.Match[str]) -> None:
    assert f.rows_of_groups
    assert f.evaluation.groups is None
    assert (m["why"] == "labels are probabilities") == f.soft
    assert f.soft or f.clusters is not None
