"""The study of tests of rows in clusters: its models are calibrated, its rows depend."""

from __future__ import annotations

import numpy as np
import pytest

from studies import cluster_tests
from studies.cluster_tests import PARTS, Batch
from studies.cluster_worlds import FORMS, World
from trueup.inference import calibration_test

AMOUNTS = {"normal": 0.6, "logit": 1.5, "beta": 0.3, "some": 0.4}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scores", ["uniform", "cifar100"])
def test_labels_are_calibrated_and_rows_depend(form: str, scores: str) -> None:
    data = World(scores, 4000, 5, "equal", form, AMOUNTS[form]).sample(1)
    residual = data.labels - data.scores
    variance = np.sum(data.scores * (1 - data.scores))
    for direction in (np.ones(data.n), data.scores - data.scores.mean()):
        sums = np.bincount(data.clusters, direction * residual)
        assert abs(sums.sum()) < 4 * np.sqrt(np.sum(sums**2))
    # Without dependence, the sum of squares would be near the sum of variances.
    assert np.sum(np.bincount(data.clusters, residual) ** 2) > 1.2 * variance


def test_rows_of_a_cluster_with_one_score() -> None:
    data = World("uniform", 30, 4, "one score", "normal", 0.6).sample(0)
    assert len(np.unique(data.scores)) == 30
    assert (data.scores.reshape(30, 4).std(axis=1) == 0).all()


@pytest.mark.parametrize("part", PARTS)
def test_a_batch_counts_rejections_of_the_library(part: str) -> None:
    found = cluster_tests.measure(Batch(part, 0, 0, 2))
    assert all(0 <= count <= 2 for count in found)
    if part == "size":
        world = PARTS[part][0]
        for count, method in zip(found, ("cluster-signs", "omnibus"), strict=True):
            pvalues = [
                calibration_test(
                    world.sample(k), method=method, n_resamples=cluster_tests.DRAWS, rng=k
                ).pvalue
                for k in range(2)
            ]
            assert count == sum(p <= cluster_tests.LEVEL for p in pvalues)


def test_batches_hold_every_dataset_once() -> None:
    keys = [key for key in cluster_tests.batches(450) if key.part == "size"]
    for place in range(len(PARTS["size"])):
        ends = [(key.first, key.last) for key in keys if key.place == place]
        assert ends == [(0, 200), (200, 400), (400, 450)]
