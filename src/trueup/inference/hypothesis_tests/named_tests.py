"""Tests of calibration by name; each takes checked data and answers a `CalibrationTestResult`."""

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
