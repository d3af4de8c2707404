"""Results of a study: tidy rows, one for each number of each configuration."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from trueup._typing import Floats
from trueup.notebook import FieldsShown
from trueup.readable import rounded_digits
from trueup.tables.base import Library, frame_of

SHOWN = 40


@dataclass(frozen=True)
class StudyRow(FieldsShown):
    """One measure for one simulated model and one n, over many datasets.

    Parameters
    ----------
    world : str
        Name of the simulated model.
    measure : str
        Name of the measure.
    n : int
        Number of rows of a dataset.
    n_datasets : int
        Number of datasets.
    mean : float
        Mean of the measure.
    sd : float
        Standard deviation of the measure.
    se : float
        Standard error of the mean.
    truth : float
        True value; NaN if it is unknown.
    bias : float
        mean − truth.
    bias_se : float
        Standard error of the bias.
    rmse : float
        Root mean squared error.
    rmse_se : float
        Standard error of the RMSE.
    q025 : float
        2.5% quantile of the measure.
    median : float
        Median of the measure.
    q975 : float
        97.5% quantile of the measure.

    Examples
    --------
    >>> from trueup import ece
    >>> from trueup.simulate import World, study
    >>> row = study({"calibrated": World()}, {"ece": ece}, 100, n_datasets=200).rows[0]
    >>> row.truth, round(row.bias, 2)
    (0.0, 0.12)
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
        """Summarize the values of all datasets.

        Parameters
        ----------
        world : str
            Name of the simulated model.
        measure : str
            Name of the measure.
        n : int
            Number of rows of a dataset.
        values : ndarray
            One value per dataset.
        truth : float
            True value.

        Returns
        -------
        StudyRow
            The row.
        """
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
    """Result of `study`: one row per simulated model, measure and n.

    Parameters
    ----------
    rows : tuple of StudyRow
        Worlds in the given order, then n, then measures.
    values : dict
        Values behind each row, one per dataset, by (world, measure, n). All measures of a world and
        n are in the same order of datasets, so that differences are paired.

    Examples
    --------
    >>> from trueup import ece
    >>> from trueup.simulate import World, study
    >>> result = study({"calibrated": World()}, {"ece": ece}, [100, 1000], n_datasets=200)
    >>> [round(row.bias, 2) for row in result.select(n=1000)]
    [0.04]
    """

    rows: tuple[StudyRow, ...]
    values: dict[tuple[str, str, int], Floats] = field(default_factory=dict)

    def select(
        self, *, world: str | None = None, measure: str | None = None, n: int | None = None
    ) -> tuple[StudyRow, ...]:
        """Return the rows of one world, measure or n, or of a combination of them.

        Parameters
        ----------
        world : str, optional
            Name of the simulated model.
        measure : str, optional
            Name of the measure.
        n : int, optional
            Number of rows of a dataset.

        Returns
        -------
        tuple of StudyRow
            The rows.
        """
        return tuple(
            row
            for row in self.rows
            if world in (None, row.world) and measure in (None, row.measure) and n in (None, row.n)
        )

    def to_frame(self, library: Library | None = None) -> Any:
        """Return a data frame with one line per row.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            Library to use (default: the first that is installed).

        Returns
        -------
        DataFrame
            The data frame, or a pyarrow table.
        """
        columns = {name: [getattr(row, name) for row in self.rows] for name in COLUMNS}
        return frame_of(columns, library)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON; unknown numbers are None."""
        return {"rows": [row.to_dict() for row in self.rows]}

    def __repr__(self) -> str:
        """Print the rows as a person would read them."""
        worlds = {row.world for row in self.rows}
        many = f"{len(self.rows)} row{'s' * (len(self.rows) != 1)}"
        of = f" of {rounded_digits(worlds.pop())}" if len(worlds) == 1 else ""
        lines = [f"Study{of}, {many}:"]
        lines += [
            _printed(row, "" if of else f"{rounded_digits(row.world)}, ")
            for row in self.rows[:SHOWN]
        ]
        if len(self.rows) > SHOWN:
            lines.append(f"  … and {len(self.rows) - SHOWN} more")
        return "\n".join(lines)


def _sd(values: Floats) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else math.nan


def _printed(row: StudyRow, world: str) -> str:
    bias = "" if math.isnan(row.truth) else f", bias {row.bias:+.5f}, rmse {row.rmse:.5f}"
    return f"  {world}{row.measure}, n = {row.n}: {row.mean:.5f} ± {row.se:.5f}{bias}"
