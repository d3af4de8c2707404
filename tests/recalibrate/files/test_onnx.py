"""ONNX graphs answer as the recalibrators do."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trueup import atomic_write
from trueup.errors import CapabilityError, InputError
from trueup.recalibrate.files.encoding import recalibrators
from trueup.recalibrate.files.onnx import ANSWERS, to_onnx

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

NAMES = sorted(ANSWERS)


def made(name: str, **parameters: Any) -> Any:
    return recalibrators()[name](**parameters)


def logits(n: int, columns: int, seed: int, scale: float) -> np.ndarray:
    """Rows of every size: many like a network's, some saturated, tied, or constant."""
    z = scale * np.random.default_rng(seed).normal(size=(n, columns))
    z[1] = 0
    z[2, 0] = 1000
    z[3, -1] = -1000
    z[4] = 1000
    z[5, 0], z[6, -1] = 100, 30
    z[7] = z[7, 0]
    z[8, :2] = z[8].max() + 5
    return z.astype(np.float32)


def probs(n: int, columns: int, seed: int) -> np.ndarray:
    """Rows that sum to 1 in float32, or almost, with zeros and ones among them."""
    if columns == 1:
        p = np.random.default_rng(seed).random((n, 1))
        p[:4, 0] = 0, 1, 1e-9, 1 - 1e-7
        return p.astype(np.float32)
    z = 3 * np.random.default_rng(seed).normal(size=(n, columns))
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    p[:columns] = np.eye(columns)
    p[columns] = np.r_[0.5, 0.5, np.zeros(columns - 2)]
    p[columns + 1 : columns + 9] *= 1 + 4e-4 * np.linspace(-1, 1, 8)[:, None]
    return p.astype(np.float32)


def fitted(name: str, kind: str, columns: int, **parameters: Any) -> tuple[Any, np.ndarray]:
    n_classes = max(columns, 2)
    data = (probs if kind == "probs" else logits)(300, columns, 0, *[3.0][: kind == "logits"])
    rng = np.random.default_rng(1)
    if columns == 1:
        middle = 0.5 if kind == "probs" else 0.0
        labels = np.where(rng.random(300) < 0.7, data[:, 0] > middle, rng.random(300) < 0.5)
    else:
        labels = np.where(rng.random(300) < 0.7, data.argmax(axis=1), rng.integers(0, columns, 300))
    labels[:n_classes] = np.arange(n_classes)
    model = made(name, logits=kind == "logits", **parameters).fit(data, labels.astype(int))
    return model, data


def run(path: Path, rows: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    (answer,) = session.run(["probabilities"], {given.name: rows})
    return answer


def check(model: Any, rows: np.ndarray, folder: Path) -> None:
    to_onnx(model, folder / "model.onnx")
    answer = run(folder / "model.onnx", rows)
    assert answer.dtype == np.float32
    np.testing.assert_allclose(answer, model.predict_proba(rows), rtol=0, atol=1e-6)


@pytest.mark.parametrize("columns", [1, 2, 3, 7])
@pytest.mark.parametrize("kind", ["probs", "logits"])
@pytest.mark.parametrize("name", NAMES)
def test_answers_agree(name: str, kind: str, columns: int, tmp_path: Path) -> None:
    model, data = fitted(name, kind, columns)
    check(model, data, tmp_path)
    fresh = probs(200, columns, 5) if kind == "probs" else logits(200, columns, 5, 10.0)
    check(model, fresh, tmp_path)
    check(model, fresh[:1], tmp_path)


@pytest.mark.parametrize("columns", [1, 2, 4])
@pytest.mark.parametrize("kind", ["probs", "logits"])
@pytest.mark.parametrize("parameters", ["ab", "am"])
def test_other_beta_curves(parameters: str, kind: str, columns: int, tmp_path: Path) -> None:
    model, data = fitted("BetaCalibration", kind, columns, parameters=parameters)
    check(model, data, tmp_path)


def test_a_row_of_zeros_keeps_its_probabilities(tmp_path: Path) -> None:
    model, data = fitted("PlattScaling", "logits", 3)
    model.maps_ = [learned | {"intercept": -2000.0} for learned in model.maps_]
    check(model, data[10:], tmp_path)


def test_many_classes(tmp_path: Path) -> None:
    model, data = fitted("TemperatureScaling", "logits", 100)
    check(model, data, tmp_path)
    model, data = fitted("PlattScaling", "logits", 40)
    check(model, data, tmp_path)


def test_what_a_file_says(tmp_path: Path) -> None:
    model, _ = fitted("TemperatureScaling", "probs", 3)
    model.classes_ = np.array(["a", "b", "c"])
    to_onnx(model, tmp_path / "model.onnx")
    found = onnx.load(tmp_path / "model.onnx")
    onnx.checker.check_model(found, full_check=True)
    assert found.producer_name == "trueup"
    about = {entry.key: entry.value for entry in found.metadata_props}
    assert about["recalibrator"] == "TemperatureScaling"
    assert json.loads(about["classes"]) == ["a", "b", "c"]
    assert [value.name for value in found.graph.input] == ["probs"]
    assert [value.name for value in found.graph.output] == ["probabilities"]


def test_other_recalibrators_have_no_graph(tmp_path: Path) -> None:
    model = made("IsotonicCalibration").fit([0.2, 0.9], [0, 1])
    for wrong in (model, None, "TemperatureScaling"):
        with pytest.raises(InputError, match="`recalibrator` must be one of BetaCalibration"):
            to_onnx(wrong, tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(CapabilityError, match=r"Hint: pip install onnx"):
        to_onnx(made("TemperatureScaling").fit([0.2, 0.9], [0, 1]), tmp_path / "model.onnx")


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic_write.os, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        to_onnx(made("TemperatureScaling").fit([0.2, 0.9], [0, 1]), tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())
