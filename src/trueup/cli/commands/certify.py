"""`trueup certify`: verify or refute an upper limit on the calibration error."""

from __future__ import annotations

import math
from typing import Any

import click

from trueup.cli.conditions import Condition, condition_option, exit_code
from trueup.cli.data_options import Files, data_options, files_argument, json_option, read
from trueup.cli.program import command
from trueup.cli.recalibrator_options import load_calibrator
from trueup.cli.terminal import Screen, number, print_json
from trueup.errors import conflict, must_be

__all__ = ["certify"]

NUMBERS = ("upper_bound", "lower_bound", "n_additional")


@command(
    "Certify that the calibration error is below a limit.",
    "trueup certify p.csv --max-error 0.05",
    "trueup certify fixed.csv --max-error 0.05 --recalibrator calibrator.json",
    "trueup certify p.csv --max-error 0.05 --fail-if 'upper_bound > 0.05'",
)
@files_argument
@click.option(
    "--max-error", type=float, required=True, help="Largest acceptable calibration error."
)
@click.option(
    "--norm",
    type=int,
    default=2,
    show_default=True,
    help="2 for root mean square error, 1 for mean absolute error.",
)
@click.option(
    "--outputs",
    metavar="NUMBERS",
    help="All probabilities that the model can produce, such as 0.1,0.5,0.9.",
)
@click.option(
    "--recalibrator",
    type=click.Path(dir_okay=False),
    help="Recalibrator (histogram, scaling-binning) that produced these probabilities.",
)
@click.option(
    "--method",
    type=click.Choice(["finite-sample", "asymptotic"]),
    default="finite-sample",
    show_default=True,
    help="finite-sample bounds hold for any sample size; asymptotic bounds are tighter but "
    "approximate (large samples).",
)
@click.option(
    "--confidence-level", type=float, default=0.95, show_default=True, help="Confidence level."
)
@data_options("groups", "features", "clusters")
@condition_option
@json_option
def certify(
    file: Files,
    max_error: float,
    norm: int,
    outputs: str | None,
    recalibrator: str | None,
    method: str,
    confidence_level: float,
    columns: dict[str, Any],
    conditions: tuple[Condition, ...],
    as_json: bool,
) -> int:
    """Verify or refute an upper limit on the calibration error.

    Only a model with finitely many outputs can be verified; others can be refuted. --fail-if
    accepts upper_bound, lower_bound and n_additional.
    """
    for condition in conditions:
        condition.check(NUMBERS)
    declared = _declared(outputs, recalibrator)
    forecasts = read(file, columns)
    from trueup.inference import certify as certified

    found = certified(
        forecasts,
        max_error=max_error,
        norm=norm,
        outputs=declared,
        confidence_level=confidence_level,
        method=method,
    )
    if as_json:
        print_json(found.to_dict())
    else:
        screen = Screen()
        screen.paragraph(found.text, strong=True)
        shown = {
            "verdict": found.verdict,
            "accepted": f"a calibration error of at most {number(max_error)}",
            "bounds": f"{number(found.lower_bound)} to {number(found.upper_bound)}",
            "estimate": f"{number(found.notes['debiased_error'])} on {forecasts.n:,} rows",
        }
        if declared is None:
            shown["outputs"] = "unknown; declare them with --outputs or --recalibrator"
        screen.answers(shown)
    numbers = {name: getattr(found, name) for name in NUMBERS}
    never = {"n_additional": math.inf} if found.n_additional is None else {}
    return exit_code(conditions, numbers | never)


def _declared(outputs: str | None, recalibrator: str | None) -> Any:
    """Return the model's possible outputs: numbers, or a recalibrator with finitely many."""
    if outputs is not None and recalibrator is not None:
        raise conflict("--outputs", "--recalibrator")
    if recalibrator is not None:
        calibrator = load_calibrator(recalibrator)
        if not hasattr(calibrator, "outputs_"):
            hint = "fit one with --method histogram or scaling-binning"
            rule = "a calibrator with finitely many outputs"
            raise must_be("--recalibrator", rule, type(calibrator), hint=hint)
        return calibrator
    if outputs is None:
        return None
    try:
        return [float(text) for text in outputs.split(",")]
    except ValueError:
        raise must_be("--outputs", "numbers with commas, such as 0.1,0.5,0.9", outputs) from None
