"""Nixon et al. 2019: SCE, ACE and TACE by hand on six rows, and against the literal versions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import trueup as tu
from oracles import classes as oracle

PROBS = np.array(
    [
        [0.70, 0.20, 0.10],
        [0.60, 0.30, 0.10],
        [0.10, 0.80, 0.10],
        [0.20, 0.75, 0.05],
        [0.995, 0.004, 0.001],
        [0.15, 0.25, 0.60],
    ]
)
LABELS = np.array([0, 1, 1, 1, 0, 2])


def test_sce_by_hand() -> None:
    """Two bins, [0, ½] and (½, 1], for each class.

    Class 0: low .10 .20 .15, none of class 0: sum .45; high .70 .60 .995, two: 2.295 − 2.
    Class 1: low .20 .30 .004 .25, one: .754 − 1; high .80 .75, both: 1.55 − 2.
    Class 2: low .10 .10 .10 .05 .001, none: .351; high .60, one: .60 − 1.
    """
    expected = ((0.45 + 0.295) + (0.246 + 0.45) + (0.351 + 0.40)) / 6 / 3
    assert tu.sce(PROBS, LABELS, n_bins=2) == pytest.approx(expected, abs=1e-15)


def test_ace_by_hand() -> None:
    """Two ranges of three rows each; the tie at .10 of class 2 moves its cut.

    Class 0: .10 .15 .20 (none) and .60 .70 .995 (two). Class 1: .004 .20 .25 (none) and .30 .75
    .80 (all three). Class 2, .001 .05 .10 .10 .10 .60: boundaries after 1, 2 and 5 rows, of
    which 2 is nearest to 3: .051 (none), then .90 − 1.
    """
    expected = ((0.45 + 0.295) + (0.454 + 1.15) + (0.051 + 0.10)) / 6 / 3
    assert tu.ace(PROBS, LABELS, n_bins=2) == pytest.approx(expected, abs=1e-15)


def test_tace_by_hand() -> None:
    """Above 0.01: six, five and five rows. Cuts after 3; 2 of 5 (half-way: lower); 1 of 5.

    Class 1: .20 .25 (none), .30 .75 .80 (three). Class 2, .05 .10 .10 .10 .60: boundaries after
    1 and 4, both 1½ from 2½, so the lower: .05 (none), .90 − 1.
    """
    shares = (0.745 / 6) + (0.45 + 1.15) / 5 + (0.05 + 0.10) / 5
    assert tu.tace(PROBS, LABELS, n_bins=2) == pytest.approx(shares / 3, abs=1e-15)
    means = (0.45 / 3 + 0.295 / 3) + (0.45 / 2 + 1.15 / 3) + (0.05 / 1 + 0.10 / 4)
    literal = tu.tace(PROBS, LABELS, n_bins=2, literal=True)
    assert literal == pytest.approx(means / (3 * 2), abs=1e-15)


def test_the_threshold_is_strict_and_an_empty_class_adds_nothing() -> None:
    """Exactly 0.25 is out at 0.25; class 2 has nothing above and still counts in K = 3."""
    probs = [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]
    found = tu.tace(probs, [0, 2], threshold=0.25)
    assert found == pytest.approx((0.5 + 0.5 + 0) / 3, abs=1e-15)


def test_literal_and_shared_agree_when_ranges_are_equal() -> None:
    rng = np.random.default_rng(11)
    probs = rng.dirichlet([2, 2, 2], 60)
    labels = rng.integers(0, 3, 60)
    shared = tu.tace(probs, labels, n_bins=6, threshold=0.0)
    literal = tu.tace(probs, labels, n_bins=6, threshold=0.0, literal=True)
    assert literal == pytest.approx(shared, abs=1e-14)
    assert shared == pytest.approx(tu.ace(probs, labels, n_bins=6), abs=1e-14)


@st.composite
def matrices(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Rows that are multiples of 1/64, so that they sum to 1 exactly and tie often."""
    k, n = draw(st.integers(2, 4)), draw(st.integers(1, 25))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    probs = rng.multinomial(64, np.full(k, 1 / k), n) / 64
    if draw(st.booleans()):
        probs[rng.random(n) < 0.3] = np.eye(k)[0]
    weights = rng.integers(1, 5, n).astype(float) if draw(st.booleans()) else None
    return probs, rng.integers(0, k, n), weights


@given(matrices(), st.integers(1, 20), st.sampled_from([0.0, 0.01, 0.25, 0.5]))
def test_all_three_against_the_literal_versions(
    data: tuple[np.ndarray, np.ndarray, np.ndarray | None], n_bins: int, threshold: float
) -> None:
    probs, labels, w = data
    options = {"n_bins": n_bins, "weights": w}
    assert tu.sce(probs, labels, **options) == pytest.approx(
        oracle.sce(probs, labels, n_bins, w), abs=1e-14
    )
    assert tu.ace(probs, labels, **options) == pytest.approx(
        oracle.ace(probs, labels, n_bins, w), abs=1e-14
    )
    for literal in (False, True):
        found = tu.tace(probs, labels, threshold=threshold, literal=literal, **options)
        expected = oracle.tace(probs, labels, n_bins, threshold, w, literal)
        assert found == pytest.approx(expected, abs=1e-14)
