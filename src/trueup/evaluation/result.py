"""The result of `evaluate`: all numbers and tables, frozen, ready for JSON, words and pictures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trueup.atomic_write import write_atomically
from trueup.checks import check_schema
from trueup.codec import read_back, written
from trueup.errors import InputError, Verbatim, must_be
from trueup.evaluation import text
from trueup.evaluation.sections import (
    Detectable,
    EstimatorAdvice,
    Finding,
    Frequency,
    LocalFinding,
    Overview,
    Recalibration,
    Score,
)
from trueup.evaluation.verdict.evidence import MISCALIBRATED
from trueup.inference import GroupErrors
from trueup.results import CalibrationTestResult
from trueup.tables import ResultTable
from trueup.tables.base import Table

SCHEMA = 3
TEXT = tuple('{["')  # how JSON begins, and no path does


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Whether probabilities are calibrated, how certain that is, and what would fix them.

    Attributes
    ----------
    verdict
        The answer in one paragraph.
    status
        What the tests say. ``"miscalibrated"``: the omnibus test rejects calibration at the level
        1 − confidence_level, or an observed outcome had a predicted probability of 0.
        ``"tests disagree"``: the omnibus test does not reject, but another test, a class or a group
        does after adjustment by Holm. ``"no evidence"``: none of them rejects; this does not show
        that the model is calibrated. ``"not tested"``: labels are probabilities, or there are too
        few clusters for any test to reject.
    pvalue
        The p-value of the omnibus test; None if it was not run.
    answers
        The sentences by question: ``"calibrated"``, ``"magnitude"``, ``"frequency"``,
        ``"location"``, ``"precision"``, ``"recommendation"``, ``"expected_gain"``. The verdict
        holds all but ``"precision"`` and ``"expected_gain"``.
    overview
        Rows, classes, accuracy, mean prediction and outcome.
    test
        The omnibus test, which decides the status, with its parts; None if it was not run.
    estimates
        Metrics with intervals and p-values; the first is the error that the verdict states.
    tests
        Further tests of calibration by name.
    adjusted_pvalues
        P-values of the tests of ``estimates`` and ``tests``, adjusted by Holm for their number.
    tables
        What the pictures are drawn from, by name.
    scores
        Brier score and log loss, taken apart.
    clinical
        For one column: O:E ratio, calibration-in-the-large, slope and intercept with intervals,
        and their joint test; the first row is of all rows, the others are of groups.
    frequencies
        Natural frequencies: of the scores that the verdict names, then of each group.
    groups, local
        Errors of groups and among similar rows, where groups and features were given.
    recalibration
        The recommended recalibrator, and what it would gain.
    detectable_error
        Which error this many rows would have shown.
    estimator_advice
        Which estimator to trust for data like these.
    models, comparison
        With several models: each one's evaluation, and every pair compared.
    settings, versions, fingerprint
        What was asked, of which versions, and a hash of the data.
    reproduce
        The call or command that gives this result again, with version and fingerprint.
    internal_errors
        Bugs of trueup that left out a metric, test or table, by its name; please report them.
    schema
        Version of the form that `to_dict` writes.
    """

    verdict: str
    status: str
    pvalue: float | None
    answers: dict[str, str]
    overview: Overview
    test: CalibrationTestResult | None
    estimates: tuple[Finding, ...]
    tests: dict[str, CalibrationTestResult]
    adjusted_pvalues: dict[str, float]
    tables: dict[str, Table]
    scores: tuple[Score, ...]
    clinical: ResultTable | None
    frequencies: tuple[Frequency, ...]
    groups: GroupErrors | None
    local: LocalFinding | None
    recalibration: Recalibration | None
    detectable_error: Detectable | None
    estimator_advice: EstimatorAdvice | None
    settings: dict[str, Any]
    versions: dict[str, str]
    fingerprint: str
    reproduce: str
    models: dict[str, Evaluation] = field(default_factory=dict)
    comparison: ResultTable | None = None
    internal_errors: dict[str, str] = field(default_factory=dict)
    schema: int = SCHEMA

    @property
    def miscalibrated(self) -> bool:
        """Whether the status is ``"miscalibrated"``."""
        return self.status == MISCALIBRATED

    def estimate(self, name: str) -> Finding:
        """Return the finding of a metric by its name."""
        for finding in self.estimates:
            if finding.metric == name:
                return finding
        known = ", ".join(repr(finding.metric) for finding in self.estimates)
        raise must_be("name", f"one of {known}", name)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON, that `from_dict` reads back."""
        return dict(written(self))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Evaluation:
        """Read what `to_dict` wrote."""
        found = data.get("schema") if isinstance(data, Mapping) else None
        if type(found) is not int:
            raise must_be("data", "an evaluation from `to_dict`", Verbatim("something else"))
        check_schema("data", found, SCHEMA, "evaluate again")
        try:
            read = read_back(cls, data)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            rule = f"is not what `to_dict` of an evaluation wrote: {error}"
            raise InputError("data", rule) from error
        assert isinstance(read, cls)
        return read

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the evaluation as JSON, and write it to a file if a path is given."""
        found = json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False)
        if path is not None:
            write_atomically(Path(path), found.encode())
        return found

    @classmethod
    def from_json(cls, path: str | Path) -> Evaluation:
        """Read a file, or the text itself, that `to_json` wrote."""
        given = str(path)
        content = given if given.lstrip()[:1] in TEXT else Path(path).read_text("utf-8")
        try:
            data = json.loads(content)
        except json.JSONDecodeError as error:
            raise must_be("path", "JSON of an evaluation", Verbatim(str(error))) from error
        return cls.from_dict(data)

    def plot(
        self,
        kind: str = "overview",
        *,
        title: str = "",
        name: object = None,
        size: tuple[float, float] | None = None,
        zoom: Any = None,
        stats: bool = False,
    ) -> Any:
        """Plot one kind of figure, by default an overview of those that say most.

        Parameters
        ----------
        kind : str
            One of those of ``trueup plot --kind``, such as ``"reliability"``, ``"curve"`` or
            ``"classes"``; ``"models"`` compares several models.
        title : str
            Text above the figure; by default of the overview the first answer of the verdict.
        name : object, optional
            Name of the model, for the legend or the title.
        size : (float, float), optional
            Width and height in inches.
        zoom : {"auto", "none"} or (float, float), optional
            Of reliability diagrams and curves: how much of the axis is shown.
        stats : bool
            Whether a reliability diagram of equal-width bins states its ECE and number of rows.

        Returns
        -------
        Figure
            A matplotlib figure.

        Examples
        --------
        >>> import trueup as tu
        >>> found = tu.evaluate([0.2, 0.4, 0.7, 0.9] * 9, [0, 0, 1, 1] * 9, advice=False)
        >>> figure = found.plot("reliability", name="toy model", size=(3.3, 2.6))
        """
        from trueup.plotting.overview import figure_of, parts_of

        options: dict[str, Any] = {"title": title, "name": name, "size": size}
        return figure_of(parts_of(self), kind, **options, zoom=zoom, stats=stats)

    def __str__(self) -> str:
        """Print the verdict, then the table."""
        return text.plain_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Show the verdict and the tables in a notebook."""
        return text.html(self)
