"""The bootstrap: which rows are drawn, and the ends of every method, by their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import trueup as tu
from trueup.inference.confidence_intervals.bootstrap import Bootstrap, Units, _drawn_labels

SEED, SETS = 7, 99


def data(n: int = 40, *, clusters: bool = False) -> tu.Forecasts:
    rng = np.random.default_rng(1)
    p = rng.random(n)
    ids = np.array(["c", "a", "b"])[np.arange(n) % 3] if clusters else None
    return tu.Forecasts.from_arrays(
        p, rng.random(n) < p**2, weights=rng.random(n) + 0.5, clusters=ids
    )


def skewed(forecasts: tu.Forecasts) -> float:
    """A statistic of scores, labels and weights whose distribution is skew."""
    return float(np.average((forecasts.scores - forecasts.labels) ** 3, weights=forecasts.weights))


def drawn(forecasts: tu.Forecasts) -> Bootstrap:
    return Bootstrap.of(skewed, forecasts, SETS, SEED)


def quantile(values: np.ndarray, share: float) -> float:
    """The value of rank share·(n + 1), between two ranks linearly."""
    ordered = np.sort(values)
    rank = share * (len(values) + 1)
    below = min(max(int(rank), 1), len(values))
    above = min(below + 1, len(values))
    return float(ordered[below - 1] + (rank - below) * (ordered[above - 1] - ordered[below - 1]))


def rows_of(r: int, count: int) -> np.ndarray:
    return np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(r,))).integers(
        count, size=count
    )


def test_rows_are_drawn_with_all_that_belongs_to_them() -> None:
    f = data()
    expected = [skewed(f.take(rows_of(r, 40))) for r in range(SETS)]
    assert drawn(f).values.tolist() == expected
    assert drawn(f).estimate == skewed(f)


def test_clusters_are_drawn_whole_and_in_order_of_their_names() -> None:
    f = data(clusters=True)
    members = [np.flatnonzero(f.clusters == name) for name in ("a", "b", "c")]
    expected = [
        skewed(f.take(np.concatenate([members[c] for c in rows_of(r, 3)]))) for r in range(SETS)
    ]
    assert drawn(f).values.tolist() == expected
    assert Units(f).count == 3


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_percentile_and_basic(level: float) -> None:
    found = drawn(data())
    first, last = (quantile(found.values, x) for x in ((1 - level) / 2, (1 + level) / 2))
    assert found.ends("percentile", level) == pytest.approx((first, last))
    basic = (2 * found.estimate - last, 2 * found.estimate - first)
    assert found.ends("basic", level) == pytest.approx(basic)


@pytest.mark.parametrize("clusters", [False, True])
def test_bca_is_that_of_efron(clusters: bool) -> None:
    f = data(clusters=clusters)
    found = drawn(f)
    values, estimate = found.values, found.estimate
    below = np.mean(values < estimate) + np.mean(values == estimate) / 2
    bias = stats.norm.ppf(below)
    units = [np.flatnonzero(f.clusters == c) for c in "abc"] if clusters else np.arange(40)[:, None]
    without = [skewed(f.take(np.setdiff1d(np.arange(40), unit))) for unit in units]
    away = np.mean(without) - np.array(without)
    acceleration = np.sum(away**3) / (6 * np.sum(away**2) ** 1.5)
    assert abs(acceleration) > 0.005
    ends = []
    for share in (0.025, 0.975):
        z = bias + stats.norm.ppf(share)
        ends.append(quantile(values, stats.norm.cdf(bias + z / (1 - acceleration * z))))
    assert found.ends("bca", 0.95) == pytest.approx(ends)


def test_the_jackknife_of_many_rows_leaves_out_groups() -> None:
    f = data(450)
    without = [skewed(f.take(np.flatnonzero(np.arange(450) % 200 != g))) for g in range(200)]
    away = np.mean(without) - np.array(without)
    expected = np.sum(away**3) / (6 * np.sum(away**2) ** 1.5)
    assert drawn(f)._acceleration() == pytest.approx(expected)


@pytest.mark.parametrize("clusters", [False, True])
def test_widest_takes_the_worse_of_two_ends(clusters: bool) -> None:
    f = data(clusters=clusters)
    error = tu.CumulativeError()
    found = Bootstrap.of(lambda g: float(error(g)), f, SETS, SEED)
    first, last = (quantile(found.values, x) for x in (0.025, 0.975))
    low, high = 2 * found.estimate - last, max(last, 2 * found.estimate - first)
    if not clusters:
        null = []
        for r in range(SETS):
            chance = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(r, 1)))
            labels = chance.random(f.n) < f.scores
            null.append(error(f.scores, labels, weights=f.weights))
        low = min(low, found.estimate - quantile(np.array(null), 0.975))
    assert found.ends("widest", 0.95) == pytest.approx((max(0.0, low), high))


def test_widest_is_not_below_either_end() -> None:
    """Where the percentile end is the lower one, the basic end counts, and the other way round."""
    f = data()
    for values, high in (([0.0] * 50 + [1.0] * 49, 1.2), ([0.5] * 50 + [1.4] * 49, 1.4)):
        found = Bootstrap(lambda _: 0.0, f, 0.6, np.array(values), lambda: np.zeros(3), Units(f))
        assert found.ends("widest", 0.9).high == pytest.approx(high)


@pytest.mark.parametrize("shape", ["scores", "matrix"])
def test_calibrated_labels_follow_the_predictions(shape: str) -> None:
    rng = np.random.default_rng(2)
    n = 30_000
    probs = rng.random(n) if shape == "scores" else rng.dirichlet([0.5, 1, 2], n)
    f = tu.Forecasts.from_arrays(probs, np.zeros(n, int))
    labels = _drawn_labels(f, SEED, 0)
    columns = np.column_stack([1 - probs, probs]) if shape == "scores" else probs
    for k in range(columns.shape[1]):
        for part in (columns[:, k] < 0.3, columns[:, k] >= 0.3):
            expected = columns[part, k].mean()
            assert np.mean(labels[part] == k) == pytest.approx(expected, abs=0.015)
    assert not np.array_equal(labels, _drawn_labels(f, SEED, 1))
