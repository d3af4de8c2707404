"""Hostile files in a valid format: nothing is run, set or allocated."""

from __future__ import annotations

import json
import os
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.saved_files import signed
from trueup.errors import InputError
from trueup.recalibrate.files import save_and_load
from trueup.recalibrate.files.save_and_load import load_recalibrator
from trueup.recalibrate.identity import IdentityCalibration


def small(saved: Any) -> dict[str, Any]:
    return json.loads(saved["small"][1])


@pytest.mark.parametrize(
    "name", ["os.system", "__class__", "Recalibrator", "BaseEstimator", "builtins.eval", "", "🐍"]
)
def test_other_classes_are_not_made(name: str, saved: Any, attempt: Any) -> None:
    document = small(saved)
    document["recalibrator"]["class"] = name
    assert attempt(signed(document)) is None
    document = small(saved)
    document["recalibrator"]["learned"]["inner_"]["recalibrator"]["class"] = name
    assert attempt(signed(document)) is None


@pytest.mark.parametrize(
    "name",
    ["__class__", "__dict__", "_probs_of", "fit", "predict_", "a.b_", "a b_", "__reduce_", "_"],
)
def test_other_attributes_are_not_set(name: str, saved: Any, attempt: Any) -> None:
    document = small(saved)
    document["recalibrator"]["learned"][name] = 1
    found = attempt(signed(document))
    # Any name that could be learned may be there; it is never looked up by the library.
    assert found is None or name == "predict_"


@pytest.mark.parametrize(
    "array",
    [
        {"dtype": "<f8", "shape": [10**9], "values": [1.0]},
        {"dtype": "<f8", "shape": [2**31, 2**31, 2**31], "values": []},
        {"dtype": "<f8", "shape": [0, 2**31 - 1, 2**31 - 1, 2**31 - 1], "values": []},
        {"dtype": "<U999999999", "shape": [0], "base64": ""},
        {"dtype": "<U999999999", "shape": [1], "base64": "AAAA"},
        {"dtype": "<U9999999999999", "shape": [1], "base64": "AAAA"},
        {"dtype": "<f8", "shape": [-1], "values": [1.0]},
        {"dtype": "<f8", "shape": [True], "values": [1.0]},
        {"dtype": "<f8", "shape": [1] * 100, "values": [1.0]},
        {"dtype": "<f8", "shape": [1], "tensor": 0},
        {"dtype": "<f8", "shape": [1], "base64": "AAAAAAAA"},
        {"dtype": "<f8", "shape": [1], "base64": "é"},
        {"dtype": "<f8", "shape": [1], "values": ["1.0"]},
        {"dtype": "<f4", "shape": [1], "values": [1e300]},
        {"dtype": "|u1", "shape": [1], "values": [256]},
        {"dtype": "|b1", "shape": [1], "values": [1]},
        {"dtype": "<M8[ns]", "shape": [1], "base64": "AAAAAAAAAAA="},
        {"dtype": "f8,(9999999,)f8", "shape": [0], "base64": ""},
        {"dtype": "|V99999999", "shape": [0], "base64": ""},
    ],
)
def test_arrays_that_are_not_what_they_say(array: Any, saved: Any, attempt: Any) -> None:
    document = small(saved)
    document["recalibrator"]["learned"]["array_"] = {"array": array}
    tracemalloc.start()
    found = attempt(signed(document))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found is None or found.array_.size == 0
    assert peak < 20 << 20


def test_strings_cannot_grow(saved: Any, attempt: Any) -> None:
    document = small(saved)
    text = {"shape": [20_001], "items": ["x" * 100_000, *[""] * 20_000]}
    document["recalibrator"]["learned"]["array_"] = {"text": text}
    tracemalloc.start()
    assert attempt(signed(document)) is None
    assert tracemalloc.get_traced_memory()[1] < 50 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("brackets", ["[]", '{"tuple":[]}', '{"a":}'])
@pytest.mark.parametrize("limit", [None, 10**6])
def test_deep_nesting(brackets: str, limit: int | None, saved: Any, attempt: Any) -> None:
    middle = len(brackets.rstrip("]}"))
    opened, closed = brackets[:middle] * 100_000, brackets[middle:] * 100_000
    text = saved["small"][1].decode()
    inside = text.replace('"notes_": []', '"notes_": ' + opened + closed)
    assert inside != text
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(limit or before)
    try:
        for content in (opened + closed, opened, inside):
            assert attempt(content.encode()) is None
    finally:
        sys.setrecursionlimit(before)


@pytest.mark.parametrize("depth", [21, 30, 79, 80, 81, 500])
def test_nesting_with_a_right_checksum(depth: int, saved: Any, attempt: Any) -> None:
    document, value = small(saved), []
    for _ in range(depth):
        value = [value]
    document["recalibrator"]["learned"]["values_"] = value
    found = attempt(signed(document))
    assert found is None or depth < 80


