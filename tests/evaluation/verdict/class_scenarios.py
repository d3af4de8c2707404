"""Datasets of several columns: top labels, classes, and how they disagree."""

from __future__ import annotations

import numpy as np

from evaluation.verdict.given import (
    NEVER_REJECTS,
    PLAIN,
    Given,
    binary,
    calibrated,
    labels_of,
    logistic,
    logit,
    matrix,
    powered,
)

ALARMS = {
    ("all classes", "slope"): 46,
    ("all classes", "range of scores"): 135,
    ("one class", "mean"): 25,
    ("one class", "range of scores"): 476,
    ("top label", "range of scores"): 62,
}
"""Seeds of calibrated models that are rejected, by the part with the smallest p-value."""
BY_FREQUENCY = {"class_findings.MOST_LABELS_DRAWN": 1e5}


def top_labels() -> dict[str, Given]:
    """Return matrices that are evaluated by their top label."""
    names = ["cat", "dog", "a, b"]
    over = matrix(500, 3, powered(0.5), 0)
    alarms = {
        f"alarm by {part} of {block}": Given(*matrix(200, 3, calibrated, seed), PLAIN)
        for (block, part), seed in ALARMS.items()
    }
    g, y = matrix(300, 3, calibrated, 3)
    g[0], y[0] = [0, 0.5, 0.5], 0
    return alarms | {
        "three classes": Given(*matrix(400, 3, calibrated, 2)),
        "overconfident": Given(*over, PLAIN | {"recalibrate": True}),
        "underconfident": Given(*matrix(400, 3, powered(2.0), 1), PLAIN),
        "names of classes": Given(over[0], np.array(names)[over[1]], {"classes": names} | PLAIN),
        "an impossible outcome of three columns": Given(g, y, PLAIN),
        "one row of a matrix": Given([[0.7, 0.3]], [1]),
    }


def two_columns() -> dict[str, Given]:
    """Return two columns, of which clinical measures look at the second."""
    p, y = binary(500, lambda p: logistic(logit(p) / 2), 8)
    right, z = binary(400, calibrated, 12)
    odd, w = binary(60, lambda p: 0.78 * p, 3)
    named = np.array(["no", "yes"])[y]
    return {
        "two columns": Given(np.c_[1 - right, right], z, PLAIN),
        "two columns, too extreme": Given(np.c_[1 - p, p], y, PLAIN),
        "two named columns": Given(
            np.c_[1 - p, p], named, {"classes": ["no", "yes"], "recalibrate": True} | PLAIN
        ),
        "two columns, a small p-value that does not decide": Given(
            np.c_[1 - odd, odd], w, PLAIN, constants=NEVER_REJECTS
        ),
    }


def classes() -> dict[str, Given]:
    """Return errors that only some classes have."""
    rng = np.random.default_rng(0)
    tiles = np.tile([0.6, 0.3, 0.1], (800, 1))
    swapped = rng.choice(3, 800, p=[0.6, 0.1, 0.3])
    one = np.tile([0.4, 0.3, 0.2, 0.1], (400, 1))
    y = np.repeat([0, 1, 2, 3], [160, 120, 80, 40])
    wide = rng.dirichlet(np.full(8, 0.5), 400)
    shifted = labels_of(np.roll(wide, 1, axis=1), rng)
    return {
        "two of three classes": Given(tiles, swapped, PLAIN | {"recalibrate": True}),
        "one of four classes": Given(
            np.add(one, [0.12, -0.04, -0.04, -0.04]), y, PLAIN, constants=NEVER_REJECTS
        ),
        "eight classes, without draws enough": Given(
            wide, shifted, {"groups": np.arange(400) % 2}, constants=NEVER_REJECTS
        ),
        "eight classes": Given(wide, shifted, PLAIN),
        "classes by frequency": Given(tiles, swapped, PLAIN, constants=BY_FREQUENCY),
        "classes by frequency, right": Given(
            wide, labels_of(wide, rng), PLAIN, constants=BY_FREQUENCY
        ),
    }


def soft() -> dict[str, Given]:
    """Return matrices of labels that are probabilities."""
    rng = np.random.default_rng(1)
    g = rng.dirichlet(np.ones(3), 300)
    tops = np.tile([0.6, 0.3, 0.1], (300, 1))
    other = np.tile([0.6, 0.1, 0.3], (300, 1)) + 0.02 * rng.normal(size=(300, 1)) * [1, -0.5, -0.5]
    return {
        "soft labels of a matrix": Given(g, powered(0.3)(g), PLAIN, soft=True),
        "soft labels of a matrix, right": Given(g, g, PLAIN, soft=True),
        "soft labels, two bad classes": Given(tops, other, PLAIN, soft=True),
    }
