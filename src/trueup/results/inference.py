"""How sure we are: intervals, tests, comparisons and certificates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

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
    """An estimate with the range that holds the truth in ``confidence_level`` of all samples.

    Attributes
    ----------
    low, high
        Ends of the interval, on the scale of the estimator's value.
    estimate
        The estimator's value on these data.
    confidence_level
        How often such an interval holds its target, as promised; docs/coverage.md has it measured.
    method
        How it was made: ``"analytic"``, ``"percentile"``, ``"basic"``, ``"bca"`` or ``"widest"``.
    target
        Which truth it speaks of, in words.
    notes
        What a reader should know; ``single_unit`` where one row, or one cluster, cannot show
        by how much others differ, and the interval is all that the target can be.
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
    """What a test of "these probabilities are calibrated" found.

    Attributes
    ----------
    statistic
        The value of the test statistic on these data.
    pvalue
        How often a calibrated model would show a statistic as extreme; never 0.
    method
        Which test.
    null
        What exactly is tested, in words.
    notes
        What a reader should know: resamples, bandwidths, whether the test is conservative.
    """

    statistic: float
    pvalue: float
    method: str
    null: str
    notes: dict[str, Any] = field(default_factory=dict)

    def _line(self) -> str:
        test = f"{self.method} test, statistic {short_number(self.statistic)}"
        return f"{pvalue_with_bound(self.pvalue, self.notes)} ({test})"

    @property
    def parts(self) -> dict[str, Any]:
        """P-values of the statistics that the omnibus test combines, by name; else empty.

        Of a matrix by block and name. Those of the block "one class" are the smallest of any
        class, which are no p-values of tests.
        """
        return dict(self.notes.get("parts", {}))

    @property
    def strongest(self) -> dict[str, Any]:
        """Which part of the omnibus test has the smallest p-value; else empty.

        ``"part"`` is its name, ``"pvalue"`` its p-value; for a matrix ``"block"`` and ``"class"``
        say of what, and ``"scores"`` are the ends of a range. It describes the data: chosen from
        many, its p-value is too small for a test.
        """
        return dict(self.notes.get("strongest", {}))


@dataclass(frozen=True)
class Comparison(FieldsShown):
    """Two models on the same samples: by how much do their calibration errors differ?

    Attributes
    ----------
    difference
        The error of the first minus that of the second: above 0, the second is better calibrated.
    interval
        Paired interval for the difference, on the same scale.
    pvalue
        Of the test that the two errors are the same.
    first, second
        Each model's own `Interval`.
    first_test, second_test
        Each model's own test of calibration.
    text
        The answer in plain words, with a warning where estimates and tests disagree. Its numbers
        are positive for the better model: "lower by 0.1 (95% interval 0.05 to 0.15)".
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
        test = pvalue_with_bound(self.pvalue, self.interval.notes)
        return f"difference {self.interval}, {test}"


@dataclass(frozen=True)
class Certificate(FieldsShown):
    """Whether a calibration error is shown to be at most what was asked (Kumar et al. 2019).

    Attributes
    ----------
    verdict
        ``"verified"``, ``"refuted"`` or ``"not enough data"``.
    max_error
        What was asked.
    upper_bound, lower_bound
        Bounds of the error at the confidence level.
    n_additional
        About how many more samples would decide; 0 where it is decided, None where no number would.
    confidence_level, method
        How sure, and by which bound: ``"finite-sample"`` or ``"asymptotic"``.
    text
        The answer in plain words.
    notes
        What a reader should know.
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
        return f"{self.verdict}: error at most {self.max_error:g}; {level} bounds {bounds}"
