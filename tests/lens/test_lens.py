"""Lenses against the oracles, their regions, their ties, and their names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import trueup as tu
from oracles import lenses as oracle
from oracles.arithmetic import two_columns
from trueup import lens as lenses
from trueup.lens import Cells, Pairs

N = 120


def draw(k: int, ties: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of multiples of 1/16 (k = 1: scores), or smooth ones; labels; weights."""
    rng = np.random.default_rng([k, seed])
    labels = rng.integers(0, max(k, 2), N)
    weights = rng.integers(1, 9, N) / 8
    if k == 1:
        p = rng.integers(0, 17, N) / 16 if ties == "tied" else rng.random(N)
        return p, labels, weights
    if ties == "smooth":
        return rng.dirichlet(np.ones(k), N), labels, weights
    cuts = np.sort(rng.integers(0, 17, (N, k - 1)), axis=1)
    ends = np.hstack([np.zeros((N, 1)), cuts, np.full((N, 1), 16)])
    return np.diff(ends, axis=1) / 16, labels, weights


@pytest.fixture(params=[1, 2, 3, 7], ids=lambda k: f"K={k}")
def k(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture(params=["tied", "smooth"])
def ties(request: pytest.FixtureRequest) -> str:
    return request.param


def same(got: Pairs | Any, p: np.ndarray, y: np.ndarray, w: np.ndarray | None = None) -> None:
    """Bit for bit for ties in sixteenths; a renormalised row may differ by rounding."""
    np.testing.assert_allclose(got.p.astype(float), p, rtol=1e-15, atol=0)
    np.testing.assert_array_equal(got.y.astype(float), y)
    if w is None:
        assert got.w is None
    else:
        np.testing.assert_array_equal(got.w, w)


def same_cells(got: Cells, points: np.ndarray, rank: np.ndarray) -> None:
    assert got.m == points.shape[1]
    np.testing.assert_allclose(got.rows(got.kept), points, rtol=1e-14, atol=1e-16)
    np.testing.assert_array_equal(got.outcomes(got.kept), np.eye(got.m)[rank])


@pytest.mark.parametrize("weighted", [False, True])
def test_top_label(k: int, ties: str, weighted: bool) -> None:
    probs, labels, weights = draw(k, ties)
    w = weights if weighted else None
    f = tu.Forecasts.from_arrays(probs, labels, weights=w)
    same(tu.lens.TopLabel().pairs(f), *oracle.top_label(probs, labels), w)


@pytest.mark.parametrize("weighted", [False, True])
def test_top_label_given(k: int, ties: str, weighted: bool) -> None:
    probs, labels, weights = draw(k, ties)
    w = weights if weighted else None
    members = list(
        tu.lens.TopLabelByClass().members(tu.Forecasts.from_arrays(probs, labels, weights=w))
    )
    expected = oracle.top_label_given(probs, labels, w)
    assert [member.name for member in members] == list(expected)
    mass = np.array([v[2].sum() if weighted else len(v[0]) for v in expected.values()])
    np.testing.assert_allclose([m.share for m in members], mass / mass.sum(), rtol=1e-15)
    for member in members:
        same(member.pairs, *expected[member.name])


def test_one_vs_rest_and_class_wise(k: int, ties: str) -> None:
    probs, labels, weights = draw(k, ties)
    f = tu.Forecasts.from_arrays(probs, labels, weights=weights)
    expected = oracle.class_wise(probs, labels)
    for c, pairs in enumerate(expected):
        same(tu.lens.OneVsRest(c).pairs(f), *pairs, weights)
    members = list(tu.lens.ClassWise().members(f))
    if k == 1:  # the one problem of the positive class
        assert [(m.name, m.share) for m in members] == [(1, 1.0)]
        expected = expected[1:]
    else:
        assert [(m.name, m.share) for m in members] == [(c, 1 / k) for c in range(k)]
    for member, pairs in zip(members, expected, strict=True):
        same(member.pairs, *pairs, weights)


def test_class_weights_and_names() -> None:
    probs, labels, _ = draw(3, "tied")
    f = tu.Forecasts.from_arrays(probs, np.array(["a", "b", "c"])[labels], classes="abc")
    members = list(tu.lens.ClassWise((1, 2, 5)).members(f))
    assert [(m.name, m.share) for m in members] == [("a", 0.125), ("b", 0.25), ("c", 0.625)]


def test_pooled(k: int, ties: str) -> None:
    probs, labels, weights = draw(k, ties)
    pairs = tu.lens.Pooled().pairs(tu.Forecasts.from_arrays(probs, labels, weights=weights))
    expected = oracle.pooled(probs, labels, weights)
    columns = max(k, 2)  # 1-D probabilities stand for two columns
    by_class = [part.reshape(N, columns).T.ravel() for part in expected]  # oracle: row by row
    same(pairs, *by_class)
    assert not tu.lens.Pooled.independent


def test_canonical(k: int, ties: str) -> None:
    probs, labels, _ = draw(k, ties)
    cells = tu.lens.Canonical().cells(tu.Forecasts.from_arrays(probs, labels))
    same_cells(cells, two_columns(probs), labels)


def test_top_k(k: int, ties: str) -> None:
    probs, labels, _ = draw(k, ties)
    f = tu.Forecasts.from_arrays(probs, labels)
    for top in range(1, max(k, 2)):
        same_cells(tu.lens.TopK(top).cells(f), *oracle.top_k(probs, labels, top))


def test_partition(k: int, ties: str) -> None:
    probs, labels, _ = draw(k, ties)
    f = tu.Forecasts.from_arrays(probs, labels)
    classes = list(range(max(k, 2)))
    for groups in (
        [[c] for c in classes],
        [classes[1:], classes[:1]],
        [classes[::2], classes[1::2]],
    ):
        same_cells(tu.lens.Partition(groups).cells(f), *oracle.partition(probs, labels, groups))


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_binary_of_two_columns_is_that_of_one(kind: type) -> None:
    rng = np.random.default_rng(5)
    p = np.r_[rng.random(5000), rng.integers(0, 17, 500) / 16].astype(kind)
    if kind is np.float32:
        p = np.round(p * 2**20) / np.float32(2**20)  # so that 1 - p is exact
    y = rng.integers(0, 2, len(p))
    one = tu.Forecasts.from_arrays(p, y)
    two = tu.Forecasts.from_arrays(np.column_stack([1 - p, p]), y)
    for lens in (tu.lens.Binary(), tu.lens.OneVsRest(1), tu.lens.OneVsRest(0)):
        a, b = lens.pairs(one), lens.pairs(two)
        np.testing.assert_array_equal(a.p, b.p)
        np.testing.assert_array_equal(a.y, b.y)
        for binning in (tu.EqualWidth(15), tu.EqualMass(15)):
            estimator = tu.BinnedError(lens, binning)
            assert estimator(one) == estimator(two)


def test_top_label_of_one_dimension() -> None:
    p = np.array([0.2, 0.5, 0.8, 0.0, 1.0])
    pairs = tu.lens.TopLabel().pairs(tu.Forecasts.from_arrays(p, [0, 1, 1, 1, 0]))
    np.testing.assert_array_equal(pairs.p, np.maximum(p, 1 - p))
    np.testing.assert_array_equal(pairs.y, [True, False, True, False, False])  # 0.5 predicts 0


def test_binary_and_top_label_ask_different_questions() -> None:
    """Scores .2 with rate .3 and .8 with rate .9: binary .10, top label 0."""
    p = np.repeat([0.2, 0.8], 10)
    y = np.r_[np.arange(10) < 3, np.arange(10) < 9]
    two = np.column_stack([1 - p, p])
    assert tu.BinnedError(tu.lens.Binary())(two, y) == pytest.approx(0.10, abs=1e-15)
    assert tu.BinnedError(tu.lens.TopLabel())(two, y) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_the_lowest_class_wins_a_tie(engine: str) -> None:
    k = 19
    rows = np.zeros((k * k, k))
    first, second = np.divmod(np.arange(k * k), k)
    rows[np.arange(k * k), first] = rows[np.arange(k * k), second] = 0.5
    rows[first == second] *= 2
    try:
        with tu.engines.using(engine):
            for kind in (np.float64, np.float32, np.float16):
                _, top_class = tu.Forecasts.from_arrays(rows.astype(kind), first).top
                np.testing.assert_array_equal(top_class, np.minimum(first, second))
            _, top_class = tu.Forecasts.from_arrays(rows * 30, first, logits=True).top
            np.testing.assert_array_equal(top_class, np.minimum(first, second))
    except tu.CapabilityError as missing:
        pytest.skip(str(missing))


def test_ties_in_rank_keep_the_order_of_classes() -> None:
    f = tu.Forecasts.from_arrays([[0.25, 0.25, 0.5, 0.0], [0.25, 0.25, 0.25, 0.25]], [1, 3])
    cells = tu.lens.TopK(2).cells(f)
    np.testing.assert_array_equal(cells.rows(cells.kept), [[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])
    np.testing.assert_array_equal(cells.outcomes(cells.kept), [[0, 0, 1], [0, 0, 1]])


REGIONS = [
    ((0.25, 0.75), lambda p: 0.25 < p <= 0.75),
    ((0.5, 1), lambda p: 0.5 < p <= 1),
    (lambda p: p >= 0.5, lambda p: p >= 0.5),
]


@pytest.mark.parametrize(("where", "region"), REGIONS)
def test_regions_of_pairs(where: Any, region: Any) -> None:
    probs, labels, weights = draw(3, "tied")
    f = tu.Forecasts.from_arrays(probs, labels, weights=weights)
    for lens, pairs in (
        (tu.lens.TopLabel(where=where), oracle.top_label(probs, labels)),
        (tu.lens.OneVsRest(2, where=where), oracle.one_vs_rest(probs, labels, 2)),
    ):
        same(lens.pairs(f), *oracle.restrict(*pairs, region, weights))
    for member, pairs in zip(
        tu.lens.ClassWise(where=where).members(f), oracle.class_wise(probs, labels), strict=True
    ):
        same(member.pairs, *oracle.restrict(*pairs, region, weights))
    kept = list(tu.lens.TopLabelByClass(where=where).members(f))
    inside = oracle.restrict(*oracle.top_label(probs, labels), region)[0]
    assert sum(len(member.pairs) for member in kept) == len(inside)


def test_a_region_of_rows() -> None:
    probs, labels, _ = draw(3, "tied")
    f = tu.Forecasts.from_arrays(probs, labels)
    cells = tu.lens.Canonical(where=lambda rows: rows[:, 0] > 0.5).cells(f)
    np.testing.assert_array_equal(cells.kept, np.flatnonzero(probs[:, 0] > 0.5))


EMPTY = "`where` selects no predictions."


@pytest.mark.parametrize(
    "lens",
    [
        tu.lens.TopLabel(where=(0, 0.1)),
        tu.lens.OneVsRest(1, where=lambda p: p > 2),
        tu.lens.Pooled(where=(2, 3)),
        tu.lens.TopLabelByClass(where=(0, 0.1)),
        tu.lens.Canonical(where=lambda rows: rows[:, 0] > 2),
        tu.lens.TopK(1, where=lambda rows: rows[:, 0] > 2),
    ],
    ids=lambda lens: type(lens).__name__,
)
def test_an_empty_region_is_refused(lens: Any) -> None:
    f = tu.Forecasts.from_arrays(*draw(3, "tied")[:2])
    with pytest.raises(tu.InputError) as refused:
        tu.BinnedError(lens)(f)
    assert str(refused.value) == EMPTY


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: tu.lens.OneVsRest(-1),
            "`class_number` must be a whole number of at least 0; got -1.",
        ),
        (
            lambda: tu.lens.OneVsRest("a"),
            "`class_number` must be a whole number of at least 0; got 'a'.",
        ),
        (lambda: tu.lens.TopK(0), "`k` must be a whole number of at least 1; got 0."),
        (lambda: tu.lens.TopK(1.5), "`k` must be a whole number of at least 1; got 1.5."),
        (
            lambda: tu.lens.Partition([[0, 1], []]),
            "`groups` must be two groups of classes or more, none of them empty; got ((0, 1), ()).",
        ),
        (
            lambda: tu.lens.TopLabel(where=(0.5,)),
            "`where` must be a pair (low, high) or a function; got (0.5,).",
        ),
        (
            lambda: tu.lens.TopLabel(where=(0.5, 0.5)),
            "`where` must be a pair (low, high) with low below high; got (0.5, 0.5).",
        ),
        (
            lambda: tu.lens.ClassWise("ab"),
            "`class_weights` must be None or one number for each class; got 'ab'.",
        ),
        (
            lambda: tu.lens.ClassWise(3),
            "`class_weights` must be None or one number for each class; got 3.",
        ),
    ],
)
def test_refused_when_made(make: Any, message: str) -> None:
    with pytest.raises(tu.InputError) as refused:
        make()
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("lens", "message"),
    [
        (
            tu.lens.Binary(),
            "`lens` must be a lens for several classes if `probs` has more than two columns; "
            "got Binary(). "
            "Hint: OneVsRest(c) evaluates one class, TopLabel() the predicted one.",
        ),
        (tu.lens.OneVsRest(3), "`class_number` must be from 0 to 2; got 3."),
        (tu.lens.TopK(3), "`k` must be from 1 to 2; got 3."),
        (
            tu.lens.Partition([[0, 1], [1, 2]]),
            "`groups` must be groups that hold every class from 0 to 2 once; got ((0, 1), (1, 2)).",
        ),
        (
            tu.lens.ClassWise([1, 1]),
            "`class_weights` must be 3 numbers that are at least 0 and not all 0; got (1, 1).",
        ),
        (
            tu.lens.Canonical(where=(0, 1)),
            "`where` must be a function of (n, m) predictions for this lens; got (0, 1).",
        ),
        (
            tu.lens.TopLabel(where=lambda p: p[:1] > 0),
            f"`where` must be a function that returns {N} booleans; got True.",
        ),
    ],
)
def test_refusals(lens: Any, message: str) -> None:
    f = tu.Forecasts.from_arrays(*draw(3, "tied")[:2])
    with pytest.raises(tu.InputError) as refused:
        tu.BinnedError(lens)(f)
    assert str(refused.value) == message


