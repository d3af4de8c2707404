"""What every estimator is: a frozen value that you call with predictions and labels."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from trueup.errors import must_be
from trueup.forecasts import Forecasts
from trueup.lens import Lens, chosen_lens
from trueup.results import Estimate
from trueup.specification import Specification, is_number


@dataclass(frozen=True, repr=False)
class Estimator(Specification):
    """Call it for the number, `measure` for the number with what it rests on.

    A new estimator writes `measure_forecasts` and nothing else.
    """

    def __call__(self, probs: object, labels: object = None, *, weights: object = None) -> float:
        """Return the estimate as a float."""
        return self.measure(probs, labels, weights=weights).value

    def measure(self, probs: object, labels: object = None, *, weights: object = None) -> Estimate:
        """Return the estimate with its table and notes."""
        return self.measure_forecasts(Forecasts.of(probs, labels, weights=weights))

    def table(self, probs: object, labels: object = None, *, weights: object = None) -> Any:
        """Return the table the estimate is computed from."""
        return self.measure(probs, labels, weights=weights).table

    def measure_forecasts(self, forecasts: Forecasts) -> Estimate:
        """Return the estimate for checked data."""
        raise NotImplementedError

    def default_lens(self, forecasts: Forecasts) -> Lens:
        """Return the lens where none was given: `Binary` for 1-D probabilities, else `TopLabel`."""
        return chosen_lens(None, forecasts)

    def lens_for(self, forecasts: Forecasts) -> Lens:
        """Return the lens that `measure` looks through; every report of a lens asks here."""
        given: Lens | None = getattr(self, "lens", None)
        return self.default_lens(forecasts) if given is None else given

    def statistics(self, forecasts: Forecasts) -> Any | None:
        """Return sums that add over batches with ``+``; None where all rows are needed at once."""
        return None

    def conclude(self, statistics: Any) -> Estimate:
        """Return the estimate for added-up `statistics`."""
        raise NotImplementedError


def check_norm(norm: float) -> None:
    """Refuse a norm that is not a number from 1 to 64, or infinity.

    A larger power of a small gap is too small for float64, and an error would read 0.
    """
    if not is_number(norm) or not (1 <= norm <= 64 or math.isinf(norm)) or norm < 0:
        raise must_be("norm", "a number from 1 to 64, or math.inf", norm)


def root_of(power: float, norm: float) -> float:
    """Root of max(0, power); the maximum norm needs none."""
    floored = max(0.0, float(power))
    return floored if math.isinf(norm) else floored ** (1 / norm)


def average(members: Iterable[tuple[float, float]], norm: float) -> float:
    """Average p-th powers (share, power); for the maximum norm take the largest."""
    pairs = list(members)
    if math.isinf(norm):
        return max((power for share, power in pairs if share > 0), default=0.0)
    return math.fsum(share * power for share, power in pairs)
