"""Datasets of one column: every direction, size, place and amount of evidence."""

from __future__ import annotations

import numpy as np

from evaluation.verdict.given import (
    ALL_PLANS,
    NEVER_REJECTS,
    PLAIN,
    Given,
    binary,
    calibrated,
    logistic,
    logit,
)

DIRECTIONS = {
    "too high": lambda p: 0.7 * p,
    "too low": lambda p: p + 0.3 * (1 - p),
    "too extreme": lambda p: logistic(logit(p) / 2),
    "not extreme enough": lambda p: logistic(2 * logit(p)),
    "upper half too high": lambda p: np.where(p > 0.6, p - 0.3, p),
    "upper half too low": lambda p: np.where(p > 0.5, np.minimum(p + 0.2, 1), p),
    "lower half too low": lambda p: np.where(p < 0.4, p + 0.3, p),
    "lower half too high": lambda p: np.where(p < 0.5, p * 0.4, p),
    "a wiggle": lambda p: np.clip(p + 0.25 * np.sin(8 * np.pi * p), 0, 1),
}
WEAKEST = {"mean": 261, "slope": 354, "running sum": 340, "bins": 158, "kernel": 21, "range": 139}
"""Seeds of calibrated models that are rejected, by the part with the smallest p-value."""


def directions() -> dict[str, Given]:
    """Return models that are wrong in every direction, and false alarms of every part."""
    found = {k: Given(*binary(500, truth, 7), PLAIN) for k, truth in DIRECTIONS.items()}
    alarms = {
        f"alarm by {k}": Given(*binary(200, calibrated, v), PLAIN) for k, v in WEAKEST.items()
    }
    return found | alarms


def no_evidence() -> dict[str, Given]:
    """Return models that the omnibus test does not reject."""
    p, y = binary(300, calibrated, 4)
    noisy = binary(200, calibrated, 100)
    return {
        "no evidence": Given(*binary(600, calibrated, 0), {"recalibrate": True}),
        "one p-value that is explained": Given(*binary(200, calibrated, 2)),
        "two p-values that are explained": Given(*binary(200, calibrated, 14)),
        "five p-values that are explained": Given(*binary(200, calibrated, 26)),
        "a range that may be noise": Given(*noisy, PLAIN),
        "few rows": Given(*binary(20, calibrated, 1), {"recalibrate": True}, constants=ALL_PLANS),
        "two rows": Given([0.7, 0.2], [1, 0]),
        "one row": Given([0.7], [1]),
        "certain and right": Given(np.ones(50), np.ones(50, int), {"recalibrate": True}),
        "never and right": Given(np.zeros(50), np.zeros(50, int)),
        "level of 90%": Given(*binary(500, calibrated, 0), {"confidence_level": 0.9} | PLAIN),
        "weights": Given(p, y, {"weights": np.arange(300) % 5 + 0.5}),
        "one score, right": Given(
            np.full(300, 0.5), np.arange(300) % 2, PLAIN, constants=ALL_PLANS
        ),
    }


def miscalibrated() -> dict[str, Given]:
    """Return models that are rejected, with scores and outcomes of every kind."""
    rng = np.random.default_rng(0)
    ties = rng.choice([0.9, 0.95, 0.99], 1000)
    near_one = 1 - 10 ** rng.uniform(-6, -3, 3000)
    next_to_one = 1 - 10 ** rng.uniform(-12, -9, 2000)
    rare = rng.beta(1, 999, 20_000)
    p, y = binary(400, lambda p: 0.7 * p, 9)
    even, place = (np.arange(300) + 0.5) / 300, np.arange(300)
    hidden = np.floor(even * (place % 20 + 1) + 0.5) > np.floor(even * (place % 20) + 0.5)
    hidden[:20], hidden[140:160] = place[:20] < 5, place[:20] < 16
    return {
        "one score": Given(np.full(300, 0.3), np.arange(300) % 2, PLAIN),
        "ties": Given(ties, rng.random(1000) < ties - 0.2, PLAIN),
        "scores near 1": Given(near_one, rng.random(3000) < 0.95, PLAIN),
        "scores next to 1": Given(next_to_one, rng.random(2000) < 0.95, PLAIN),
        "scores next to 0": Given(1 - next_to_one, rng.random(2000) < 0.05, PLAIN),
        "rare outcomes": Given(rare, rng.random(20_000) < 5 * rare, PLAIN),
        "very rare outcomes": Given(rare / 100, rng.random(20_000) < rare / 3, PLAIN),
        "weights, too high": Given(p, y, {"weights": rng.exponential(size=400)} | PLAIN),
        "level of 90%, too high": Given(
            p, y, {"confidence_level": 0.9, "recalibrate": True} | PLAIN
        ),
        "only one outcome": Given(p, np.ones(400, int), {"recalibrate": True} | PLAIN),
        "no outcome": Given(p, np.zeros(400, int), PLAIN),
        "a larger gap inside its band": Given(even, hidden.astype(int), PLAIN),
        "a larger gap inside its band, not rejected": Given(
            even, hidden.astype(int), PLAIN, constants=NEVER_REJECTS
        ),
    }


def of_many_rows() -> dict[str, Given]:
    """Return small errors that many rows show, and a large one whose p-value has no digits."""
    (p, u), (q, v) = (_many_rows(seed) for seed in (0, 2))
    some = {"recommendations.MOST_ROWS_REPAIRED": 20_000}
    return {
        "slightly": Given(p, u < p - 0.006, PLAIN),
        "slightly, not to be corrected": Given(
            q, v < q - 0.004, PLAIN | {"recalibrate": True}, constants=some
        ),
        "very far": Given(p, u < p / 2, PLAIN),
    }


def _many_rows(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return 0.4 + 0.2 * rng.random(120_000), rng.random(120_000)


def impossible() -> dict[str, Given]:
    """Return outcomes that had probability 0."""
    p, y = binary(500, calibrated, 5)
    one, several, wrong = ((p.copy(), y.copy()) for _ in range(3))
    wrong = binary(400, lambda p: 0.7 * p, 6)
    for many, (scores, labels) in ((1, one), (3, several), (3, wrong)):
        scores[:many], labels[:many] = 0.0, 1
    ones = np.r_[np.ones(45, int), np.zeros(5, int)]
    columns = np.c_[1 - wrong[0], wrong[0]], wrong[1]
    return {
        "one impossible outcome": Given(*one, PLAIN),
        "impossible outcomes": Given(*several, PLAIN),
        "impossible outcomes of a wrong model": Given(*wrong, PLAIN | {"recalibrate": True}),
        "impossible outcomes of two columns": Given(*columns, PLAIN),
        "all scores 1": Given(np.ones(50), ones, {"recalibrate": True} | PLAIN),
        "all outcomes impossible": Given(np.zeros(30), np.ones(30, int), PLAIN),
    }


def soft() -> dict[str, Given]:
    """Return labels that are probabilities."""
    rng = np.random.default_rng(1)
    p = rng.random(400)
    noisy = np.clip(p + 0.1 * rng.normal(size=400), 0, 1)
    groups = {"groups": np.arange(400) % 2}
    return {
        "soft labels": Given(p, noisy, PLAIN, soft=True),
        "soft labels, too high": Given(p, 0.7 * noisy, PLAIN, soft=True),
        "soft labels with groups": Given(p, noisy, PLAIN | groups, soft=True),
    }
