"""`trueup plot`: one figure of the predictions in a file."""

from __future__ import annotations

from typing import Any

import click

from trueup.cli.data_options import FILE, bins_option, data_options, read_found, seed_option
from trueup.cli.figures import check_picture, save_figure
from trueup.cli.program import command, say
from trueup.cli.terminal import working
from trueup.plotting.registry import KINDS

__all__ = ["plot"]

# A file holds the predictions of one model.
OF_ONE_MODEL = [kind for kind in KINDS if kind != "models"]


@command(
    "Draw a reliability diagram, or another picture.",
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
    help="Where to draw: *.png, *.svg or *.pdf.",
)
@click.option(
    "--kind",
    type=click.Choice(OF_ONE_MODEL),
    default="reliability",
    show_default=True,
    help="Which picture; overview has several.",
)
@bins_option
@seed_option("all chance")
@data_options()
def plot(file: str, output: str, kind: str, bins: int, seed: int, columns: dict[str, Any]) -> None:
    """Draw the reliability diagram of FILE, or another picture of it."""
    check_picture(output, file)
    read_from = read_found(file, columns)
    with working("drawing"):
        from trueup.evaluation.on_demand import OnDemand
        from trueup.evaluation.settings import Settings
        from trueup.plotting.overview import figure_of

        asked = Settings.checked(n_bins=bins, rng=seed)
        features = read_from.names.features
        parts = OnDemand(read_from.forecasts, asked, feature_names=features)
        save_figure(figure_of(parts, kind), output)
    say(f"the picture is in {output}.")
