"""Explanations of metrics, recalibrators and tests, with numbers for your number of rows."""

from trueup.explanation.explain import explain
from trueup.explanation.explanation import Explanation

__all__ = ["Explanation", "explain"]
