"""Labels drawn with the dependence of the data: their law, and the share that is estimated."""

from __future__ import annotations

import numpy as np
import pytest

import trueup as tu
from oracles.inference import clusters as oracle
from trueup.engines.draw_keys import STEP, class_limits, keys_of, limits_of, mixed
from trueup.engines.reference.draws import draw_classes, draw_labels
from trueup.forecasts import Forecasts
from trueup.inference.cluster_tests import cluster_signs
from trueup.inference.cluster_tests.cluster_draws import (
    NUMBERS,
    SHARES,
    SharedDraws,
    drawn_signs,
    likely_share,
)
from trueup.inference.hypothesis_tests.calibration_test import calibration_test
from trueup.seeds import seed_of


def shared_labels(seed: int, share: float, n_clusters: int, size: int) -> Forecasts:
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(n_clusters), size)
    p = rng.random(len(cluster))
    sharing = rng.random(len(p)) < share
    y = np.where(sharing, rng.random(n_clusters)[cluster], rng.random(len(p))) < p
    return Forecasts.from_arrays(p, y, clusters=cluster)


@pytest.mark.parametrize("share", [0.0, 0.4, 0.9])
def test_the_share_is_estimated(share: float) -> None:
    data = (shared_labels(seed, share, 80, 8) for seed in range(10))
    found = np.array([SharedDraws.from_forecasts(f).share for f in data])
    # Two rows share with probability share², and an estimate of 0 can err on one side alone.
    assert np.mean(found**2) == pytest.approx(share**2, abs=0.06)


@pytest.mark.parametrize("seed", range(5))
def test_the_likelihood_is_that_of_loops(seed: int) -> None:
    f = shared_labels(seed, 0.5, 4, 3)
    lower = np.where(f.labels, 0, f.scores)
    upper = np.where(f.labels, f.scores, 1)
    expected = oracle.likely_share(lower, upper, f.clusters, SHARES, NUMBERS)
    assert likely_share(lower, upper, f.clusters) == expected


def test_labels_by_hand() -> None:
    f = shared_labels(2, 0.6, 10, 5)
    draws = SharedDraws.from_forecasts(f)
    assert draws.share > 0
    keys = keys_of(3, 3)
    p, cluster = f.scores[draws.order], f.clusters[draws.order]
    own = draw_labels(limits_of(p), keys[0])
    sharing = draw_labels(limits_of(np.full(50, draws.share)), keys[1])
    number = mixed(keys[2] + np.arange(10, dtype=np.uint64) * STEP) / 2.0**64
    expected = [
        number[c] < score if shares else mine
        for c, score, shares, mine in zip(cluster, p, sharing, own, strict=True)
    ]
    assert draws.labels(keys[None])[0].tolist() == [int(label) for label in expected]


def test_classes_by_hand() -> None:
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(3), 60)
    labels = (rng.random(6)[np.arange(60) % 6, None] > np.cumsum(probs, axis=1)[:, :-1]).sum(axis=1)
    f = Forecasts.from_arrays(probs, labels, clusters=np.arange(60) % 6)
    draws = SharedDraws.from_forecasts(f)
    assert draws.share > 0.8
    keys = keys_of(4, 3)
    rows, cluster = probs[draws.order], f.clusters[draws.order]
    own = draw_classes(class_limits(rows), keys[0])
    sharing = draw_labels(limits_of(np.full(60, draws.share)), keys[1])
    number = mixed(keys[2] + np.arange(6, dtype=np.uint64) * STEP) / 2.0**64
    inside = (np.cumsum(rows, axis=1)[:, :-1] <= number[cluster, None]).sum(axis=1)
    assert draws.labels(keys[None])[0].tolist() == np.where(sharing, inside, own).tolist()


