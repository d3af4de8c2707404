"""The deciding p-value of a sentence is that of an oracle with draws of its own."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evaluation.verdict.facts import Facts
from evaluation.verdict.scenarios import SCENARIOS, evaluated
from oracles.inference.omnibus import binary_pvalue, matrix_pvalue
from oracles.verdict.formulas import Array

DRAWS = 199
BINARY = ("alarm by mean", "alarm by kernel", "a range that may be noise", "few rows", "weights")
MATRICES = ("alarm by mean of one class", "one row of a matrix")
REST = ("one impossible outcome", "impossible outcomes", "an impossible outcome of three columns")


def _pvalue(f: Facts, keep: Array) -> float:
    rng = np.random.default_rng(20)
    if f.matrix is None:
        p, y = f.p[keep], f.y[keep]
        draws = (rng.random((DRAWS, len(p))) < p).astype(float)
        weights = f.w[keep] if f.weighted else None
        return float(binary_pvalue(p, y, list(draws), weights))
    g, y = f.matrix[keep], f.one_hot[keep].argmax(axis=1)
    upto = np.cumsum(g, axis=1)
    draws = (rng.random((DRAWS, len(g), 1)) > upto).sum(axis=2)
    return float(matrix_pvalue(g, y, list(np.minimum(draws, g.shape[1] - 1))))


def _facts(name: str) -> Facts:
    given = SCENARIOS[name]
    return Facts(given.probs, given.labels, given.options, given.soft, evaluated(name))


def _assert_near(found: float, other: float) -> None:
    """Within four standard errors of two independent sets of draws."""
    middle = (found + other) / 2
    error = math.sqrt(middle * (1 - middle) * 2 / DRAWS)
    assert abs(found - other) <= 4 * error + 1 / DRAWS


@pytest.mark.parametrize("name", [*BINARY, *MATRICES])
def test_pvalue_of_all_rows(name) -> None:
    f = _facts(name)
    _assert_near(f.omnibus, _pvalue(f, np.ones(f.n, bool)))


@pytest.mark.parametrize("name", REST)
def test_pvalue_of_the_rows_whose_outcome_was_possible(name) -> None:
    f = _facts(name)
    _assert_near(f.rest_pvalue, _pvalue(f, ~f.impossible))
