"""Adjusted p-values: worked by hand, and compared with SciPy's."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scipy import stats

from trueup.errors import InputError
from trueup.inference.multiple_tests.adjusted_pvalues import benjamini_hochberg, holm

BOTH = [holm, benjamini_hochberg]


def test_by_hand() -> None:
    # sorted .005 .01 .03 .04; Holm: ×4, ×3, ×2, ×1, then never below the one before
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    # ×4/1, ×4/2, ×4/3, ×4/4, then never above the one after
    found = benjamini_hochberg([0.01, 0.04, 0.03, 0.005])
    assert found == pytest.approx([0.02, 0.04, 0.04, 0.02])


def test_ties_one_and_none() -> None:
    assert holm([0.2, 0.2, 0.2]) == pytest.approx([0.6, 0.6, 0.6])
    assert benjamini_hochberg([0.2, 0.2, 0.2]) == pytest.approx([0.2, 0.2, 0.2])
    for adjust in BOTH:
        assert adjust([0.3]).tolist() == [0.3]
        assert adjust([0.9, 1.0, 0.8]).max() == 1
        assert len(adjust(np.empty(0))) == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_laws(pvalues: list[float]) -> None:
    raw = np.array(pvalues)
    assert benjamini_hochberg(raw) == pytest.approx(stats.false_discovery_control(raw), rel=1e-12)
    rank = np.argsort(raw, kind="stable")
    for adjust in BOTH:
        found = adjust(raw)
        assert (found <= 1).all()
        assert (found >= raw * (1 - 1e-12)).all()
        assert (np.diff(found[rank]) >= 0).all()
    assert (holm(raw) >= benjamini_hochberg(raw) * (1 - 1e-12)).all()
    assert (holm(raw) <= np.minimum(1, len(raw) * raw) * (1 + 1e-12)).all()  # Bonferroni


@pytest.mark.parametrize("adjust", BOTH)
@pytest.mark.parametrize("wrong", [[0.1, float("nan")], [1.1], [-0.1], [[0.1]], 0.1])
def test_refusals(adjust, wrong: object) -> None:
    with pytest.raises(InputError, match="`pvalues` must be"):
        adjust(wrong)