def test_labels_follow_their_scores_whatever_is_shared() -> None:
    f = shared_labels(5, 0.8, 6, 20)
    draws = SharedDraws.from_forecasts(f)
    keys = keys_of(1, 3 * 4000).reshape(-1, 3)
    mean = draws.labels(keys).mean(axis=0)
    assert np.abs(mean - f.scores[draws.order]).max() < 5 * np.sqrt(0.25 / 4000)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("seed_of_data", "share", "size", "signs_decide"), [(8, 0.5, 6, False), (2, 0.9, 15, True)]
)
def test_the_pvalue_of_few_clusters_by_hand(
    seed_of_data: int, share: float, size: int, signs_decide: bool, weighted: bool
) -> None:
    """The joint p-value of signs and of drawn labels, by loops over draws."""
    f = shared_labels(seed_of_data, share, 12, size)
    w = np.random.default_rng(1).random(f.n) + 0.5 if weighted else np.ones(f.n)
    f = Forecasts.from_arrays(
        f.scores, f.labels, clusters=f.clusters, weights=w if weighted else None
    )
    found = calibration_test(f, method="cluster-signs", n_resamples=59, rng=2)
    table = tu.BinnedError(binning=tu.EqualMass(15)).measure(f).table
    index = np.searchsorted(table.edges[1:-1], f.scores)
    cell = np.array([np.sum(f.scores < p) for p in f.scores]) * 15 // f.n
    of_cell = np.bincount(cell, w)

    def power(residual: np.ndarray) -> float:
        sums = np.bincount(index, w * residual)
        weight = np.bincount(index, w)
        return float(np.sum(sums**2 / weight) / w.sum())

    def relative(labels: np.ndarray) -> float:
        spread = 0.0
        for g in range(12):
            for c in range(15):
                rows = (f.clusters == g) & (cell == c)
                spread += np.sum((w * (f.scores - labels))[rows]) ** 2 / of_cell[c]
        return power(f.scores - labels) / spread

    seed = seed_of(2)
    residual = f.scores - f.labels
    signed = [power(s[f.clusters] * residual) for s in drawn_signs(12, keys_of(seed, 59))]
    draws = SharedDraws.from_forecasts(f)
    drawn = []
    for key in keys_of(seed, 4 * 59)[59:].reshape(-1, 3):
        labels = np.empty(f.n)
        labels[draws.order] = draws.labels(key[None])[0]
        drawn.append(relative(labels))
    by_signs = (1 + np.sum(np.array(signed) >= power(residual) - 1e-12)) / 60
    by_labels = (1 + np.sum(np.array(drawn) >= relative(f.labels) - 1e-12)) / 60
    assert by_signs != by_labels
    assert found.pvalue == oracle.joined([by_signs, by_labels], f.clusters, draws.share)
    if not weighted:
        assert signs_decide == (found.pvalue > by_labels)


@pytest.mark.parametrize(
    ("n_clusters", "share", "lenience"),
    [(9, 0.0, 1), (10, 0.0, 3), (30, 0.2, 3), (20, 0.97, None), (60, 0.0, 2), (60, 0.97, None)],
)
def test_lenience_is_less_the_more_is_shared_and_the_more_clusters_there_are(
    n_clusters: int, share: float, lenience: float | None
) -> None:
    cluster = np.repeat(np.arange(n_clusters), 20)
    draws = SharedDraws.from_forecasts(shared_labels(0, 0.5, n_clusters, 20))
    vars(draws)["share"] = share
    few = oracle.joined([0.4, 0.0], cluster, share)
    assert draws.lenience == pytest.approx(0.4 / few)
    if lenience is None:
        assert 1 < draws.lenience < 1.3
    else:
        assert draws.lenience == lenience


@pytest.mark.parametrize("n_clusters", [15, 120])
@pytest.mark.parametrize("weighted", [False, True])
def test_fused_sums_give_the_pvalue_of_labels(n_clusters, weighted, monkeypatch) -> None:
    f = shared_labels(9, 0.5, n_clusters, 4)
    w = np.random.default_rng(1).random(f.n) + 0.5 if weighted else None
    f = Forecasts.from_arrays(f.scores, f.labels, clusters=f.clusters, weights=w)
    options = {"method": "cluster-signs", "n_resamples": 39, "rng": 1}
    fused = [calibration_test(f, statistic=s, **options) for s in (None, tu.BinnedError())]
    monkeypatch.setattr(cluster_signs, "can_fuse", lambda *_: False)
    slow = [calibration_test(f, statistic=s, **options) for s in (None, tu.BinnedError())]
    assert [x.pvalue for x in fused] == [x.pvalue for x in slow]


def test_a_matrix_of_few_clusters() -> None:
    rng = np.random.default_rng(3)
    probs = rng.dirichlet(np.ones(4), 200)
    labels = (rng.random(200)[:, None] > np.cumsum(probs, axis=1)[:, :-1]).sum(axis=1)
    wrong = np.where(rng.random(200) < 0.5, (labels + 1) % 4, labels)
    options = {"method": "cluster-signs", "n_resamples": 99, "rng": 1}
    statistic = tu.BinnedError(tu.lens.ClassWise())
    clusters = np.arange(200) % 25
    right = Forecasts.from_arrays(probs, labels, clusters=clusters)
    off = Forecasts.from_arrays(probs, wrong, clusters=clusters)
    assert calibration_test(right, statistic=statistic, **options).pvalue > 0.05
    assert calibration_test(off, statistic=statistic, **options).pvalue == 0.01
