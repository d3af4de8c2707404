"""What a metric, a recalibrator or a test is, and what it does at your number of rows."""

from trueup.explanation.explain import explain
from trueup.explanation.explanation import Explanation

__all__ = ["Explanation", "explain"]
