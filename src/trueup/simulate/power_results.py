"""Results of a power analysis: the power at a number of rows, and the rows for a power."""

from __future__ import annotations

from dataclasses import dataclass

from trueup.notebook import FieldsShown


@dataclass(frozen=True)
class Detection(FieldsShown):
    """Result of `power`: how often a test detects a true error with n rows.

    Parameters
    ----------
    power : float
        Fraction of datasets whose test rejects calibration.
    standard_error : float
        Monte Carlo error of the power.
    n : int
        Number of rows of a dataset.
    true_error : float
        The true calibration error.
    norm : float
        Norm of the error.
    alpha : float
        Significance level of the test.
    statistic : str
        ``"omnibus"``, or the statistic of a consistency test.
    world : str
        The simulated model that the datasets were drawn from.
    n_datasets : int
        Number of simulated datasets with the error.
    text : str
        The result in a sentence.

    Examples
    --------
    >>> from trueup.simulate import Beta, Power, World, power
    >>> result = power(World(Beta(2.0, 1.0), Power(1.5)), true_error=0.1, n=300, n_datasets=100)
    >>> result.power + result.miss_rate
    1.0
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
        """Probability that the test misses the error (type II error)."""
        return 1 - self.power


@dataclass(frozen=True)
class SampleSize(FieldsShown):
    """Result of `sample_size`: number of rows that a test needs to detect a true error.

    Parameters
    ----------
    n : int
        Number of rows.
    low : int
        Lower end of its 95% Monte Carlo interval; 1 if ``n_datasets`` are too few to tell.
    high : int
        Upper end of the interval; 1,000,000 if ``n_datasets`` are too few to tell.
    power : float
        The requested power.
    true_error : float
        The true calibration error.
    norm : float
        Norm of the error.
    alpha : float
        Significance level of the test.
    statistic : str
        ``"omnibus"``, or the statistic of a consistency test.
    world : str
        The simulated model that the datasets were drawn from.
    tried : tuple of Detection
        Every n that was tried, with its power.
    text : str
        The result in a sentence.

    Examples
    --------
    >>> from trueup.simulate import Beta, Power, World, sample_size
    >>> result = sample_size(World(Beta(2.0, 1.0), Power(3.0)), true_error=0.2, n_datasets=100)
    >>> result.low <= result.n <= result.high
    True
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
