"""Parts of an evaluation: small frozen values that turn into JSON and back."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from trueup.notebook import FieldsShown
from trueup.readable import short_number
from trueup.results import CalibrationTestResult, Decomposition, Interval
from trueup.tables import ResultTable


@dataclass(frozen=True)
class Overview(FieldsShown):
    """Size of the data, and mean prediction and outcome.

    Attributes
    ----------
    n, n_classes
        Rows and classes.
    kind
        ``"binary"`` for 1-D probabilities, ``"multiclass"`` for a matrix.
    classes
        Names of the classes, or None.
    accuracy
        Fraction of rows (of weight) whose predicted class occurred; None for soft labels. For 1-D
        probabilities the predicted class is 1 above 0.5. If they are confidences in predictions,
        the accuracy of these predictions is ``mean_label``.
    mean_score, mean_label
        Mean probability of the positive class and how often it occurred; for a matrix those of
        the predicted class, mean confidence and accuracy.
    weighted, soft, clusters
        Whether rows had weights, labels were probabilities, and how many clusters there were.
    distinct_scores
        Number of distinct scores (of the predicted class).
    n_zero_prob_outcomes
        Rows whose label had a predicted probability of 0; a calibrated model has none.
    """

    n: int
    n_classes: int
    kind: str
    classes: tuple[Any, ...] | None
    accuracy: float | None
    mean_score: float
    mean_label: float
    weighted: bool
    soft: bool
    clusters: int | None
    distinct_scores: int
    n_zero_prob_outcomes: int = 0


@dataclass(frozen=True)
class Finding(FieldsShown):
    """One metric with one lens, its interval and its test of calibration.

    Attributes
    ----------
    metric, lens
        Name of the metric, and the part of the predictions that it measures, in words.
    estimator
        Its specification, as one would type it.
    interval
        Estimate with its confidence interval.
    test
        Test of calibration with this metric as its statistic, or None (``notes`` say why).
    notes
        What a reader should know.
    """

    metric: str
    lens: str
    estimator: str
    interval: Interval
    test: CalibrationTestResult | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    def _line(self) -> str:
        estimate = f"{self.metric} {self.interval}"
        return estimate if self.test is None else f"{estimate}, {self.test}"

    @property
    def value(self) -> float:
        """The estimate."""
        return self.interval.estimate

    @property
    def pvalue(self) -> float | None:
        """The p-value, or None where there was no test."""
        return None if self.test is None else self.test.pvalue


@dataclass(frozen=True)
class Score(FieldsShown):
    """A proper score with its interval and its decomposition.

    ``decomposition`` is None for soft labels, and of the log loss of more than two classes.
    """

    name: str
    interval: Interval
    decomposition: Decomposition | None = None

    def _line(self) -> str:
        return f"{self.name} {self.interval}"


@dataclass(frozen=True)
class Detectable(FieldsShown):
    """Which error this many rows would have shown.

    Attributes
    ----------
    error
        The smallest error that the test finds with probability ``power``, in the norm of the
        headline metric; None where even an error of 1 would be missed.
    power, alpha
        That probability, and the level of the test.
    table
        For other errors: how many rows find them with that probability.
    text
        The same in words.
    """

    error: float | None
    power: float
    alpha: float
    table: ResultTable
    text: str


@dataclass(frozen=True)
class EstimatorAdvice(FieldsShown):
    """The estimator that `recommend_estimator` recommends for data like these."""

    best: str
    text: str
    unreliable: bool
    table: ResultTable

    def _line(self) -> str:
        return f"best {self.best}{' (unreliable)' * self.unreliable}"


@dataclass(frozen=True)
class Recalibration(FieldsShown):
    """What a recalibrator would gain, from predictions for rows it was not fitted on.

    Attributes
    ----------
    recommended
        Name of the recalibrator to use; ``"IdentityCalibration"`` where none is worth it.
    specification
        The call that makes it.
    explanation
        Why, in sentences.
    before, after
        Log loss and debiased calibration error out of fold, with their standard error or interval:
        ``log_loss``, ``log_loss_se``, ``error``, ``error_low``, ``error_high``.
    table
        All candidates (`AutoCalibration.table_`).
    rows
        How many rows were used: all, or a random part of very many.
    """

    recommended: str
    specification: str
    explanation: str
    before: dict[str, float]
    after: dict[str, float]
    table: ResultTable
    rows: int

    def _line(self) -> str:
        loss, error = (
            [short_number(found.get(name, math.nan)) for found in (self.before, self.after)]
            for name in ("log_loss", "error")
        )
        if self.after.get("error") == 0:  # only known to be small
            error[1] = f"below {short_number(self.after.get('error_high', math.nan))}"
        changes = f"log loss {' to '.join(loss)}, calibration error {' to '.join(error)}"
        return f"{self.recommended}; out of fold: {changes}"

    def __str__(self) -> str:
        """Print the explanation."""
        return self.explanation


@dataclass(frozen=True)
class LocalFinding(FieldsShown):
    """Errors among rows with similar features (Luo et al. 2022).

    Attributes
    ----------
    bandwidth, largest, mean
        The bandwidth, and the largest and mean local error there.
    over_bandwidths
        The same for many bandwidths (`mlce_over_bandwidths`).
    quantiles
        ``share`` and ``error``: the distribution of local errors over rows.
    landscape
        ``x1``, ``x2``, ``gap``, ``absolute``: local errors of rows over two features, or the
        first two principal components of more.
    axes
        What x1 and x2 are.
    rows
        How many rows were used.
    """

    bandwidth: float
    largest: float
    mean: float
    over_bandwidths: ResultTable
    quantiles: ResultTable
    landscape: ResultTable
    axes: tuple[str, str]
    rows: int


@dataclass(frozen=True)
class Frequency(FieldsShown):
    """How often the outcome occurred among some rows, as a natural frequency.

    Attributes
    ----------
    rows
        Which rows, in words.
    n
        How many of them there are.
    per
        The number of rows that ``text`` refers to, such as 1,000.
    mean_score, rate
        Mean prediction, and how often the outcome occurred; for a matrix mean confidence and
        accuracy.
    low, high
        Interval of the rate.
    text
        The sentence.
    """

    rows: str
    n: int
    per: int
    mean_score: float
    rate: float
    low: float
    high: float
    text: str
