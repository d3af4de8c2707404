"""What a study found: tidy rows, one for each number of each cell."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from trueup._typing import Floats
from trueup.notebook import FieldsShown
from trueup.tables.base import Library, frame_of

SHOWN = 40


@dataclass(frozen=True)
class StudyRow(FieldsShown):
    """One measure in one world at one n, over ``n_datasets`` datasets.

    Attributes
    ----------
    mean, sd, se
        Mean and standard deviation of the measure, and the standard error of the mean.
    truth, bias, bias_se
        What it should be, mean − truth and its standard error; NaN where no truth is known.
    rmse, rmse_se
        Root mean squared distance from the truth, and its standard error.
    q025, median, q975
        Quantiles of the measure.
    """

    world: str
    measure: str
    n: int
    n_datasets: int
    mean: float
    sd: float
    se: float
    truth: float
    bias: float
    bias_se: float
    rmse: float
    rmse_se: float
    q025: float
    median: float
    q975: float

    @classmethod
    def of(cls, world: str, measure: str, n: int, values: Floats, truth: float) -> StudyRow:
        """Summarize the values of all datasets."""
        m = len(values)
        with np.errstate(invalid="ignore"):  # an infinite value has no spread: NaN says so
            mean, sd = float(values.mean()), _sd(values)
            squares = (values - truth) ** 2
            rmse = math.sqrt(float(squares.mean()))
            quantiles = np.quantile(values, [0.025, 0.5, 0.975]).tolist()
            se = sd / math.sqrt(m)
            squares_se = _sd(squares) / math.sqrt(m)
        bias_se = math.nan if math.isnan(truth) else se
        rmse_se = squares_se / (2 * rmse) if rmse > 0 else squares_se
        errors = (truth, mean - truth, bias_se, rmse, rmse_se)
        return cls(world, measure, n, m, mean, sd, se, *errors, *quantiles)


COLUMNS = tuple(column.name for column in fields(StudyRow))


@dataclass(frozen=True, eq=False, repr=False)
class Study(FieldsShown):
    """Rows for every world, measure and n.

    Attributes
    ----------
    rows
        Worlds in the order given, then n, then measures.
    values
        The numbers behind each row, one per dataset, by (world, measure, n). All measures of a
        world and n stand in the same order of datasets, so that differences are paired.
    """

    rows: tuple[StudyRow, ...]
    values: dict[tuple[str, str, int], Floats] = field(default_factory=dict)

    def select(
        self, *, world: str | None = None, measure: str | None = None, n: int | None = None
    ) -> tuple[StudyRow, ...]:
        """Return the rows of one world, measure or n, or of any of them together."""
        return tuple(
            row
            for row in self.rows
            if world in (None, row.world) and measure in (None, row.measure) and n in (None, row.n)
        )

    def to_frame(self, library: Library | None = None) -> Any:
        """Return a data frame with one line per row (pandas, polars or pyarrow)."""
        columns = {name: [getattr(row, name) for row in self.rows] for name in COLUMNS}
        return frame_of(columns, library)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON: None where a number is not known."""
        return {"rows": [row.to_dict() for row in self.rows]}

    def __repr__(self) -> str:
        """Print the rows as a person would read them."""
        worlds = {row.world for row in self.rows}
        many = f"{len(self.rows)} row{'s' * (len(self.rows) != 1)}"
        of = f" of {worlds.pop()}" if len(worlds) == 1 else ""
        lines = [f"Study{of}, {many}:"]
        lines += [_printed(row, "" if of else f"{row.world}, ") for row in self.rows[:SHOWN]]
        if len(self.rows) > SHOWN:
            lines.append(f"  … and {len(self.rows) - SHOWN} more")
        return "\n".join(lines)


def _sd(values: Floats) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else math.nan


def _printed(row: StudyRow, world: str) -> str:
    bias = "" if math.isnan(row.truth) else f", bias {row.bias:+.5f}, rmse {row.rmse:.5f}"
    return f"  {world}{row.measure}, n = {row.n}: {row.mean:.5f} ± {row.se:.5f}{bias}"
