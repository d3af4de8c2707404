"""The same rule for rows, labels and weights wherever data come in (decision 013)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import trueup as tu
from trueup.io import write_table

RNG = np.random.default_rng(0)
N, K = 30, 4
ROWS = RNG.dirichlet(np.ones(K), N)
LABELS = np.arange(N) % K

Accept = Callable[..., Any]
ENTRIES: dict[str, Accept] = {
    "Forecasts.from_arrays": lambda p, y, **options: tu.Forecasts.from_arrays(p, y, **options),
    "a recalibrator": lambda p, y, **options: tu.TemperatureScaling(**options).fit(p, y),
    "evaluate": lambda p, y, **options: tu.evaluate(
        p, y, metrics=(), n_resamples=39, recalibrate=False, advice=False, **options
    ),
}
each_entry = pytest.mark.parametrize("accept", ENTRIES.values(), ids=ENTRIES.keys())


def off_by(amount: float, kind: Any) -> Any:
    """Rows in float64 of which one sums to 1 + amount, in a type of which they are exact."""
    rows = np.full((N, K), 1 / K)
    rows[7, 0] += amount
    return torch.tensor(rows).to(kind) if isinstance(kind, torch.dtype) else rows.astype(kind)


@each_entry
@pytest.mark.parametrize(
    ("kind", "tolerance"),
    [
        (np.float64, 1e-6 * K),
        (np.float32, 1e-3),
        (np.float16, 1e-3),
        (torch.float64, 1e-6 * K),
        (torch.float32, 1e-3),
        (torch.float16, 1e-3),
        (torch.bfloat16, 2.0**-8),
    ],
    ids=str,
)
def test_tolerance_is_that_of_the_callers_type(accept: Accept, kind: Any, tolerance: float) -> None:
    step = {2.0**-8: 2.0**-8, 1e-3: 2.0**-11}.get(tolerance, 0.9 * tolerance)
    accept(off_by(step, kind), LABELS)
    with pytest.raises(tu.InputError, match=r"must sum to 1 in every row; got 1.* in row 7"):
        accept(off_by(4 * step, kind), LABELS)
    accept(off_by(4 * step, kind), LABELS, normalize=True)


@each_entry
def test_a_list_is_of_float64_and_a_frame_of_its_type(accept: Accept) -> None:
    with pytest.raises(tu.InputError, match="sum to 1"):
        accept(off_by(1e-4, np.float64).tolist(), LABELS)
    accept(pd.DataFrame(off_by(2.0**-11, np.float32)), LABELS)
    accept(pd.DataFrame(off_by(2.0**-11, np.float16)), LABELS)


@each_entry
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_half_precision_is_recognized(accept: Accept, kind: type) -> None:
    told = torch.tensor(ROWS).to(torch.bfloat16).to(torch.float32).numpy().astype(kind)
    with pytest.raises(tu.InputError) as refused:
        accept(told, LABELS)
    assert refused.value.mentions("normalize")
    assert "these look like half-precision probabilities; pass normalize=True" in str(refused.value)
    accept(told, LABELS, normalize=True)
    with pytest.raises(tu.InputError, match="if the values are rounded"):
        accept(off_by(2.0**-8, kind), LABELS)


def test_half_precision_in_a_file(tmp_path: Path) -> None:
    rows = torch.tensor(ROWS).to(torch.bfloat16).to(torch.float32).numpy()
    write_table(tmp_path / "p.parquet", {"p": rows, "y": LABELS})
    with pytest.raises(tu.InputError, match=r"pass normalize=True; if the columns p_0, p_1, p_2"):
        tu.read(tmp_path / "p.parquet")
    assert tu.read(tmp_path / "p.parquet", normalize=True).n == N


@each_entry
def test_long_rows_of_bfloat16(accept: Accept) -> None:
    """Rounding errors of many entries cancel: the tolerance does not grow with their number."""
    rows = torch.softmax(torch.tensor(RNG.normal(size=(200, 1000))), dim=1).to(torch.bfloat16)
    accept(rows, np.arange(200))


@each_entry
@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (LABELS.astype(float) + 0.5, "must be whole numbers; got 0.5 in row 0"),
        (np.where(LABELS == 2, np.nan, LABELS), "must be present in every row; got nan in row 2"),
        (LABELS[:-1], "must be as long as"),
        (LABELS > 1, "whole numbers from 0 to 3; got booleans"),
        (np.eye(K)[LABELS][:, None], "must be one class per row"),
    ],
)
def test_labels(accept: Accept, labels: Any, words: str) -> None:
    with pytest.raises(tu.InputError, match=words):
        accept(ROWS, labels)


def test_names_are_classes_for_scikit_learn_alone() -> None:
    """Its contract: K different labels of any kind, in sorted order."""
    for labels in (LABELS + 1, np.array(list("dbca"))[LABELS], 10 * LABELS - 5):
        fitted = tu.TemperatureScaling().fit(ROWS, labels)
        assert fitted.classes_.tolist() == np.unique(labels).tolist()
        with pytest.raises(tu.InputError):
            tu.Forecasts.from_arrays(ROWS, labels)
        named = tu.Forecasts.from_arrays(ROWS, labels, classes=np.unique(labels).tolist())
        again = tu.TemperatureScaling().fit(named)
        assert again.temperature_ == fitted.temperature_
    few = np.array(["a", "b", "c", "c"])[LABELS]
    with pytest.raises(tu.InputError, match=r"`y` must be 4 different names; got 3\. Hint: pass"):
        tu.TemperatureScaling().fit(ROWS, few)
    classes = ["a", "b", "c", "d"]
    assert tu.TemperatureScaling(classes=classes).fit(ROWS, few).classes_.tolist() == classes


@pytest.mark.parametrize("model", [tu.TemperatureScaling, tu.IsotonicCalibration])
def test_normalize_is_saved_and_applied(model: Any, tmp_path: Path) -> None:
    fitted = model(normalize=True).fit(3 * ROWS / 4, LABELS)
    fitted.save(tmp_path / "m.json")
    again = tu.load_recalibrator(tmp_path / "m.json")
    assert again.normalize
    np.testing.assert_allclose(
        again.predict_proba(ROWS / 2), model().fit(ROWS, LABELS).predict_proba(ROWS), atol=1e-9
    )
