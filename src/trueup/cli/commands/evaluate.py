"""`trueup evaluate`: is it calibrated, how far off, where, how sure, and what to do."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trueup.cli.conditions import Condition, condition_option, exit_code
from trueup.cli.data_options import (
    FILE,
    as_typed,
    bins_option,
    check_output,
    data_options,
    json_option,
    metric_named,
    read,
    seed_option,
)
from trueup.cli.program import command, say
from trueup.cli.terminal import Screen, print_json, working

if TYPE_CHECKING:
    from trueup.evaluation import Evaluation

__all__ = ["evaluate"]

SCORES = ("brier", "log_loss")
PARTS = ("low", "high", "pvalue")


@command(
    "Is it calibrated? Verdict, numbers, advice.",
    "trueup evaluate p.csv",
    "trueup evaluate p.parquet --probs 'p_*' --labels y --plot p.png -o p.json",
    "trueup evaluate p.csv --groups region --fail-if 'rmsce_debiased > 0.02'",
    "cat p.csv | trueup evaluate - --json",
)
@click.argument("file", type=FILE)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="One more metric; may be given again.",
)
@bins_option
@click.option(
    "--confidence-level", type=float, default=0.95, show_default=True, help="Of intervals."
)
@click.option("--resamples", type=int, default=999, show_default=True, help="Of the tests.")
@seed_option("all chance")
@click.option("--quick", is_flag=True, help="Leave out recalibration and advice.")
@click.option(
    "--plot", "picture", type=click.Path(dir_okay=False), help="Draw the overview: png, svg, pdf."
)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False), help="Write everything as JSON to a file."
)
@data_options()
@condition_option
@json_option
def evaluate(
    file: str,
    metrics: tuple[str, ...],
    bins: int,
    confidence_level: float,
    resamples: int,
    seed: int,
    quick: bool,
    picture: str | None,
    output: str | None,
    columns: dict[str, Any],
    conditions: tuple[Condition, ...],
    as_json: bool,
) -> int:
    """Say whether the probabilities in FILE are calibrated, and what to do if not.

    Names for --fail-if are those of the metrics (rmsce_debiased, ece_debiased, ece, …), each also
    with .low, .high and .pvalue; brier and log_loss; and pvalue, that of
    the omnibus test, which decides.
    """
    wanted = _checked(metrics, conditions)
    check_output(output, file)
    if picture is not None:
        from trueup.cli.figures import check_picture

        check_picture(picture, file)
    forecasts = read(file, columns)
    with working("evaluating"):
        from trueup.evaluation import evaluate as evaluated

        found = evaluated(
            forecasts,
            metrics=_metrics(forecasts, wanted),
            n_bins=bins,
            confidence_level=confidence_level,
            n_resamples=resamples,
            recalibrate=not quick,
            advice=not quick,
            rng=seed,
        )
    found = replace(found, reproduce=_as_typed(found, file, columns, metrics))
    if output is not None:
        found.to_json(output)
    if picture is not None:
        from trueup.cli.figures import save_figure

        save_figure(found.plot(name=None if file == "-" else Path(file).name), picture)
    if as_json:
        print_json(found.to_dict())
    else:
        from trueup.cli.evaluation_output import show

        show(Screen(), found, file, columns)
        if picture is not None:
            say(f"the picture is in {picture}.")
        if output is not None:
            say(f"the numbers are in {output}.")
    return exit_code(conditions, numbers_of(found))


def _as_typed(
    found: Evaluation, file: str, columns: dict[str, Any], metrics: tuple[str, ...]
) -> str:
    """Return the command that gives these numbers again."""
    from trueup.evaluation.reproduce import about
    from trueup.evaluation.settings import Settings

    settings, usual = found.settings, Settings.checked()
    named = {"n_bins": "bins", "confidence_level": "confidence-level", "n_resamples": "resamples"}
    text = f"trueup evaluate {shlex.quote(file)}{as_typed(columns)}"
    text += "".join(f" --metric {name}" for name in metrics)
    for name, option in named.items():
        if settings[name] != getattr(usual, name):
            text += f" --{option} {settings[name]}"
    text += f" --seed {settings['seed']}" + " --quick" * (not settings["recalibrate"])
    return f"{text}  # {about(found.versions, found.fingerprint)}"


def numbers_of(found: Evaluation) -> dict[str, float | None]:
    """Every number that a condition can name."""
    numbers: dict[str, float | None] = {"pvalue": found.pvalue}
    parts = [(each.metric, each.interval, each.pvalue) for each in found.estimates]
    parts += [(score.name, score.interval, None) for score in found.scores]
    for name, interval, pvalue in parts:
        ends = {"low": interval.low, "high": interval.high, "pvalue": pvalue}
        numbers[name] = interval.estimate
        numbers |= {f"{name}.{part}": value for part, value in ends.items()}
    return numbers


def _checked(metrics: Sequence[str], conditions: Sequence[Condition]) -> list[str]:
    """Names of metrics that are asked for; refuse unknown ones before any work is done."""
    if not metrics and not conditions:
        return []
    from trueup.metrics.declare import NAMED

    for name in metrics:
        metric_named(name)
    names = {f"{name}.{part}" for name in NAMED for part in PARTS} | {"pvalue", *NAMED}
    for condition in conditions:
        if condition.name not in names:
            condition.check({"pvalue", *NAMED})
    asked = [condition.name.partition(".")[0] for condition in conditions]
    return list(dict.fromkeys([*metrics, *(name for name in asked if name != "pvalue")]))


def _metrics(forecasts: Any, wanted: list[str]) -> list[str] | None:
    """The metrics of every evaluation and those that are wanted beside them; None for the first."""
    from trueup.evaluation.findings import usual_metrics

    usual = usual_metrics(forecasts)
    more = [name for name in wanted if name not in usual and name not in SCORES]
    return [*usual, *more] if more else None
