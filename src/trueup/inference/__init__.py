"""Confidence intervals, tests, comparisons, certificates, groups and bands."""

from trueup.inference.bands import confidence_band, consistency_band
from trueup.inference.calibration_curve import calibration_curve
from trueup.inference.certification.certify import certify, trade_off
from trueup.inference.comparison import compare, compare_many
from trueup.inference.confidence_intervals.interval import interval
from trueup.inference.confidence_intervals.oe_ratio import oe_ratio_interval
from trueup.inference.hypothesis_tests.calibration_test import calibration_test
from trueup.inference.many_metrics import MetricInference, estimate_many
from trueup.inference.multiple_tests.adjusted_pvalues import benjamini_hochberg, holm
from trueup.inference.multiple_tests.classes_and_bins import bin_tests, class_tests
from trueup.inference.multiple_tests.group_errors import GroupErrors, group_errors

__all__ = [
    "GroupErrors",
    "MetricInference",
    "benjamini_hochberg",
    "bin_tests",
    "calibration_curve",
    "calibration_test",
    "certify",
    "class_tests",
    "compare",
    "compare_many",
    "confidence_band",
    "consistency_band",
    "estimate_many",
    "group_errors",
    "holm",
    "interval",
    "oe_ratio_interval",
    "trade_off",
]
