"""`trueup evaluate`: test calibration, estimate the error and recommend what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from trueup.cli.conditions import Condition, condition_option, exit_code
from trueup.cli.data_options import (
    Files,
    as_typed,
    bins_option,
    check_output,
    check_outputs_differ,
    data_options,
    files_argument,
    json_option,
    metric_named,
    read,
    seed_option,
    shown_name,
    typed_files,
)
from trueup.cli.group_output import is_table, refuse_without_groups, write_groups
from trueup.cli.program import command, say
from trueup.cli.terminal import Screen, print_json, working

if TYPE_CHECKING:
    from trueup.evaluation import Evaluation

__all__ = ["evaluate"]

SCORES = ("brier", "log_loss")
PARTS = ("low", "high", "pvalue")


@command(
    "Test calibration and recommend what to do.",
    "trueup evaluate p.csv",
    "trueup evaluate p.parquet --probs 'p_*' --labels y --plot p.png -o p.json",
    "trueup evaluate p.csv --groups region --fail-if 'rmsce_debiased > 0.02'",
    "trueup evaluate daily/ -o days.csv",
    "trueup evaluate p.csv --groups model,task -o groups.csv",
    "cat p.csv | trueup evaluate - --json",
)
@files_argument
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="Additional metric to compute. Repeatable.",
)
@bins_option
@click.option(
    "--confidence-level", type=float, default=0.95, show_default=True, help="Confidence level."
)
@click.option(
    "--resamples",
    type=int,
    default=999,
    show_default=True,
    help="Number of resamples for tests.",
)
@seed_option
@click.option("--quick", is_flag=True, help="Skip recalibration and the estimator recommendation.")
@click.option(
    "--plot",
    "figure_file",
    type=click.Path(dir_okay=False),
    help="Save an overview figure (.png, .svg or .pdf).",
)
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=click.Path(dir_okay=False),
    help="Save all results to *.json, or all groups to *.csv, *.parquet, … Repeatable.",
)
@data_options()
@condition_option
@json_option
def evaluate(
    file: Files,
    metrics: tuple[str, ...],
    bins: int,
    confidence_level: float,
    resamples: int,
    seed: int,
    quick: bool,
    figure_file: str | None,
    outputs: tuple[str, ...],
    columns: dict[str, Any],
    conditions: tuple[Condition, ...],
    as_json: bool,
) -> int:
    """Evaluate the calibration of the predictions in FILE.

    --fail-if accepts any metric name (rmsce_debiased, ece_debiased, ece, …), its .low, .high or
    .pvalue, brier, log_loss, and pvalue (of the omnibus test, which decides the verdict).
    """
    wanted = _checked(metrics, conditions)
    for output in outputs:
        check_output(output, file)
    if figure_file is not None:
        from trueup.cli.figures import check_figure_file

        check_figure_file(figure_file, file, option="--plot")
    check_outputs_differ(output=outputs, plot=figure_file)
    forecasts = read(file, columns)
    tables = [output for output in outputs if is_table(output)]
    if tables:
        refuse_without_groups(tables[0], forecasts)
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
    for output in outputs:
        if output in tables:
            write_groups(output, found)
        else:
            found.to_json(output)
    if figure_file is not None:
        from trueup.cli.figures import save_figure

        save_figure(found.plot(name=shown_name(file)), figure_file)
    if as_json:
        print_json(found.to_dict())
    else:
        from trueup.cli.evaluation_output import show

        show(Screen(), found, file, columns)
        if figure_file is not None:
            say(f"saved the figure to {figure_file}.")
        for output in outputs:
            what = "groups" if output in tables else "numbers"
            say(f"saved the {what} to {output}.")
    return exit_code(conditions, numbers_of(found))


def _as_typed(
    found: Evaluation, file: Files, columns: dict[str, Any], metrics: tuple[str, ...]
) -> str:
    """Return the command that reproduces these numbers."""
    from trueup.evaluation.reproduce import about
    from trueup.evaluation.settings import Settings

    settings, usual = found.settings, Settings.checked()
    named = {"n_bins": "bins", "confidence_level": "confidence-level", "n_resamples": "resamples"}
    text = f"trueup evaluate {typed_files(file)}{as_typed(columns)}"
    text += "".join(f" --metric {name}" for name in metrics)
    for name, option in named.items():
        if settings[name] != getattr(usual, name):
            text += f" --{option} {settings[name]}"
    text += f" --seed {settings['seed']}" + " --quick" * (not settings["recalibrate"])
    return f"{text}  # {about(found.versions, found.fingerprint)}"


def numbers_of(found: Evaluation) -> dict[str, float | None]:
    """Return every number that a condition can name."""
    numbers: dict[str, float | None] = {"pvalue": found.pvalue}
    parts = [(each.metric, each.interval, each.pvalue) for each in found.estimates]
    parts += [(score.name, score.interval, None) for score in found.scores]
    for name, interval, pvalue in parts:
        ends = {"low": interval.low, "high": interval.high, "pvalue": pvalue}
        numbers[name] = interval.estimate
        numbers |= {f"{name}.{part}": value for part, value in ends.items()}
    return numbers


def _checked(metrics: Sequence[str], conditions: Sequence[Condition]) -> list[str]:
    """Return the names of the requested metrics; reject unknown ones before any work is done."""
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
    """Return the usual metrics plus the requested ones, or None if these add nothing."""
    from trueup.evaluation.findings import usual_metrics

    usual = usual_metrics(forecasts)
    more = [name for name in wanted if name not in usual and name not in SCORES]
    return [*usual, *more] if more else None
