"""Pictures of an evaluation, by the names that one types, and their files."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueup.cli.data import check_output
from trueup.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from trueup.evaluation import Evaluation

__all__ = ["KINDS", "check_picture", "draw", "save_figure"]

FORMATS = ("png", "svg", "pdf")
RESOLUTION = 150

# What one types: which table of the evaluation it needs.
KINDS = {
    "overview": "",
    "reliability": "reliability",
    "deviation": "reliability",
    "equal-mass": "reliability_mass",
    "tree": "reliability_tree",
    "classes": "classes",
    "groups": "groups",
    "bins": "bins",
    "null": "null",
    "simplex": "simplex",
    "psce": "psce",
    "rewards": "rewards",
    "coverage": "coverage",
    "trade-off": "trade_off",
    "recalibration": "repair",
    "brier": "scores",
    "local": "local",
}
WHY_NOT = {
    "groups": "pass --groups COLUMN",
    "local": "pass --features COLUMNS",
    "simplex": "it needs three or four classes",
    "classes": "it needs a column of probabilities for each class",
}


def draw(found: Evaluation, kind: str, features: Sequence[str] = ()) -> Figure:
    """Draw one picture of an evaluation; ``features`` are called as their columns."""
    if kind == "overview":
        overview: Figure = found.plot()
        return overview
    there = [name for name in KINDS if name == "overview" or _has(found, KINDS[name])]
    if not found.settings["recalibrate"]:
        there.insert(-1, "recalibration")  # it is only left out where another is asked for
    if kind not in there:
        rule = f"{kind!r} is not available for these data; there are: {', '.join(there)}"
        raise InputError("--kind", rule, hint=WHY_NOT.get(kind, ""))
    axes = _local(found, features) if kind == "local" else _DRAWN[kind](found)
    figure: Figure = axes.get_figure(root=True)
    return figure


def check_picture(path: str, *inputs: str) -> None:
    """Refuse, before the work, a file that no picture can be written to."""
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in FORMATS:
        raise InputError(None, "the output file must end in *.png, *.svg or *.pdf", path)
    check_output(path, *inputs)
    from trueup.views.style import need_matplotlib

    need_matplotlib()


def save_figure(figure: Figure, path: str) -> None:
    """Write a picture to a file, whole or not at all."""
    from trueup.atomic import write_atomically

    file = io.BytesIO()
    figure.savefig(file, format=Path(path).suffix.lower().lstrip("."), dpi=RESOLUTION)
    write_atomically(path, file.getvalue())


def _has(found: Evaluation, table: str) -> bool:
    if table in ("groups", "repair", "local"):
        return getattr(found, table) is not None
    if table == "scores":
        return found.scores[0].decomposition is not None
    return table in found.tables


def _reliability(found: Evaluation, ending: str = "", **options: Any) -> Any:
    from trueup.views.reliability import draw_reliability

    band: Any = found.tables.get(f"band{ending}")
    table: Any = found.tables[f"reliability{ending}"]
    return draw_reliability(table, band=band, **options)


def _table(module: str, view: str, name: str) -> Callable[[Evaluation], Any]:
    """A picture of one table alone."""

    def drawn(found: Evaluation) -> Any:
        return getattr(import_module(f"trueup.views.{module}"), view)(found.tables[name])

    return drawn


def _groups(found: Evaluation) -> Any:
    from trueup.views.groups import draw_group_errors

    assert found.groups is not None
    return draw_group_errors(found.groups.table, overall=found.estimates[0].value)


def _bins(found: Evaluation) -> Any:
    from trueup.views.bin_counts import draw_error_by_bins

    columns: Any = found.tables["bins"]
    chosen: Any = columns["n_bins"][columns["sweep"]]
    return draw_error_by_bins(columns, chosen=int(chosen[0]) if len(chosen) else None)


def _null(found: Evaluation) -> Any:
    from trueup.views.null import draw_null

    test = found.estimates[0].test
    columns: Any = found.tables["null"]
    assert test is not None
    return draw_null(columns, test.statistic, test.pvalue, measure="debiased squared error")


def _simplex(found: Evaluation) -> Any:
    from trueup.views.simplex import draw_simplex
    from trueup.views.tetrahedron import draw_tetrahedron

    cells: Any = found.tables["simplex"]
    view = draw_simplex if found.overview.n_classes == 3 else draw_tetrahedron
    return view(cells, names=found.overview.classes)


def _recalibration(found: Evaluation) -> Any:
    from trueup.views.recalibrations import draw_recalibrations

    assert found.repair is not None
    return draw_recalibrations(found.repair.table)


def _brier(found: Evaluation) -> Any:
    from trueup.views.decomposition import draw_decomposition

    part = found.scores[0].decomposition
    assert part is not None
    return draw_decomposition(part, score="Brier score")


def _local(found: Evaluation, features: Sequence[str]) -> Any:
    from trueup.views.local import draw_lce_landscape
    from trueup.views.style import words

    assert found.local is not None
    one = not found.local.axes[1]  # of a single feature errors themselves are the other axis
    axes = draw_lce_landscape(found.local.landscape, y="signed" if one else "x2")
    across, up = features if len(features) == 2 else found.local.axes
    if one:
        across, up = features[0] if features else across, "local calibration error"
    axes.set(xlabel=words(across), ylabel=words(up, longest=40))
    return axes


def _trade_off(found: Evaluation) -> Any:
    from trueup.views.trade_off import draw_trade_off

    columns: Any = found.tables["trade_off"]
    of = " of the most probable class" if found.overview.kind == "multiclass" else ""
    return draw_trade_off(columns, score=f"Brier score{of}")


_DRAWN: dict[str, Callable[[Evaluation], Any]] = {
    "reliability": _reliability,
    "deviation": lambda found: _reliability(found, form="deviation"),
    "equal-mass": lambda found: _reliability(found, "_mass"),
    "tree": lambda found: _reliability(found, "_tree"),
    "classes": _table("classes", "draw_class_errors", "classes"),
    "groups": _groups,
    "bins": _bins,
    "null": _null,
    "simplex": _simplex,
    "psce": _table("psce", "draw_psce", "psce"),
    "rewards": _table("rewards", "draw_rewards", "rewards"),
    "coverage": _table("rewards", "draw_coverage", "coverage"),
    "trade-off": _trade_off,
    "recalibration": _recalibration,
    "brier": _brier,
}
