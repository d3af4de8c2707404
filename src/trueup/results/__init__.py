"""Small frozen results, reached by attribute and ready for JSON."""

from trueup.results.estimates import Decomposition, Estimate
from trueup.results.inference import Certificate, Comparison, HypothesisResult, Interval

__all__ = [
    "Certificate",
    "Comparison",
    "Decomposition",
    "Estimate",
    "HypothesisResult",
    "Interval",
]
