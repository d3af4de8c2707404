"""The value of calibration for a model that may abstain: when to answer, and at what cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trueup._typing import Floats
from trueup.checks import is_number
from trueup.engines.blocks import row_blocks
from trueup.errors import must_be
from trueup.forecasts import Forecasts
from trueup.forecasts.arrays import as_floats, as_numpy
from trueup.lens import Lens, Pairs, TopLabel
from trueup.tables import ResultTable

__all__ = ["abstention_rewards", "accuracy_coverage_curve", "compare_rewards"]

RATIOS = tuple(1.5 * 2 ** (step / 2) for step in range(13))
"""Costs of a wrong answer, in costs of an "unsure" one: from 1.5 to 96."""


def abstention_rewards(
    probs: object,
    labels: object = None,
    *,
    ratios: Sequence[float] = RATIOS,
    lens: Lens | None = None,
    weights: object = None,
    logits: bool = False,
) -> ResultTable:
    r"""Compute what a model earns if it may abstain (Luo et al. 2022, §5.4).

    A wrong answer costs w, abstaining ("unsure") costs u, and a right answer costs nothing. A model
    that relies on its confidence c answers if w(1 − c) ≤ u, which means :math:`c \ge 1 - u/w`. With
    calibrated confidences this is the best possible rule, and its average cost is what the
    confidences predict. Overconfident models cost more than their confidences predict, and
    underconfident models less. Neither costs less than it would if it were calibrated.

    Parameters
    ----------
    probs : array_like or Forecasts
        Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data.
    labels : array_like, optional
        Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
    ratios : sequence of float
        Cost ratios w/u, each above 1 (default 13 values from 1.5 to 96).
    lens : Lens, optional
        Lens that yields the confidence of each row. The default is `TopLabel`; for 1-D
        probabilities its confidence is max(p, 1 − p). For stored confidences and whether the answer
        was right (as after `LocalCalibration.predict_confidence`), pass ``Binary()``.
    weights : array_like, optional
        Weight of each row (default: all rows count the same).
    logits : bool, default False
        Whether `probs` holds logits instead of probabilities.

    Returns
    -------
    ResultTable
        One row per ratio. ``threshold`` is 1 − u/w. ``answered`` is the fraction of rows answered,
        and ``wrong`` the fraction of all rows that was answered and wrong. ``reward`` is minus the
        total cost in units of u, and ``mean_reward`` is the reward per row. ``promised`` is the
        mean reward expected from the confidences. ``perfect`` is the mean reward of a model that
        abstains exactly when its answer is wrong.

    Examples
    --------
    >>> table = abstention_rewards([0.95, 0.9, 0.6, 0.8], [1, 1, 0, 0], ratios=[4])
    >>> table["threshold"], table["answered"], table["reward"]  # answers three, one of them wrong
    (array([0.75]), array([0.75]), array([-5.]))
    """
    pairs = _pairs(probs, labels, lens, weights, logits)
    ratio = _checked(ratios)
    threshold = (ratio - 1) / ratio  # 2/3 exactly as 2 of 3 is; 1 - 1/3 is above it
    total, sums = 0.0, np.zeros((5, len(ratio)))
    for block in row_blocks(len(pairs), 8 * len(ratio)):  # some arrays of each, none of them large
        confidence, right, weight = (part[:, None] for part in _parts(pairs, block))
        answers = confidence >= threshold
        cost = np.where(answers, ratio * (1 - right), 1.0)
        believed = np.where(answers, ratio * (1 - confidence), 1.0)
        perfect = np.minimum(ratio * (1 - right), 1)
        terms = (answers, answers * (1 - right), cost, believed, perfect)
        sums += [weight[:, 0] @ term for term in terms]
        total += float(weight.sum())
    answered, wrong, cost, believed, perfect = sums
    return ResultTable(
        {
            "ratio": ratio,
            "threshold": threshold,
            "answered": answered / total,
            "wrong": wrong / total,
            "reward": -cost,
            "mean_reward": -cost / total,
            "promised": -believed / total,
            "perfect": -perfect / total,
        }
    )


def compare_rewards(
    models: Mapping[str, Any],
    labels: object = None,
    *,
    ratios: Sequence[float] = RATIOS,
    baseline: str | None = None,
    lens: Lens | None = None,
    weights: object = None,
    logits: bool = False,
) -> ResultTable:
    """Compute the total reward of several models or recalibrators (Luo et al. 2022, Figure 5).

    Use it to see at which cost ratios one model is worth more than another. See
    `abstention_rewards` for the costs.

    Parameters
    ----------
    models : dict of str to array_like
        Predicted probabilities of the same rows, by model name. With ``labels=None``, a value may
        also be a `Forecasts` or a pair (probs, labels), if labels differ between models (such as
        whether each model's own answer was right).
    labels : array_like, optional
        Observed labels of all models, shape (n,).
    ratios : sequence of float
        Cost ratios w/u, each above 1 (default 13 values from 1.5 to 96).
    baseline : str, optional
        Name of the model whose reward is subtracted from all (default: nothing is subtracted).
    lens : Lens, optional
        Lens that yields the confidence of each row, as for `abstention_rewards`.
    weights : array_like, optional
        Weight of each row (default: all rows count the same).
    logits : bool, default False
        Whether `probs` holds logits instead of probabilities.

    Returns
    -------
    ResultTable
        One row per ratio: ``ratio``, and one column per model with its total reward in units of u.

    Examples
    --------
    >>> models = {"sure": [0.9, 0.9, 0.9], "humble": [0.6, 0.6, 0.6]}
    >>> compare_rewards(models, [1, 1, 0], ratios=[4], baseline="sure")["humble"]
    array([1.])
    """
    if not isinstance(models, Mapping) or len(models) == 0:
        raise must_be("models", "a dictionary of probabilities by name", models)
    if "ratio" in models:
        raise must_be("models", "not use the reserved name of a column", "ratio")
    if baseline is not None and baseline not in models:
        raise must_be("baseline", f"one of {', '.join(map(repr, models))}", baseline)
    options: dict[str, Any] = {"ratios": ratios, "lens": lens, "weights": weights, "logits": logits}
    columns: dict[str, Floats] = {}
    for name, given in models.items():
        probs, own = given if labels is None and isinstance(given, tuple) else (given, labels)
        table = abstention_rewards(probs, own, **options)
        columns |= {"ratio": table["ratio"], name: table["reward"]}
    if baseline is not None:
        start = columns[baseline]
        columns |= {name: columns[name] - start for name in models}
    return ResultTable(columns)


def accuracy_coverage_curve(
    probs: object,
    labels: object = None,
    *,
    lens: Lens | None = None,
    weights: object = None,
    logits: bool = False,
) -> ResultTable:
    """Compute the accuracy on the most confident rows, for every fraction of rows answered.

    There is one row per distinct confidence, in decreasing order: the model answers if its
    confidence is at least ``threshold``. The curve depends only on the order of the confidences. A
    recalibration that preserves their order does not change it; a recalibration that improves it on
    new rows adds information.

    Parameters
    ----------
    probs : array_like or Forecasts
        Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data.
    labels : array_like, optional
        Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
    lens : Lens, optional
        Lens that yields the confidence of each row, as for `abstention_rewards`.
    weights : array_like, optional
        Weight of each row (default: all rows count the same).
    logits : bool, default False
        Whether `probs` holds logits instead of probabilities.

    Returns
    -------
    ResultTable
        One row per distinct confidence. ``coverage`` is the fraction of rows answered, ``accuracy``
        the accuracy on them, ``confidence`` their mean confidence, and ``risk`` is 1 − accuracy.

    Examples
    --------
    >>> curve = accuracy_coverage_curve([0.95, 0.9, 0.6, 0.8], [1, 1, 0, 0])
    >>> curve["coverage"], curve["accuracy"].round(2)
    (array([0.25, 0.5 , 0.75, 1.  ]), array([1.  , 1.  , 0.67, 0.5 ]))
    """
    confidence, right, weight = _parts(_pairs(probs, labels, lens, weights, logits))
    threshold, place = np.unique(-confidence, return_inverse=True)
    answered = np.cumsum(np.bincount(place, weight))
    correct = np.cumsum(np.bincount(place, weight * right))
    believed = np.cumsum(np.bincount(place, weight * confidence))
    accuracy = np.clip(correct / answered, 0, 1)
    return ResultTable(
        {
            "threshold": -threshold,
            "coverage": answered / answered[-1],
            "accuracy": accuracy,
            "confidence": believed / answered,
            "risk": 1 - accuracy,
        }
    )


def _pairs(
    probs: object, labels: object, lens: Lens | None, weights: object, logits: bool
) -> Pairs:
    chosen = TopLabel() if lens is None else lens
    if not chosen.one_score:
        raise must_be("lens", "yield one confidence per row", chosen)
    return chosen.pairs(Forecasts.from_arrays(probs, labels, weights=weights, logits=logits))


def _parts(pairs: Pairs, rows: slice = slice(None)) -> tuple[Floats, Floats, Floats]:
    p, y = pairs.p[rows].astype(np.float64), pairs.y[rows].astype(np.float64)
    return p, y, np.ones(len(p)) if pairs.w is None else pairs.w[rows]


def _checked(ratios: object) -> Floats:
    several = [ratios] if is_number(ratios) else ratios
    array = as_floats("ratios", as_numpy("ratios", several)).astype(np.float64)
    good = array.ndim == 1 and len(array) > 0 and bool(((array > 1) & (array < np.inf)).all())
    if not good:
        hint = "with a ratio of at most 1, abstaining never pays"
        raise must_be("ratios", "finite numbers above 1", ratios, hint=hint)
    return array
