"""What the words of an evaluation rest on, and whether it speaks against calibration."""

from __future__ import annotations

from typing import NamedTuple

from trueup.evaluation.sections import Detectable, Finding, Overview, Repair
from trueup.inference import GroupErrors, holm
from trueup.results import HypothesisResult
from trueup.tables import BinTable, Columns

__all__ = ["Grounds"]

SMALL = 0.01
"""Below this, an error that is there is called small."""


class Grounds(NamedTuple):
    """Numbers and tables that the answers are read from."""

    overview: Overview
    headline: Finding
    all_classes: Finding | None
    table: BinTable
    band: Columns | None
    classes: Columns | None
    groups: GroupErrors | None
    detectable: Detectable | None
    repair: Repair | None
    alpha: float
    groups_left_out: str = ""

    @property
    def tests(self) -> list[HypothesisResult]:
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

    def rejects(self, finding: Finding | None) -> bool:
        """Whether the test of a finding speaks against calibration."""
        pvalue = self.pvalue(finding)
        return pvalue is not None and pvalue <= self.alpha

    @property
    def against(self) -> bool:
        """Whether a test speaks against calibration; without one, whether the interval does."""
        if self.headline.test is None:
            return self.headline.interval.low > 0
        return self.rejects(self.headline) or self.rejects(self.all_classes)

    @property
    def small(self) -> bool:
        """Whether the error, if there is one, is small for certain."""
        findings = [each for each in (self.headline, self.all_classes) if self.rejects(each)]
        return all(each.interval.high < SMALL for each in findings or [self.headline] if each)

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
        return f"p {sign} {pvalue:.2g}{several}"
