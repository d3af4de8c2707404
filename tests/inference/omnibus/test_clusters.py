"""The omnibus test of rows in clusters, against loops over the same signs and drawn labels."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import trueup as tu
from oracles.inference import clusters as oracle, omnibus as of_rows
from trueup.engines import using
from trueup.engines.draw_keys import keys_of
from trueup.forecasts import Forecasts
from trueup.inference.cluster_tests.cluster_draws import (
    FEW_CLUSTERS,
    SharedDraws,
    drawn_signs,
    few_clusters,
)
from trueup.inference.omnibus.clusters import ClusterColumns
from trueup.inference.omnibus.omnibus import BLOCKS
from trueup.inference.omnibus.statistics import NAMES
from trueup.results import CalibrationTestResult
from trueup.seeds import seed_of

SEED, DRAWS = 7, 19


def omnibus(forecasts, n_resamples=DRAWS, **options) -> CalibrationTestResult:
    return tu.calibration_test(
        forecasts, method="omnibus", n_resamples=n_resamples, rng=SEED, **options
    )


def drawn(f: Forecasts) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """The number of each row's cluster, the signs, and the labels that the library draws."""
    cluster = np.unique(f.clusters, return_inverse=True)[1].reshape(-1)
    keys = keys_of(seed_of(SEED), 4 * DRAWS)
    signs = drawn_signs(cluster.max() + 1, keys[:DRAWS])
    shared = SharedDraws.from_forecasts(f)
    labels = []
    for key in keys[DRAWS:].reshape(-1, 3):
        as_given = np.empty(f.n, np.int64)
        as_given[shared.order] = shared.labels(key[None])[0]
        labels.append(as_given)
    rows = f.rows(slice(None)) if f.is_matrix else f.scores[:, None]
    return cluster, signs, labels if oracle.draws_labels(rows, cluster, f.weights) else []


def data(kind: str, n: int, n_clusters: int, seed: int = 0, weighted: bool = False) -> Forecasts:
    rng = np.random.default_rng([seed, n, n_clusters])
    p = rng.random(n)
    if kind == "ties":
        p = rng.choice([0.2, 0.5, 0.9], n)
    if kind == "with certain":
        p = np.where(p < 0.3, rng.integers(0, 2, n), p)
    p[0] = 0.4
    y = (rng.random(n) < p**1.2).astype(np.int64)
    y[p == 1] = 1
    w = rng.random(n) + 0.2 if weighted else None
    return Forecasts.from_arrays(
        p, y, weights=w, clusters=rng.permutation(np.arange(n)) % n_clusters
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["smooth", "ties", "with certain"])
@pytest.mark.parametrize(
    ("n", "n_clusters"), [(30, 1), (30, 4), (100, 12), (40, 40), (130, 130), (150, 110)]
)
def test_pvalue_of_scores_is_that_of_loops(n, n_clusters, kind, weighted) -> None:
    f = data(kind, n, n_clusters, weighted=weighted)
    cluster, signs, labels = drawn(f)
    pools = [oracle.sign_pool(f.scores, f.labels, cluster, signs, f.weights)]
    if labels:
        pools.append(oracle.label_pool(f.scores, f.labels, cluster, labels, f.weights))
    found = omnibus(f)
    share = SharedDraws.from_forecasts(f).share
    assert found.pvalue == pytest.approx(oracle.pvalue(pools, cluster, share), abs=1e-12)
    assert found.notes["clusters"] == n_clusters
    assert found.notes["asymptotic"] is True
    assert found.notes.get("rough", False) == (n_clusters < 10)
    assert found.notes.get("sign_patterns") == (2 ** (n_clusters - 1) if n_clusters < 10 else None)
    assert list(found.notes["parts"]) == list(NAMES)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n_classes", "n_clusters"), [(2, 6), (10, 6), (3, 110)])
