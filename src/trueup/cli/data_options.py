"""The options for files and columns that all commands on data share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trueup.atomic_write import writable_place
from trueup.cli.messages import shell_word, typed_option
from trueup.cli.program import say
from trueup.cli.terminal import working
from trueup.errors import InputError, called, must_be

if TYPE_CHECKING:
    from trueup.forecasts import Forecasts
    from trueup.io import Found

__all__ = [
    "FILE",
    "FILES",
    "Files",
    "about_data_of",
    "as_typed",
    "bins_option",
    "check_output",
    "check_outputs_differ",
    "data_options",
    "files_argument",
    "json_option",
    "like",
    "metric_named",
    "read",
    "read_found",
    "seed_option",
    "shown_files",
    "shown_name",
    "typed_files",
]

FILE = click.Path(dir_okay=False, allow_dash=True)
FILES = click.Path(allow_dash=True)  # a folder stands for the files in it
Files = str | list[str]
"""A file, folder or pattern, or several of these."""

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
        metavar="COLUMNS",
        help="Column of group names, or several such as model,task; each group is evaluated.",
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
    """Add the options for columns to a command, which receives them as the mapping ``columns``."""
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


def files_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument FILE... (one or more files) to a command, which receives it as ``file``."""

    def one_or_several(_: object, __: object, given: tuple[str, ...]) -> Files:
        return given[0] if len(given) == 1 else list(given)

    return click.argument(
        "file", metavar="FILE ...", type=FILES, nargs=-1, required=True, callback=one_or_several
    )(command)


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


def check_output(path: str | None, *inputs: Files | None, option: str = "--output") -> None:
    """Raise an error before the work starts if a file cannot be written or is also an input."""
    if path is None or path == "-":
        return
    with called({"path": option}):
        place = writable_place(path)
    for given in _each(inputs):
        if given != "-" and _same_file(path, given):
            raise InputError(None, "is read, so it cannot be written to as well", file=str(place))


def check_outputs_differ(**given: str | Sequence[str] | None) -> None:
    """Raise an error early if two options name the same output file."""
    paths = [
        (f"--{option}", path)
        for option, named in given.items()
        for path in ([named] if isinstance(named, str) else named or [])
        if path != "-"
    ]
    for (option, path), (other, second) in combinations(paths, 2):
        if _same_file(path, second):
            raise must_be(option, f"a file other than that of {other}", path)


def _same_file(one: str, other: str) -> bool:
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)


def _each(inputs: Iterable[Files | None]) -> Iterator[str]:
    """Iterate over all input files, including those of folders and patterns."""
    from trueup.io.several_files import files_of

    for given in inputs:
        for name in [given] if isinstance(given, str) else given or []:
            try:
                yield from map(str, files_of(name) or [Path(name)])
            except (InputError, OSError):  # said when it is read
                continue


def read(path: Files, columns: dict[str, Any]) -> Forecasts:
    """Read predictions and labels; report on standard error which columns were used."""
    return read_found(path, columns).forecasts


def read_found(path: Files, columns: dict[str, Any]) -> Found:
    """Read predictions and labels as `read` does, and also return the names of their columns."""
    from trueup.io import read_forecasts

    with working(f"reading {shown_files(path)}"):
        found = read_forecasts(path, **columns)
    say(f"{found.text}.")
    return found


@contextmanager
def about_data_of(path: Files) -> Iterator[None]:
    """Name the file, instead of a function's argument, in errors about probabilities or labels."""
    try:
        yield
    except InputError as error:
        name = {"scores": "probabilities", "correct": "labels"}.get(error.argument or "")
        if name is None or error.file is not None:
            raise
        shown = "standard input" if path == "-" else shown_files(path)
        raise error.replace(argument=None, rule=(f"the {name} ", *error.rule), file=shown) from None


def shown_files(path: Files) -> str:
    """Return the name that messages use for one file or several."""
    return path if isinstance(path, str) else f"{len(path)} files"


def shown_name(path: Files) -> str | None:
    """Return the name of a file or folder for a figure; None for standard input or many files."""
    return Path(path).name if isinstance(path, str) and path != "-" else None


def typed_files(path: Files) -> str:
    """Return file names as a user types them in a shell."""
    return " ".join(map(shell_word, [path] if isinstance(path, str) else path))


def like(stem: str, path: Files) -> str:
    """Return a file name with the format of ``path``, for an example command.

    >>> like("new", "p.parquet"), like("new", ["a/b.csv", "c.csv"]), like("new", "-")
    ('new.parquet', 'new.csv', 'new.csv')
    """
    from trueup.io.several_files import files_of
    from trueup.io.sources import SUFFIXES

    first = path if isinstance(path, str) else path[0]
    try:
        found = (files_of(first) or [Path(first)])[0]
    except (InputError, OSError):
        found = Path(first)
    name = found.name.lower()
    suffix = next((each for each in SUFFIXES if name.endswith((each, f"{each}.gz"))), ".csv")
    return f"{stem}{suffix}"


def as_typed(columns: dict[str, Any], *only: str) -> str:
    """Return the options for columns as a user types them, or only those named in ``only``."""
    given = {name: value for name, value in columns.items() if value and name in (only or columns)}
    return "".join(f" {typed_option(name, value)}" for name, value in given.items())
