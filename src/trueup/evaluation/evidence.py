"""What the words of an evaluation rest on, and whether it speaks against calibration."""

from __future__ import annotations

import math
from typing import NamedTuple

from trueup.evaluation.sections import Detectable, Finding, Overview, Recalibration
from trueup.inference import GroupErrors, holm
from trueup.results import CalibrationTestResult
from trueup.tables import BinTable, ResultTable

SMALL = 0.01
"""Below this, an error that is there is called small, if outcomes are not rare themselves."""
SMALL_SHARE = 0.1
"""Of how often the rarer outcome comes true, an error below this share is small."""


def amount(value: float) -> str:
    """Return a number to three decimals, or as many as show two digits.

    >>> amount(0.1234), amount(0.00001234), amount(0.0)
    ('0.123', '0.000012', '0.000')
    """
    digits = 3 if value <= 0 else max(3, 1 - math.floor(math.log10(value)))
    return f"{value:.{digits}f}"


class Evidence(NamedTuple):
    """Numbers and tables that the answers are read from."""

    overview: Overview
    headline: Finding
    all_classes: Finding | None
    table: BinTable
    band: ResultTable | None
    classes: ResultTable | None
    groups: GroupErrors | None
    detectable_error: Detectable | None
    recalibration: Recalibration | None
    alpha: float
    groups_left_out: str
    resamples_of_groups: int
    by_frequency: bool
    others: dict[str, float]  # p-values of tests that do not decide

    @property
    def tests(self) -> list[CalibrationTestResult]:
        """The tests that decide: of the headline, and of all classes where there was one."""
        findings = (self.headline, self.all_classes)
        return [each.test for each in findings if each is not None and each.test is not None]

    def pvalue(self, finding: Finding | None) -> float | None:
        """Return the p-value of one of these findings, adjusted (Holm) for there being two."""
        if finding is None or finding.test is None:
            return None
        tests = self.tests
        adjusted = holm([test.pvalue for test in tests])
        return float(adjusted[[test is finding.test for test in tests].index(True)])

    @property
    def deciding_pvalue(self) -> float | None:
        """The p-value of the verdict: the smallest of the tests that decide, adjusted."""
        found = [test.pvalue for test in self.tests]
        return float(holm(found).min()) if found else None

    def rejects(self, finding: Finding | None) -> bool:
        """Whether the test of a finding speaks against calibration."""
        pvalue = self.pvalue(finding)
        return pvalue is not None and pvalue <= self.alpha

    @property
    def classes_above(self) -> bool:
        """Whether all classes were not tested together, and their interval does not hold 0."""
        every = self.all_classes
        return every is not None and every.test is None and every.interval.low > 0

    @property
    def miscalibrated(self) -> bool:
        """Whether a test, or an interval in its place, or an outcome speaks against the model."""
        if self.overview.n_zero_prob_outcomes or self.classes_above:
            return True
        if self.headline.test is None:
            return self.headline.interval.low > 0
        return self.rejects(self.headline) or self.rejects(self.all_classes)

    @property
    def only_classes(self) -> bool:
        """Whether what speaks against the model are the probabilities of all classes alone."""
        classes = self.rejects(self.all_classes) or self.classes_above
        return classes and not self.rejects(self.headline)

    @property
    def rarer(self) -> float:
        """How often the rarer outcome comes true, or is said to: what an error is large beside."""
        both = (self.overview.mean_label, self.overview.mean_score)
        return max(1 / self.overview.n, *(min(mean, 1 - mean) for mean in both))

    @property
    def small(self) -> bool:
        """Whether the error, if there is one, is small for certain, and beside how rare it is."""
        if self.overview.n_zero_prob_outcomes:
            return False
        beside = {self.headline.metric: self.rarer}
        if self.all_classes is not None:
            beside[self.all_classes.metric] = 1 / self.overview.n_classes
        findings = [each for each in (self.headline, self.all_classes) if self.rejects(each)]
        findings += [self.all_classes] if self.classes_above else []
        return all(
            each.interval.high < min(SMALL, SMALL_SHARE * beside[each.metric])
            for each in findings or [self.headline]
            if each
        )

    @property
    def one_outcome(self) -> bool:
        """Whether all outcomes of a binary problem are the same."""
        return self.overview.kind == "binary" and self.overview.mean_label in (0.0, 1.0)

    @property
    def rows(self) -> str:
        """How many rows, and clusters of them, in words."""
        found = f"{self.overview.n:,} row{'s' * (self.overview.n != 1)}"
        many = self.overview.clusters
        return found if many is None else f"{found} in {many:,} cluster{'s' * (many != 1)}"

    def p(self, finding: Finding) -> str:
        """Return the p-value of a finding in words."""
        pvalue, test = self.pvalue(finding), finding.test
        assert pvalue is not None
        assert test is not None
        least = 1 / (1 + test.notes["n_resamples"]) if "n_resamples" in test.notes else 0.0
        sign = "≤" if test.pvalue <= least * (1 + 1e-9) else "="
        several = " adjusted for two tests" if len(self.tests) > 1 else ""
        # As many digits as show on which side of the level it is.
        digits = next((d for d in (2, 3, 4) if self._same_side(pvalue, f"{pvalue:.{d}g}")), 5)
        return f"p {sign} {pvalue:.{digits}g}{several}"

    def _same_side(self, pvalue: float, text: str) -> bool:
        return (float(text) <= self.alpha) == (pvalue <= self.alpha)
