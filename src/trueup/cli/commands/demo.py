"""`trueup demo`: the whole workflow on classifiers that the command trains."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trueup.cli.program import command
from trueup.cli.terminal import Screen, estimated, number, pvalue, span, working

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trueup.evaluation import Evaluation

    Both = tuple[NDArray[Any], NDArray[Any]]  # of the rows for calibration, and of the test rows
    Probs = dict[str, Both]  # by model

__all__ = ["demo"]

NEGLIGIBLE = 0.02
FILES = {
    "predictions.csv": "test-set predictions of the worst model, with labels",
    "recalibrated.csv": "the same after recalibration",
    "calibrator.json": "the recalibrator, for trueup apply",
    "before.json, after.json": "both evaluations, with all numbers",
    "before.png, after.png": "an overview of both",
    "reliability-*.svg": "both reliability diagrams",
}


@command(
    "Run the whole workflow on example classifiers.", "trueup demo", "trueup demo --dir my-demo"
)
@click.option(
    "--dir",
    "directory",
    type=click.Path(file_okay=False),
    default="out/demo",
    show_default=True,
    help="Folder for predictions, evaluations, figures and recalibrators.",
)
def demo(directory: str) -> None:
    """Train classifiers on scikit-learn datasets, evaluate them and recalibrate the worst.

    Three models are trained on one part of each dataset and recalibrated on a second. All numbers
    come from a third part that is held out.
    """
    screen = Screen()
    for title, folder, data in (
        ("Breast tumors, malignant or benign (2 classes)", "tumors", _tumors),
        ("Handwritten digits (10 classes)", "digits", _digits),
    ):
        with working("training three classifiers"):
            found = data()
        _judge(screen, title, Path(directory, folder), *found)
    screen.paragraph(f"All results are in {directory}, in one folder per dataset:", strong=True)
    screen.answers(FILES)
    predictions = Path(directory, "digits", "predictions.csv")
    recalibrated = predictions.with_name("recalibrated.csv")
    screen.commands(
        "Try it yourself:",
        [
            *activation(),
            f"trueup evaluate {shlex.quote(str(predictions))}",
            f"trueup plot {shlex.quote(str(predictions))} --kind classes -o classes.png",
            f"trueup compare {shlex.quote(str(predictions))} {shlex.quote(str(recalibrated))}",
            "trueup datasets",
        ],
    )


def activation() -> list[str]:
    """Return the shell command that puts `trueup` on the path, in a list; empty if not needed."""
    script = Path(sys.prefix, "bin", "activate")
    if shutil.which("trueup") is not None or not script.is_file():
        return []
    return [f". {shlex.quote(os.path.relpath(script))}"]


def _tumors() -> tuple[Probs, Both]:
    from sklearn.datasets import load_breast_cancer

    measured, benign = load_breast_cancer(return_X_y=True)
    probs, labels = _trained(measured, 1 - benign)
    return {name: (a[:, 1], b[:, 1]) for name, (a, b) in probs.items()}, labels


def _digits() -> tuple[Probs, Both]:
    from sklearn.datasets import load_digits

    return _trained(*load_digits(return_X_y=True))


def _trained(x: Any, y: Any) -> tuple[Probs, Both]:
    """Train on 30% of the rows; predict the 30% for recalibration and the 40% for testing.

    The result is the probabilities by model, and the labels.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    split = {"stratify": y, "random_state": 0}
    x_fit, x_rest, y_fit, y_rest = train_test_split(x, y, train_size=0.3, **split)
    split["stratify"] = y_rest
    x_more, x_test, y_more, y_test = train_test_split(x_rest, y_rest, test_size=4 / 7, **split)
    models = {
        "naive Bayes": GaussianNB(),
        "random forest": RandomForestClassifier(random_state=0),
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    }
    for model in models.values():
        model.fit(x_fit, y_fit)
    probs = {k: (m.predict_proba(x_more), m.predict_proba(x_test)) for k, m in models.items()}
    return probs, (y_more, y_test)


