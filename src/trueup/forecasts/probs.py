"""Checked predictions: scores (n,) of a binary problem, or a matrix (n, K) read by blocks.

A matrix is never copied. Rows that must be dropped are remembered by their numbers, rows that
do not sum to 1 by what to multiply them with, and logits by the largest of their row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.engines.blocks import row_blocks
from trueup.engines.select import engine
from trueup.errors import Argument, InputError, Text, Words, conflict, must_be, required
from trueup.forecasts.arrays import (
    as_floats,
    as_numpy,
    describe_shape,
    first_row,
    original,
    refuse,
)

LOWEST = float(np.finfo(np.float64).min)
LEAST_TOTAL = 1e-300  # one divided by it is far from infinity
ROUNDED = 1e-3  # so close outside [0, 1], a value is a rounded probability
ROUNDING = float(np.finfo(np.float64).eps)  # a sum of few or K terms is 1 up to 4 or K of these


@dataclass(frozen=True, eq=False)
class Scores:
    """Probabilities of the positive class, contiguous float32 or float64."""

    values: NDArray[Any]
    logits: Floats | None
    tiny: float

    @property
    def are_logits(self) -> bool:
        """Whether the values came as logits."""
        return self.logits is not None

    def take(self, rows: Ints) -> Scores:
        """Some of the scores, any of them any number of times."""
        logits = None if self.logits is None else self.logits[rows]
        return Scores(self.values[rows], logits, self.tiny)

    def log_probs(self, where: slice) -> Floats:
        """Log-probabilities of the negative and the positive class."""
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
        """Contiguous rows before multiplying by ``factor``: a view where the memory allows it."""
        where = slice(start, stop)
        return _unscaled(self._take(where), self._shift(where))

    def rows(self, which: slice | Ints) -> Floats:
        """Rows of probabilities in float64."""
        block = _unscaled(self._take(which), self._shift(which)).astype(np.float64)
        if self.factor is not None:
            block *= self.factor[which, None]
        return block

    def columns(self, first: int, last: int) -> Floats:
        """Columns first … last−1 as rows of a contiguous array, made block by block."""
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
        """Some of the rows, any of them any number of times, in the same memory."""
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
        """Log-probabilities of a block of rows of logits."""
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
    """Predictions as the caller gave them: what they are, and the argument they came in."""

    values: NDArray[Any]
    are_logits: bool
    name: str


LOGITS = Argument("logits", True, to="Forecasts.of")
SWAPPED = "`probs` looks like labels: are the arguments swapped?"


def values_of(probs: object, logits: object) -> Given:
    """Read the array that holds predictions and check its shape."""
    said = isinstance(logits, bool | np.bool_)
    if not said and logits is not None and probs is not None:
        hint = "call it as Forecasts.of(labels=labels, logits=logits)"
        raise conflict("probs", "logits", hint=hint)
    are_logits = bool(logits) if said else logits is not None
    name = "logits" if logits is not None and not said else "probs"
    given = probs if name == "probs" else logits
    if given is None:
        raise required("probs", "call f(probs, labels)")
    array = as_numpy(name, given)
    if array.ndim > 2:
        raise must_be(
            name,
            "have shape (n,) or (n, K)",
            describe_shape(array),
            hint="put classes last and reshape to (-1, K): every pixel or token is a row",
        )
    if array.ndim == 2 and array.shape[1] < 2:
        hint = f"pass {name}[:, 0] if that is the positive class" if array.shape[1] else ""
        rule = "have shape (n,) or (n, K) with K ≥ 2"
        raise must_be(name, rule, describe_shape(array), hint=hint)
    if len(array) == 0:
        raise must_be(name, "have at least one row", Words("none"))
    hint = SWAPPED if array.ndim == 1 and name == "probs" else "select the columns of numbers"
    return Given(as_floats(name, array, hint), are_logits, name)


def refuse_swapped(given: Given, labels: NDArray[Any], soft_labels: bool) -> None:
    """Refuse (labels, probs) given for (probs, labels), where it shows."""
    if soft_labels or given.name != "probs" or labels.dtype.kind != "f":
        return
    if _all_whole(given.values) and (labels.ndim == 2 or not _all_whole(labels)):
        got = Words("whole numbers, with fractions in `labels`")
        raise must_be("probs", "probabilities", got, hint=SWAPPED)


def check_pairs(given: Given, labels: NDArray[Any]) -> Scores | None:
    """Check plain scores and labels 0 or 1 in one pass over both.

    None for what is not plain, or not right: it is checked with more care, and words, one by one.
    """
    p = given.values
    plain = not given.are_logits and p.dtype in (np.float32, np.float64) and labels.ndim == 1
    plain = plain and labels.dtype in (bool, np.int64)
    if not (plain and p.flags.c_contiguous and labels.flags.c_contiguous):
        return None
    return Scores(p, None, _tiny(p)) if engine.rows.all_pairs_good(p, labels) else None


def check_scores(given: Given, rows: Ints | None) -> Scores:
    """Check (n,) probabilities of the positive class, or turn (n,) logits into them."""
    kept = given.values if rows is None else given.values[rows]
    tiny = _tiny(given.values)
    if given.are_logits:
        z = _finite(given.name, kept, 0, rows)
        with np.errstate(over="ignore"):
            return Scores(1 / (1 + np.exp(-z)), z, tiny)
    scores = np.ascontiguousarray(kept, dtype=_working_type(kept))
    bad = engine.rows.first_outside_unit(scores)
    if bad >= 0:
        raise _outside(kept[bad], original(bad, rows), 0)
    return Scores(scores, None, tiny)


def check_matrix(given: Given, rows: Ints | None, normalize: bool) -> Matrix:
    """Check (n, K) rows of probabilities or logits in one read, and find their top labels."""
    values, are_logits = given.values, given.are_logits
    n = len(values) if rows is None else len(rows)
    n_classes = values.shape[1]
    shift = np.empty(n) if are_logits else None
    if shift is not None:
        for where in row_blocks(n, n_classes):
            block = values[where if rows is None else rows[where]]
            shift[where] = _finite(given.name, block, where.start, rows).max(axis=1)

    def read(start: int, stop: int) -> NDArray[Any]:
        block = values[start:stop] if rows is None else values[rows[start:stop]]
        return _unscaled(block, None if shift is None else shift[start:stop])

    first_bad, total, top, top_class = engine.rows.scan_rows(read, n, n_classes)
    if first_bad >= 0:
        row = original(first_bad, rows)
        entries = values[row]
        column = int(np.argmin((entries >= 0) & (entries <= 1)))
        raise _outside(entries[column], row, column)
    away = np.abs(total - 1)
    if not are_logits:
        _check_totals(total, away, rows, normalize, _tolerance(values, n_classes))
    off = away > max(4, n_classes) * ROUNDING
    factor = np.where(off, 1 / total, 1.0) if off.any() else None
    if are_logits and factor is None:
        factor = np.ones(n)
    if factor is not None:
        top = np.minimum(top * factor, 1)
    return Matrix(values, rows, shift, factor, top, top_class, _tiny(values))


def check_values(values: NDArray[Any], are_logits: bool) -> None:
    """Check predictions whose labels are not known."""
    given = Given(values, are_logits, "probs")
    if values.ndim == 1:
        check_scores(given, None)
    else:
        check_matrix(given, None, normalize=True)


def _unscaled(block: NDArray[Any], shift: Floats | None) -> NDArray[Any]:
    """Contiguous float32 or float64 rows: probabilities as given, logits as exp(z − shift)."""
    if shift is None:
        return np.require(block, _working_type(block), ("C", "A"))
    rows = np.array(block, dtype=np.float64, order="C")
    _exponential(rows, shift[:, None])
    return rows


def _exponential(z: Floats, shift: Floats) -> None:
    """Put exp(z − shift) in the place of z; a difference too large for float64 gives 0."""
    with np.errstate(over="ignore"):
        z -= shift
    np.exp(z, out=z)


def _check_totals(
    total: Floats, away: Floats, rows: Ints | None, normalize: bool, tolerance: float
) -> None:
    if normalize:
        rule = f"have a sum above {LEAST_TOTAL} in every row"
        refuse("probs", rule, total, total <= LEAST_TOTAL, rows)
        return
    hint = (
        "pass ",
        Argument("normalize", True, to="Forecasts.of"),
        " if the table is rounded, or ",
        Argument("logits", True),
        " if these are raw scores",
    )
    refuse("probs", "sum to 1 in every row", total, away > tolerance, rows, hint)


def _outside(value: Any, row: int, column: int) -> InputError:
    if not np.isfinite(value):
        hint: Text = "drop or repair rows that contain NaN or infinity"
    elif -ROUNDED <= value <= 1 + ROUNDED:
        hint = "clip rounding errors to [0, 1]"
    elif value > 1 and value == np.floor(value):
        hint = "divide percentages by 100; if these are labels, the arguments are swapped"
    elif 2 < value <= 100:
        hint = ("divide percentages by 100, or pass ", LOGITS, " for raw scores")
    else:
        hint = ("pass ", LOGITS, " if these are raw scores")
    return must_be("probs", "between 0 and 1", value, row=row, hint=hint).replace(column=column)


def _finite(name: str, logits: NDArray[Any], start: int, rows: Ints | None) -> Floats:
    """Logits start, start + 1, … of the kept rows in float64; refuse one that is not finite."""
    with np.errstate(over="ignore"):
        z: Floats = logits.astype(np.float64, copy=False)
    bad = ~np.isfinite(z)
    row = first_row(bad)
    if row >= 0:
        value = logits[row] if z.ndim == 1 else logits[row][bad[row]][0]
        ruled_out = "a class that is ruled out can have a logit of -1e9"
        raise must_be(
            name,
            "finite",
            value,
            row=original(start + row, rows),
            hint=ruled_out if value < 0 else "drop or repair such rows",
        )
    return z


def _is_short(values: NDArray[Any]) -> bool:
    return values.dtype in (np.float16, np.float32)


def _working_type(array: NDArray[Any]) -> type[np.floating[Any]]:
    """float32 holds float16 and itself exactly; everything else is worked on in float64."""
    return np.float32 if _is_short(array) else np.float64


def _tolerance(values: NDArray[Any], n_classes: int) -> float:
    return 1e-3 if _is_short(values) else 1e-6 * n_classes


def _tiny(values: NDArray[Any]) -> float:
    kind = values.dtype if _is_short(values) else np.dtype(np.float64)
    return float(np.finfo(kind).tiny)


def _all_whole(array: NDArray[Any]) -> bool:
    """Whether no entry is a fraction, missing ones left aside; stops at the first fraction."""
    if array.dtype.kind in "iub":
        return True
    for where in row_blocks(len(array), array[:1].size):
        block = array[where]
        if np.any((block != np.floor(block)) & ~np.isnan(block)):
            return False
    return True
