"""`trueup plot`: plot one figure of the predictions in a file."""

from __future__ import annotations

from typing import Any

import click

from trueup.cli.data_options import (
    Files,
    bins_option,
    data_options,
    files_argument,
    read_found,
    seed_option,
    shown_name,
)
from trueup.cli.figures import RESOLUTION, check_figure_file, save_figure, size_of, zoom_of
from trueup.cli.program import command, say
from trueup.cli.terminal import working
from trueup.plotting.registry import KINDS, OVERVIEW, shows

__all__ = ["plot"]

# A file holds the predictions of one model.
EQUAL_WIDTH = ("reliability", "deviation")
OF_ONE_MODEL = [kind for kind in KINDS if kind != "models"]


@command(
    "Plot a reliability diagram or another figure.",
    "trueup plot p.csv -o reliability.png",
    "trueup plot p.csv --kind curve -o curve.svg",
    "trueup plot p.csv --stats --title Validation --size 3.3x2.6 --dpi 300 -o paper.png",
)
@files_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    required=True,
    help="Figure file to write (.png, .svg or .pdf).",
)
@click.option(
    "--kind",
    type=click.Choice(OF_ONE_MODEL),
    default="reliability",
    show_default=True,
    help="Type of figure; overview combines several.",
)
@click.option("--title", default="", help="Title of the figure.")
@click.option("--name", help="Name of the model, for the legend or the title.")
@click.option("--size", metavar="WxH", help="Width and height in inches, such as 3.3x2.6.")
@click.option(
    "--dpi",
    type=click.IntRange(10, 2400),
    default=RESOLUTION,
    show_default=True,
    help="Resolution of *.png, in dots per inch.",
)
@click.option(
    "--zoom", metavar="HOW", help="Range of scores shown: auto, none, or limits such as 0,0.2."
)
@click.option("--stats", is_flag=True, help="Write ECE, its interval and n above the diagram.")
@bins_option
@seed_option
@data_options()
def plot(
    file: Files,
    output: str,
    kind: str,
    title: str,
    name: str | None,
    size: str | None,
    dpi: int,
    zoom: str | None,
    stats: bool,
    bins: int,
    seed: int,
    columns: dict[str, Any],
) -> None:
    """Plot the reliability diagram of FILE, or another figure."""
    check_figure_file(output, file)
    options = {"title": title, "size": size_of(size), "zoom": zoom_of(zoom), "stats": stats}
    read_from = read_found(file, columns)
    if kind == OVERVIEW and name is None:
        name = shown_name(file)
    with working("plotting"):
        from trueup.evaluation.on_demand import OnDemand
        from trueup.evaluation.settings import Settings
        from trueup.plotting.overview import figure_of, is_crowded, parts_of

        if kind == OVERVIEW:  # its headline is the verdict
            from trueup.evaluation import evaluate

            found = evaluate(read_from.forecasts, n_bins=bins, advice=False, rng=seed)
            parts: Any = parts_of(found)
        else:
            asked = Settings.checked(n_bins=bins, rng=seed)
            features = read_from.names.features
            parts = OnDemand(read_from.forecasts, asked, feature_names=features)
        save_figure(figure_of(parts, kind, name=name, **options), output, dpi)
        crowded = kind in EQUAL_WIDTH and is_crowded(parts.get("reliability"))
    say(f"saved the figure to {output}.")
    if "groups" in columns and not shows(kind, "groups"):
        say("the groups are not shown in this kind of figure; --kind groups shows them.")
    if crowded:
        say("a few bins hold 99% of the rows; --kind equal-mass or --kind curve shows more.")
