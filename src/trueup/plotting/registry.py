"""Registry of the figures of an evaluation, for `Evaluation.plot`, the CLI and the overview.

This module imports neither NumPy nor matplotlib, so that the command-line help, which lists the
kinds of figures, loads fast.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from trueup.errors import Argument, Text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURES", "KINDS", "OVERVIEW", "Entry", "Parts", "shows"]

OVERVIEW = "overview"


class Parts(Protocol):
    """Parts of an evaluation by name: a dictionary, or `OnDemand`, which computes them."""

    def __contains__(self, name: object, /) -> bool: ...
    def get(self, name: str, /) -> Any:
        """Return a part, or None if these data do not have it."""


class Entry(NamedTuple):
    """A figure: its name, the function that plots it, and the parts of an evaluation that it needs.

    ``draws`` names a module of this package and a function in it. The function gets the parts that
    the figure needs, then the optional parts in ``uses`` (None if missing), then ``ax`` and the
    options by name. Figures with a title are panels of the overview. ``labelled`` is False if that
    title makes the label of the y axis superfluous. ``takes`` lists the options that the caller may
    set.
    """

    kind: str
    draws: str
    needs: tuple[str, ...]
    uses: tuple[str, ...] = ()
    options: Mapping[str, Any] = {}
    title: str = ""
    labelled: bool = True
    hint: Text = ""
    takes: tuple[str, ...] = ()
    projection: str | None = None

    def possible(self, parts: Parts) -> bool:
        """Return whether these data can have all parts, as far as known without computing them."""
        return all(part in parts for part in self.needs)

    def present(self, parts: Parts) -> bool:
        """Return whether these data have all parts; compute the parts not computed yet."""
        return self.possible(parts) and all(parts.get(part) is not None for part in self.needs)

    def draw(self, parts: Parts, ax: Axes | None = None, **options: Any) -> Axes:
        """Plot on these axes, or on those of a new figure, with options that the figure takes."""
        file, _, function = self.draws.rpartition(".")
        drawing = getattr(import_module(f"trueup.plotting.{file}"), function)
        given = [parts.get(part) if part in parts else None for part in self.needs + self.uses]
        axes: Axes = drawing(*given, ax=ax, **self.options, **options)
        return axes


DEVIATION = {"form": "deviation"}
OF_DIAGRAM = ("zoom", "name", "title", "remark")
OF_BINS = (*OF_DIAGRAM, "stats")
CORNERS = "it needs three or four classes"

# In the order of the panels of the overview.
FIGURES = (
    Entry("models", "row_charts.comparison.of_models", ("models",), title="Error by model"),
    Entry(
        "reliability",
        "reliability.of_bins",
        ("reliability",),
        ("band",),
        title="Reliability diagram (equal-width bins)",
        takes=OF_BINS,
    ),
    Entry(
        "deviation", "reliability.of_bins", ("reliability",), ("band",), DEVIATION, takes=OF_BINS
    ),
    Entry(
        "equal-mass",
        "reliability.of_bins",
        ("reliability_mass",),
        ("band_mass",),
        title="Reliability diagram (equal-mass bins)",
        takes=OF_DIAGRAM,
    ),
    Entry(
        "equal-mass-deviation",
        "reliability.of_bins",
        ("reliability_mass",),
        ("band_mass",),
        DEVIATION,
        title="Observed − predicted (equal-mass bins)",
        takes=OF_DIAGRAM,
    ),
    Entry("curve", "calibration_curve.plot_calibration_curve", ("curve",), takes=OF_DIAGRAM),
    Entry("tree", "reliability.of_bins", ("reliability_tree",), ("band_tree",), takes=OF_DIAGRAM),
    Entry(
        "errors",
        "row_charts.comparison.of_estimates",
        ("estimates",),
        title="Calibration errors (except MCE)",
    ),
    Entry(
        "null",
        "null_distribution.of_test",
        ("null", "test"),
        title="Null distribution (calibrated model)",
    ),
    Entry("bins", "error_by_bins.of_sweep", ("bins",), title="Error by number of bins"),
    Entry(
        "classes",
        "row_charts.class_and_group_errors.plot_class_errors",
        ("classes",),
        title="Error by class",
        labelled=False,
        hint="it needs a column of probabilities for each class",
    ),
    Entry(
        "groups",
        "row_charts.class_and_group_errors.of_groups",
        ("groups", "headline"),
        title="Error by group",
        labelled=False,
        hint=("pass ", Argument("groups", to="evaluate")),
    ),
    Entry(
        "simplex",
        "simplex.triangle.of_cells",
        ("triangle", "overview"),
        title="Full predicted distributions",
        hint=CORNERS,
    ),
    Entry(
        "simplex",
        "simplex.tetrahedron.of_cells",
        ("tetrahedron", "overview"),
        hint=CORNERS,
        projection="3d",
    ),
    Entry("psce", "psce.plot_psce", ("psce",), takes=OF_DIAGRAM),
    Entry("rewards", "rewards.plot_rewards", ("rewards",)),
    Entry("coverage", "rewards.plot_coverage", ("coverage",)),
    Entry(
        "trade-off",
        "trade_off.of_bins",
        ("trade_off", "overview"),
        hint="it needs 400 rows or more, without weights and clusters",
    ),
    Entry(
        "recalibration",
        "recalibrations.of_recalibration",
        ("recalibration",),
        title="Recalibrators (out-of-fold)",
    ),
    Entry(
        "brier", "decomposition.plot_decomposition", ("brier",), options={"score": "Brier score"}
    ),
    Entry(
        "local",
        "local_errors.of_rows",
        ("local",),
        hint=("pass ", Argument("features", to="evaluate")),
    ),
)

KINDS = (OVERVIEW, *dict.fromkeys(entry.kind for entry in FIGURES))


def shows(kind: str, part: str) -> bool:
    """Return whether a kind of figure is drawn from a part of an evaluation, such as the groups.

    >>> shows("groups", "groups"), shows("reliability", "groups"), shows("overview", "groups")
    (True, False, True)
    """
    entries = [each for each in FIGURES if each.kind == kind or (kind == OVERVIEW and each.title)]
    return any(part in (*each.needs, *each.uses) for each in entries)
