"""What `evaluate` refuses: one clear sentence, before any long work."""

from __future__ import annotations

import time

import numpy as np
import pytest

import trueup as tu
from trueup.errors import InputError

RNG = np.random.default_rng(0)
P = RNG.random(50_000)
Y = (RNG.random(50_000) < P).astype(int)
ONE = tu.Forecasts.from_arrays(P, Y)

REFUSED = {
    "metrics that are a text": ({"metrics": "ece"}, "`metrics` must be a list of metrics"),
    "metrics that are a set": ({"metrics": {"ece"}}, "`metrics` must be a list of metrics"),
    "an unknown metric": ({"metrics": ["eec"]}, "`metrics` must be among ace, brier"),
    "an unknown metric by name": ({"metrics": {"a": "eec"}}, "`metrics` must be among ace"),
    "a number as metric": ({"metrics": [3]}, "`metrics` must contain metrics or estimators"),
    "another headline": (
        {"metrics": {"rmsce_debiased": tu.ece}},
        "`metrics` must not redefine 'rmsce_debiased'",
    ),
    "no bins": ({"n_bins": 0}, "`n_bins` must be a whole number of at least 1; got 0"),
    "half a bin": ({"n_bins": 1.5}, "`n_bins` must be a whole number"),
    "a level of 2": ({"confidence_level": 2}, "`confidence_level` must be a number above 0"),
    "no resamples": ({"n_resamples": 0}, "`n_resamples` must be a whole number of at least 39"),
    "too few resamples": ({"n_resamples": 38}, "a confidence level of 0.95 needs that many"),
    "words for a flag": ({"recalibrate": "yes"}, "`recalibrate` must be True or False"),
    "words for the other flag": ({"advice": 1}, "`advice` must be True or False"),
    "words for a seed": ({"rng": "a"}, "`rng` must be a whole number"),
    "weights below 0": ({"weights": -P}, "`weights` must be finite and at least 0"),
    "groups of other rows": ({"groups": [1, 2]}, "`groups` must be as long as `probs`"),
}


def refused(words: str, *data, **options) -> None:
    start = time.process_time()
    with pytest.raises(InputError) as error:
        tu.evaluate(*data, **options)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert time.process_time() - start < 2


@pytest.mark.parametrize("case", REFUSED)
def test_options(case) -> None:
    options, words = REFUSED[case]
    refused(words, P, Y, **options)


MODELS = {
    "a list": ([P, P], "`models` must be probabilities by name"),
    "no model": ({}, "`models` must be probabilities by name; got {}"),
    "other rows": ({"a": P, "b": P[:-1]}, "as long as `b`"),
    "bad numbers": ({"a": P, "b": P + 1}, "`b` must be between 0 and 1"),
    "the same name twice": ({1: P, "1": P}, "`models` must have different names; got 1, 1"),
    "other classes": ({"a": P, "b": np.c_[1 - P, P]}, "`b` must be 1-D, as `a` is"),
    "checked before": ({"a": ONE}, "If `a` is a Forecasts, pass no other data"),
}


@pytest.mark.parametrize("case", MODELS)
def test_models(case) -> None:
    models, words = MODELS[case]
    refused(words, labels=Y, models=models)


def test_models_of_other_samples() -> None:
    other = tu.Forecasts.from_arrays(P, 1 - Y)
    refused("same samples as `a`; got other labels", models={"a": ONE, "b": other})
    refused("is a Forecasts, pass no other data", models={"a": ONE, "b": ONE}, weights=P)


def test_missing_data() -> None:
    refused("`labels` is required", P)
    refused("`probs` is required")
    refused("`probs` is required", labels=Y)
    refused("`labels` is required", models={"a": P})
    refused("Pass either `probs` or `models`, not both", P, Y, models={"a": P})
    refused("is a Forecasts, pass no other data", ONE, Y)
    refused("`probs` must have at least one row", [], [])


def test_labels_may_come_first_with_models() -> None:
    options = {"metrics": [], "n_resamples": 99, "recalibrate": False, "advice": False}
    first = tu.evaluate(Y[:60], models={"only": P[:60]}, **options)
    assert list(first.models) == ["only"]
    assert first.comparison is None
    alone = tu.evaluate(P[:60], Y[:60], **options)
    assert first.verdict == alone.verdict
    by_generator = tu.evaluate(P[:60], Y[:60], rng=np.random.default_rng(0), **options)
    assert by_generator.settings["seed"] > 0


def test_unknown_estimate_lists_the_known() -> None:
    options = {"metrics": [], "n_resamples": 99, "recalibrate": False, "advice": False}
    found = tu.evaluate(P[:60], Y[:60], **options)
    with pytest.raises(InputError, match="`name` must be one of 'rmsce_debiased'; got 'ece'"):
        found.estimate("ece")
