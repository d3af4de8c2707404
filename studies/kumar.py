"""Kumar, Liang & Ma 2019, §4 and App. E, measured: `python -m studies.kumar [sets] [resamples]`.

In their two synthetic worlds the truth is known: how the squared error of histogram binning and
of scaling-binning depends on rows and bins, and how scaling-binning compares to its scaling. On the
real predictions of their VGG-16 for CIFAR-10, all 10,000 of which stand for the world: the
squared marginal error and the mean squared error of both, for more and more bins.

Writes docs/kumar.md. The numbers depend on the two arguments and the seed alone.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from studies.kumar_page import page
from trueup.recalibrate.binning.histogram import HistogramBinning
from trueup.recalibrate.binning.scaling_binning import ScalingBinning
from trueup.recalibrate.scaling.platt import PlattScaling
from trueup.simulate.worlds.published import PUBLISHED

Floats = NDArray[np.float64]
Make = Callable[[int], HistogramBinning | ScalingBinning]

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data" / "verifiedcal_cifar10_vgg16_probs.npz"
SEED = 2019
CELLS = 5000  # of the unit interval, each represented by its middle
NOISE = 0.02  # of world (B), drawn for every score
SIZES = ((1000, 10), (2000, 10), (2000, 5), (2000, 20))
DRAWN = 1000
BINS = (5, 10, 15, 20, 30, 40, 50, 75, 100)

METHODS: dict[str, Make] = {
    "histogram": lambda n_bins: HistogramBinning(n_bins=n_bins),
    "scaling-binning": lambda n_bins: ScalingBinning(n_bins=n_bins),
    "scaling-binning, least squares": lambda n_bins: ScalingBinning(
        n_bins=n_bins, scaling=PlattScaling(loss="squared")
    ),
    "scaling-binning, smoothed labels": lambda n_bins: ScalingBinning(
        n_bins=n_bins, scaling=PlattScaling(target="platt")
    ),
}


class Ratio(NamedTuple):
    """A ratio of two means with its standard error."""

    value: float
    error: float

    @classmethod
    def of(cls, top: Floats, bottom: Floats) -> Ratio:
        """Of paired values, by the delta method."""
        value = float(top.mean() / bottom.mean())
        each = (top - value * bottom) / bottom.mean()
        return cls(value, float(each.std(ddof=1) / math.sqrt(len(each))))


class Judged(NamedTuple):
    """Errors of a recalibrator in every repetition."""

    squared: Floats  # squared calibration error
    mse: Floats


def squared_error(answers: Floats, truth: Floats, place: Any = None) -> float:
    """E (q − E[Y | place])² over rows, each with its own P(Y = 1).

    A row's place is its probability, and rows of the same probability are one; or its bin.
    """
    _, index = np.unique(answers if place is None else place, return_inverse=True)
    rows = np.bincount(index)
    mean, output = np.bincount(index, truth) / rows, np.bincount(index, answers) / rows
    return float(np.sum(rows * (output - mean) ** 2) / len(answers))


def well_specified(name: str, sets: int, by_bin: bool = False) -> dict[tuple[int, int], Floats]:
    """Squared errors in world (A), for each number of rows and of bins, over the same datasets.

    The datasets of 1,000 rows are the first halves of those of 2,000. ``by_bin`` is for histogram
    binning, where small bins often have the same answer by chance.
    """
    world = PUBLISHED["kumar_a"]
    grid = (np.arange(CELLS) + 0.5) / CELLS
    truth = world.curve(grid, 1 - grid)
    drawn = world.sample_many(sets, max(n for n, _ in SIZES), SEED)

    def one(n: int, n_bins: int, i: int) -> float:
        model = METHODS[name](n_bins).fit(drawn.probs[i, :n], drawn.labels[i, :n])
        bins = np.searchsorted(model.maps_[0]["inner_edges"], grid) if by_bin else None
        return squared_error(model.predict_marginals(grid)[:, 1], truth, bins)

    return {size: np.array([one(*size, i) for i in range(sets)]) for size in SIZES}


def misspecified(sets: int, n: int = 3000, n_bins: int = 10) -> Ratio:
    """Squared error of the scaling over that of scaling-binning in world (B).

    The scaling is held against P(Y = 1 | score), noise included, and the binned answers against
    P(Y = 1 | answer), in which the noise of single scores averages out.
    """
    world = PUBLISHED["kumar_b"]
    grid = 0.25 + 0.5 * (np.arange(CELLS) + 0.5) / CELLS
    truth = world.curve.curve(grid, 1 - grid)
    drawn = world.sample_many(sets, n, SEED + 1)
    scaled, binned = np.empty(sets), np.empty(sets)
    for i in range(sets):
        model = ScalingBinning(n_bins=n_bins).fit(drawn.probs[i], drawn.labels[i])
        curve = model.maps_[0]["scaling"].predict_proba(grid)[:, 1]
        scaled[i] = np.mean((curve - truth) ** 2) + NOISE**2
        binned[i] = squared_error(model.predict_marginals(grid)[:, 1], truth)
    return Ratio.of(scaled, binned)


def network(
    probs: Floats, labels: NDArray[np.int64], name: str, n_bins: int, resamples: int
) -> Judged:
    """Recalibrate with 1,000 rows drawn with replacement; judge by all rows, averaged by class."""
    drawn = np.random.default_rng(SEED).integers(len(labels), size=(resamples, DRAWN))
    outcomes = (labels[:, None] == np.arange(probs.shape[1])).astype(np.float64)
    squared, mse = np.empty(resamples), np.empty(resamples)
    for i, rows in enumerate(drawn):
        answers = METHODS[name](n_bins).fit(probs[rows], labels[rows]).predict_marginals(probs)
        each = [squared_error(q, y) for q, y in zip(answers.T, outcomes.T, strict=True)]
        squared[i], mse[i] = np.mean(each), np.mean((answers - outcomes) ** 2)
    return Judged(squared, mse)


def main(arguments: Sequence[str]) -> None:
    """Run everything and write the page."""
    sets = int(arguments[0]) if arguments else 2000
    resamples = int(arguments[1]) if len(arguments) > 1 else 100
    synthetic = {
        "histogram, by bin": well_specified("histogram", sets, by_bin=True),
        "histogram, by output": well_specified("histogram", sets),
        "scaling-binning": well_specified("scaling-binning", sets),
    }
    table: dict[str, dict[int, Judged]] = {}
    if DATA.is_file():
        with np.load(DATA, allow_pickle=False) as stored:
            probs, labels = stored["p"].astype(np.float64), stored["y"].astype(np.int64)
        probs /= probs.sum(axis=1, keepdims=True)
        for name in METHODS:
            bins = BINS if name in ("histogram", "scaling-binning") else BINS[-1:]
            table[name] = {b: network(probs, labels, name, b, resamples) for b in bins}
    text = page(synthetic, misspecified(sets), table, Ratio.of)
    (ROOT / "docs" / "kumar.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
