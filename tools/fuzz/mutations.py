"""Ways to damage a file: its bytes, its text, the members of an archive, the values in JSON."""

from __future__ import annotations

import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable
from typing import Any

TOKENS = (
    *(b"", b"0", b"1", b"-1", b"2", b"0.5", b"1e400", b"-0.0", b"nan", b"inf", b"NA", b"null"),
    *(b"9" * 25, b"9" * 400, b"1_000", b"50%", b"0,5", b"1e-320", b"true", b'"', b'""', b"'"),
    *(
        b",",
        b";",
        b"\t",
        b"|",
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"\0",
        b"\x1b[31m",
        b"\xff",
        b"\xef",
    ),
    *(b"[", b"]", b"{", b"}", b":", b"[" * 70, b"{" * 70, b"[[1]]", b'{"a": 1}', b"p", b"y", b"#"),
    *("é".encode(), "日".encode(), b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1f\x8b"),
    *(b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"(4000000000,)", b"'<U1'", b"'|O'"),
)
VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        0.5,
        1e308,
        -1e-320,
        10**25,
        10**400,
        "",
        "0.5",
        "x",
        "\x1b[0m",
    ),
    *([], [[]], [1, "a"], {}, {"a": 1}, [None], "\ud800", "NA", 3.5, -7, 2**53 + 1, 2**63),
)


def damaged_bytes(content: bytes, rng: random.Random, most: int = 4) -> bytes:
    """Return bytes with up to ``most`` changes."""
    data = bytearray(content)
    for _ in range(rng.randint(1, most)):
        at = rng.randrange(len(data) + 1)
        length = min(len(data) - at, rng.choice((1, 1, 2, 4, 8, 64)))
        kind = rng.randrange(7)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at : at + length] = rng.randbytes(length)
        elif kind == 2:
            data[at : at + length] = b""
        elif kind == 3:
            data[at:at] = rng.choice(TOKENS)
        elif kind == 4:
            data[at : at + length] = rng.choice(TOKENS)
        elif kind == 5:
            data[at:at] = data[at : at + rng.randrange(1, 200)]
        elif rng.random() < 0.3:
            del data[at:]
    return bytes(data)


def damaged_words(content: bytes, rng: random.Random) -> bytes:
    """Return a text in which some words between its marks are others."""
    text = content.decode("latin1")
    for _ in range(rng.randint(1, 3)):
        marks = [at for at, sign in enumerate(text) if sign in ',;:\n[]{}"']
        if len(marks) < 2:
            break
        at = rng.randrange(len(marks) - 1)
        word = rng.choice(TOKENS).decode("latin1")
        text = text[: marks[at] + 1] + word + text[marks[at + 1] :]
    return text.encode("latin1")


def damaged_archive(content: bytes, rng: random.Random) -> bytes:
    """Return an archive that is whole, but one of its members is damaged."""
    file = io.BytesIO()
    method = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA))
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w", method) as new:
        members = {name: old.read(name) for name in old.namelist()}
        chosen = rng.choice(list(members))
        # The header of an array is where most depends on a few signs.
        head, rest = members[chosen][:128], members[chosen][128:]
        members[chosen] = damaged_bytes(head, rng, 2) + rest
        for name, data in members.items():
            new.writestr(name, data)
    whole = file.getvalue()
    return damaged_bytes(whole, rng, 1) if rng.random() < 0.2 else whole


def damaged_gzip(content: bytes, rng: random.Random) -> bytes:
    """Return compressed bytes that are damaged before or after they were compressed."""
    if rng.random() < 0.3:
        return damaged_bytes(content, rng)
    inside = gzip.decompress(content)
    packed = gzip.compress(damaged_bytes(inside, rng), 1, mtime=0)
    return gzip.compress(packed, 1, mtime=0) if rng.random() < 0.1 else packed


def damaged_json(content: bytes, rng: random.Random) -> bytes:
    """Return JSON that is whole, but one of its values is another."""
    document = json.loads(content)
    places: list[tuple[Any, Any]] = []
    todo = [document]
    while todo:
        part = todo.pop()
        keys: Any = range(len(part)) if isinstance(part, list) else list(part)
        places += [(part, key) for key in keys]
        todo += [part[key] for key in keys if isinstance(part[key], dict | list)]
    for part, key in rng.choices(places, k=rng.randint(1, 2)) if places else []:
        if isinstance(part, dict) and key in part and rng.random() < 0.2:
            part[str(rng.choice(("", "p", "y", "x" * 300)))] = part.pop(key)
        elif isinstance(part, dict) or key < len(part):
            part[key] = rng.choice(VALUES)
    return json.dumps(document).encode("utf-8", "surrogatepass")


def damages_of(name: str) -> tuple[Callable[[bytes, random.Random], bytes], ...]:
    """Return the ways to damage a file of this name."""
    if name.endswith(".gz"):
        return (damaged_gzip,)
    if name.endswith(".npz"):
        return (damaged_bytes, damaged_archive, damaged_archive)
    if name.endswith(".json"):
        return (damaged_bytes, damaged_words, damaged_json)
    if name.endswith((".csv", ".tsv", ".jsonl")):
        return (damaged_bytes, damaged_words)
    return (damaged_bytes,)
