"""Studies: what they compute, and that nothing but the arguments matters."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

import trueup as tu
from trueup.simulate.studies.random_streams import batches, identity, stream, world_identity
from trueup.simulate.studies.run_study import study
from trueup.simulate.studies.study_result import Study
from trueup.simulate.worlds.calibration_curves import Glm, Identity, Power
from trueup.simulate.worlds.multiclass import DirichletWorld, TableWorld
from trueup.simulate.worlds.score_distributions import Beta, Empirical, Uniform
from trueup.simulate.worlds.world import DataSets, World

FLAT = World(Uniform(), Power(2))
RESNET = World(Beta(2.7752, 0.0478), Glm("logflip", "logflip", -0.24, 0.30))
TABLE = TableWorld(((0.6, 0.1, 0.3), (0.4, 0.6, 0.0)), ((0.7, 0.2, 0.1), (0.3, 0.5, 0.2)))
WIDTH = tu.BinnedError(binning=tu.EqualWidth(8), norm=2)
SWEEP = tu.SweepError()


def mean_gap(probs: np.ndarray, labels: np.ndarray) -> float:
    return float(probs.mean() - labels.mean())


def redrawn(world: World, n: int, n_datasets: int, seed: int = 0) -> Iterator[tuple[Any, Any]]:
    """The datasets of a cell, drawn as the documentation of the streams says."""
    for b, (start, stop) in enumerate(batches(n, n_datasets)):
        sets = world.sample_many(stop - start, n, stream(seed, world_identity(world), n, b))
        yield from zip(*sets, strict=True)


def same(a: Study, b: Study) -> bool:
    """Whether two studies are the same, bit for bit."""
    return (
        repr(a.rows) == repr(b.rows)
        and list(a.values) == list(b.values)
        and all(a.values[key].tobytes() == b.values[key].tobytes() for key in a.values)
    )


FAST = {
    "auto": tu.BinnedError(binning=tu.EqualWidth("auto")),
    "l1": tu.BinnedError(binning=tu.EqualWidth(15)),
    "l2": tu.BinnedError(tu.lens.Binary(), tu.EqualWidth(64), 2),
    "l3.5": tu.BinnedError(binning=tu.EqualWidth(5), norm=3.5),
    "worst": tu.BinnedError(binning=tu.EqualWidth(15), norm=math.inf),
    "edges": tu.BinnedError(binning=tu.bins.FixedEdges([0.1, 0.9, 0.999])),
    "one bin": tu.BinnedError(binning=tu.EqualWidth(1)),
    "shares": tu.BinnedError(binning=tu.EqualWidth(15), equal_shares=True),
}
SLOW = {
    "debiased": tu.BinnedError(norm=2, debias=True),
    "mass": tu.BinnedError(binning=tu.EqualMass(10)),
    "label binned": tu.BinnedError(label_binned=True),
    "region": tu.BinnedError(tu.lens.Binary(where=(0.5, 1.0))),
    "sweep": SWEEP,
    "ece": tu.ece,
    "ece of 7": partial(tu.ece, n_bins=7),
    "brier": tu.brier,
    "gap": mean_gap,
}


@pytest.mark.parametrize("world", [FLAT, RESNET], ids=["flat", "resnet"])
def test_every_measure_is_what_its_public_call_says(world: World, each_engine: str) -> None:
    n_datasets, n = 23, 150
    found = study({"w": world}, FAST | SLOW, n, n_datasets=n_datasets)
    for name, measure in (FAST | SLOW).items():
        called = [measure(p, y) for p, y in redrawn(world, n, n_datasets)]
        np.testing.assert_allclose(found.values["w", name, n], called, rtol=0, atol=1e-12)


def test_rows_are_those_of_the_formulas() -> None:
    found = study({"flat": FLAT}, {"e": WIDTH, "gap": mean_gap}, [50, 300], n_datasets=400)
    assert [(r.world, r.n, r.measure) for r in found.rows] == [
        ("flat", 50, "e"),
        ("flat", 50, "gap"),
        ("flat", 300, "e"),
        ("flat", 300, "gap"),
    ]
    row = found.rows[0]
    x, truth = found.values["flat", "e", 50], FLAT.true_error(2)
    assert (row.n_datasets, row.truth) == (400, truth)
    assert row.mean == pytest.approx(math.fsum(x) / 400, rel=1e-14)
    assert row.sd == pytest.approx(math.sqrt(math.fsum((x - row.mean) ** 2) / 399), rel=1e-12)
    assert row.se == row.bias_se == pytest.approx(row.sd / 20, rel=1e-14)
    assert row.bias == row.mean - truth
    assert row.rmse == pytest.approx(math.sqrt(math.fsum((x - truth) ** 2) / 400), rel=1e-12)
    assert row.rmse**2 == pytest.approx(row.bias**2 + row.sd**2 * 399 / 400, rel=1e-9)
    halves = [math.sqrt(np.mean((x[i::20] - truth) ** 2)) for i in range(20)]
    assert row.rmse_se == pytest.approx(np.std(halves) / math.sqrt(20), rel=0.6)
    assert [row.q025, row.median, row.q975] == np.quantile(x, [0.025, 0.5, 0.975]).tolist()
    assert all(math.isnan(v) for v in (found.rows[1].truth, found.rows[1].bias, found.rows[1].rmse))


@pytest.mark.parametrize(
    ("bins", "n", "published"),
    [
        (2, 200, -4.34),
        (2, 1600, -4.72),
        (16, 200, 0.62),
        (16, 1600, -1.67),
        (64, 200, 4.54),
        (64, 1600, 1.13),
    ],
)
def test_some_of_roelofs_figure_4(figure_4: Study, bins: int, n: int, published: float) -> None:
    (row,) = figure_4.select(measure=str(bins), n=n)
    assert abs(100 * row.bias - published) <= 4 * 100 * row.bias_se + 0.01


@pytest.fixture(scope="module")
def figure_4() -> Study:
    measures = {str(b): tu.BinnedError(binning=tu.EqualWidth(b), norm=2) for b in (2, 16, 64)}
    return study({"resnet110_c10": RESNET}, measures, [200, 1600], n_datasets=300)


def test_the_true_error_of_that_world(figure_4: Study) -> None:
    assert f"{100 * figure_4.rows[0].truth:.2f}" == "10.71"


def test_workers_do_not_matter() -> None:
    worlds = {"flat": FLAT, "resnet": RESNET}
    measures = {"e": WIDTH, "sweep": SWEEP, "gap": mean_gap}
    one, *others = (
        study(worlds, measures, [60, 2000], n_datasets=130, workers=w) for w in (1, 2, 3, None)
    )
    assert all(same(one, other) for other in others)
    assert len(batches(2000, 130)) > 3


def test_other_cells_and_measures_do_not_matter() -> None:
    alone = study({"flat": FLAT}, {"e": WIDTH}, 70, n_datasets=120)
    many = study(
        {"r": RESNET, "flat": FLAT}, {"gap": mean_gap, "e": WIDTH}, [500, 70], n_datasets=120
    )
    assert many.select(world="flat", measure="e", n=70) == alone.rows
    assert not np.array_equal(many.values["r", "e", 70], alone.values["flat", "e", 70])


def test_batches_differ_and_so_do_seeds() -> None:
    found = study({"flat": FLAT}, {"gap": mean_gap}, 40, n_datasets=1000)
    assert len(set(found.values["flat", "gap", 40])) > 500
    other = study({"flat": FLAT}, {"gap": mean_gap}, 40, n_datasets=1000, rng=1)
    assert not np.array_equal(other.values["flat", "gap", 40], found.values["flat", "gap", 40])


def test_a_generator_and_none_are_seeds_too() -> None:
    a, b = (
        study(FLAT, {"gap": mean_gap}, 40, n_datasets=30, rng=np.random.default_rng(3))
        for _ in range(2)
    )
    assert same(a, b)
    c, d = (study(FLAT, {"gap": mean_gap}, 40, n_datasets=30, rng=None) for _ in range(2))
    assert not same(c, d)


class Both(NamedTuple):
    mean: float
    enough: bool
    kind: str


@dataclass(frozen=True)
class Record:
    low: float
    table: object = None


def test_measures_of_several_numbers_have_a_row_for_each() -> None:
    measures = {
        "sweep": lambda p, y: {
            "chosen": SWEEP.measure(p, y).notes["chosen"],
            "big": p.mean() > 0.5,
        },
        "both": lambda p, y: Both(p.mean(), len(p) > 10, "x"),
        "record": lambda p, y: Record(np.float32(p.min())),
        "estimate": SWEEP.measure,
        "plain": SWEEP,
    }
    found = study({"w": FLAT}, measures, 30, n_datasets=25, truth={"both.mean": lambda world: 0.5})
    names = ["sweep.chosen", "sweep.big", "both.mean", "both.enough", "record.low"]
    assert [row.measure for row in found.rows] == [
        *names,
        "estimate.value",
        "estimate.pth_power",
        "plain",
    ]
    by_name = {row.measure: row for row in found.rows}
    assert by_name["both.enough"].mean == 1
    assert 1 <= by_name["sweep.chosen"].mean <= 30
    assert by_name["both.mean"].truth == 0.5
    assert math.isnan(by_name["estimate.value"].truth)
    assert by_name["estimate.value"].mean == by_name["plain"].mean


def test_truths() -> None:
    measures = {"l1": tu.ece, "l2": WIDTH, "region": SLOW["region"]}
    truth = {"l1": lambda world: world.true_error(1), "l2": 0.25}
    found = study({"w": FLAT}, measures, 30, n_datasets=5, truth=truth)
    l1, l2, region = (row.truth for row in found.rows)
    assert (l1, l2) == (FLAT.true_error(1), 0.25)
    assert math.isnan(region)  # the whole world's error is not that of a region
    for_all = study({"w": FLAT}, measures, 30, n_datasets=5, truth=lambda world: 0.125)
    assert {row.truth for row in for_all.rows} == {0.125}


def test_worlds_of_several_classes_are_held_against_the_lens_of_the_estimator() -> None:
    measures = {
        "top": tu.BinnedError(),
        "classes": tu.BinnedError(tu.lens.ClassWise(), norm=2),
        "whole": tu.BinnedError(tu.lens.Canonical(), tu.bins.SimplexGrid(10)),
        "top probability": lambda p, y: p.max(axis=1).mean(),
    }
    worlds = {"table": TABLE, "dirichlet": DirichletWorld((1.0, 1.0, 1.0), 2.0)}
    found = study(worlds, measures, 2000, n_datasets=4)
    truth = {(row.world, row.measure): row.truth for row in found.rows}
    assert truth["table", "top"] == TABLE.true_error(1, tu.lens.TopLabel())
    assert truth["table", "classes"] == TABLE.true_error(2, tu.lens.ClassWise())
    assert truth["table", "whole"] == TABLE.true_error(1, tu.lens.Canonical())
    assert truth["dirichlet", "top"] == worlds["dirichlet"].true_error(1, tu.lens.TopLabel())
    assert truth["dirichlet", "whole"] == worlds["dirichlet"].true_error(1)
    assert found.select(world="table", measure="top")[0].bias == pytest.approx(0, abs=0.03)


class Foreign:
    """A world of someone else's, which draws what it was told to."""

    def __init__(self, probs: Any, labels: Any) -> None:
        self.sets = DataSets(np.array(probs), np.array(labels))

    def sample_many(self, n_datasets: int, n: int, rng: object) -> DataSets:
        return DataSets(*(np.repeat(x[None, :n], n_datasets, axis=0) for x in self.sets))

    def true_error(self, norm: float) -> float:
        return 0.0


