"""`trueup plot`: one picture of the predictions in a file."""

from __future__ import annotations

from typing import Any

import click

from trueup.cli.commands import command
from trueup.cli.data import FILE, data_options, read_found
from trueup.cli.pictures import KINDS, check_picture, draw, save_figure
from trueup.cli.program import say
from trueup.cli.screen import working

__all__ = ["plot"]


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
    type=click.Choice(list(KINDS)),
    default="reliability",
    show_default=True,
    help="Which picture; overview has several.",
)
@click.option("--bins", type=int, default=15, show_default=True, help="Bins of the diagrams.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of all chance."
)
@data_options()
def plot(file: str, output: str, kind: str, bins: int, seed: int, columns: dict[str, Any]) -> None:
    """Draw the reliability diagram of FILE, or another picture of it."""
    check_picture(output, file)
    read_from = read_found(file, columns)
    forecasts = read_from.forecasts
    with working("drawing"):
        from trueup.evaluation import evaluate

        found = evaluate(
            forecasts,
            metrics=None if kind == "overview" else (),
            n_bins=bins,
            recalibrate=kind in ("overview", "recalibration"),
            advice=False,
            rng=seed,
        )
        save_figure(draw(found, kind, read_from.names.features), output)
    say(f"the picture is in {output}.")
