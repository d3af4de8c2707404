"""Groups of tied scores: identical results for any order of rows."""

from __future__ import annotations

import numpy as np
import pytest

import trueup as tu
from trueup.estimators.ties import TiedScores
from trueup.lens import Pairs

pytestmark = pytest.mark.usefixtures("each_engine")


@pytest.mark.parametrize("soft", [False, True])
def test_weighted_ties_have_the_same_bits_in_any_order(soft: bool):
    rng = np.random.default_rng(0)
    p = rng.integers(0, 5, 300) / 4
    y = rng.random(300) if soft else rng.random(300) < p
    w = rng.random(300) + 0.1
    first = TiedScores.of(Pairs(p, y, w))
    order = rng.permutation(300)
    second = TiedScores.of(Pairs(p[order], y[order], w[order]))
    assert not first.exact
    for a, b in zip(first.sums, second.sums, strict=True):
        assert a.tolist() == b.tolist()
    assert first.rank.tolist() == second.rank.tolist()
    assert first.hits.tolist() == second.hits.tolist()


def test_counts_and_weights_of_one_are_the_same_groups():
    rng = np.random.default_rng(1)
    p = rng.integers(0, 9, 200) / 8
    y = rng.random(200) < p
    counted, weighted = TiedScores.of(Pairs(p, y, None)), TiedScores.of(Pairs(p, y, np.ones(200)))
    assert counted.exact
    assert weighted.exact
    for a, b in zip(counted.sums, weighted.sums, strict=True):
        assert a == pytest.approx(b, abs=1e-12)
    assert counted.residual == pytest.approx(weighted.residual, abs=1e-12)
    assert len(counted) == 9


def test_swept_tables_of_predicted_classes_add_divided_rows():
    rng = np.random.default_rng(2)
    probs = rng.dirichlet([1, 1, 1], 200)
    labels = rng.integers(0, 3, 200)
    table = tu.SweepError(tu.lens.TopLabelByClass()).table(probs, labels)
    assert table.divides_rows
    assert not tu.SweepError(tu.lens.ClassWise()).table(probs, labels).divides_rows
