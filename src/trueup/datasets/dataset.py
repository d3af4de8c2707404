"""`Dataset`: forecasts with the true probability of each row, and a file of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.errors import must_be
from trueup.forecasts import Forecasts
from trueup.tables import ResultTable


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Dataset(Forecasts):
    """Simulated forecasts whose true probabilities are known.

    Every function that takes ``(probs, labels)`` also takes a dataset. Functions such as
    `datasets.clinic` make one.

    Parameters
    ----------
    name, description : str
        Name of the dataset, and a description in words.
    true_probs : ndarray
        True probability of the positive class (n,), or of each class (n, K), for every row.
    known : dict of str to float
        Values that follow from the true probabilities of these rows, by name, such as ``"slope"``.
    table : ResultTable
        The columns of its file.
    logits : ndarray or None
        The logits (n, K) that the probabilities come from.
    labels, weights, groups, features, clusters : ndarray or None
        Data of each row, as in `Forecasts`.
    n, n_classes : int
        Numbers of rows and of classes.
    classes, group_columns, remarks : tuple or None
        Names of the classes, names of the group columns, and remarks, as in `Forecasts`.
    _probs : Vector or Matrix
        Validated predictions; ``probs`` returns them as an array.

    Examples
    --------
    >>> from trueup import datasets
    >>> data = datasets.clinic()
    >>> data
    Dataset clinic: 6,000 samples, binary, with groups
    >>> data.probs[:3].tolist(), data.labels[:3].tolist()
    ([0.1127, 0.0592, 0.0105], [0, 1, 0])
    >>> data.known["slope"]
    0.75
    """

    name: str
    description: str
    true_probs: Floats
    known: Mapping[str, float]
    table: ResultTable
    logits: Floats | None = None

    @property
    def probs(self) -> Floats:
        """The predicted probabilities: (n,) of the positive class, or (n, K)."""
        if self.is_matrix:
            return self.rows(slice(0, self.n))
        return np.asarray(self.scores, np.float64)

    def take(self, rows: Ints) -> Dataset:
        """Return these rows with their true probabilities; ``known`` still describes all rows."""
        columns = {name: column[rows] for name, column in self.table.data.items()}
        return replace(
            cast("Dataset", super().take(rows)),  # it replaces fields of this very dataset
            true_probs=self.true_probs[rows],
            table=ResultTable(columns),
            logits=None if self.logits is None else self.logits[rows],
        )

    def to_frame(self, library: Any = None) -> Any:
        """Return the columns of its file as a data frame.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            Library to use (default: the first that is installed).

        Returns
        -------
        DataFrame
            The data frame, or a pyarrow table.
        """
        return replace_matrices(self.table).to_frame(library)

    def save(self, path: object, *, format: str | None = None) -> list[Path]:
        """Write the columns to a file, or to a folder with a file for each group.

        Parameters
        ----------
        path : str or path
            A file that ends in .csv, .parquet, .npz or another format of `trueup.read`. A path
            without such an ending is a folder.
        format : str or None
            Format of the files in a folder: ``"csv"`` (default), ``"parquet"`` and so on.

        Returns
        -------
        list of pathlib.Path
            The files that were written.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from trueup import datasets
        >>> with TemporaryDirectory() as folder:
        ...     files = datasets.language_models().save(f"{folder}/answers")
        >>> len(files), files[0].name
        (20, 'alder arithmetic.csv')
        """
        from trueup.atomic_write import checked_path
        from trueup.io import write_table

        place = checked_path(path)
        if place.suffix and not place.is_dir():
            write_table(place, self.table.data, format)
            return [place]
        if self.groups is None:
            rule = "a file, such as data.csv, because this dataset has no groups"
            raise must_be("path", rule, str(place))
        place.mkdir(parents=True, exist_ok=True)
        ending = format or "csv"
        names = list(dict.fromkeys(self.groups.tolist()))
        files = [place / f"{name}.{ending}" for name in names]
        for name, file in zip(names, files, strict=True):
            here = self.groups == name
            write_table(file, {key: column[here] for key, column in self.table.data.items()})
        return files

    def __repr__(self) -> str:
        """Describe the contents without printing the numbers."""
        inside = super().__repr__().removeprefix("Forecasts(").removesuffix(")")
        return f"Dataset {self.name}: {inside.replace(str(self.n), f'{self.n:,}', 1)}"


def replace_matrices(table: ResultTable) -> ResultTable:
    """Return the table with each matrix split into one column per class: logits_0, logits_1, …"""
    columns: dict[str, NDArray[Any]] = {}
    for name, column in table.data.items():
        if column.ndim == 1:
            columns[name] = column
        else:
            columns |= {f"{name}_{k}": column[:, k] for k in range(column.shape[1])}
    return ResultTable(columns)


def with_truth(forecasts: Forecasts, **about: Any) -> Dataset:
    """Combine checked forecasts with the other fields, ``about``, of a dataset."""
    known = {each.name: getattr(forecasts, each.name) for each in fields(Forecasts)}
    return Dataset(**known, **about)
