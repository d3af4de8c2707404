"""The evidence behind the sentences of an evaluation, and the rule for its status."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trueup._typing import Ints
from trueup.evaluation.sections import Detectable, Finding, Overview, Recalibration
from trueup.evaluation.verdict.halves import Halves
from trueup.evaluation.verdict.wording import bound_of, named, pvalue_of, rows_of
from trueup.inference import GroupErrors, holm
from trueup.results import CalibrationTestResult
from trueup.tables import BinTable, ResultTable

MISCALIBRATED = "miscalibrated"
TESTS_DISAGREE = "tests disagree"
NO_EVIDENCE = "no evidence"
NOT_TESTED = "not tested"

ROUNDING = 9
"""Digits of errors that are compared: those of two columns are the same."""
SMALL = 0.01
"""Below this, an error that is there is called small, if outcomes are not rare themselves."""
SMALL_SHARE = 0.1
"""Below this share of the rate of the rarer outcome, an error is small."""


class Evidence(NamedTuple):
    """Numbers and tables on which the sentences are based.

    ``test`` is the omnibus test, or None; ``not_tested`` then gives the reason. ``test_of_rest`` is
    the test of the rows whose outcome had a positive probability, if some rows had none. ``others``
    are the p-values of all other tests by name.
    """

    overview: Overview
    test: CalibrationTestResult | None
    not_tested: str
    test_of_rest: CalibrationTestResult | None
    headline: Finding
    all_classes: Finding | None
    halves: Halves
    table: BinTable
    band: ResultTable | None
    classes: ResultTable | None
    groups: GroupErrors | None
    clinical: ResultTable | None
    detectable_error: Detectable | None
    recalibration: Recalibration | None
    alpha: float
    groups_left_out: str
    resamples_of_groups: int
    by_frequency: bool
    others: dict[str, float]

    @property
    def status(self) -> str:
        """Return the status from all tests; `Evaluation.status` defines the words."""
        if self.overview.n_zero_prob_outcomes:
            return MISCALIBRATED
        if self.test is None:
            return NOT_TESTED
        if self.test.pvalue <= self.alpha:
            return MISCALIBRATED
        return TESTS_DISAGREE if self.something_rejects else NO_EVIDENCE

    @property
    def miscalibrated(self) -> bool:
        """Whether the status is `MISCALIBRATED`."""
        return self.status == MISCALIBRATED

    @property
    def rejected(self) -> bool:
        """Whether the omnibus test rejects, without outcomes of probability 0 if there are any.

        An impossible outcome alone shows that the model is wrong, but not which scores are wrong.
        """
        if self.test is None or not self.miscalibrated:
            return False
        rest = self.test_of_rest
        return rest is None or rest.pvalue <= self.alpha

    @property
    def adjusted(self) -> dict[str, float]:
        """Holm-adjusted p-values of the other tests."""
        if not self.others:
            return {}
        return dict(zip(self.others, map(float, holm(list(self.others.values()))), strict=True))

    @property
    def rejecting(self) -> list[str]:
        """Names of other tests whose adjusted p-value rejects, the smallest first."""
        adjusted = self.adjusted
        found = [name for name, pvalue in adjusted.items() if pvalue <= self.alpha]
        return sorted(found, key=lambda name: (adjusted[name], self.others[name]))

    def bad_parts(self, table: ResultTable | None) -> Ints:
        """Return rows of classes or groups whose adjusted p-value rejects, sorted by error."""
        if table is None or "adjusted_pvalue" not in table:
            return np.array([], np.int64)
        bad = np.flatnonzero(table["adjusted_pvalue"] <= self.alpha)
        return bad[np.argsort(-table["error"][bad].round(ROUNDING), kind="stable")]

    @property
    def parts(self) -> dict[str, ResultTable]:
        """Tables of classes and groups, by the name of one row."""
        groups = None if self.groups is None else self.groups.table
        found = {"class": self.classes, "group": groups}
        return {kind: table for kind, table in found.items() if table is not None}

    @property
    def something_rejects(self) -> bool:
        """Whether an adjusted p-value of another test, of a class or of a group rejects."""
        parts = any(len(self.bad_parts(table)) for table in self.parts.values())
        return bool(self.rejecting) or parts

    @property
    def rarer(self) -> float:
        """Rate of the rarer outcome, observed or predicted: an error is large compared with it."""
        both = (self.overview.mean_label, self.overview.mean_score)
        return max(1 / self.overview.n, *(min(mean, 1 - mean) for mean in both))

    @property
    def small(self) -> bool:
        """Whether the interval shows that the error is small, also relative to the rarer rate."""
        if self.overview.n_zero_prob_outcomes:
            return False
        compared_with = {self.headline.metric: self.rarer}
        if self.all_classes is not None:
            compared_with[self.all_classes.metric] = 1 / self.overview.n_classes
        findings = [each for each in (self.headline, self.all_classes) if each is not None]
        return all(
            each.interval.high < min(SMALL, SMALL_SHARE * compared_with[each.metric])
            for each in findings
        )

    @property
    def one_outcome(self) -> bool:
        """Whether all outcomes of a binary problem are the same."""
        return self.overview.kind == "binary" and self.overview.mean_label in (0.0, 1.0)

    @property
    def multiclass(self) -> bool:
        """Whether the predictions are a matrix, of which the top label is evaluated."""
        return self.overview.kind == "multiclass"

    @property
    def of_second_class(self) -> str:
        """Return, for two columns, which one is used, if it is not the top label."""
        names = self.overview.classes or (0, 1)
        return f" of class {named(names[1])}" if self.multiclass else ""

    @property
    def rows(self) -> str:
        """Return the numbers of rows and clusters in words."""
        found = rows_of(self.overview.n)
        many = self.overview.clusters
        return found if many is None else f"{found} in {many:,} cluster{'s' * (many != 1)}"

    def p(self, test: CalibrationTestResult) -> str:
        """Return the p-value of a test in words."""
        least = 1 / (1 + test.notes["n_resamples"]) if "n_resamples" in test.notes else 0.0
        if test.pvalue <= least * (1 + 1e-9):
            return f"p ≤ {bound_of(test.pvalue, self.alpha)}"
        return f"p = {pvalue_of(test.pvalue, self.alpha)}"
