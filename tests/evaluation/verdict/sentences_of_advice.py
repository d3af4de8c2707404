"""What the answers about precision, advice and gain state, and the verdict of several models."""

from __future__ import annotations

import math
import re

import numpy as np

from evaluation.verdict.facts import N_BINS, Facts
from evaluation.verdict.printed import (
    NAME,
    PERCENT,
    amount,
    assert_level,
    assert_name,
    assert_number,
    interval,
    number_of,
    rows,
)
from evaluation.verdict.template import template
from oracles.verdict.formulas import debiased_square, holm, rms

IDENTITY = "IdentityCalibration"
PRECISION, ADVICE, GAIN = "precision", "recommendation", "expected_gain"


@template(
    PRECISION,
    rf"With {rows()}, the interval extends at most {amount('width')} from the estimate(?:; the "
    rf"test(?P<top> of the top label)? "
    rf"detects an error of {amount('error')} with 80% probability)?(?P<few>; with this few "
    rf"clusters, "
    r"p-values and intervals are only approximate)?\.",
)
def width(f: Facts, m: re.Match[str]) -> None:
    assert m["rows"] == f.rows
    assert_number(m["width"], max(f.ends.high - f.error, f.error - f.ends.low))
    known = f.evaluation.detectable_error
    shown = f.status == "miscalibrated" and known is not None and known.error is not None
    assert (m["error"] is not None) == shown
    if shown:
        assert bool(m["top"]) == (f.evaluation.overview.kind == "multiclass")
        # the error itself is that of `sensitivity`, tested where it is made
        assert_number(m["error"], known.error)
        assert known.power == 0.8
    assert bool(m["few"]) == (f.n_clusters is not None and f.n_clusters < 50)


@template(
    PRECISION,
    r"The test rejects calibration; the interval of the error is more conservative near 0 and "
    r"includes it\.",
)
def cautious_interval(f: Facts, m: re.Match[str]) -> None:
    assert f.rejected
    assert f.ends.low <= 0


PARTS = {
    "mean": "the mean residual",
    "slope": "the slope of the logits",
    "running sum": "the running sum of residuals",
    "bins": "the sum of squared residuals of score bins",
    "kernel": "the kernel sum of residuals of similar scores",
    "range of scores": "the largest residual of a range of scores",
}
RANGE = r"the range of scores (?P<range>from [\d.]+ to [\d.]+|up to [\d.]+|above [\d.]+)"
BLOCK = rf"(?P<block> of the top label| summed over all classes| of class (?P<name>{NAME}))?"
BLOCKS = {"top label": " of the top label", "all classes": " summed over all classes"}


def _strongest(f: Facts, m: re.Match[str], part: str) -> None:
    """The parts themselves are compared with an oracle where the omnibus test is tested."""
    assert f.rejected
    found = f.evaluation.test.strongest
    assert found["part"] == part
    assert_number(m["p"], found["pvalue"])
    block = found.get("block")
    if block == "one class":
        assert_name(m["name"], found["class"])
    else:
        assert (m["block"] or "") == BLOCKS.get(block, "")
    parts = f.evaluation.test.notes["parts"]
    assert found["pvalue"] == min((parts if block is None else parts[block]).values())


for part, words in PARTS.items():

    def strongest(f: Facts, m: re.Match[str], part: str = part) -> None:
        _strongest(f, m, part)
        assert "scores" not in f.evaluation.test.strongest

    pattern = (
        rf"The strongest part of the omnibus test is {words}{BLOCK} \(p = (?P<p>[\d.]+), "
        rf"descriptive\)\."
    )
    template(PRECISION, pattern, f"strongest: {part}")(strongest)


@template(
    PRECISION,
    rf"The strongest part of the omnibus test is {RANGE}{BLOCK} \(p = (?P<p>[\d.]+), "
    rf"descriptive\)\.",
)
def strongest_range(f: Facts, m: re.Match[str]) -> None:
    _strongest(f, m, "range of scores")
    low, high = f.evaluation.test.strongest["scores"]
    shown = [float(each) for each in re.findall(r"[\d.]+", m["range"])]
    kept = [each for each in (low, high) if each not in (0.0, 1.0) or m["range"] == "from 0 to 1"]
    for text, value in zip(re.findall(r"[\d.]+", m["range"]), kept, strict=True):
        assert_number(text, value)
    assert shown == sorted(set(shown))


@template(
    ADVICE,
    r"Do not assign probability 0 to an outcome that can occur: store more digits, or clip "
    r"probabilities "
    r"away from 0 and 1\.",
)
def no_zeros(f: Facts, m: re.Match[str]) -> None:
    assert f.impossible.any()