def test_what_python_reads_and_json_is_not(saved: Any, attempt: Any) -> None:
    text = saved["small"][1].decode()
    assert attempt(text.encode()) is not None
    for token in ("NaN", "Infinity", "-Infinity", "1e999", "9" * 5000):
        assert attempt(text.replace("2.5", token).encode()) is None
    assert attempt(text.replace('"schema": 2,', '"schema": 2, "schema": 2,').encode()) is None
    assert attempt(text.replace('"dtype": ', '"dtype": "<f4", "dtype": ').encode()) is None
    assert attempt(text.encode("utf-16")) is None
    assert attempt(text.encode() + b"{}") is None
    assert attempt(b"") is None
    assert attempt(b"\0" * 100) is None
    assert attempt(b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00cos\nsystem\n") is None


def test_a_newer_file_says_so(saved: Any, tmp_path: Path) -> None:
    document = small(saved) | {"schema": 3, "trueup": "9.1", "more": {}}
    (tmp_path / "model").write_bytes(signed(document))
    with pytest.raises(InputError, match=r"newer trueup, 9\.1: upgrade trueup"):
        load_recalibrator(tmp_path / "model")


@pytest.mark.parametrize("schema", [0, -1, True, 2.0, "2", None, [2]])
def test_versions_that_are_none(schema: Any, saved: Any, attempt: Any) -> None:
    assert attempt(signed(small(saved) | {"schema": schema})) is None


def container(tensors: dict[str, np.ndarray], text: str) -> bytes:
    from safetensors.numpy import save

    return save(tensors, metadata={"trueup": text})


def test_containers_whose_parts_disagree(saved: Any, attempt: Any) -> None:
    from safetensors.numpy import load as tensors_in

    content = saved["large"][1]
    length = int.from_bytes(content[:8], "little")
    text = json.loads(content[8 : 8 + length])["__metadata__"]["trueup"]
    tensors = {name: array.copy() for name, array in tensors_in(content).items()}

    def changed(change: Callable[[dict[str, Any], dict[str, Any]], None]) -> bytes:
        document, arrays = json.loads(text), dict(tensors)
        change(document, arrays)
        rest = {key: value for key, value in document.items() if key != "sha256"}
        in_order = [arrays[str(k)] for k in range(len(arrays)) if str(k) in arrays]
        total = save_and_load._checksum(rest, in_order)
        return container(arrays, json.dumps(rest | {"sha256": total}))

    learned = json.loads(text)["recalibrator"]["learned"]
    number = learned["matrix_"]["array"]["tensor"]

    def array_of(document: dict[str, Any]) -> dict[str, Any]:
        return document["recalibrator"]["learned"]["matrix_"]["array"]

    assert attempt(changed(lambda d, a: None)) is not None
    assert attempt(changed(lambda d, a: a.update({"more": np.zeros(3)}))) is None
    assert attempt(changed(lambda d, a: a.update({str(len(a)): np.zeros(3)}))) is None
    assert attempt(changed(lambda d, a: a.pop(str(number)))) is None
    assert attempt(changed(lambda d, a: a.update({str(number): np.zeros((200, 51))}))) is None
    assert attempt(changed(lambda d, a: a.update({str(number): np.zeros((200, 50), int)}))) is None
    assert attempt(changed(lambda d, a: array_of(d).update(tensor=99))) is None
    assert attempt(changed(lambda d, a: array_of(d).update(tensor="0"))) is None
    assert attempt(changed(lambda d, a: array_of(d).update(shape=[50, 201]))) is None
    assert attempt(changed(lambda d, a: d["recalibrator"]["learned"].pop("matrix_"))) is None
    assert attempt(container(tensors, "")) is None
    assert attempt(container(tensors, "[" * 100_000)) is None
    altered = dict(tensors)
    altered[str(number)] = -altered[str(number)]
    assert attempt(container(altered, text)) is None
    # A length that is larger than the file, and as large as lengths go.
    assert attempt((2**40).to_bytes(8, "little") + content[8:]) is None
    assert attempt((2**63).to_bytes(8, "little") + content[8:]) is None


@pytest.mark.skipif(os.name == "nt", reason="pipes and devices of POSIX")
def test_paths_that_are_no_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_recalibrator(tmp_path / "none")
    with pytest.raises(IsADirectoryError, match="is a directory"):
        load_recalibrator(tmp_path)
    with pytest.raises(IsADirectoryError, match="is a directory"):
        IdentityCalibration().fit([0.2, 0.9], [0, 1]).save(tmp_path)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(OSError, match="loop"):
        load_recalibrator(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is not a regular file"):
        load_recalibrator(tmp_path / "pipe")
    with pytest.raises(InputError, match="is not a regular file"):
        load_recalibrator("/dev/zero")
    model = IdentityCalibration().fit([0.2, 0.9], [0, 1])
    with pytest.raises(InputError, match="not of a device or pipe"):
        model.save(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError, match="There is no directory"):
        model.save(tmp_path / "none" / "model")


def test_too_much_json_is_not_parsed(attempt: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(save_and_load, "MOST_JSON", 1000)
    assert attempt(b"[" + b"0," * 1000 + b"0]") is None
