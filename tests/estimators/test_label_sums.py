"""An estimator outside the library that says its labels count through sums is taken at its word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import trueup as tu
from trueup.bins import FixedEdges
from trueup.estimators.pairs_estimator import PairsEstimator, Part
from trueup.lens import Pairs
from trueup.simulate import Beta, Power, World, study

BINS = FixedEdges([0, 0.25, 0.5, 1])


@dataclass(frozen=True, repr=False)
class LargestSum(PairsEstimator):
    """Largest |Σ(y − p)|/n of three bins, without saying more."""

    def measure_pairs(self, pairs: Pairs) -> Part:
        table = BINS.bin_table(pairs)
        return Part(float(self.largest(table, table.sums.label)), table)

    def largest(self, table: Any, label: Any) -> Any:
        return np.max(np.abs(label - table.sums.score), axis=-1) / table.sums.weight.sum()


@dataclass(frozen=True, repr=False)
class FastLargestSum(LargestSum):
    """The same, and all resamples or datasets at once."""

    @property
    def of_label_sums(self) -> bool:
        return True

    def powers_for_labels(self, table: Any, drawn: Any) -> Any:
        return self.largest(table, np.concatenate([table.sums.label[None], drawn]))

    def edges_before_data(self, n: int) -> Any:
        return np.array([0.25, 0.5])

    def values_of_sums(self, sums: Any, n: int) -> Any:
        return np.max(np.abs(sums.label - sums.score), axis=-1) / n


def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    probs = rng.dirichlet([1, 2, 2], 150)
    return probs, np.array([rng.choice(3, p=row) for row in probs])


def results_of(lens: Any, *data: Any) -> list[Any]:
    return [
        tu.calibration_test(*data, statistic=each(lens), n_resamples=999, rng=1)
        for each in (LargestSum, FastLargestSum)
    ]


def test_resamples_of_all_classes_at_once_are_those_one_by_one():
    slow, fast = results_of(tu.lens.ClassWise(), *rows())
    assert (fast.statistic, fast.pvalue) == (slow.statistic, slow.pvalue)


@pytest.mark.parametrize("column", [None, 0])
def test_resamples_of_one_score_at_once_have_the_same_law(column: int | None):
    probs, labels = rows()
    data = (probs, labels) if column is None else (probs[:, 0], labels == 0)
    slow, fast = results_of(None, *data)
    assert fast.statistic == slow.statistic
    assert abs(fast.pvalue - slow.pvalue) < 0.09  # four standard errors: rows draw in another order


def test_cells_of_a_simplex_are_refused_as_before():
    with pytest.raises(tu.InputError, match="yield scores, not points on the simplex"):
        tu.calibration_test(
            [[0.2, 0.3, 0.5]] * 4,
            [0, 1, 2, 2],
            statistic=FastLargestSum(tu.lens.Canonical()),
            n_resamples=99,
        )


def test_datasets_at_once_are_those_one_by_one():
    measures = {"slow": LargestSum(), "fast": FastLargestSum()}
    world = World(Beta(2.0, 1.0), Power(1.5))
    found = study({"it": world}, measures, [80], n_datasets=30, rng=2, progress=False).values
    np.testing.assert_allclose(found["it", "fast", 80], found["it", "slow", 80], rtol=1e-12)
