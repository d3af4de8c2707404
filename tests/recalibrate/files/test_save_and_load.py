"""A recalibrator that was saved and loaded is bit-for-bit identical."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import pkgutil
import stat
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis.extra import numpy as arrays
from sklearn.exceptions import NotFittedError

import trueup.recalibrate
from support.plain_values import same
from trueup import atomic_write
from trueup.errors import InputError
from trueup.recalibrate.base import Recalibrator
from trueup.recalibrate.compose.groupwise import GroupwiseCalibration
from trueup.recalibrate.files import save_and_load
from trueup.recalibrate.files.encoding import DEEPEST, recalibrators
from trueup.recalibrate.files.save_and_load import load_recalibrator, save
from trueup.recalibrate.identity import IdentityCalibration

WRAPPERS = {"GroupwiseCalibration", "OneVsRestCalibration", "TopLabelCalibration"}
KINDS = ["one column", "two columns", "three classes", "five classes, logits", "names"]
METHODS = [f"predict{end}" for end in ("", "_proba", "_marginals", "_interval", "_confidence")]
# Holds a classifier, which no format without code can keep.
NOT_SAVED = {"CalibratedModel"}


def class_of(name: str) -> Any:
    return recalibrators()[name]


def made(name: str, **parameters: Any) -> Recalibrator:
    if name in WRAPPERS:
        return class_of(name)(class_of("TemperatureScaling")(), **parameters)
    if name == "AutoCalibration":
        parameters["candidates"] = {"line": class_of("PlattScaling")()}
    return class_of(name)(**parameters)


def scores(kind: str, n: int, seed: int) -> Any:
    """Scores of a kind, saturated ones among them."""
    rng = np.random.default_rng(seed)
    if kind == "one column":
        return np.r_[0.0, 1.0, rng.random(n - 2)]
    n_classes = {"two columns": 2, "three classes": 3, "names": 3}.get(kind, 5)
    logits = 3 * rng.normal(size=(n, n_classes))
    if kind == "five classes, logits":
        logits[0], logits[1, 0] = 1000 * np.eye(5)[0], -1000
        return logits
    probs = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    probs[:n_classes] = np.eye(n_classes)
    return pd.DataFrame(probs, columns=["a", "b", "c"]) if kind == "names" else probs


def fitted(name: str, kind: str, **parameters: Any) -> Recalibrator:
    X = scores(kind, 200, 0)
    n_classes = 2 if kind == "one column" else np.asarray(X).shape[1]
    labels = np.random.default_rng(1).integers(0, n_classes, 200)
    labels[::2] = np.asarray(X)[::2].argmax(axis=1) if n_classes > 2 else labels[::2]
    names: Any = np.array(["cat", "dog", "a mouse"]) if kind == "names" else np.arange(n_classes)
    if "logits" in kind:
        parameters["logits"] = True
    if kind == "names":
        parameters["classes"] = names.tolist()
    model = made(name, **parameters)
    if name == "GroupwiseCalibration":
        model.set_params(min_rows=20)
        return model.fit(X, names[labels], groups=np.arange(200) % 3)  # type: ignore[call-arg]
    return model.fit(X, names[labels])


def check_round_trip(model: Recalibrator, kind: str, folder: Path) -> None:
    path, again = folder / "model", folder / "again"
    model.save(path)
    back = load_recalibrator(path)
    assert same(back, model)
    X = scores(kind, 300, 2)
    beside = {"groups": np.arange(300) % 4} if isinstance(model, GroupwiseCalibration) else {}
    for method in METHODS:
        try:
            before = getattr(model, method)(X, **beside)
        except (AttributeError, InputError):  # not every one has every method
            continue
        assert same(getattr(back, method)(X, **beside), before)
    back.save(again)
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sorted(recalibrators()))
def test_round_trip_is_exact(name: str, kind: str, tmp_path: Path) -> None:
    check_round_trip(fitted(name, kind), kind, tmp_path)


@pytest.mark.parametrize("kind", ["one column", "three classes"])
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("BetaCalibration", {"parameters": "ab"}),
        ("HistogramBinning", {"lens": "top-label"}),
        ("IsotonicCalibration", {"accuracy_preserving": True}),
        ("PlattScaling", {"target": "platt", "loss": "squared"}),
        ("ScalingBinning", {"lens": "top-label", "split": True}),
        ("ScalingBinning", {"scaling": "TemperatureScaling"}),
        ("VennAbers", {"loss": "squared"}),
    ],
)
def test_round_trip_with_other_parameters(
    name: str, parameters: dict[str, Any], kind: str, tmp_path: Path
) -> None:
    given = {
        key: class_of(value)() if value in recalibrators() else value
        for key, value in parameters.items()
    }
    check_round_trip(fitted(name, kind, **given), kind, tmp_path)


def test_every_recalibrator_can_be_saved() -> None:
    package = trueup.recalibrate
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    concrete = {
        name
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, Recalibrator)
        and value.__module__ == module.__name__
        and not name.endswith("Recalibrator")  # as all bases are called
    }
    assert concrete - NOT_SAVED == set(recalibrators())


numbers = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just(-0.0)
)
plain_arrays = arrays.arrays(
    st.one_of(
        arrays.boolean_dtypes(),
        arrays.integer_dtypes(),
        arrays.unsigned_integer_dtypes(),
        arrays.floating_dtypes(sizes=(16, 32, 64)),
        arrays.unicode_string_dtypes(),
    ).map(lambda dtype: dtype.newbyteorder("=")),
    arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
    # NumPy drops zeros at the end of strings; so do we.
)
others = st.sampled_from(
    [
        IdentityCalibration(logits=True),
        GroupwiseCalibration(IdentityCalibration()),
        np.float32(1.1),
        np.float64("nan"),
        np.int8(-3),
        np.bool_(True),
        np.str_("text"),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(24.0).reshape(4, 6)[::2, ::3],
        np.array(["a", 1, None, 2.5, True], object),
        np.array([["a"], ["long"]], object),
        np.array(["a", "b"], "<U30"),
        np.array([], dtype="<U1"),
        np.array(["x" * 1000, *[""] * 300]),
        "\ud800",
        (),
    ]
)
values = st.recursive(
    numbers | plain_arrays | others,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("most_inside", [0, 1 << 30], ids=["safetensors", "JSON"])
def test_any_plain_value_comes_back(
    most_inside: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(save_and_load, "MOST_INSIDE", most_inside)
    path = tmp_path / "model"

    @given(values)
    def check(value: Any) -> None:
        model = IdentityCalibration().fit([0.2, 0.9], [0, 1])
        model.value_, model.array_ = value, np.zeros(1)
        save(model, path)
        if most_inside:
            assert path.read_bytes()[:1] == b"{"
        assert same(load_recalibrator(path), model)

    check()


def test_large_arrays_go_into_safetensors_that_others_can_read(tmp_path: Path) -> None:
    from safetensors import safe_open

    model = IdentityCalibration().fit([0.2, 0.9], [0, 1])
    model.matrix_ = np.random.default_rng(0).normal(size=(100, 100))
    model.save(tmp_path / "model.safetensors")
    with safe_open(str(tmp_path / "model.safetensors"), framework="np") as file:
        header = json.loads(file.metadata()["trueup"])
        number = header["recalibrator"]["learned"]["matrix_"]["array"]["tensor"]
        np.testing.assert_array_equal(file.get_tensor(str(number)), model.matrix_)
    assert same(load_recalibrator(tmp_path / "model.safetensors").matrix_, model.matrix_)


def test_what_a_file_says(tmp_path: Path) -> None:
    model = IdentityCalibration().fit([0.2, 0.9], [0, 1])
    model.save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    assert list(document) == ["format", "schema", "trueup", "recalibrator", "sha256"]
    assert document["schema"] == 2
    assert document["recalibrator"]["class"] == "IdentityCalibration"
    assert document["recalibrator"]["parameters"] == {
        "classes": None,
        "logits": False,
        "normalize": False,
    }
    assert document["recalibrator"]["learned"]["fit_"]["dict"] == model.fit_
    promised = document.pop("sha256")
    text = json.dumps(document, separators=(",", ":"))
    assert promised == hashlib.sha256(text.encode()).hexdigest()


def test_other_spaces_and_line_ends_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    IdentityCalibration().fit([0.2, 0.9], [0, 1]).save(path)
    for text in (
        json.dumps(json.loads(path.read_text())),
        path.read_text().replace("\n", "\r\n"),
    ):
        path.write_bytes(text.encode())
        load_recalibrator(path)


class Own(IdentityCalibration):
    """Not one of the library's classes."""


