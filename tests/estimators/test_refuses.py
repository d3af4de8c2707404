"""What estimators refuse in their own fields, and every word they say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import trueup as tu

A_LENS = "`lens` must be a lens, such as TopLabel(), or None; got "
A_BINNING = "`binning` must be a binning, such as EqualMass(15); got "
A_NORM = "`norm` must be a number from 1 to 64, or math.inf; got "

REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: tu.BinnedError(tu.lens.TopLabel), A_LENS + "the class TopLabel."),
    (lambda: tu.BinnedError("top"), A_LENS + "'top'."),
    (lambda: tu.BinnedError(tu.EqualMass(15)), A_LENS + "EqualMass(n_bins=15)."),
    (lambda: tu.SweepError(tu.lens.ClassWise), A_LENS + "the class ClassWise."),
    (lambda: tu.BinnedError(binning=10), A_BINNING + "10."),
    (lambda: tu.BinnedError(binning=tu.EqualMass), A_BINNING + "the class EqualMass."),
    (lambda: tu.BinnedError(norm="max"), A_NORM + "'max'."),
    (lambda: tu.BinnedError(norm=True), A_NORM + "True."),
    (lambda: tu.SweepError(norm=0.5), A_NORM + "0.5."),
    (lambda: tu.SweepError(norm=float("nan")), A_NORM + "nan."),
    (
        lambda: tu.SweepError(binning=15),
        '`binning` must be "equal-mass" or "equal-width"; got 15.',
    ),
    (
        lambda: tu.BinnedError(norm=3, debias=True),
        "`debias` requires norm 1 or 2; got norm 3.",
    ),
    (
        lambda: tu.BinnedError(tu.lens.Pooled(), debias=True),
        "`debias` must be False for Pooled(), whose pairs depend on each other; got True.",
    ),
    (
        lambda: tu.BinnedError(tu.lens.Canonical(), debias=True),
        "`debias` requires a lens that yields scores; got Canonical().",
    ),
    (
        lambda: tu.BinnedError(debias=True, label_binned=True),
        "Set at most one of `debias`, `label_binned` and `equal_shares`.",
    ),
    (
        lambda: tu.BinnedError(distance="l2"),
        '`distance` must be "tv", "squared" or a function; got \'l2\'.',
    ),
    (
        lambda: tu.tace([0.5], [1], threshold=1.0),
        "`threshold` must be a number below 1; got 1.0.",
    ),
    (
        lambda: tu.tace([0.5], [1], threshold="low"),
        "`threshold` must be a number below 1; got 'low'.",
    ),
    (
        lambda: tu.BinnedError(tu.lens.ClassWise()).table([[0.5, 0.5]], [1])["cat"],
        "`name` must be one of 0, 1; got 'cat'.",
    ),
]


@pytest.mark.parametrize(("make", "message"), REFUSED)
def test_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(tu.InputError) as refused:
        make()
    assert str(refused.value) == message


@pytest.mark.parametrize("norm", [np.int64(2), np.float32(2), 2.0])
def test_norms_of_numpy_are_numbers(norm: float) -> None:
    assert tu.BinnedError(norm=norm)([0.2, 0.7], [0, 1]) == tu.rmsce([0.2, 0.7], [0, 1])
