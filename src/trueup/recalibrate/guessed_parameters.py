"""Errors for unknown parameters, which name the parameter that was probably meant."""

from __future__ import annotations

import difflib
from functools import wraps
from inspect import signature
from typing import Any

# Names for the same thing in other libraries, or in this one where data are given as arrays.
MEANT = {
    "base_estimator": ("classifier", "recalibrator"),
    "bins": ("n_bins",),
    "estimator": ("classifier", "recalibrator"),
    "folds": ("cv", "n_folds"),
    "input": ("logits",),
    "method": ("recalibrator", "candidates"),
    "model": ("classifier",),
    "nbins": ("n_bins",),
    "num_bins": ("n_bins",),
    "score": ("rank_by",),
    "scoring": ("rank_by",),
    "strategy": ("binning",),
    "weights": (),
}


def with_hints(kind: type[Any]) -> None:
    """Make ``kind(...)`` suggest the parameter that was meant; its signature stays the same."""
    init = kind.__init__
    names = [name for name in signature(init).parameters if name != "self"]

    @wraps(init)
    def hinted(self: Any, *args: Any, **options: Any) -> None:
        unknown = next((name for name in options if name not in names), None)
        if unknown is not None:
            raise TypeError(_unknown(type(self).__name__, unknown, options[unknown], names))
        init(self, *args, **options)

    kind.__init__ = hinted


def _unknown(kind: str, name: str, value: object, names: list[str]) -> str:
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.7)
    meant = next((each for each in (*MEANT.get(name, ()), *near) if each in names), None)
    told = f"{kind} has no parameter `{name}`."
    if meant == "logits" and name == "input":
        hint = "pass logits=True if X holds logits" if value == "logits" else "leave it out"
    elif name == "weights":
        hint = "pass sample_weight= to `fit`"
    elif meant is not None:
        hint = f"use {meant}="
    else:
        hint = f"its parameters are {', '.join(names)}"
    return f"{told} Hint: {hint}."
