"""Metrics over training steps, in memory that does not grow with the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from trueup.errors import InputError, Verbatim, must_be, required
from trueup.estimators.base import known_estimator
from trueup.forecasts import Forecasts
from trueup.tables import ResultTable

__all__ = ["Trace"]


class Trace:
    """Record metrics over training steps.

    Use it to see how calibration changes as a model learns. A step can be passed in one call or in
    batches. For binned errors with fixed bins and for proper scores, batches give exactly the
    result of one call, and only the bins are kept in memory. Predictions are never stored. Other
    metrics need all rows of a step in one call.

    Parameters
    ----------
    metrics : dict or list
        Named metrics or estimators by the name of their column, such as
        ``{"ece": tu.ece, "loss": tu.log_loss}``; or a list of them, each named by its own name or
        specification.

    References
    ----------
    Nixon et al. 2019, Figs. 6 and 7; Vaicenavicius et al. 2019, Fig. 3.

    Examples
    --------
    >>> import trueup as tu
    >>> trace = Trace({"ece": tu.BinnedError(), "brier": tu.Brier()})
    >>> for epoch in (1, 2):
    ...     trace.update([0.9, 0.8], [1, 1])
    ...     trace.update([0.3], [0])
    ...     result = trace.record(epoch)
    >>> round(result["ece"], 6), trace.table()["rows"].tolist()
    (0.2, [3, 3])
    """

    def __init__(
        self, metrics: Mapping[str, Callable[..., float]] | Iterable[Callable[..., float]]
    ) -> None:
        self._metrics = _named(metrics)
        known = {name: known_estimator(each) for name, each in self._metrics.items()}
        self._additive = {name: each for name, each in known.items() if each and each.additive}
        self._steps: list[dict[str, Any]] = []
        self._begin()

    def _begin(self) -> None:
        """Discard the current step: its rows, their kind, and the table or value of each metric."""
        self._seen = 0
        self._kind: tuple[object, ...] = ()
        self._found: dict[str, Any] = {}

    def update(
        self,
        probs: object,
        labels: object = None,
        *,
        weights: object = None,
        logits: bool = False,
    ) -> None:
        """Add a batch to the current step; invalid data leaves the step unchanged.

        Parameters
        ----------
        probs : array_like or Forecasts
            Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data.
        labels : array_like, optional
            Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
        weights : array_like, optional
            Weight of each row (default: all rows count the same).
        logits : bool, default False
            Whether `probs` holds logits instead of probabilities.
        """
        forecasts = Forecasts.from_arrays(probs, labels, weights=weights, logits=logits)
        kind = (forecasts.is_matrix, forecasts.n_classes, forecasts.classes)
        self._check_more("probs", kind)
        found = {
            name: self._additive[name].statistics(forecasts)
            if name in self._additive
            else float(metric(forecasts))
            for name, metric in self._metrics.items()
        }
        self._add(found, kind, forecasts.n)

    def merge(self, *others: Trace) -> None:
        """Add the batches of other traces of the same metrics to the current step.

        Traces can be pickled: each process updates its own, and one of them merges all and records
        the step.

        Parameters
        ----------
        *others : Trace
            Traces of the same metrics, such as those gathered with ``all_gather_object`` of torch.

        Examples
        --------
        >>> import trueup as tu
        >>> one, two = Trace({"loss": tu.log_loss}), Trace({"loss": tu.log_loss})
        >>> one.update([0.9, 0.8], [1, 1])
        >>> two.update([0.3], [0])
        >>> one.merge(two)
        >>> round(one.record("epoch 1")["loss"], 4), one.table()["rows"].tolist()
        (0.2284, [3])
        """
        for other in others:
            if not isinstance(other, Trace) or other._specification() != self._specification():
                raise must_be("others", "traces of the same metrics", other)
        for other in others:
            if other._seen:
                self._check_more("others", other._kind)
                self._add(other._found, other._kind, other._seen)

    def _specification(self) -> dict[str, str]:
        return {
            name: repr(self._additive.get(name, getattr(metric, "__qualname__", metric)))
            for name, metric in self._metrics.items()
        }

    def _check_more(self, argument: str, kind: tuple[object, ...]) -> None:
        """Raise InputError unless rows of a kind can be added to the current step."""
        if not self._seen:
            return
        if kind != self._kind:
            rule = f"match the other batches of the step ({_words(*self._kind)})"
            raise must_be(argument, rule, Verbatim(_words(*kind)))
        for name in self._metrics:
            if name not in self._additive:
                rule = f"must be additive if a step has several batches; {name!r} needs all rows"
                hint = (
                    "pass the whole step to `record`, or use metrics that add up, such as ece, "
                    "brier and log_loss"
                )
                raise InputError("metrics", rule, hint=hint)

    def _add(self, found: dict[str, Any], kind: tuple[object, ...], rows: int) -> None:
        """Add the results for some rows to the current step."""
        if self._seen:
            found = {name: self._found[name] + table for name, table in found.items()}
        self._found, self._kind = found, kind
        self._seen += rows

    def record(
        self,
        step: Any,
        probs: object = None,
        labels: object = None,
        *,
        weights: object = None,
        logits: bool = False,
    ) -> dict[str, float]:
        """Close the current step, after a last (or only) batch if one is given.

        Parameters
        ----------
        step : object
            Name of the step, such as the number of the epoch.
        probs : array_like or Forecasts
            Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data.
        labels : array_like, optional
            Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
        weights : array_like, optional
            Weight of each row (default: all rows count the same).
        logits : bool, default False
            Whether `probs` holds logits instead of probabilities.

        Returns
        -------
        dict of str to float
            The metrics of the step by name.
        """
        if probs is not None or labels is not None or weights is not None:
            self.update(probs, labels, weights=weights, logits=logits)
        if not self._seen:
            raise required("probs", "pass them, or call update(probs, labels) first")
        found = dict(self._found)
        for name, estimator in self._additive.items():
            found[name] = estimator.from_table(found[name]).value
        self._steps.append({"step": step, "rows": self._seen} | found)
        self._begin()
        return found

    def table(self) -> ResultTable:
        """Return one row per recorded step.

        Returns
        -------
        ResultTable
            ``step``, ``rows`` and one column per metric.
        """
        table = ResultTable.from_rows(self._steps, ("step", "rows", *self._metrics))
        steps = [each["step"] for each in self._steps]
        if all(isinstance(step, int | float) for step in steps):  # whole or not, they are numbers
            return ResultTable(table.columns() | {"step": np.array(steps)})
        return table

    def to_frame(self, library: Any = None) -> Any:
        """Return `table` as a data frame.

        Parameters
        ----------
        library : module or str, optional
            pandas, polars or pyarrow; the default is the first that is installed.

        Returns
        -------
        DataFrame
            The table.
        """
        return self.table().to_frame(library)

    def __len__(self) -> int:
        """Return the number of recorded steps."""
        return len(self._steps)

    def __repr__(self) -> str:
        """Say what is followed and how far it has come."""
        return f"Trace of {', '.join(self._metrics)} over {len(self)} step{'s' * (len(self) != 1)}"


def _named(metrics: object) -> dict[str, Callable[..., float]]:
    if isinstance(metrics, Mapping):
        named = dict(metrics)
    elif isinstance(metrics, Iterable) and not isinstance(metrics, str):
        listed = list(metrics)
        named = {getattr(metric, "__name__", None) or repr(metric): metric for metric in listed}
        if len(named) < len(listed):
            raise InputError("metrics", "must not contain duplicates")
    else:
        hint = "pass a list of one, [metric]" if callable(metrics) else ""
        raise must_be("metrics", "a dictionary or a list of metrics", metrics, hint=hint)
    for name, metric in named.items():
        if not isinstance(name, str) or name in ("step", "rows"):
            raise must_be("metrics", 'not use the reserved names "step" and "rows"', name)
        if not callable(metric) or isinstance(metric, type):
            raise must_be("metrics", f"contain a function under {name!r}", metric)
    if not named:
        raise InputError("metrics", "must not be empty")
    return named


def _words(is_matrix: object, n_classes: object, classes: object) -> str:
    if not is_matrix:
        return "binary scores"
    return f"{n_classes} columns" + ("" if classes is None else ", with names")
