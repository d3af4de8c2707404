"""Datasets with groups, with tests that disagree, with several models, and with clusters."""

from __future__ import annotations

import numpy as np

from evaluation.verdict.given import NEVER_REJECTS, PLAIN, Given, binary, calibrated, matrix

TOO_MANY = {"class_findings.MOST_LABELS_DRAWN": 1e6}
SOME_ROWS = {"recommendations.CELLS_REPAIRED": 600, "recommendations.FEWEST_ROWS_REPAIRED": 300}


def groups() -> dict[str, Given]:
    """Return groups of all kinds; a group of rows chosen by their outcome is miscalibrated."""
    p, y = binary(600, calibrated, 4)
    third = np.arange(600) % 3
    right = np.array(["left", "right", "rest"])[third]
    picked = np.flatnonzero((y == 1) & (p < 0.6))
    one, two, five = (np.full(600, "rest", object) for _ in range(3))
    one[picked[:40]] = "left"
    two[picked[:20]], two[picked[20:40]] = "a, b; c (d)", "St. Mary is"
    for k in range(5):
        five[picked[15 * k : 15 * (k + 1)]] = k
    both = np.where(y == 1, "one", "none").astype(object)
    x, z = matrix(300, 3, calibrated, 3)
    hit = np.where(x.argmax(axis=1) == z, "hit", "")
    return {
        "good groups": Given(p, y, PLAIN | {"groups": right}),
        "a bad group": Given(p, y, PLAIN | {"groups": one}),
        "odd names of groups": Given(p, y, PLAIN | {"groups": two}),
        "five bad groups": Given(p, y, PLAIN | {"groups": five}),
        "groups of a wrong model": Given(p**2, y, PLAIN | {"groups": both}),
        "groups of a matrix": Given(x, z, PLAIN | {"groups": hit}),
        "a weak group": Given(
            p,
            y,
            PLAIN | {"groups": np.where(np.isin(np.arange(600), picked[::4][:9]), "few", "rest")},
        ),
        "too many groups": Given(p, y, PLAIN | {"groups": np.arange(600) % 12}, constants=TOO_MANY),
        "one group": Given(p, y, PLAIN | {"groups": np.zeros(600, int)}),
    }


def disagreeing() -> dict[str, Given]:
    """Return other tests that reject where the omnibus test does not."""
    p, y = binary(20, calibrated, 4)
    q, z = binary(500, lambda p: 0.85 * p, 2)
    groups = np.where(z == 1, "one", "none")
    tenths = (np.arange(500) % 10).astype(object)
    tenths[np.flatnonzero((z == 1) & (q < 0.5))[:12]] = "picked"
    recalibrate = {"recalibrate": True}
    return {
        "another test": Given(p, y),
        "a wrong model, not rejected": Given(
            *binary(60, lambda p: 0.75 * p, 1), PLAIN, constants=NEVER_REJECTS
        ),
        "many other tests": Given(
            q, z, {"n_resamples": 399} | recalibrate, constants=NEVER_REJECTS
        ),
        "other tests and groups": Given(q, z, {"groups": groups}, constants=NEVER_REJECTS),
        "other tests and a group": Given(q, z, {"groups": tenths}, constants=NEVER_REJECTS),
    }


def recalibrated() -> dict[str, Given]:
    """Return miscalibrated models with little or much to gain."""
    p, y = binary(600, lambda p: 0.75 * p, 9)
    return {
        "nothing to gain": Given(*binary(200, calibrated, 340), PLAIN | {"recalibrate": True}),
        "a part of the rows": Given(p, y, PLAIN | {"recalibrate": True}, constants=SOME_ROWS),
    }


def models() -> dict[str, Given]:
    """Return several models of the same labels."""
    p, y = binary(400, calibrated, 8)
    near = np.clip(p + 0.001, 0, 1)
    return {
        "one model": Given(None, y, PLAIN, models={"only": p}),
        "two models": Given(None, y, PLAIN, models={"a": p, "b": p**2}),
        "equal models": Given(None, y, PLAIN, models={"a": p, "b": near}),
        "three models": Given(None, y, PLAIN, models={"bad, old": p**3, "b": p, "c": near}),
    }


def clustered() -> dict[str, Given]:
    """Return rows in clusters: many, fewer than 50, and too few to test."""
    p, y = binary(600, calibrated, 6)
    q, z = binary(600, lambda p: 0.6 * p, 6)
    few = {"clusters": np.arange(60) // 2}
    return {
        "clusters": Given(p, y, PLAIN | {"clusters": np.arange(600) // 3}),
        "clusters, too high": Given(
            q, z, PLAIN | {"clusters": np.arange(600) // 3, "recalibrate": True}
        ),
        "few clusters": Given(p[:60], y[:60], PLAIN | few | {"groups": np.arange(60) % 2}),
        "too few clusters": Given(p[:60], y[:60], PLAIN | {"clusters": np.arange(60) // 12}),
        "too few clusters, too high": Given(q, z, PLAIN | {"clusters": np.arange(600) // 120}),
        "clusters of a matrix": Given(
            *matrix(300, 3, calibrated, 3), PLAIN | {"clusters": np.arange(300) // 5}
        ),
    }
