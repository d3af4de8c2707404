"""Results of intervals, tests, comparisons and certificates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trueup._typing import Floats
from trueup.codec import LEFT_OUT, plain
from trueup.notebook import FieldsShown
from trueup.readable import (
    clipped_rows,
    estimate_with_ends,
    percent,
    pvalue_with_bound,
    short_number,
)

WARNINGS = ("single_unit", "estimate_outside")
"""Notes that are printed next to the numbers of an interval."""


@dataclass(frozen=True)
class Interval(FieldsShown):
    """Point estimate with a confidence interval.

    The interval covers its target in a fraction ``confidence_level`` of all datasets;
    docs/coverage.md has the measured coverage.

    Parameters
    ----------
    low : float
        Lower end, on the scale of the estimate.
    high : float
        Upper end.
    estimate : float
        Value of the estimator on these data.
    confidence_level : float
        Confidence level.
    method : str
        ``"analytic"``, ``"percentile"``, ``"basic"``, ``"bca"`` or ``"widest"``.
    target : str
        The quantity that the interval covers, in words.
    notes : dict
        Notes for the reader. ``single_unit`` means that a single row, or a single cluster, does not
        show variability; the interval is then the whole range of the target.

    Examples
    --------
    >>> import trueup as tu
    >>> result = tu.interval(tu.Brier(), [0.1, 0.8, 0.3, 0.9], [0, 1, 0, 1])
    >>> result.low < result.estimate < result.high, result.confidence_level
    (True, 0.95)
    """

    low: float
    high: float
    estimate: float
    confidence_level: float
    method: str
    target: str
    notes: dict[str, Any] = field(default_factory=dict)

    def _line(self) -> str:
        text = estimate_with_ends(self.estimate, self.low, self.high, self.confidence_level)
        warnings = [self.notes[name] for name in WARNINGS if name in self.notes]
        return "; ".join(filter(None, [text, *warnings, clipped_rows(self.notes)]))


@dataclass(frozen=True)
class CalibrationTestResult(FieldsShown):
    """Result of a calibration test.

    Parameters
    ----------
    statistic : float
        Value of the test statistic on these data.
    pvalue : float
        Probability that a calibrated model gives a statistic at least as extreme; never 0.
    method : str
        Name of the test.
    null : str
        The null hypothesis, in words.
    notes : dict
        Notes for the reader: resamples, bandwidths, whether the test is conservative.
    null_draws : ndarray or None, optional
        Values of the statistic among resamples under the null hypothesis, shape (n_resamples,), on
        the scale of ``statistic``; read-only. None if nothing was drawn, as for a test with an
        asymptotic p-value. Their mean and standard deviation show which value a calibrated model
        has on these predictions (Vaicenavicius et al. 2019, Tables 3 to 5). An error of norm p has
        ``statistic`` and draws before the root 1/p. `trueup.plotting.plot_null` plots them. They
        are neither compared by ``==`` nor stored in JSON.

    Examples
    --------
    >>> import numpy as np
    >>> import trueup as tu
    >>> result = tu.calibration_test([0.1, 0.2, 0.8, 0.9] * 10, [1, 1, 0, 0] * 10)
    >>> result.pvalue < 0.05
    True

    The calibration error of these data, and that of a calibrated model:

    >>> p = np.linspace(0.01, 0.99, 500)
    >>> y = np.random.default_rng(0).random(500) < p**2
    >>> result = tu.calibration_test(p, y, statistic=tu.ece)
    >>> round(result.statistic, 3)
    0.184
    >>> round(float(result.null_draws.mean()), 3), round(float(result.null_draws.std()), 3)
    (0.055, 0.011)
    """

    statistic: float
    pvalue: float
    method: str
    null: str
    notes: dict[str, Any] = field(default_factory=dict)
    null_draws: Floats | None = field(default=None, repr=False, compare=False, metadata=LEFT_OUT)

    def __post_init__(self) -> None:
        if self.null_draws is not None:
            own = np.array(self.null_draws, np.float64)  # a view would keep more than the draws
            own.setflags(write=False)
            object.__setattr__(self, "null_draws", own)

    def to_dict(self, *, draws: bool = False) -> dict[str, Any]:
        """Return plain Python values, ready for JSON; NaN and infinity are None.

        Parameters
        ----------
        draws : bool, default False
            Whether to include ``null_draws``.

        Returns
        -------
        dict
            The fields by name.
        """
        found = super().to_dict()
        return found | {"null_draws": plain(self.null_draws)} if draws else found

    def _line(self) -> str:
        test = f"{self.method} test, statistic {short_number(self.statistic)}"
        return f"{pvalue_with_bound(self.pvalue, self.notes)} ({test})"

    @property
    def parts(self) -> dict[str, Any]:
        """P-values of the statistics that the omnibus test combines, by name; otherwise empty.

        For a matrix they are listed by block and name. Those of the block "one class" are the
        smallest of any class, so they are not valid p-values.
        """
        return dict(self.notes.get("parts", {}))

    @property
    def strongest(self) -> dict[str, Any]:
        """The part of the omnibus test with the smallest p-value; otherwise empty.

        ``"part"`` is its name and ``"pvalue"`` its p-value. For a matrix, ``"block"`` and
        ``"class"`` state the block and the class, and ``"scores"`` are the ends of a range. It
        describes the data: because it was selected from many, its p-value is too small for a test.
        """
        return dict(self.notes.get("strongest", {}))


@dataclass(frozen=True)
class Comparison(FieldsShown):
    """Result of `compare`: the difference between two models' calibration errors.

    Parameters
    ----------
    difference : float
        Error of the first model minus error of the second; if positive, the second model is better
        calibrated.
    interval : Interval
        Paired interval for the difference, on the same scale.
    pvalue : float
        p-value of the test that the two errors are equal.
    first : Interval
        Interval for the error of the first model.
    second : Interval
        Interval for the error of the second model.
    first_test : CalibrationTestResult
        Test of calibration for the first model.
    second_test : CalibrationTestResult
        Test of calibration for the second model.
    text : str
        The result in words, with a warning if estimates and tests disagree. Its numbers are
        positive for the better model: "lower by 0.1 (95% interval 0.05 to 0.15)".

    Examples
    --------
    >>> import trueup as tu
    >>> labels = [0, 0, 1, 1] * 10
    >>> first, second = [0.4, 0.4, 0.6, 0.6] * 10, [0.1, 0.1, 0.9, 0.9] * 10
    >>> round(tu.compare(first, second, labels, n_resamples=99).difference, 6)
    0.3
    """

    difference: float
    interval: Interval
    pvalue: float
    first: Interval
    second: Interval
    first_test: CalibrationTestResult
    second_test: CalibrationTestResult
    text: str

    def _line(self) -> str:
        test = pvalue_with_bound(self.pvalue, self.interval.notes, sides=2)
        return f"difference {self.interval}, {test}"


@dataclass(frozen=True)
class Certificate(FieldsShown):
    """Result of `certify`: bounds on the calibration error and a verdict (Kumar et al. 2019).

    Parameters
    ----------
    verdict : {"verified", "refuted", "not enough data"}
        Whether the error is shown to be at most ``max_error``.
    max_error : float
        The limit.
    upper_bound : float
        Upper bound on the error at the confidence level.
    lower_bound : float
        Lower bound on the error at the confidence level.
    n_additional : int or None
        Approximate number of additional rows that would decide: 0 if it is decided, None if no
        number would.
    confidence_level : float
        Confidence level of each bound.
    method : {"finite-sample", "asymptotic"}
        Kind of bounds.
    text : str
        The result in words.
    notes : dict
        Notes for the reader.

    Examples
    --------
    >>> import trueup as tu
    >>> result = tu.certify([0.2, 0.8] * 500, [0, 1] * 500, max_error=0.1, outputs=[0.2, 0.8])
    >>> result.verdict, result.lower_bound > 0.1
    ('refuted', True)
    """

    verdict: str
    max_error: float
    upper_bound: float
    lower_bound: float
    n_additional: int | None
    confidence_level: float
    method: str
    text: str
    notes: dict[str, Any] = field(default_factory=dict)

    def _line(self) -> str:
        bounds = f"{short_number(self.lower_bound)} to {short_number(self.upper_bound)}"
        level = percent(self.confidence_level)
        return f"error at most {self.max_error:g}: {self.verdict}; {level} bounds {bounds}"
