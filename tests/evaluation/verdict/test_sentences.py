"""Every number of every sentence is recomputed from the data, by code that is not trueup's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evaluation.verdict import (
    sentences_of_advice,
    sentences_of_places,
    sentences_of_size,
    sentences_of_tests,
)
from evaluation.verdict.facts import Facts
from evaluation.verdict.scenarios import SCENARIOS, evaluated
from evaluation.verdict.template import TEMPLATES, matching, sentences_of

MODULES = (sentences_of_tests, sentences_of_size, sentences_of_places, sentences_of_advice)
GROUPS = "frequencies of groups"


def facts_of(name: str) -> Iterator[Facts]:
    """The facts of the model, or of each of several models."""
    given, found = SCENARIOS[name], evaluated(name)
    if not given.models:
        yield Facts(given.probs, given.labels, given.options, given.soft, found)
        return
    for model, probs in given.models.items():
        yield Facts(probs, given.labels, given.options, given.soft, found.models[model])


def answered(f: Facts) -> Iterator[tuple[str, str]]:
    """Every question with each sentence of its answer."""
    for question, answer in f.evaluation.answers.items():
        for sentence in sentences_of(question, answer):
            yield question, sentence
    shown = f.evaluation.frequencies
    of_groups = shown if f.soft or not shown else shown[1:]
    for each in of_groups:
        yield GROUPS, each.text


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_number_of_every_sentence(name) -> None:
    for f in facts_of(name):
        assert f.evaluation.status == f.status
        for question, sentence in answered(f):
            found = matching(question, sentence)
            names = [template.name for template, _ in found]
            assert len(found) == 1, f"{sentence!r} matches {names or 'no template'}"
            template, match = found[0]
            try:
                template.check(f, match)
            except AssertionError as wrong:
                raise AssertionError(f"{template.name}: {sentence!r}: {wrong}") from wrong


def test_every_template_is_written_somewhere() -> None:
    """Otherwise its check would be no test."""
    seen = {
        template.name
        for name in SCENARIOS
        for f in facts_of(name)
        for question, sentence in answered(f)
        for template, _ in matching(question, sentence)
    }
    assert set(TEMPLATES) - seen == set()


def test_every_block_of_the_omnibus_test_is_named_somewhere() -> None:
    shown = " ".join(evaluated(name).answers["precision"] for name in SCENARIOS)
    for words in (" of the top label (p", " summed over all classes (p", " of class 1 (p"):
        assert words in shown


def test_a_slope_is_told_in_words_of_both_directions() -> None:
    shown = " ".join(evaluated(name).answers["magnitude"] for name in SCENARIOS)
    assert "): the probabilities are too extreme" in shown
    assert "): the probabilities are not extreme enough" in shown


@pytest.mark.parametrize("name", [name for name, given in SCENARIOS.items() if given.models])
def test_verdicts_of_several_models(name) -> None:
    found, every = evaluated(name), list(facts_of(name))
    errors = dict(zip(found.models, (f.error for f in every), strict=True))
    if len(errors) == 1:
        assert found.verdict == next(iter(found.models.values())).verdict
    else:
        sentences_of_advice.assert_models(found, errors, every[0].alpha)
