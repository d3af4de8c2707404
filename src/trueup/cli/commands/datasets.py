"""`trueup datasets`: write a dataset with known true probabilities, to try other commands on."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import click

from trueup.cli.data_options import check_output
from trueup.cli.program import command, say
from trueup.cli.terminal import Screen, number, print_json
from trueup.errors import must_be

__all__ = ["datasets"]


@command(
    "Write example data with known true probabilities.",
    "trueup datasets",
    "trueup datasets clinic -o clinic.csv",
    "trueup datasets network -o network.npz",
    "trueup datasets language_models -o answers",
)
@click.argument("name", required=False)
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    help="File to write: *.csv, *.parquet, *.npz …; a folder with a file per group if no suffix.",
)
@click.option("--format", metavar="FORMAT", help="Format of the files in a folder: csv, parquet.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON only.")
def datasets(
    name: str | None, output: str | None, format: str | None, seed: int, as_json: bool
) -> None:
    """List the datasets, or describe the dataset NAME and write it to a file.

    They are simulated, so the true probabilities are known. Every call gives the same rows.
    """
    from trueup.datasets import LOADERS

    if name is None:
        _list(as_json)
        return
    if name not in LOADERS:
        raise must_be("NAME", f"one of {', '.join(LOADERS)}", name)
    if output is not None and (output == "" or PurePath(output).suffix):
        check_output(output)
    data = LOADERS[name](seed=seed)
    if output is None:
        known = dict(data.known)
        if as_json:
            print_json({"name": name, "n": data.n, "description": data.description, "known": known})
            return
        screen = Screen()
        screen.paragraph(f"{name}: {data.n:,} rows, columns {', '.join(data.table)}.", strong=True)
        screen.paragraph(data.description)
        screen.answers({f"true {key}": number(value) for key, value in known.items()})
        screen.commands("Write it to a file:", [f"trueup datasets {name} -o {_usual_file(data)}"])
        return
    files = data.save(output, format=format)
    text = f"in {files[0]}" if len(files) == 1 else f"in {len(files)} files in {output}"
    say(f"{data.n:,} rows are {text}.")


def _list(as_json: bool) -> None:
    """Write the names and descriptions of all datasets."""
    from trueup.datasets import LOADERS

    found = {name: load().description for name, load in LOADERS.items()}
    if as_json:
        print_json(found)
        return
    screen = Screen()
    screen.answers(found)
    screen.commands("Write one to a file:", ["trueup datasets clinic -o clinic.csv"])


def _usual_file(data: Any) -> str:
    """Return the default file name for a dataset."""
    return f"{data.name}.{'csv' if data.logits is None else 'npz'}"
