"""Damaged and hostile files: one clear sentence, nothing run, nothing half read."""

from __future__ import annotations

import json
import os
import random
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from operator import setitem
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plain_values import same
from trueup.bins import EqualMass
from trueup.errors import InputError
from trueup.recalibrate import persist
from trueup.recalibrate.base import Recalibrator
from trueup.recalibrate.group_wise import GroupWise
from trueup.recalibrate.isotonic import IsotonicCalibration
from trueup.recalibrate.no_recalibration import NoRecalibration
from trueup.recalibrate.persist import load
from trueup.recalibrate.wrappers import PerClass

# What reading a file must not do, by the names of Python's audit events.
FORBIDDEN = {
    *("exec", "compile", "import", "pickle.find_class", "marshal.loads", "ctypes.dlopen"),
    *("os.system", "os.exec", "os.fork", "os.posix_spawn", "subprocess.Popen", "socket.connect"),
    *("os.remove", "os.rename", "os.chmod", "os.mkdir"),
}
armed: list[Path] = []


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    if not armed:
        return
    if event in FORBIDDEN:
        raise AssertionError(f"reading a file did {event} {arguments[:1]}")
    if event == "open" and str(arguments[0]) != str(armed[0]):
        raise AssertionError(f"reading a file opened {arguments[0]}")


sys.addaudithook(watch)


def example(name: str) -> Recalibrator:
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(3), 60)
    labels = np.array(["a", "b", "c"])[rng.integers(0, 3, 60)]
    if name == "small":
        model: Any = NoRecalibration(classes=["a", "b", "c"]).fit(probs, labels)
        model.values_ = [1, 2.5, -0.0, None, True, "text", (1, (2,)), {"k": [float("inf")]}]
        model.array_ = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3))
        model.more_ = [np.array(["a", None], object), np.array([np.nan]), np.int16(3)]
        model.bins_ = EqualMass(7)
        return model
    if name == "maps":
        return IsotonicCalibration().fit(probs, labels)
    if name == "nested":
        groupwise = GroupWise(PerClass(IsotonicCalibration()), min_rows=5)
        return groupwise.fit(probs, labels, groups=np.arange(60) % 2)
    model = NoRecalibration(classes=["a", "b", "c"]).fit(probs, labels)
    model.matrix_ = rng.normal(size=(200, 50))
    model.flags_ = rng.random(100) < 0.5
    model.names_ = np.array(["x", "y"], "<U200")
    return model


EXAMPLES = ("small", "maps", "nested", "large")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Recalibrator, bytes]]:
    folder = tmp_path_factory.mktemp("saved")
    made = {}
    for name in EXAMPLES:
        model = example(name)
        model.save(folder / name)
        load(folder / name)  # whatever is loaded late is loaded now
        made[name] = (model, (folder / name).read_bytes())
    return made


@pytest.fixture
def attempt(tmp_path: Path) -> Callable[[bytes], Any]:
    """Load these bytes under watch: what was read, or None after one clear sentence."""
    path = tmp_path / "model"

    def load_bytes(content: bytes) -> Any:
        path.write_bytes(content)
        armed[:] = [path]
        try:
            return load(path)
        except InputError as error:
            text = str(error)
            assert text.startswith("`path` must be a file that trueup's `save` wrote; got ")
            assert text.endswith(".")
            assert "\n" not in text
            assert str(path) in text
            assert len(text) < 600
            return None
        finally:
            armed.clear()

    return load_bytes


def signed(document: dict[str, Any]) -> bytes:
    """A file as somebody would make it who knows the format: its checksum is right."""
    rest = {key: value for key, value in document.items() if key != "sha256"}
    return json.dumps(rest | {"sha256": persist._checksum(rest, [])}).encode()


def test_the_watch_itself(tmp_path: Path) -> None:
    armed[:] = [tmp_path]
    try:
        with pytest.raises(AssertionError, match="did compile"):
            eval("1")
        with pytest.raises(AssertionError, match="opened"):
            (tmp_path / "other").write_bytes(b"")
    finally:
        armed.clear()


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_part_of_a_file_is_refused(name: str, saved: Any, attempt: Any) -> None:
    _, content = saved[name]
    last = len(content.rstrip()) - 1  # the line end after the JSON may go
    lengths = {0, 1, 7, 8, 9, last, *np.linspace(0, last, 50).astype(int).tolist()}
    for length in lengths:
        assert attempt(content[:length]) is None, length