@template(ADVICE, r"These rows contain only one outcome\. Recalibrate on data that contains both\.")
def one_outcome(f: Facts, m: re.Match[str]) -> None:
    assert f.matrix is None
    assert len(set(f.y.tolist())) == 1
    assert f.status == "miscalibrated" or f.ends.low > 0


def _shows_an_error(f: Facts) -> bool:
    if f.status == "not tested":
        return f.ends.low > 0 or (f.matrix is not None and f.class_wise_ends.low > 0)
    return f.status == "miscalibrated"


@template(ADVICE, r"Recalibrate on data the model was not trained on, then evaluate again\.")
def recalibrate(f: Facts, m: re.Match[str]) -> None:
    assert f.evaluation.recalibration is None
    assert _shows_an_error(f)
    assert f.rejected or f.status == "not tested"


@template(
    ADVICE,
    r"Recalibrate with (?P<name>\w+), fitted on held-out data that is in neither the training nor "
    r"the "
    r"test set\.",
)
def recalibrate_with(f: Facts, m: re.Match[str]) -> None:
    """Which one is best out of fold is the choice of `AutoCalibration`, tested elsewhere."""
    found = f.evaluation.recalibration
    assert m["name"] == found.recommended != IDENTITY
    assert _shows_an_error(f)
    assert found.after["log_loss"] < found.before["log_loss"]


@template(
    ADVICE,
    r"An error this small needs no correction: no recalibrator is clearly better out of fold\.",
)
def too_small(f: Facts, m: re.Match[str]) -> None:
    assert f.evaluation.recalibration.recommended == IDENTITY
    assert _shows_an_error(f)
    assert f.small


@template(
    ADVICE,
    r"None of the recalibrators tried is clearly better out of fold than the original "
    r"probabilities\.",
)
def none_is_better(f: Facts, m: re.Match[str]) -> None:
    assert f.evaluation.recalibration.recommended == IDENTITY
    assert _shows_an_error(f)
    assert not f.small


@template(ADVICE, r"The interval alone does not show that recalibration is needed\.")
def interval_alone(f: Facts, m: re.Match[str]) -> None:
    assert f.status == "not tested"
    assert not _shows_an_error(f)


DOUBT = "Treat the probabilities as possibly miscalibrated"


@template(ADVICE, rf"{DOUBT}; (?P<name>\w+) is clearly better out of fold\.")
def doubtful_and_better(f: Facts, m: re.Match[str]) -> None:
    assert f.status == "tests disagree"
    assert m["name"] == f.evaluation.recalibration.recommended != IDENTITY


@template(ADVICE, rf"{DOUBT}, in the way that the rejecting tests measure\.")
def doubtful(f: Facts, m: re.Match[str]) -> None:
    assert f.status == "tests disagree"
    found = f.evaluation.recalibration
    assert found is None or found.recommended == IDENTITY


def _unseen_is_large(f: Facts) -> bool:
    """Whether the error that may be missed is above 0.1 or the rate of the rarer outcome."""
    known = f.evaluation.detectable_error
    unseen = f.ends.high if known is None else known.error
    means = (f.all_rows.score, f.all_rows.rate)
    rarer = max(1 / f.n, *(min(mean, 1 - mean) for mean in means))
    return unseen is None or unseen > min(0.1, rarer)


@template(ADVICE, r"There are too few rows to tell whether the model is calibrated\.")
def too_few_rows(f: Facts, m: re.Match[str]) -> None:
    assert f.status == "no evidence"
    assert _unseen_is_large(f)


@template(ADVICE, r"On this evidence, no recalibration is needed\.")
def nothing_needed(f: Facts, m: re.Match[str]) -> None:
    assert f.status == "no evidence"
    assert not _unseen_is_large(f)


@template(
    ADVICE,
    rf"Detecting (?P<top>a top-label|an) error of {amount('error')} with 80% power takes about "
    r"(?P<rows>\d[\d,]*) rows\.",
)
def rows_needed(f: Facts, m: re.Match[str]) -> None:
    """The largest error that these rows are too few for; how many it takes is of `sensitivity`."""
    assert f.status == "no evidence"
    assert (m["top"] != "an") == (f.evaluation.overview.kind == "multiclass")
    table = f.evaluation.detectable_error.table
    more = [(e, k) for e, k in zip(table["error"], table["rows"], strict=True) if k > f.n]
    error, needed = max(more)
    assert_number(m["error"], error)
    size = 10 ** max(0, math.floor(math.log10(needed)) - 1)
    assert number_of(m["rows"]) == math.ceil(needed / size) * size


