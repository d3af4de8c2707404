"""Input and output: read predictions and labels from tables in common formats; write tables."""

from trueup.io.column_choice import Chosen, choose
from trueup.io.opening import open_table
from trueup.io.reading import Found, FoundScores, read, read_forecasts, read_scores
from trueup.io.table import Table
from trueup.io.writing import write_table

__all__ = [
    "Chosen",
    "Found",
    "FoundScores",
    "Table",
    "choose",
    "open_table",
    "read",
    "read_forecasts",
    "read_scores",
    "write_table",
]
