"""Input of recalibrators: what is accepted, and one clear sentence for what is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from scipy.sparse import csr_matrix

from trueup import Forecasts, InputError
from trueup.recalibrate.identity import IdentityCalibration
from trueup.recalibrate.scaling.platt import PlattScaling
from trueup.recalibrate.scaling.temperature import TemperatureScaling

RNG = np.random.default_rng(0)
PROBS = RNG.dirichlet([1, 1, 1], size=40)
LABELS = (np.log(PROBS) + RNG.gumbel(size=PROBS.shape)).argmax(axis=1)
SCORES = PROBS[:, 1]
HITS = (LABELS == 1).astype(int)
ONES = np.ones(40)
NAMES = np.array(["ant", "bee", "cat"])


def but(array: np.ndarray, place: Any, value: Any) -> np.ndarray:
    changed = array.copy()
    changed[place] = value
    return changed


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (PROBS.tolist(), LABELS.tolist()),
        (pd.DataFrame(PROBS, index=range(7, 47)), pd.Series(LABELS, index=range(7, 47))),
        (pl.DataFrame(PROBS), pl.Series(LABELS)),
        (torch.tensor(PROBS, requires_grad=True), torch.tensor(LABELS)),
        (np.asfortranarray(PROBS), LABELS[:, None].ravel().astype(np.uint8)),
        (PROBS.astype(">f8"), LABELS.astype(float)),
        (PROBS.astype(object), LABELS.astype(object)),
        (Forecasts.from_arrays(PROBS, LABELS), None),
    ],
    ids=["lists", "pandas", "polars", "torch", "fortran", "big-endian", "objects", "Forecasts"],
)
def test_the_same_numbers_in_any_container(X: Any, y: Any) -> None:
    found = PlattScaling().fit(X, y)
    expected = PlattScaling().fit(PROBS, LABELS).predict_proba(PROBS)
    assert np.array_equal(found.predict_proba(X), expected)


@pytest.mark.parametrize(
    "names", [NAMES[LABELS], pd.Categorical(NAMES[LABELS]), pl.Series(NAMES[LABELS])]
)
def test_names_are_sorted_or_in_the_order_of_classes(names: Any) -> None:
    found = PlattScaling().fit(PROBS, names)
    assert found.classes_.tolist() == NAMES.tolist()
    expected = PlattScaling().fit(PROBS, LABELS).predict_proba(PROBS)
    assert np.array_equal(found.predict_proba(PROBS), expected)
    order = [2, 0, 1]
    turned = PlattScaling(classes=NAMES[order].tolist()).fit(PROBS[:, order], names)
    assert turned.classes_.tolist() == NAMES[order].tolist()
    np.testing.assert_allclose(turned.predict_proba(PROBS[:, order]), expected[:, order])


def test_sums_of_rows_are_mended_within_rounding_alone() -> None:
    found = PlattScaling().fit(PROBS, LABELS)
    expected = found.predict_proba(PROBS)
    for off in (1 + 2e-6, 1 - 2.9e-6):
        np.testing.assert_allclose(found.predict_proba(PROBS * off), expected, atol=1e-12)
    for off in (1 + 5e-5, 1 - 9e-4, 0.99):
        with pytest.raises(InputError, match="sum to 1 in every row"):
            found.predict_proba(PROBS * off)
        divided = PlattScaling(normalize=True).fit(PROBS, LABELS).predict_proba(PROBS * off)
        np.testing.assert_allclose(divided, expected, atol=1e-12)


def test_float32_rows_sum_to_one_in_float64() -> None:
    rows = IdentityCalibration().fit(PROBS, LABELS).predict_proba(PROBS.astype(np.float32))
    assert np.abs(rows.sum(axis=1) - 1).max() < 1e-13


def test_one_number_is_the_weight_of_every_row() -> None:
    found = PlattScaling().fit(PROBS, LABELS, 2.0).predict_proba(PROBS)
    assert np.array_equal(found, PlattScaling().fit(PROBS, LABELS, 2 * ONES).predict_proba(PROBS))


REFUSED: dict[str, tuple[Callable[[TemperatureScaling], object], str]] = {
    "NaN": (
        lambda m: m.fit(but(PROBS, (3, 1), np.nan), LABELS),
        "`X` must be between 0 and 1; got nan in row 3. "
        "Hint: drop or repair rows that contain NaN or infinity.",
    ),
    "above 1": (
        lambda m: m.fit(but(PROBS, (3, 1), 1.5), LABELS),
        "`X` must be between 0 and 1; got 1.5 in row 3. "
        "Hint: pass logits=True to TemperatureScaling if these are raw scores.",
    ),
    "huge logits": (
        lambda m: m.set_params(logits=True).fit(but(PROBS, (3, 1), 1e200), LABELS),
        "`X` must be between -1e+100 and 1e+100; got 1e+200 in row 3.",
    ),
    "three axes": (
        lambda m: m.fit(PROBS[None], LABELS),
        "`X` must have shape (n,) or (n, K); got an array of shape (1, 40, 3).",
    ),
    "no axis": (
        lambda m: m.fit(0.5, [1]),
        "`X` must be an array with one entry or row per sample; got a float.",
    ),
    "no rows": (
        lambda m: m.fit(np.empty((0, 3)), []),
        "`X` must have at least one row; got an array of shape (0, 3).",
    ),
    "text": (lambda m: m.fit(["a", "b"], [0, 1]), "`X` must hold real numbers; got 'a' in row 0."),
    "text in a frame": (
        lambda m: m.fit(pd.DataFrame({"a": ["x"] * 40, "b": SCORES}), HITS),
        "`X` must hold real numbers; got 'x' in row 0.",
    ),
    "ragged": (
        lambda m: m.fit([[0.5, 0.5], [1.0]], [0, 1]),
        "`X` must be rectangular; got rows of different lengths. Hint: check for missing entries.",
    ),
    "X and y exchanged": (
        lambda m: m.fit(LABELS, PROBS),
        "`y` must be one class per row; got an array of shape (40, 3). Hint: predictions come "
        "first, classes second; for one-hot rows, pass y.argmax(axis=1).",
    ),
    "scores as labels": (
        lambda m: m.fit(HITS, but(SCORES, 0, 0.25)),
        "`y` must be whole numbers; got 0.25 in row 0. Hint: Unknown label "
        "type: continuous values belong in X; predictions come first, classes second.",
    ),
    "a label too large": (
        lambda m: m.fit(PROBS, but(LABELS, 5, 3)),
        "`y` must be whole numbers from 0 to 2, or 3 different names; got 3 in row 5. "
        "Hint: pass `classes` to TemperatureScaling, in the order of the columns, if labels have "
        "other names.",
    ),
    "labels from 1": (
        lambda m: m.fit(PROBS[:3], [1, 3, 1]),
        "`y` must be whole numbers from 0 to 2, or 3 different names; got 3 in row 1. "
        "Hint: subtract 1 from labels that count from 1.",
    ),
    "three names, two columns": (
        lambda m: m.fit(np.column_stack([1 - SCORES, SCORES]), NAMES[LABELS]),
        "`y` must be 2 different names; got 3. "
        "Hint: pass `classes` to TemperatureScaling, the names in the order of the columns.",
    ),
    "three names, one column": (
        lambda m: m.fit(SCORES, NAMES[LABELS]),
        "`y` must be 2 different names; got 3. "
        "Hint: pass `classes` to TemperatureScaling, the names in the order of the columns.",
    ),
    "numbers and names": (
        lambda m: m.fit(SCORES[:2], np.array([1, "a"], object)),
        "`y` must be numbers or names, not both; got 1 and 'a' in row 1.",
    ),
    "a missing label": (
        lambda m: m.fit(PROBS, but(LABELS.astype(object), 5, None)),
        "`y` must be present in every row; got None in row 5. Hint: drop such rows.",
    ),
    "fewer labels": (
        lambda m: m.fit(PROBS, LABELS[:-1]),
        "`y` must be as long as `X`, which has 40 rows; got 39 rows.",
    ),
    "unknown input": (
        lambda m: m.set_params(logits="prob").fit(PROBS, LABELS),
        "`logits` must be True or False; got 'prob'.",
    ),
    "a name twice": (
        lambda m: m.set_params(classes=["a", "a", "b"]).fit(PROBS, LABELS),
        "`classes` must be a list of different names; got 'a' twice.",
    ),
    "a name not listed": (
        lambda m: m.set_params(classes=["cat", "bee", "dog"]).fit(PROBS[:2], ["bee", "ant"]),
        "`y` must be among the names in `classes`; got 'ant' in row 1. "
        "Hint: names must match exactly, including capitals and spaces.",
    ),
    "a negative weight": (
        lambda m: m.fit(PROBS, LABELS, but(ONES, 4, -1)),
        "`sample_weight` must be finite and at least 0; got -1.0 in row 4. "
        "Hint: a weight of 0 drops a row.",
    ),
    "an infinite weight": (
        lambda m: m.fit(PROBS, LABELS, but(ONES, 4, np.inf)),
        "`sample_weight` must be finite and at least 0; got inf in row 4. "
        "Hint: a weight of 0 drops a row.",
    ),
    "no weight": (
        lambda m: m.fit(PROBS, LABELS, 0 * ONES),
        "`sample_weight` must contain a positive value; all are zero.",
    ),
    "fewer weights": (
        lambda m: m.fit(PROBS, LABELS, ONES[1:]),
        "`sample_weight` must be as long as `X`, which has 40 rows; got 39 rows.",
    ),
    "weights in two columns": (
        lambda m: m.fit(PROBS, LABELS, np.ones((40, 2))),
        "`sample_weight` must be one number per row; got an array of shape (40, 2).",
    ),
    "one row without its brackets": (
        lambda m: m.fit(PROBS, LABELS).predict_proba(PROBS[0]),
        "`X` must have shape (n, 3), as in `fit`; got an array of shape (3,). "
        "Hint: Reshape your data with X.reshape(1, -1) if it is one row.",
    ),
    "labels with Forecasts": (
        lambda m: m.fit(Forecasts.from_arrays(PROBS, LABELS), LABELS),
        "If `X` is a Forecasts, pass no other data. "
        "Hint: pass labels and weights to Forecasts.from_arrays.",
    ),
    "Forecasts without logits": (
        lambda m: m.set_params(logits=True).fit(Forecasts.from_arrays(PROBS, LABELS)),
        "`X` must come from logits for logits=True; got probabilities.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_one_clear_sentence(case: str) -> None:
    attempt, sentence = REFUSED[case]
    with pytest.raises(InputError) as caught:
        attempt(TemperatureScaling())
    assert str(caught.value) == sentence


def test_words_that_scikit_learn_asks_for() -> None:
    model = TemperatureScaling()
    with pytest.raises(ValueError, match="Complex data not supported"):
        model.fit(PROBS + 1j, LABELS)
    with pytest.raises(TypeError, match="Sparse data was passed for X"):
        model.fit(csr_matrix(PROBS), LABELS)
    with pytest.raises(ValueError, match="requires y to be passed"):
        model.fit(PROBS)
    model.fit(pd.DataFrame(PROBS, columns=list("abc")), LABELS)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict_proba(pd.DataFrame(PROBS, columns=list("abd")))
    model.fit(PROBS, LABELS)
    with pytest.raises(ValueError, match="X has 2 features, but TemperatureScaling is expecting 3"):
        model.predict_proba(PROBS[:, :2])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 1500, 3999])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logits_are_read_in_parts_and_the_row_is_named(dtype: type, row: int, bad: float) -> None:
    z = np.random.default_rng(1).standard_normal((4000, 100)).astype(dtype)
    labels = np.arange(4000) % 100
    model = TemperatureScaling(logits=True).fit(z, labels)
    with pytest.raises(InputError, match=f"finite; got .* in row {row}"):
        model.predict_proba(but(z, (row, 7), bad))


@pytest.mark.parametrize("names", [("cat", "dog", "eel"), ("dog", "cat", "eel"), (2, 0, 1)])
def test_forecasts_keep_the_order_of_their_columns(names: tuple[Any, ...]) -> None:
    rng = np.random.default_rng(0)
    probs = rng.dirichlet([1, 1, 1], 300)
    numbers = (rng.random((300, 1)) > probs.cumsum(axis=1)).sum(axis=1)
    by_name = Forecasts.from_arrays(probs, np.array(names)[numbers], classes=names)
    found = TemperatureScaling().fit(by_name)
    assert found.temperature_ == TemperatureScaling().fit(probs, numbers).temperature_
    assert found.classes_.tolist() == list(names)
    assert found.predict(probs).tolist() == [names[k] for k in probs.argmax(axis=1)]


def test_forecasts_may_lack_a_class_they_name() -> None:
    data = Forecasts.from_arrays(
        [[0.2, 0.5, 0.3], [0.3, 0.5, 0.2]], ["b", "a"], classes=["b", "a", "c"]
    )
    assert TemperatureScaling().fit(data).classes_.tolist() == ["b", "a", "c"]


def test_classes_in_another_order_than_those_of_forecasts_are_refused() -> None:
    data = Forecasts.from_arrays([[0.2, 0.8], [0.6, 0.4]], ["b", "a"], classes=["b", "a"])
    with pytest.raises(InputError, match="`classes` must be None, or those of the Forecasts"):
        TemperatureScaling(classes=["a", "b"]).fit(data)
