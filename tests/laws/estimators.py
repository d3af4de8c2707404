"""The one list of all estimators, and what is promised of each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import trueup as tu
from trueup.estimators.base import known_estimator


@dataclass(frozen=True)
class Entry:
    """An estimator and the laws it is under."""

    estimator: Callable[..., float]
    plug_in: bool = True  # unchanged by repeating all rows or doubling all weights
    additive: bool = False  # its table over parts adds up to the table of the whole
    error: bool = True  # between 0 and 1
    zero: bool = True  # zero at the truth
    binary: bool = True  # takes 1-D probabilities
    matrix: bool = True  # takes (n, K) probabilities
    ordered: bool = False  # takes rows in the order they come
    symmetric: bool = True  # renaming classes changes nothing
    most_classes: int = 4  # of the data for that law; the other laws have at most three


FIXED = tu.bins.FixedEdges([0, 0.1, 0.25, 0.5, 0.75, 0.9, 1])
TREE = tu.bins.VarianceTree(min_samples=8)

NAMED = {
    "ece": Entry(tu.ece),
    "mce": Entry(tu.mce),
    "rmsce": Entry(tu.rmsce),
    "ece_debiased": Entry(tu.ece_debiased, plug_in=False),
    "rmsce_debiased": Entry(tu.rmsce_debiased, plug_in=False),
    "ece_sweep": Entry(tu.ece_sweep),
    "rmsce_sweep": Entry(tu.rmsce_sweep),
    "sce": Entry(tu.sce),
    "ace": Entry(tu.ace),
    "tace": Entry(tu.tace),
    "marginal_error": Entry(tu.marginal_error),
    "marginal_error_debiased": Entry(tu.marginal_error_debiased, plug_in=False),
    "ece_kde": Entry(tu.ece_kde, plug_in=False, zero=False),
    "smooth_ece": Entry(tu.smooth_ece),
    "skce": Entry(tu.skce, plug_in=False, error=False, zero=False),
    "mmce": Entry(tu.mmce),
    "ks_error": Entry(tu.ks_error),
    "kuiper": Entry(tu.kuiper),
    "psce": Entry(tu.psce, zero=False),
    "ici": Entry(tu.ici, error=False, matrix=False),
    "e50": Entry(tu.e50, error=False, matrix=False),
    "e90": Entry(tu.e90, error=False, matrix=False),
    "brier": Entry(tu.brier, error=False, zero=False),
    "log_loss": Entry(tu.log_loss, error=False, zero=False),
}

COMPOSED = [
    Entry(tu.BinnedError(), additive=True),
    Entry(tu.BinnedError(binning=FIXED, norm=3), additive=True),
    Entry(tu.BinnedError(binning=FIXED, norm=math.inf), additive=True),
    Entry(tu.BinnedError(binning=tu.EqualMass("auto"))),
    Entry(tu.BinnedError(binning=TREE)),
    Entry(tu.BinnedError(binning=FIXED, label_binned=True), additive=True, error=False, zero=False),
    Entry(
        tu.BinnedError(binning=tu.EqualMass(7), norm=2, label_binned=True), error=False, zero=False
    ),
    Entry(tu.BinnedError(binning=FIXED, norm=2, debias="residual"), plug_in=False, additive=True),
    Entry(tu.BinnedError(tu.lens.OneVsRest(1), FIXED), additive=True, symmetric=False),
    Entry(tu.BinnedError(tu.lens.TopLabel(), FIXED), additive=True),
    Entry(tu.BinnedError(tu.lens.TopLabel(where=(0.3, 1.0)), tu.EqualMass(4))),
    Entry(tu.BinnedError(tu.lens.TopLabelByClass(), tu.EqualMass(4), norm=2)),
    Entry(tu.BinnedError(tu.lens.TopLabelByClass(), FIXED), additive=True),
    Entry(tu.BinnedError(tu.lens.Pooled(), FIXED), additive=True),
    Entry(tu.BinnedError(tu.lens.ClassWise(), FIXED, norm=2), additive=True),
    Entry(tu.BinnedError(tu.lens.ClassWise(), FIXED, norm=math.inf), additive=True),
    Entry(tu.BinnedError(tu.lens.ClassWise(where=(0.05, 0.95)), FIXED), additive=True),
    Entry(tu.BinnedError(tu.lens.ClassWise(), TREE)),
    Entry(tu.BinnedError(tu.lens.Canonical(), TREE)),
    Entry(
        tu.BinnedError(tu.lens.Canonical(), tu.bins.SimplexGrid(4)), additive=True, symmetric=False
    ),
    Entry(
        tu.BinnedError(tu.lens.Canonical(), tu.bins.SimplexGrid(3), distance="squared"),
        symmetric=False,
    ),
    Entry(
        tu.BinnedError(tu.lens.Canonical(), tu.bins.SimplexTriangles(4)),
        additive=True,
        binary=False,
        most_classes=3,
    ),
    Entry(
        tu.BinnedError(tu.lens.Canonical(), tu.bins.SimplexTriangles(3), distance="squared"),
        additive=True,
        binary=False,
        most_classes=3,
    ),
    Entry(tu.BinnedError(tu.lens.TopK(1), TREE, norm=2)),
    Entry(tu.BinnedError(tu.lens.Partition(((0, 2), (1,))), TREE), binary=False, symmetric=False),
    Entry(tu.SweepError(norm=math.inf)),
    Entry(tu.SweepError(binning="equal-width")),
    Entry(tu.SweepError(tu.lens.ClassWise())),
    Entry(tu.DensityError(tu.lens.ClassWise(), norm=2), plug_in=False, zero=False),
    Entry(tu.DensityError(norm=3, bandwidth=0.05), zero=False),
    Entry(tu.SmoothError(tu.lens.ClassWise(where=(0.05, 1.0)))),
    Entry(tu.SmoothError(tu.lens.TopLabelByClass())),
    Entry(tu.KernelError(tu.lens.TopLabel(), bandwidth=0.3, form="biased")),
    Entry(tu.KernelError(tu.lens.ClassWise(), "gaussian", 0.2, "biased")),
    Entry(tu.KernelError(tu.lens.Canonical(), bandwidth=0.3, form="biased"), error=False),
    Entry(
        tu.KernelError(tu.lens.Canonical(), distance="tv"), plug_in=False, error=False, zero=False
    ),
    Entry(tu.KernelError(tu.lens.TopK(1), bandwidth=0.2), plug_in=False, error=False, zero=False),
    Entry(tu.KernelError(form="block"), plug_in=False, error=False, zero=False, ordered=True),
    Entry(tu.MMCE(tu.lens.ClassWise())),
    Entry(tu.MMCE(weighted=True), zero=False),
    Entry(tu.CumulativeError(tu.lens.ClassWise(), "kuiper")),
    Entry(tu.PointwiseError(tu.lens.TopLabel(), decay=0.5), zero=False),
    Entry(tu.CurveError(tu.lens.TopLabel()), error=False),
    Entry(tu.CurveError(tu.lens.ClassWise(), quantile=1.0), error=False),
]

ESTIMATORS = NAMED | {repr(entry.estimator): entry for entry in COMPOSED}

CLASSES = sorted({type(known_estimator(e.estimator)).__name__ for e in ESTIMATORS.values()})
