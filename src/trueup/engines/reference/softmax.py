"""Softmax of rows of logits, and the sums that fit its parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.engines.blocks import row_blocks
from trueup.engines.types import ScaledSums, Tempered


def temper(logits: NDArray[Any], labels: Ints, inverse: float) -> Tempered:
    """Return sums over each row of e^{βd}, d e^{βd} and d² e^{βd}, d = logit − largest logit.

    The log loss of a row is log(total) + β·gap. Its first two derivatives with respect to β are
    mean + gap and the variance of d. Here the mean of d is first/total, and the mean of d² is
    second/total.
    """
    out = np.empty((4, len(logits)))
    for rows in row_blocks(*logits.shape):
        z = logits[rows].astype(np.float64)
        d = z - z.max(axis=1, keepdims=True)
        e = _exp(d * inverse)
        out[:3, rows] = e.sum(axis=1), (e * d).sum(axis=1), (e * d * d).sum(axis=1)
        out[3, rows] = -d[np.arange(len(d)), labels[rows]]
    return Tempered(*out)


def tempered_probs(logits: NDArray[Any], inverse: float) -> Floats:
    """Return the softmax of β times the logits."""
    out = np.empty(logits.shape)
    for rows in row_blocks(*logits.shape):
        z = logits[rows].astype(np.float64)
        e = _exp((z - z.max(axis=1, keepdims=True)) * inverse)
        out[rows] = e / e.sum(axis=1, keepdims=True)
    return out


def scaled_probs(logits: NDArray[Any], scale: Floats, shift: Floats) -> Floats:
    """Return the softmax of ``scale`` times the logits plus ``shift``, both by column."""
    out = np.empty(logits.shape)
    for rows in row_blocks(*logits.shape):
        t = logits[rows] * scale + shift
        e = _exp(t - t.max(axis=1, keepdims=True))
        out[rows] = e / e.sum(axis=1, keepdims=True)
    return out


def scaled_sums(
    logits: NDArray[Any], labels: Ints, w: Floats | None, scale: Floats, shift: Floats
) -> ScaledSums:
    """Return the log loss of each row under `scaled_probs`, and its summed derivatives."""
    n, columns = logits.shape
    loss, log_total = np.empty(n), np.empty(n)
    gradient, curvature = np.zeros((2, columns)), np.zeros((3, columns))
    for rows in row_blocks(n, columns):
        z, place = logits[rows].astype(np.float64), (np.arange(len(logits[rows])), labels[rows])
        t = z * scale + shift
        top = t.max(axis=1)
        total = _exp(t - top[:, None]).sum(axis=1)
        loss[rows] = (top - t[place]) + np.log(total)
        log_total[rows] = top + np.log(total)
        p = _exp(t - top[:, None]) / total[:, None]
        weight = np.ones((len(z), 1)) if w is None else w[rows, None]
        spread = weight * p * (1 - p)
        p[place] -= 1
        gradient += (weight * p).sum(axis=0), (weight * p * z).sum(axis=0)
        curvature += spread.sum(axis=0), (spread * z).sum(axis=0), (spread * z * z).sum(axis=0)
    return ScaledSums(loss, log_total, gradient, curvature)


def scaled_product(
    logits: NDArray[Any],
    w: Floats | None,
    log_total: Floats,
    scale: Floats,
    shift: Floats,
    direction: Floats,
) -> Floats:
    """Return the Hessian of the summed log loss by (shift, scale) times ``direction``, (2, K)."""
    product = np.zeros((2, logits.shape[1]))
    for rows in row_blocks(*logits.shape):
        z = logits[rows].astype(np.float64)
        p = _exp(z * scale + shift - log_total[rows, None])
        along = z * direction[1] + direction[0]
        change = p * (along - (p * along).sum(axis=1, keepdims=True))
        if w is not None:
            change *= w[rows, None]
        product += change.sum(axis=0), (change * z).sum(axis=0)
    return product


def _exp(x: Floats) -> Floats:
    return np.exp(x, out=x)
