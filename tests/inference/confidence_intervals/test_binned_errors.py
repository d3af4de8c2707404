"""Ends of analytic intervals against naive sums, one bin after the other."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

import trueup as tu
from trueup.inference.cluster_tests.cluster_signs import signed
from trueup.inference.confidence_intervals.bootstrap import Bootstrap, _drawn_labels
from trueup.inference.confidence_intervals.interval import interval


@dataclass
class Bin:
    """One bin of rows, by definition."""

    p: np.ndarray
    y: np.ndarray
    w: np.ndarray
    whole: float  # all weight there is
    population: bool = False

    def __post_init__(self) -> None:
        weight = self.w.sum()
        self.share = weight / self.whole
        self.q = np.sum(self.w**2) / weight**2
        self.score = np.sum(self.w * self.p) / weight
        self.rate = np.sum(self.w * self.y) / weight
        self.gap = self.score - self.rate
        smoothed = (self.rate + self.q) / (1 + 2 * self.q)
        self.spread = smoothed * (1 - smoothed)
        away = self.p - self.y if self.population else self.y
        mean = np.sum(self.w * away) / weight
        variance = np.sum(self.w * (away - mean) ** 2) / weight
        if self.population:
            self.spread = max(self.spread, variance)
        self.noise = variance * self.q / (1 - self.q)
        self.real = max(self.gap**2 - self.noise, 0.0)


def bins_of(p, y, w, edges, population=False):
    index = np.searchsorted(edges[1:-1], p)
    rows = [np.flatnonzero(index == b) for b in range(len(edges) - 1)]
    return [Bin(p[r], y[r], w[r], w.sum(), population) for r in rows if len(r)]


def squared_ends(bins, z, dependence=1.0, unseen=0.0):
    """Ends of Σ s δ²: Wald below, and above the larger root of (t − estimate)² = z²(At + C)."""
    estimate = sum(b.share * (b.gap**2 - b.noise) for b in bins)
    constant = sum(2 * b.share**2 * b.spread**2 * b.q**2 / (1 - b.q) for b in bins)
    linear = sum(4 * b.share**2 * b.real * b.spread * b.q for b in bins)
    total = sum(b.share * b.real for b in bins)
    least = sum(4 * b.share**2 * b.spread * b.q for b in bins)
    if bins[0].population:
        whole = sum(b.share**2 * b.q for b in bins)
        moment = sum(b.share**2 * b.q * b.real**2 for b in bins)
        linear += max(0.0, moment - whole * total**2)
        least += whole * unseen
    constant, linear, least = (dependence * x for x in (constant, linear, least))
    slope = max(linear / total if total > 0 else 0.0, least)
    low = estimate - z * math.sqrt(linear + constant)
    b, c = 2 * estimate + z**2 * slope, estimate**2 - z**2 * constant
    return low, (b + math.sqrt(max(b**2 - 4 * c, 0.0))) / 2


def mean_ends(bins, z, dependence=1.0):
    """Ends of Σ s |δ|, from signs that are clear and noise where they are not."""
    plugin = sum(b.share * abs(b.gap) for b in bins)
    variance = third = excess = everywhere = 0.0
    for b in bins:
        own = b.share * math.sqrt(b.spread * b.q)
        most = math.sqrt(max(b.spread, b.score * (1 - b.score)) * b.q)
        everywhere += own**2
        if abs(b.gap) > 3 * most:
            variance += own**2
        else:  # moments of |N(0, 1)|
            variance += (1 - 2 / math.pi) * (b.share * most) ** 2
            third += math.sqrt(2 / math.pi) * (4 / math.pi - 1) * (b.share * most) ** 3
            excess += math.sqrt(2 / math.pi) * b.share * most * (1 + b.q / 4)
    if bins[0].population:
        each = [b.share**2 * b.q for b in bins]
        between = sum(e * b.gap**2 for e, b in zip(each, bins, strict=True))
        between = max(0.0, between - sum(each) * plugin**2)
        variance, everywhere = variance + between, everywhere + between
    skew = (z**2 - 1) / 6 * third / variance**1.5
    low = plugin - excess - math.sqrt(dependence * variance) * (z + skew)
    return low, plugin + z * math.sqrt(dependence * everywhere)


def sample(n: int, seed: int, power: float = 1.6):
    rng = np.random.default_rng(seed)
    p = rng.beta(2, 1, n)
    return p, (rng.random(n) < p**power).astype(float), rng.random(n) + 0.5


EDGES = np.array([0, 0.3, 0.5, 0.7, 0.9, 1])
BINS = tu.bins.FixedEdges(EDGES)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("target", ["conditional", "population"])
@pytest.mark.parametrize("power", [1.0, 1.6, 4.0])
def test_norms_1_and_2(level: float, weighted: bool, target: str, power: float) -> None:
    p, y, w = sample(400, 1, power)
    w = w if weighted else np.ones(400)
    options = {"confidence_level": level, "target": target, "weights": w if weighted else None}
    bins = bins_of(p, y, w, EDGES, target == "population")
    z = stats.norm.ppf((1 + level) / 2)
    square = [math.sqrt(max(0.0, end)) for end in squared_ends(bins, z)]
    found = interval(tu.BinnedError(binning=BINS, norm=2), p, y.astype(int), **options)
    assert (found.low, found.high) == pytest.approx(square, abs=1e-10)
    mean = mean_ends(bins, z)
    found = interval(tu.BinnedError(binning=BINS), p, y.astype(int), **options)
    expected = (max(0.0, mean[0]), min(mean[1], square[1]))
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-10)


def test_an_empty_bin_may_hold_any_error_of_new_rows() -> None:
    p, y, w = sample(200, 2)
    p = 0.5 + p / 2
    edges = np.array([0, 0.1, 0.45, 0.7, 1])
    bins, z = bins_of(p, y, w * 0 + 1, edges, True), stats.norm.ppf(0.975)
    estimator = tu.BinnedError(binning=tu.bins.FixedEdges(edges), norm=2)
    found = interval(estimator, p, y.astype(int), target="population")
    low, high = squared_ends(bins, z, unseen=1.0)  # labels all 1 at a score of 0
    assert (found.low, found.high) == pytest.approx(
        (math.sqrt(max(0.0, low)), math.sqrt(high)), abs=1e-10
    )
    assert high > squared_ends(bins, z)[1]


@pytest.mark.parametrize(("target", "dependence"), [("conditional", 2.0), ("population", 3.0)])
def test_classes_of_a_row_depend_on_each_other(target: str, dependence: float) -> None:
    """Labels at most double a variance; scores of K classes may multiply it by K."""
    rng = np.random.default_rng(3)
    g = rng.dirichlet(np.ones(3), 500)
    truth = g**1.5 / np.sum(g**1.5, axis=1, keepdims=True)
    labels = (rng.random((500, 1)) > np.cumsum(truth, axis=1)).sum(axis=1)
    bins = []
    for k in range(3):
        y = (labels == k).astype(float)
        bins += bins_of(g[:, k], y, np.ones(500), EDGES, target == "population")
    for b in bins:
        b.share /= 3
    z = stats.norm.ppf(0.975)
    square = [math.sqrt(max(0.0, end)) for end in squared_ends(bins, z, dependence)]
    classes = tu.BinnedError(tu.lens.ClassWise(), BINS, norm=2)
    found = interval(classes, g, labels, target=target)
    assert (found.low, found.high) == pytest.approx(square, abs=1e-10)
    low, high = mean_ends(bins, z, dependence)
    found = interval(tu.BinnedError(tu.lens.ClassWise(), BINS), g, labels, target=target)
    expected = (max(0.0, low), min(high, square[1]))
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-10)


def test_bins_of_one_row_are_merged_before_norm_2() -> None:
    p, y, _ = sample(60, 4)
    many = tu.BinnedError(binning=tu.EqualWidth(40), norm=2)
    table, merged = many.table(p, y.astype(int)).without_singles()
    assert merged > 0
    bins = bins_of(p, y, np.ones(60), table.edges)
    ends = squared_ends(bins, stats.norm.ppf(0.975))
    found = interval(many, p, y.astype(int))
    expected = [math.sqrt(max(0.0, end)) for end in ends]
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-10)
    assert found.notes["n_merged_bins"] == merged


def test_the_worst_bin() -> None:
    """Clopper–Pearson ends: above each bin for itself, below all bins and both sides together."""
    p, y, w = sample(300, 5)
    bins = bins_of(p, y, w * 0 + 1, EDGES)
    found = interval(tu.BinnedError(binning=BINS, norm=math.inf), p, y.astype(int))
    lows, highs = [], []
    for b in bins:
        ones, n = int(b.y.sum()), len(b.y)
        alone = stats.binomtest(ones, n).proportion_ci(0.95)
        together = stats.binomtest(ones, n).proportion_ci(1 - 0.05 / (2 * len(bins)))
        highs.append(max(b.score - alone.low, alone.high - b.score))
        lows.append(max(together.low - b.score, b.score - together.high))
    expected = (max(0.0, *lows), max(highs))
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("norm", [1.5, 3.0])
def test_other_norms(norm: float) -> None:
    p, y, w = sample(500, 6, 3.0)
    bins, z = bins_of(p, y, w * 0 + 1, EDGES), stats.norm.ppf(0.975)
    plugin = sum(b.share * abs(b.gap) ** norm for b in bins) ** (1 / norm)
    noise = [b.share ** (1 / norm) * math.sqrt(b.spread * b.q) for b in bins]
    moment = np.mean(np.abs(stats.norm.ppf((np.arange(200_000) + 0.5) / 200_000)) ** norm)
    middle = (moment * sum(x**norm for x in noise)) ** (1 / norm)
    power = 2 * norm / (2 - norm) if norm < 2 else math.inf
    lipschitz = max(noise) if norm > 2 else sum(x**power for x in noise) ** (1 / power)
    low, high = plugin - middle - z * lipschitz, plugin + z * lipschitz
    square = [math.sqrt(max(0.0, end)) for end in squared_ends(bins, z)]
    low = max(low, square[0] if norm > 2 else mean_ends(bins, z)[0])
    high = min(high, square[1]) if norm < 2 else high
    found = interval(tu.BinnedError(binning=BINS, norm=norm), p, y.astype(int))
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4)


def test_pooled_classes_are_not_debiased() -> None:
    """A row is several times in a bin: its own noise is no estimate, and is doubled."""
    rng = np.random.default_rng(8)
    g = rng.dirichlet(np.ones(3), 400)
    labels = (rng.random((400, 1)) > np.cumsum(g[:, ::-1], axis=1)).sum(axis=1)
    y = (labels[:, None] == np.arange(3)).astype(float)
    bins, z = bins_of(g.ravel(), y.ravel(), np.ones(1200), EDGES), stats.norm.ppf(0.975)
    plugin = math.sqrt(sum(b.share * b.gap**2 for b in bins))
    middle = math.sqrt(sum(b.share * b.spread * b.q for b in bins))
    lipschitz = math.sqrt(2) * max(math.sqrt(b.share * b.spread * b.q) for b in bins)
    found = interval(tu.BinnedError(tu.lens.Pooled(), BINS, norm=2), g, labels)
    expected = (plugin - middle - z * lipschitz, plugin + z * lipschitz)
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-10)


def test_a_bin_of_nearly_all_rows_has_exact_bounds() -> None:
    """No positive among 60 says less than normal noise: Clopper and Pearson's bound counts."""
    p, y = np.full(60, 0.03), np.zeros(60, int)
    exact = stats.binomtest(0, 60).proportion_ci(0.95)
    for norm in (1, 2, 3):
        found = interval(tu.BinnedError(norm=norm), p, y)
        assert found.low == 0
        assert found.high >= exact.high - 0.03 - 1e-12


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("clustered", [False, True])
def test_means_have_students_interval(clustered: bool, weighted: bool) -> None:
    """With one unit more: below one whose labels are the likely ones, above one of the others."""
    p, y, w = sample(12, 7)
    w = w if weighted else np.ones(12)
    cluster = np.repeat(np.arange(4), 3) if clustered else np.arange(12)
    data = tu.Forecasts.from_arrays(
        p,
        y.astype(int),
        weights=w if weighted else None,
        clusters=cluster if clustered else None,
    )
    units = len(np.unique(cluster))
    likely = np.average(np.minimum(p, 1 - p) ** 2, weights=w)
    unlikely = np.average(np.maximum(p, 1 - p) ** 2, weights=w)
    ends = []
    for more, side in ((likely, -1), (unlikely, 1)):
        loss, weight = np.append((p - y) ** 2, more), np.append(w, w.sum() / units)
        mean = np.average(loss, weights=weight)
        of = np.append(cluster, units)
        away = [np.sum((weight * (loss - mean))[of == c]) / weight.sum() for c in np.unique(of)]
        sd = math.sqrt((units + 1) / units * np.sum(np.square(away)))
        ends.append(mean + side * stats.t.ppf(0.95, units - 1) * sd)
    found = interval(tu.brier, data, confidence_level=0.9)
    assert found.estimate == pytest.approx(np.average((p - y) ** 2, weights=w))
    assert (found.low, found.high) == pytest.approx((max(0, ends[0]), min(1, ends[1])))


