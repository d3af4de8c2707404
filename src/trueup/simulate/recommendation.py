"""Recommendation of an estimator, by comparison on a simulated model that resembles the data."""

from __future__ import annotations

import math
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
    """Result of `recommend_estimator`: estimators ranked by their accuracy on simulated data.

    Parameters
    ----------
    best : str
        Name of the estimator with the smallest root mean squared error.
    text : str
        The recommendation in a few sentences.
    rows : tuple of StudyRow
        One row per estimator, best first: mean, bias, sd and rmse compared with the true error.
    fitted : Fitted
        The simulated model, and how well it fits.
    unreliable : bool
        Whether the recommendation is unreliable: few rows, a poor fit, or a fit that did not
        converge.

    Examples
    --------
    >>> from trueup.simulate import Beta, Power, World
    >>> data = World(Beta(3.0, 1.0), Power(1.5)).sample(500, rng=0)
    >>> result = recommend_estimator(data, n_datasets=50)
    >>> len(result.rows) > 5, result.unreliable
    (True, False)
    """

    best: str
    text: str
    rows: tuple[StudyRow, ...]
    fitted: Fitted
    unreliable: bool

    def to_frame(self, library: Library | None = None) -> Any:
        """Return a data frame with one row per estimator, best first.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            Library to use (default: the first that is installed).

        Returns
        -------
        DataFrame
            The data frame, or a pyarrow table.
        """
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

    def _line(self) -> str:
        return f"best {self.best}{' (unreliable)' * self.unreliable}"

    def __str__(self) -> str:
        """Print the recommendation and the table."""
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
    """Rank estimators by their accuracy on simulated data like yours.

    Use it to choose a metric. It fits a simulated model to the scores (of the top label, for a
    matrix) and their outcomes, and draws many datasets of the same size from it. Each estimator is
    compared with the true error in its own norm. The ranking is by root mean squared error, which
    combines bias and noise. Ranks are comparable within a norm only, because the true error depends
    on the norm.

    If the simulated model fits poorly, the result is marked as unreliable. The simulated model is a
    little worse calibrated than yours, because it also fits noise. For a nearly calibrated model
    the debiased errors are therefore better than their ranks.

    Parameters
    ----------
    probs : array_like, Forecasts or World
        Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data, or a
        simulated model (`World`).
    labels : array_like, optional
        Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
    estimators : dict of str to Estimator or named metric, optional
        Estimators to compare, by name (default: the named errors of both norms, with equal-width
        and equal-mass bins).
    n_datasets : int, default 500
        Number of simulated datasets; fewer for large data (10 million rows in total, or 20
        datasets).
    rng : int, Generator or None, default 0
        Random seed; the same seed gives the same result.
    logits : bool, default False
        Whether `probs` holds logits instead of probabilities.
    progress : bool or callable, optional
        Whether to show progress: True, False, or a function that gets each report. The default is
        the setting of `show_progress`.

    Returns
    -------
    Advice
        The ranking and the recommendation.

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
    """Return the estimators by name; raise InputError for one without a true error."""
    found = {name: estimator_of("estimators", each) for name, each in estimators.items()}
    for each in found.values():
        if each.own_norm is None or not each.of_true_error:
            raise must_be("estimators", "contain errors of a norm, such as ece", each)
    return found


def _doubts(fitted: Fitted) -> list[str]:
    """Return the reasons why a world is unreliable, in sentences."""
    doubts = []
    if fitted.scores_fit.n < FEW_ROWS:
        rows = f"{fitted.scores_fit.n} rows"
        doubts.append(f"With {rows}, a good fit cannot be distinguished from a poor one.")
    if not (fitted.aic[0].converged and fitted.scores_fit.converged):
        doubts.append("The fit did not converge because the scores nearly separate the labels.")
    if fitted.poor:
        doubts.append(fitted.text)
    return doubts


def _answer(rows: tuple[StudyRow, ...], norms: Mapping[str, Any], doubts: list[str]) -> str:
    """Return the best estimator for each norm: errors of different norms are not comparable."""
    sentences = [f"Simulated many datasets of {rows[0].n:,} rows from a model fitted to your data."]
    for norm in dict.fromkeys(norms.values()):
        same = [row for row in rows if norms[row.measure] == norm]
        best, worst = same[0], same[-1]
        sentences.append(
            f"Among L{'∞' if math.isinf(norm) else f'{norm:g}'} errors, {best.measure} is closest "
            f"to the true error of {100 * best.truth:.2f} points (RMSE {100 * best.rmse:.2f}, "
            f"bias {100 * best.bias:+.2f})."
        )
        close = [row.measure for row in same[1:] if row.rmse <= best.rmse + 2 * best.rmse_se]
        if close:
            sentences.append(f"Equally good within simulation noise: {', '.join(close)}.")
        if worst.measure not in (best.measure, *close):
            rmse = f"RMSE {100 * worst.rmse:.2f}"
            sentences.append(f"Least accurate: {worst.measure} ({rmse}).")
    if doubts:
        sentences.append(f"Treat this recommendation with caution. {' '.join(doubts)}")
    return " ".join(sentences)