@pytest.mark.parametrize("concentration", [0.5, 0.02])
def test_pvalue_of_a_matrix_is_that_of_loops(
    n_classes, n_clusters, weighted, concentration
) -> None:
    rng = np.random.default_rng(n_classes)
    n = 36 if n_clusters < FEW_CLUSTERS else 120
    probs = rng.dirichlet(np.full(n_classes, concentration), n)
    y = (rng.random(n)[:, None] > np.cumsum(probs, axis=1)[:, :-1]).sum(axis=1)
    y = np.where(y == n_classes - 1, 0, y)  # no label of the last class
    w = rng.random(n) + 0.2 if weighted else None
    f = Forecasts.from_arrays(probs, y, weights=w, clusters=np.arange(n) % n_clusters)
    cluster, signs, labels = drawn(f)
    score, top = f.top
    problems = [(score, top), *((probs[:, k], np.full(n, k)) for k in range(n_classes))]
    pools = [
        [oracle.sign_pool(p, y == k, cluster, signs, w) for p, k in problems],
        [oracle.label_pool(p, y == k, cluster, [d == k for d in labels], w) for p, k in problems],
    ][: 2 if labels else 1]
    pvalues = [float(of_rows.matrix_pvalue_of_tables(pool[0], pool[1:])) for pool in pools]
    expected = oracle.joined(pvalues, cluster, SharedDraws.from_forecasts(f).share)
    found = omnibus(f)
    assert found.pvalue == pytest.approx(expected, abs=1e-12)
    assert found.notes["strongest"]["block"] in BLOCKS


def test_spread_is_the_mean_of_quadratic_forms_over_all_patterns_of_signs() -> None:
    f = data("smooth", 60, 6)
    columns = ClusterColumns(f)
    cells = of_rows.cells_of(f.scores)
    cluster = np.unique(f.clusters, return_inverse=True)[1]
    table = oracle.residual_table(cells, f.scores, f.labels, cluster)
    patterns = itertools.product([-1.0, 1.0], repeat=6)
    every = [of_rows.six_statistics(cells, oracle.signed_sums(table, s)) for s in patterns]
    found = columns.spread(np.array(table))[:, 0].sum(axis=0)
    for k in (0, 1, 3, 4):
        assert found[k] == pytest.approx(np.mean(every, axis=0)[k])


@pytest.mark.parametrize("n_clusters", [8, 120])
def test_order_of_rows_and_names_of_clusters_change_nothing(n_clusters) -> None:
    f = data("smooth", 200, n_clusters, weighted=True)
    order = np.random.default_rng(1).permutation(200)
    names = np.array([f"patient {c:03}" for c in f.clusters])
    shuffled = Forecasts.from_arrays(
        f.scores[order], f.labels[order], weights=f.weights[order], clusters=names[order]
    )
    assert omnibus(shuffled).notes == omnibus(f).notes
    assert omnibus(shuffled).pvalue == omnibus(f).pvalue


def test_engines_agree() -> None:
    f = data("smooth", 100, 9)
    with using("reference"):
        slow = omnibus(f)
    assert slow == omnibus(f)


def test_a_region_keeps_the_clusters_of_its_rows() -> None:
    f = data("smooth", 150, 10)
    kept = (f.scores > 0.3) & (f.scores <= 0.8)
    alone = Forecasts.from_arrays(f.scores[kept], f.labels[kept], clusters=f.clusters[kept])
    assert omnibus(f, statistic=tu.lens.Binary(where=(0.3, 0.8))).pvalue == omnibus(alone).pvalue


def test_many_clusters_change_sign_in_groups(monkeypatch) -> None:
    f = data("smooth", 400, 200)
    cluster = np.unique(f.clusters, return_inverse=True)[1] * 120 // 200
    grouped = Forecasts.from_arrays(f.scores, f.labels, clusters=cluster)
    expected = omnibus(grouped).pvalue
    monkeypatch.setattr("trueup.inference.omnibus.clusters.MOST_GROUPS", 120)
    assert omnibus(f).pvalue == expected


def test_draws_in_several_rounds_change_nothing(monkeypatch) -> None:
    f = data("smooth", 100, 9)
    whole = omnibus(f)
    monkeypatch.setattr("trueup.inference.omnibus.clusters.MOST_ENTRIES", 300)
    assert omnibus(f) == whole


