"""Recommendations: a recalibrator, the number of rows needed, the most accurate estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from trueup._typing import Ints
from trueup.bins import EqualWidth
from trueup.errors import InputError
from trueup.evaluation.sections import Detectable, EstimatorAdvice, LocalFinding, Recalibration
from trueup.evaluation.settings import Settings
from trueup.evaluation.verdict.wording import amount
from trueup.forecasts import Forecasts
from trueup.inference.hypothesis_tests.sensitivity import Sensitivity
from trueup.local import LocalError, mlce_over_bandwidths
from trueup.local.bandwidth import default_bandwidth
from trueup.simulate import recommend_estimator
from trueup.tables import ResultTable

if TYPE_CHECKING:
    from trueup.recalibrate import Recalibrator

CELLS_REPAIRED = 200_000
FEWEST_ROWS_REPAIRED, MOST_ROWS_REPAIRED = 5_000, 100_000
DIRICHLET_CELLS = 500_000
"""Rows times squared classes, above which Dirichlet calibration takes longer than all others."""
FOLDS = 5
MOST_ROWS_OF_WORLD = 50_000
DRAWS_OF_WORLD = 2_000_000
MOST_ROWS_LOCAL = 20_000
POINTS_SHOWN = 2_000
POWER = 0.8
FEWEST_ROWS_TO_PLAN = 20
ERRORS_OF_INTEREST = (0.005, 0.01, 0.02, 0.05, 0.1)


def detectable(found: Sensitivity, n: int, test: str) -> Detectable:
    """Return the error that the test misses, and how many rows detect other errors.

    ``test`` is its name in the sentence; for a matrix it is the test of the top label alone.
    """
    error = found.smallest_error(POWER)
    # The bins of a few rows say too little of those of many.
    asked = ERRORS_OF_INTEREST if n >= FEWEST_ROWS_TO_PLAN else ()
    rows = [(each, found.rows_for(each, POWER)) for each in asked]
    # With weights, rows are worth fewer; more rows will be worth as little each.
    needed = [(each, round(many * n / found.rows)) for each, many in rows if many is not None]
    table = ResultTable.from_rows(needed, ("error", "rows"))
    if error is None:
        words = "with this few rows, even a large error would usually go undetected"
    else:
        missed = f"{1 - POWER:.0%} of the time"
        words = f"{test} would miss an error smaller than {amount(error)} more than {missed}"
    return Detectable(error, POWER, found.alpha, table, words)


def tried_recalibration(forecasts: Forecasts, asked: Settings) -> Recalibration | None:
    """Compare recalibrators out of fold, on a random sample of many rows; None if impossible."""
    some = _some_rows(forecasts, _rows_for_recalibration(forecasts), asked.seed)
    if forecasts.soft or some.n < 2 * FOLDS:
        return None
    folds: Any = FOLDS
    if some.clusters is not None:
        folds = _whole_clusters(some)
        if len(folds) < 2:
            return None
    from trueup.recalibrate import AutoCalibration  # needs scikit-learn, which is slow to load

    auto = AutoCalibration(_candidates(some), cv=folds, random_state=asked.seed)
    auto.fit(some)
    table = auto.table_
    if "score" not in table:
        return None
    names = table["candidate"].tolist()
    before, after = (_line(table, names.index(n)) for n in ("IdentityCalibration", auto.best_name_))
    words = auto.explanation_
    if some.n < forecasts.n:
        words = f"Tried on a random {some.n:,} of {forecasts.n:,} rows. {words}"
    return Recalibration(auto.best_name_, repr(auto.best_), words, before, after, table, some.n)


def advised_estimator(forecasts: Forecasts, asked: Settings) -> EstimatorAdvice | None:
    """Find the most accurate estimator on a simulated model; None if no model can be fitted."""
    some = _some_rows(forecasts, MOST_ROWS_OF_WORLD, asked.seed)
    if forecasts.soft or forecasts.weights is not None or forecasts.clusters is not None:
        return None
    sets = int(np.clip(DRAWS_OF_WORLD // some.n, 20, 200))
    try:
        found = recommend_estimator(some, n_datasets=sets, rng=asked.seed)
    except InputError:
        return None
    names = ("measure", "truth", "mean", "bias", "sd", "rmse")
    table = ResultTable({k: np.array([getattr(row, k) for row in found.rows]) for k in names})
    return EstimatorAdvice(found.best, found.text, found.unreliable, table)


def local_finding(
    forecasts: Forecasts, n_bins: int, seed: int, names: Sequence[str] = ()
) -> LocalFinding:
    """Return errors among rows with similar features, which name the axes."""
    some = _some_rows(forecasts, MOST_ROWS_LOCAL, seed)
    features = np.asarray(some.features, np.float64).reshape(some.n, -1)
    bandwidth = default_bandwidth(features.shape[1])
    gaps = LocalError(binning=EqualWidth(n_bins), bandwidth=bandwidth).gaps(some)
    shares = np.linspace(0, 1, 101)
    quantiles = ResultTable({"share": shares, "error": np.quantile(np.abs(gaps), shares)})
    x, y, axes = _two_axes(features, names)
    shown = np.random.default_rng(seed).permutation(some.n)[:POINTS_SHOWN]
    near = gaps[shown]
    landscape = ResultTable({"x1": x[shown], "x2": y[shown], "gap": near, "absolute": np.abs(near)})
    over = mlce_over_bandwidths(some, n_bins=n_bins)
    largest, mean = float(np.abs(gaps).max()), float(np.abs(gaps).mean())
    return LocalFinding(bandwidth, largest, mean, over, quantiles, landscape, axes, some.n)


def _two_axes(features: Any, names: Sequence[str]) -> tuple[Any, Any, tuple[str, str]]:
    """Return two features unchanged, or the first two principal components of more."""
    if features.shape[1] == 1:
        return features[:, 0], np.zeros(len(features)), (names[0] if names else "feature", "")
    if features.shape[1] == 2:
        first, second = names or ("first feature", "second feature")
        return features[:, 0], features[:, 1], (first, second)
    centred = features - features.mean(axis=0)
    spread = centred.std(axis=0)
    _, _, turned = np.linalg.svd(centred / np.where(spread > 0, spread, 1), full_matrices=False)
    both = centred / np.where(spread > 0, spread, 1) @ turned[:2].T
    return both[:, 0], both[:, 1], ("first principal component", "second principal component")


def _rows_for_recalibration(forecasts: Forecasts) -> int:
    rows = CELLS_REPAIRED // forecasts.n_classes
    return int(np.clip(rows, FEWEST_ROWS_REPAIRED, MOST_ROWS_REPAIRED))


def _some_rows(forecasts: Forecasts, most: int, seed: int) -> Forecasts:
    if forecasts.n <= most:
        return forecasts
    rows = np.random.default_rng(seed).choice(forecasts.n, most, replace=False)
    return forecasts.take(np.sort(rows))


def _candidates(forecasts: Forecasts) -> dict[str, Recalibrator]:
    from trueup.recalibrate import DirichletCalibration
    from trueup.recalibrate.auto.candidates import default_candidates

    candidates = default_candidates(forecasts.n, forecasts.n_classes)
    if forecasts.n * forecasts.n_classes**2 > DIRICHLET_CELLS:
        candidates.pop(DirichletCalibration.__name__, None)
    return candidates


def _whole_clusters(forecasts: Forecasts) -> list[tuple[Ints, Ints]]:
    """Return folds that never split a cluster."""
    from sklearn.model_selection import GroupKFold

    assert forecasts.clusters is not None
    _, cluster = np.unique(forecasts.clusters, return_inverse=True)
    folds = min(FOLDS, int(cluster.max()) + 1)
    if folds < 2:
        return []
    return list(GroupKFold(folds).split(cluster, groups=cluster))


def _line(table: ResultTable, row: int) -> dict[str, float]:
    names = {"log_loss": "score", "log_loss_se": "score_se"}
    names |= {name: name for name in ("error", "error_low", "error_high")}
    return {name: float(table[column][row]) for name, column in names.items()}
