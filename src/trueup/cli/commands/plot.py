"""`trueup plot`: one figure of the predictions in a file."""

from __future__ import annotations

from typing import Any

import click

from trueup.cli.data_options import FILE, bins_option, data_options, read_found, seed_option
from trueup.cli.figures import check_figure_file, save_figure
from trueup.cli.program import command, say
from trueup.cli.terminal import working
from trueup.plotting.registry import KINDS

__all__ = ["plot"]

# A file holds the predictions of one model.
OF_ONE_MODEL = [kind for kind in KINDS if kind != "models"]


@command(
    "Plot a reliability diagram or another figure.",
    "trueup plot p.csv -o reliability.png",
    "trueup plot p.csv --kind deviation -o deviation.svg",
    "trueup plot p.csv --kind classes -o classes.pdf",
)
@click.argument("file", type=FILE)
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
    help="Type of figure; overview has several.",
)
@bins_option
@seed_option
@data_options()
def plot(file: str, output: str, kind: str, bins: int, seed: int, columns: dict[str, Any]) -> None:
    """Plot the reliability diagram of FILE, or another figure."""
    check_figure_file(output, file)
    read_from = read_found(file, columns)
    with working("drawing"):
        from trueup.evaluation.on_demand import OnDemand
        from trueup.evaluation.settings import Settings
        from trueup.plotting.overview import figure_of

        asked = Settings.checked(n_bins=bins, rng=seed)
        features = read_from.names.features
        parts = OnDemand(read_from.forecasts, asked, feature_names=features)
        save_figure(figure_of(parts, kind), output)
    say(f"saved the figure to {output}.")
