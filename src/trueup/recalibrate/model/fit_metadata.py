"""Weights and groups beside X and y: which of a model's parts gets them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing
from sklearn.utils.validation import has_fit_parameter

from trueup._typing import Ints
from trueup.errors import Argument, InputError
from trueup.forecasts.arrays import as_numpy
from trueup.forecasts.sample_data import same_length, weights_of
from trueup.recalibrate.fit_input import policy_of

ByRow = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Metadata:
    """Keyword arguments of the parts of a model, one entry for each row."""

    for_classifier: ByRow
    for_splitter: ByRow
    for_recalibrator: ByRow

    @classmethod
    def of(cls, model: Any, n: int, sample_weight: object, groups: object) -> Metadata:
        """Check, and share out: as metadata routing says where it is on."""
        given: ByRow = {}
        if (weights := weights_of(sample_weight, n, policy_of(model))) is not None:
            given["sample_weight"] = weights
        if groups is not None:
            given["groups"] = as_numpy("groups", groups)
            same_length("groups", given["groups"], n, "X")
        learns = dict(given)
        if not has_fit_parameter(model.recalibrator, "groups"):
            learns.pop("groups", None)
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(model, "fit", **given)
            fits = routed.get("classifier", {"fit": {}})["fit"]
            return cls(dict(fits), dict(routed.splitter.split), learns)
        return cls(_fits(model, given), _splits(model, given), learns)

    def classifier(self, rows: Ints | slice = slice(None)) -> ByRow:
        """Arguments of its `fit` on all rows, or on some."""
        return {name: values[rows] for name, values in self.for_classifier.items()}

    def recalibrator(self, rows: Ints | slice = slice(None)) -> ByRow:
        """Arguments of its `fit` on all rows, or on some."""
        return {name: values[rows] for name, values in self.for_recalibrator.items()}


def _fits(model: Any, given: ByRow) -> ByRow:
    if "sample_weight" not in given or model.is_frozen:
        return {}
    if not has_fit_parameter(model.classifier, "sample_weight"):
        name = type(model.classifier).__name__
        rule = (f"{name}.fit does not support ", Argument("sample_weight"))
        hint = "use metadata routing to pass weights to the recalibrator only"
        raise InputError("sample_weight", rule, hint=hint)
    return {"sample_weight": given["sample_weight"]}


def _splits(model: Any, given: ByRow) -> ByRow:
    if "groups" not in given:
        return {}
    splitter = None if model.is_frozen else model.cv
    # A splitter that says nothing about metadata may want them: those of scikit-learn all do.
    silent = hasattr(splitter, "split") and not hasattr(splitter, "get_metadata_routing")
    if silent or get_routing_for_object(splitter).consumes("split", {"groups"}):
        return {"groups": given["groups"]}
    if not has_fit_parameter(model.recalibrator, "groups"):
        rule = "cannot be used: neither the folds nor the recalibrator take them"
        hint = "pass cv=GroupKFold() to keep groups together"
        raise InputError("groups", rule, hint=hint)
    return {}
