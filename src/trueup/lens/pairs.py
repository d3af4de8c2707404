"""Lenses that induce one set of scores and outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeGuard

import numpy as np
from numpy.typing import NDArray

from trueup.checks import check_whole
from trueup.errors import Argument, must_be
from trueup.forecasts import Forecasts
from trueup.lens.base import Lens, PairsLens
from trueup.lens.induced import Pairs, columns, once, top_label


@dataclass(frozen=True, repr=False)
class Binary(PairsLens):
    """The probability of the positive class against "the label is positive".

    It is the default for 1-D ``probs``. A matrix must have two columns.

    Parameters
    ----------
    where : tuple or callable, optional
        Region of induced predictions to use: ``(low, high)`` keeps low < p ≤ high. A function takes
        the array of induced predictions and returns which to keep. The default keeps all.

    Examples
    --------
    >>> import trueup as tu
    >>> round(tu.BinnedError(Binary())([[0.9, 0.1], [0.4, 0.6]], [0, 1]), 6)
    0.25
    """

    words: ClassVar[str] = "positive class"
    one_outcome: ClassVar[bool] = True

    def pairs(self, forecasts: Forecasts) -> Pairs:
        """Return the induced pairs."""
        if not forecasts.is_matrix:
            return self._pairs(forecasts.scores, forecasts.labels, forecasts.weights)
        if forecasts.n_classes != 2:
            rule = (
                "a lens for several classes if ",
                Argument("probs"),
                " has more than two columns",
            )
            hint = "OneVsRest(c) evaluates one class, TopLabel() the predicted one"
            raise must_be("lens", rule, self, hint=hint)
        return _one_vs_rest(self, forecasts, 1)


@dataclass(frozen=True, repr=False)
class OneVsRest(PairsLens):
    """The probability of one class against "the label is that class".

    Use it to measure one class of a matrix.

    Parameters
    ----------
    class_number : int, default 1
        Number of the class, which is its column.
    where : tuple or callable, optional
        Region of induced predictions to use: ``(low, high)`` keeps low < p ≤ high. A function takes
        the array of induced predictions and returns which to keep. The default keeps all.

    Examples
    --------
    >>> import trueup as tu
    >>> round(tu.BinnedError(OneVsRest(0))([[0.7, 0.2, 0.1], [0.7, 0.2, 0.1]], [0, 1]), 6)
    0.2
    """

    class_number: int = 1
    one_outcome: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("class_number", self.class_number, 0)

    def pairs(self, forecasts: Forecasts) -> Pairs:
        """Return the induced pairs."""
        if not 0 <= self.class_number < forecasts.n_classes:
            rule = f"from 0 to {forecasts.n_classes - 1}"
            raise must_be("class_number", rule, self.class_number)
        return _one_vs_rest(self, forecasts, self.class_number)


@dataclass(frozen=True, repr=False)
class TopLabel(PairsLens):
    """The largest probability against "the predicted class is right".

    It is the default for a matrix. Ties go to the lowest class. For 1-D ``probs`` the score is
    max(p, 1 − p). For two columns this differs from `Binary`: errors at p and at 1 − p can cancel
    in one and not in the other.

    Parameters
    ----------
    where : tuple or callable, optional
        Region of induced predictions to use: ``(low, high)`` keeps low < p ≤ high. A function takes
        the array of induced predictions and returns which to keep. The default keeps all.

    Examples
    --------
    >>> import trueup as tu
    >>> round(tu.BinnedError(TopLabel())([[0.7, 0.2, 0.1], [0.7, 0.2, 0.1]], [0, 1]), 6)
    0.2
    """

    words: ClassVar[str] = "most probable class"
    one_outcome: ClassVar[bool] = True

    def pairs(self, forecasts: Forecasts) -> Pairs:
        """Return the induced pairs."""
        p, _, y = top_label(forecasts)
        return self._pairs(p, y, forecasts.weights)


@dataclass(frozen=True, repr=False)
class Pooled(PairsLens):
    """All n·K class probabilities, pooled, each against "the label is that class".

    It follows Vaicenavicius et al. 2019, Ex. 4. Pairs of the same row are dependent, so debiasing
    and binomial intervals are not available. All pairs are stored in memory.

    Parameters
    ----------
    where : tuple or callable, optional
        Region of induced predictions to use: ``(low, high)`` keeps low < p ≤ high. A function takes
        the array of induced predictions and returns which to keep. The default keeps all.

    Examples
    --------
    >>> import trueup as tu
    >>> round(tu.BinnedError(Pooled())([[0.7, 0.2, 0.1], [0.7, 0.2, 0.1]], [0, 1]), 6)
    0.2
    """

    independent: ClassVar[bool] = False

    def pairs(self, forecasts: Forecasts) -> Pairs:
        """Return the induced pairs."""
        if forecasts.is_matrix:
            parts = list(columns(forecasts, 0, forecasts.n_classes))
        else:
            positive = forecasts.scores.astype(np.float64)
            parts = [(1 - positive, forecasts.outcomes(0)), (positive, forecasts.outcomes(1))]
        w = forecasts.weights
        return self._pairs(
            np.concatenate([p for p, _ in parts]),
            np.concatenate([y for _, y in parts]),
            None if w is None else np.tile(w, len(parts)),
        )


def _one_vs_rest(lens: Lens, forecasts: Forecasts, number: int) -> Pairs:
    if forecasts.is_matrix:
        p: NDArray[Any] = forecasts.columns(number, number + 1)[0]
    else:
        p = forecasts.scores if number == 1 else 1 - forecasts.scores.astype(np.float64)
    return lens._pairs(p, forecasts.outcomes(number), forecasts.weights)


def chosen_lens(lens: Lens | None, forecasts: Forecasts) -> Lens:
    """Return the lens; the default is `Binary` for 1-D probabilities and `TopLabel` for a matrix.

    Parameters
    ----------
    lens : Lens or None
        The lens that was passed.
    forecasts : Forecasts
        Validated predictions and labels.

    Returns
    -------
    Lens
        The lens to use.

    Examples
    --------
    >>> import trueup as tu
    >>> chosen_lens(None, tu.Forecasts.from_arrays([0.3, 0.6], [0, 1])).label
    'positive class'
    """
    if lens is not None:
        return lens
    return TopLabel() if forecasts.is_matrix else Binary()


def binary_problem(lens: Lens, forecasts: Forecasts) -> Forecasts:
    """Return the scores and outcomes of a lens as forecasts of their own, computed once.

    If the lens has one outcome per row and the model is calibrated, the outcomes have these scores
    as probabilities, and rows stay independent.

    Parameters
    ----------
    lens : Lens
        Lens with one score per row.
    forecasts : Forecasts
        Validated predictions and labels.

    Returns
    -------
    Forecasts
        Binary forecasts.

    Examples
    --------
    >>> import trueup as tu
    >>> forecasts = tu.Forecasts.from_arrays([[0.3, 0.7], [0.6, 0.4]], [1, 1])
    >>> binary_problem(TopLabel(), forecasts).scores.tolist()
    [0.7, 0.6]
    """
    tiny = forecasts.tiny
    return once(forecasts, ("binary", lens), lambda: forecasts_of(lens.problem(forecasts), tiny))


def forecasts_of(pairs: Pairs, tiny: float) -> Forecasts:
    """Return pairs as binary forecasts, which share the tables of the pairs.

    Parameters
    ----------
    pairs : Pairs
        Scores, outcomes and weights of the rows.
    tiny : float
        Smallest normal number of the type of the original predictions.

    Returns
    -------
    Forecasts
        Binary forecasts.

    Examples
    --------
    >>> import trueup as tu
    >>> forecasts = tu.Forecasts.from_arrays([[0.3, 0.7], [0.6, 0.4]], [1, 1])
    >>> forecasts_of(TopLabel().pairs(forecasts), forecasts.tiny).n
    2
    """
    binary = Forecasts.from_pairs(pairs.p, pairs.y, pairs.w, tiny)
    once(binary, ("pairs", Binary()), lambda: pairs)
    return binary


def is_lens(value: object) -> TypeGuard[Lens]:
    """Return whether a value is a lens, as opposed to an estimator or a lens class.

    Parameters
    ----------
    value : object
        The value.

    Returns
    -------
    bool
        Whether it is a lens.

    Examples
    --------
    >>> is_lens(TopLabel()), is_lens(TopLabel)
    (True, False)
    """
    return isinstance(value, Lens)


def check_lens(lens: object, name: str = "lens") -> None:
    """Raise InputError unless an argument is a lens or None.

    Parameters
    ----------
    lens : object
        The argument.
    name : str, default "lens"
        Its name.

    Examples
    --------
    >>> check_lens(TopLabel())
    """
    if lens is not None and not is_lens(lens):
        raise must_be(name, "a lens, such as TopLabel(), or None", lens)
