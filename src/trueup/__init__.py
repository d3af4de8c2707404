"""Measure, test and recalibrate the probabilities of classifiers.

Probabilities come first and labels second: (n,) probabilities of the positive class, or an (n, K)
matrix with one row per sample. Ten names to start with:

    evaluate(probs, labels)          everything in one call, with a verdict in words
    read("predictions.csv")          probabilities and labels from a file

    ece(probs, labels)               a metric; rmsce_debiased subtracts its bias
    interval(ece, probs, labels)     a metric with its confidence interval
    calibration_test(probs, labels)  a test with an exact p-value

    compare(a, b, labels)            which of two models is better calibrated
    group_errors(probs, labels, groups)  which groups are miscalibrated
    AutoCalibration()                chooses a recalibrator; call fit, then predict_proba

    explain("ece")                   what a metric is, and its bias at your number of rows
    datasets.clinic()                example data with known truth; datasets has more

    >>> import trueup as tu
    >>> round(tu.ece(tu.datasets.tumors()), 3)
    0.106

See README.md and docs/start.md for more; ``dir(trueup)`` lists all names.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from trueup.lazy import module_of_names

# Names and their modules stand once, in the stub, where editors and mypy read them as well.
_MODULE_OF = module_of_names(__file__)

__all__ = sorted([*_MODULE_OF, "__version__"])


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("trueup")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'trueup' has no attribute {name!r}")
    module = _MODULE_OF[name]
    if module == "trueup":
        return import_module(f"trueup.{name}")
    value = getattr(import_module(module), name)
    if isinstance(value, type):
        from trueup.calls.hints import hint_at_creation

        hint_at_creation(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
