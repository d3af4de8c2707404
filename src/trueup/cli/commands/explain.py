"""`trueup explain`: describe a metric, recalibrator or test, and compute its bias for your n."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from trueup.cli.data_options import FILE, data_options, json_option, read, seed_option
from trueup.cli.program import command
from trueup.cli.terminal import Screen, print_json, working
from trueup.errors import InputError

__all__ = ["explain"]


@command(
    "Explain a metric, recalibrator or test.",
    "trueup explain ece",
    "trueup explain slope",
    "trueup explain ece --n 500",
    "trueup explain ece p.csv",
    "trueup explain TemperatureScaling p.csv",
    "trueup explain omnibus",
)
@click.argument("what", metavar="NAME")
@click.argument("file", type=FILE, required=False)
@click.option("--n", type=click.IntRange(2), help="Number of rows [default: as in FILE, or 1,000].")
@click.option("--draws", type=click.IntRange(2), help="Number of datasets to draw [default: 200].")
@seed_option
@data_options("groups", "features", "clusters")
@json_option
def explain(
    what: str,
    file: str | None,
    n: int | None,
    draws: int | None,
    seed: int,
    columns: dict[str, Any],
    as_json: bool,
) -> None:
    """Explain what NAME is, when to use it, its bias and what to use instead.

    NAME is a metric (ece), a clinical measure (slope, O:E), a recalibrator (TemperatureScaling) or
    a test (omnibus). The bias is computed on calibrated labels, simulated from the scores in FILE
    or from uniform scores.
    """
    from trueup.explanation import explain as explained

    forecasts = None if file is None else read(file, columns)
    with working("drawing datasets"), _about_name():
        found = explained(what, forecasts, n=n, n_draws=draws, rng=seed)
    if as_json:
        print_json(found.to_dict())
        return
    screen = Screen()
    screen.paragraph(f"{found.name}: {found.summary}", strong=True)
    screen.answers(found.lines)


@contextmanager
def _about_name() -> Iterator[None]:
    """Call the argument of the function NAME in errors, as the usage does."""
    try:
        yield
    except InputError as error:
        if error.argument != "what":
            raise
        raise error.replace(argument=None, rule=("NAME ", *error.rule)) from None
