"""Binnings: rules for grouping scores, or points of a simplex. Bins are right-closed."""

from trueup.bins.base import Binning, check_binning
from trueup.bins.scores import EqualMass, EqualWidth, FixedEdges, KeptBins
from trueup.bins.simplex import SimplexGrid, SimplexTriangles, VarianceTree

__all__ = [
    "Binning",
    "EqualMass",
    "EqualWidth",
    "FixedEdges",
    "KeptBins",
    "SimplexGrid",
    "SimplexTriangles",
    "VarianceTree",
    "check_binning",
]
