"""Which lens is used where the caller may leave the choice to trueup."""

from __future__ import annotations

from typing import TypeGuard

from trueup.errors import must_be
from trueup.forecasts import Forecasts
from trueup.lens.base import Lens
from trueup.lens.induced import once
from trueup.lens.pairs import Binary, TopLabel


def chosen_lens(lens: Lens | None, forecasts: Forecasts) -> Lens:
    """Return the lens, by default `Binary` for 1-D probabilities and `TopLabel` for a matrix."""
    if lens is not None:
        return lens
    return TopLabel() if forecasts.is_matrix else Binary()


def binary_problem(lens: Lens, forecasts: Forecasts) -> Forecasts:
    """Return the scores and outcomes of a lens as forecasts of their own, made once.

    If labels follow the predicted distributions, the outcomes of a lens of one outcome follow
    these scores, and rows stay independent.
    """

    def make() -> Forecasts:
        pairs = lens.problem(forecasts)
        binary = Forecasts.of_pairs(pairs.p, pairs.y, pairs.w, forecasts.tiny)
        once(binary, ("pairs", Binary()), lambda: pairs)
        return binary

    return once(forecasts, ("binary", lens), make)


def is_lens(value: object) -> TypeGuard[Lens]:
    """Return whether a value is a lens, as opposed to an estimator or a lens class."""
    return isinstance(value, Lens)


def check_lens(lens: object, name: str = "lens") -> None:
    """Raise InputError unless the argument ``name`` is a lens or None."""
    if lens is not None and not is_lens(lens):
        raise must_be(name, "a lens, such as TopLabel(), or None", lens)
