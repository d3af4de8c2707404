"""Bins of scores: the same as the literal ones, on every engine, at edges, ties and extremes."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, strategies as st

import trueup as tu
from oracles import bins as oracle
from trueup.lens import Pairs

WHOLE = 'a whole number of at least 1, or "auto"'


Data = tuple[np.ndarray, np.ndarray, np.ndarray | None]


def edges_of(binning: object, p: np.ndarray, w: np.ndarray | None = None) -> list[float]:
    return binning.inner_edges(Pairs(p, np.zeros(len(p), int), w)).tolist()


def assert_bins(binning: object, data: Data, expected: oracle.Bins) -> None:
    """Every bin holds those rows: counts exactly, sums to rounding, on both engines."""
    p, y, w = data
    weight = np.ones(len(p)) if w is None else w
    for engine in engines():
        with tu.engines.using(engine):
            table = tu.BinnedError(binning=binning).table(p, y, weights=w)
        assert table.count.tolist() == [len(rows) for rows in expected]
        for name, terms in (
            ("weight", weight),
            ("score", weight * p),
            ("label", weight * y),
            ("cross", weight * p * y),
        ):
            sums = [math.fsum(terms[rows]) for rows in expected]
            np.testing.assert_allclose(getattr(table.sums, name), sums, rtol=1e-13, atol=0)


def engines() -> list[str]:
    """The reference, and the compiled engine where it is built."""
    try:
        with tu.engines.using("native"):
            return ["reference", "native"]
    except tu.CapabilityError:
        return ["reference"]


@st.composite
def scores(draw: st.DrawFn, n_bins: int = 15) -> np.ndarray:
    """Anything in [0, 1], few values, or edges k/B with their neighbors."""
    size = st.integers(1, 40)
    anything = st.floats(0, 1)
    few = st.sampled_from([0.0, 0.25, 0.3, 0.9, 1.0])
    on_edge = st.integers(0, n_bins).map(lambda k: k / n_bins)
    beside = st.tuples(on_edge, st.sampled_from([-1.0, 2.0])).map(
        lambda pair: min(max(float(np.nextafter(*pair)), 0.0), 1.0)
    )
    single = st.floats(0, 1, width=32)
    kind = draw(st.sampled_from([anything, few, on_edge | beside, anything | few, single]))
    p = np.array(draw(st.lists(kind, min_size=1, max_size=draw(size))))
    return p.astype(np.float32) if kind is single else p


@st.composite
def samples(draw: st.DrawFn, n_bins: int = 15) -> Data:
    p = draw(scores(n_bins))
    n = len(p)
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    whole = st.integers(1, 7).map(float)
    dyadic = st.integers(1, 50).map(lambda k: k / 16)
    weight = draw(st.sampled_from([None, whole, dyadic]))
    if weight is None:
        return p, y, None
    return p, y, np.array(draw(st.lists(weight, min_size=n, max_size=n)))


@given(st.data(), st.integers(1, 30))
def test_uniform_width_against_the_oracle(data: st.DataObject, n_bins: int) -> None:
    sample = data.draw(samples(n_bins))
    assert_bins(tu.EqualWidth(n_bins), sample, oracle.uniform_width(sample[0], n_bins))


@given(samples(), st.integers(1, 50))
def test_equal_mass_against_the_oracle(sample: Data, n_bins: int) -> None:
    p, _, w = sample
    expected = oracle.equal_mass_edges(p, n_bins, w)
    for engine in engines():
        with tu.engines.using(engine):
            assert edges_of(tu.EqualMass(n_bins), p, w) == expected
    assert_bins(tu.EqualMass(n_bins), sample, oracle.split_at(p, expected))


@given(samples(), st.lists(st.floats(0, 1, exclude_min=True, exclude_max=True), unique=True))
def test_fixed_edges_against_the_oracle(sample: Data, inner: list[float]) -> None:
    edges = [0.0, *sorted(inner), 1.0]
    expected = oracle.fixed_edges(sample[0], edges)
    assert_bins(tu.bins.FixedEdges(tuple(edges)), sample, expected)
    assert_bins(tu.bins.FixedEdges(tuple(edges[1:-1])), sample, expected)


@pytest.mark.parametrize("engine", engines())
def test_uniform_edges_are_nearest_floats_and_belong_to_the_bin_below(engine: str) -> None:
    """For B = 1 … 200: k/B is in bin k, the next float in bin k + 1, 0 in the first."""
    with tu.engines.using(engine):
        for n_bins in range(1, 201):
            exact = np.array([k / n_bins for k in range(1, n_bins + 1)])
            assert edges_of(tu.EqualWidth(n_bins), exact) == exact[:-1].tolist()
            error = tu.BinnedError(binning=tu.EqualWidth(n_bins))
            ones = np.ones(n_bins, int)
            table = error.table(exact, ones)
            assert table.n_bins == n_bins
            assert table.count.tolist() == ones.tolist()
            assert table.sums.score.tolist() == exact.tolist()
            above = error.table(np.append(np.nextafter(exact[:-1], 2), 0.0), ones)
            assert above.count.tolist() == ones.tolist()
            assert above.sums.score[0] == 0


def test_float32_scores_are_compared_as_the_numbers_they_are() -> None:
    """The float32 nearest to 0.1 is above 1/10, that nearest to 0.7 below 7/10."""
    p = np.array([0.1, 0.7], np.float32)
    count = tu.BinnedError(binning=tu.EqualWidth(10)).table(p, [0, 1]).count
    assert np.flatnonzero(count).tolist() == [1, 6]


@given(samples(), st.integers(1, 20), st.randoms())
def test_equal_mass_edges_do_not_depend_on_the_order_of_rows(
    sample: Data, n_bins: int, random: object
) -> None:
    p, _, w = sample
    order = list(range(len(p)))
    random.shuffle(order)
    moved = None if w is None else w[order]
    assert edges_of(tu.EqualMass(n_bins), p[order], moved) == edges_of(tu.EqualMass(n_bins), p, w)


@given(st.integers(0, 2**32 - 1), st.integers(2, 20))
def test_equal_mass_edges_of_any_weights_do_not_depend_on_the_order_of_rows(
    seed: int, n_bins: int
) -> None:
    rng = np.random.default_rng(seed)
    p, w = rng.integers(0, 30, 60) / 29, rng.exponential(size=60)
    order = rng.permutation(60)
    binning = tu.EqualMass(n_bins)
    assert edges_of(binning, p[order], w[order]) == edges_of(binning, p, w)


@given(scores(), st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_a_weight_of_two_is_a_row_repeated(p: np.ndarray, n_bins: int, seed: int) -> None:
    times = np.random.default_rng(seed).integers(1, 4, len(p))
    binning = tu.EqualMass(n_bins)
    repeated = edges_of(binning, np.repeat(p, times))
    for scale in (1.0, 0.25, 3.0):
        assert edges_of(binning, p, times * scale) == repeated
    times[0] = 1  # 0.1, 0.2 and 0.3 are counted exactly where the smallest weight divides them
    assert edges_of(binning, p, times * 0.1) == edges_of(binning, np.repeat(p, times))
    assert edges_of(binning, p, np.full(len(p), 2.0)) == edges_of(binning, np.repeat(p, 2))


def test_half_way_goes_to_the_lower_boundary() -> None:
    """Rank 2 of 4 lies half-way between the boundaries after 1 row and after 3."""
    assert edges_of(tu.EqualMass(2), np.array([0.1, 0.5, 0.5, 0.9])) == [0.1]


def test_ties_leave_fewer_bins_and_the_table_says_so() -> None:
    p = np.array([0.0] * 90 + [0.5] * 5 + [1.0] * 5)
    found = tu.BinnedError(binning=tu.EqualMass(10)).measure(p, p > 0.4)
    assert (found.table.n_bins_requested, found.table.n_bins) == (10, 2)
    assert found.notes == {"n_bins_requested": 10, "n_bins": 2}
    assert found.table.edges.tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("binning", [tu.EqualWidth(7), tu.EqualMass(7), tu.bins.VarianceTree(1)])
@pytest.mark.parametrize("score", [0.0, 0.3, 1.0])
def test_one_row(binning: object, score: float) -> None:
    table = tu.BinnedError(binning=binning).table([score], [1])
    assert table.count.sum() == 1
    assert tu.BinnedError(binning=binning)([score], [1]) == pytest.approx(1 - score, abs=1e-15)


@pytest.mark.parametrize("binning", [tu.EqualWidth("auto"), tu.EqualMass("auto")])
def test_auto_is_the_exact_cube_root_rounded_up(binning: object) -> None:
    assert [binning.n_bins_for(n) for n in range(1, 800)] == [
        oracle.auto_n_bins(n) for n in range(1, 800)
    ]
    for root in (10, 64, 100, 215, 464, 1000, 99_999, 10**6 + 3):
        assert binning.n_bins_for(root**3 - 1) == root
        assert binning.n_bins_for(root**3) == root
        assert binning.n_bins_for(root**3 + 1) == root + 1


def test_auto_counts_the_rows_that_are_used() -> None:
    p, y = np.linspace(0, 1, 100), np.ones(100, int)
    weights = np.r_[np.ones(27), np.zeros(73)]
    error = tu.BinnedError(binning=tu.EqualWidth("auto"))
    assert error.table(p, y).n_bins == 5
    assert error.table(p, y, weights=weights).n_bins == 3


@pytest.mark.parametrize("bad", [0, -3, 2.5, 3.0, True, None, "15", "Auto", float("nan")])
@pytest.mark.parametrize(
    ("binning", "rule"),
    [
        (tu.EqualWidth, WHOLE),
        (tu.EqualMass, WHOLE),
        (tu.bins.SimplexGrid, "a whole number of at least 1"),
    ],
)
def test_bad_numbers_of_bins_are_refused(binning: type, rule: str, bad: object) -> None:
    message = f"`n_bins` must be {rule}; got {bad!r}."
    with pytest.raises(tu.InputError, match=f"^{re.escape(message)}$"):
        binning(bad)


def test_named_metrics_refuse_bad_numbers_of_bins() -> None:
    message = f"`n_bins` must be {WHOLE}; got 0."
    for metric in (tu.ece, tu.mce, tu.rmsce, tu.sce, tu.ace, tu.tace, tu.ece_debiased):
        with pytest.raises(tu.InputError, match=f"^{re.escape(message)}$"):
            metric([0.5], [1], n_bins=0)


@pytest.mark.parametrize(
    "bad",
    [[0.5, 0.5], [0.7, 0.2], [-0.1, 1], [0, 1.5], [float("nan")], [[0.1, 0.2]], 0.5],
)
def test_bad_edges_are_refused(bad: object) -> None:
    message = f"`edges` must be increasing numbers between 0 and 1; got {bad!r}."
    with pytest.raises(tu.InputError, match=f"^{re.escape(message)}$"):
        tu.bins.FixedEdges(bad)


@pytest.mark.parametrize("name", ["min_samples", "min_leaf"])
@pytest.mark.parametrize("bad", [0, -1, 1.5, True, None])
def test_bad_sizes_of_a_tree_are_refused(name: str, bad: object) -> None:
    message = f"`{name}` must be a whole number of at least 1; got {bad!r}."
    with pytest.raises(tu.InputError, match=f"^{re.escape(message)}$"):
        tu.bins.VarianceTree(**{name: bad})


@pytest.mark.parametrize("binning", [tu.EqualWidth(5), tu.EqualMass(5), tu.bins.FixedEdges((0.5,))])
def test_bins_of_scores_do_not_serve_a_simplex(binning: object) -> None:
    message = (
        "`binning` must be a binning of a simplex, such as VarianceTree() or SimplexGrid(B); "
        f"got {binning!r}. "
        "Hint: the lens uses whole distributions, which have no single score."
    )
    with pytest.raises(tu.InputError, match=f"^{re.escape(message)}$"):
        tu.BinnedError(tu.lens.Canonical(), binning)([[0.2, 0.8]], [1])