@pytest.mark.parametrize(
    ("p", "weights", "few"),
    [(0.3, 1.0, False), (0.3, 200.0, True), (0.02, 1.0, True), (0.05, 1.0, False)],
)
def test_labels_are_drawn_where_few_clusters_vary(p, weights, few) -> None:
    """Of 120 clusters of two rows, thirty have other scores or weights than the rest."""
    cluster = np.arange(240) % 120
    scores, w = np.where(cluster < 30, 0.4, p), np.where(cluster < 30, weights, 1.0)
    f = Forecasts.from_arrays(scores, np.arange(240) % 2, weights=w, clusters=cluster)
    assert few_clusters(f) == few == oracle.draws_labels(scores[:, None], cluster, w)
    matrix = np.column_stack([1 - scores, scores])
    f = Forecasts.from_arrays(matrix, np.arange(240) % 2, weights=w, clusters=cluster)
    assert few_clusters(f) == few


def test_one_cluster_tells_nothing() -> None:
    assert omnibus(data("smooth", 50, 1)).pvalue == 1


def test_few_clusters_have_few_patterns_of_signs() -> None:
    f = data("smooth", 200, 4)
    wrong = Forecasts.from_arrays(f.scores, np.zeros(200, int), clusters=f.clusters)
    for method in ("omnibus", "cluster-signs"):
        found = tu.calibration_test(wrong, method=method, n_resamples=999, rng=0)
        assert found.pvalue > 0.1  # an eighth of the patterns is as large as the data


def test_an_impossible_outcome_refutes_the_model() -> None:
    p = np.r_[0.0, np.random.default_rng(0).random(39)]
    y = np.r_[1, np.zeros(39, int)]
    f = Forecasts.from_arrays(p, y, clusters=np.arange(40) % 8)
    assert omnibus(f).pvalue == 1 / (1 + DRAWS)
    assert omnibus(f).notes["clusters"] == 8
    matrix = Forecasts.from_arrays(np.column_stack([1 - p, p]), y, clusters=f.clusters)
    assert omnibus(matrix).pvalue == 1 / (1 + DRAWS)


def test_refusals() -> None:
    f = data("smooth", 30, 5)
    soft = Forecasts.from_arrays(f.scores, f.scores, soft_labels=True, clusters=f.clusters)
    with pytest.raises(tu.InputError, match="`labels` must be classes"):
        omnibus(soft)
    with pytest.raises(tu.InputError, match="`clusters` is set"):
        tu.calibration_test(f, statistic=tu.rmsce_debiased)


def shared_numbers(seed: int, n_clusters: int, size: int) -> Forecasts:
    """Calibrated rows, most of which share the number that decides their label."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(n_clusters), size)
    p = rng.beta(4, 1, len(cluster))
    own, sharing = rng.random(len(p)), rng.random(len(p)) < 0.7
    y = np.where(sharing, rng.random(n_clusters)[cluster], own) < p
    return Forecasts.from_arrays(p, y, clusters=cluster)


@pytest.mark.parametrize("n_clusters", [20, 100])
def test_calibrated_models_are_rarely_rejected(n_clusters) -> None:
    sets = 200
    rejected = ignoring = 0
    for seed in range(sets):
        f = shared_numbers(seed, n_clusters, 15)
        options = {"method": "omnibus", "n_resamples": 39, "rng": seed}
        rejected += tu.calibration_test(f, **options).pvalue <= 0.05
        ignoring += tu.calibration_test(f.scores, f.labels, **options).pvalue <= 0.05
    assert rejected / sets <= 0.05 + 3.5 * math.sqrt(0.05 * 0.95 / sets)
    assert ignoring / sets > 0.2


@pytest.mark.parametrize("n_clusters", [50, 200])
def test_a_wrong_model_is_found(n_clusters) -> None:
    f = shared_numbers(3, n_clusters, 8)
    wrong = Forecasts.from_arrays(f.scores**3, f.labels, clusters=f.clusters)
    assert omnibus(wrong, 99).pvalue == 0.01


@pytest.mark.parametrize("columns", [1, 3])
def test_the_null_names_what_is_independent(columns: int) -> None:
    rng = np.random.default_rng(0)
    probs = rng.random(60) if columns == 1 else rng.dirichlet(np.ones(columns), 60)
    labels = rng.integers(0, max(2, columns), 60)
    for clusters, what in ((None, "rows"), (np.arange(60) // 2, "clusters")):
        found = omnibus(Forecasts.from_arrays(probs, labels, clusters=clusters))
        assert found.null.endswith(f"with independent {what}")
