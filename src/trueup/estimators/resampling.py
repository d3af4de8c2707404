"""Methods of estimators for resampling, with defaults that are correct for every estimator."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.engines.types import Sums
from trueup.estimators.ties import TiedScores
from trueup.forecasts import Forecasts
from trueup.results import Estimate
from trueup.specification import Specification


class Resampled(Specification):
    """Base class of `Estimator`: faster computation of its value on resamples, if available."""

    @property
    def debiased(self) -> bool:
        """Whether a bias estimate is subtracted; resamples are then centered at a plug-in."""
        return False

    def plug_in(self) -> Self:
        """Return the estimator without its bias correction, which assumes independent rows.

        Returns
        -------
        Estimator
            The plug-in estimator.
        """
        return self

    def with_kept_bins(self, found: Estimate, forecasts: Forecasts) -> Self:
        """Return the estimator with the bins of an estimate, which are then fixed in resamples.

        Parameters
        ----------
        found : Estimate
            The estimate.
        forecasts : Forecasts
            Validated predictions and labels.

        Returns
        -------
        Estimator
            An estimator with fixed bins.
        """
        return self

    @property
    def of_residuals(self) -> bool:
        """Whether the value is a function of score − label alone, as sign-change tests require."""
        return False

    @property
    def of_label_sums(self) -> bool:
        """Whether labels matter only through their sums in bins that do not depend on them.

        If so, `table_for_labels` and `powers_for_labels` give the powers of all resamples at once.
        """
        return False

    def table_for_labels(self, table: Any) -> Any:
        """Return the table of bins from which the powers of resamples are computed.

        Parameters
        ----------
        table : BinTable or CellTable
            The table of the estimate.

        Returns
        -------
        BinTable
            The table.
        """
        return table

    def powers_for_labels(self, table: Any, drawn: NDArray[Any]) -> Floats:
        """Compute the power of the table, and the power for each row of drawn label sums.

        Parameters
        ----------
        table : BinTable or CellTable
            The table of the estimate.
        drawn : ndarray
            Label sums by resample and bin.

        Returns
        -------
        ndarray
            The powers; the first is that of the data.
        """
        raise NotImplementedError

    @property
    def of_cells(self) -> bool:
        """Whether outcomes matter only through their counts in cells (`power_of_cells`)."""
        return False

    def power_of_cells(self, table: Any) -> float:
        """Compute the power over cells of a simplex.

        Parameters
        ----------
        table : BinTable or CellTable
            The table of the estimate.

        Returns
        -------
        float
            The power.
        """
        raise NotImplementedError

    def edges_before_data(self, n: int) -> Floats | None:
        """Return the inner edges for `values_of_sums`; None if the bins depend on the scores.

        Parameters
        ----------
        n : int
            Number of rows.

        Returns
        -------
        ndarray or None
            The inner edges.
        """
        return None

    def values_of_sums(self, sums: Sums, n: int) -> Floats:
        """Compute the values of many datasets of n rows from their sums by bin.

        Parameters
        ----------
        sums : Sums
            Sums of scores, labels and rows, by dataset and bin.
        n : int
            Number of rows of a dataset.

        Returns
        -------
        ndarray
            One value per dataset.
        """
        raise NotImplementedError

    @property
    def takes_ties(self) -> bool:
        """Whether `power_of_ties` is implemented; resamples then need no sort."""
        return type(self).power_of_ties is not Resampled.power_of_ties

    def power_of_ties(self, ties: TiedScores) -> float:
        """Compute the power of sorted, counted rows with hard labels and without weights.

        Parameters
        ----------
        ties : TiedScores
            Sorted distinct scores with their counts of rows and of positives.

        Returns
        -------
        float
            The power.
        """
        raise NotImplementedError
