"""The nine lenses, row by row. `probs` is (n,) P(positive) or (n, K); labels are 0..K-1.

Row-preserving lenses need no weights: the caller's still apply. `pooled` and
`top_label_given` move rows, so they hand the moved weights back when weights are given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .arithmetic import Floats, Ints, lowest_argmax, same_shape, two_columns

Pairs = tuple[np.ndarray, np.ndarray]
Moved = tuple[np.ndarray, ...]


def _pairs(p: ArrayLike, y: Ints) -> Pairs:
    return np.array(p, dtype=np.float64), np.array(y, dtype=np.int64)


def binary(probs: ArrayLike, labels: Ints) -> Pairs:
    """P(positive) against "is positive"; of a matrix, which must have two columns, column 1."""
    matrix = two_columns(probs)
    if matrix.shape[1] != 2:
        raise ValueError("binary needs two classes")
    return one_vs_rest(matrix, labels, 1)


def _predicted(probs: ArrayLike) -> list[tuple[int, float]]:
    """(predicted class, its probability) per row; a 1-D p of exactly 0.5 predicts class 0."""
    out = []
    for row in two_columns(probs):
        k = lowest_argmax(row)
        out.append((k, row[k]))
    return out


def top_label(probs: ArrayLike, labels: Ints) -> Pairs:
    """The largest probability against "the predicted class is right"."""
    predicted = _predicted(probs)
    same_shape(predicted, labels)
    p = [confidence for _, confidence in predicted]
    y = [int(labels[i] == predicted[i][0]) for i in range(len(labels))]
    return _pairs(p, y)


def top_k(probs: ArrayLike, labels: Ints, k: int) -> Pairs:
    """The k largest, largest first (equal ones: lowest class first), then the rest's sum."""
    matrix = two_columns(probs)
    n_classes = matrix.shape[1]
    if not 1 <= k < n_classes:
        raise ValueError("k must be 1..K-1")
    same_shape(matrix, labels)
    out, z = [], []
    for row, label in zip(matrix, labels, strict=True):
        order = sorted(range(n_classes), key=lambda c: (-row[c], c))
        out.append([row[c] for c in order[:k]] + [sum(row[c] for c in order[k:])])
        rank = order.index(int(label))
        z.append(min(rank, k))
    return _pairs(out, z)


def one_vs_rest(probs: ArrayLike, labels: Ints, c: int) -> Pairs:
    """g_c against "the label is c"."""
    matrix = two_columns(probs)
    same_shape(matrix, labels)
    return _pairs([row[c] for row in matrix], [int(label == c) for label in labels])


def class_wise(probs: ArrayLike, labels: Ints) -> list[Pairs]:
    """One one-vs-rest problem per class, in class order."""
    matrix = two_columns(probs)
    return [one_vs_rest(matrix, labels, c) for c in range(matrix.shape[1])]


def partition(probs: ArrayLike, labels: Ints, groups: Sequence[Ints]) -> Pairs:
    """Sum of g over each group against the group of the label."""
    matrix = two_columns(probs)
    same_shape(matrix, labels)
    if sorted(c for group in groups for c in group) != list(range(matrix.shape[1])):
        raise ValueError("groups must hold every class exactly once")
    out, z = [], []
    for row, label in zip(matrix, labels, strict=True):
        out.append([sum(row[c] for c in group) for group in groups])
        z.append(next(g for g, group in enumerate(groups) if int(label) in list(group)))
    return _pairs(out, z)


def canonical(probs: ArrayLike, labels: Ints) -> Pairs:
    """g itself against y."""
    matrix = two_columns(probs)
    same_shape(matrix, labels)
    return _pairs(matrix, labels)


def pooled(probs: ArrayLike, labels: Ints, weights: Floats | None = None) -> Moved:
    """All K pairs of every row in one bag, row by row; each pair carries its row's weight."""
    matrix = two_columns(probs)
    same_shape(matrix, labels)
    p, y, w = [], [], []
    for i, row in enumerate(matrix):
        for c, value in enumerate(row):
            p.append(value)
            y.append(int(labels[i] == c))
            if weights is not None:
                w.append(weights[i])
    if weights is None:
        return _pairs(p, y)
    return (*_pairs(p, y), np.array(w))


def top_label_given(
    probs: ArrayLike, labels: Ints, weights: Floats | None = None
) -> dict[int, Moved]:
    """Top-label pairs of each predicted class apart; a class never predicted has no entry."""
    predicted = _predicted(probs)
    p, y = top_label(probs, labels)
    out: dict[int, Moved] = {}
    for c in sorted({k for k, _ in predicted}):
        rows = [i for i in range(len(p)) if predicted[i][0] == c]
        if weights is None:
            out[c] = (p[rows], y[rows])
        else:
            out[c] = (p[rows], y[rows], np.array([weights[i] for i in rows]))
    return out


def restrict(
    predictions: np.ndarray,
    outcomes: np.ndarray,
    region: Callable[[object], bool],
    weights: Floats | None = None,
) -> Moved:
    """Only rows whose induced prediction lies in the region (eq. 5), before any binning."""
    rows = [i for i in range(len(outcomes)) if region(predictions[i])]
    kept = (predictions[rows], outcomes[rows])
    return kept if weights is None else (*kept, np.array([weights[i] for i in rows]))
