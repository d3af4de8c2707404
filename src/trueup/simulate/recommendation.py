"""Which estimator can be trusted here? A world like the data, and what each makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trueup import metrics
from trueup.calls.hints import hinted
from trueup.calls.progress import Progress, stage, with_progress
from trueup.checks import check_whole
from trueup.errors import must_be
from trueup.estimators import Estimator
from trueup.estimators.base import Metric, estimator_of
from trueup.forecasts import Forecasts
from trueup.notebook import FieldsShown, text_table
from trueup.seeds import Seed
from trueup.simulate.fitting.fit_world import Fitted, fit
from trueup.simulate.studies.run_study import study
from trueup.simulate.studies.study_result import StudyRow
from trueup.tables.base import Library, frame_of

MOST_DRAWS = 10_000_000
FEW_ROWS = 100
COLUMNS = ("measure", "truth", "mean", "bias", "sd", "rmse", "rmse_se", "n", "n_datasets")

CANDIDATES: dict[str, Estimator] = {
    "ece": metrics.ece.estimator(),
    "ece (equal mass)": metrics.ece_debiased.estimator().plug_in(),
    "ece_debiased": metrics.ece_debiased.estimator(),
    "ece_sweep": metrics.ece_sweep.estimator(),
    "rmsce": metrics.rmsce.estimator(),
    "rmsce (equal mass)": metrics.rmsce_debiased.estimator().plug_in(),
    "rmsce_debiased": metrics.rmsce_debiased.estimator(),
    "rmsce_sweep": metrics.rmsce_sweep.estimator(),
}


@dataclass(frozen=True)
class Advice(FieldsShown):
    """Estimators ranked by how close they come to the truth in a world like the data.

    Attributes
    ----------
    best
        Name of the estimator with the smallest root mean squared error of all.
    text
        The advice in a few sentences.
    rows
        One for each estimator, best first: mean, bias, sd and rmse against the world's truth.
    fitted
        The world, and how well it fits.
    unreliable
        Whether the advice is unreliable: few rows, a poor fit, or one that did not settle.
    """

    best: str
    text: str
    rows: tuple[StudyRow, ...]
    fitted: Fitted
    unreliable: bool

    def to_frame(self, library: Library | None = None) -> Any:
        """Return a data frame with one line per estimator, best first."""
        return frame_of({k: [getattr(row, k) for row in self.rows] for k in COLUMNS}, library)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON."""
        return {
            "best": self.best,
            "text": self.text,
            "unreliable": self.unreliable,
            "rows": [{key: getattr(row, key) for key in COLUMNS} for row in self.rows],
            "fitted": self.fitted.to_dict(),
        }

    def __str__(self) -> str:
        """Print the answer and the table."""
        formats = {"truth": ".2f", "bias": "+.2f", "sd": ".2f", "rmse": ".2f"}
        cells = [
            [row.measure, *(format(100 * getattr(row, key), form) for key, form in formats.items())]
            for row in self.rows
        ]
        lines = text_table(["estimator", *formats], cells, [False, True, True, True, True])
        return "\n".join([self.text, "", *lines, "All in points (hundredths)."])


