"""Tables of sufficient statistics that add: over chunks, threads, machines and days."""

from trueup.tables.bins import BinTable
from trueup.tables.cells import CellTable
from trueup.tables.columns import Curve, ResultTable
from trueup.tables.families import BinTables
from trueup.tables.fine import FineBinTable
from trueup.tables.per_part import PartFound, per_part

__all__ = [
    "BinTable",
    "BinTables",
    "CellTable",
    "Curve",
    "FineBinTable",
    "PartFound",
    "ResultTable",
    "per_part",
]
