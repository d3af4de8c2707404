"""One call for every question: `evaluate` and the `Evaluation` it returns."""

from trueup.evaluation.pipeline import evaluate
from trueup.evaluation.result import Evaluation

__all__ = ["Evaluation", "evaluate"]