def damages(content: bytes, count: int, seed: int) -> Iterator[bytes]:
    chance = random.Random(seed)
    for _ in range(count):
        changed = bytearray(content)
        kind, at = chance.randrange(5), chance.randrange(len(content))
        # Half of the damage goes where the structure is.
        if chance.random() < 0.5:
            at %= 1000
        other = chance.randrange(len(content))
        if kind == 0:
            changed[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            changed[at], changed[other] = changed[other], changed[at]
        elif kind == 2:
            changed[at] = chance.randrange(256)
        elif kind == 3:
            del changed[at : at + chance.randrange(1, 20)]
        else:
            changed[at:at] = content[other : other + chance.randrange(1, 20)]
        yield bytes(changed)


@pytest.mark.parametrize("name", EXAMPLES)
def test_damage_is_found(name: str, saved: Any, attempt: Any) -> None:
    model, content = saved[name]
    for changed in damages(content, 150, seed=1):
        found = attempt(changed)
        # Spaces may change: the content does not.
        assert found is None or same(found, model)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_bit_of_the_start_and_much_damage(name: str, saved: Any, attempt: Any) -> None:
    model, content = saved[name]
    for bit in range(8 * min(len(content), 500)):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        found = attempt(bytes(changed))
        assert found is None or same(found, model)
    for changed in damages(content, 5_000, seed=2):
        found = attempt(changed)
        assert found is None or same(found, model)


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(node, dict):
        for key in node:
            yield from places(node[key], (*path, key))
    elif isinstance(node, list):
        for number in range(len(node)):
            yield from places(node[number], (*path, number))


def changed_at(document: Any, path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
    document = json.loads(json.dumps(document))
    parent = document
    for key in path[:-1]:
        parent = parent[key]
    change(parent, path[-1])
    return document


WRONG: list[Any] = [
    None,
    True,
    -1,
    0,
    10**30,
    1.5,
    -1e308,
    "x",
    "",
    "__class__",
    [],
    [[]],
    {},
    {"x": 1},
    {"float": "1e9"},
    {"tuple": {}},
    {"array": {"dtype": "<f8", "shape": [2], "values": [0.5, 1.5]}},
    {"array": {"dtype": "|O", "shape": [1], "base64": "AAAAAAAAAAA="}},
    {"array": {"dtype": "<f8", "shape": [0, 2**62], "values": []}},
    {"scalar": {"dtype": "<f8", "shape": [0], "values": []}},
    {"specification": {"class": "EqualMass", "fields": {"n_bins": -1}}},
    {"recalibrator": {"class": "NoRecalibration", "parameters": {}, "learned": {}}},
]


def still_whole(found: Any) -> bool:
    """What was read answers like a recalibrator, whatever somebody wrote into it."""
    X = np.random.default_rng(0).dirichlet(np.ones(3), 20)
    beside = {"groups": [None] * 20} if isinstance(found, GroupWise) else {}
    with np.errstate(all="ignore"):
        probs = found.predict_proba(X, **beside)
    return probs.shape == (20, 3) and bool(np.allclose(probs.sum(axis=1), 1))


@pytest.mark.parametrize("name", ["small", "maps", "nested"])
@pytest.mark.parametrize("n_places", [25, pytest.param(None, marks=pytest.mark.slow)])
def test_wrong_values_in_every_place(
    name: str, n_places: int | None, saved: Any, attempt: Any
) -> None:
    document = json.loads(saved[name][1])
    chance = random.Random(3)
    everywhere = [path for path in places(document) if path and path[0] != "sha256"]
    for path in chance.sample(everywhere, min(len(everywhere), n_places or 300)):
        for value in chance.sample(WRONG, 4) if n_places else WRONG:
            wrong = changed_at(document, path, lambda node, key, v=value: setitem(node, key, v))
            found = attempt(signed(wrong))
            assert found is None or still_whole(found), (path, value)
        lost = changed_at(document, path, lambda node, key: node.pop(key))
        found = attempt(signed(lost))
        assert found is None or still_whole(found), path


@pytest.mark.parametrize("name", ["small", "maps"])
def test_one_entry_too_many_in_every_object(name: str, saved: Any, attempt: Any) -> None:
    document = json.loads(saved[name][1])
    for path in places(document):
        node = document
        for key in path:
            node = node[key]
        free = path[-1:] in (("learned",), ("dict",))  # these have entries of any name
        if isinstance(node, dict) and not free and path[-2:-1] != ("dict",):
            more = changed_at(document, (*path, "more"), lambda p, k: p.update({k: 1}))
            assert attempt(signed(more)) is None, path


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
    document["recalibrator"]["learned"]["bins_"]["specification"]["class"] = name
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
    assert attempt(text.replace('"schema": 1,', '"schema": 1, "schema": 1,').encode()) is None
    assert attempt(text.replace('"dtype": ', '"dtype": "<f4", "dtype": ').encode()) is None
    assert attempt(text.encode("utf-16")) is None
    assert attempt(text.encode() + b"{}") is None
    assert attempt(b"") is None
    assert attempt(b"\0" * 100) is None
    assert attempt(b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00cos\nsystem\n") is None


def test_a_newer_file_says_so(saved: Any, tmp_path: Path) -> None:
    document = small(saved) | {"schema": 2, "trueup": "9.1", "more": {}}
    (tmp_path / "model").write_bytes(signed(document))
    with pytest.raises(InputError, match=r"newer trueup, 9\.1: upgrade trueup"):
        load(tmp_path / "model")


@pytest.mark.parametrize("schema", [0, -1, True, 1.0, "1", None, [1]])
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
        total = persist._checksum(rest, in_order)
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
        load(tmp_path / "none")
    with pytest.raises(IsADirectoryError, match="is a directory"):
        load(tmp_path)
    with pytest.raises(IsADirectoryError, match="is a directory"):
        NoRecalibration().fit([0.2, 0.9], [0, 1]).save(tmp_path)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(OSError, match="loop"):
        load(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is not a regular file"):
        load(tmp_path / "pipe")
    with pytest.raises(InputError, match="is not a regular file"):
        load("/dev/zero")
    model = NoRecalibration().fit([0.2, 0.9], [0, 1])
    with pytest.raises(InputError, match="not of a device or pipe"):
        model.save(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError, match="There is no directory"):
        model.save(tmp_path / "none" / "model")


def test_too_much_json_is_not_parsed(attempt: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(persist, "MOST_JSON", 1000)
    assert attempt(b"[" + b"0," * 1000 + b"0]") is None
