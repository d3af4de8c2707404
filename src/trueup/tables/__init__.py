"""Tables of sufficient statistics that add: over chunks, threads, machines and days."""

from trueup.tables.bins import BinTable
from trueup.tables.cells import CellTable
from trueup.tables.columns import Columns
from trueup.tables.curve import Curve
from trueup.tables.families import TableFamily
from trueup.tables.fine import FineTable

__all__ = ["BinTable", "CellTable", "Columns", "Curve", "FineTable", "TableFamily"]
