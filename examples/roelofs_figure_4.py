"""Figure 4 of Roelofs et al. 2022, all 36 numbers: the bias of equal-width bins.

Run ``python examples/roelofs_figure_4.py`` for 2,000 repetitions, ``… 20000`` for more. The world
is resnet110 on CIFAR-10 as the paper fits it, the error is L2, and biases are in points (per
cent of probability). Every number is found by simulation on the spot.

The published numbers are means of a simulation too, and the paper prints the curve's parameters
to two digits. So a difference is given in two units: the standard error of our mean, and that of
the difference if the paper, as for its Figures 6 and 7, took the mean of 1,000 repetitions. With
many repetitions of ours the first alone must fail, for it knows nothing of the paper's chance.
"""

from __future__ import annotations

import argparse
import math
import time

import trueup as tu
from trueup.simulate.studies.run_study import study
from trueup.simulate.studies.study_result import Study
from trueup.simulate.worlds.published import PUBLISHED

WORLD = "resnet110_c10"
ROWS = (200, 400, 800, 1600, 3200, 6400)
FIGURE = {
    2: (-4.34, -4.52, -4.65, -4.72, -4.78, -4.82),
    4: (-3.28, -3.71, -4.02, -4.21, -4.34, -4.42),
    8: (-1.43, -2.14, -2.69, -3.04, -3.26, -3.40),
    16: (0.62, -0.37, -1.12, -1.67, -2.01, -2.24),
    32: (2.66, 1.50, 0.52, -0.26, -0.83, -1.22),
    64: (4.54, 3.32, 2.14, 1.13, 0.30, -0.30),
}
PUBLISHED_TRUTH = 10.7
THEIR_REPETITIONS = 1000
STANDARD_ERRORS, ROUNDING = 4, 0.01


def simulate(n_datasets: int, path: str | None = None) -> Study:
    """The bias of every number of bins at every n."""
    measures = {str(bins): tu.BinnedError(binning=tu.EqualWidth(bins), norm=2) for bins in FIGURE}
    return study({WORLD: PUBLISHED[WORLD]}, measures, ROWS, n_datasets=n_datasets, path=path)


def compare(result: Study) -> tuple[int, int]:
    """Print every number with the published one; return how many are near, by both units."""
    print("                                        difference in standard errors")
    print("bins     n     ours  published  difference     of ours   of both")
    near, near_both = 0, 0
    for bins, published in FIGURE.items():
        for n, figure in zip(ROWS, published, strict=True):
            (row,) = result.select(measure=str(bins), n=n)
            away, se = 100 * row.bias - figure, 100 * row.bias_se
            both = se * math.sqrt(1 + row.n_datasets / THEIR_REPETITIONS)
            good, good_both = (
                abs(away) <= STANDARD_ERRORS * unit + ROUNDING for unit in (se, both)
            )
            near, near_both = near + good, near_both + good_both
            mark = "" if good else " !" if good_both else " !!"
            print(
                f"{bins:>4} {n:>5} {100 * row.bias:>+8.3f} {figure:>+10.2f} {away:>+11.3f} "
                f"{away / se:>+11.2f} {away / both:>+9.2f}{mark}"
            )
    return near, near_both


def main() -> None:
    parser = argparse.ArgumentParser(description="Figure 4 of Roelofs et al. 2022.")
    parser.add_argument("repetitions", nargs="?", type=int, default=2000)
    parser.add_argument("--path", help="keep finished batches here, to resume")
    arguments = parser.parse_args()
    start = time.perf_counter()
    result = simulate(arguments.repetitions, arguments.path)
    seconds = time.perf_counter() - start
    near, near_both = compare(result)
    total, truth = len(result.rows), 100 * result.rows[0].truth
    limit = f"{STANDARD_ERRORS} standard errors + {ROUNDING} for rounding"
    print(f"\ntrue error {truth:.3f} points (published: {PUBLISHED_TRUTH})")
    print(f"{arguments.repetitions} repetitions in {seconds:.1f} s; within {limit}:")
    print(f"  {near} of {total} by the standard error of our mean alone")
    print(f"  {near_both} of {total} with the chance of the published numbers counted too")


if __name__ == "__main__":
    main()
