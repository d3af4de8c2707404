"""The full report in one call: `evaluate` and the `Evaluation` that it returns."""

from trueup.evaluation.pipeline import evaluate
from trueup.evaluation.result import Evaluation

__all__ = ["Evaluation", "evaluate"]
