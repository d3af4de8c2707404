"""How often an error is found, and how many rows find it: the answers of `power`."""

from __future__ import annotations

from dataclasses import dataclass

from trueup.notebook import FieldsShown


@dataclass(frozen=True)
class Detection(FieldsShown):
    """How often a true error is found at one n.

    Attributes
    ----------
    power, standard_error
        Share of data sets whose test rejects calibration, and its Monte-Carlo error.
    n, true_error, norm, alpha
        Rows, the error and its norm, and the level of the test.
    statistic, world
        What the test looks at, and where data sets were drawn from.
    n_datasets
        Data sets drawn with the error, and as many without it.
    text
        The answer in a sentence.
    """

    power: float
    standard_error: float
    n: int
    true_error: float
    norm: float
    alpha: float
    statistic: str
    world: str
    n_datasets: int
    text: str

    @property
    def miss_rate(self) -> float:
        """Probability of missing the error (type II error)."""
        return 1 - self.power


@dataclass(frozen=True)
class SampleSize(FieldsShown):
    """How many rows find a true error with a given probability.

    Attributes
    ----------
    n, low, high
        The number of rows, and the range that the Monte-Carlo error leaves (95 %): from 1 to
        1,000,000 where ``n_datasets`` are too few to tell.
    power
        The probability asked for.
    true_error, norm, alpha, statistic, world
        As in `Detection`.
    tried
        Every n that was tried, with its power.
    text
        The answer in a sentence.
    """

    n: int
    low: int
    high: int
    power: float
    true_error: float
    norm: float
    alpha: float
    statistic: str
    world: str
    tried: tuple[Detection, ...]
    text: str
