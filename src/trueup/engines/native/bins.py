"""Bins of scores and their sums: a table of sums for each chunk, added in order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import trueup.engines.kernels.bins as compiled
from trueup._typing import Floats, Ints, Read
from trueup.engines.blocks import cut
from trueup.engines.memory import plain, plain_labels, plain_scores
from trueup.engines.reference import bins as reference
from trueup.engines.sums import added
from trueup.engines.threads import run
from trueup.engines.types import Sums

SUMMED_ROWS = 120_000
FEW_FOUND = 2_000  # a plain search is over before a table is made
RUN_ROWS = 1 << 15  # a running sum is added to the totals after about this many rows
BLOCK_ENTRIES = 1 << 18
LOW_CLASSES = 17  # with fewer classes, or with more entries beyond the first bin than the share
LOW_SHARE = 0.2  # given here, the first bin is no case of its own
TABLE_BYTES = 1 << 22  # for the tables of all chunks, unless two tables alone need more


def find_bins(p: NDArray[Any], inner_edges: Floats) -> Ints:
    if len(p) < FEW_FOUND:
        return reference.find_bins(p, inner_edges)
    score, lookup = plain_scores(p), _lookup(inner_edges)
    found = np.empty(len(score), np.int64)
    chunks = cut(len(p), SUMMED_ROWS)
    run(lambda start, stop: compiled.find(score, start, stop, lookup, found), chunks)
    return found


def bin_sums(p: NDArray[Any], y: NDArray[Any], w: Floats | None, inner_edges: Floats) -> Sums:
    score, label = plain_scores(p), plain_labels(y)
    lookup = _lookup(inner_edges)
    chunks = cut(len(score), max(SUMMED_ROWS, _share(len(score), 64 * lookup.bins)))
    binary = w is None and label.dtype != np.float64

    def hard(start: int, stop: int) -> Floats | None:
        totals = np.zeros((2 * lookup.bins, 4))
        return totals if compiled.add_hard(score, label, start, stop, lookup, totals) else None

    if binary:
        parts = [part for part in run(hard, chunks) if part is not None]
        if len(parts) == len(chunks):
            return _hard_sums(added(parts))
    soft_label = plain(y, np.float64)
    weight = None if w is None else plain(w, np.float64)

    def soft(start: int, stop: int) -> Floats:
        totals = np.zeros((lookup.bins, 8))
        compiled.add_soft(score, soft_label, weight, start, stop, lookup, totals)
        return totals

    count, *moments = added(run(soft, chunks)).T.copy()
    return Sums(count.astype(np.int64), *moments)


def batch_bin_sums(p: NDArray[Any], y: NDArray[Any], inner_edges: Floats) -> Sums:
    score, label = plain_scores(p), plain_labels(y)
    lookup = _lookup(inner_edges)
    sets, n = score.shape
    sums = np.zeros((5, sets, lookup.bins))

    def hard(start: int, stop: int) -> bool:
        return bool(compiled.add_hard_sets(score, label, start, stop, lookup, sums))

    binary = label.dtype != np.float64
    if sets == 0 or (binary and all(run(hard, cut(sets, SUMMED_ROWS // max(1, n))))):
        return _sums(*sums)
    each = [bin_sums(p[r], y[r], None, inner_edges) for r in range(sets)]
    return Sums(*(np.stack(arrays) for arrays in zip(*each, strict=True)))


def class_bin_sums(
    read: Read, factor: Floats | None, labels: Ints, n_classes: int, inner_edges: Floats
) -> Sums:
    label, lookup = plain(labels, np.int64), _lookup(inner_edges)
    scale = None if factor is None else plain(factor, np.float64)
    step = max(1, min(RUN_ROWS, BLOCK_ENTRIES // n_classes))
    table_bytes = 88 * n_classes * lookup.bins

    def add(start: int, stop: int) -> Floats:
        tables = compiled.ClassTables(n_classes, lookup)
        totals = np.zeros((5, n_classes, lookup.bins))
        mostly_low, pending = n_classes >= LOW_CLASSES, 0
        for first in range(start, stop, step):
            block = read(first, min(first + step, stop))
            others = tables.add(block, scale, label, first, mostly_low)
            mostly_low = n_classes >= LOW_CLASSES and others < LOW_SHARE * block.size
            pending += len(block)
            if pending >= max(RUN_ROWS, 4 * lookup.bins):
                tables.flush(totals)
                pending = 0
        tables.flush(totals)
        return totals

    chunks = cut(len(label), max(step, _share(len(label), table_bytes)))
    return _sums(*added(run(add, chunks)))


def _hard_sums(totals: Floats) -> Sums:
    """Return sums from {sum p, sum p^2, count, 0}, which are stored at index 2 * bin + label."""
    positive = totals[1::2].T
    score, score2, count, _ = totals[::2].T + positive
    return _sums(count, score, score2, positive[2], positive[0])


def _sums(count: Floats, score: Floats, score2: Floats, label: Floats, cross: Floats) -> Sums:
    """Return sums without weights, for labels 0 and 1; every field is an array of its own."""
    return Sums(
        count.astype(np.int64),
        count.copy(),
        count.copy(),
        score.copy(),
        score2.copy(),
        label.copy(),
        label.copy(),
        cross.copy(),
    )


def _share(n: int, table_bytes: int) -> int:
    """Return the rows per chunk for which the tables of all chunks fit in TABLE_BYTES."""
    most = max(2, TABLE_BYTES // table_bytes)
    return -(-n // (1 << most.bit_length() - 1))  # a power of two shares out evenly


def _lookup(inner_edges: Floats) -> Any:
    return compiled.Lookup(plain(inner_edges, np.float64))
