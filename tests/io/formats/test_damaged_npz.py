"""Whatever is wrong inside an NPZ file, the file is named, and its headers are not believed."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

import trueup as tu
from trueup.io import open_table, read

GOOD = {"p": np.array([0.25, 0.5, 0.75]), "y": np.array([0, 1, 1])}


def npz(method: int = zipfile.ZIP_DEFLATED, **members: bytes) -> bytes:
    """An archive of p and y; ``members`` replace the bytes of some arrays."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, array in GOOD.items():
            whole = io.BytesIO()
            np.save(whole, array)
            archive.writestr(f"{name}.npy", members.get(name, whole.getvalue()))
    return file.getvalue()


def npy(header: str, data: bytes = b"\0" * 24) -> bytes:
    """An array with a header of one's own."""
    text = header.encode("latin1")
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def described(descr: str, shape: str, data: bytes = b"\0" * 24) -> bytes:
    return npy(f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}\n", data)


def flagged(content: bytes, flag: int) -> bytes:
    """Set a flag of every member, in the archive and in its directory."""
    changed = bytearray(content)
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = changed.find(mark)
        while at >= 0:
            changed[at + offset] |= flag & 0xFF
            changed[at + offset + 1] |= flag >> 8
            at = changed.find(mark, at + 4)
    return bytes(changed)


def refused(path: Path) -> str:
    with pytest.raises(tu.InputError) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_bytes_before_the_archive(tmp_path: Path) -> None:
    """NumPy takes such a file for a pickle, and its message advises to allow it."""
    path = tmp_path / "p.npz"
    path.write_bytes(b"#!/bin/sh\n" + npz())
    assert read(path).n == 3


@pytest.mark.parametrize(
    "content",
    [
        flagged(npz(), 1),
        flagged(npz(zipfile.ZIP_STORED), 1),
        flagged(npz().replace(b"p.npy", b"\xff.npy"), 0x800),
        npz(zipfile.ZIP_LZMA).replace(b"p.npy\t\x04\x05\x00]", b"p.npy\t\x04\x05\x00\xff"),
    ],
    ids=["encrypted", "encrypted and stored", "name not UTF-8", "LZMA"],
)
def test_damaged_archives(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "p.npz").write_bytes(content)
    said = refused(tmp_path / "p.npz")
    assert "is damaged" in said or "is not a valid NPZ file" in said


LARGE = [1000000000000, 4000000000, 99999999999999999999, 10**400]


@pytest.mark.parametrize(
    "member",
    [
        b"",
        b"no array",
        npy("((((" * 50),
        npy("-" * 9000 + "1"),
        described("()", "(3,)"),
        described("'<f8'", "(3.0,)"),
        described("'<f8'", "(True, 3)"),
        described("'<f8'", "(-3,)"),
        described("'<f8'", "(2,)"),
        described("'<f8'", "(4,)"),
        described("'<U0'", "(1000000000000,)", b""),
        described("'<U1'", "(3,)", b"\xff" * 12),
        *(described("'<f8'", f"({n},)") for n in LARGE),
        described("'<f8'", "(4000000000, 4000000000)"),
    ],
    ids=lambda member: member[:80].decode("latin1").strip("\x93\0\n")[-40:],
)
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_damaged_arrays(tmp_path: Path, member: bytes, method: int) -> None:
    path = tmp_path / "p.npz"
    path.write_bytes(npz(method, p=member))
    tracemalloc.start()
    said = refused(path)
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()
    assert "array 'p' is damaged" in said
    path.write_bytes(npz(method, p=member, y=member))
    assert "array 'p' is damaged" in refused(path)


def test_other_arrays_can_still_be_read(tmp_path: Path) -> None:
    (tmp_path / "p.npz").write_bytes(npz(p=described("'<f8'", "(4000000000,)")))
    table = open_table(tmp_path / "p.npz")
    assert table.n == 3
    assert table.column("y").tolist() == [0, 1, 1]


def test_a_size_that_the_archive_claims(tmp_path: Path) -> None:
    """The directory says that the member is as large as the header wants it."""
    large = 10**11
    content = bytearray(npz(zipfile.ZIP_STORED, p=described("'<f8'", f"({large},)")))
    at = content.find(b"PK\x01\x02")
    content[at + 24 : at + 28] = struct.pack("<I", 0xFFFFFFFE)
    (tmp_path / "p.npz").write_bytes(content)
    assert "array 'p' is damaged" in refused(tmp_path / "p.npz")


@pytest.mark.parametrize("kind", ["<M8[s]", "<m8[s]", "<c16", "|V8"])
def test_arrays_that_are_no_numbers(tmp_path: Path, kind: str) -> None:
    for name in ("p", "y"):
        columns = {**GOOD, name: np.zeros(3, kind)}
        np.savez(tmp_path / "p.npz", **columns)
        said = refused(tmp_path / "p.npz")
        assert f"column '{name}' must" in said
