"""`trueup fit`: fit a recalibrator and report its expected gain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from trueup.cli.data_options import (
    Files,
    as_typed,
    check_output,
    data_options,
    files_argument,
    json_option,
    like,
    read_found,
)
from trueup.cli.messages import shell_word
from trueup.cli.program import command
from trueup.cli.recalibrator_options import METHODS, make
from trueup.cli.terminal import Screen, estimated, number, print_json, span, working
from trueup.errors import called, required

if TYPE_CHECKING:
    from trueup.cli.expected_gain import Gain
    from trueup.recalibrate import Recalibrator

__all__ = ["fit"]

FEW = 6  # numbers of an array that are shown
APPLIED = ("probs", "groups", "features")
BOOKKEEPING = ("classes_", "n_features_in_", "gradient_norm_", "gradient")


@command(
    "Fit a recalibrator.",
    "trueup fit p.csv -o calibrator.json",
    "trueup fit p.csv --method temperature -o calibrator.json",
    "trueup fit p.csv --method histogram --param n_bins=10 -o calibrator.json",
)
@files_argument
@click.option(
    "--method",
    type=click.Choice(list(METHODS)),
    default="auto",
    show_default=True,
    help="Recalibration method; auto compares several and keeps the simplest within one standard "
    "error of the best.",
)
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="KEY=VALUE",
    help="Parameter of the method, such as n_bins=20. Repeatable.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    required=True,
    help="File for the recalibrator: JSON, or safetensors if it is large.",
)
@data_options("clusters")
@json_option
def fit(
    file: Files,
    method: str,
    params: tuple[str, ...],
    output: str,
    columns: dict[str, Any],
    as_json: bool,
) -> None:
    """Fit a recalibrator to FILE, on which the model must not have been trained.

    With --groups, each group gets its own recalibrator; --method local needs --features.
    """
    if method == "local" and "features" not in columns:
        raise required("--features", "--method local needs them, such as --features 'x_*'")
    check_output(output, file)
    with working("loading"):
        options: dict[str, Any] = {name: columns[name] for name in ("logits", "normalize")}
        chosen: Any = make(method, params)
        from trueup.cli.expected_gain import FOLDS, cross_fitted
    found = read_found(file, columns)
    forecasts, explanation = found.forecasts, ""
    if forecasts.classes is not None:
        options["classes"] = list(forecasts.classes)
    chosen.set_params(**options)
    named = (text.partition("=")[0].strip() for text in params)
    from trueup.calls.progress import stage, stages

    auto_share = FOLDS if method == "auto" else 0
    with (
        working("fitting"),
        called({name: f"--param {name}" for name in named}),
        stages(auto_share + 1 + FOLDS, 2 + (method == "auto")),
    ):
        if method == "auto":
            with stage("candidates", auto_share):
                auto = chosen.fit(forecasts)
            explanation = auto.explanation_
            chosen = auto.best_.set_params(**options)
        if "groups" in columns:
            from trueup.recalibrate import GroupwiseCalibration

            chosen = GroupwiseCalibration(chosen, **options)
        with stage("all rows"):
            fitted: Recalibrator = chosen.fit(forecasts)
        with stage("gain on held-out rows", FOLDS):
            gain = cross_fitted(fitted, forecasts)
    if len(found.names.probs) == fitted.n_features_in_:  # for `apply` to look for
        fitted.fit_["columns"] = list(found.names.probs)
    fitted.save(output)
    if as_json:
        shown = {
            "recalibrator": repr(fitted),
            "learned": _learned(fitted),
            "notes": fitted.notes_,
            "explanation": explanation,
            "gain": None if gain is None else gain.to_dict(),
            "path": output,
        }
        print_json(shown)
    else:
        screen = Screen()
        _show(screen, fitted, explanation, gain)
        columns_typed = as_typed(columns, *APPLIED)
        new, fixed = like("new", file), like("fixed", file)
        line = f"trueup apply {shell_word(output)} {new}{columns_typed} -o {fixed}"
        screen.commands(f"Written to {output}. To use it:", [line])


def _show(screen: Screen, fitted: Recalibrator, explanation: str, gain: Gain | None) -> None:
    many = fitted.fit_["n"]
    name, rows = type(fitted).__name__, f"{many:,} row{'s' * (many != 1)}"
    sentence = "There are too few rows to estimate its gain." if gain is None else gain.text
    if name == "IdentityCalibration":
        gain, what = None, "The recalibrator in the file leaves probabilities unchanged."
        screen.paragraph(f"On {rows}, recalibration brings no clear gain. {what}", strong=True)
    else:
        screen.paragraph(f"{name} was fitted to {rows}. {sentence}", strong=True)
    if explanation:
        screen.paragraph(explanation)
    learned = {key: _text(value) for key, value in _learned(fitted).items()}
    if learned:
        screen.answers(learned)
    for note in fitted.notes_:
        screen.paragraph(f"Note: {note}.")
    if gain is not None:
        before, after = gain.error
        table = {
            "": ["original", "recalibrated"],
            "log loss": [number(value) for value in gain.log_loss],
            "Brier score": [number(value) for value in gain.brier],
            "calibration error": [estimated(before), estimated(after)],
            "95% interval": [span(before.low, before.high), span(after.low, after.high)],
        }
        title = f"Out-of-fold predictions ({gain.n_folds} folds)"
        screen.table(title, table, "Calibration error: rmsce_debiased.")


def _learned(fitted: Recalibrator) -> dict[str, Any]:
    """Return the fitted parameters by name: numbers and short arrays."""
    found = {name: value for name, value in vars(fitted).items() if name.endswith("_")}
    maps = found.pop("maps_", [])
    if len(maps) == 1:  # for two classes there is one map, whose numbers have names
        found |= maps[0]
    return {
        name: value for name, value in found.items() if name not in BOOKKEEPING and _is_small(value)
    }


def _is_small(value: Any) -> bool:
    if isinstance(value, bool | str):
        return False
    if isinstance(value, int | float):
        return True
    return getattr(value, "ndim", 0) > 0 and value.size <= FEW and value.dtype.kind in "fiu"


def _text(value: Any) -> str:
    if hasattr(value, "ravel"):
        return ", ".join(f"{item:.6g}" for item in value.ravel())
    return f"{value:.6g}"