@pytest.mark.parametrize(
    "value", [object(), 1 + 2j, {1: 2}, np.array([1j]), b"a", {1}, print, Own()]
)
def test_what_is_not_plain_is_refused_and_nothing_written(value: object, tmp_path: Path) -> None:
    model = IdentityCalibration().fit([0.2, 0.9], [0, 1])
    model.value_ = value
    with pytest.raises(InputError, match="`value_` must contain only plain values"):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_endless_nesting_is_refused(tmp_path: Path) -> None:
    model = IdentityCalibration().fit([0.2, 0.9], [0, 1])
    model.value_ = []
    model.value_.append(model.value_)
    with pytest.raises(InputError, match="nested at most"):
        model.save(tmp_path / "model")


def test_the_deepest_nesting_that_is_written_is_read(tmp_path: Path) -> None:
    model = IdentityCalibration().fit([0.2, 0.9], [0, 1])
    value: Any = np.array(["a", None], object)
    for _ in range((DEEPEST - 2) // 2):
        value = ({"a": value},)
    model.value_ = value
    model.save(tmp_path / "model")
    assert same(load_recalibrator(tmp_path / "model").value_, value)
    model.value_ = ({"a": value},)
    with pytest.raises(InputError, match="nested at most"):
        model.save(tmp_path / "model")


def test_other_things_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        IdentityCalibration().save(tmp_path / "model")
    with pytest.raises(InputError, match="one of trueup's recalibrators"):
        save(Own().fit([0.2, 0.9], [0, 1]), tmp_path / "model")
    with pytest.raises(InputError, match="one of trueup's recalibrators"):
        save([1], tmp_path / "model")


def test_what_could_not_be_loaded_is_not_saved(tmp_path: Path) -> None:
    model = IdentityCalibration().fit([0.2, 0.9], [0, 1])
    model.logits = "nonsense"
    with pytest.raises(InputError, match="cannot be saved"):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("step", ["fsync", "replace", "fdopen"])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model"
    IdentityCalibration().fit([0.2, 0.9], [0, 1]).save(path)
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic_write.os, step, fail)
    with pytest.raises(OSError, match="No space left"):
        IdentityCalibration(logits=True).fit([0.2, 0.9], [0, 1]).save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["model"]


