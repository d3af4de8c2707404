"""The recalibrators to try, the simplest first."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from trueup.errors import must_be
from trueup.recalibrate.base import Recalibrator
from trueup.recalibrate.binning.bayesian import BayesianBinning
from trueup.recalibrate.binning.histogram import HistogramBinning
from trueup.recalibrate.binning.scaling_binning import ScalingBinning
from trueup.recalibrate.identity import IdentityCalibration
from trueup.recalibrate.isotonic import IsotonicCalibration
from trueup.recalibrate.scaling.beta import BetaCalibration
from trueup.recalibrate.scaling.matrix import DirichletCalibration, MatrixScaling
from trueup.recalibrate.scaling.platt import PlattScaling
from trueup.recalibrate.scaling.temperature import TemperatureScaling
from trueup.recalibrate.scaling.vector import VectorScaling
from trueup.recalibrate.venn_abers import VennAbers

TOO_FEW = "too few rows"
TOO_MANY = "too costly for this many classes"
TWICE = "equivalent to another candidate"


class Candidate(NamedTuple):
    """A candidate, the rows that it needs for K classes, and its largest affordable K."""

    kind: type[Recalibrator]
    rows: Callable[[int], int]
    most_classes: float = math.inf
    twice_for_two: bool = False

    def why_not(self, n: int, n_classes: int) -> str:
        """Return why the candidate is omitted, or an empty string."""
        if self.twice_for_two and n_classes == 2:
            return TWICE
        if n < self.rows(n_classes):
            return TOO_FEW
        return TOO_MANY if n_classes > self.most_classes else ""


def _for_free_shapes(k: int) -> int:
    """Minimum number of rows: with fewer, maps of any shape follow sampling noise."""
    return 1000


def _for_matrices(k: int) -> int:
    """Minimum number of rows: ten for each of K² + K numbers, or infinity for too many classes."""
    return 10 * k * (k + 1) if k <= 10 else 0


# The order is that of simplicity: fewer learned numbers first, with ten rows for each, then maps
# of any shape, then matrices, whose numbers grow with the square of K. For many classes scaling
# and Bayesian binning take longer than all others together.
CANDIDATES = (
    Candidate(IdentityCalibration, lambda k: 0),
    Candidate(TemperatureScaling, lambda k: 10),
    Candidate(PlattScaling, lambda k: 20 if k == 2 else 20 * k),
    Candidate(VectorScaling, lambda k: 20 * k, twice_for_two=True),
    Candidate(BetaCalibration, lambda k: 30 if k == 2 else 30 * k),
    Candidate(ScalingBinning, _for_free_shapes, 20),
    Candidate(IsotonicCalibration, _for_free_shapes, 100),
    Candidate(HistogramBinning, _for_free_shapes, 100),
    Candidate(BayesianBinning, _for_free_shapes, 20),
    Candidate(VennAbers, _for_free_shapes, 100),
    Candidate(DirichletCalibration, _for_matrices, 10, twice_for_two=True),
    Candidate(MatrixScaling, _for_matrices, 10, twice_for_two=True),
)


def default_candidates(n: int, n_classes: int) -> dict[str, Recalibrator]:
    """Return the candidates that n rows of K classes can support, by name, the simplest first.

    * No recalibration.
    * Scaling methods, with ten rows for each parameter.
    * Maps of any shape, from 1,000 rows and up to 100 classes; `ScalingBinning` and
      `BayesianBinning` up to 20 classes.
    * Dirichlet calibration and matrix scaling, up to 10 classes and with ten rows for each of
      K² + K numbers.

    For two classes, vector and matrix scaling are omitted: they are equivalent to Platt scaling (of
    logits) or beta calibration (of probabilities).
    """
    kinds = [each.kind for each in CANDIDATES if not each.why_not(n, n_classes)]
    return {kind.__name__: kind() for kind in kinds}


def not_tried(n: int, n_classes: int) -> str:
    """Return notes on the recalibrators that `default_candidates` omits, with the reasons."""
    names: dict[str, list[str]] = {}
    for each in CANDIDATES:
        names.setdefault(each.why_not(n, n_classes), []).append(each.kind.__name__)
    parts = [f"{', '.join(each)} ({why})" for why, each in names.items() if why not in ("", TWICE)]
    return f"Not tried: {'; '.join(parts)}." if parts else ""


def named_candidates(candidates: object) -> dict[str, Recalibrator]:
    """Return the caller's candidates by name, starting with no recalibration."""
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
