"""Metrics followed over time, in memory that does not grow with the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from trueup.errors import Words, must_be
from trueup.estimators import Estimator
from trueup.forecasts import Forecasts
from trueup.tables import Columns

__all__ = ["Trace"]


class Trace:
    """Any set of metrics over training steps: how does calibration change as a model learns?

    A step can be given at once, or in batches: binned errors with fixed bins and proper scores
    then add up, exactly, what every batch leaves, in memory for the bins alone. Predictions are
    never kept. Other metrics need the whole of a step in one call.

    Parameters
    ----------
    metrics
        Estimators or named metrics by the name of their column, such as
        ``{"ece": tu.BinnedError(), "brier": tu.Brier()}``; or a list of estimators, named by
        their specification.

    Examples
    --------
    >>> import trueup as tu
    >>> trace = Trace({"ece": tu.BinnedError(), "brier": tu.Brier()})
    >>> for epoch in (1, 2):
    ...     trace.update([0.9, 0.8], [1, 1])
    ...     trace.update([0.3], [0])
    ...     found = trace.record(epoch)
    >>> round(found["ece"], 6), trace.table()["rows"].tolist()
    (0.2, [3, 3])

    References
    ----------
    Nixon et al. 2019, Figs. 6 and 7; Vaicenavicius et al. 2019, Fig. 3.
    """

    def __init__(
        self, metrics: Mapping[str, Callable[..., float]] | Iterable[Callable[..., float]]
    ) -> None:
        named = metrics if isinstance(metrics, Mapping) else {repr(m): m for m in _listed(metrics)}
        for name, metric in named.items():
            if not callable(metric) or isinstance(metric, type):
                got = Words(f"the class {metric.__name__}") if isinstance(metric, type) else metric
                raise must_be("metrics", f"something to call under {name!r}", got)
            if name in ("step", "rows"):
                raise must_be("metrics", 'named other than "step" and "rows"', name)
        if not named:
            raise must_be("metrics", "one metric or more", Words("none"))
        self._metrics = dict(named)
        self._steps: list[Any] = []
        self._rows: list[int] = []
        self._values: dict[str, list[float]] = {name: [] for name in named}
        self._begin()

    def _begin(self) -> None:
        self._seen = 0
        self._batches = 0
        self._sums: dict[str, Any] = {}
        self._whole: dict[str, float] = {}

    def update(self, probs: object, labels: object = None, *, weights: object = None) -> None:
        """Add a batch to the step under way; refused data leaves the step as it was."""
        forecasts = Forecasts.of(probs, labels, weights=weights)
        sums, whole = {}, {}
        for name, metric in self._metrics.items():
            found = metric.statistics(forecasts) if isinstance(metric, Estimator) else None
            if found is not None:
                sums[name] = self._sums[name] + found if self._batches else found
            elif self._batches:
                raise must_be(
                    "metrics",
                    "ones that add up over batches to take a second batch of a step",
                    Words(f"{name!r}, which needs all rows at once"),
                    hint="give a step to `record` whole, or use bins that are fixed beforehand",
                )
            else:
                whole[name] = float(metric(forecasts))
        self._sums = sums
        if not self._batches:
            self._whole = whole
        self._seen += forecasts.n
        self._batches += 1

    def record(
        self, step: Any, probs: object = None, labels: object = None, *, weights: object = None
    ) -> dict[str, float]:
        """Close a step under the name ``step``, after a last (or only) batch if one is given.

        Returns the metrics of the step by name.
        """
        if probs is not None:
            self.update(probs, labels, weights=weights)
        if not self._batches:
            rule = "given where `update` was not called for the step"
            raise must_be("probs", rule, None, hint="call update(probs, labels) first")
        found = {}
        for name, metric in self._metrics.items():
            if name in self._sums:
                assert isinstance(metric, Estimator)
                found[name] = metric.conclude(self._sums[name]).value
            else:
                found[name] = self._whole[name]
        self._steps.append(step)
        self._rows.append(self._seen)
        for name, value in found.items():
            self._values[name].append(value)
        self._begin()
        return found

    def table(self) -> Columns:
        """Return one row per recorded step: ``step``, ``rows`` and a column for each metric."""
        values = {name: np.array(column) for name, column in self._values.items()}
        return Columns({"step": np.array(self._steps), "rows": np.array(self._rows)} | values)

    def to_frame(self, library: Any = None) -> Any:
        """Return `table` as a data frame (pandas, polars or pyarrow)."""
        return self.table().to_frame(library)

    def __len__(self) -> int:
        """Return the number of recorded steps."""
        return len(self._steps)

    def __repr__(self) -> str:
        """Say what is followed and how far it has come."""
        return f"Trace of {', '.join(self._metrics)} over {len(self)} steps"


def _listed(metrics: object) -> list[Callable[..., float]]:
    if not isinstance(metrics, Iterable):
        raise must_be("metrics", "a dictionary or a list of metrics", metrics)
    return list(metrics)
