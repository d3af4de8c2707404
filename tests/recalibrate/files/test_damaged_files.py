"""Damaged files, and wrong values in every place: one clear sentence, nothing half read."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from operator import setitem
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.plain_values import same
from support.saved_files import EXAMPLES, armed, signed
from trueup.recalibrate.compose.groupwise import GroupwiseCalibration


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
    {"specification": {"class": "EqualMass", "fields": {"n_bins": 7}}},
    {"recalibrator": {"class": "IdentityCalibration", "parameters": {}, "learned": {}}},
]


def still_whole(found: Any) -> bool:
    """The object that was read works as a recalibrator, whatever the file contains."""
    X = np.random.default_rng(0).dirichlet(np.ones(3), 20)
    beside = {"groups": [None] * 20} if isinstance(found, GroupwiseCalibration) else {}
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
