"""Progress: stages have names and shares, and hidden progress reports nothing."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import trueup as tu
from trueup.calls.progress import (
    Report,
    counted,
    stage,
    stages,
    told,
    watched,
    with_progress,
)
from trueup.engines import set_threads
from trueup.engines.threads import run
from trueup.inference import compare_many, estimate_many
from trueup.simulate import Beta, Identity, World, study

RNG = np.random.default_rng(0)
P = RNG.random(200)
Y = (RNG.random(200) < P).astype(int)


def names(reports: list[Report]) -> list[str]:
    return [report.stage for report in reports]


def test_stages_have_their_share_of_the_work() -> None:
    seen: list[Report] = []
    with watched(seen.append, "work"), stages(4, 2):
        with stage("long", 3), stages(2):
            with stage("a"):
                pass
            with stage("b"):
                pass
        with stage("short"):
            pass
    assert names(seen) == [
        "long (1 of 2)", "long (1 of 2), a (1 of 2)", "long (1 of 2), b (2 of 2)",
        "short (2 of 2)", "",
    ]  # fmt: skip
    assert [report.fraction for report in seen] == [0, 0, 0.375, 0.75, 1]
    assert seen[-1].left == 0
    assert str(seen[-1]) == "work, 100%, done"


def test_parts_are_counted_on_all_threads() -> None:
    seen: list[Report] = []
    gate = threading.Barrier(2)

    def task(first: int, last: int) -> int:
        if first < 2:
            gate.wait(5)  # two threads at least
        with stage("not told, since several may be under way"):
            return first

    set_threads(2)
    try:
        with watched(seen.append, "work"), stages(2):
            with stage("a"):
                assert run(task, [(i, i + 1) for i in range(10)], tell=True) == list(range(10))
            with stage("b"), counted(4) as tick:
                assert tick is not None
                tick()
                with counted(3) as inner:
                    assert inner is None
            with stage("c"):
                assert list(told([1, 2])) == [1, 2]
    finally:
        set_threads(None)
    assert names(seen) == ["a (1 of 2)", "b (2 of 2)", "c (3 of 2)", ""]
    assert seen[1].fraction == pytest.approx(0.5)


def test_counts_move_on() -> None:
    done = []
    with watched(lambda report: done.append(report.fraction), "work"), stage("it"):
        for _ in told(range(4)):
            with watched(True, "a call inside"):
                pass
        with stage("again"):
            pass
    assert done == [0, 1, 1]


def test_nothing_is_told_where_nobody_asks(capsys: pytest.CaptureFixture[str]) -> None:
    with watched(None, "work"), stages(2), stage("it"), counted(3) as tick:
        assert tick is None
    tu.interval(tu.ks_error, P, Y, n_resamples=39)
    assert capsys.readouterr() == ("", "")


def test_false_hides_what_the_setting_shows() -> None:
    seen: list[Report] = []
    with tu.show_progress(seen.append):
        tu.interval(tu.ks_error, P, Y, n_resamples=39, progress=False)
        assert seen == []
        tu.interval(tu.ks_error, P, Y, n_resamples=39)
        told_before = len(seen)
        assert told_before > 1
    tu.interval(tu.ks_error, P, Y, n_resamples=39)
    assert len(seen) == told_before


def test_the_setting_holds_until_it_is_changed() -> None:
    seen: list[Report] = []
    tu.show_progress(seen.append)
    try:
        tu.calibration_test(P, Y, n_resamples=39)
    finally:
        tu.show_progress(None)
    assert names(seen) == ["omnibus test", ""]


def test_an_error_ends_it() -> None:
    seen: list[Report] = []
    with pytest.raises(tu.InputError, match="labels"):
        tu.interval(tu.ece, P, Y + 3, progress=seen.append)
    assert seen[-1].fraction < 1
    again: list[Report] = []
    tu.calibration_test(P, Y, n_resamples=39, progress=again.append)
    assert again[-1].fraction == 1


def test_what_is_no_progress() -> None:
    with pytest.raises(tu.InputError, match="`progress` must be True, False, None or a function"):
        tu.interval(tu.ece, P, Y, progress="yes")  # type: ignore[arg-type]
    with pytest.raises(tu.InputError, match="`progress` must be"):
        tu.show_progress(1)  # type: ignore[arg-type]


def test_names_cannot_rule_a_terminal() -> None:
    seen: list[Report] = []
    groups = np.repeat(["a\x1b[2J", "b\n"], 100)
    tu.group_errors(P, Y, groups, n_resamples=39, progress=seen.append)
    assert "group a?[2J (1 of 2)" in names(seen)
    assert all(each.isprintable() for each in names(seen))


WORLD = World(Beta(2.0, 1.0), Identity())
CALLS = {
    "interval": lambda p: tu.interval(tu.ici, P, Y, n_resamples=39, progress=p),
    "calibration_test": lambda p: tu.calibration_test(P, Y, n_resamples=39, progress=p),
    "compare": lambda p: tu.compare(P, P**2, Y, n_resamples=39, progress=p),
    "compare_many": lambda p: compare_many({"a": P, "b": P**2}, Y, n_resamples=39, progress=p),
    "estimate_many": lambda p: estimate_many(
        [tu.ece, tu.ks_error], P, Y, n_resamples=39, progress=p
    ),
    "group_errors": lambda p: tu.group_errors(P, Y, Y, n_resamples=39, progress=p),
    "study": lambda p: study(WORLD, {"ece": tu.ece}, [20], n_datasets=5, progress=p),
    "recommend_estimator": lambda p: tu.recommend_estimator(P, Y, n_datasets=5, progress=p),
    "power": lambda p: tu.power(WORLD, true_error=0.2, n=50, n_datasets=20, progress=p),
    "sample_size": lambda p: tu.sample_size(WORLD, true_error=0.3, n_datasets=20, progress=p),
    "AutoCalibration": lambda p: tu.AutoCalibration().fit(P, Y, progress=p),
}


@pytest.mark.parametrize("name", CALLS)
def test_long_functions_tell_their_stages(name: str) -> None:
    seen: list[Report] = []
    CALLS[name](seen.append)
    assert len(seen) >= 2
    assert seen[0].stage
    assert seen[-1].fraction == 1
    fractions = [report.fraction for report in seen]
    assert fractions == sorted(fractions)


def test_a_sample_size_is_not_done_before_it_is() -> None:
    """The number of datasets is not known at the beginning."""
    seen: list[Report] = []
    tu.sample_size(WORLD, true_error=0.15, n_datasets=20, progress=seen.append)
    by_stage = {report.stage.partition(",")[0]: report.fraction for report in seen[:-1]}
    assert by_stage["search"] < by_stage["refinement"] < 1


def test_slow_candidates_have_more_of_the_work() -> None:
    seen: list[Report] = []
    probs = RNG.dirichlet(np.ones(3), 120)
    tu.AutoCalibration().fit(probs, np.arange(120) % 3, progress=seen.append)
    began = {report.stage.split(" ")[1]: report.fraction for report in seen[:-1]}
    names = list(began)
    assert names[-2:] == ["DirichletCalibration", "MatrixScaling"]
    slow, quick = (began[names[k + 1]] - began[names[k]] for k in (-2, 0))
    assert slow > 5 * quick


def test_evaluate_tells_every_stage_once_and_in_number() -> None:
    seen: list[Report] = []
    tu.evaluate(
        P,
        Y,
        groups=RNG.integers(0, 2, 200),
        n_resamples=99,
        recalibrate=False,
        progress=seen.append,
    )
    outer = [each for each in dict.fromkeys(name.split(", ")[0] for name in names(seen)) if each]
    count = len(outer)
    assert [name.split(" (")[1] for name in outer] == [f"{k + 1} of {count})" for k in range(count)]
    assert outer[0].startswith("metrics")
    assert outer[-1].startswith("simulated estimators")
    assert any("further tests" in name and "cox test (1 of" in name for name in names(seen))


def test_a_function_keeps_its_name_and_signature() -> None:
    @with_progress("double")
    def double(x: int, *, progress: object = None) -> int:
        """Return twice x."""
        return 2 * x

    assert double(2) == double(2, progress=False) == 4
    assert double.__name__ == "double"
    assert double.__doc__ == "Return twice x."
