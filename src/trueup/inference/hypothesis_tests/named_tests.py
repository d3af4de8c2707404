"""Tests of calibration by name; each takes checked data and returns a `CalibrationTestResult`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from trueup.inference.cluster_tests.cluster_signs import cluster_signs
from trueup.inference.hypothesis_tests.consistency_resampling import consistency
from trueup.inference.hypothesis_tests.cox_joint import cox_joint
from trueup.inference.hypothesis_tests.hosmer_lemeshow import hosmer_lemeshow
from trueup.inference.hypothesis_tests.ks import ks
from trueup.inference.hypothesis_tests.skce import skce, skce_block, skce_distribution_free
from trueup.inference.hypothesis_tests.spiegelhalter import spiegelhalter
from trueup.inference.hypothesis_tests.tcal import tcal
from trueup.inference.omnibus.omnibus import omnibus
from trueup.results import CalibrationTestResult

TESTS: dict[str, Callable[..., CalibrationTestResult]] = {
    "consistency": consistency,
    "consistency-unconditional": partial(consistency, fixed=False),
    "cluster-signs": cluster_signs,
    "omnibus": omnibus,
    "cox": cox_joint,
    "spiegelhalter": spiegelhalter,
    "hosmer-lemeshow": hosmer_lemeshow,
    "ks": ks,
    "tcal": tcal,
    "skce": skce,
    "skce-block": skce_block,
    "skce-distribution-free": skce_distribution_free,
}
"""All take ``(forecasts, *, statistic, n_resamples, rng)``; of the last nine the ``statistic`` may
be a lens, an estimator that fits, or None."""

USES: dict[str, tuple[str, str]] = {
    "consistency": (
        "Test one metric, such as ece: its value among values for drawn labels; exact.",
        "omnibus, which detects more kinds of errors.",
    ),
    "consistency-unconditional": (
        "Test one metric if the scores are a random sample too.",
        "consistency, which is exact for any number of rows.",
    ),
    "cluster-signs": (
        "Test rows in clusters, such as visits of the same patients.",
        "omnibus, which takes clusters too and detects more kinds of errors.",
    ),
    "omnibus": (
        "Decide whether a model is calibrated; it combines six statistics and is exact.",
        "cox for slope and intercept; consistency for one metric.",
    ),
    "cox": (
        "Test slope 1 and intercept 0 of one column, as clinical papers report.",
        "omnibus, which also detects errors that no slope or intercept shows.",
    ),
    "spiegelhalter": (
        "Compare the Brier score with its expected value, as clinical papers report.",
        "omnibus: errors of opposite direction cancel in this test.",
    ),
    "hosmer-lemeshow": (
        "Compare with published tests over ten equal-mass bins.",
        "omnibus, whose p-value does not depend on a choice of bins.",
    ),
    "ks": (
        "Look for errors of one direction over a long range of scores.",
        "omnibus, which detects more kinds of errors.",
    ),
    "tcal": (
        "Look for errors of unknown smoothness over bins of many widths.",
        "omnibus, which also uses the mean and the slope.",
    ),
    "skce": (
        "Test full calibration of all classes with a kernel.",
        "omnibus, which is faster and tests each class too.",
    ),
    "skce-block": (
        "Test full calibration if there are too many pairs of rows.",
        "skce, which detects smaller errors.",
    ),
    "skce-distribution-free": (
        "Bound a p-value without resampling; it is very conservative.",
        "skce, which detects much smaller errors.",
    ),
}
"""For each test what it is for and what is better for other purposes, for `trueup.explain`."""