def test_worlds_of_others_are_checked_like_any_data() -> None:
    good = Foreign([0.25, 0.5], [0.0, 1.0])
    assert study(good, {"e": tu.BinnedError()}, 2, n_datasets=3).rows[0].mean == 0.375
    bad = r"`probs` must be between 0 and 1; got 1\.5 in row 1\. Hint: .*"
    with pytest.raises(tu.InputError, match=bad):
        study(Foreign([0.25, 1.5], [0, 1]), {"e": tu.BinnedError()}, 2, n_datasets=3)


def test_no_measure_can_change_what_the_next_one_sees() -> None:
    def spoil(probs: np.ndarray, labels: np.ndarray) -> float:
        probs[:] = 0
        return 0.0

    with pytest.raises(ValueError, match="read-only"):
        study(FLAT, {"spoil": spoil, "e": WIDTH}, 20, n_datasets=3)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames(library: Any) -> None:
    pytest.importorskip(library)
    frame = study({"w": FLAT}, {"e": WIDTH}, [20, 30], n_datasets=5).to_frame(library)
    assert frame.shape == (2, 15)


def test_results_are_ready_for_json_and_print_well() -> None:
    found = study({"w": FLAT}, {"e": WIDTH, "gap": mean_gap}, 20, n_datasets=1)
    text = json.dumps(found.to_dict(), allow_nan=False)
    assert json.loads(text)["rows"][1] == found.to_dict()["rows"][1]
    assert found.to_dict()["rows"][1]["truth"] is None
    assert repr(found).startswith("Study of w, 2 rows:\n  e, n = 20: ")
    with pytest.raises(AttributeError):
        found.rows = ()  # type: ignore[misc]


def test_progress_is_shown_where_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    study(FLAT, {"gap": mean_gap}, 20, n_datasets=250, progress=told.append)
    assert [(each.stage, each.fraction) for each in told] == [("3 batches of datasets", 0), ("", 1)]
    study(FLAT, {"gap": mean_gap}, 20, n_datasets=250)
    assert capsys.readouterr().err == ""


def test_identities_tell_data_apart_and_know_no_addresses() -> None:
    a, b = (World(Empirical(scores), Identity()) for scores in ((0.1, 0.2), (0.1, 0.3)))
    assert repr(a) == repr(b)
    assert world_identity(a) != world_identity(b)
    assert "0x" not in identity(lambda p, y: 0.0)
    assert identity(object()) == identity(object())
    assert len(identity(tuple(range(10**5)))) < 3000
    assert identity(partial(tu.ece, n_bins=3)) != identity(partial(tu.ece, n_bins=4))
    assert identity(WIDTH.measure) != identity(tu.BinnedError().measure)
