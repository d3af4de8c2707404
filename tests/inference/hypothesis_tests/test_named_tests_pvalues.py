"""Tests by name: p-values are shares of all possible outcomes, the same everywhere, never 0."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from support.null_samples import NAMED, RESAMPLED, calibrated, run, simplex
from trueup.engines import using
from trueup.engines.draw_keys import class_limits, keys_of, limits_of
from trueup.engines.select import engine
from trueup.engines.threads import set_threads
from trueup.errors import InputError
from trueup.estimators import CumulativeError
from trueup.inference.hypothesis_tests.null_distribution import (
    NullPairs,
    NullRows,
    resample_chunks,
    resampled_pvalue,
    resampling_notes,
)
from trueup.lens import Canonical
from trueup.seeds import seed_of

# The statistic of the omnibus test is a rank among the draws: it has an oracle of its own. The
# p-value of Cox's joint test is asymptotic.
WITH_A_VALUE = [name for name in RESAMPLED if name not in ("omnibus", "cox")]


@pytest.mark.parametrize("name", [*WITH_A_VALUE, "kuiper"])
@pytest.mark.parametrize("weighted", [False, True])
def test_p_values_are_shares_of_all_outcomes(name: str, weighted: bool) -> None:
    options = {"statistic": CumulativeError(statistic="kuiper")} if name == "kuiper" else {}
    test = "ks" if name == "kuiper" else name
    p = np.array([0.1, 0.35, 0.35, 0.6, 0.8, 0.8, 0.97])
    w = np.array([1.0, 2.0, 2.0, 0.5, 1.0, 1.0, 3.0]) if weighted else None
    every = [np.array(labels) for labels in itertools.product([0, 1], repeat=7)]
    chance = np.array([np.prod(np.where(labels, p, 1 - p)) for labels in every])
    options["weights"] = w
    values = np.array([run(test, p, v, n_resamples=1, **options).statistic for v in every])
    if name == "spiegelhalter":
        values = np.abs(values)
    for y in ([0, 1, 0, 1, 1, 0, 1], [1, 0, 1, 1, 0, 0, 1], [0, 0, 0, 1, 1, 1, 1]):
        observed = values[[np.array_equal(v, y) for v in every]][0]
        exact = chance[values >= observed - 1e-9].sum()
        found = run(test, p, y, n_resamples=2999, **options).pvalue
        assert found == pytest.approx(exact, abs=4.5 * math.sqrt(0.25 / 2999))


@pytest.mark.parametrize("name", ["spiegelhalter", "tcal", "skce", "skce-block"])
@pytest.mark.parametrize("weighted", [False, True])
def test_p_values_on_a_simplex_are_shares_of_all_outcomes(name: str, weighted: bool) -> None:
    g, y = simplex(5, 3, 12)
    w = np.array([1.0, 6.0, 0.5, 3.0, 2.0]) if weighted else None
    lens = Canonical() if name == "tcal" else None
    every = [np.array(labels) for labels in itertools.product(range(3), repeat=5)]
    chance = np.array([np.prod(g[np.arange(5), labels]) for labels in every])
    options = {"statistic": lens, "weights": w}
    values = np.array([run(name, g, v, n_resamples=1, **options).statistic for v in every])
    if name == "spiegelhalter":
        values = np.abs(values)
    observed = values[[np.array_equal(v, y) for v in every]][0]
    exact = chance[values >= observed - 1e-9].sum()
    found = run(name, g, y, n_resamples=2999, **options).pvalue
    assert found == pytest.approx(exact, abs=4.5 * math.sqrt(0.25 / 2999))


@pytest.mark.parametrize("name", NAMED)
def test_a_p_value_is_never_zero_and_the_same_everywhere(name: str) -> None:
    p, y = calibrated("uniform", 300, 10)
    g, labels = simplex(80, 3, 10)
    for probs, outcomes in ((p, y), (g, labels)):
        first = run(name, probs, outcomes)
        assert 0 < first.pvalue <= 1
        assert run(name, probs, outcomes).pvalue == first.pvalue
        with using("reference"):
            assert run(name, probs, outcomes).pvalue == first.pvalue
        try:
            set_threads(1)
            assert run(name, probs, outcomes).pvalue == first.pvalue
        finally:
            set_threads(None)
    wrong = run(name, np.where(y, 0.01, 0.99), y)
    assert 0 < wrong.pvalue < 0.05
    assert run(name, np.where(np.tile(y, 200), 0.01, 0.99), np.tile(y, 200)).pvalue > 0


@pytest.mark.parametrize("name", ["hosmer-lemeshow", "ks", "tcal", "skce"])
def test_the_order_of_rows_does_not_matter(name: str) -> None:
    p, y = calibrated("few", 200, 11)
    w = np.random.default_rng(1).integers(1, 4, 200).astype(float)
    order = np.random.default_rng(0).permutation(200)
    for weights in (None, w):
        mixed = None if weights is None else weights[order]
        first = run(name, p, y, weights=weights)
        assert run(name, p[order], y[order], weights=mixed).pvalue == first.pvalue


@pytest.mark.parametrize("name", RESAMPLED)
def test_weights_are_relative(name: str) -> None:
    p, y = calibrated("uniform", 150, 13)
    w = np.random.default_rng(1).random(150) + 0.1
    assert run(name, p, y, weights=w).pvalue == run(name, p, y, weights=8 * w).pvalue


@pytest.mark.parametrize("name", NAMED)
def test_certain_predictions(name: str) -> None:
    p = np.array([0.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    good, bad = p == 1, p == 0
    assert run(name, p, good).pvalue == 1
    if name != "skce-distribution-free":
        assert run(name, p, bad, n_resamples=99).pvalue == 0.01
        one_hot = np.column_stack([1 - p, p])
        assert run(name, one_hot, good.astype(int)).pvalue == 1
        assert run(name, one_hot, bad.astype(int), n_resamples=99).pvalue == 0.01


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("p", [0.0, 0.5, 0.9, 1.0])
def test_one_row(name: str, p: float) -> None:
    for y in (0, 1):
        found = run(name, [p], [y], n_resamples=99)
        assert 0 < found.pvalue <= 1
        assert not math.isnan(found.statistic)


def test_kuiper_knows_the_empty_sum() -> None:
    """One row has one sum: its distance from 0 counts, not from itself."""
    kuiper = CumulativeError(statistic="kuiper")
    assert run("ks", [0.6], [1], statistic=kuiper).pvalue == 1
    assert run("ks", [0.6], [0], statistic=kuiper).pvalue == pytest.approx(0.4, abs=0.07)


def test_flat_rows_tell_spiegelhalter_nothing() -> None:
    assert run("spiegelhalter", np.full(50, 0.5), np.arange(50) % 2).pvalue == 1
    assert run("spiegelhalter", np.full((50, 3), 1 / 3), np.arange(50) % 3).pvalue == 1


def test_conservative_tests_are_named_so() -> None:
    p, y = calibrated("piled", 100, 14)
    assert run("skce-block", p, y).notes.get("conservative") is True
    p, y = calibrated("uniform", 100, 14)
    for name in RESAMPLED:
        assert "conservative" not in run(name, p, y).notes
    assert run("ks", p, y, n_resamples=18).notes["conservative"] is True


def test_resampled_p_values() -> None:
    assert resampled_pvalue(3.0, np.array([1.0, 2.0, 4.0])) == 0.5
    assert resampled_pvalue(3.0, np.array([1.0, 3.0 - 1e-12, 4.0])) == 0.75
    assert resampled_pvalue(9.0, np.zeros(99)) == 0.01
    assert "conservative" not in resampling_notes(np.arange(99.0))
    assert resampling_notes(np.repeat([0.0, 1.0], [80, 19]))["conservative"] is True


def test_seeds() -> None:
    assert seed_of(3) == seed_of(np.int64(3)) == seed_of(np.random.default_rng(3))
    for wrong in (-1, True, 1.5, "0"):
        with pytest.raises(InputError, match="`rng` must be"):
            seed_of(wrong)


@pytest.mark.parametrize("shape", ["scores", "classes"])
def test_every_resample_has_draws_of_its_own(shape: str) -> None:
    """Rows enough that resamples are drawn in several chunks."""
    n = 1 << 16
    if shape == "scores":
        p = np.full(n, 0.5)
        rows: NullPairs | NullRows = NullPairs(p, p > 1, None)
        one_by_one = [engine.draws.draw_labels(limits_of(p), key) for key in keys_of(seed_of(3), 9)]
    else:
        g = np.full((n, 3), 1 / 3)
        rows = NullRows(g, np.zeros(n, np.int64), None)
        one_by_one = [
            engine.draws.draw_classes(class_limits(g), key) for key in keys_of(seed_of(3), 9)
        ]
    assert len(resample_chunks(9, n)) > 1
    found = rows.drawn(lambda y: y.sum(axis=1), 3, 9)
    assert found.tolist() == [int(y.sum()) for y in one_by_one]
