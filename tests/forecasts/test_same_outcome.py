"""The same odd input has the same outcome in every function, by the rules of decision 013."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from scipy.sparse import csr_matrix
from sklearn.exceptions import DataConversionWarning

import trueup as tu

N, K = 30, 3
RNG = np.random.default_rng(0)
ROWS = RNG.dirichlet(np.ones(K), N)
SHORT = ROWS.astype(np.float16)
ONE_HOT = np.eye(K)[RNG.integers(K, size=N)]
LOGITS = RNG.normal(size=(N, K))
LABELS = np.arange(N) % K
SCORES, HITS = ROWS[:, 1], LABELS % 2
ONES = np.ones(N)
LOGIT = {"logits": True}
QUICK = {"n_resamples": 39, "rng": 0}
Call = Callable[..., Any]


def with_weights(kind: type, X: Any, y: Any, weights: Any = None, **options: Any) -> Any:
    return kind(**options).fit(X, y, weights).predict_proba(X)


def evaluated(X: Any, y: Any, **options: Any) -> Any:
    asked = {"metrics": ("ece",), "recalibrate": False, "advice": False, **QUICK, **options}
    return [each.value for each in tu.evaluate(X, y, **asked).estimates]


def read(X: Any, y: Any, **options: Any) -> Any:
    return tu.ece(tu.Forecasts.from_arrays(X, y, **options))


def answered(X: Any, y: Any, **options: Any) -> Any:
    """Answers of a recalibrator that was fitted on usual data; labels and weights are not used."""
    if isinstance(X, np.ndarray) and (X.ndim == 1 or X.shape[1] == 1):
        usual, labels = SCORES, HITS
    else:
        are_logits = isinstance(options.get("logits"), bool | np.bool_)
        usual, labels = (LOGITS if are_logits else ROWS), LABELS
    fitted = tu.TemperatureScaling(logits=usual is LOGITS).fit(usual, labels)
    return fitted.set_params(**options).predict_proba(X)


METRICS: dict[str, Call] = {
    "ece": tu.ece,
    "calibration_test": lambda X, y, **o: tu.calibration_test(X, y, **QUICK, **o).pvalue,
    "lce": lambda X, y, **o: tu.lce(X, y, np.arange(float(N)), **o),
}
WITH_NORMALIZE: dict[str, Call] = {"Forecasts.from_arrays": read, "evaluate": evaluated}
FITS: dict[str, Call] = {
    kind.__name__: lambda X, y, kind=kind, **o: with_weights(kind, X, y, **o)
    for kind in (tu.TemperatureScaling, tu.IsotonicCalibration)
}
ANSWERS: dict[str, Call] = {"predict_proba": answered}
EVERY = METRICS | WITH_NORMALIZE | FITS | ANSWERS


def but(array: np.ndarray, value: Any, place: Any = (3, 1)) -> np.ndarray:
    changed = array.copy()
    changed[place] = value
    return changed


def masked(array: np.ndarray, row: int | None = 3) -> np.ma.MaskedArray:
    mask = np.zeros(array.shape, bool)
    if row is not None:
        mask[row] = True
    return np.ma.MaskedArray(array, mask)


def functions_for(options: dict[str, Any], *, of_labels: bool = False) -> dict[str, Call]:
    """Functions that take the options, and read labels and weights if it is about these."""
    found = EVERY if "normalize" not in options else WITH_NORMALIZE | FITS | ANSWERS
    return {name: call for name, call in found.items() if not (of_labels and name in ANSWERS)}


# What is odd, the options, and the usual data with the same numbers.
ACCEPTED: dict[str, tuple[Any, Any, dict[str, Any], Any, Any]] = {
    "lists": (ROWS.tolist(), LABELS.tolist(), {}, ROWS, LABELS),
    "nothing masked": (masked(ROWS, None), masked(LABELS, None), {}, ROWS, LABELS),
    "a list of float16 rows": (list(SHORT), LABELS, {}, SHORT, LABELS),
    "a list of float16 tensors": (list(torch.tensor(SHORT)), LABELS, {}, SHORT, LABELS),
    "a float16 frame": (pd.DataFrame(SHORT), LABELS, {}, SHORT, LABELS),
    "numbers as objects": (ROWS.astype(object), LABELS.astype(object), {}, ROWS, LABELS),
    "a nullable frame": (pd.DataFrame(ROWS).astype("Float64"), LABELS, {}, ROWS, LABELS),
    "big-endian": (ROWS.astype(">f8"), LABELS.astype(">i4"), {}, ROWS, LABELS),
    "booleans in rows": (ONE_HOT.astype(bool), LABELS, {}, ONE_HOT, LABELS),
    "whole numbers in rows": (ONE_HOT.astype(int), LABELS, {}, ONE_HOT, LABELS),
    "boolean scores": (HITS.astype(bool), HITS.astype(bool), {}, HITS.astype(float), HITS),
    "labels as floats": (ROWS, LABELS.astype(float), {}, ROWS, LABELS),
    "a list of logits": (LOGITS.tolist(), LABELS, LOGIT, LOGITS, LABELS),
    "a flag of NumPy": (LOGITS, LABELS, {"logits": np.True_}, LOGITS, LABELS),
    "boolean weights": (ROWS, LABELS, {"weights": ONES > 0}, ROWS, LABELS),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_accepted_with_the_same_numbers(case: str) -> None:
    X, y, options, usual, labels = ACCEPTED[case]
    plain = {"logits": True} if "logits" in options else {}
    for name, call in functions_for(options, of_labels="weights" in options).items():
        expected = call(usual, labels, **plain)
        found = call(X, y, **options)
        # float16 is worked on in float32, and frames add their columns in another order
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9, err_msg=name)


REFUSED: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "masked rows": (masked(ROWS), LABELS, {}),
    "masked scores": (masked(SCORES), HITS, {}),
    "masked logits": (masked(LOGITS), LABELS, LOGIT),
    "text": (ROWS.astype(str), LABELS, {}),
    "bytes": (ROWS.astype(bytes), LABELS, {}),
    "text in lists": (ROWS.astype(str).tolist(), LABELS, {}),
    "text as objects": (ROWS.astype(str).astype(object), LABELS, {}),
    "text in a frame": (pd.DataFrame(ROWS.astype(str)), LABELS, {}),
    "text in polars": (pl.DataFrame(ROWS.astype(str)), LABELS, {}),
    "logits as text": (LOGITS.astype(str), LABELS, LOGIT),
    "NaN": (but(ROWS, np.nan), LABELS, {}),
    "None": (but(ROWS.astype(object), None), LABELS, {}),
    "above 1": (but(ROWS, 1.5), LABELS, {}),
    "sums of rows": (ROWS * 1.01, LABELS, {}),
    "infinite logits": (but(LOGITS, np.inf), LABELS, LOGIT),
    "complex": (ROWS + 0j, LABELS, {}),
    "an endless whole number": (but(ROWS.astype(object), 10**400), LABELS, {}),
    "dates": (np.full((N, K), np.datetime64("2020-01-01")), LABELS, {}),
    "three axes": (ROWS[None], LABELS, {}),
    "no rows": (ROWS[:0], LABELS[:0], {}),
    "no columns": (ROWS[:, :0], LABELS, {}),
    "one number": (0.5, LABELS, {}),
    "one text": ("0.5", LABELS, {}),
    "nothing": (None, LABELS, {}),
    "ragged": ([[0.5, 0.5], [1.0]], [0, 1], {}),
    "a lazy frame": (pl.DataFrame(ROWS).lazy(), LABELS, {}),
    "a sparse tensor": (torch.tensor(ROWS).to_sparse(), LABELS, {}),
    "normalize=1": (ROWS, LABELS, {"normalize": 1}),
    "normalize='yes'": (ROWS, LABELS, {"normalize": "yes"}),
    "normalize=None": (ROWS, LABELS, {"normalize": None}),
    "logits=1": (LOGITS, LABELS, {"logits": 1}),
    "logits='yes'": (LOGITS, LABELS, {"logits": "yes"}),
    "logits=None": (ROWS, LABELS, {"logits": None}),
}
LABELS_REFUSED: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "no labels": (ROWS, None, {}),
    "masked labels": (ROWS, masked(LABELS), {}),
    "fewer labels": (ROWS, LABELS[1:], {}),
    "fractions": (ROWS, LABELS + 0.5, {}),
    "a missing label": (ROWS, but(LABELS.astype(float), np.nan, 3), {}),
    "one-hot labels": (ROWS, ONE_HOT, {}),
    "booleans for three classes": (ROWS, LABELS > 0, {}),
    "complex labels": (ROWS, LABELS + 0j, {}),
    "a dictionary among labels": (ROWS, but(LABELS.astype(object), {}, 3), {}),
    "one label": (ROWS, 1, {}),
    "a fourth class": (ROWS, but(LABELS, 7, 3), {}),
    "weights as text": (ROWS, LABELS, {"weights": ONES.astype(str)}),
    "masked weights": (ROWS, LABELS, {"weights": masked(ONES)}),
    "negative weights": (ROWS, LABELS, {"weights": -ONES}),
    "weights in a column": (ROWS, LABELS, {"weights": ONES[:, None]}),
    "no weight": (ROWS, LABELS, {"weights": 0 * ONES}),
    "a flag as a weight": (ROWS, LABELS, {"weights": True}),
}


@pytest.mark.parametrize("case", [*REFUSED, *LABELS_REFUSED])
def test_refused(case: str) -> None:
    X, y, options = (REFUSED | LABELS_REFUSED)[case]
    for name, call in functions_for(options, of_labels=case in LABELS_REFUSED).items():
        try:
            call(X, y, **options)
        except tu.InputError:
            continue
        pytest.fail(f"{name} accepts it")


# What scikit-learn's contract asks of recalibrators: the usual data with the same numbers.
ACCEPTED_BY_RECALIBRATORS: dict[str, tuple[Any, Any, dict[str, Any], Any, Any]] = {
    "scores in one column": (SCORES[:, None], HITS, {}, SCORES, HITS),
    "labels in one column": (ROWS, LABELS[:, None], {}, ROWS, LABELS),
    "names": (ROWS, np.array(["a", "b", "c"])[LABELS], {}, ROWS, LABELS),
    "other numbers": (ROWS, 10 * LABELS - 5, {}, ROWS, LABELS),
    "one weight": (ROWS, LABELS, {"weights": 2.0}, ROWS, LABELS),
    "tiny weights": (ROWS, LABELS, {"weights": 1e-200 * ONES}, ROWS, LABELS),
}


@pytest.mark.parametrize("case", ACCEPTED_BY_RECALIBRATORS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_policy_of_scikit_learn_accepts(case: str) -> None:
    X, y, options, usual, labels = ACCEPTED_BY_RECALIBRATORS[case]
    for call in (METRICS | WITH_NORMALIZE).values():
        with pytest.raises(tu.InputError):
            call(X, y, **options)
    for name, call in FITS.items():
        found = call(X, y, **options)
        np.testing.assert_allclose(found, call(usual, labels), rtol=1e-9, err_msg=name)


def test_policy_of_scikit_learn_warns_of_a_column_of_labels() -> None:
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        tu.TemperatureScaling().fit(ROWS, LABELS[:, None])


@pytest.mark.parametrize(
    "X", [csr_matrix(ROWS), but(ROWS.astype(object), {"a": 1})], ids=["sparse", "objects"]
)
def test_policy_of_scikit_learn_asks_for_a_type_error(X: Any) -> None:
    for call in (METRICS | WITH_NORMALIZE).values():
        with pytest.raises(tu.InputError):
            call(X, LABELS)
    for call in (FITS | ANSWERS).values():
        with pytest.raises(TypeError):
            call(X, LABELS)


def test_recalibrators_limit_logits() -> None:
    far = but(LOGITS, 1e200)
    for call in (tu.ece, read):
        assert np.isfinite(call(far, LABELS, logits=True))
    for call in (FITS | ANSWERS).values():
        with pytest.raises(tu.InputError, match=r"between -1e\+100 and 1e\+100; got 1e\+200"):
            call(far, LABELS, logits=True)
