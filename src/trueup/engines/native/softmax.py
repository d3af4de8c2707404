"""Softmax of rows of logits, and the sums that fit its parameters, computed by threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import trueup.engines.kernels.softmax as compiled
from trueup._typing import Floats, Ints
from trueup.engines.blocks import Chunk, cut
from trueup.engines.memory import plain
from trueup.engines.sums import added
from trueup.engines.threads import run
from trueup.engines.types import ScaledSums, Tempered

CHUNK_ENTRIES = 1 << 16  # fewer logits than this are not worth a thread
TABLE_BYTES = 1 << 26  # for the sums of all chunks
CACHE_LINE = 64


def temper(logits: NDArray[Any], labels: Ints, inverse: float) -> Tempered:
    z, label = _logits(logits), plain(labels, np.int64)
    out = np.empty((len(z), 4))

    def some(start: int, stop: int) -> None:
        compiled.temper(z, label, inverse, start, stop, _two_rows(z), out)

    run(some, _chunks(z))
    return Tempered(*out.T)


def tempered_probs(logits: NDArray[Any], inverse: float) -> Floats:
    z = _logits(logits)
    return _filled(z, lambda *rows: compiled.write_tempered(z, inverse, *rows))


def scaled_probs(logits: NDArray[Any], scale: Floats, shift: Floats) -> Floats:
    z, scaling = _logits(logits), _scaling(scale, shift)
    return _filled(z, lambda *rows: compiled.write_scaled(z, scaling, *rows))


def scaled_sums(
    logits: NDArray[Any], labels: Ints, w: Floats | None, scale: Floats, shift: Floats
) -> ScaledSums:
    z, label, scaling = _logits(logits), plain(labels, np.int64), _scaling(scale, shift)
    weight = None if w is None else plain(w, np.float64)
    out = np.empty((len(z), 3))

    def some(start: int, stop: int) -> Floats:
        sums = np.zeros((5, scaling.shape[1]))
        compiled.add_scaled(z, label, weight, scaling, start, stop, _two_rows(z), out, sums)
        return sums

    sums = added(run(some, _chunks(z, 5)))[:, : z.shape[1]]
    top, total, chosen = out.T
    log_total = top + np.log(total)
    return ScaledSums((top - chosen) + np.log(total), log_total, sums[:2], sums[2:])


def scaled_product(
    logits: NDArray[Any],
    w: Floats | None,
    log_total: Floats,
    scale: Floats,
    shift: Floats,
    direction: Floats,
) -> Floats:
    z, scaling = _logits(logits), _scaling(scale, shift)
    weight = None if w is None else plain(w, np.float64)
    along = _padded(direction[::-1], 0.0)

    def some(start: int, stop: int) -> Floats:
        sums = np.zeros((2, scaling.shape[1]))
        compiled.add_product(z, weight, log_total, scaling, along, start, stop, _two_rows(z), sums)
        return sums

    return added(run(some, _chunks(z, 2)))[:, : z.shape[1]]


def _filled(z: NDArray[Any], write: Callable[[int, int, Floats, Floats], None]) -> Floats:
    """Return a matrix of the size of the logits, written in chunks."""
    out = np.empty(z.shape)
    run(lambda start, stop: write(start, stop, _two_rows(z), out), _chunks(z))
    return out


def _chunks(z: NDArray[Any], tables: int = 0) -> list[Chunk]:
    """Return chunks of rows such that ``tables`` rows of sums per chunk fit in TABLE_BYTES."""
    n, columns = z.shape
    if n == 0:
        return []
    most = max(1, TABLE_BYTES // (8 * columns * max(1, tables)))
    return cut(n, max(1, CHUNK_ENTRIES // columns, -(-n // most)))


def _two_rows(z: NDArray[Any]) -> Floats:
    """Return two rows, padded to whole lanes, that start at a cache line."""
    width = _whole(z.shape[1])
    raw = np.empty(2 * width + CACHE_LINE // 8)
    first = -raw.ctypes.data % CACHE_LINE // 8
    return raw[first : first + 2 * width].reshape(2, width)


def _scaling(scale: Floats, shift: Floats) -> Floats:
    return np.stack([_padded(scale[None], 0.0)[0], _padded(shift[None], compiled.PADDING)[0]])


def _padded(rows: Floats, value: float) -> Floats:
    padded = np.full((len(rows), _whole(rows.shape[1])), value)
    padded[:, : rows.shape[1]] = rows
    return padded


def _whole(columns: int) -> int:
    """Return the number of columns, rounded up to whole lanes."""
    return int(-(-columns // compiled.LANES) * compiled.LANES)


def _logits(logits: NDArray[Any]) -> NDArray[Any]:
    return plain(logits, np.float32, np.float64)
