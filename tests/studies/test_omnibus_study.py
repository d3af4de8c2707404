"""The study of the omnibus test: its p-values are those of the library, its errors are models."""

from __future__ import annotations

import numpy as np
import pytest

import trueup as tu
from studies.omnibus import columns, matrices
from studies.omnibus.datasets import error_of_ratio


@pytest.mark.parametrize("error", matrices.ERRORS)
def test_errors_of_matrices_give_distributions(error: str) -> None:
    p = matrices.probabilities(np.random.default_rng(0), 200)
    true = matrices.ERRORS[error](p, 0.3)
    assert true.sum(axis=1) == pytest.approx(np.ones(200))
    assert (true >= 0).all()
    assert not np.allclose(true, p)
    assert matrices.ERRORS[error](p, 0.0) == pytest.approx(p)


@pytest.mark.parametrize("error", columns.ERRORS)
def test_errors_of_columns_give_probabilities(error: str) -> None:
    s = np.random.default_rng(0).beta(4, 1, 200)
    true = columns.ERRORS[error](s, 0.2)
    assert ((true >= 0) & (true <= 1)).all()
    assert not np.allclose(true, s)


def test_pvalues_of_matrices_are_those_of_the_library_with_as_many_draws() -> None:
    draws = (29, 59)
    found = matrices.pvalues(50, draws, "one class shifted", 0.5, (3, 5))
    for number, of_set in zip((3, 4), found, strict=True):
        rng = np.random.default_rng([number, 50, matrices.CLASSES])
        p = matrices.probabilities(rng, 50)
        upto = np.cumsum(matrices.one_class_shifted(p, 0.5), axis=1)[:, :-1]
        y = (rng.random((50, 1)) >= upto).sum(axis=1)
        for few, of_pool in zip(draws, of_set, strict=True):
            test = tu.calibration_test(p, y, method="omnibus", n_resamples=few, rng=number)
            parts = test.notes["parts"]
            assert of_pool[0] == test.pvalue
            assert of_pool[1:7].tolist() == list(parts["top label"].values())
            assert of_pool[7:13].tolist() == list(parts["all classes"].values())
            assert (of_pool[13:] >= np.array(list(parts["one class"].values()))).all()


def test_standard_error_of_a_ratio_is_that_of_many_repetitions() -> None:
    rng = np.random.default_rng(1)
    both = rng.random((4000, 500)) < 0.7
    one = both & (rng.random(both.shape) < 0.9)
    ratios = one.mean(axis=1) / both.mean(axis=1)
    assert error_of_ratio(one[0], both[0]) == pytest.approx(ratios.std(), rel=0.1)
