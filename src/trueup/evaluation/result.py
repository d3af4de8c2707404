"""The result of `evaluate`: all numbers and tables, frozen, ready for JSON, text and figures."""

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
from trueup.inference.multiple_tests.group_table import table_of_groups
from trueup.results import CalibrationTestResult
from trueup.tables import ResultTable
from trueup.tables.base import Table

SCHEMA = 3
TEXT = tuple('{["')  # how JSON begins, and no path does


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Result of `evaluate`: verdict, estimates, tests, tables and recommendation.

    Parameters
    ----------
    verdict : str
        The result in one paragraph.
    status : {"miscalibrated", "tests disagree", "no evidence", "not tested"}
        Result of the tests. ``"miscalibrated"``: the omnibus test rejects calibration at the level
        1 − confidence_level, or an observed outcome had a predicted probability of 0.
        ``"tests disagree"``: the omnibus test does not reject, but another test, a class or a group
        does after Holm adjustment. ``"no evidence"``: none of them rejects; this does not show
        that the model is calibrated. ``"not tested"``: labels are probabilities, or there are too
        few clusters for any test to reject.
    pvalue : float or None
        p-value of the omnibus test; None if it was not run.
    answers : dict of str to str
        The sentences by question: ``"calibrated"``, ``"magnitude"``, ``"frequency"``,
        ``"location"``, ``"precision"``, ``"recommendation"``, ``"expected_gain"``. The verdict
        holds all except ``"precision"`` and ``"expected_gain"``.
    overview : Overview
        Rows, classes, accuracy, mean prediction and outcome.
    test : CalibrationTestResult or None
        The omnibus test, which decides the status, with its parts; None if it was not run.
    estimates : tuple of Finding
        Metrics with intervals and p-values; the first is the error in the verdict.
    tests : dict of str to CalibrationTestResult
        Further tests of calibration by name.
    adjusted_pvalues : dict of str to float
        p-values of the tests of ``estimates`` and ``tests``, Holm-adjusted.
    tables : dict of str to Table
        Tables behind the figures, by name.
    scores : tuple of Score
        Brier score and log loss with their decompositions.
    clinical : ResultTable or None
        For one column: O:E ratio, calibration-in-the-large, slope and intercept with intervals, and
        their joint test. The first row covers all rows, the others the groups.
    frequencies : tuple of Frequency
        Natural frequencies of the scores in the verdict, then of each group.
    groups : GroupErrors or None
        Errors of groups, if groups were passed.
    local : LocalFinding or None
        Errors among similar rows, if features were passed.
    recalibration : Recalibration or None
        The recommended recalibrator, and its expected gain.
    detectable_error : Detectable or None
        Smallest error that a test with this many rows would have detected.
    estimator_advice : EstimatorAdvice or None
        The most accurate estimator for data like these.
    settings : dict
        Arguments of the call.
    versions : dict of str to str
        Versions of Python, trueup, NumPy, SciPy and scikit-learn.
    fingerprint : str
        Hash of the data.
    reproduce : str
        Call or command that reproduces this result, with version and fingerprint.
    models : dict of str to Evaluation
        With several models, the evaluation of each.
    comparison : ResultTable or None
        With several models, every pair compared.
    internal_errors : dict of str to str
        Internal errors (bugs) because of which a metric, test or table was skipped, by its name;
        please report them.
    notes : tuple of str
        Changes made to the input and assumptions about it, such as percentages divided by 100.
    schema : int
        Version of the format that `to_dict` writes.

    Examples
    --------
    >>> import trueup as tu
    >>> options = {"recalibrate": False, "advice": False, "n_resamples": 99}
    >>> result = tu.evaluate([0.1, 0.9] * 20, [1, 0] * 20, **options)
    >>> result.status, result.miscalibrated, round(result.estimate("rmsce_debiased").value, 2)
    ('miscalibrated', True, 0.9)
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
    notes: tuple[str, ...] = ()
    schema: int = SCHEMA

    @property
    def miscalibrated(self) -> bool:
        """Whether the status is ``"miscalibrated"``."""
        return self.status == MISCALIBRATED

    @property
    def group_table(self) -> ResultTable | None:
        """All groups in order, as ``trueup evaluate -o groups.csv`` writes them; None without.

        The columns that define the groups come first. The parts of names such as model_task are in
        ``part_1`` and ``part_2``. Then come ``n``, ``mean_prediction``, ``observed_rate``, ``gap``
        (observed minus predicted) with its interval and p-value, ``ece``, the debiased ``error``
        with its interval, and the p-values of its test.
        """
        if self.groups is None:
            return None
        return table_of_groups(self.groups.table, self.groups.columns)

    def estimate(self, name: str) -> Finding:
        """Return the finding of a metric by its name.

        Parameters
        ----------
        name : str
            Name of the metric.

        Returns
        -------
        Finding
            Value, interval and p-value.
        """
        for finding in self.estimates:
            if finding.metric == name:
                return finding
        known = ", ".join(repr(finding.metric) for finding in self.estimates)
        raise must_be("name", f"one of {known}", name)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON, that `from_dict` reads back.

        Returns
        -------
        dict
            The fields by name.
        """
        return dict(written(self))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Evaluation:
        """Read what `to_dict` wrote.

        Parameters
        ----------
        data : dict
            Output of `to_dict`.

        Returns
        -------
        Evaluation
            The evaluation.
        """
        found = data.get("schema") if isinstance(data, Mapping) else None
        if type(found) is not int:
            raise must_be("data", "an evaluation from `to_dict`", Verbatim("something else"))
        check_schema("data", found, SCHEMA, "evaluate again")
        try:
            read = read_back(cls, data)
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            rule = f"is not what `to_dict` of an evaluation wrote: {error}"
            raise InputError("data", rule) from error
        assert isinstance(read, cls)
        return read

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the evaluation as JSON, and write it to a file if a path is passed.

        Parameters
        ----------
        path : str or Path, optional
            File to write.

        Returns
        -------
        str
            The JSON text.
        """
        found = json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False)
        if path is not None:
            write_atomically(Path(path), found.encode())
        return found

    @classmethod
    def from_json(cls, path: str | Path) -> Evaluation:
        """Read a file, or the text itself, that `to_json` wrote.

        Parameters
        ----------
        path : str or Path
            The file, or the JSON text.

        Returns
        -------
        Evaluation
            The evaluation.
        """
        given = str(path)
        is_text = given.lstrip()[:1] in TEXT
        try:
            data = json.loads(given if is_text else Path(path).read_text("utf-8"))
            return cls.from_dict(data)
        except InputError as error:
            raise error if is_text else error.replace(file=given) from error
        except (ValueError, RecursionError) as error:  # no JSON, no UTF-8, nested too deeply
            file = None if is_text else given
            got = Verbatim(str(error))
            raise must_be("path", "JSON of an evaluation", got).replace(file=file) from error

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
        """Plot one kind of figure; the default is an overview of the most informative ones.

        Parameters
        ----------
        kind : str
            One of those of ``trueup plot --kind``, such as ``"reliability"``, ``"curve"`` or
            ``"classes"``; ``"models"`` compares several models.
        title : str
            Text above the figure; for the overview, the default is the first answer of the verdict.
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
