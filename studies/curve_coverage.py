"""How often the band of `calibration_curve` covers: ``python -m studies.curve_coverage [samples]``.

Prints, for simulated models with known true rates, the fraction of the rows at which the 95% band
covers the true rate.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from scipy.special import expit

from trueup._typing import Floats
from trueup.inference import calibration_curve

Draw = Callable[[np.random.Generator, int], tuple[Floats, Floats]]


def _logistic(mean: float, spread: float, slope: float, shift: float) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        logit = rng.normal(mean, spread, n)
        return expit(logit), expit(slope * logit + shift)

    return draw


def _step(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    score = rng.random(n)
    return score, np.where(score < 0.5, 0.2, 0.8)


def _power(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    score = rng.beta(5, 1, n)
    return score, score**2


MODELS: dict[str, Draw] = {
    "calibrated, uniform scores": lambda rng, n: (score := rng.random(n), score),
    "calibrated, 3% outcomes": _logistic(-4, 1.1, 1.0, 0.0),
    "slope 0.76, 3% outcomes": _logistic(-4, 1.1, 0.76, -0.61),
    "overconfident, slope 0.56": _logistic(0, 2, 1 / 1.8, 0.0),
    "scores of Beta(5, 1), squared": _power,
    "jump from 0.2 to 0.8": _step,
}
ROWS = (500, 2000, 12_000)


def covered(draw: Draw, n: int, samples: int) -> float:
    """Return the fraction of the rows, over all samples, at which the band covers the true rate."""
    found = []
    for seed in range(samples):
        rng = np.random.default_rng([seed, n])
        score, rate = draw(rng, n)
        curve = calibration_curve(score, rng.random(n) < rate)
        order = np.argsort(score)
        true = np.interp(curve["score"], score[order], rate[order])
        inside = (curve["low"] <= true) & (true <= curve["high"])
        found.append(np.average(inside, weights=curve["weight"]))
    return float(np.mean(found))


def main(samples: int) -> None:
    """Print a table of all models and numbers of rows."""
    print(f"{'model':32s}" + "".join(f"{n:>9,}" for n in ROWS))
    for name, draw in MODELS.items():
        cells = "".join(f"{covered(draw, n, samples):9.1%}" for n in ROWS)
        print(f"{name:32s}{cells}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