@hinted
@with_progress("recommend_estimator")
def recommend_estimator(
    probs: object,
    labels: object = None,
    *,
    estimators: Mapping[str, Metric] | None = None,
    n_datasets: int = 500,
    rng: Seed = 0,
    logits: bool = False,
    progress: Progress = None,
) -> Advice:
    """Rank estimators by how close they come to the truth for data like this.

    Fits a world to the scores (of the top label, for a matrix) and their outcomes, draws many
    data sets of the same size from it, and compares each estimator with the world's true error
    in its own norm. The ranking is by root mean squared error, bias and noise together; ranks
    are comparable within a norm, since errors of different norms have different truths.

    The world is a Beta with a smooth curve. Where it fits poorly the advice is unreliable, and says
    so. Estimators are judged in that one world. It is a little worse calibrated than the model,
    because it also fits noise; for a nearly calibrated model the debiased errors deserve more
    credit than their rank.

    Parameters
    ----------
    probs, labels, logits
        As everywhere; or one `Forecasts`.
    estimators
        What to compare, by name; by default the named errors of both norms, with bins of equal
        width and of equal mass.
    n_datasets
        Data sets to draw; fewer where they are long (10 million draws in all, or 20 sets).
    rng
        Seed.
    progress
        Whether to show progress: True, False, or a function of a report; None for the setting of
        `show_progress`.

    References
    ----------
    Roelofs et al. 2022, §5, do this for ten networks.

    Examples
    --------
    >>> from trueup.simulate import Beta, Power, World
    >>> data = World(Beta(3.0, 1.0), Power(1.5)).sample(500, rng=0)
    >>> recommend_estimator(data, n_datasets=100).rows[0].n
    500
    """
    check_whole("n_datasets", n_datasets, 1)
    forecasts = Forecasts.from_arrays(probs, labels, logits=logits)
    with stage("a world is fitted"):
        fitted = fit(forecasts)
    sets = min(n_datasets, max(20, MOST_DRAWS // forecasts.n))
    measures = CANDIDATES if estimators is None else _errors_of_a_norm(estimators)
    found = study({"like yours": fitted.world}, measures, forecasts.n, n_datasets=sets, rng=rng)
    rows = tuple(sorted(found.rows, key=lambda row: row.rmse))
    norms = {name: estimator.own_norm for name, estimator in measures.items()}
    doubts = _doubts(fitted)
    return Advice(rows[0].measure, _answer(rows, norms, doubts), rows, fitted, bool(doubts))


def _errors_of_a_norm(estimators: Mapping[str, Metric]) -> dict[str, Estimator]:
    """Return the estimators by name; raise InputError for one that no true error belongs to."""
    found = {name: estimator_of("estimators", each) for name, each in estimators.items()}
    for each in found.values():
        if each.own_norm is None or not each.of_true_error:
            raise must_be("estimators", "contain errors of a norm, such as ece", each)
    return found


def _doubts(fitted: Fitted) -> list[str]:
    """Why a world should not be relied upon, in sentences."""
    doubts = []
    if fitted.scores_fit.n < FEW_ROWS:
        doubts.append(f"{fitted.scores_fit.n} rows are too few to tell a good fit from a bad one.")
    if not (fitted.aic[0].converged and fitted.scores_fit.converged):
        doubts.append("The fit did not settle: the labels are nearly separated by the scores.")
    if fitted.poor:
        doubts.append(fitted.text)
    return doubts


def _answer(rows: tuple[StudyRow, ...], norms: Mapping[str, Any], doubts: list[str]) -> str:
    """Say which estimator is best in each norm: errors of different norms have different truths."""
    sentences = [f"{rows[0].n} rows were drawn many times from a world fitted to your data."]
    for norm in dict.fromkeys(norms.values()):
        same = [row for row in rows if norms[row.measure] == norm]
        best, worst = same[0], same[-1]
        sentence = (
            f"Of the errors of norm {norm:g}, {best.measure} comes closest to that world's true "
            f"error of {_points(best.truth)}, off by {_points(best.rmse)} "
            f"(bias {100 * best.bias:+.2f})"
        )
        close = [row.measure for row in same[1:] if row.rmse <= best.rmse + 2 * best.rmse_se]
        if close:
            sentence += f"; as good within the noise of the simulation: {', '.join(close)}"
        if worst.measure not in (best.measure, *close):
            sentence += f"; farthest off is {worst.measure}, by {_points(worst.rmse)}"
        sentences.append(f"{sentence}.")
    if doubts:
        sentences.append(f"This advice is weak. {' '.join(doubts)}")
    return " ".join(sentences)


def _points(error: float) -> str:
    return f"{100 * error:.2f} points"
