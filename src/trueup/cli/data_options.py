"""Which file, which columns: the options that all commands on data share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trueup.cli.messages import typed_option
from trueup.cli.program import say
from trueup.cli.terminal import working
from trueup.errors import InputError, must_be

if TYPE_CHECKING:
    from trueup.forecasts import Forecasts
    from trueup.io import Found

__all__ = [
    "FILE",
    "as_typed",
    "bins_option",
    "check_output",
    "data_options",
    "json_option",
    "metric_named",
    "read",
    "read_found",
    "seed_option",
]

FILE = click.Path(dir_okay=False, allow_dash=True)

OPTIONS = {
    "probs": click.option(
        "--probs",
        metavar="COLUMNS",
        help="Probability columns: a name, a comma-separated list, or a pattern such as 'p_*'.",
    ),
    "labels": click.option("--labels", metavar="COLUMN", help="Label column."),
    "weights": click.option("--weights", metavar="COLUMN", help="Column of importance weights."),
    "groups": click.option(
        "--groups",
        metavar="COLUMN",
        help="Column of group names; each group is evaluated separately.",
    ),
    "features": click.option(
        "--features",
        metavar="COLUMNS",
        help="Feature columns for local calibration, such as 'x_*'.",
    ),
    "clusters": click.option(
        "--clusters",
        metavar="COLUMN",
        help="Cluster column, such as patient IDs; rows in a cluster may be dependent.",
    ),
    "classes": click.option(
        "--classes",
        metavar="NAMES",
        help="Class names in column order, such as a,b,c.",
    ),
    "prediction": click.option(
        "--prediction",
        metavar="COLUMN",
        help="Column of predicted classes, if --probs holds their confidence.",
    ),
    "logits": click.option(
        "--logits", is_flag=True, help="The columns hold logits, not probabilities."
    ),
    "normalize": click.option(
        "--normalize", is_flag=True, help="Divide each row of probabilities by its sum."
    ),
    "drop_missing": click.option(
        "--drop-missing", is_flag=True, help="Drop rows with missing values."
    ),
    "format": click.option(
        "--format",
        metavar="FORMAT",
        help="csv, tsv, parquet, arrow, npz, json or jsonl. Default: inferred from the file name.",
    ),
}


def data_options(*left_out: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options of its input; it gets them as the mapping ``columns``."""
    names = [name for name in OPTIONS if name not in left_out]

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def gathered(**given: Any) -> Any:
            columns = {name: given.pop(name) for name in names}
            if columns.get("classes") is not None:
                columns["classes"] = [name.strip() for name in columns["classes"].split(",")]
            passed = {name: value for name, value in columns.items() if value is not None}
            return command(columns=passed, **given)

        for name in reversed(names):
            gathered = OPTIONS[name](gathered)
        return gathered

    return decorate


seed_option = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed."
)
bins_option = click.option(
    "--bins", type=int, default=15, show_default=True, help="Number of bins."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON only.")


def metric_named(name: str) -> Any:
    """Return the metric that --metric names; raise InputError if there is none."""
    from trueup.metrics.declare import NAMED

    if name not in NAMED:
        raise must_be("--metric", f"one of {', '.join(sorted(NAMED))}", name)
    return NAMED[name]


def check_output(path: str | None, *inputs: str | None) -> None:
    """Raise an error, before the work, if a file cannot be written or is one of the inputs."""
    if path is None or path == "-":
        return
    place = Path(path)
    for given in inputs:
        if given is None or given == "-" or not Path(given).exists():
            continue
        if place.exists() and place.samefile(given):
            raise InputError(None, "is read, so it cannot be written to as well", file=str(place))
    if place.is_dir():
        raise IsADirectoryError(f"{place} is a directory: give the name of a file in it.")
    if not place.parent.is_dir():
        raise FileNotFoundError(f"There is no directory {place.parent} to write {place.name} in.")


def read(path: str, columns: dict[str, Any]) -> Forecasts:
    """Read predictions and labels; report on standard error which columns were used."""
    return read_found(path, columns).forecasts


def read_found(path: str, columns: dict[str, Any]) -> Found:
    """Read as `read` does, and return the names of the columns with the data."""
    from trueup.io import read_forecasts

    with working(f"reading {path}"):
        found = read_forecasts(path, **columns)
    say(f"{found.text}.")
    return found


def as_typed(columns: dict[str, Any], *only: str) -> str:
    """Return the options for columns as one types them; only those in ``only``, if any."""
    given = {name: value for name, value in columns.items() if value and name in (only or columns)}
    return "".join(f" {typed_option(name, value)}" for name, value in given.items())
