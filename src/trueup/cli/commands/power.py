"""`trueup power`: the power of a test, and the number of rows needed to detect an error."""

from __future__ import annotations

from typing import Any

import click

from trueup.cli.data_options import (
    Files,
    about_data_of,
    data_options,
    files_argument,
    json_option,
    read,
    seed_option,
)
from trueup.cli.program import command
from trueup.cli.terminal import Screen, number, print_json, working
from trueup.errors import conflict

__all__ = ["power"]


@command(
    "Compute the sample size needed to detect an error.",
    "trueup power p.csv --true-error 0.02",
    "trueup power p.csv --true-error 0.02 --n 1000",
)
@files_argument
@click.option("--true-error", type=float, required=True, help="L2 calibration error to detect.")
@click.option("--n", type=int, help="Number of rows, for the power of the omnibus test.")
@click.option(
    "--power", "wanted", type=float, help="Target power for the number of rows [default: 0.8]."
)
@click.option(
    "--alpha", type=float, default=0.05, show_default=True, help="Significance level of the test."
)
@click.option(
    "--n-datasets", type=int, default=1000, show_default=True, help="Number of datasets to draw."
)
@seed_option
@data_options("groups", "features", "clusters")
@json_option
def power(
    file: Files,
    true_error: float,
    n: int | None,
    wanted: float | None,
    alpha: float,
    n_datasets: int,
    seed: int,
    columns: dict[str, Any],
    as_json: bool,
) -> None:
    """Estimate how many rows the omnibus test needs to detect an error, or its power at --n rows.

    Datasets are drawn from a simulated model that is fitted to FILE and has that error.
    """
    if n is not None and wanted is not None:
        raise conflict("--power", "--n")
    forecasts = read(file, columns)
    from trueup.simulate import power as power_of, sample_size

    settings: dict[str, Any] = {
        "true_error": true_error,
        "alpha": alpha,
        "n_datasets": n_datasets,
        "rng": seed,
    }
    with working("drawing datasets"), about_data_of(file):
        if n is not None:
            detection = power_of(forecasts, n=n, **settings)
            words, found, tried = detection.text, detection.to_dict(), []
        else:
            size = sample_size(forecasts, power=0.8 if wanted is None else wanted, **settings)
            words, found, tried = size.text, size.to_dict(), list(size.tried)
    if as_json:
        print_json(found)
        return
    screen = Screen()
    screen.paragraph(words, strong=True)
    if tried:
        rows = {
            "rows": [f"{each.n:,}" for each in tried],
            "power": [number(each.power) for each in tried],
            "standard error": [number(each.standard_error) for each in tried],
        }
        screen.table("Simulated numbers of rows", rows)
