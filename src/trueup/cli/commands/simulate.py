"""`trueup simulate`: compare estimators on simulated data with a known true error."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

import click

from trueup.cli.data_options import (
    FILE,
    about_data_of,
    check_output,
    data_options,
    json_option,
    metric_named,
    read,
    seed_option,
)
from trueup.cli.program import command, say
from trueup.cli.terminal import Screen, number, print_json
from trueup.errors import InputError, must_be

__all__ = ["simulate"]


@command(
    "Compare estimators on data with a known true error.",
    "trueup simulate --list",
    "trueup simulate --world roelofs_figure_3 --n 200,1000 -o errors.csv",
    "trueup simulate p.csv --metric ece --metric ece_debiased",
)
@click.argument("file", type=FILE, required=False)
@click.option(
    "--world",
    "worlds",
    multiple=True,
    metavar="NAME",
    help="Published simulation setting. Repeatable.",
)
@click.option("--list", "listing", is_flag=True, help="List the published settings.")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="Metric to study. Repeatable.",
)
@click.option(
    "--n",
    metavar="NUMBERS",
    help="Rows per dataset, such as 100,1000 (default for FILE: its number of rows).",
)
@click.option(
    "--n-datasets", type=int, default=1000, show_default=True, help="Datasets per setting."
)
@seed_option
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    help="Save the rows as CSV, Parquet or JSON. Rerun the same command to resume.",
)
@data_options("groups", "features", "clusters")
@json_option
def simulate(
    file: str | None,
    worlds: tuple[str, ...],
    listing: bool,
    metrics: tuple[str, ...],
    n: str | None,
    n_datasets: int,
    seed: int,
    output: str | None,
    columns: dict[str, Any],
    as_json: bool,
) -> None:
    """Compare estimators on simulated data with a known true error.

    The data come from published settings (--world), from a model fitted to FILE, or from both.
    """
    if listing:
        _list_worlds(as_json)
        return
    if file is None and not worlds:
        hint = "trueup simulate --list shows the worlds"
        raise InputError(None, "FILE or --world is required", hint=hint)
    check_output(output, file)
    named = _worlds(worlds)
    sizes = None if n is None else _sizes(n)
    measures = _measures(metrics)
    screen = Screen()
    if file is not None:
        from trueup.simulate import fit

        forecasts = read(file, columns)
        with about_data_of(file):
            fitted = fit(forecasts)
        named[f"like {file}"] = fitted.world
        sizes = sizes or [forecasts.n]
        if not as_json:
            screen.paragraph(fitted.text)
    from trueup.simulate import study

    kept = None if output is None else f"{output}.batches"
    try:
        found = study(named, measures, sizes or [1000], n_datasets=n_datasets, rng=seed, path=kept)
    except KeyboardInterrupt:
        if kept is not None:
            say("progress is saved; run the same command to resume.")
        raise
    rows = found.rows
    if output is not None:
        from trueup.io import write_table
        from trueup.simulate.studies.study_result import COLUMNS

        write_table(output, {name: [getattr(row, name) for row in rows] for name in COLUMNS})
        with suppress(FileNotFoundError):
            os.unlink(str(kept))
    if as_json:
        print_json(found.to_dict())
        return
    table = {
        "world": [row.world for row in rows],
        "rows": [f"{row.n:,}" for row in rows],
        "metric": [row.measure for row in rows],
        "truth": [number(row.truth) for row in rows],
        "mean": [number(row.mean) for row in rows],
        "bias": [number(row.bias) for row in rows],
        "sd": [number(row.sd) for row in rows],
        "rmse": [number(row.rmse) for row in rows],
    }
    note = (
        "rmse: typical distance of one dataset's estimate from the true error (bias and noise "
        "combined)."
    )
    screen.table(f"{n_datasets:,} datasets per setting", table, note)
    if output is not None:
        screen.paragraph(f"Written to {output}.")


def _list_worlds(as_json: bool) -> None:
    from trueup.simulate import PUBLISHED

    described = {name: repr(world) for name, world in PUBLISHED.items()}
    if as_json:
        print_json(described)
    else:
        sources = [getattr(world, "source", "") for world in PUBLISHED.values()]
        Screen().table("Published worlds", {"name": list(described), "source": sources})


def _worlds(names: tuple[str, ...]) -> dict[str, Any]:
    from trueup.simulate import PUBLISHED

    for name in names:
        if name not in PUBLISHED:
            hint = "trueup simulate --list shows them"
            raise must_be("--world", "a published world", name, hint=hint)
    return {name: PUBLISHED[name] for name in names}


def _measures(names: tuple[str, ...]) -> dict[str, Any]:
    """Return estimators by name; by default those that `recommend_estimator` compares."""
    from trueup.simulate.recommendation import CANDIDATES

    return {name: metric_named(name).estimator() for name in names} or dict(CANDIDATES)


def _sizes(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise must_be("--n", "whole numbers with commas, such as 100,1000", text) from None