def _judge(screen: Screen, title: str, folder: Path, both_probs: Probs, both_labels: Both) -> None:
    """Show the calibration of the models, recalibrate the worst, and write the results."""
    from trueup.cli.figures import save_figure
    from trueup.evaluation import evaluate
    from trueup.io import write_table
    from trueup.recalibrate import AutoCalibration

    labels_more, labels = both_labels
    tests = {name: probs[1] for name, probs in both_probs.items()}
    screen.paragraph(f"{title}, {len(labels)} test rows.", strong=True)
    screen.answers({name: in_words(probs, labels) for name, probs in tests.items()})
    worst = _show_ranking(screen, tests, labels)
    with working(f"evaluating and recalibrating {worst}"):
        before = evaluate(tests[worst], labels, recalibrate=False)
        calibrator = AutoCalibration().fit(both_probs[worst][0], labels_more)
        fixed = calibrator.predict_proba(tests[worst])
        if tests[worst].ndim == 1:
            fixed = fixed[:, 1]
        after = evaluate(fixed, labels, recalibrate=False)
    screen.paragraph(f"{worst}: {_findings(before)}")
    kind = calibrator.best_name_
    screen.paragraph(
        f"{worst} after {kind}, fitted on {len(labels_more)} other rows: {_findings(after)}"
    )
    _show_before_after(screen, before, after)
    folder.mkdir(parents=True, exist_ok=True)
    write_table(folder / "predictions.csv", {"p": tests[worst], "y": labels})
    write_table(folder / "recalibrated.csv", {"p": fixed, "y": labels})
    calibrator.best_.save(folder / "calibrator.json")
    for found, name in ((before, "before"), (after, "after")):
        found.to_json(folder / f"{name}.json")
        save_figure(found.plot(), str(folder / f"{name}.png"))
        save_figure(found.plot("reliability"), str(folder / f"reliability-{name}.svg"))


def _findings(found: Evaluation) -> str:
    """Return the sentences of the verdict before its recommendations."""
    return " ".join(found.answers[name] for name in ("calibrated", "magnitude", "location"))


def in_words(probs: Any, labels: Any) -> str:
    """Return a sentence that compares the mean confidence of a model with its accuracy."""
    import numpy as np

    matrix = probs if probs.ndim == 2 else np.column_stack([1 - probs, probs])
    confidence, accuracy = matrix.max(axis=1).mean(), np.mean(matrix.argmax(axis=1) == labels)
    gap = accuracy - confidence
    if abs(gap) < NEGLIGIBLE:
        verdict = "well matched on average"
    else:
        verdict = "overconfident" if gap < 0 else "underconfident"
    return f"mean confidence {confidence:.1%}, accuracy {accuracy:.1%}: {verdict}."


def _show_ranking(screen: Screen, tests: dict[str, Any], labels: Any) -> str:
    """Write the models' errors; return the name of the model with the largest."""
    from trueup.inference import calibration_test, interval
    from trueup.metrics import rmsce_debiased

    found = {name: interval(rmsce_debiased, probs, labels, rng=0) for name, probs in tests.items()}
    order = sorted(found, key=lambda name: found[name].estimate)
    table = {
        "model": order,
        "calibration error": [estimated(found[name]) for name in order],
        "95% interval": [span(found[name].low, found[name].high) for name in order],
        "p-value": [pvalue(calibration_test(tests[name], labels, rng=0).pvalue) for name in order],
    }
    note = "rmsce_debiased: 0 is perfect. A small p-value is evidence of miscalibration."
    screen.table("Calibration of the three models", table, note)
    return order[-1]


def _show_before_after(screen: Screen, before: Evaluation, after: Evaluation) -> None:
    both = (before, after)
    table = {
        "": ["before", "after"],
        "calibration error": [estimated(each.estimates[0].interval) for each in both],
        "95% interval": [
            span(each.estimates[0].interval.low, each.estimates[0].interval.high) for each in both
        ],
        "p-value": [pvalue(each.pvalue) for each in both],
        **{
            name: [number(each.scores[place].interval.estimate) for each in both]
            for place, name in enumerate(("Brier score", "log loss"))
        },
    }
    screen.table("Before and after recalibration, on held-out rows", table)
