"""Consistency resampling: p-values that are right, exact, and the same on every engine."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import trueup as tu
from trueup.engines import set_threads, using
from trueup.engines.draw_keys import binned_limits, class_limits, keys_of, limits_of
from trueup.engines.select import engine
from trueup.forecasts import Forecasts
from trueup.inference.hypothesis_tests.binned_resamples import can_fuse, fused_powers
from trueup.inference.hypothesis_tests.calibration_test import calibration_test
from trueup.inference.hypothesis_tests.consistency_resampling import (
    _alone,
    _apart,
    resampled_powers,
)
from trueup.simulate.worlds.published import PUBLISHED

seeds = st.integers(0, 10**6)

BINNED = [
    tu.rmsce_debiased.estimator(),
    tu.BinnedError(),
    tu.BinnedError(norm=3),
    tu.BinnedError(norm=math.inf),
    tu.BinnedError(binning=tu.EqualMass(40), debias=True),
    tu.BinnedError(binning=tu.bins.FixedEdges((0.2, 0.3)), norm=2, debias=True),
    tu.BinnedError(binning=tu.bins.VarianceTree(10), norm=2),
    tu.BinnedError(binning=tu.EqualWidth(60), norm=2, debias=True),  # bins of one row
    tu.BinnedError(equal_shares=True),
]
OF_CLASSES = [
    tu.BinnedError(tu.lens.ClassWise(), tu.EqualMass(7), 2, debias=True),
    tu.BinnedError(tu.lens.ClassWise()),
    tu.BinnedError(tu.lens.ClassWise((1, 0, 2)), norm=math.inf),
    tu.BinnedError(tu.lens.Canonical(), tu.bins.VarianceTree(20)),
    tu.BinnedError(tu.lens.Canonical(), tu.bins.SimplexGrid(3), 2, distance="squared"),
    tu.BinnedError(tu.lens.Canonical(where=lambda q: q[:, 0] > 0.2), tu.bins.SimplexGrid(3)),
    tu.BinnedError(tu.lens.Canonical(), tu.bins.SimplexTriangles(3)),
    tu.BinnedError(tu.lens.TopK(2), tu.bins.VarianceTree(20)),
    tu.BinnedError(tu.lens.Partition(((2, 0), (1,))), tu.bins.VarianceTree(20), math.inf),
]
GENERIC = [
    tu.SweepError(),
    tu.CumulativeError(),
    tu.BinnedError(label_binned=True),
    tu.BinnedError(norm=2, debias="residual"),
    tu.KernelError(),
    tu.Brier(),
]
OF_CLASSES_GENERIC = [
    tu.SweepError(tu.lens.ClassWise()),
    tu.BinnedError(tu.lens.Pooled()),
    tu.BinnedError(tu.lens.TopLabelByClass()),
    tu.KernelError(),
    tu.LogLoss(),
]


def binary(seed: int, n: int, rounded: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.beta(0.7, 0.4, n)
    p = np.round(p, 1) if rounded else p
    return p, rng.random(n) < p


def classes(seed: int, n: int, temperature: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    probs, labels = tu.simulate.DirichletWorld((0.5, 1, 1), temperature).sample_many(1, n, seed)
    return probs[0], labels[0]


@settings(max_examples=10)
@given(seed=seeds, n=st.sampled_from([1, 2, 7, 150]), rounded=st.booleans(), weighted=st.booleans())
def test_fused_is_what_labels_give(seed: int, n: int, rounded: bool, weighted: bool) -> None:
    """The fused powers are those of the drawn labels, measured one by one."""
    p, y = binary(seed, n, rounded)
    w = np.random.default_rng(seed).random(n) + 0.1 if weighted else None
    f, keys = Forecasts.from_arrays(p, y, weights=w), keys_of(seed, 6)
    for statistic in BINNED:
        assert can_fuse(statistic, f)
        table = statistic.measure(f).table
        table = table.without_singles()[0] if statistic.debias else table.nonempty()
        index = np.searchsorted(table.edges[1:-1], p, side="left")
        rows, place = binned_limits(p, index, table.n_bins)
        drawn = [y]
        for key in keys:
            if weighted:
                drawn.append(engine.draws.draw_classes(limits_of(p)[:, None], key) == 0)
            else:
                drawn.append(engine.draws.draw_labels(rows.limit, key)[place])
        one_by_one = [statistic.measure(f.with_labels(labels)).pth_power for labels in drawn]
        np.testing.assert_allclose(fused_powers(statistic, f, keys), one_by_one, atol=1e-12)


@settings(max_examples=8)
@given(seed=seeds, n=st.sampled_from([2, 30, 200]), weighted=st.booleans())
def test_fused_classes_are_what_labels_give(seed: int, n: int, weighted: bool) -> None:
    g, labels = classes(seed, n)
    w = np.random.default_rng(seed).random(n) + 0.1 if weighted else None
    f, keys = Forecasts.from_arrays(g, labels, weights=w), keys_of(seed, 4)
    drawn = [
        labels,
        *(engine.draws.draw_classes(class_limits(f.rows(slice(None))), k) for k in keys),
    ]
    for statistic in OF_CLASSES:
        if getattr(statistic.lens, "where", None) is not None and not (g[:, 0] > 0.2).any():
            continue
        assert can_fuse(statistic, f)
        one_by_one = [statistic.measure(f.with_labels(x)).pth_power for x in drawn]
        np.testing.assert_allclose(fused_powers(statistic, f, keys), one_by_one, atol=1e-12)


def test_what_is_not_fused() -> None:
    f, m = Forecasts.from_arrays(*binary(0, 20)), Forecasts.from_arrays(*classes(0, 20))
    assert not any(can_fuse(statistic, f) for statistic in GENERIC)
    assert not any(can_fuse(statistic, m) for statistic in OF_CLASSES_GENERIC)


def named(statistic: object) -> str:
    """The same name in every process, whatever the address of a function in it."""
    return repr(statistic).split(" at 0x")[0]


@pytest.mark.parametrize("statistic", [*BINNED, *GENERIC], ids=named)
def test_same_pvalue_everywhere(statistic) -> None:
    p, y = binary(3, 300, rounded=isinstance(statistic, tu.CumulativeError))
    _same_everywhere(p, y, statistic, "consistency")


@pytest.mark.parametrize("statistic", [None, *OF_CLASSES, *OF_CLASSES_GENERIC], ids=named)
def test_same_pvalue_everywhere_for_classes(statistic) -> None:
    _same_everywhere(*classes(5, 300), statistic, "consistency")


@pytest.mark.parametrize(
    "statistic", [None, tu.SweepError(), OF_CLASSES[0], tu.LogLoss()], ids=repr
)
def test_same_unconditional_pvalue_everywhere(statistic) -> None:
    _same_everywhere(*classes(6, 200), statistic, "consistency-unconditional")


def _same_everywhere(probs, labels, statistic, method: str) -> None:
    pytest.importorskip("trueup.engines.native", reason="not built", exc_type=ImportError)
    found = set()
    for name in ("native", "reference"):
        for threads in (1, 2):
            set_threads(threads)
            try:
                with using(name):
                    test = calibration_test(
                        probs, labels, statistic=statistic, method=method, n_resamples=29, rng=8
                    )
            finally:
                set_threads(None)
            found.add(test.pvalue)
    assert len(found) == 1


def test_many_chunks_on_two_threads() -> None:
    """Rows enough for several chunks of resamples, labels drawn in several blocks of rows."""
    g, labels = classes(1, 100_000)
    f = Forecasts.from_arrays(g, labels)
    for statistic in (tu.BinnedError(), tu.BinnedError(tu.lens.Pooled()), OF_CLASSES[0]):
        powers = []
        for threads in (1, 2):
            set_threads(threads)
            powers.append(resampled_powers(statistic, f, 4, 5))
            set_threads(None)
        assert np.array_equal(*powers)


def test_the_pvalue_by_hand() -> None:
    p, y = binary(1, 200)
    order = np.argsort(p)  # draws belong to rows in order of their scores
    p, y = p[order], y[order]
    result = calibration_test(p, y, statistic=tu.SweepError(), n_resamples=99, rng=2)
    seed = int(np.random.default_rng(2).integers(1 << 63))
    drawn = [tu.ece_sweep(p, engine.draws.draw_labels(limits_of(p), k)) for k in keys_of(seed, 99)]
    assert result.statistic == tu.ece_sweep(p, y)
    assert result.pvalue == (1 + sum(x >= result.statistic for x in drawn)) / 100
    assert result.notes["estimator"] == repr(tu.SweepError())
    assert result.notes["n_resamples"] == 99
    assert result.notes["asymptotic"] is False


def test_the_unconditional_pvalue_by_hand() -> None:
    """Rows of one key are drawn with replacement, labels for them with the next key."""
    p, y = binary(1, 60)
    statistic = tu.BinnedError(norm=2)
    result = calibration_test(
        p, y, statistic=statistic, method="consistency-unconditional", n_resamples=99, rng=2
    )
    keys = keys_of(int(np.random.default_rng(2).integers(1 << 63)), 198)
    drawn = []
    for rows_key, labels_key in keys.reshape(-1, 2):
        rows = p[engine.draws.draw_rows(60, rows_key)]
        labels = engine.draws.draw_labels(limits_of(rows), labels_key)
        drawn.append(statistic.measure(rows, labels).pth_power)
    observed = statistic.measure(p, y).pth_power
    assert result.pvalue == (1 + sum(x >= observed for x in drawn)) / 100
    assert result.notes["asymptotic"] is True


def test_equal_mass_bins_of_drawn_rows_are_as_large_as_those_of_the_data() -> None:
    """Copies of a drawn row are moved apart, so that bins of equal mass can part them."""
    sizes = []

    class Sizes(type(tu.rmsce_debiased.estimator())):
        def measure_forecasts(self, forecasts):
            found = super().measure_forecasts(forecasts)
            sizes.append(found.table.count.tolist())
            return found

    p, y = binary(4, 30)
    statistic = Sizes(binning=tu.EqualMass(15), norm=2, debias=True)
    calibration_test(
        p, y, statistic=statistic, method="consistency-unconditional", n_resamples=9, rng=0
    )
    assert len(sizes) > 10
    assert all(each == [2] * 15 for each in sizes)


def test_copies_of_rows_are_moved_apart_where_the_data_do_not_tie() -> None:
    p = np.array([0.0, 0.2, 0.5, 0.5, 0.9, 1.0])
    f = Forecasts.from_arrays(p, [0, 0, 1, 0, 1, 1], features=np.arange(6.0)[:, None])
    drawn = np.array([4, 0, 1, 4, 2, 3, 5, 5, 4, 0])
    moved = _apart(f.take(drawn), drawn, _alone(f))
    assert _alone(f).tolist() == [True, True, False, False, True, True]
    np.testing.assert_allclose(moved.scores, p[drawn], atol=1e-8)
    assert len(set(moved.scores)) == 7  # 0, 0.2, 0.5, three of 0.9, 1
    assert moved.features[:, 0].tolist() == drawn.tolist()
    g = np.array([[0.0, 0.3, 0.7], [0.2, 0.2, 0.6], [0.2, 0.2, 0.6]])
    matrix = Forecasts.from_arrays(g, [1, 2, 0])
    drawn = np.array([0, 0, 1, 2])
    rows = _apart(matrix.take(drawn), drawn, _alone(matrix)).rows(slice(None))
    np.testing.assert_allclose(rows, g[drawn], atol=1e-8)
    np.testing.assert_allclose(rows.sum(axis=1), 1)
    assert rows[0, 1] != rows[1, 1]
    assert rows[:2, 0].tolist() == [0, 0]
    assert rows[2].tolist() == rows[3].tolist()


def test_blocks_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a matrix is cut into decides nothing: the draw of a row is that of its number."""
    f = Forecasts.from_arrays(*classes(7, 200))
    weighted = Forecasts.from_arrays(*classes(7, 200), weights=np.arange(1.0, 201))
    # fused: classes, cells and weights; labels drawn: all classes in one set of pairs
    statistics = (OF_CLASSES[0], OF_CLASSES[3], tu.BinnedError(tu.lens.Pooled()))
    whole = [resampled_powers(s, data, 4, 5) for s in statistics for data in (f, weighted)]
    monkeypatch.setattr("trueup.inference.drawn_classes.BLOCK_ENTRIES", 64)
    monkeypatch.setattr("trueup.engines.blocks.ENTRIES", 64)
    cut = [resampled_powers(s, data, 4, 5) for s in statistics for data in (f, weighted)]
    for one, other in zip(whole, cut, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_the_statistic_is_the_signed_square_of_rmsce_debiased() -> None:
    p, y = binary(2, 500)
    result = calibration_test(p, y, statistic=tu.rmsce_debiased, rng=0)
    assert repr(tu.rmsce_debiased.estimator()) == result.notes["estimator"]
    assert result.statistic == tu.rmsce_debiased.estimator().measure(p, y).pth_power
    assert max(0, result.statistic) ** 0.5 == tu.rmsce_debiased(p, y)
    assert result.method == "consistency"
    assert result.pvalue in {k / 1000 for k in range(1, 1001)}
    again = calibration_test(p, y, method="consistency", rng=np.random.default_rng(5))
    assert again.pvalue == pytest.approx(result.pvalue, abs=0.1)


@pytest.mark.parametrize("method", ["consistency", "consistency-unconditional"])
def test_certain_predictions(method: str) -> None:
    p = np.array([0.0, 1, 1, 0])
    assert calibration_test(p, [0, 1, 1, 0], method=method, rng=0).pvalue == 1
    # Two errors that cancel in a single bin: the residuals, not the statistic, decide.
    one_bin = tu.BinnedError(binning=tu.EqualWidth(1))
    refuted = calibration_test(
        p, [1, 0, 1, 0], statistic=one_bin, method=method, n_resamples=49, rng=0
    )
    assert (refuted.statistic, refuted.pvalue) == (0, 1 / 50)
    g = np.eye(3)[[0, 1, 2, 2]]
    for statistic in (None, OF_CLASSES[0], OF_CLASSES[3]):
        test = {"statistic": statistic, "method": method, "n_resamples": 19, "rng": 0}
        assert calibration_test(g, [0, 1, 2, 2], **test).pvalue == 1
        assert calibration_test(g, [0, 1, 2, 1], **test).pvalue == 1 / 20


def test_a_wrong_model_gets_the_smallest_pvalue() -> None:
    p, y = binary(3, 3000)
    assert calibration_test(p**2, y, rng=0).pvalue == 1 / 1000
    assert calibration_test(p**2, y, method="consistency-unconditional", rng=0).pvalue == 1 / 1000


def test_ties_count_as_large() -> None:
    """One row of p = ½: every resample has the same error, and the p-value is 1."""
    assert calibration_test([0.5], [1], statistic=tu.BinnedError(), rng=0).pvalue == 1
    assert calibration_test([0.5, 0.5], [1, 0], rng=0).pvalue == 1


def test_refusals() -> None:
    p, y = binary(0, 20)
    with pytest.raises(tu.InputError, match="`labels` must be classes"):
        calibration_test(Forecasts.from_arrays(p, p, soft_labels=True))
    clustered = Forecasts.from_arrays(p, y, clusters=np.arange(20) // 4)
    with pytest.raises(tu.InputError, match="assumes independent rows, but `clusters` is set"):
        calibration_test(clustered, method="consistency")
    with pytest.raises(tu.InputError, match="`statistic` must be an estimator"):
        calibration_test(p, y, statistic="ece")
    with pytest.raises(tu.InputError, match="`method` must be one of 'consistency', "):
        calibration_test(p, y, method="consistent")
    with pytest.raises(tu.InputError, match="`n_resamples` must be a whole number of at least 1"):
        calibration_test(p, y, n_resamples=0)
    with pytest.raises(tu.InputError, match="`rng` must be a whole number"):
        calibration_test(p, y, rng="seed")


def test_table_1_of_vaicenavicius() -> None:
    """Calibrated for the top label and for every class, and not canonically."""
    world = PUBLISHED["vaicenavicius_table_1"]
    rejected = dict.fromkeys(("top", "classes", "canonical"), 0)
    for probs, labels in zip(*world.sample_many(60, 2000, rng=11), strict=True):
        for name, statistic in (
            ("top", None),
            ("classes", tu.BinnedError(tu.lens.ClassWise(), tu.EqualMass(15), 2, debias=True)),
            ("canonical", tu.BinnedError(tu.lens.Canonical(), tu.bins.VarianceTree(200))),
        ):
            test = calibration_test(probs, labels, statistic=statistic, n_resamples=39, rng=1)
            rejected[name] += test.pvalue <= 0.05
    assert rejected["canonical"] == 60
    assert max(rejected["top"], rejected["classes"]) <= 11  # binomial: above it once in 20,000
