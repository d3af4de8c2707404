"""Every result shows itself in a notebook: escaped, and never long."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from dataclasses import dataclass, field, is_dataclass
from html import escape as html_escape
from typing import Any

import numpy as np
import pytest

import trueup as tu
from trueup.inference import estimate_many
from trueup.inference.hypothesis_tests.sensitivity import sensitivity
from trueup.notebook import FieldsShown, TableShown, html_table, is_number, text_table
from trueup.simulate import Beta, Identity, World, fit, study

RNG = np.random.default_rng(0)
P = RNG.random(150)
Y = (RNG.random(150) < P).astype(int)
G = RNG.dirichlet(np.ones(3), 150)
Z = RNG.integers(0, 3, 150)
WORLD = World(Beta(2.0, 1.0), Identity())


def _made() -> dict[str, Any]:
    evaluation = tu.evaluate(
        P, Y, n_resamples=99, groups=Z, features=G, recalibrate=True, advice=False
    )
    fitted = fit(P, Y)
    studied = study({"world": WORLD}, {"ece": tu.ece}, n=[50], n_datasets=5, rng=0)
    made = [
        evaluation,
        evaluation.overview,
        evaluation.estimates[0],
        evaluation.scores[0],
        evaluation.scores[0].decomposition,
        evaluation.detectable_error,
        evaluation.recalibration,
        evaluation.local,
        evaluation.groups,
        evaluation.tables["reliability"],
        evaluation.tables["bins"],
        evaluation.tables["psce"],
        evaluation.estimates[0].interval,
        evaluation.estimates[0].test,
        tu.compare(P, P**2, Y, n_resamples=99, rng=0),
        tu.certify(P, Y, max_error=0.1),
        tu.BinnedError().measure(P, Y),
        tu.BinnedError(lens=tu.lens.ClassWise()).table(G, Z),
        tu.BinnedError(lens=tu.lens.Canonical(), binning=tu.bins.SimplexGrid(3)).table(G, Z),
        tu.tables.FineBinTable.from_arrays(P, Y),
        tu.cox(P, Y),
        estimate_many([tu.ece], P, Y, n_resamples=39, rng=0)[0],
        sensitivity(P, Y, n_resamples=39, rng=0),
        fitted,
        studied,
        tu.recommend_estimator(P, Y, n_datasets=5, rng=0),
    ]
    return {type(each).__name__: each for each in made}


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    return _made()


def results() -> dict[str, type]:
    """Every class of results: frozen values that show fields or tables, wherever they are."""
    found: dict[str, type] = {}
    for package in ("results", "tables", "inference", "evaluation", "simulate", "estimators"):
        home = importlib.import_module(f"trueup.{package}")
        for info in pkgutil.walk_packages(home.__path__, f"{home.__name__}."):
            if "torch" in info.name:
                continue
            for name, each in vars(importlib.import_module(info.name)).items():
                if inspect.isclass(each) and issubclass(each, FieldsShown | TableShown):
                    found[name] = each
    return {name: each for name, each in found.items() if is_dataclass(each)}


NAMES = {
    "Interval",
    "CalibrationTestResult",
    "Comparison",
    "Certificate",
    "Estimate",
    "Decomposition",
    "GroupErrors",
    "MetricInference",
    "BinTable",
    "CellTable",
    "ResultTable",
    "Curve",
    "FineBinTable",
    "BinTables",
    "Cox",
    "Advice",
    "Study",
    "Fitted",
    "Sensitivity",
    "Overview",
    "Finding",
    "Score",
    "Detectable",
    "EstimatorAdvice",
    "Recalibration",
    "LocalFinding",
}


def test_every_public_result_shows_itself() -> None:
    known = results()
    assert NAMES - set(known) == set()
    assert hasattr(tu.Evaluation, "_repr_html_")
    homes = (tu, tu.results, tu.tables)
    things = [getattr(home, name) for home in homes for name in home.__all__]
    kinds = [thing for thing in things if inspect.isclass(thing)]
    shown = {kind for kind in kinds if hasattr(kind, "_repr_html_")}
    results_of_trueup = {
        kind
        for kind in kinds
        if kind.__module__.startswith(("trueup.results", "trueup.tables", "trueup.evaluation"))
    }
    assert results_of_trueup <= shown


def test_html_is_whole_and_short(made) -> None:
    assert len(made) >= 20
    for name, each in made.items():
        html = each._repr_html_()
        assert len(html) < 30_000, name
        for tag in ("table", "tr", "td", "th", "p", "b"):
            opened = len(re.findall(f"<{tag}[ >]", html))
            assert opened == html.count(f"</{tag}>"), (name, tag)
        assert "<table>" in html, name
        assert " object at 0x" not in html, name


@dataclass(frozen=True)
class Named(FieldsShown):
    name: str
    number: float = 1 / 3
    nothing: Any = None
    notes: dict[str, Any] = field(default_factory=dict)
    many: Any = ()


def test_text_is_escaped_and_cut() -> None:
    html = Named("<script>alert('&')</script>", notes={"<k>": "<v>"})._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "&lt;k&gt;: &lt;v&gt;" in html
    assert ">0.3333<" in html
    assert "nothing" not in html
    assert "many" in html
    long = Named("x" * 10_000, many=list(range(100_000)))._repr_html_()
    assert len(long) < 2_000
    assert "…" in long
    columns = tu.tables.ResultTable(
        {"<name>": np.array(["<a>", "b"]), "n": np.array([1.0, np.nan])}
    )
    assert "<a>" not in columns._repr_html_()
    assert "&lt;name&gt;" in columns._repr_html_()


def test_the_text_of_a_result_comes_first(made: dict[str, Any]) -> None:
    for name in ("Comparison", "Certificate", "Detectable", "Fitted"):
        before, _, fields = made[name]._repr_html_().partition("<table>")
        assert html_escape(made[name].text) in before
        assert ">text<" not in fields


def test_long_tables_say_how_many_rows_are_left_out() -> None:
    html = tu.tables.ResultTable({"n": np.arange(12_345)})._repr_html_()
    assert html.count("<tr>") == 21
    assert "… and 12,325 more rows" in html
    assert tu.tables.ResultTable({})._repr_html_()


def test_numbers_are_set_to_the_right() -> None:
    assert [is_number(text) for text in ("1", "0.5 ± 0.1", "-3", "−3", "-", "", "x1")] == [
        True, True, True, True, False, False, False,
    ]  # fmt: skip
    html = html_table("t", ["a", "b"], [["1.5", "word"]])
    assert re.search("right[^>]*>1.5</td><td[^>]*left[^>]*>word</td>", html)


def test_names_in_a_table_cannot_steer_a_terminal() -> None:
    lines = text_table(["a\x1b[2J"], [["\x1b]0;x\x07"], ["two\nlines"]], [False])
    assert lines == ["a?[2J    ", "?]0;x?   ", "two?lines"]


def test_results_print_in_a_line_with_few_digits(made: dict[str, Any]) -> None:
    for name, each in made.items():
        if not isinstance(each, FieldsShown):
            continue
        assert not re.search(r"\d\.\d{7}", f"{each!r}{each}"), name
        assert "notes=" not in repr(each), name
        if name not in ("Study", "FineBinTable", "Decomposition"):
            assert repr(each).startswith(f"{name}("), name
            assert "\n" not in repr(each), name
            assert len(repr(each)) < 200, name


def test_every_result_has_the_printing_of_its_base() -> None:
    """The decorator of a dataclass would write a repr with every field and every digit."""
    own = {"Decomposition", "Study", "FineBinTable"}
    for name, kind in results().items():
        if issubclass(kind, FieldsShown):
            assert (kind.__repr__ is FieldsShown.__repr__) == (name not in own), name


def test_an_interval_reads_like_a_sentence() -> None:
    found = tu.results.Interval(
        0.16460402743618066, 0.19326, 0.17963245, 0.95, "analytic", "the binned error"
    )
    assert str(found) == "0.180 (95% CI 0.165 to 0.193)"
    assert repr(found) == "Interval(0.180 (95% CI 0.165 to 0.193))"
    assert found.low == 0.16460402743618066
    assert found.to_dict()["low"] == 0.16460402743618066
    assert "<p>0.180 (95% CI 0.165 to 0.193)</p>" in found._repr_html_()
    odd = tu.results.Interval(
        0.1, 0.2, 0.3, 0.9, "analytic", "", {"estimate_outside": "the estimate lies above"}
    )
    assert str(odd) == "0.300 (90% CI 0.100 to 0.200); the estimate lies above"


def test_an_estimate_of_0_is_no_proof_of_perfection() -> None:
    flat = [0.5] * 50, [0, 1] * 25
    found = tu.interval(tu.rmsce_debiased, *flat)
    assert found.estimate == 0
    assert str(found) == f"below {found.high:.3f} (95% confidence)"
    measured = tu.rmsce_debiased.estimator().measure(*flat)
    assert str(measured) == "0 (no sign of error after debiasing)"
    table = tu.tables.ResultTable({"error": np.array([0.0, -0.0, 0.25, 3e-7])})
    assert [line.strip() for line in repr(table).splitlines()[2:]] == [
        "0",
        "0",
        "0.2500",
        "3.0e-07",
    ]


def test_results_inside_results_are_a_line(made: dict[str, Any]) -> None:
    html = made["Comparison"]._repr_html_()
    assert f">{html_escape(str(made['Comparison'].first))}<" in html
    assert ">ResultTable of 3 rows<" in made["GroupErrors"]._repr_html_()
    assert str(made["GroupErrors"]).endswith(str(made["GroupErrors"].table))


def test_a_comparison_says_when_its_pvalue_is_the_smallest_possible() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(600)
    y = (rng.random(600) < p).astype(int)
    found = tu.compare(p**4, p, y, n_resamples=199)
    assert found.pvalue == 2 / 200
    assert repr(found).endswith("p ≤ 0.01)")


def test_a_notebook_shows_the_table_of_groups(made: dict[str, Any]) -> None:
    groups = made["GroupErrors"]
    assert groups._repr_html_().endswith(groups.table._repr_html_())


def test_no_field_of_a_result_has_many_digits_in_a_notebook(made: dict[str, Any]) -> None:
    for name, each in made.items():
        if isinstance(each, FieldsShown):
            shown = re.sub(r"\d+e-\d+", "", each._repr_html_())
            assert not re.search(r"[1-9]\d{6,}|\d\.\d*[1-9]\d{6,}", shown), name
            assert "array(" not in shown, name


def test_a_recalibration_reads_like_a_result(made: dict[str, Any]) -> None:
    found = made["Recalibration"]
    assert str(found) == found.explanation
    assert repr(found).startswith(f"Recalibration({found.recommended}; out of fold: log loss ")
