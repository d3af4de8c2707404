"""Tables of sufficient statistics, which can be added over chunks, threads, machines and days."""

from trueup.tables.bins import BinTable
from trueup.tables.cells import CellTable
from trueup.tables.columns import Curve, ResultTable
from trueup.tables.families import BinTables
from trueup.tables.fine import FineBinTable

__all__ = ["BinTable", "BinTables", "CellTable", "Curve", "FineBinTable", "ResultTable"]
