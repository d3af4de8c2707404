"""Which recalibrators are worth trying, the simplest first."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from trueup.errors import must_be
from trueup.recalibrate.base import Recalibrator
from trueup.recalibrate.binning.bayesian import BayesianBinning
from trueup.recalibrate.binning.histogram import HistogramBinning
from trueup.recalibrate.binning.scaling_binning import ScalingBinning
from trueup.recalibrate.identity import IdentityCalibration
from trueup.recalibrate.isotonic import IsotonicCalibration
from trueup.recalibrate.scaling.beta import BetaCalibration
from trueup.recalibrate.scaling.dirichlet import DirichletCalibration
from trueup.recalibrate.scaling.matrix import MatrixScaling
from trueup.recalibrate.scaling.platt import PlattScaling
from trueup.recalibrate.scaling.temperature import TemperatureScaling
from trueup.recalibrate.scaling.vector import VectorScaling
from trueup.recalibrate.venn_abers import VennAbers

ROWS_PER_PARAMETER = 10
ROWS_FOR_FREE_SHAPES = 1000
"""Below about as many, maps of any shape follow chance."""
MOST_CLASSES_FOR_FREE_SHAPES = 100
MOST_CLASSES_FOR_COSTLY_SHAPES = 20
MOST_CLASSES_FOR_MATRICES = 10

TOO_FEW = "too few rows"
TOO_MANY = "too many classes, and so too costly"
TWICE = "another of them once more"

# With the learned numbers of K classes. The order is that of simplicity: fewer numbers first, then
# maps of any shape, then matrices, whose numbers grow with the square of K.
SCALINGS: tuple[tuple[type[Recalibrator], Callable[[int], int]], ...] = (
    (TemperatureScaling, lambda k: 1),
    (PlattScaling, lambda k: 2 if k == 2 else 2 * k),
    (VectorScaling, lambda k: 2 * k),
    (BetaCalibration, lambda k: 3 if k == 2 else 3 * k),
)
FREE_SHAPES = (
    ScalingBinning,
    IsotonicCalibration,
    HistogramBinning,
    BayesianBinning,
    VennAbers,
)
COSTLY_SHAPES = (ScalingBinning, BayesianBinning)
"""For many classes they take longer than all others together."""
MATRICES = (DirichletCalibration, MatrixScaling)


def default_candidates(n: int, n_classes: int) -> dict[str, Recalibrator]:
    """Return what n rows of K classes can tell apart, by name, the simplest first.

    No recalibration; scalings with ten rows for each number they learn; from 1,000 rows and up to
    100 classes maps of any shape, of which `ScalingBinning` and `BayesianBinning` up to 20; up to
    10 classes, and with ten rows for each of K² + K numbers, Dirichlet calibration and matrix
    scaling. For two classes vector and matrix scaling are Platt scaling (of logits) or beta
    calibration (of probabilities) once more, and are left out.
    """
    kinds = [kind for kind, why in _sorted_out(n, n_classes) if not why]
    return {kind.__name__: kind() for kind in kinds}


def not_tried(n: int, n_classes: int) -> str:
    """Say which recalibrators `default_candidates` leaves out, and why; nothing where none."""
    names: dict[str, list[str]] = {}
    for kind, why in _sorted_out(n, n_classes):
        names.setdefault(why, []).append(kind.__name__)
    parts = [f"{', '.join(each)} ({why})" for why, each in names.items() if why not in ("", TWICE)]
    return f"Not tried: {'; '.join(parts)}." if parts else ""


def _sorted_out(n: int, n_classes: int) -> list[tuple[type[Recalibrator], str]]:
    """All that could be tried, the simplest first, and why not, or nothing."""
    found: list[tuple[type[Recalibrator], str]] = [(IdentityCalibration, "")]
    for kind, numbers in SCALINGS:
        few = n < ROWS_PER_PARAMETER * numbers(n_classes)
        twice = kind is VectorScaling and n_classes == 2
        found.append((kind, TWICE if twice else TOO_FEW if few else ""))
    for kind in FREE_SHAPES:
        most = MOST_CLASSES_FOR_FREE_SHAPES
        if kind in COSTLY_SHAPES:
            most = MOST_CLASSES_FOR_COSTLY_SHAPES
        few = n < ROWS_FOR_FREE_SHAPES
        found.append((kind, TOO_FEW if few else TOO_MANY if n_classes > most else ""))
    for kind in MATRICES:
        few = n < ROWS_PER_PARAMETER * n_classes * (n_classes + 1)
        many = n_classes > MOST_CLASSES_FOR_MATRICES
        why = TWICE if n_classes == 2 else TOO_MANY if many else TOO_FEW if few else ""
        found.append((kind, why))
    return found


def named_candidates(candidates: object) -> dict[str, Recalibrator]:
    """Return the caller's candidates by name, no recalibration before them."""
    if isinstance(candidates, Mapping):
        given = dict(candidates)
    elif isinstance(candidates, list | tuple):
        given = {}
        for candidate in candidates:
            kind, number = type(candidate).__name__, 1
            while (name := kind if number == 1 else f"{kind} {number}") in given:
                number += 1
            given[name] = candidate
    else:
        rule = "a list of recalibrators, or a dictionary of them by name"
        raise must_be("candidates", rule, candidates)
    same = [name for name, each in given.items() if isinstance(each, IdentityCalibration)]
    if same:  # the first of them comes first
        return {same[0]: given[same[0]], **given}
    if "IdentityCalibration" in given:
        rule = 'not use the reserved name "IdentityCalibration"'
        raise must_be("candidates", rule, given["IdentityCalibration"])
    return {"IdentityCalibration": IdentityCalibration(), **given}
