"""Checked predictions: scores (n,) of a binary problem, or a matrix (n, K) read by blocks.

A matrix is never copied. Instead, the code stores the numbers of the rows to keep, a factor for
each row if some do not sum to 1, and, for logits, the largest logit of each row.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.checks import BOOLEANS
from trueup.engines.blocks import row_blocks
from trueup.engines.select import engine
from trueup.errors import Argument, InputError, Text, Verbatim, must_be, required
from trueup.forecasts.arrays import as_floats, as_numpy, describe, first_row, original, refuse
from trueup.forecasts.labels import of_classes
from trueup.forecasts.percentages import PercentageError, as_fractions
from trueup.forecasts.policy import FORECASTS, Policy

LOWEST = float(np.finfo(np.float64).min)
LEAST_TOTAL = 1e-300  # one divided by it is far from infinity
BFLOAT16 = 2.0**-8  # it has eight bits: this is how far a row may be from 1, however long
UNKNOWN = "drop or repair rows that contain NaN or infinity"
FLOAT16 = np.dtype(np.float16).num  # the numbers of all wider types are below it
FROM_PERCENTAGES = "the predictions were percentages and were divided by 100"
NOT_ROUNDED, MOST = 0.1, 0.75  # if more of the sums are further from 1, it is not by rounding
ROUNDED = 1e-3  # so close outside [0, 1], a value is a rounded probability
EXACT = 2.0**53  # whole numbers from here on are rounded in float64
ROUNDING = float(np.finfo(np.float64).eps)  # a sum of few or K terms is 1 up to 4 or K of these


@dataclass(frozen=True, eq=False)
class Vector:
    """Scores (n,): probabilities of the positive class, contiguous float32 or float64."""

    values: NDArray[Any]
    logits: Floats | None
    tiny: float

    @property
    def are_logits(self) -> bool:
        """Whether the values came as logits."""
        return self.logits is not None

    def take(self, rows: Ints) -> Vector:
        """Return some of the scores, possibly repeated."""
        logits = None if self.logits is None else self.logits[rows]
        return Vector(self.values[rows], logits, self.tiny)

    def log_probs(self, where: slice) -> Floats:
        """Return log-probabilities of the negative and the positive class."""
        assert self.logits is not None
        z = self.logits[where]
        return np.column_stack([-np.logaddexp(0, z), -np.logaddexp(0, -z)])


@dataclass(frozen=True, eq=False)
class Matrix:
    """Rows of probabilities (or of logits) in the caller's own memory."""

    values: NDArray[Any]
    kept: Ints | None  # numbers of the rows that are used; None for all
    shift: Floats | None  # largest logit of each row; None for probabilities
    factor: Floats | None
    top: Floats
    top_class: NDArray[np.int32]
    tiny: float

    @property
    def are_logits(self) -> bool:
        """Whether the values are logits."""
        return self.shift is not None

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return contiguous rows before multiplication by ``factor``, as a view if possible."""
        where = slice(start, stop)
        return _unscaled(self._take(where), self._shift(where))

    def rows(self, which: slice | Ints) -> Floats:
        """Return rows of probabilities in float64."""
        block = _unscaled(self._take(which), self._shift(which)).astype(np.float64)
        if self.factor is not None:
            block *= self.factor[which, None]
        return block

    def columns(self, first: int, last: int) -> Floats:
        """Return columns first … last−1 as rows of a contiguous array, made block by block."""
        n = len(self.top)
        out = np.empty((last - first, n))
        for where in row_blocks(n, 4 * (last - first)):
            part, block = out[:, where], self._take(where, slice(first, last))
            factor = None if self.factor is None else self.factor[where]
            if self.shift is not None:
                block = block.astype(np.float64)
                _exponential(block, self.shift[where, None])
            engine.rows.scaled_columns(block, factor, part)
        return out

    def take(self, rows: Ints) -> Matrix:
        """Return some of the rows, possibly repeated, which share the memory."""
        return Matrix(
            self.values,
            rows if self.kept is None else self.kept[rows],
            self._shift(rows),
            None if self.factor is None else self.factor[rows],
            self.top[rows],
            self.top_class[rows],
            self.tiny,
        )

    def log_probs(self, where: slice) -> Floats:
        """Return log-probabilities of a block of rows of logits."""
        assert self.shift is not None and self.factor is not None
        with np.errstate(over="ignore"):
            shifted = self._take(where).astype(np.float64) - self.shift[where, None]
        shifted = np.maximum(shifted, LOWEST)
        log_probs: Floats = shifted + np.log(self.factor[where, None])
        return log_probs

    def _take(self, which: slice | Ints, columns: slice = slice(None)) -> NDArray[Any]:
        rows = which if self.kept is None else self.kept[which]
        block: NDArray[Any] = self.values[:, columns][rows]
        return block

    def _shift(self, which: slice | Ints) -> Floats | None:
        return None if self.shift is None else self.shift[which]


class Given(NamedTuple):
    """Predictions as the caller gave them, with the names and rules of the caller."""

    values: NDArray[Any]
    are_logits: bool
    policy: Policy = FORECASTS
    half: str = ""  # the half precision they came in, if they are held in another type
    remarks: tuple[str, ...] = ()  # what was changed before the checks

    @property
    def tolerance(self) -> float:
        """Tolerance of the sum of a row: the largest deviation from 1 that its type explains."""
        if self.half == "bfloat16":
            return BFLOAT16
        return 1e-3 if self.half or _is_short(self.values) else 1e-6 * self.values.shape[1]


def half_precision_of(predictions: Any) -> str:
    """Return "float16" or "bfloat16", or an empty string for other types."""
    if type(predictions) is np.ndarray and predictions.dtype.num < FLOAT16:
        return ""  # every type of numbers but half precision, without a look at names
    kinds = getattr(predictions, "dtypes", getattr(predictions, "dtype", ""))
    kinds = kinds if isinstance(kinds, Iterable) else [kinds]  # several, of a frame
    names = {str(kind).rpartition(".")[2] for kind in kinds}
    return names.pop() if names in ({"float16"}, {"bfloat16"}) else ""


def values_of(probs: object, logits: object, policy: Policy = FORECASTS) -> Given:
    """Read the array that holds predictions and check its shape."""
    name = policy.probs
    if not isinstance(logits, BOOLEANS):
        hint: Text = ("pass the logits as ", Argument(name))
        raise must_be("logits", "True or False", Verbatim(describe(logits)), hint=hint)
    if probs is None:
        raise required(name, "call f(probs, labels)")
    array = as_numpy(name, probs)
    if array.ndim > 2:
        hint = "put classes last and reshape to (-1, K): every pixel or token is a row"
        raise must_be(name, "have shape (n,) or (n, K)", describe(array), hint=hint)
    if array.ndim == 2 and array.shape[1] < 2:
        hint = f"pass {name}[:, 0] if that is the positive class" if array.shape[1] else ""
        raise must_be(name, "have shape (n,) or (n, K) with K ≥ 2", describe(array), hint=hint)
    if len(array) == 0:
        raise must_be(name, "have at least one row", Verbatim("none"))
    fractions = None if logits else _fractions_of(name, array)
    if fractions is not None:
        return Given(fractions, False, policy, remarks=(FROM_PERCENTAGES,))
    labels_first = array.ndim == 1 and not logits
    hint = _swapped(policy) if labels_first else "select the columns of numbers"
    return Given(as_floats(name, array, hint), bool(logits), policy, half_precision_of(probs))


def _fractions_of(name: str, array: NDArray[Any]) -> NDArray[Any] | None:
    try:
        return as_fractions(array)
    except PercentageError as wrong:
        hint = "select the columns of predictions" if array.ndim > 1 else ""
        raise must_be(name, wrong.rule, wrong.item, row=wrong.row, hint=hint) from None


def refuse_swapped(given: Given, labels: NDArray[Any], soft_labels: bool) -> None:
    """Raise InputError if the caller visibly swapped the two arguments."""
    if soft_labels or given.are_logits or labels.dtype.kind != "f":
        return
    if _all_whole(given.values) and (labels.ndim == 2 or not _all_whole(labels)):
        policy, labels_named = given.policy, Argument(given.policy.labels)
        rule = ("must be probabilities; got whole numbers, with fractions in ", labels_named)
        raise InputError(policy.probs, rule, hint=_swapped(policy))


def refuse_classes_as_scores(given: Given, labels: NDArray[Any]) -> None:
    """Raise InputError if 1-D predictions are numbers of classes, as the labels are."""
    if given.are_logits or given.values.ndim > 1 or labels.ndim > 1 or given.policy.scikit_learn:
        return
    whole = labels.dtype.kind in "iu" or (labels.dtype.kind == "f" and _all_whole(labels))
    if whole and of_classes(labels) and _all_whole(given.values) and given.values.max() > 1:
        name = Argument(given.policy.labels)
        rule = ("must be probabilities; got numbers of classes, as in ", name)
        hint = "pass the probabilities, model.predict_proba(X), not the predicted classes"
        raise InputError(given.policy.probs, rule, hint=hint)


def _swapped(policy: Policy) -> Text:
    return (Argument(policy.probs), " looks like labels: are the arguments swapped?")


def check_pairs(given: Given, labels: NDArray[Any]) -> Vector | None:
    """Check simple scores and labels 0 or 1 in one pass over both.

    Return None if they have another form or are invalid; separate checks with messages follow.
    """
    p = given.values
    plain = not given.are_logits and p.dtype in (np.float32, np.float64) and labels.ndim == 1
    plain = plain and labels.dtype in (bool, np.int64)
    if not (plain and p.flags.c_contiguous and labels.flags.c_contiguous):
        return None
    return Vector(p, None, _tiny(p)) if engine.rows.all_pairs_good(p, labels) else None


def check_scores(given: Given, rows: Ints | None) -> Vector:
    """Check (n,) probabilities of the positive class, or turn (n,) logits into them."""
    kept = given.values if rows is None else given.values[rows]
    tiny = _tiny(given.values)
    if given.are_logits:
        z = _finite(given, kept, 0, rows)
        with np.errstate(over="ignore"):
            return Vector(1 / (1 + np.exp(-z)), z, tiny)
    scores = np.ascontiguousarray(kept, dtype=_working_type(kept))
    bad = engine.rows.first_outside_unit(scores)
    if bad >= 0:
        raise _outside(given.policy, kept[bad], original(bad, rows), 0)
    return Vector(scores, None, tiny)


def check_matrix(given: Given, rows: Ints | None, normalize: bool) -> Matrix:
    """Check (n, K) rows of probabilities or logits in one pass, and find their top labels."""
    values, are_logits = given.values, given.are_logits
    n = len(values) if rows is None else len(rows)
    n_classes = values.shape[1]
    shift = np.empty(n) if are_logits else None
    if shift is not None:
        for where in row_blocks(n, n_classes):
            block = values[where if rows is None else rows[where]]
            shift[where] = _finite(given, block, where.start, rows).max(axis=1)

    def read(start: int, stop: int) -> NDArray[Any]:
        block = values[start:stop] if rows is None else values[rows[start:stop]]
        return _unscaled(block, None if shift is None else shift[start:stop])

    first_bad, total, top, top_class = engine.rows.scan_rows(read, n, n_classes)
    if first_bad >= 0:
        row = original(first_bad, rows)
        entries = values[row]
        column = int(np.argmin((entries >= 0) & (entries <= 1)))
        raise _outside(given.policy, entries[column], row, column)
    away = np.abs(total - 1)
    if not are_logits:
        _check_totals(given, total, away, rows, normalize)
    off = away > max(4, n_classes) * ROUNDING
    factor = np.where(off, 1 / total, 1.0) if off.any() else None
    if are_logits and factor is None:
        factor = np.ones(n)
    if factor is not None:
        top = np.minimum(top * factor, 1)
    return Matrix(values, rows, shift, factor, top, top_class, _tiny(values))


def checked_values(given: Given, normalize: bool) -> NDArray[Any]:
    """Check predictions without labels, and return them; logits and 1-D scores stay unchanged.

    Rows of probabilities are divided by their sum, unless it is 1 up to rounding to their type.
    """
    values = given.values
    if given.are_logits:
        for where in row_blocks(len(values), values[:1].size):
            _finite(given, values[where], where.start, None)
        return values
    if values.ndim == 1:
        return check_scores(given, None).values
    if check_matrix(given, None, normalize).factor is None:
        return values
    total = values.sum(axis=1, dtype=np.float64)
    near = np.abs(total - 1) <= max(4, values.shape[1]) * np.finfo(values.dtype).eps
    # Row by row, so that an answer does not depend on the rows around it.
    return values if near.all() else np.where(near[:, None], values, values / total[:, None])


def _unscaled(block: NDArray[Any], shift: Floats | None) -> NDArray[Any]:
    """Return contiguous rows of floats: probabilities unchanged, logits as exp(z − shift)."""
    if shift is None:
        return np.require(block, _working_type(block), ("C", "A"))
    rows = np.array(block, dtype=np.float64, order="C")
    _exponential(rows, shift[:, None])
    return rows


def _exponential(z: Floats, shift: Floats) -> None:
    """Replace z by exp(z − shift); a difference too large for float64 gives 0."""
    with np.errstate(over="ignore"):
        z -= shift
    np.exp(z, out=z)


def _check_totals(
    given: Given, total: Floats, away: Floats, rows: Ints | None, normalize: bool
) -> None:
    name, option = given.policy.probs, given.policy.option
    if normalize:
        rule = f"have a sum above {LEAST_TOTAL} in every row"
        refuse(name, rule, total, total <= LEAST_TOTAL, rows)
        return
    bad = away > given.tolerance
    row = first_row(bad)
    if row < 0:
        return
    by_sum = option("normalize", True)
    as_logits = (" if the values are rounded, or ", Argument("logits", True))
    hint: Text = ("pass ", by_sum, *as_logits, " if these are raw scores")
    far = away > NOT_ROUNDED
    if far.mean() > MOST and np.ptp(total[far]) > NOT_ROUNDED:
        hint = (
            "these look like sigmoid scores: evaluate each column separately, as probs[:, k] with ",
            "labels == k or labels[:, k]; or, for raw scores, pass ",
            Argument("logits", True),
        )
    whole = not given.half and given.values.dtype in (np.float32, np.float64)
    if whole and away[row] < BFLOAT16:
        hint = ("these look like half-precision probabilities; pass ", by_sum)
    refuse(name, "sum to 1 in every row", total, bad, rows, hint)


def _outside(policy: Policy, value: Any, row: int, column: int) -> InputError:
    logits = policy.option("logits", True)
    hint: Text = ("pass ", logits, " if these are raw scores")
    got: object = value
    if not np.isfinite(value):
        hint = UNKNOWN
    elif abs(float(value)) >= EXACT and value == np.floor(value):
        got = Verbatim(f"about {value:.4g}")  # its digits may be those of float64, not of the data
        hint = "numbers this large look like identifiers: is this the column of predictions?"
    elif -ROUNDED <= value <= 1 + ROUNDED:
        hint = "clip rounding errors to [0, 1]"
    elif value > 1 and value == np.floor(value):
        hint = "divide percentages by 100; if these are labels, the arguments are swapped"
    elif 2 < value <= 100:
        hint = ("divide percentages by 100, or pass ", logits, " for raw scores")
    error = must_be(policy.probs, "between 0 and 1", got, row=row, hint=hint)
    return error.replace(column=column)


def _finite(given: Given, logits: NDArray[Any], start: int, rows: Ints | None) -> Floats:
    """Return logits start, start + 1, … of the kept rows in float64; reject invalid logits."""
    with np.errstate(over="ignore"):
        z: Floats = logits.astype(np.float64, copy=False)
    largest = given.policy.largest_logit
    bad = ~np.isfinite(z) if math.isinf(largest) else ~(np.abs(z) <= largest)
    row = first_row(bad)
    if row < 0:
        return z
    column = 0 if z.ndim == 1 else int(np.argmax(bad[row]))
    value = np.atleast_1d(logits[row])[column]
    known = np.isfinite(np.atleast_1d(z[row])[column])
    hint = "a class that is ruled out can have a logit of -1e9" if value < 0 else UNKNOWN
    rule = f"between -{largest:g} and {largest:g}" if known else "finite"
    where, hint = original(start + row, rows), "" if known else hint
    raise must_be(given.policy.probs, rule, value, row=where, hint=hint).replace(column=column)


def _is_short(values: NDArray[Any]) -> bool:
    return values.dtype in (np.float16, np.float32)


def _working_type(array: NDArray[Any]) -> type[np.floating[Any]]:
    """Return the type for computation: float32 for float16 and float32, else float64."""
    return np.float32 if _is_short(array) else np.float64


def _tiny(values: NDArray[Any]) -> float:
    kind = values.dtype if _is_short(values) else np.dtype(np.float64)
    return float(np.finfo(kind).tiny)


def _all_whole(array: NDArray[Any]) -> bool:
    """Return whether no entry is a fraction, ignoring missing ones; stop at the first fraction."""
    if array.dtype.kind in "iub":
        return True
    for where in row_blocks(len(array), array[:1].size):
        block = array[where]
        if np.any((block != np.floor(block)) & ~np.isnan(block)):
            return False
    return True
