"""How sure are we: intervals, tests, comparisons, certificates, groups and bands."""

from trueup.inference.adjust import benjamini_hochberg, holm
from trueup.inference.bands import confidence_band, consistency_band
from trueup.inference.certificates import certify, trade_off
from trueup.inference.comparisons import compare, compare_many
from trueup.inference.groups import GroupErrors, group_errors
from trueup.inference.hypothesis import calibration_test
from trueup.inference.intervals import interval
from trueup.inference.parts import bin_tests, class_tests
from trueup.inference.together import Inference, infer

__all__ = [
    "GroupErrors",
    "Inference",
    "benjamini_hochberg",
    "bin_tests",
    "calibration_test",
    "certify",
    "class_tests",
    "compare",
    "compare_many",
    "confidence_band",
    "consistency_band",
    "group_errors",
    "holm",
    "infer",
    "interval",
    "trade_off",
]