@pytest.mark.parametrize("score", [1.0, 0.95, 0.5])
@pytest.mark.parametrize("norm", [1, 2, 3])
def test_one_bin_of_all_rows_covers_by_enumeration(score: float, norm: float) -> None:
    """Every possible sample of 30 rows of one score, with its probability: no chance is left."""
    n, p = 30, np.full(30, score)
    error = tu.BinnedError(norm=norm)
    found = [interval(error, p, (np.arange(n) < k).astype(int)) for k in range(n + 1)]
    low, high = (np.array([getattr(each, end) for each in found]) for end in ("low", "high"))
    for rate in np.linspace(0.005, 0.995, 100):
        gap = abs(score - rate)
        holds = (low <= gap + 1e-12) & (gap <= high + 1e-12)
        assert stats.binom.pmf(np.arange(n + 1), n, rate)[holds].sum() >= 0.95


def test_noise_of_clusters_is_the_larger_of_two_kinds() -> None:
    rng = np.random.default_rng(3)
    p = rng.random(60).round(2)
    f = tu.Forecasts.from_arrays(p, rng.random(60) < p, clusters=np.arange(60) // 5)
    error, seed, many = tu.BinnedError(), 7, 39
    alone = [float(error(f.with_labels(_drawn_labels(f, seed, r)))) for r in range(many)]
    turned = signed(error, f, seed, many, lambda found: found.value)[1:]
    drawn = Bootstrap.of(error, f, many, seed)
    larger = np.maximum(np.sort(alone), np.sort(turned))
    np.testing.assert_allclose(drawn.null_values(), larger, atol=1e-15)
    basic = 2 * drawn.estimate - np.quantile(drawn.values, 0.975, method="weibull")
    chance = np.quantile(larger, 0.975, method="weibull")
    expected = max(0.0, min(basic, drawn.estimate - chance))
    assert drawn.ends("widest", 0.95).low == pytest.approx(expected, abs=1e-12)
