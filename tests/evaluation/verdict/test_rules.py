"""What holds for every sentence: its length, its signs, and what it never says."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

import numpy as np
import pytest

import trueup
from evaluation.verdict.facts import Facts
from evaluation.verdict.scenarios import SCENARIOS, evaluated
from evaluation.verdict.test_sentences import answered, facts_of
from trueup.evaluation.text import QUESTIONS

MOST_WORDS = 45
OF_VERDICT = ("calibrated", "magnitude", "frequency", "location", "recommendation")
WRONG = {
    "double spaces": r"  |\s$|^\s",
    "a space before a percent sign": r"\d %",
    "a missing number": r"\b(nan|NaN|None(?! of)|inf)\b",
    "the plural of one": r"\b1 (rows|clusters|other tests|groups|classes|outcomes)\b",
    "a p-value of 0": r"p [=≤<] 0(\.0*)?(?![.\d])",
    "a negative zero": r"[-−]0(\.0*)?(?![.\d])",
    "a hyphen for a minus sign": r"(?<![\w'])-\d",
    "many decimals": r"\d\.\d{13}",
    "unfinished brackets": r"\(\)|\( | \)|, ,|;;|\.\.",
}
FIRM = "contribute most|are too (high|low|extreme)|is (over|under)confident"
REPRODUCED = (
    "level of 90%",
    "weights",
    "a bad group",
    "two named columns",
    "soft labels, too high",
)


def shown(name: str) -> Iterator[tuple[Facts, str]]:
    """Every sentence of a scenario."""
    for f in facts_of(name):
        for _, sentence in answered(f):
            yield f, sentence


@pytest.mark.parametrize("name", SCENARIOS)
def test_sentences_are_short_and_clean(name) -> None:
    for _, sentence in shown(name):
        assert len(sentence.split()) <= MOST_WORDS, sentence
        plain = re.sub(r"'(?:[^'\\]|\\.)*'", "'name'", sentence)  # names are those of the user
        for what, pattern in WRONG.items():
            assert not re.search(pattern, plain), f"{what}: {sentence}"
        assert sentence.endswith(".")
        assert sentence[0].isupper() or sentence[0].isdigit()


@pytest.mark.parametrize("name", SCENARIOS)
def test_more_rows_are_no_advice_where_something_rejects(name) -> None:
    for f in facts_of(name):
        if f.rejecting or f.bad(f.classes) or f.bad(f.groups) or f.status == "miscalibrated":
            assert not re.search("more rows|takes about|too few rows", str(f.evaluation))
            assert "no recalibration is needed" not in f.evaluation.verdict


@pytest.mark.parametrize("name", SCENARIOS)
def test_answers_make_the_verdict(name) -> None:
    for f in facts_of(name):
        found = f.evaluation
        assert list(found.answers) == list(QUESTIONS)
        parts = [found.answers[each] for each in OF_VERDICT if found.answers[each]]
        assert found.verdict == " ".join(parts)
        assert found.miscalibrated == (f.status == "miscalibrated")
        noise = "may be sampling noise" in found.verdict
        assert not (noise and re.search(FIRM, found.verdict))


@pytest.mark.parametrize("name", REPRODUCED)
def test_the_call_that_reproduces_gives_the_same(name) -> None:
    """`classes`, weights, levels and soft labels are part of it, and so is what the data were."""
    given, found = SCENARIOS[name], evaluated(name)
    call, version, data = found.reproduce.split("; ")
    options = {k: v for k, v in given.options.items() if k in ("weights", "groups", "classes")}
    names = {"trueup": trueup, "probs": given.probs, "labels": given.labels} | options
    with given.lowered():
        again = eval(call, names)
    assert again.answers == found.answers
    assert again.fingerprint == found.fingerprint
    assert version == f"trueup {found.versions['trueup']}"
    assert data == f"data {_fingerprint(given.probs, given.labels, options)[:12]}"


def _fingerprint(probs: object, labels: object, options: dict[str, object]) -> str:
    """SHA-256 of shape, predictions, class numbers, and columns such as weights."""
    p = np.asarray(probs, np.float64)
    names = options.get("classes")
    y = np.array([names.index(each) for each in labels]) if names else np.asarray(labels)
    found = hashlib.sha256(f"{len(p)} {p.shape[1] if p.ndim == 2 else 2} {p.ndim == 2}".encode())
    found.update(p.tobytes())
    found.update(y.astype(np.float64 if y.dtype.kind == "f" else np.int64).tobytes())
    for name in ("weights", "groups"):
        if name in options:
            column = np.asarray(options[name])
            numbers = column.dtype.kind in "iufb"
            text = "\x1f".join(map(str, column.tolist())).encode()
            found.update(name.encode())
            found.update(column.astype(np.float64).tobytes() if numbers else text)
    return found.hexdigest()


def test_odd_names_stand_in_quotes_everywhere() -> None:
    found = evaluated("odd names of groups")
    for text in (found.answers["calibrated"], found.answers["location"], str(found.frequencies)):
        assert "'a, b; c (d)'" in text
    assert "group ''" in evaluated("groups of a matrix").verdict
    assert "Verdict for 'bad, old', the first model: " in evaluated("three models").verdict
