"""The base class of estimators: frozen values that you call with predictions and labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from functools import partial
from inspect import isfunction
from typing import Any, ClassVar, NamedTuple, Self

from trueup.calls.hints import no_metric
from trueup.checks import is_number
from trueup.errors import Verbatim, must_be
from trueup.estimators.resampling import Resampled
from trueup.forecasts import Forecasts
from trueup.lens import Lens, chosen_lens, is_lens
from trueup.results import Estimate

Metric = Callable[..., float]
"""An estimator, a named metric such as `ece`, or a `functools.partial` of one with keywords."""


class Ends(NamedTuple):
    """Ends of an interval, on the scale of the error."""

    low: float
    high: float


@dataclass(frozen=True, repr=False)
class Estimator(Resampled):
    """Base class of estimators: a call returns the number, and `measure` adds table and notes.

    A new estimator defines `measure_forecasts` and nothing else. Every other method that inference,
    evaluation and plots may call has a default that is correct for every estimator but may be slow.
    An estimator with a faster way overrides it.

    Attributes
    ----------
    score_name : str
        Name of the value if calibration is only a part of it, such as "Brier score".
    sums_over_classes : bool
        Whether the value for several classes is the sum of the values of the classes.
    analytic : str
        Formula that `interval` uses without resampling: the ``"mean"`` of rows or, for an estimator
        with a field ``norm``, the ``"table"`` of bins or cells.
    bins_in_words : str
        Name, in an interval, of the bins that it keeps fixed.
    draws_outcomes : bool
        Whether the value depends only on the pairs of its lens. A consistency test may then draw
        the outcomes of these pairs instead of whole labels.
    most_rows_resampled : float
        Above this number of rows, computing the value on every resample takes too long.

    Examples
    --------
    >>> import trueup as tu
    >>> isinstance(tu.BinnedError(), tu.estimators.Estimator)
    True
    >>> estimate = tu.BinnedError().measure([0.9, 0.9, 0.9, 0.9], [1, 1, 1, 0])
    >>> round(estimate.value, 6)
    0.15
    """

    score_name: ClassVar[str] = ""
    sums_over_classes: ClassVar[bool] = False
    analytic: ClassVar[str] = ""
    bins_in_words: ClassVar[str] = "these bins"
    draws_outcomes: ClassVar[bool] = False
    most_rows_resampled: ClassVar[float] = math.inf

    def __call__(
        self, probs: object, labels: object = None, *, weights: object = None, logits: bool = False
    ) -> float:
        """Return the estimate as a float."""
        return self.measure(probs, labels, weights=weights, logits=logits).value

    def measure(
        self, probs: object, labels: object = None, *, weights: object = None, logits: bool = False
    ) -> Estimate:
        """Compute the estimate with its table and notes.

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

        Returns
        -------
        Estimate
            Value, table and notes.
        """
        forecasts = Forecasts.from_arrays(probs, labels, weights=weights, logits=logits)
        found, remarks = self.measure_forecasts(forecasts), remarks_of(forecasts)
        return replace(found, notes=found.notes | remarks) if remarks else found

    def table(
        self, probs: object, labels: object = None, *, weights: object = None, logits: bool = False
    ) -> Any:
        """Return the table that the estimate is computed from.

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

        Returns
        -------
        object
            The table, such as a `BinTable`, or None.
        """
        return self.measure(probs, labels, weights=weights, logits=logits).table

    def measure_forecasts(self, forecasts: Forecasts) -> Estimate:
        """Compute the estimate for validated data.

        Parameters
        ----------
        forecasts : Forecasts
            Validated predictions and labels.

        Returns
        -------
        Estimate
            Value, table and notes.
        """
        raise NotImplementedError

    # The lens.

    def default_lens(self, forecasts: Forecasts) -> Lens:
        """Return the default lens for these data: `Binary` for 1-D probabilities, else `TopLabel`.

        Parameters
        ----------
        forecasts : Forecasts
            Validated predictions and labels.

        Returns
        -------
        Lens
            The lens.
        """
        return chosen_lens(None, forecasts)

    @property
    def own_lens(self) -> Lens | None:
        """The lens that was passed; None if the data or the estimator determine it."""
        return getattr(self, "lens", None)

    @property
    def own_norm(self) -> float | None:
        """The p of the Lp error that is estimated; None for other estimators."""
        norm = getattr(self, "norm", None)
        return norm if is_number(norm) else None

    @property
    def of_true_error(self) -> bool:
        """Whether the estimate targets the true calibration error in its norm, if it has a norm."""
        return True

    @property
    def takes_lens(self) -> bool:
        """Whether the caller may choose the lens."""
        return any(field.name == "lens" for field in fields(self))

    def lens_for(self, forecasts: Forecasts) -> Lens:
        """Return the lens that `measure` uses; all code that reports a lens calls this method.

        Parameters
        ----------
        forecasts : Forecasts
            Validated predictions and labels.

        Returns
        -------
        Lens
            The lens that was passed, or the default for these data.
        """
        own = self.own_lens
        return self.default_lens(forecasts) if own is None else own

    def through(self, lens: Lens) -> Self:
        """Return the same estimator with another lens.

        Parameters
        ----------
        lens : Lens
            The new lens.

        Returns
        -------
        Estimator
            A new estimator.
        """
        if not self.takes_lens:
            raise must_be("estimator", "an estimator whose lens can be chosen", self)
        return replace(self, lens=lens)  # type: ignore[call-arg]

    def is_like(self, other: object, *but: str) -> bool:
        """Return whether another value equals this estimator, apart from some fields.

        Parameters
        ----------
        other : object
            Value to compare with.
        *but : str
            Names of fields that may differ.

        Returns
        -------
        bool
            Whether they are equal apart from these fields.
        """
        own = {field: getattr(self, field) for field in but}
        return isinstance(other, type(self)) and self == replace(other, **own)

    def or_given(self, value: object, *same: str, name: str = "statistic", rule: str = "") -> Self:
        """Return the estimator for a test whose default is this one.

        Parameters
        ----------
        value : Lens, Estimator or None
            The argument of the test: a lens to use, or an estimator of this class.
        *same : str
            Names of fields that must equal those of the default.
        name : str
            Name of the argument in messages.
        rule : str
            Rule that is reported if the value is of another kind.

        Returns
        -------
        Estimator
            The estimator.
        """
        if value is None:
            return self
        if is_lens(value):
            return self.through(value)
        if isinstance(value, type(self)) and all(
            getattr(value, field) == getattr(self, field) for field in same
        ):
            return value
        special = "".join(f' of {field}="{getattr(self, field)}"' for field in same)
        usual = f"None, a lens or a {type(self).__name__}{special} for this test"
        raise must_be(name, rule or usual, value)

    # Sums that add over batches.

    @property
    def additive(self) -> bool:
        """Whether `statistics` of batches can be added up."""
        return False

    def statistics(self, forecasts: Forecasts) -> Any:
        """Return the sums of an additive estimator, which add over batches with ``+``.

        Parameters
        ----------
        forecasts : Forecasts
            Validated predictions and labels.

        Returns
        -------
        object
            The sums, such as a `BinTable`.
        """
        raise NotImplementedError

    def from_table(self, statistics: Any) -> Estimate:
        """Compute the estimate from added `statistics`.

        Parameters
        ----------
        statistics : object
            The sums.

        Returns
        -------
        Estimate
            Value, table and notes.
        """
        raise NotImplementedError

    # What inference asks.

    def bounds(self, forecasts: Forecasts) -> Ends:
        """Return the lowest and the highest possible value.

        Parameters
        ----------
        forecasts : Forecasts
            Validated predictions and labels.

        Returns
        -------
        Ends
            ``low`` and ``high``.
        """
        return Ends(-math.inf, math.inf)

    def no_analytic_reason(self, forecasts: Forecasts, target: str) -> str:
        """Return why `interval` needs a bootstrap, or an empty string if it does not.

        Parameters
        ----------
        forecasts : Forecasts
            Validated predictions and labels.
        target : str
            Target of the interval.

        Returns
        -------
        str
            The reason.
        """
        return "for an estimator without bins"

    def value_of(self, power: float) -> float:
        """Convert a power to the scale of the estimate.

        Parameters
        ----------
        power : float
            The p-th power, before the root.

        Returns
        -------
        float
            The value.
        """
        raise NotImplementedError


def reason_of_bins(estimator: Any, forecasts: Forecasts, target: str) -> str:
    """Return why an error over bins with this norm needs a bootstrap; empty if it needs none."""
    if forecasts.clusters is not None:
        return "for rows in clusters, which depend on each other"
    lens = estimator.lens_for(forecasts)
    if target != "population":
        return ""
    if estimator.norm not in (1, 2):
        return "for the population in norms other than 1 and 2"
    if not lens.independent:
        return f"for the population of {lens!r}, whose pairs depend on each other"
    return ""


def known_estimator(metric: Any, name: str = "estimator") -> Estimator | None:
    """Return the estimator behind a metric; None for a function that is not a metric of trueup.

    A `functools.partial` of a named metric, with keywords, is accepted. ``name`` is the name of the
    argument.

    >>> from functools import partial
    >>> from trueup import ece
    >>> known_estimator(partial(ece, n_bins=10))
    BinnedError(lens=None, binning=EqualWidth(n_bins=10), norm=1)
    """
    if isinstance(metric, Estimator):
        return metric
    inner, options = metric, {}
    if isinstance(metric, partial) and not metric.args:
        inner, options = metric.func, metric.keywords
    compose = getattr(inner, "estimator", None) if isfunction(inner) else None
    if compose is None:
        return None
    try:
        found = compose(**options)
    except TypeError:
        given = Verbatim(f"a partial with {', '.join(options)}")
        hint = "pass weights and rng with the data"
        raise must_be(name, "a metric with options that it has", given, hint=hint) from None
    return found if isinstance(found, Estimator) else None


def remarks_of(forecasts: Forecasts) -> dict[str, str]:
    """Return a note of what was changed in the data when they were read, if anything was."""
    return {"input": "; ".join(forecasts.remarks)} if forecasts.remarks else {}


def estimator_of(name: str, metric: object) -> Estimator:
    """Return the estimator from the argument ``name``, which is an estimator or a named metric."""
    known = known_estimator(metric, name)
    if known is None:
        rule = "an estimator, such as BinnedError(), or a metric, such as ece"
        raise no_metric(name, rule, metric)
    return known


def check_norm(norm: float) -> None:
    """Raise InputError unless a norm is a number from 1 to 64, or infinity.

    With larger norms, the power of a small gap underflows in float64, and the error would be 0.
    """
    if not is_number(norm) or not (1 <= norm <= 64 or math.isinf(norm)) or norm < 0:
        raise must_be("norm", "a number from 1 to 64, or math.inf", norm)


def root_of(power: float, norm: float) -> float:
    """Return the root of max(0, power); the maximum norm needs no root."""
    floored = max(0.0, float(power))
    return floored if math.isinf(norm) else floored ** (1 / norm)


def average(members: Iterable[tuple[float, float]], norm: float) -> float:
    """Average p-th powers (share, power); for the maximum norm, take the largest."""
    pairs = list(members)
    if math.isinf(norm):
        return max((power for share, power in pairs if share > 0), default=0.0)
    return math.fsum(share * power for share, power in pairs)