SPECIFICATIONS = [
    (tu.lens.Binary(), "Binary()"),
    (tu.lens.TopLabel(), "TopLabel()"),
    (tu.lens.TopLabel(where=(0.9, 1)), "TopLabel(where=(0.9, 1))"),
    (tu.lens.TopLabelByClass(), "TopLabelByClass()"),
    (tu.lens.OneVsRest(4), "OneVsRest(class_number=4)"),
    (tu.lens.ClassWise(), "ClassWise(class_weights=None)"),
    (tu.lens.ClassWise((1, 2)), "ClassWise(class_weights=(1, 2))"),
    (tu.lens.Pooled(), "Pooled()"),
    (tu.lens.Canonical(), "Canonical()"),
    (tu.lens.TopK(3), "TopK(k=3)"),
    (tu.lens.Partition(((0, 1), (2,))), "Partition(groups=((0, 1), (2,)))"),
]


@pytest.mark.parametrize(("lens", "text"), SPECIFICATIONS)
def test_the_repr_is_the_specification(lens: Any, text: str) -> None:
    assert repr(lens) == text
    assert eval(text, vars(lenses)) == lens
    assert hash(eval(text, vars(lenses))) == hash(lens)


def test_a_region_given_as_a_list_is_the_same_lens() -> None:
    assert tu.lens.TopLabel(where=[0.9, 1]) == tu.lens.TopLabel(where=(0.9, 1))
    assert hash(tu.lens.TopLabel(where=[0.9, 1])) == hash(tu.lens.TopLabel(where=(0.9, 1)))


@pytest.mark.parametrize("where", [(0.8, 1.0), (0.0, 0.8)])
def test_a_region_is_not_rounded_to_the_type_of_the_scores(where: tuple[float, float]) -> None:
    """float32(0.8) is above 0.8, and lies on that side of a region as it does of a bin."""
    p = np.array([0.8, 0.8, 0.9, 0.2], np.float32)
    short, long = (
        tu.lens.Binary(where=where).pairs(tu.Forecasts.from_arrays(scores, [1, 0, 1, 0]))
        for scores in (p, p.astype(float))
    )
    assert short.p.tolist() == long.p.tolist()
