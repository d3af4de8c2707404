"""The names of a caller's arguments, and the rules that apply to this caller only."""

from __future__ import annotations

import math
from dataclasses import dataclass

from trueup.errors import Argument

FURTHEST = 1e100  # beyond it, differences of logits are no longer safe to multiply


@dataclass(frozen=True)
class Policy:
    """Names for messages, and whether scikit-learn's rules replace those of metrics.

    Attributes
    ----------
    probs, labels, weights
        Names of the arguments.
    to
        The function or class whose options the hints suggest.
    scikit_learn
        Labels may be any K different names, which are the classes in sorted order. A single number
        is the weight of every row, and weights may be arbitrarily small. Logits are limited,
        because they are multiplied. There are neither soft nor ignored labels. Predictions (n, 1)
        are those of the positive class, and labels (n, 1) are read as (n,), with a
        DataConversionWarning. A sparse matrix, and an object that is neither a number nor text,
        raise a TypeError.
    """

    probs: str = "probs"
    labels: str = "labels"
    weights: str = "weights"
    to: str = "Forecasts.from_arrays"
    scikit_learn: bool = False

    def option(self, name: str, value: object = None) -> Argument:
        """Return an option for a hint to suggest."""
        return Argument(name, value, self.to)

    @property
    def largest_logit(self) -> float:
        """The largest logit, and minus the smallest."""
        return FURTHEST if self.scikit_learn else math.inf


FORECASTS = Policy()