OF = (
    rf"calibration error of class (?P<name>{NAME})|top-label calibration error|class-wise "
    rf"error|calibration error"
)


@template(
    GAIN,
    rf"Out of fold(?: on a random (?P<rows>\d[\d,]*) rows)?, this changes the log loss from "
    rf"{amount('before')}"
    r"(?: \((?P<zeros>\d[\d,]*) (?P<of>probability|probabilities) of 0 clipped\))? to "
    rf"{amount('after')} and the (?P<what>{OF}) from {amount('was')} to (?:{amount('now')}"
    rf"(?: \((?P<level>{PERCENT}) interval {interval('low', 'high')}\))?|below {amount('below')} "
    rf"\((?P<confidence>{PERCENT}) confidence\))\.",
)
def gain(f: Facts, m: re.Match[str]) -> None:
    """Before is recomputed; out of fold is that of `AutoCalibration`, tested elsewhere."""
    found = f.evaluation.recalibration
    assert f.status == "miscalibrated"
    assert found.recommended != IDENTITY
    table = found.table
    k = table["candidate"].tolist().index(found.recommended)
    binary = f.matrix is None or f.matrix.shape[1] == 2
    every = m["what"] == "class-wise error"
    what = {None: "calibration error"} if f.matrix is None else {}
    if f.matrix is not None and binary:
        assert_name(m["name"], f.options.get("classes", [0, 1])[1])
    elif f.matrix is not None:
        hidden = f.ends.low <= 0 < f.class_wise_ends.low
        assert m["what"] == ("class-wise error" if hidden else "top-label calibration error")
    else:
        assert m["what"] == what[None]
    if m["rows"] is None:
        assert found.rows == f.n
        chances = (
            np.where(f.y == 1, f.p, 1 - f.p)
            if f.matrix is None
            else (f.matrix * f.one_hot).sum(axis=1)
        )
        losses = -np.log(np.maximum(chances, np.finfo(float).tiny))
        assert_number(m["before"], float(np.average(losses, weights=f.w)))
        assert int(number_of(m["zeros"] or "0")) == f.impossible.sum()
        assert_number(m["was"], _before(f, binary, every))
    else:
        assert number_of(m["rows"]) == found.rows < f.n
        assert_number(m["before"], found.before["log_loss"])
        assert_number(m["was"], found.before["error"])
    assert (m["of"] or "probabilities") == ("probability" if m["zeros"] == "1" else "probabilities")
    assert_number(m["after"], table["score"][k])
    kind = "marginal_error" if every else "error"
    value, low, high = (table[f"{kind}{end}"][k] for end in ("", "_low", "_high"))
    if m["below"] is not None:
        assert value == 0
        assert_number(m["below"], high)
        assert_level(m["confidence"], 0.95)  # whatever level was asked for
        return
    assert_number(m["now"], value)
    assert (m["low"] is None) == (f.clusters is not None)
    if m["low"] is not None:
        assert_level(m["level"], 0.95)
        assert_number(m["low"], low)
        assert_number(m["high"], high)


def _before(f: Facts, binary: bool, every: bool) -> float:
    if every:
        return f.class_wise
    if f.matrix is not None and binary:
        return rms(debiased_square(f.matrix[:, 1], f.one_hot[:, 1], f.w, N_BINS))
    return f.error


MODELS = (
    r"None of the (?P<m>\d+) models is shown to be better calibrated than (?P<best>.+?)\. Verdict "
    r"for "
    rf"(?P<first>{NAME}), the first model: (?P<verdict>.*)"
)


def assert_models(found: object, errors: dict[str, float], alpha: float) -> None:
    """Raise unless the verdict names the models that no other is shown to beat."""
    m = re.fullmatch(MODELS, found.verdict)
    table = found.comparison
    pairs = list(zip(table["first"], table["second"], strict=True))
    beaten = set()
    for (a, b), p in zip(pairs, holm(table["pvalue"].tolist()), strict=True):
        if p <= alpha:
            beaten.add(a if errors[a] > errors[b] else b)
    best = [name for name in errors if name not in beaten]
    assert int(m["m"]) == len(errors)
    shown = m["best"].split(" or ")
    if len(best) == len(errors):
        assert shown == ["another"]
    else:
        assert len(shown) == len(best)
        for text, name in zip(shown, best, strict=True):
            assert_name(text, name)
    first = next(iter(errors))
    assert_name(m["first"], first)
    assert m["verdict"] == found.models[first].verdict