@pytest.mark.skipif(os.name == "nt", reason="permissions and links of POSIX")
def test_permissions_and_links_stay(tmp_path: Path) -> None:
    model, path, link = (
        IdentityCalibration().fit([0.2, 0.9], [0, 1]),
        tmp_path / "a",
        tmp_path / "b",
    )
    before = os.umask(0o027)
    try:
        model.save(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    link.symlink_to(path)
    model.set_params(logits=True).save(link)
    assert link.is_symlink()
    assert load_recalibrator(path).logits
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


@pytest.mark.parametrize("path", [None, 3, "", b"bytes", "a\0b", ["a"]])
def test_what_is_no_path(path: object) -> None:
    with pytest.raises(InputError, match="`path` must be the name of a file"):
        load_recalibrator(path)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="`path` must be the name of a file"):
        IdentityCalibration().fit([0.2, 0.9], [0, 1]).save(path)  # type: ignore[arg-type]


def test_the_fingerprint_is_that_of_scores_labels_and_weights() -> None:
    probs, labels = np.linspace(0.1, 0.9, 9), np.arange(9) % 2

    def digits(X: Any, y: Any, weights: Any = None, logits: bool = False) -> str:
        return IdentityCalibration(logits=logits).fit(X, y, weights).fit_["fingerprint"]

    first = digits(probs, labels)
    assert digits(probs.tolist(), labels == 1) == first
    others = {
        digits(probs, labels, np.arange(1, 10)),
        digits(probs, labels, np.arange(2, 11)),
        digits(probs, 1 - labels),
        digits(np.append(probs[:-1], 0.8), labels),
        digits(probs, labels, logits=True),
        digits(probs.astype(np.float32), labels),
    }
    assert len(others | {first}) == 7
