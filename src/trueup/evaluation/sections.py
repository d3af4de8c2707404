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
        Numbers of rows and classes.
    kind
        ``"binary"`` for 1-D probabilities, ``"multiclass"`` for a matrix.
    classes
        Names of the classes, or None.
    accuracy
        Fraction of rows (of weight) whose predicted class occurred; None for soft labels. For 1-D
        probabilities the predicted class is 1 above 0.5. If they are confidences in predictions,
        the accuracy of these predictions is ``mean_label``.
    mean_score, mean_label
        Mean probability of the positive class, and how often it occurred; for a matrix, mean
        confidence and accuracy.
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
        The call that makes it.
    interval
        Estimate with its confidence interval.
    test
        Test of calibration with this metric as its statistic, or None (``notes`` say why).
    notes
        Notes for the reader.
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
        """The p-value, or None if there was no test."""
        return None if self.test is None else self.test.pvalue


@dataclass(frozen=True)
class Score(FieldsShown):
    """A proper score with its interval and its decomposition.

    ``decomposition`` is None for soft labels and for the log loss of more than two classes.
    """

    name: str
    interval: Interval
    decomposition: Decomposition | None = None

    def _line(self) -> str:
        return f"{self.name} {self.interval}"


@dataclass(frozen=True)
class Detectable(FieldsShown):
    """The smallest error that a test with this many rows detects.

    Attributes
    ----------
    error
        The smallest error that the test detects with probability ``power``, in the norm of the
        headline metric; None if even an error of 1 would be missed.
    power, alpha
        That probability, and the significance level of the test.
    table
        For other errors, the number of rows that detects them with that probability.
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
    """The expected gain of a recalibrator, from out-of-fold predictions.

    Attributes
    ----------
    recommended
        Name of the recalibrator to use; ``"IdentityCalibration"`` if none improves the predictions
        clearly.
    specification
        The call that makes it.
    explanation
        The reasons, in sentences.
    before, after
        Log loss and debiased calibration error out of fold, with their standard error or interval:
        ``log_loss``, ``log_loss_se``, ``error``, ``error_low``, ``error_high``.
    table
        All candidates (`AutoCalibration.table_`).
    rows
        Number of rows that were used: all, or a random sample of very many.
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
        The bandwidth, and the largest and mean local error at this bandwidth.
    over_bandwidths
        The same for many bandwidths (`mlce_over_bandwidths`).
    quantiles
        ``share`` and ``error``: the distribution of local errors over rows.
    landscape
        ``x1``, ``x2``, ``gap``, ``absolute``: local errors of rows over two features, or the
        first two principal components of more.
    axes
        Names of x1 and x2.
    rows
        Number of rows that were used.
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
        Description of the rows.
    n
        Number of these rows.
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
