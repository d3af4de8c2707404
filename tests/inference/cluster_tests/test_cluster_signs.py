"""The test by signs of clusters: rows that share something do not look miscalibrated."""

from __future__ import annotations

import math

import numpy as np
import pytest

import trueup as tu
from trueup.engines import set_threads, using
from trueup.engines.draw_keys import keys_of
from trueup.engines.select import engine
from trueup.forecasts import Forecasts
from trueup.inference.cluster_tests import cluster_draws
from trueup.inference.hypothesis_tests.calibration_test import calibration_test


def clustered(seed: int, n_clusters: int, size: int) -> Forecasts:
    """Calibrated rows whose labels share a normal number in each cluster."""
    from scipy.special import ndtr

    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(n_clusters), size)
    p = rng.random(len(cluster))
    shared = rng.standard_normal(n_clusters)[cluster]
    y = ndtr(math.sqrt(0.5) * (shared + rng.standard_normal(len(p)))) < p
    return Forecasts.from_arrays(p, y, clusters=cluster)


def test_the_pvalue_by_hand() -> None:
    f = clustered(1, 120, 2)  # too many for labels to be drawn as well
    found = calibration_test(f, method="cluster-signs", n_resamples=50, rng=2)
    seed = int(np.random.default_rng(2).integers(1 << 63))
    table = tu.BinnedError(binning=tu.EqualMass(15)).measure(f).table
    index = np.searchsorted(table.edges[1:-1], f.scores)
    even = np.full(120, 1 << 63, np.uint64)
    signs = [
        np.ones(120),
        *(2.0 * engine.draws.draw_labels(even, k) - 1 for k in keys_of(seed, 50)),
    ]
    powers = []
    for sign in signs:
        gaps = np.bincount(index, sign[f.clusters] * (f.scores - f.labels), table.n_bins)
        powers.append(np.sum((gaps / table.count) ** 2 * table.count) / f.n)
    assert found.statistic == pytest.approx(powers[0], rel=1e-9)
    assert found.pvalue == (1 + np.sum(np.array(powers[1:]) >= powers[0] - 1e-12)) / 51
    assert found.notes["clusters"] == 120


@pytest.mark.parametrize(
    "statistic",
    [
        None,
        tu.CumulativeError(),
        tu.SmoothError(),
        tu.BinnedError(tu.lens.ClassWise()),
        tu.BinnedError(tu.lens.Canonical(), tu.bins.SimplexGrid(3)),
        tu.BinnedError(tu.lens.TopLabel(where=(0.5, 1))),
    ],
    ids=repr,
)
def test_same_pvalue_everywhere(statistic) -> None:
    pytest.importorskip("trueup.engines.native", reason="not built", exc_type=ImportError)
    probs, labels = tu.simulate.DirichletWorld((1, 1, 1)).sample_many(1, 120, 0)
    f = Forecasts.from_arrays(probs[0], labels[0], clusters=np.arange(120) % 40)
    found = set()
    for name in ("native", "reference"):
        for threads in (1, 2):
            set_threads(threads)
            with using(name):
                test = calibration_test(
                    f, statistic=statistic, method="cluster-signs", n_resamples=19, rng=3
                )
            set_threads(None)
            found.add(test.pvalue)
    assert len(found) == 1


def test_size() -> None:
    """Clusters of ten: the test holds 5%, the one that ignores clusters rejects too often."""
    by_signs = ignoring = 0
    for seed in range(300):
        f = clustered(seed, 50, 10)
        test = calibration_test(f, method="cluster-signs", n_resamples=39, rng=seed)
        by_signs += test.pvalue <= 0.05
        alone = Forecasts.from_arrays(f.scores, f.labels)
        ignoring += calibration_test(alone, n_resamples=39, rng=seed).pvalue <= 0.05
    assert by_signs <= 15 + 4 * math.sqrt(15 * 0.95)
    assert ignoring > 20


def test_labels_are_drawn_if_few_of_many_clusters_vary(monkeypatch) -> None:
    """With scores near 1 in three of four clusters, signs alone give another p-value."""
    f = clustered(2, 120, 3)
    p = np.where(f.clusters % 4 == 0, f.scores, 0.9999)
    f = Forecasts.from_arrays(p, np.where(f.clusters % 4 == 0, f.labels, 1), clusters=f.clusters)
    options = {"method": "cluster-signs", "n_resamples": 59, "rng": 1}
    both = calibration_test(f, **options).pvalue
    monkeypatch.setattr(cluster_draws, "FEW_EFFECTIVE", 0.0)
    assert calibration_test(f, **options).pvalue != both


def test_a_wrong_model_is_found() -> None:
    f = clustered(4, 200, 5)
    wrong = Forecasts.from_arrays(f.scores**2, f.labels, clusters=f.clusters)
    assert calibration_test(wrong, method="cluster-signs", n_resamples=99, rng=0).pvalue == 0.01


def test_refusals() -> None:
    f = clustered(0, 10, 3)
    for statistic in (tu.SweepError(), tu.BinnedError(norm=2, debias=True), tu.Brier()):
        with pytest.raises(tu.InputError, match="got a statistic that needs more than residuals"):
            calibration_test(f, statistic=statistic, method="cluster-signs")
    with pytest.raises(
        tu.InputError,
        match=r"This test requires `clusters`\. Hint: set `clusters` in Forecasts\.from_arrays",
    ):
        calibration_test(f.scores, f.labels, method="cluster-signs")
    soft = Forecasts.from_arrays(f.scores, f.scores, soft_labels=True, clusters=f.clusters)
    with pytest.raises(tu.InputError, match="`labels` must be classes"):
        calibration_test(soft, method="cluster-signs")
