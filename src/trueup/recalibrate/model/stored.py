"""Saving of a calibrated model: the recalibrator in a file, the classifier by the user.

A classifier belongs to another library, so saving it needs pickle or skops. Reading the file of a
recalibrator never runs code, so the file does not contain the classifier.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trueup.errors import InputError, Verbatim, must_be
from trueup.recalibrate.base import Recalibrator
from trueup.recalibrate.files.save_and_load import load_recalibrator, save
from trueup.recalibrate.model.parts import takes_logits

FEATURES = ("n_features_in_", "feature_names_in_")


def save_recalibrator_of(model: Any, path: str | os.PathLike[str]) -> None:
    """Write the one recalibrator of a fitted model; raise InputError if it has several."""
    check_is_fitted(model)
    if len(model.recalibrators_) > 1:
        number = len(model.recalibrators_)
        got = Verbatim(f"{number} recalibrators, each with its own classifier")
        hint = "save every one of recalibrators_, and its classifier in classifiers_ with joblib"
        raise must_be("ensemble", "False to save the model", got, hint=hint)
    save(model.recalibrators_[0], path)


def stored_recalibrator(path: str | os.PathLike[str], classifier: Any) -> Recalibrator:
    """Read the recalibrator of a fitted classifier; raise InputError if the two do not match."""
    recalibrator: Recalibrator = load_recalibrator(path)
    if classifier is None:
        return recalibrator
    check_is_fitted(classifier)
    known, wanted = np.asarray(classifier.classes_).tolist(), recalibrator.classes_.tolist()
    if known != wanted:
        rule = f"have the classes that the recalibrator was fitted to, {wanted}"
        hint = "load the classifier that was fitted together with this recalibrator"
        raise must_be("classifier", rule, known, hint=hint)
    if takes_logits(classifier, recalibrator) != recalibrator.logits:
        rule = "has no predict_proba, but the recalibrator was fitted to probabilities"
        raise InputError("classifier", rule)
    return recalibrator


def copy_features(of: Any, to: Any) -> None:
    """Copy the classifier's information about features to the model."""
    for name in FEATURES:
        if hasattr(of, name):
            setattr(to, name, getattr(of, name))
