"""Small frozen results with attributes, ready for JSON."""

from trueup.results.estimates import Decomposition, Estimate
from trueup.results.inference import CalibrationTestResult, Certificate, Comparison, Interval

__all__ = [
    "CalibrationTestResult",
    "Certificate",
    "Comparison",
    "Decomposition",
    "Estimate",
    "Interval",
]
