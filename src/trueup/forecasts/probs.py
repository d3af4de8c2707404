"""Checked predictions: scores (n,) of a binary problem, or a matrix (n, K) read by blocks.

A matrix is never copied. Rows that must be dropped are remembered by their numbers, rows that
do not sum to 1 by what to multiply them with, and logits by the largest of their row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.engines.base import Floats, Ints, engine
from trueup.errors import Words, must_be
from trueup.forecasts.arrays import as_floats, as_numpy, describe_shape, first_row

BLOCK_ENTRIES = 1 << 18
ROUNDING = 4 * np.finfo(np.float64).eps  # a sum this close to 1 is 1, but for rounding


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
        return _unscaled(self._take(slice(start, stop)), self._shift(slice(start, stop)))

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
        size = max(1, BLOCK_ENTRIES // (4 * (last - first)))
        for start in range(0, n, size):
            where = slice(start, min(start + size, n))
            block = self._take(where)[:, first:last].T
            if self.shift is not None:
                block = np.exp(block - self.shift[where])
            if self.factor is None:
                out[:, where] = block
            else:
                np.multiply(block, self.factor[where], out=out[:, where])
        return out

    def log_probs(self, where: slice) -> Floats:
        """Log-probabilities of a block of rows of logits."""
        assert self.shift is not None and self.factor is not None
        shifted = self._take(where).astype(np.float64) - self.shift[where, None]
        log_probs: Floats = shifted + np.log(self.factor[where, None])
        return log_probs

    def _take(self, which: slice | Ints) -> NDArray[Any]:
        block: NDArray[Any] = self.values[which if self.kept is None else self.kept[which]]
        return block

    def _shift(self, which: slice | Ints) -> Floats | None:
        return None if self.shift is None else self.shift[which]


def values_of(probs: object, logits: object) -> tuple[NDArray[Any], bool]:
    """Return the array that holds predictions, and whether it holds logits; shapes are checked."""
    said = isinstance(logits, bool | np.bool_)
    if not said and logits is not None and probs is not None:
        raise must_be("probs", "None where `logits` are given", Words("both"))
    are_logits = bool(logits) if said else logits is not None
    name = "logits" if logits is not None and not said else "probs"
    given = probs if name == "probs" else logits
    if given is None:
        raise must_be("probs", "given", None, hint="call it as f(probs, labels)")
    array = as_numpy(name, given)
    if array.dtype.kind in "USO" and array.size and isinstance(array.flat[0], str):
        raise must_be(name, "numeric", array.flat[0], row=0, hint=SWAPPED)
    array = as_floats(name, array)
    if array.ndim > 2:
        raise must_be(
            name,
            "of shape (n,) or (n, K)",
            describe_shape(array),
            hint="put classes last and reshape to (-1, K): every pixel or token is a row",
        )
    if array.ndim == 2 and array.shape[1] < 2:
        raise must_be(
            name,
            "of shape (n,) or (n, K) with K ≥ 2",
            describe_shape(array),
            hint=f"pass {name}[:, 0] if it is the probability of the positive class",
        )
    if len(array) == 0:
        raise must_be(name, "not empty", Words("no rows"))
    return array, are_logits


SWAPPED = "`probs` looks like labels: are the arguments swapped?"


def refuse_swapped(probs: NDArray[Any], labels: NDArray[Any], soft_labels: bool) -> None:
    """Refuse (labels, probs) given for (probs, labels), where it shows."""
    if soft_labels or labels.dtype.kind != "f":
        return
    whole = probs.dtype.kind in "iub" or (probs.ndim == 1 and _all_whole(probs))
    if probs.ndim == 1 and whole and (labels.ndim == 2 or not _all_whole(labels)):
        raise must_be(
            "probs", "probabilities", Words("whole numbers, and fractions in `labels`"), hint=SWAPPED
        )


def check_scores(values: NDArray[Any], rows: Ints | None, are_logits: bool) -> Scores:
    """Check (n,) probabilities of the positive class, or turn (n,) logits into them."""
    kept = values if rows is None else values[rows]
    tiny = _tiny(values)
    if are_logits:
        z = kept.astype(np.float64)
        _refuse_infinite(values, 0)
        with np.errstate(over="ignore"):
            return Scores(1 / (1 + np.exp(-z)), z, tiny)
    scores = np.ascontiguousarray(kept, dtype=_working_type(kept))
    bad = engine().first_outside_unit(scores)
    if bad >= 0:
        raise _outside(kept[bad], bad if rows is None else int(rows[bad]))
    return Scores(scores, None, tiny)


def check_matrix(
    values: NDArray[Any], rows: Ints | None, are_logits: bool, normalize: bool
) -> Matrix:
    """Check (n, K) rows of probabilities or logits in one read, and find their top labels."""
    n = len(values) if rows is None else len(rows)
    n_classes = values.shape[1]
    shift = np.empty(n) if are_logits else None

    def read(start: int, stop: int) -> NDArray[Any]:
        block = values[start:stop] if rows is None else values[rows[start:stop]]
        if shift is not None:
            shift[start:stop] = block.max(axis=1)
        return _unscaled(block, None if shift is None else shift[start:stop])

    if are_logits:
        for start in range(0, len(values), max(1, BLOCK_ENTRIES // n_classes)):
            _refuse_infinite(values[start : start + max(1, BLOCK_ENTRIES // n_classes)], start)
    first_bad, total, top, top_class = engine().scan_rows(read, n, n_classes)
    if first_bad >= 0:
        row = first_bad if rows is None else int(rows[first_bad])
        entries = values[row]
        raise _outside(entries[int(np.argmin((entries >= 0) & (entries <= 1)))], row)
    if not are_logits:
        _check_totals(total, rows, normalize, _tolerance(values, n_classes))
    off = np.abs(total - 1) > ROUNDING
    factor = np.where(off, 1 / total, 1.0) if off.any() else None
    if are_logits and factor is None:
        factor = np.ones(n)
    if factor is not None:
        top = np.minimum(top * factor, 1)
    return Matrix(values, rows, shift, factor, top, top_class, _tiny(values))


def _unscaled(block: NDArray[Any], shift: Floats | None) -> NDArray[Any]:
    if shift is not None:
        exponential: Floats = np.exp(block - shift[:, None])
        return exponential
    return np.ascontiguousarray(block, dtype=_working_type(block))


def _check_totals(total: Floats, rows: Ints | None, normalize: bool, tolerance: float) -> None:
    wrong = first_row(total <= 0 if normalize else np.abs(total - 1) > tolerance)
    if wrong >= 0:
        raise must_be(
            "probs",
            "have a positive sum in every row" if normalize else "sum to 1 in every row",
            float(total[wrong]),
            row=wrong if rows is None else int(rows[wrong]),
            hint=""
            if normalize
            else "pass normalize=True if the table is rounded, or logits= if these are raw scores",
        )


def _outside(value: Any, row: int) -> Exception:
    if np.isnan(value):
        hint = "drop or fill the row"
    elif value > 1 and value == np.floor(value):
        hint = "divide percentages by 100; if these are labels, the arguments are swapped"
    else:
        hint = "pass logits= if these are raw scores"
    return must_be("probs", "between 0 and 1", value, row=row, hint=hint)


def _refuse_infinite(block: NDArray[Any], start: int) -> None:
    bad = first_row(~np.isfinite(block))
    if bad >= 0:
        value = np.extract(~np.isfinite(block[bad]), block[bad])[0]
        raise must_be("logits", "finite", value, row=start + bad)


def _working_type(array: NDArray[Any]) -> type[np.floating[Any]]:
    """float32 holds float16 and itself exactly; everything else is worked on in float64."""
    return np.float32 if array.dtype in (np.float16, np.float32) else np.float64


def _tolerance(values: NDArray[Any], n_classes: int) -> float:
    return 1e-3 if values.dtype in (np.float16, np.float32) else 1e-6 * n_classes


def _tiny(values: NDArray[Any]) -> float:
    kind = values.dtype if values.dtype in (np.float16, np.float32) else np.dtype(np.float64)
    return float(np.finfo(kind).tiny)


def _all_whole(array: NDArray[Any]) -> bool:
    return array.dtype.kind in "iub" or bool(np.all(array == np.floor(array)))
