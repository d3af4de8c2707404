"""The parts of one model's evaluation by name, each computed when it is first requested."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from trueup.bins import EqualMass, EqualWidth, SimplexGrid, VarianceTree
from trueup.calls.progress import stage, stages
from trueup.decisions import abstention_rewards
from trueup.errors import InputError, internal_error
from trueup.estimators import BinnedError, PointwiseError
from trueup.evaluation.class_findings import class_findings, resamples_of_groups
from trueup.evaluation.clinical import clinical_table
from trueup.evaluation.deciding_test import omnibus_test, test_of_possible
from trueup.evaluation.findings import (
    findings,
    further_tests,
    headline,
    headline_finding,
    proper_scores,
)
from trueup.evaluation.overview import overview_of
from trueup.evaluation.plot_tables import coverage, error_by_bins, null_table
from trueup.evaluation.recommendations import (
    advised_estimator,
    detectable,
    local_finding,
    tried_recalibration,
)
from trueup.evaluation.sections import Detectable, Finding
from trueup.evaluation.settings import Settings
from trueup.evaluation.verdict.frequencies import frequencies_of_groups
from trueup.evaluation.verdict.halves import halves_of
from trueup.forecasts import Forecasts
from trueup.forecasts.sample_data import rows_of_groups
from trueup.inference import (
    GroupErrors,
    calibration_curve,
    consistency_band,
    group_errors,
    interval,
    trade_off,
)
from trueup.inference.hypothesis_tests.sensitivity import sensitivity
from trueup.lens import Canonical
from trueup.results import Interval
from trueup.tables import ResultTable

SIMPLEX_GRID = {3: 6, 4: 4}
FEWEST_ROWS_TRADED = 400
MOST_ROWS_OF_TREE = 100_000
GROUPS = "call it as evaluate(probs, labels, groups=groups)"

NEEDED = (
    "overview",
    "omnibus",
    "estimates",
    "headline",
    "halves",
    "reliability_mass",
    "scores",
    "further_tests",
)
"""The parts without which there is no verdict."""

STAGES = {
    "estimates": ("metrics", 4.0),
    "omnibus": ("omnibus test", 0.3),
    "classes": ("classes", 0.5),
    "trade_off": ("trade-off of bins", 0.2),
    "null": ("null distribution", 0.1),
    "groups": ("groups", 0.5),
    "detectable_error": ("smallest detectable error", 2.0),
    "further_tests": ("further tests", 0.5),
    "scores": ("proper scores", 0.2),
    "local": ("local errors", 1.0),
    "recalibration": ("recalibrators", 3.0),
    "advice": ("simulated estimators", 1.2),
}
"""The parts that take long, in the order of `evaluate`: what to call them, and about how long."""


class OnDemand:
    """Parts of an evaluation, those of `PARTS`; each is computed when it is first requested.

    ``name in parts`` is True if the part can be computed for these data; this computes nothing. The
    result may still show that there is no such part; ``parts.get(name)`` is then None.
    """

    def __init__(
        self,
        forecasts: Forecasts,
        asked: Settings,
        *,
        metrics: object = None,
        feature_names: Sequence[str] = (),
    ) -> None:
        self.forecasts, self.asked = forecasts, asked
        self.metrics, self.feature_names = metrics, feature_names
        self.internal_errors: dict[str, str] = {}
        self._made: dict[str, Any] = {}

    def __contains__(self, name: object) -> bool:
        """Whether these data allow a part with that name."""
        if name in self._made:
            return self._made[str(name)] is not None
        return name in PARTS and PARTS[str(name)].possible(self.forecasts)

    @contextmanager
    def told(self, left_out: Sequence[str]) -> Iterator[None]:
        """Report which part is being computed, if it takes long and is not skipped."""
        costs = [
            cost for name, (_, cost) in STAGES.items() if name in self and name not in left_out
        ]
        with stages(sum(costs), len(costs)):
            yield

    def made(self, name: str) -> Any:
        """Return a part that has already been computed, or None."""
        return self._made.get(name)

    def get(self, name: str) -> Any:
        """Return a part by its name; None if these data do not allow it."""
        if name not in self._made:
            self._made[name] = self._computed(name) if name in self else None
        return self._made[name]

    def _computed(self, name: str) -> Any:
        """Return a part; if a bug prevents that, return None and record the bug."""
        try:
            if name not in STAGES:
                return PARTS[name].make(self)
            with stage(*STAGES[name]):
                return PARTS[name].make(self)
        except InputError:
            raise
        except Exception as error:
            if name in NEEDED:
                raise
            self.internal_errors[name] = internal_error(f"the part {name!r}", error)
            return None


class Part(NamedTuple):
    """How a part is computed from the data and other parts, and the data that allow it."""

    make: Callable[[OnDemand], Any]
    possible: Callable[[Forecasts], bool] = lambda forecasts: True


def not_independent(forecasts: Forecasts) -> str:
    """Return why tests of independent outcomes are impossible, or an empty string."""
    if forecasts.soft:
        return "labels are probabilities"
    return "" if forecasts.clusters is None else "rows come in clusters"


def _independent(forecasts: Forecasts) -> bool:
    return not not_independent(forecasts)


def _hard(forecasts: Forecasts) -> bool:
    return not forecasts.soft


def _has_groups(forecasts: Forecasts) -> bool:
    return forecasts.groups is not None and _independent(forecasts)


def _on_simplex(*sizes: int) -> Callable[[Forecasts], bool]:
    return lambda of: of.is_matrix and of.n_classes in sizes and not of.soft


def _few_enough_for_a_tree(forecasts: Forecasts) -> bool:
    return forecasts.n <= MOST_ROWS_OF_TREE


def _headline(of: OnDemand) -> Finding:
    all_of_them = of.made("estimates")
    return all_of_them[0] if all_of_them else headline_finding(of.forecasts, of.asked)


def _bins(kind: Callable[[int], Any]) -> Callable[[OnDemand], Any]:
    return lambda of: BinnedError(binning=kind(of.asked.n_bins)).table(of.forecasts)


def _band(name: str) -> Callable[[OnDemand], ResultTable]:
    """Return the band of a table of bins."""
    return lambda of: consistency_band(of.get(name), confidence_level=of.asked.confidence_level)


def _curve(of: OnDemand) -> ResultTable:
    return calibration_curve(of.forecasts, confidence_level=of.asked.confidence_level)


def _ece(of: OnDemand) -> Interval:
    """Return the error over the bins of the reliability diagram."""
    error = BinnedError(binning=EqualWidth(of.asked.n_bins))
    return interval(error, of.forecasts, **of.asked.of_intervals)


def _simplex(of: OnDemand) -> Any:
    grid = SimplexGrid(SIMPLEX_GRID[of.forecasts.n_classes])
    return BinnedError(lens=Canonical(), binning=grid).table(of.forecasts)


def _detectable_error(of: OnDemand) -> Detectable | None:
    alpha = 1 - of.asked.confidence_level
    found = sensitivity(of.forecasts, alpha=alpha, **of.asked.of_tests)
    if not np.ptp(found.null) > 0:
        return None
    test = "the test of the top label" if of.forecasts.is_matrix else "the test"
    return detectable(found, of.forecasts.n, test)


def _null(of: OnDemand) -> ResultTable | None:
    alpha = 1 - of.asked.confidence_level
    statistic = headline(of.asked.n_bins)
    found = sensitivity(of.forecasts, statistic=statistic, alpha=alpha, **of.asked.of_tests)
    return null_table(found.null) if np.ptp(found.null) > 0 else None


def _resamples_of_groups(of: OnDemand) -> int:
    n_groups = len(rows_of_groups(of.forecasts.groups, GROUPS))
    return resamples_of_groups(of.forecasts, n_groups, of.asked.n_resamples)


def _groups(of: OnDemand) -> GroupErrors:
    return group_errors(
        of.forecasts,
        estimator=headline(of.asked.n_bins),
        confidence_level=of.asked.confidence_level,
        n_resamples=of.get("resamples_of_groups"),
        rng=of.asked.seed,
    )


def _traded(forecasts: Forecasts) -> bool:
    plain = forecasts.weights is None and _independent(forecasts)
    return plain and forecasts.n >= FEWEST_ROWS_TRADED


def _trade_off(of: OnDemand) -> ResultTable:
    level, seed = of.asked.confidence_level, of.asked.seed
    return trade_off(of.forecasts, confidence_level=level, rng=seed)


TABLES: dict[str, Part] = {
    "reliability": Part(_bins(EqualWidth)),
    "band": Part(_band("reliability"), _independent),
    "reliability_mass": Part(_bins(EqualMass)),
    "band_mass": Part(_band("reliability_mass"), _independent),
    "reliability_tree": Part(_bins(lambda _: VarianceTree()), _few_enough_for_a_tree),
    "band_tree": Part(
        _band("reliability_tree"), lambda of: _few_enough_for_a_tree(of) and _independent(of)
    ),
    "curve": Part(_curve),
    "bins": Part(lambda of: error_by_bins(of.forecasts)),
    "psce": Part(lambda of: PointwiseError().table(of.forecasts)),
    "simplex": Part(_simplex, _on_simplex(3, 4)),
    "rewards": Part(lambda of: abstention_rewards(of.forecasts), _hard),
    "coverage": Part(lambda of: coverage(of.forecasts), _hard),
    "trade_off": Part(_trade_off, _traded),
    "null": Part(_null, _independent),
    "classes": Part(lambda of: class_findings(of.forecasts, of.asked), lambda of: of.is_matrix),
}
"""The parts that are tables, in the order in which an evaluation holds them."""

PARTS: dict[str, Part] = TABLES | {
    "ece": Part(_ece),
    "overview": Part(lambda of: overview_of(of.forecasts)),
    "omnibus": Part(lambda of: omnibus_test(of.forecasts, of.asked)),
    "omnibus_of_possible": Part(lambda of: test_of_possible(of.forecasts, of.asked), _hard),
    "halves": Part(lambda of: halves_of(of.forecasts)),
    "clinical": Part(
        lambda of: clinical_table(of.forecasts, of.asked.confidence_level),
        lambda of: of.n_classes == 2,
    ),
    "frequencies_of_groups": Part(
        lambda of: frequencies_of_groups(of.forecasts, of.asked.confidence_level),
        lambda of: of.groups is not None and not of.soft,
    ),
    "estimates": Part(lambda of: findings(of.forecasts, of.metrics, of.asked)),
    "headline": Part(_headline),
    "test": Part(lambda of: of.get("headline").test, _hard),
    "detectable_error": Part(_detectable_error, _independent),
    "triangle": Part(lambda of: of.get("simplex"), _on_simplex(3)),
    "tetrahedron": Part(lambda of: of.get("simplex"), _on_simplex(4)),
    "resamples_of_groups": Part(_resamples_of_groups, _has_groups),
    "groups": Part(_groups, _has_groups),
    "scores": Part(lambda of: proper_scores(of.forecasts, of.asked)),
    "brier": Part(lambda of: of.get("scores")[0].decomposition, _hard),
    "local": Part(
        lambda of: local_finding(of.forecasts, of.asked.n_bins, of.asked.seed, of.feature_names),
        lambda of: of.features is not None,
    ),
    "further_tests": Part(lambda of: further_tests(of.forecasts, of.asked)),
    "recalibration": Part(lambda of: tried_recalibration(of.forecasts, of.asked), _hard),
    "advice": Part(lambda of: advised_estimator(of.forecasts, of.asked)),
}
