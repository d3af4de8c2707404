"""Lenses: the part of a prediction that is evaluated (Vaicenavicius et al. 2019, §3.1).

A lens turns predictions and labels into an induced problem: pairs of a score and an outcome, a
family of such pairs (one per class), or points of a simplex with their outcomes. If a model is
calibrated, so is every induced problem; the converse does not hold.
"""

from trueup.lens.base import FamilyLens, Lens, PairsLens, SimplexLens
from trueup.lens.families import ClassWise, TopLabelByClass
from trueup.lens.induced import Cells, Member, Pairs
from trueup.lens.pairs import (
    Binary,
    OneVsRest,
    Pooled,
    TopLabel,
    binary_problem,
    check_lens,
    chosen_lens,
    forecasts_of,
    is_lens,
)
from trueup.lens.simplex import Canonical, Partition, TopK

__all__ = [
    "Binary",
    "Canonical",
    "Cells",
    "ClassWise",
    "FamilyLens",
    "Lens",
    "Member",
    "OneVsRest",
    "Pairs",
    "PairsLens",
    "Partition",
    "Pooled",
    "SimplexLens",
    "TopK",
    "TopLabel",
    "TopLabelByClass",
    "binary_problem",
    "check_lens",
    "chosen_lens",
    "forecasts_of",
    "is_lens",
]
