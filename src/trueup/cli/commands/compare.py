"""`trueup compare`: compare the calibration of several models by paired tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trueup.cli.conditions import Condition, condition_option, exit_code
from trueup.cli.data_options import (
    FILES,
    data_options,
    json_option,
    metric_named,
    read,
    seed_option,
)
from trueup.cli.program import command
from trueup.cli.terminal import Screen, number, print_json, pvalue, span, working
from trueup.errors import InputError, called, conflict, must_be

if TYPE_CHECKING:
    from trueup.forecasts import Forecasts
    from trueup.results import Comparison
    from trueup.tables import ResultTable

__all__ = ["compare"]

SCORES: dict[str | None, str] = {"brier": "Brier score", "log_loss": "log loss"}


@command(
    "Compare the calibration of several models.",
    "trueup compare old.csv new.csv",
    "trueup compare p.csv --model raw='p_*' --model fixed='q_*' --labels y",
)
@click.argument("files", metavar="FILE...", type=FILES, nargs=-1, required=True)
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME=COLUMNS",
    help="Name and columns of one model in FILE, such as raw='p_*'. Use it at least twice.",
)
@click.option("--metric", metavar="NAME", help="Metric to compare.  [default: rmsce_debiased]")
@click.option(
    "--confidence-level", type=float, default=0.95, show_default=True, help="Confidence level."
)
@click.option(
    "--resamples",
    type=int,
    default=999,
    show_default=True,
    help="Number of bootstrap resamples.",
)
@seed_option
@data_options("groups", "features")
@condition_option
@json_option
def compare(
    files: tuple[str, ...],
    models: tuple[str, ...],
    metric: str | None,
    confidence_level: float,
    resamples: int,
    seed: int,
    columns: dict[str, Any],
    conditions: tuple[Condition, ...],
    as_json: bool,
) -> int:
    """Compare the calibration of two or more models on the same samples.

    Pass one FILE, folder or quoted pattern per model, with the same rows in the same order, or one
    FILE with the columns of several models. For two models, --fail-if accepts difference,
    difference.low, difference.high and pvalue.
    """
    if conditions and len(models or files) != 2:
        raise InputError("--fail-if", "needs exactly two models to compare")
    for condition in conditions:
        condition.check(("difference", "difference.low", "difference.high", "pvalue"))
    estimator = None if metric is None else metric_named(metric)
    forecasts = _of_columns(files, models, columns) if models else _of_files(files, columns)
    settings: dict[str, Any] = {
        "estimator": estimator,
        "confidence_level": confidence_level,
        "n_resamples": resamples,
        "rng": seed,
    }
    from trueup import inference

    screen = Screen()
    if len(forecasts) == 2:
        names = dict(zip(("probs_a", "probs_b"), forecasts, strict=True))
        with working("comparing"), called(names):
            found = inference.compare(*forecasts.values(), **settings)
        if as_json:
            print_json({"models": list(forecasts), **found.to_dict()})
        else:
            _show_two(screen, list(forecasts), found, metric)
        values = {"difference": found.difference, "pvalue": found.pvalue}
        ends = {"difference.low": found.interval.low, "difference.high": found.interval.high}
        return exit_code(conditions, values | ends)
    with working("comparing"):
        pairs = inference.compare_many(forecasts, **settings)
    if as_json:
        print_json({"models": list(forecasts), "pairs": pairs.to_dict()})
    else:
        _show_many(screen, pairs, metric)
    return 0


def _of_files(files: tuple[str, ...], columns: dict[str, Any]) -> dict[str, Forecasts]:
    """Return the models by file name, or by path if two files have the same name."""
    if len(files) < 2:
        hint = "give a second FILE, or --model NAME=COLUMNS twice"
        raise must_be("FILE", "at least two files, one per model", files[0], hint=hint)
    if len(set(files)) < len(files):
        raise must_be(
            "FILE", "not contain duplicates", next(f for f in files if files.count(f) > 1)
        )
    stems = [Path(file).name for file in files]
    unique = len(set(stems)) == len(stems)
    return {
        (stem if unique else file): read(file, columns)
        for stem, file in zip(stems, files, strict=True)
    }


def _of_columns(
    files: tuple[str, ...], models: tuple[str, ...], columns: dict[str, Any]
) -> dict[str, Forecasts]:
    """Return the models by their columns in one file."""
    if len(files) > 1 or len(models) < 2:
        raise InputError("--model", "requires one FILE, and at least two --model options")
    if files[0] == "-":
        why = "because FILE is read once per model"
        raise InputError("--model", f"cannot be used with standard input, {why}")
    if "probs" in columns:
        raise conflict("--probs", "--model")
    chosen: dict[str, Forecasts] = {}
    for text in models:
        name, sign, probs = text.partition("=")
        if not sign or not name or not probs or name in chosen:
            raise must_be("--model", "NAME=COLUMNS with a new name", text, hint="raw='p_*'")
        chosen[name] = read(files[0], {**columns, "probs": probs})
    return chosen


def _show_two(screen: Screen, names: list[str], found: Comparison, metric: str | None) -> None:
    screen.paragraph(f"First: {names[0]}; second: {names[1]}. {found.text}", strong=True)
    both = (found.first, found.second)
    tests = (found.first_test, found.second_test)
    level = f"{100 * found.interval.confidence_level:g}%"
    table = {
        "model": [*names, "difference"],
        metric or "rmsce_debiased": [*(number(i.estimate) for i in both), number(found.difference)],
        f"{level} interval": [
            *(span(i.low, i.high) for i in both),
            span(found.interval.low, found.interval.high),
        ],
        "p-value": [*(pvalue(test.pvalue) for test in tests), pvalue(found.pvalue)],
    }
    note = (
        "A model's p-value tests whether it is calibrated; the p-value of the difference tests "
        "whether the two errors are equal."
    )
    screen.table("Scores" if metric in SCORES else "Calibration error", table, note)


def _show_many(screen: Screen, pairs: ResultTable, metric: str | None) -> None:
    ranks: dict[str, tuple[int, float]] = {}
    for side in ("first", "second"):
        rows = zip(pairs[side], pairs[f"{side}_rank"], pairs[f"{side}_error"], strict=True)
        for name, rank, error in rows:
            ranks[str(name)] = (int(rank), float(error))
    order = sorted(ranks, key=lambda name: ranks[name])
    best = [name for name in order if ranks[name][0] == 1]
    words = " or ".join(best)
    better = f"have a lower {SCORES[metric]}" if metric in SCORES else "be better calibrated"
    screen.paragraph(f"No model is shown to {better} than {words}.", strong=True)
    table = {
        "model": order,
        "rank": [str(ranks[name][0]) for name in order],
        metric or "rmsce_debiased": [number(ranks[name][1]) for name in order],
    }
    note = "Models with the same rank cannot be distinguished on these data."
    screen.table("Models", table, note)
    differences = {
        "first": [str(name) for name in pairs["first"]],
        "second": [str(name) for name in pairs["second"]],
        "difference": [number(float(d)) for d in pairs["difference"]],
        "interval": [
            span(float(a), float(b)) for a, b in zip(pairs["low"], pairs["high"], strict=True)
        ],
        "p-value": [pvalue(float(p)) for p in pairs["pvalue"]],
        "adjusted (Holm)": [pvalue(float(p)) for p in pairs["adjusted_pvalue"]],
    }
    screen.table("Pairwise differences (first − second)", differences)
